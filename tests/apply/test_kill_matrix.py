"""Killed before, in and after every effect, then resumed: the end is that of a run that nobody disturbed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random

import pytest

from raidplan import pipeline
from raidplan.apply import execute
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.session import carry_out, decide
from raidplan.plan import Plan
from tests.apply.simulated import Killed, Simulated, State
from tests.initramfs import boot

EXAMPLES = Path(__file__).parents[2] / "examples"
LAYOUTS = ("raid1-pair", "raid50", "linear", "raid5-ppl", "raid6-journal", "raid10-far", "rio-2007", "rio-swap-cure",
           "raid5-2005", "raid5-2005-lvm", "forecast-vm-cure", "loops", "pegasus2-r4", "lvm-test-host-cure")  # fmt: skip
FSTAB = "# by hand\nUUID=1 / ext4 defaults 0 1\n"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that does not appear at once never does here."""
    monkeypatch.setattr(execute, "APPEAR_SECONDS", 0)
    monkeypatch.setattr(execute, "LOOK_AGAIN_SECONDS", 0)


@cache
def plan_of(layout: str) -> Plan:
    made, loaded = pipeline.plan(pipeline.check(str(EXAMPLES / f"{layout}.yaml")))
    assert made is not None, loaded.findings
    return made


def machine(root: Path) -> State:
    """A blank machine with a line of somebody else's in fstab, and a foreign disk."""
    (root / "etc").mkdir(parents=True)
    (root / "etc/fstab").write_text(FSTAB)
    boot(root, "6.1")
    return State(content={"/dev/foreign": ["ext4 precious"]}, foreign=frozenset({"/dev/foreign"}))


def apply(plan: Plan, world: Simulated) -> str:
    """As the command does it: "done", "nothing to do", or why not."""
    folder = world.root / "var/lib/raidplan"
    decision = decide(plan, world.read(plan), read_past(folder), here=False)
    if decision.refusals:
        return "; ".join(decision.refusals)
    if decision.left.lost:
        return "asks: " + "; ".join(decision.left.lost)
    journal = open_journal(folder, world)
    if not decision.left.steps:
        if journal.past.is_open:
            journal.close()
        return "nothing to do"
    outcome = carry_out(decision, journal, lambda event: None, workers=1)
    if not outcome.complete:
        return "stopped: " + "; ".join(outcome.failed.values())
    return "done" if not outcome.unproven else "; ".join(outcome.unproven)


def end(world: Simulated) -> object:
    """What stands in the end: objects, what devices carry, and every file but the journal."""
    files = {
        str(file.relative_to(world.root)): file.read_text()
        for file in sorted(world.root.rglob("*"))
        if file.is_file() and "var/lib/raidplan" not in str(file) and not file.name.endswith("-old")
    }
    state = world.state
    return deepcopy((state.objects, state.content, files, state.unfinished))


def undisturbed(layout: str, root: Path) -> tuple[object, int]:
    world = Simulated(plan_of(layout), root, machine(root))
    assert apply(plan_of(layout), world) == "done"
    assert world.state.content["/dev/foreign"] == ["ext4 precious"]
    again = Simulated(plan_of(layout), root, world.state)
    assert apply(plan_of(layout), again) == "nothing to do"
    assert not again.effects, "a second run changes nothing"
    return end(world), len(world.effects)


def killed(plan: Plan, root: Path, state: State, at: int, how: str) -> bool:
    world = Simulated(plan, root, state, (at, how))
    try:
        apply(plan, world)
    except Killed:
        return True
    return False


@pytest.mark.parametrize("how", ["before", "during", "after"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_killed_at_every_effect_and_resumed(
    layout: str, how: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    plan = plan_of(layout)
    wanted, effects = undisturbed(layout, tmp_path / "undisturbed")
    points = 0
    for at in range(1, effects + 1):
        root = tmp_path / str(at)
        state = machine(root)
        assert killed(plan, root, state, at, how)
        points += 1
        world = Simulated(plan, root, state)
        said = apply(plan, world)
        assert said in ("done", "nothing to do"), f"{how} effect {at}: {said}"
        assert end(world) == wanted, f"{how} effect {at}"
        assert not read_past(root / "var/lib/raidplan").is_open
        assert apply(plan, Simulated(plan, root, state)) == "nothing to do"
    record_property("killed", f"{layout}: {how} each of {points} effects")


def twice(layout: str, count: int) -> Iterator[tuple[int, str, int, str]]:
    """Points for a kill and for another one in the resume, drawn with a fixed seed."""
    dice = Random(f"{layout} 2026")
    for _ in range(count):
        yield (
            dice.randrange(1, 400),
            dice.choice(["before", "during", "after"]),
            dice.randrange(1, 120),
            dice.choice(["before", "during", "after"]),
        )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_killed_again_in_the_resume(layout: str, tmp_path: Path) -> None:
    plan = plan_of(layout)
    wanted, _ = undisturbed(layout, tmp_path / "undisturbed")
    for number, (first, how, second, how_too) in enumerate(twice(layout, 40)):
        root = tmp_path / str(number)
        state = machine(root)
        killed(plan, root, state, first, how)
        killed(plan, root, state, second, how_too)
        world = Simulated(plan, root, state)
        said = apply(plan, world)
        assert said in ("done", "nothing to do"), f"{how} {first}, {how_too} {second}: {said}"
        assert end(world) == wanted, f"{how} {first}, {how_too} {second}"


@pytest.mark.parametrize("lie", ["no effect", "failed after all"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_tool_that_lies_is_never_believed(layout: str, lie: str, tmp_path: Path) -> None:
    """Whatever a tool says: success is what is read back, and the next run converges or says what stops it."""
    plan = plan_of(layout)
    wanted, _ = undisturbed(layout, tmp_path / "undisturbed")
    honest = Simulated(plan, tmp_path / "honest", machine(tmp_path / "honest"))
    apply(plan, honest)
    for number, line in enumerate(dict.fromkeys(honest.executed)):
        root = tmp_path / str(number)
        state = machine(root)
        liar = Simulated(plan, root, state, lie={line: lie})
        first = apply(plan, liar)
        proven = any(
            step.proof and line == " ".join(liar._argv(step))
            for step in plan.steps
            if hasattr(step.action, "argv")
        )
        assert first != "done" or not proven or end(liar) == wanted, line
        world = Simulated(plan, root, state)
        said = apply(plan, world)
        assert said in ("done", "nothing to do") or "gone: somebody changed" in said, f"{line}: {said}"
        if said == "done" and proven:
            assert end(world) == wanted, line


def test_a_journal_that_was_changed_is_refused(tmp_path: Path) -> None:
    plan = plan_of("raid1-pair")
    state = machine(tmp_path)
    assert killed(plan, tmp_path, state, 30, "after")
    file = tmp_path / "var/lib/raidplan/journal"
    lines = file.read_text().splitlines(keepends=True)
    lines[1] = json.dumps({**json.loads(lines[1]), "step": "another"}) + "\n"
    file.write_text("".join(lines))
    with pytest.raises(Exception, match="line 3 does not follow"):
        apply(plan, Simulated(plan, tmp_path, state))


def test_without_its_journal_an_interrupted_apply_is_not_taken_up(tmp_path: Path) -> None:
    plan = plan_of("raid1-pair")
    state = machine(tmp_path)
    world = Simulated(plan, tmp_path, state)
    assert apply(plan, world) == "done"
    (tmp_path / "var/lib/raidplan/journal").unlink()
    del state.objects["mount"]
    assert "no journal says that they were ever finished" in apply(plan, Simulated(plan, tmp_path, state))
