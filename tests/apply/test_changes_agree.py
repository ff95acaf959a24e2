"""Whatever shape an array has and whatever shape is wanted: the table, `diff`, `plan` and `apply` say the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.change.array_shape import shape
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.refusal import Refusal
from raidplan.base.levels import LEVELS
from raidplan.base.size import KIB
from raidplan.diff import diff
from raidplan.facts.machine import texts
from raidplan.plan.changes import (
    REORDERED,
    Answer,
    Before,
    Kind,
    Pairing,
    Reason,
    Shape,
    argv,
    changes,
    levels,
    pair,
    short,
    slot_after,
)
from raidplan.plan.step import Plan, Run
from raidplan.plan.switches import words
from raidplan.render.change_words import BEFORE, REASONS
from tests.apply.earlier import plan_of_text
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated
from tests.diff.layouts import fates, side, ways

__all__ = ["impatient"]

LAYOUTS = {
    "raid5": ("left-symmetric", "right-symmetric"),
    "raid6": ("left-symmetric", "parity-last"),
    "raid10": ("n2", "o2", "f2", "n3"),
}
ZONES = ("original", "alternate")
DISKS = 9
HARDWARE = (
    f"hardware: {{disks: {{d<0-{DISKS - 1}>: {{serial: S<1>, size: 4GiB, partitions: "
    "{p: {size: 1GiB, type: raid}, q: {size: 2GiB, type: raid}, j: {size: 512MiB, type: raid}}}}}\n"
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
        for zones, chunk in product(ZONES, sizes) if level == "raid0" else ():
            yield Shape(level, count, chunk, zones, metadata, "", even=False)


SHAPES = list(_shapes())


Seats = Callable[[list[int], list[int], int], list[int]]
"""Of the members before, as they will be at best, and a disk that is free: the members to ask for."""

OTHERS: dict[str, Seats] = {
    "in another order": lambda before, after, free: [after[1], after[0], *after[2:]],
    "another first one": lambda before, after, free: [free, *after[1:]],
    "two others": lambda before, after, free: [free, *after[1:-1], free + 1],
    "the first leaves": lambda before, after, free: [*before[1:], *({*after} - {*before}), free, free + 1][
        : len(after)
    ],
    "a new one before all others": lambda before, after, free: [free, *after[:-1]],
}


@dataclass(frozen=True)
class Pair:
    """Two shapes; each member that stays has the slot that it will have, unless `seats` says otherwise."""

    old: Shape
    new: Shape
    seats: Seats | None = None

    @property
    def members(self) -> tuple[list[int], list[int]]:
        before = list(range(self.old.count))
        kept: dict[int, int] = {}
        for slot in before:
            after = slot_after(slot, self.old, self.new)
            if after is not None:
                kept.setdefault(after, slot)
        fresh = (disk for disk in range(DISKS) if disk >= self.old.count)
        best = [kept[slot] if slot in kept else next(fresh) for slot in range(self.new.count)]
        wanted = self.seats(before, best, max((*before, *best)) + 1) if self.seats else best
        assert len({*wanted}) == self.new.count and max(wanted) < DISKS
        return before, wanted

    @property
    def pairing(self) -> Pairing:
        before, after = self.members
        stays = [after.index(disk) if disk in after else None for disk in before]
        return pair(stays, self.old, self.new)

    @property
    def large(self) -> int | None:
        """The disk whose member is larger than all others."""
        if self.old.even and self.new.even:
            return None
        return self.members[1][-1] if self.old.level == "raid0" and self.old.even else 0


def _pairs() -> Iterator[Pair]:
    """All pairs of shapes; those of RAID0 are of unequal members, or not, by the members that stay."""
    for old, new in product(SHAPES, SHAPES):
        if (
            {old.level, new.level} != {"raid0"}
            or old.even == new.even
            or (old.even and new.count > old.count)
        ):
            yield Pair(old, new)


def _text(shape: Shape, members: list[int], large: int | None = None) -> str:
    named = ", ".join(f"d{n}.{'q' if n == large else 'p'}" for n in members)
    lines = [f'level: {shape.level}, members: [{named}], metadata: "{shape.metadata}"']
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


@cache
def _kinds() -> list[list[Pair]]:
    """All pairs, those together that have the same answers between the same levels."""
    found: dict[object, list[Pair]] = {}
    for each in _pairs():
        answers = tuple((change.key, change.answer) for change in changes(each.old, each.new))
        found.setdefault((each.old.level, each.new.level, answers), []).append(each)
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
    for each in _pairs():
        old, new = each.old, each.new
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
        Reason.OTHER_SLOTS,
        Reason.SIZE,
        Reason.NOTHING_TWICE,
        Reason.SHRINKS_NOT,
        Reason.TYPE,
        Reason.STRIPE,
        Reason.SIZE_OF_EXTENTS,
        Reason.SUPERBLOCK_AT_END,
        Reason.NAMED_BY_LVM,
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
    for number, each in enumerate(_drawn(dice, 30)):
        _say_the_same(each, tmp_path / str(number), plans)


def _drawn_with_others(dice: Random | None, count: int) -> list[Pair]:
    """Pairs of even shapes whose members are not what they would be at best: of each two levels, or of some."""
    kinds: dict[object, list[Pair]] = {}
    for each in (one for pairs in _kinds() for one in pairs):
        if each.old.even and each.new.even:
            is_way = all(change.answer.possible for change in changes(each.old, each.new))
            kinds.setdefault((each.old.level, each.new.level, is_way), []).append(each)
    drawn = [(pairs, seats) for pairs in kinds.values() for seats in OTHERS.values()]
    if dice is None:
        return [replace(pairs[len(pairs) // 2], seats=seats) for pairs, seats in drawn]
    return [replace(dice.choice(pairs), seats=seats) for pairs, seats in dice.sample(drawn, count)]


def test_all_say_the_same_of_other_members(dice: Random | None, tmp_path: Path) -> None:
    """Members that leave, join and change places at once."""
    plans: dict[str, Plan] = {}
    for number, each in enumerate(_drawn_with_others(dice, 20)):
        _say_the_same(each, tmp_path / str(number), plans)


@pytest.mark.parametrize("seats", OTHERS)
@pytest.mark.parametrize("counts", [(2, 2), (3, 2), (2, 3), (3, 3)], ids=str)
def test_all_say_the_same_of_other_mirrors(counts: tuple[int, int], seats: str, tmp_path: Path) -> None:
    """They are many members' changes at once, and none may leave fewer than two in sync."""
    old, new = (Shape("raid1", count, None, None, "1.2", "bitmap") for count in counts)
    _say_the_same(Pair(old, new, OTHERS[seats]), tmp_path, {})


