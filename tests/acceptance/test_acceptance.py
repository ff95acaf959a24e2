"""Accepting a finding: where it works, where it does not, and what is said about one that does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.review.pipeline import Loaded, check
from raidplan.review.settings import Settings

HEAD = "version: 1\nhost: h\nhardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}\n"
SCRATCH = HEAD + "arrays:\n  a: {level: raid0, members: [d<0-1>]}\n  b: {level: raid0, members: [d<2-3>]}\n"
"""Two arrays with the warning no-redundancy, in lines 5 and 6."""
COMMENT = "# raidplan: allow[no-redundancy] only copies"
ABOUT = ("no-redundancy", "invalid-allow", "unknown-rule", "unused-allow", "expired-allow", "forbidden-allow",
         "duplicate-mount")  # fmt: skip


def checked(text: str, folder: Path, today: str = "2026-05-10") -> Loaded:
    file = folder / "layout.yaml"
    file.write_text(text)
    return check(str(file), today=today)


def left(text: str, folder: Path, today: str = "2026-05-10") -> list[str]:
    """`line:rule` of what is left of the findings that these tests are about."""
    findings = checked(text, folder, today).findings
    return [f"{item.span.line}:{item.finding.rule}" for item in findings if item.finding.rule in ABOUT]


def with_comment(comment: str, line: str = "a:") -> str:
    """The two arrays, the line with a comment at its end."""
    return "\n".join(
        f"{each}  {comment}" if each.strip().startswith(line) else each for each in SCRATCH.splitlines()
    )


def test_nothing_is_accepted_by_itself(tmp_path: Path) -> None:
    assert left(SCRATCH, tmp_path) == ["5:no-redundancy", "6:no-redundancy"]


def test_a_comment_accepts_on_its_own_line(tmp_path: Path) -> None:
    loaded = checked(with_comment(COMMENT), tmp_path)
    (accepted,) = loaded.accepted
    assert accepted.located.finding.path[:2] == ("arrays", "a")
    assert (accepted.reason, accepted.until, accepted.span.line) == ("only copies", None, 5)
    assert left(with_comment(COMMENT), tmp_path) == ["6:no-redundancy"]


def test_a_comment_alone_accepts_on_the_next_line(tmp_path: Path) -> None:
    text = SCRATCH.replace("  b:", f"  {COMMENT}\n\n  # more words\n  b:")
    assert left(text, tmp_path) == ["5:no-redundancy"]
    assert [each.span.line for each in checked(text, tmp_path).accepted] == [6]


def test_a_comment_in_a_value_accepts_nothing(tmp_path: Path) -> None:
    text = SCRATCH + f'allow: [{{rule: no-redundancy, at: arrays.a, reason: "see {COMMENT}"}}]\n'
    assert left(text, tmp_path) == ["6:no-redundancy"]


def test_a_line_of_a_range_is_accepted_for_all_it_makes(tmp_path: Path) -> None:
    text = HEAD + f"arrays:\n  a<0-1>: {{level: raid0, members: [d<1:0/2>, d<1:1/3>]}}  {COMMENT}\n"
    assert left(text, tmp_path) == [] and len(checked(text, tmp_path).accepted) == 2


def test_one_comment_can_name_several_rules(tmp_path: Path) -> None:
    text = with_comment("# raidplan: allow[no-redundancy, no-spare] only copies")
    assert left(text, tmp_path) == ["5:unused-allow", "6:no-redundancy"]


def test_a_comment_of_the_hardware_file_counts(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text(f"disks:\n  d0: {{size: 3TB}}  {COMMENT}\n")
    loaded = checked("version: 1\nhost: h\nhardware: h.yaml\n", tmp_path)
    unused = [item for item in loaded.findings if item.finding.rule == "unused-allow"]
    assert [(Path(item.span.file).name, item.span.line, item.span.column) for item in unused] == [
        ("h.yaml", 2, 20)
    ]


@pytest.mark.parametrize(
    ("at", "expected"),
    {
        "arrays.a": ["6:no-redundancy"],
        "arrays": [],
        "arrays.a.level": ["6:no-redundancy"],
        "arrays.a.level.x": ["5:no-redundancy", "6:no-redundancy", "7:unused-allow"],
        "arrays.a.": ["5:no-redundancy", "6:no-redundancy", "7:unused-allow"],
        "arrays.": ["5:no-redundancy", "6:no-redundancy", "7:unused-allow"],
        "array": ["5:no-redundancy", "6:no-redundancy", "7:unused-allow"],
        "filesystems": ["5:no-redundancy", "6:no-redundancy", "7:unused-allow"],
    }.items(),
)
def test_an_entry_accepts_what_lies_at_its_path(at: str, expected: list[str], tmp_path: Path) -> None:
    text = SCRATCH + f"allow: [{{rule: no-redundancy, at: {at}, reason: only copies}}]\n"
    assert left(text, tmp_path) == expected


@pytest.mark.parametrize(
    ("today", "expected"),
    [
        ("2027-06-29", ["6:no-redundancy"]),
        ("2027-06-30", ["6:no-redundancy"]),
        ("2027-07-01", ["5:no-redundancy", "5:expired-allow", "6:no-redundancy"]),
    ],
)
def test_until_is_the_last_day(today: str, expected: list[str], tmp_path: Path) -> None:
    text = with_comment("# raidplan: allow[no-redundancy] until=2027-06-30 only copies")
    assert left(text, tmp_path, today) == expected
    entry = "{rule: no-redundancy, at: arrays.a, reason: only copies, until: 2027-06-30}"
    found = left(SCRATCH + f"allow: [{entry}]\n", tmp_path, today)
    assert sorted(found) == sorted(each.replace("5:expired", "7:expired") for each in expected)


def test_an_expired_acceptance_of_nothing_is_to_go(tmp_path: Path) -> None:
    text = HEAD + "allow: [{rule: no-spare, at: arrays, reason: so it is, until: 2020-01-01}]\n"
    (item,) = (i for i in checked(text, tmp_path).findings if i.finding.rule == "expired-allow")
    assert item.finding.message.endswith("any more") and item.finding.hint == "remove it"


@pytest.mark.parametrize(
    "comment",
    [
        "# raidplan: allow[no-redundancy]", "# raidplan: allow[no-redundancy] --", "# raidplan: allow no-redundancy copies",
        "# raidplan: alow[no-redundancy] copies", "# raidplan allow[no-redundancy] copies", "# raidplan: allow[] copies",
        "# raidplan: allow[No Redundancy] copies", "# raidplan: allow[no-redundancy] until 2027-01-01 copies",
        "# raidplan: allow[no-redundancy] until=2027-02-30 copies", "# raidplan: allow[no-redundancy] until=soon copies",
        "# raidplan: allow[no-redundancy] until=2027-01-01", "# raidplan: allow[no-redundancy] # copies",
        "#raidplan:allow[no-redundancy]copies", "# raidplan: allow[no-redundancy]copies",
        "# raidplan: allow[no-redundancy] being moved, until=2020-01-31", "# raidplan: allow[no-redundancy] moved until 2027-01-31",
        "# raidplan: allow[no-redundancy] until=2027-01-01 until: 2028-01-01 x", "# Raidplan: Allow[no-redundancy]",
        "# RAIDPLAN allow[no-redundancy] copies",
    ],
)  # fmt: skip
def test_a_comment_that_is_not_understood_is_a_finding(comment: str, tmp_path: Path) -> None:
    assert left(with_comment(comment), tmp_path) == ["5:no-redundancy", "5:invalid-allow", "6:no-redundancy"]


@pytest.mark.parametrize(
    "comment",
    [
        "#raidplan: allow[no-redundancy] x", "#  raidplan:   allow[ no-redundancy ]   x", "# two disks # raidplan: allow[no-redundancy] x",
        "# raidplan: allow[no-redundancy] x # another remark", "# raidplan: allow[no-redundancy] \u00fcber",
        "# Raidplan: Allow[No-Redundancy] x", "# raidplan: allow[no-redundancy] UNTIL=2027-01-01 x",
        "# raidplan: allow[no-redundancy] only until the new disks are here",
    ],
)  # fmt: skip
def test_a_comment_may_be_spaced_as_people_do(comment: str, tmp_path: Path) -> None:
    assert left(with_comment(comment), tmp_path) == ["6:no-redundancy"]


def test_other_comments_about_raidplan_are_left_alone(tmp_path: Path) -> None:
    for comment in ("# raidplan checks this; see raidplan allow", "# Raidplan: the disks of 2019"):
        assert left(with_comment(comment), tmp_path) == ["5:no-redundancy", "6:no-redundancy"]


@pytest.mark.parametrize(
    "reason", ["...", "—", "being moved, until=2020-01-31", "moved until: 2027-01-31", "until 2027"]
)
def test_a_reason_of_the_list_is_read_as_one_of_a_comment(reason: str, tmp_path: Path) -> None:
    text = SCRATCH + f'allow:\n  - {{rule: no-redundancy, at: arrays.a, reason: "{reason}"}}\n'
    assert left(text, tmp_path) == ["5:no-redundancy", "6:no-redundancy", "8:invalid-allow"]
    assert left(with_comment(f"# raidplan: allow[no-redundancy] {reason}"), tmp_path) == [
        "5:no-redundancy", "5:invalid-allow", "6:no-redundancy",
    ]  # fmt: skip


LONG = (
    HEAD
    + """arrays:
  a:
    members:
      - d0
      - d1
    level: raid0
  b:
    members: [d2, d3]
    level: raid0
