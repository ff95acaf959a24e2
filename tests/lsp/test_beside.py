"""The keys that stand beside a cursor, which completion does not offer once more."""

from __future__ import annotations

import pytest

from raidplan.cli.lsp.beside import keys_beside

TEXTS = {
    "the top": ("version: 1\nhost: a\n|\narrays:\n  level: x\n", {"version", "host", "arrays"}),
    "below a name": ("arrays:\n  a:\n    level: raid1\n    |\n    chunk: 64KiB\n  b:\n    members: x\n", {"level", "chunk"}),
    "at the end": ("arrays:\n  a:\n    level: raid1\n    ch|", {"level"}),
    "in an item of a list": ("allow:\n  - rule: a\n    |\n  - at: b\n", {"rule"}),
    "the first of an item": ("allow:\n  - at: b\n  - |\n    rule: a\n", {"rule"}),
    "in braces": ("disks:\n  a: {size: 1TB, partitions: {x: {size: 1GiB}}, |, serial: A}\n", {"size", "partitions", "serial"}),
    "in braces within": ("a: {size: 1TB, partitions: {x: {type: raid, |}}, serial: A}\n", {"type"}),
    "braces of several lines": ("a: {size: 1TB,\n    |\n    serial: A}\nhost: b\n", {"size", "serial"}),
    "a bracket in a comment": ("host: a # [see {\n|\n", {"host"}),
    "below an open brace": ("arrays:\n  a: {level: raid1, members: [\n  b:\n    level: raid5\n    |\nhost: x\n", {"level"}),
    "in a line with an open brace": ("arrays:\n  a: {level: raid1, |\n  b:\n    chunk: 4KiB\n", {"level"}),
    "nothing else": ("arrays:\n  |\n", set()),
    "an empty file": ("|", set()),
}  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), TEXTS.values(), ids=TEXTS)
def test_keys_beside(text: str, wanted: set[str]) -> None:
    before = text[: text.index("|")]
    line, column = before.count("\n"), len(before.rpartition("\n")[2])
    assert keys_beside(text.replace("|", ""), line, column) == wanted
