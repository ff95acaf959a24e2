"""The place of a cursor, in text that is half typed."""

from __future__ import annotations

import pytest

from raidplan.cli.lsp.cursor import cursor

PLACES = [
    ("arrays:\n  a:\n    lev|", ("arrays", "a"), False),
    ("arrays:\n  a:\n    level: ra|", ("arrays", "a", "level"), True),
    ("arrays:\n  a: {level: raid1, mem|", ("arrays", "a"), False),
    ("arrays:\n  a: {level: raid1, members: [x.p, |", ("arrays", "a", "members", 0), True),
    ("arrays:\n  a:\n    members:\n      - x|", ("arrays", "a", "members", 0), True),
    ("arrays:\n  a:\n    members:\n    - x|", ("arrays", "a", "members", 0), True),
    ("arrays:\n  a:\n    members:\n    - x\n    - |", ("arrays", "a", "members", 0), True),
    ("arrays:\n  a:\n    members:\n    - x\n    lev|", ("arrays", "a"), False),
    ("arrays:\n  a:\n    members:\n      - x\n      - y\n    lev|", ("arrays", "a"), False),
    ("arrays:\n  a:\n    members:\n      - from: [x]\n        co|", ("arrays", "a", "members", 0), False),
    ("arrays:\n  a: {chunk: 64KiB}\nswap:\n  s: |", ("swap", "s"), True),
    ("host: box\n|", (), False),
    (
        "arrays:\n  a: {level: raid1, members: [x,  # so far\n  b:\n    level: ra|",
        ("arrays", "b", "level"),
        True,
    ),
    ("arrays:\n  a: {level: raid1\n\nswap:\n  s: {device: |", ("swap", "s", "device"), True),
    ("arrays:\n  a: {level: raid1,\n      mem|", ("arrays", "a"), False),
    ("disks: {\n  a: {size: 1TB,\n  },\n  b: {si|", ("disks", "b"), False),
    ("host: it's [\narrays:\n  a: {le|", ("arrays", "a"), False),
    ('host: "box # 1"\nswap:\n  s: {device: |', ("swap", "s", "device"), True),
]


@pytest.mark.parametrize(("text", "path", "in_value"), PLACES)
def test_keys_above_a_cursor(text: str, path: tuple[str | int, ...], in_value: bool) -> None:
    before = text.partition("|")[0]
    found = cursor(before, before.count("\n"), len(before.rpartition("\n")[2]))
    assert found is not None
    assert [part for part in found.path if part != 0] == [part for part in path if part != 0]
    assert found.in_value == in_value


@pytest.mark.parametrize("text", ["  -", "# host", "host: box  # é", "  # a: 'b"])
def test_a_comment_has_no_place(text: str) -> None:
    assert cursor(text, 0, len(text)) is None


def test_a_number_sign_in_a_word_begins_no_comment() -> None:
    found = cursor("host: box#1", 0, 11)
    assert found is not None and found.path == ("host",)
