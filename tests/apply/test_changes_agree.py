"""Whatever shape an array has and whatever shape is wanted: the table, `diff`, `plan` and `apply` say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.change.array_by_hand import shape
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.refusal import Refusal
from raidplan.base.levels import LEVELS
from raidplan.base.size import KIB
from raidplan.diff import diff
from raidplan.plan.changes import (
    Before,
    Kind,
    Reason,
    Shape,
    argv,
    arrays,
    changes,
    short,
    slot_after,
)
from raidplan.plan.step import Plan, Run
from raidplan.render.change_words import BEFORE, REASONS
from raidplan.review import pipeline
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated
from tests.diff.layouts import fates, side, ways

__all__ = ["impatient"]

LAYOUTS = {
    "raid5": ("left-symmetric", "right-symmetric"),
    "raid6": ("left-symmetric", "parity-last"),
    "raid10": ("n2", "o2", "f2", "n3"),
}
DISKS = 8
HARDWARE = (
    f"hardware: {{disks: {{d<0-{DISKS - 1}>: {{serial: S<1>, size: 4GiB, partitions: "
    "{p: {size: 1GiB, type: raid}, j: {size: 512MiB, type: raid}}}}}\n"
)


def _policies(level: str, metadata: str) -> tuple[str, ...]:
    if not LEVELS[level].redundant:
        return ("",)
    journal = LEVELS[level].has_stripe_cache and metadata == "1.2"
    ppl = level == "raid5" and metadata != "0.90"
    return ("resync", "bitmap", *(["journal"] * journal), *(["ppl"] * ppl))


def _shapes() -> Iterator[Shape]:
    for level, count, metadata in product(LEVELS, (2, 3, 4, 5), ("0.90", "1.0", "1.2")):
        if count < LEVELS[level].minimum or (level in ("raid0", "linear") and metadata == "0.90"):
            continue
        sizes = (64 * KIB, 512 * KIB) if metadata == "1.2" else (64 * KIB,)
        chunks = sizes if LEVELS[level].chunked else (None,)
        for layout, chunk, policy in product(LAYOUTS.get(level, (None,)), chunks, _policies(level, metadata)):
            if layout != "n3" or count > 2:
                yield Shape(level, count, chunk, layout, metadata, policy)


SHAPES = list(_shapes())


@dataclass(frozen=True)
class Pair:
    """Two shapes; each member that stays has the slot that it will have."""

    old: Shape
    new: Shape

    @property
    def members(self) -> tuple[list[int], list[int]]:
        before = list(range(self.old.count))
        kept: dict[int, int] = {}
        for slot in before:
            after = slot_after(slot, self.old, self.new)
            if after is not None:
                kept.setdefault(after, slot)
        fresh = (disk for disk in range(DISKS) if disk >= self.old.count)
        return before, [kept[slot] if slot in kept else next(fresh) for slot in range(self.new.count)]


def _text(shape: Shape, members: list[int]) -> str:
    lines = [
        f'level: {shape.level}, members: [{", ".join(f"d{n}.p" for n in members)}], metadata: "{shape.metadata}"'
    ]
    lines += [f"chunk: {shape.chunk // KIB}KiB"] if shape.chunk else []
    lines += [f"layout: {shape.layout}"] if shape.layout else []
    match shape.policy:
        case "resync":
            lines.append("bitmap: none")
        case "bitmap":
            lines.append("bitmap: internal")
        case "ppl":
            lines.append("consistency: ppl")
        case "journal":
            lines.append(f"consistency: journal, journal: d{DISKS - 1}.j")
    return f"{HARDWARE}arrays: {{a: {{{', '.join(lines)}}}}}\n"


def _plan(text: str, folder: Path) -> Plan:
    file = folder / "layout.yaml"
    file.write_text(f"version: 1\nhost: h\n{text}")
    plan, loaded = pipeline.plan(pipeline.check(str(file)))
    assert plan is not None, (text, loaded.findings)
    return plan


@cache
def _kinds() -> list[list[Pair]]:
    """All pairs, those together that have the same answers between the same levels."""
    found: dict[object, list[Pair]] = {}
    for old, new in product(SHAPES, SHAPES):
        answers = tuple((change.key, change.answer) for change in changes(old, new))
        found.setdefault((old.level, new.level, answers), []).append(Pair(old, new))
    return list(found.values())


def _drawn(dice: Random | None, count: int) -> list[Pair]:
    """A pair of some kinds, or of each; of those that some way leads between, as many as of all others."""
    if dice is None:
        return [pairs[len(pairs) // 2] for pairs in _kinds()]
    ways = [
        pairs
        for pairs in _kinds()
        if all(each.answer.possible for each in changes(pairs[0].old, pairs[0].new))
    ]
    others = [pairs for pairs in _kinds() if pairs not in ways]
    return [
        dice.choice(pairs) for pairs in (*dice.sample(ways, count // 2), *dice.sample(others, count // 2))
    ]


def test_every_answer_is_whole() -> None:
    """All pairs: a way has commands, what is impossible a reason, and nothing is given a backup file."""
    seen: set[object] = set()
    for old, new in product(SHAPES, SHAPES):
        found = list(changes(old, new))
        assert bool(found) == (old != new), (old, new)
        for change in found:
            answer = change.answer
            assert bool(answer.commands) is answer.possible is (answer.reason is None), (old, new)
            assert not any("backup" in command for command in answer.commands)
            assert answer.since in ("", "4.4")
            if answer.since:
                assert old.metadata != "0.90" and "f2" not in (old.layout, new.layout), (old, new)
            if answer.kind is Kind.BY_APPLY:
                assert change.key == "consistency" and {old.policy, new.policy} == {"resync", "bitmap"}
            seen |= {answer.reason, *answer.before}
    assert set(BEFORE) == set(Before) and set(REASONS) == set(Reason)
    assert {*Reason} - seen == {
        Reason.UNEVEN,
        Reason.SIZE,
        Reason.NOTHING_TWICE,
        Reason.SHRINKS_NOT,
        Reason.TYPE,
        Reason.STRIPE,
    }, "those are no matter of two shapes"


REFUSED = [
    ("raid5", "raid1"), ("raid6", "raid5"), ("raid6", "raid0"), ("raid5", "raid0"), ("raid5", "raid4"), ("raid10", "raid5"),
    ("raid10", "raid6"), ("raid6", "raid10"), ("raid1", "raid10"), ("linear", "raid0"),
]  # fmt: skip


@pytest.mark.parametrize("levels", REFUSED, ids="-".join)
def test_levels_that_nobody_is_told_to_change(levels: tuple[str, str]) -> None:
    """mdadm refuses them, hangs, or leaves them unfinished when it is interrupted."""
    pairs = [(old, new) for old, new in product(SHAPES, SHAPES) if (old.level, new.level) == levels]
    assert pairs
    for old, new in pairs:
        assert not next(change for change in changes(old, new) if change.key == "level").answer.possible


def test_far_copies_stay_as_they_are() -> None:
    for old, new in product(SHAPES, SHAPES):
        if old.level == new.level == "raid10" and "f2" in (old.layout, new.layout):
            moving = [
                change for change in changes(old, new) if change.key in ("layout", "raid-devices", "chunk")
            ]
            assert not any(change.answer.possible for change in moving)


def _pattern(command: str) -> str:
    """A command as it is told, whatever its values."""
    return re.sub(r"\\\{\w+\\\}", r"[^,;()]+", re.escape(command))


def test_all_say_the_same(dice: Random | None, tmp_path: Path) -> None:
    plans: dict[str, Plan] = {}
    for number, pair in enumerate(_drawn(dice, 60)):
        _say_the_same(pair, tmp_path / str(number), plans)


def test_a_row_is_all_that_a_new_change_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/internals/architecture.md says; mdadm makes no RAID6 of a mirror."""
    old, new = (
        next(
            shape for shape in SHAPES if (shape.level, shape.count, shape.policy) == (level, count, "resync")
        )
        for level, count in (("raid1", 2), ("raid6", 4))
    )
    assert not all(change.answer.possible for change in changes(old, new))
    rows = {**arrays.TAKEOVERS, ("raid1", "raid6"): arrays.Takeover(2, (Before.CHUNK_IS_64K,))}
    monkeypatch.setattr(arrays, "TAKEOVERS", rows)
    assert all(change.answer.possible for change in changes(old, new))
    _say_the_same(Pair(old, new), tmp_path, {})


