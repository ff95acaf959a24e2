"""Lines folded for the eye: every name can be read from the line, all other words stay, and nothing is decided upon it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.groups import groups_by
from raidplan.plan.codec import plan_digest, plan_to_json
from raidplan.render import findings_sarif, folded, groups
from raidplan.render.findings_json import findings_json
from raidplan.render.forms import Look
from raidplan.render.line_folding import frame, one_line
from raidplan.render.losses import loss_texts
from raidplan.render.plan_shell import plan_shell
from raidplan.render.plan_text import render_plan
from tests.examples import EXAMPLES
from tests.forms import planned
from tests.imports import Imports
from tests.names import written_out

PACKAGE = Path(__file__).parents[2] / "raidplan"
WORD = re.compile(r"(?:[^\s,()\[\]{};:]|\[[^\]]*\]|\{(?:[^{}\[\]]|\[[^\]]*\])*\}|:(?=\S))+")
"""A word, with the ranges and the choices in it."""
NAMES = st.from_regex(
    r"[a-z]|boot|d(0?[0-9]|1[0-2]|100)|sd[a-e]|[ds][0-4]\.(bios|data|s[0-9])|vg-[0-9]|r_[0-9]|c[01]p[0-9]|n[0-3]-[0-3]"
    r"|x1\.y[0-9]\.z|(/srv/a|/boot/efi)[0-9]?|l\[0-3\]",
    fullmatch=True,
)
FRAMES = st.sampled_from((
    "mount {} at {}", "partition {}: {} of 1.5 GiB", "create raid1 {} of 4 members ({}), 5 GiB usable", "{} and {} share {}",
    "write x, which gives {} the boot loader", "the disk {} is in {}; {} too", "{}, {} or {} has 7 members (3 are away)",
))  # fmt: skip
"""Frames of sentences."""


def words(text: str) -> set[str]:
    """The words of a text, each range written out."""
    return {name.rstrip(".") for word in WORD.findall(text) for name in written_out(word)}


@st.composite
def listings(draw: st.DrawFn) -> str:
    """A name, or several as a sentence has them."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6))
    last = draw(st.sampled_from((", ", " and ", " or ")))
    return f"{', '.join(names[:-1])}{last}{names[-1]}" if len(names) > 1 else names[0]


@st.composite
def sentences(draw: st.DrawFn) -> list[str]:
    """Several of one frame."""
    template = draw(FRAMES)
    place = st.one_of(NAMES, listings())
    return [
        template.format(*(draw(place) for _ in range(template.count("{}"))))
        for _ in range(draw(st.integers(1, 5)))
    ]


def lost(said: Sequence[str], line: str) -> set[str]:
    """The words of sentences that cannot be read from the line."""
    return set().union(*map(words, said)) - words(line) - {"and", "or"}


@given(sentences())
def test_every_name_can_be_read_from_the_line(said: list[str]) -> None:
    for alike in groups_by(said, frame):
        assert lost(alike, one_line(alike)) == set()


def test_a_path_before_names_is_no_part_of_their_list() -> None:
    assert one_line(["open /boot/efi, boot, data and swap"]) == "open /boot/efi, boot, data and swap"
    said = [f"open /srv/a{n}, b{n}, c and d" for n in range(2)]
    assert one_line(said) == "open /srv/a[0-1], b[0-1], c, d"


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_word_of_the_steps_and_findings_of_the_examples_can_be_read(file: Path) -> None:
    _, plan = planned(file.stem)
    for group in folded.groups(plan) if plan else ():
        assert lost([step.say for step in group.steps], group.says) == set()
    if plan:
        shown = "\n".join(said for *_, said in folded.folded_findings(plan))
        assert lost([str(each["message"]) for each in plan.findings], shown) == set()


