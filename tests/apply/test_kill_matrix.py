"""Killed before, in and after every effect, then resumed: the end is that of a run that nobody disturbed.

Once more with a second kill in the resume, and with tools that lie. The disks of others (others.py) keep every byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from raidplan.facts import Machine
from raidplan.plan.places import INITRAMFS_ASIDE
from raidplan.plan.step import Plan, Run
from tests.apply.left import Kills, seen
from tests.apply.others import ARRAY, ARRAY_NODE, NODES, Others
from tests.apply.runs import LAYOUTS, apply, end, gone_on, impatient, in_order, machine, plan_of
from tests.apply.simulated import Killed, Simulated, State

pytestmark = pytest.mark.slow

__all__ = ["impatient"]

HOWS = ("before", "during", "after")
RESUMED = ("raid1-pair", "raid5-ppl", "raid5-2005-lvm", "loops")
"""A bitmap, a log, volumes on arrays, a file: these are killed again without `--long` too."""
LIES = ("no effect", "failed after all", "cut off")
"""A program that says yes and does nothing, one that does it and says no, one that is killed in the middle."""


def undisturbed(layout: str, root: Path) -> tuple[object, int]:
    world = Simulated(plan_of(layout), root, machine(root))
    assert apply(plan_of(layout), world) == "done"
    assert world.state.others.hashes() == Others().hashes()
    again = Simulated(plan_of(layout), root, world.state)
    assert apply(plan_of(layout), again) == "nothing to do"
    assert not again.effects, "a second run changes nothing"
    return end(world), len(world.effects)


def killed(
    plan: Plan, root: Path, state: State, at: int, how: str, lie: Mapping[str, str] | None = None
) -> bool:
    world = Simulated(plan, root, state, (at, how), lie)
    try:
        apply(plan, world)
    except Killed:
        return True
    return False


Count = Callable[[str, object], None]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_killed_at_every_effect_and_resumed(
    layout: str, tmp_path: Path, record_property: Count, dice: Random | None
) -> None:
    plan = plan_of(layout)
    once = Simulated(plan, tmp_path / "once", machine(tmp_path / "once"))
    kills = Kills(once, tmp_path / "killed", dice)
    assert apply(plan, once) == "done"
    wanted = end(once)
    assert kills.points == len(HOWS) * len(once.effects)
    for point, left in kills.machines():
        assert left.state.others.hashes() == Others().hashes(), point
        assert end(gone_on(plan, left, point)) == wanted, point
    record_property("counted: kills at effects", len(kills.left) if dice else kills.points)


def test_a_process_that_is_killed_leaves_what_was_kept(tmp_path: Path) -> None:
    """Its exception, which a real kill has not, runs nothing that the next process could see."""
    plan = plan_of("raid1-pair")
    once = Simulated(plan, tmp_path / "once", machine(tmp_path / "once"))
    kills = Kills(once, tmp_path / "killed")
    assert apply(plan, once) == "done"
    for at in range(1, len(once.effects) + 1, 5):
        for how in HOWS:
            root = tmp_path / f"{how} {at}"
            state = machine(root)
            assert killed(plan, root, state, at, how)
            assert seen(root, state) in kills.left, f"{how} effect {at}"


def killed_again(
    layout: str, folder: Path, firsts: Callable[[int], Iterable[int]], dice: Random | None = None
) -> int:
    """How many kills came in a resume, at every point of it or, with dice, at one of each kind; `firsts` are the machines
    to resume, of so many.
    """
    plan = plan_of(layout)
    once = Simulated(plan, folder / "once", machine(folder / "once"))
    kills = Kills(once, folder / "killed")
    assert apply(plan, once) == "done"
    wanted, chosen, points = end(once), {*firsts(len(kills.left))}, 0
    for number, (first, left) in enumerate(kills.machines()):
        if number not in chosen:
            continue
        resume = Simulated(plan, left.root, left.state)
        again = Kills(resume, folder / f"again {number}", dice)
        assert apply(plan, resume) in ("done", "nothing to do"), first
        points += len(again.left) if dice else again.points
        for second, twice in again.machines():
            world = Simulated(plan, twice.root, twice.state)
            said = apply(plan, world)
            assert said in ("done", "nothing to do"), f"{first}, then {second}: {said}"
            assert end(world) == wanted, f"{first}, then {second}"
    return points


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    "layout",
    [name if name in RESUMED else pytest.param(name, marks=pytest.mark.long) for name in LAYOUTS],
)
def test_killed_again_in_the_resume(
    layout: str, tmp_path: Path, record_property: Count, dice: Random | None
) -> None:
    """Of a machine that a kill left at one point of each kind of the resume, or of twelve with `--long` at every point."""
    times, draw = (1, dice) if dice else (12, Random(layout))
    # Of the first half: the resumes of the others are short.
    points = killed_again(layout, tmp_path, lambda left: draw.sample(range(left // 2), times), dice)
    assert points > (5 if dice else 20)
    record_property("counted: second kills, in a resume", points)


@pytest.mark.long
def test_killed_at_every_pair_of_points(tmp_path: Path, record_property: Count) -> None:
    record_property("counted: second kills, in a resume", killed_again("raid1-pair", tmp_path, range))


@pytest.mark.drawn(5)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_killed_twice_while_a_tool_lies(
    layout: str, tmp_path: Path, request: pytest.FixtureRequest, record_property: Count, dice: Random | None
) -> None:
    """Each program of the plan lies once, in one of three ways; without `--long` a third of them."""
    plan = plan_of(layout)
    wanted, effects = undisturbed(layout, tmp_path / "undisturbed")
    honest = Simulated(plan, tmp_path / "honest", machine(tmp_path / "honest"))
    assert apply(plan, honest) == "done"
    ran = [at for at, (kind, _) in enumerate(honest.effects, 1) if kind == "run"]
    draw, kills = dice or Random(layout), 0
    for number, line in enumerate(dict.fromkeys(honest.executed)):
        if dice and (number + request.config.getoption("seed")) % len(LIES):
            continue
        root, lie = tmp_path / str(number), {line: LIES[number % 3]}
        # Mostly after the lie, and never before the first program.
        first, second = draw.randrange(ran[min(number, len(ran) - 1)], effects + 1), draw.randrange(1, 40)
        state = machine(root)
        if killed(plan, root, state, first, HOWS[number % 3], lie):
            kills += 1 + killed(plan, root, state, second, HOWS[number // 3 % 3])
        world = Simulated(plan, root, state)
        said, words = apply(plan, world), f"{first}, {second}, {lie}"
        gone = "and is missing now: " in said
        assert gone or said in ("done", "nothing to do"), f"{words}: {said}"
        assert gone or not proven(plan, lie) or end(world) == wanted, words
        assert state.others.hashes() == Others().hashes(), words
    record_property("counted: kills while a tool lies", kills)


def proven(plan: Plan, lines: Iterable[str]) -> bool:
    """What those programs do is read back; nothing shows what the others did."""
    world = Simulated(plan, Path("/none"), State())
    steps = [step for step in plan.steps if isinstance(step.action, Run)]
    return all(any(step.proof and " ".join(world._argv(step)) == line for step in steps) for line in lines)


@pytest.mark.drawn(14)
@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_tool_that_lies_is_never_believed(
    layout: str, lie: str, tmp_path: Path, request: pytest.FixtureRequest, dice: Random | None
) -> None:
    """Whatever a tool says: success is what is read back, and the next run converges or says what stops it.

    Without `--long` each program of a plan lies in one of the ways.
    """
    turn = request.config.getoption("seed") + LIES.index(lie)
    plan = plan_of(layout)
    wanted, _ = undisturbed(layout, tmp_path / "undisturbed")
    honest = Simulated(plan, tmp_path / "honest", machine(tmp_path / "honest"))
    apply(plan, honest)
    for number, line in enumerate(dict.fromkeys(honest.executed)):
        if dice and (number + turn) % len(LIES):
            continue
        root = tmp_path / str(number)
        state = machine(root)
        liar = Simulated(plan, root, state, lie={line: lie})
        first = apply(plan, liar)
        assert first != "done" or not proven(plan, [line]) or end(liar) == wanted, line
        world = Simulated(plan, root, state)
        said = apply(plan, world)
        assert said in ("done", "nothing to do") or "and is missing now: " in said, f"{line}: {said}"
        if said == "done" and proven(plan, [line]):
            assert end(world) == wanted, line


@pytest.mark.parametrize("argv", [
    ("mke2fs", NODES[3]), ("wipefs", "--all", f"{NODES[2]}1"), ("dd", f"of={NODES[0]}"), ("mdadm", "--stop", ARRAY_NODE),
    ("mdadm", "--assemble", f"--uuid={ARRAY}"), ("mdadm", "--stop", "--scan"), ("vgchange", "-a", "n"), ("swapoff", "--all"),
])  # fmt: skip
def test_what_is_done_to_the_disks_of_others_shows(argv: tuple[str, ...], tmp_path: Path) -> None:
    world = Simulated(plan_of("raid1-pair"), tmp_path, machine(tmp_path))
    with pytest.raises(AssertionError, match="writes to the disks of others"):
        world.run(argv)
    assert world.state.others.hashes() != Others().hashes()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_everything_is_on_the_disk_before_what_it_announces(layout: str, tmp_path: Path) -> None:
    """Else a power cut leaves effects of which the journal says nothing, or a file without its content."""
    world = Simulated(plan_of(layout), tmp_path, machine(tmp_path))
    assert apply(plan_of(layout), world) == "done"
    assert in_order(world.effects) > 3


def test_a_journal_that_was_changed_is_refused(tmp_path: Path) -> None:
    plan = plan_of("raid1-pair")
    state = machine(tmp_path)
    assert killed(plan, tmp_path, state, 30, "after")
    file = tmp_path / "var/lib/raidplan/journal"
    lines = file.read_text().splitlines(keepends=True)
    lines[1] = json.dumps({**json.loads(lines[1]), "step": "another"}) + "\n"
    file.write_text("".join(lines))
    with pytest.raises(Exception, match=r"journal-unusable line .*3"):
        apply(plan, Simulated(plan, tmp_path, state))


def test_without_its_journal_an_interrupted_apply_is_not_taken_up(tmp_path: Path) -> None:
    """Wherever it was cut off: while nothing is on any disk it begins anew, and then it changes nothing any more."""
    plan = plan_of("raid1-pair")
    once = Simulated(plan, tmp_path / "once", machine(tmp_path / "once"))
    kills = Kills(once, tmp_path / "killed")
    assert apply(plan, once) == "done"
    wanted, refused = end(once), 0
    for point, left in kills.machines():
        (left.root / "var/lib/raidplan/journal").unlink(missing_ok=True)
        state = left.state
        blank, before = not state.content, deepcopy((state.objects, state.content))
        world = Simulated(plan, left.root, state)
        said = apply(plan, world)
        if blank or said == "nothing to do":
            assert end(world) == wanted, point
            continue
        words = ("no journal records that they were finished", "not blank", "it is not assembled")
        assert any(each in said for each in words), f"{point}: {said}"
        assert not world.effects and (state.objects, state.content) == before, point
        refused += 1
    assert refused > len(kills.left) // 3


class Behind(Simulated):
    """The clock was set back since: every initramfs that is whole looks newer than what it should hold."""

    def read(self, plan: Plan) -> Machine:
        found = super().read(plan)
        fresh = not self.path(INITRAMFS_ASIDE).exists()
        return replace(found, objects={**found.objects, "initramfs": {"current": {"fresh": fresh}}})


def test_f08_after_a_kill_the_initramfs_is_made_whatever_the_clock_says(
    tmp_path: Path, dice: Random | None
) -> None:
    plan = plan_of("raid1-pair")
    once = Simulated(plan, tmp_path / "once", machine(tmp_path / "once"))
    kills = Kills(once, tmp_path / "killed", dice)
    assert apply(plan, once) == "done"
    wanted = end(once)
    for point, left in kills.machines():
        world = Behind(plan, left.root, left.state)
        assert apply(plan, world) in ("done", "nothing to do"), point
        assert end(world) == wanted and Simulated._initramfs_is_new(world), point