def _say_the_same(pair: Pair, root: Path, plans: dict[str, Plan]) -> None:
    """The first shape is made, and the second one is asked for."""
    before, after = (
        _text(shape, disks) for shape, disks in zip((pair.old, pair.new), pair.members, strict=True)
    )
    state = machine(root)
    plans |= {text: _plan(text, root) for text in (before, after) if text not in plans}
    assert apply(plans[before], Simulated(plans[before], root, state)) == "done"
    wanted = {change.key: change.answer for change in changes(pair.old, pair.new)}
    _as_diff_says(wanted, before, after)
    later = plans[after]
    past = read_past(root / "var/lib/raidplan")
    decided = decide(later, Simulated(later, root, state).read(later), past, here=False)
    commands = [step.action.argv for step in decided.left.steps if isinstance(step.action, Run)]
    _as_apply_says(wanted, pair, decided.refusals, commands)


def _as_diff_says(wanted: dict, before: str, after: str) -> None:  # type: ignore[type-arg]
    made = diff(side(before), side(after))
    if not wanted:
        assert "arrays.a" not in fates(made)
        return
    told = ways(made, "arrays.a")
    for key, answer in wanted.items():
        assert told[key] == (short(answer) if answer.possible else None), (key, before, after)
    impossible = any(not answer.possible for answer in wanted.values())
    assert (fates(made)["arrays.a"] == "re-created") is impossible, (told, before, after)