"""
)
"""The warnings are in lines 9 and 12."""


@pytest.mark.parametrize(
    ("above", "expected"),
    {
        "  a:": ["13:no-redundancy"],
        "  b:": ["9:no-redundancy"],
        "    members:\n": ["10:no-redundancy", "13:no-redundancy", "6:unused-allow"],
        "arrays:": ["10:no-redundancy", "13:no-redundancy", "4:unused-allow"],
    }.items(),
)
def test_a_comment_above_an_entry_covers_all_of_it_and_none_covers_a_section(
    above: str, expected: list[str], tmp_path: Path
) -> None:
    text = LONG.replace(above, f"{COMMENT}\n{above}", 1)
    assert sorted(left(text, tmp_path)) == sorted(expected)


def test_a_comment_above_an_entry_of_a_range_covers_all_that_it_makes(tmp_path: Path) -> None:
    text = HEAD + f"arrays:\n  {COMMENT}\n  a<0-1>:\n    members: [d<1:0/2>, d<1:1/3>]\n    level: raid0\n"
    assert left(text, tmp_path) == [] and len(checked(text, tmp_path).accepted) == 2


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (LONG.replace("    members:\n", f"    members:  {COMMENT}\n"), "in line 6", "those that are not accepted are in lines 9 and 12: write the comment there"),
        (SCRATCH + "allow: [{rule: no-redundancy, at: arrays.c, reason: x}]\n", "there is no arrays.c in this layout", "is at arrays.a.level: correct"),
        (SCRATCH + "allow: [{rule: no-redundancy, at: filesystems, reason: x}]\n", "there is no filesystems in", "correct the path"),
        (SCRATCH + "allow: [{rule: no-redundancy, at: hardware.disks, reason: x}]\n", "no finding of no-redundancy at hardware.disks", "correct"),
        (SCRATCH + "allow: [{rule: no-spare, at: arrays.a, reason: x}]\n", "no finding of no-spare at arrays.a", "remove it"),
        (with_comment("# raidplan: allow[no-spare] x"), "no finding of no-spare in line 5", "remove it"),
    ],
)  # fmt: skip
def test_one_that_accepts_nothing_says_where_there_is_something(
    text: str, message: str, hint: str, tmp_path: Path
) -> None:
    (item,) = (i for i in checked(text, tmp_path).findings if i.finding.rule == "unused-allow")
    assert message in item.finding.message and hint in item.finding.hint, item.finding


def test_a_rule_that_does_not_exist(tmp_path: Path) -> None:
    loaded = checked(with_comment("# raidplan: allow[no-redundncy] x"), tmp_path)
    (item,) = (i for i in loaded.findings if i.finding.rule == "unknown-rule")
    assert item.finding.hint == "did you mean 'no-redundancy'?"


TWICE = (
    HEAD + "filesystems:\n  a: {device: d0, type: xfs, mount: /s}\n  b: {device: d1, type: xfs, mount: /s}"
)


def test_an_error_for_lost_data_cannot_be_accepted(tmp_path: Path) -> None:
    text = TWICE + "  # raidplan: allow[duplicate-mount] one after the other\n"
    assert left(text, tmp_path) == ["6:duplicate-mount", "6:forbidden-allow"]
    assert not checked(text, tmp_path).accepted
    text = TWICE + "\nallow: [{rule: duplicate-mount, at: filesystems, reason: so it is}]\n"
    assert left(text, tmp_path) == ["6:duplicate-mount", "7:forbidden-allow"]


def test_nothing_is_called_unused_while_the_rules_cannot_see_all(tmp_path: Path) -> None:
    text = (
        with_comment("# raidplan: allow[no-spare] x") + "\nfilesystems: {f: {device: nothing, type: xfs}}\n"
    )
    assert "5:unused-allow" not in left(text, tmp_path)


def test_two_acceptances_of_one_finding_are_both_used(tmp_path: Path) -> None:
    text = with_comment(COMMENT) + "\nallow: [{rule: no-redundancy, at: arrays, reason: only copies}]\n"
    assert left(text, tmp_path) == []


def test_acceptance_of_an_acceptance_does_nothing(tmp_path: Path) -> None:
    text = (
        SCRATCH
        + "allow:\n- {rule: no-spare, at: arrays, reason: x}\n- {rule: unused-allow, at: allow, reason: x}\n"
    )
    assert left(text, tmp_path)[2:] == ["8:unused-allow", "9:unused-allow"]


def test_an_error_that_can_be_accepted_is_no_error_to_plan(tmp_path: Path) -> None:
    """Swap across the members takes down the machine and no data: a person may want that."""
    text = Path("examples/rio-swap-mistake.yaml").read_text()
    assert [i.finding.rule for i in checked(text, tmp_path).findings if i.finding.severity == "error"] == [
        "swap-across-members"
    ]
    text += "allow: [{rule: swap-across-members, at: swap, reason: as it was in 2007}]\n"
    loaded = checked(text, tmp_path)
    assert not [item for item in loaded.findings if item.finding.severity == "error"]
    assert [each.located.finding.rule for each in loaded.accepted] == ["swap-across-members"]


def test_settings_leave_out_what_can_be_accepted_only(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(
        SCRATCH
        + "filesystems:\n  fa: {device: a, type: xfs, mount: /s}\n  fb: {device: b, type: xfs, mount: /s}\n"
    )

    def rules(settings: Settings) -> set[str]:
        return {item.finding.rule for item in check(str(file), settings).findings} & set(ABOUT)

    assert rules(Settings()) == {"no-redundancy", "duplicate-mount"}
    assert rules(Settings(ignore=frozenset({"no-redundancy"}))) == {"duplicate-mount"}
    assert rules(Settings(select=frozenset({"no-spare"}))) == {"duplicate-mount"}
    assert rules(Settings(select=frozenset({"no-redundancy"}))) == {"no-redundancy", "duplicate-mount"}
    assert rules(Settings(ignore=frozenset({"no-redundancy", "duplicate-mount"}))) == {"duplicate-mount"}


def test_many_acceptances_are_looked_up_not_searched(tmp_path: Path) -> None:
    """Each finding asks for its own place; the count of comparisons would be 4,000 times 4,000 otherwise."""
    disks = "version: 1\nhost: h\nhardware: {disks: {d<0-7999>: {serial: S<1>, size: 3TB}}}\n"
    arrays = "arrays:\n" + "".join(
        f"  a{n}: {{level: raid0, members: [d{2 * n}, d{2 * n + 1}]}}  {COMMENT}\n" for n in range(4000)
    )
    loaded = checked(disks + arrays, tmp_path)
    assert len(loaded.accepted) == 4000
    assert not [item for item in loaded.findings if item.finding.rule in ABOUT]