def test_a_row_is_all_that_a_new_change_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/internals/architecture.md says; mdadm makes no RAID6 of a mirror."""
    old, new = (
        next(
            shape for shape in SHAPES if (shape.level, shape.count, shape.policy) == (level, count, "resync")
        )
        for level, count in (("raid1", 2), ("raid6", 4))
    )
    assert not all(change.answer.possible for change in changes(old, new))
    rows = {**levels.TAKEOVERS, ("raid1", "raid6"): levels.Takeover(2, (Before.CHUNK_IS_64K,))}
    monkeypatch.setattr(levels, "TAKEOVERS", rows)
    assert all(change.answer.possible for change in changes(old, new))
    _say_the_same(Pair(old, new), tmp_path, {})


MONITORING = {"address": "mail: root@example.org", "another": "mail: you@example.org", "monthly": "scrub: monthly", "never": "scrub: none", "unasked": "smart: true"}  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [("address", "another", "mail"), ("address", "unasked", "mail"), ("monthly", "never", "scrub"), ("unasked", "monthly", "scrub"),
     ("unasked", "never", "scrub"), ("monthly", "unasked", "scrub")],
)  # fmt: skip
@pytest.mark.parametrize("by_cron", [False, True])
def test_all_say_the_same_of_monitoring(old: str, new: str, key: str, by_cron: bool, tmp_path: Path) -> None:
    array = _text(Shape("raid1", 2, None, None, "1.2", "bitmap"), [0, 1])
    before, after = (f"{array}monitoring: {{{MONITORING[each]}}}\n" for each in (old, new))
    state = machine(tmp_path)
    if by_cron:
        (tmp_path / "etc/cron.d").mkdir()
        (tmp_path / "etc/cron.d/mdadm").write_text("57 0 * * 0 root checkarray\n")
    first, later = (plan_of_text(text, tmp_path) for text in (before, after))
    assert apply(first, Simulated(first, tmp_path, state)) == "done"
    past = read_past(tmp_path / "var/lib/raidplan")
    left = decide(later, Simulated(later, tmp_path, state).read(later), past, here=False).left.steps
    runs = [step.action for step in left if isinstance(step.action, Run)]
    switches = [run for run in runs if run.argv[0] == "systemctl"]
    (command,) = (words((run,)) for run in switches)
    told = ways(diff(side(before), side(after)), "monitoring")[key]
    assert told and command in told.split(" or ") and (new == "unasked" or command == told)


def _say_the_same(pair: Pair, root: Path, plans: dict[str, Plan]) -> None:
    """The first shape is made, and the second one is asked for."""
    shapes = zip((pair.old, pair.new), pair.members, strict=True)
    before, after = (_text(shape, disks, pair.large) for shape, disks in shapes)
    state = machine(root)
    plans |= {text: plan_of_text(text, root) for text in (before, after) if text not in plans}
    assert apply(plans[before], Simulated(plans[before], root, state)) == "done"
    wanted = {change.key: change.answer for change in changes(pair.old, pair.new)}
    _as_diff_says(wanted, pair.pairing, before, after)
    later = plans[after]
    past = read_past(root / "var/lib/raidplan")
    decided = decide(later, Simulated(later, root, state).read(later), past, here=False)
    commands = [step.action.argv for step in decided.left.steps if isinstance(step.action, Run)]
    _as_apply_says(wanted, pair, decided.refusals, commands)
    _keeps_what_is_wanted(decided.refusals, plans[before], later)


def _as_diff_says(wanted: dict[str, Answer], members: Pairing, before: str, after: str) -> None:
    made = diff(side(before), side(after))
    if not wanted and members.answer is None:
        assert "arrays.a" not in fates(made)
        return
    told, in_slots = ways(made, "arrays.a"), not members.answer or members.answer.possible
    for key, answer in wanted.items():
        if in_slots or key != "raid-devices":  # else those that join may not be free
            assert told[key] == (short(answer) if answer.possible else None), (key, before, after)
    for _, slot in members.exchanged:
        assert members.answer is not None
        assert told[f"members.{slot}"] == (short(members.answer) if in_slots else None), (before, after)
    impossible = not in_slots or any(not answer.possible for answer in wanted.values())
    assert (fates(made)["arrays.a"] == "re-created") is impossible, (told, before, after)


def _as_apply_says(
    wanted: dict[str, Answer], pair: Pair, refusals: tuple[Refusal, ...], commands: list[tuple[str, ...]]
) -> None:
    said = [each for each in refusals if each.place == "arrays.a"]
    told = ", ".join(command for each in said for command in each.figures.get("commands", ()))
    members, cases = pair.pairing.answer, {(each.case, each.figures.get("cause")) for each in said}
    reasons = [answer.reason for answer in wanted.values() if answer.reason]
    if reasons or (members and members.reason):
        order = not reasons and sorted(pair.members[0]) == sorted(pair.members[1])
        assert cases == {
            ("order", None) if order else ("new-array", [*reasons, members and members.reason][0])
        }
    elif members is None and all(answer.kind is Kind.BY_APPLY for answer in wanted.values()):
        assert said == [], pair
        for answer in wanted.values():
            assert argv(answer, node="/dev/md/a") in commands, pair
    else:
        assert (("order", None) in cases) is (members is REORDERED)
        later = {"raid-devices"} if pair.pairing.exchanged and "level" not in wanted else {*()}
        now = [answer for key, answer in wanted.items() if key not in later]
        for answer in [*now, *([members] if members else [])]:
            for command in answer.commands if answer.kind is Kind.BY_HAND else ():
                assert re.search(_pattern(command), told), (pair, command, told)
        assert not later or "--raid-devices" not in told, "the number of members waits for the copies"
        assert "new-array" not in {each.case for each in said}, pair
    assert not said or not [each for each in commands if each[:2] == ("mdadm", "--grow")], (
        "nothing is changed beside a refusal"
    )


def _keeps_what_is_wanted(refusals: tuple[Refusal, ...], old: Plan, new: Plan) -> None:
    """No command takes a member out that the new layout has, or more of them than its number says, and none adds one that is there."""
    now, wanted = (
        next(
            texts(step.proof.expect["members"])
            for step in plan.steps
            if step.proof and step.proof.kind == "array"
        )
        for plan in (old, new)
    )
    for each in (command for refusal in refusals for command in texts(refusal.figures.get("commands"))):
        out, _, into = each.partition(" --with ")
        named = [f"partition:{word}" for word in re.findall(r"by-partuuid/(\S+)", out)]
        devices = [device for device in named if device in (*now, *wanted)]
        if re.search(r"--(fail|remove|zero-superblock|replace) ", out):
            assert not {*devices} & {*wanted}, each
            assert into or len(devices) <= max(0, len(now) - len(wanted)), each
        elif re.search(r"--(add|add-spare) ", out):
            assert not {*devices} & {*now} and {*devices} <= {*wanted}, each


def test_what_is_read_back_has_the_shape_that_was_planned(tmp_path: Path) -> None:
    for one in SHAPES[::17]:
        plan = plan_of_text(_text(one, list(range(one.count)), None if one.even else 0), tmp_path)
        (proof,) = (step.proof for step in plan.steps if step.id == "array.a.create")
        assert proof is not None
        read = shape(proof.expect)
        assert (read.level, read.count, read.chunk, read.layout, read.metadata, read.policy) == (
            one.level, one.count, one.chunk, one.layout, one.metadata, one.policy
        )  # fmt: skip
