"""Quick fixes: in every example and every bad example of a rule, a fix that is offered does what its edits say."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.cli.lsp.fixes import fixes_of, replaced, replacements
from raidplan.document import in_place_of
from raidplan.review.pipeline import check
from tests.examples import EXAMPLES

BLOCK = """\
version: 1
host: h
hardware:
  disks:
    a: {serial: A, size: 4TB}
    b: {serial: B, size: 4TB}
arrays:
  d:
    level: raid1
    chunk: 64KiB
    members: [a, b]
"""


def fixed(file: Path) -> list[tuple[str, str, bool]]:
    """(rule, text afterwards, whether the finding is gone) of every fix that is offered for a file."""
    loaded = check(str(file))
    assert loaded.document is not None
    found = []
    for item in loaded.findings:
        made = replacements(loaded.document, fixes_of(item.finding), in_place_of(str(file), file.read_text()))
        if not made:
            continue
        text = replaced(file.read_text(), made, str(file))
        after = check(str(file), reader=in_place_of(str(file), text))
        left = {(each.finding.rule, each.finding.path) for each in after.findings}
        found.append((item.finding.rule, text, (item.finding.rule, item.finding.path) not in left))
    return found


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_a_fix_of_an_example_ends_the_finding(example: Path) -> None:
    assert all(gone for _, _, gone in fixed(example))


def test_a_line_of_its_own_goes_and_a_section_comes(tmp_path: Path) -> None:
    file = tmp_path / "h.yaml"
    file.write_text(BLOCK)
    texts = {rule: text for rule, text, gone in fixed(file) if gone}
    assert texts["chunk-on-raid1"] == BLOCK.replace("    chunk: 64KiB\n", "")
    assert texts["no-scrub"].startswith(BLOCK) and "monitoring: {" in texts["no-scrub"]


def test_what_a_range_makes_is_left_to_a_person(tmp_path: Path) -> None:
    file = tmp_path / "h.yaml"
    file.write_text(
        "version: 1\nhost: h\nhardware: {disks: {d<0-3>: {serial: S<1>, size: 4TB}}}\n"
        "arrays:\n  a<0-1>: {level: raid1, chunk: 64KiB, members: {each: [[d0, d1], [d2, d3]]}}\n"
    )
    assert "chunk-on-raid1" not in {rule for rule, _, _ in fixed(file)}


NAMED = """\
version: 1
host: h
hardware:
  controllers:
    card: {rate: 1GB/s}
  power:
    supply: {feeds: [left, right]}
  disks:
    left: {serial: A, size: 4TB, behind: card}
    right: {serial: B, size: 4TB, behind: card}
arrays:
  d:
    level: raid1
    members: [left, right]
boot: {degraded: wait}
"""
MISSPELT = [
    ("level: raid1", "levl: raid1"),
    ("degraded: wait", "degraded: wiat"),
    ("members: [left, right]", "members: [left, rihgt]"),
    ("members: [left, right]", 'members: ["left", "rihgt"]'),
    ("members: [left, right]", "members: {from: [left, rihgt], count: 2}"),
    ("{serial: A, size", "{serail: A, size"),
    ("size: 4TB, behind: card}", "size: 4TB, behind: crad}"),
    ("[left, right]}\n  disks", "[left, rihgt]}\n  disks"),
]


@pytest.mark.parametrize(("right", "wrong"), MISSPELT, ids=[wrong for _, wrong in MISSPELT])
def test_a_misspelt_word_is_offered_as_it_was_meant(right: str, wrong: str, tmp_path: Path) -> None:
    """Keys, words, devices, components: the fix writes the word that the hint asks for, and the finding is gone."""
    file = tmp_path / "h.yaml"
    file.write_text(NAMED.replace(right, wrong, 1))
    assert file.read_text() != NAMED
    meant = {each.finding.rule for each in check(str(file)).findings if each.finding.meant}
    (fix,) = [each for each in fixed(file) if each[0] in meant]
    assert (
        fix[2]
        and fix[1].replace('"', "").replace("{from: [left, right], count: 2}", "[left, right]") == NAMED
    )


def test_a_word_that_would_be_there_twice_is_no_fix(tmp_path: Path) -> None:
    file = tmp_path / "h.yaml"
    file.write_text(NAMED.replace("level: raid1", "level: raid1\n    levl: raid1"))
    assert "unknown-key" not in {rule for rule, _, _ in fixed(file)}
    assert "unknown-key" in {each.finding.rule for each in check(str(file)).findings}