def test_nothing_is_decided_upon_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What programs read, what is run, what a person says yes to and its digest are made without it."""
    loaded, plan = planned("tel-aviv-as-built")
    assert plan is not None
    for module in (folded, groups):
        monkeypatch.delattr(module, "frame")
        monkeypatch.delattr(module, "one_line")
    assert plan_to_json(plan) and plan_digest(plan) and plan_shell(plan)
    assert findings_json(loaded.findings) and findings_sarif.render([loaded], Look())
    assert loss_texts(plan.lost) == ()
    with pytest.raises(NameError):
        render_plan(plan)


def test_only_what_people_read_is_made_with_it() -> None:
    arrows = Imports(PACKAGE).arrows

    def users(*names: str) -> set[str]:
        files = {PACKAGE / "render" / f"{name}.py" for name in names}
        return {
            str(file.relative_to(PACKAGE / "render"))
            if file.is_relative_to(PACKAGE / "render")
            else str(file)
            for file, targets in arrows.items()
            if files & set(targets)
        }

    assert users("line_folding") == {"folded.py", "groups.py", "html/timeline.py"}
    assert users("folded", "groups") == {
        "diff_words.py", "plan_markdown.py", "plan_text.py", "html/page.py", "html/timeline.py",
        "findings_github.py", "findings_gitlab.py", "findings_junit.py", "findings_markdown.py", "findings_text.py",
    }  # fmt: skip


def test_names_that_are_no_range_stay_whole() -> None:
    said = ["partition left: left.data of 1 GiB", "partition right: right.data of 1 GiB"]
    assert one_line(said) == "partition left, right: left.data, right.data of 1 GiB"
    assert one_line(["load md_mod", "load raid1"]) == "load md_mod, raid1"
    assert one_line(["mount a0 at /data/0", "mount a1 at /data/1"]) == "mount a[0-1] at /data/[0-1]"
    assert one_line(["x of 8 members (a, b, c2)"]) == "x of 8 members (a, b, c2)"
    assert one_line(["make x (d2, d1, d0)"]) == "make x (d2, d1, d0)", "the order of slots stays"


def test_each_mount_point_stands_as_a_whole_path() -> None:
    said = ["create directory /boot/efi", "create directory /boot/efi2", "create directory /srv/logs"]
    assert one_line(said) == "create directory /boot/efi, /boot/efi2, /srv/logs"
    said = ["mount esp0 at /boot/efi", "mount esp1 at /boot/efi2", "mount logs at /srv/logs"]
    assert one_line(said) == "mount esp[0-1], logs at /boot/efi, /boot/efi2, /srv/logs"


def test_members_that_are_every_partition_of_every_disk_are_crossed() -> None:
    said = [f"create raid1 {n} of 4 members (d0.{n}, d1.{n}, d2.{n}, d3.{n})" for n in ("boot", "swap")]
    assert one_line(said) == "create raid1 boot, swap of 4 members each (d[0-3].{boot,swap})"
    pair = [f"create raid1 {n} of 2 members (d0.{n}, d1.{n})" for n in ("boot", "swap")]
    assert one_line(pair) == "create raid1 boot, swap of 2 members each (d[0-1].{boot,swap})"
    rows = [f"create raid6 s{n} of 4 members (d0{n}, d1{n}, d2{n}, d3{n})" for n in range(3)]
    assert one_line(rows) == "create raid6 s[0-2] of 4 members each (d[0-3][0-2])"


def test_lists_that_end_in_and_fold_too_and_modules_do_not() -> None:
    said = "write x, which gives d0.bios, d1.bios, d2.bios and d3.bios the boot loader"
    assert one_line([said]) == "write x, which gives d[0-3].bios the boot loader"
    assert one_line([f"load the kernel module raid{n}" for n in (1, 456, 10)]).endswith(
        "raid1, raid10, raid456"
    )


def test_names_beside_each_other_stay_at_the_same_place() -> None:
    said = [f"partition d{n}: serial {serial}" for n, serial in enumerate(("S9", "S8", "A1", "A2"))]
    assert one_line(said) == "partition d[0-3]: serial S9, S8, A[1-2]"