def _as_apply_says(
    wanted: dict, pair: Pair, refusals: tuple[Refusal, ...], commands: list[tuple[str, ...]]
) -> None:  # type: ignore[type-arg]
    said = [each for each in refusals if each.place == "arrays.a"]
    told = ", ".join(command for each in said for command in each.figures.get("commands", ()))
    reasons = [answer.reason for answer in wanted.values() if answer.reason]
    if all(answer.kind is Kind.BY_APPLY for answer in wanted.values()):
        assert said == [], pair
        for answer in wanted.values():
            assert argv(answer, node="/dev/md/a") in commands, pair
    elif reasons:
        found = {(each.case, each.figures.get("cause")) for each in said}
        assert found == {("new-array", reasons[0])}, pair
    else:
        for answer in wanted.values():
            for command in answer.commands if answer.kind is Kind.BY_HAND else ():
                assert re.search(_pattern(command), told), (pair, command, told)
        assert "new-array" not in {each.case for each in said}, pair
    assert not said or not [each for each in commands if each[:2] == ("mdadm", "--grow")], (
        "nothing is changed beside a refusal"
    )


def test_what_is_read_back_has_the_shape_that_was_planned(tmp_path: Path) -> None:
    for one in SHAPES[::17]:
        plan = _plan(_text(one, list(range(one.count))), tmp_path)
        (proof,) = (step.proof for step in plan.steps if step.id == "array.a.create")
        assert proof is not None
        read = shape(proof.expect)
        assert (read.level, read.count, read.chunk, read.layout, read.metadata, read.policy) == (
            one.level, one.count, one.chunk, one.layout, one.metadata, one.policy
        )  # fmt: skip
