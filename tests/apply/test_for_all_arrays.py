"""Switches of the distribution that hold for all arrays of the machine: none is turned against arrays of others."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.past import Past
from raidplan.facts import Machine
from raidplan.plan.step import Plan, Proof, Run, Step
from tests.apply.earlier import plan_of, set_to
from tests.apply.others import ARRAY, ARRAY_NODE
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Killed, Simulated, State

__all__ = ["impatient"]

LAST_RESORT = "mdadm-last-resort@.timer"
UNMASK = f"systemctl unmask {LAST_RESORT}"
MASK = Step(
    id="config.degraded",
    phase="configure",
    say="let no array that lacks a member start at boot by itself",
    action=Run(("systemctl", "mask", LAST_RESORT)),
    because="boot.degraded",
    targets=(LAST_RESORT,),
    proof=Proof("unit", LAST_RESORT, {"enabled": "masked"}),
)
"""As an earlier version planned it, for `degraded: wait`."""
RULES = "etc/udev/rules.d/65-raidplan-pair.rules"


@pytest.fixture
def masked(tmp_path: Path) -> tuple[Path, State]:
    """A machine on which an earlier version applied `degraded: wait`."""
    root, plan = tmp_path / "root", plan_of(tmp_path / "earlier")
    state, plan = machine(root), replace(plan, steps=(*plan.steps, MASK))
    assert apply(plan, Simulated(plan, root, state)) == "done"
    assert state.objects["unit"][LAST_RESORT]["enabled"] == "masked"
    return root, state


@pytest.mark.parametrize("degraded", ["wait", "start"])
def test_the_mask_of_an_earlier_version_goes_in_a_step_that_says_so(
    degraded: str, masked: tuple[Path, State], tmp_path: Path
) -> None:
    root, state = masked
    plan = plan_of(tmp_path / "now", set_to("boot", {"degraded": degraded}))
    world = Simulated(plan, root, state)
    seen: list[tuple[str, str]] = []
    world.watch = lambda when, kind, what: seen.append((when, what))
    assert apply(plan, world) == "done" and UNMASK in world.executed
    rules = (root / RULES).read_text()
    assert ("to a person" in rules) == (degraded == "wait")
    if degraded == "wait":
        assert seen.index(("after", str(root / RULES))) < seen.index(("before", UNMASK)), "ours never start"
    assert apply(plan, Simulated(plan, root, state)) == "nothing to do"


def test_it_goes_also_where_raidplan_died_before(masked: tuple[Path, State], tmp_path: Path) -> None:
    root, state = masked
    plan = plan_of(tmp_path / "now", set_to("boot", {"degraded": "wait"}))
    for at in count(1):
        try:
            apply(plan, Simulated(plan, root, state, (at, "after")))
        except Killed:
            continue
        assert at > 1
        break
    assert state.objects["unit"][LAST_RESORT]["enabled"] != "masked"
    assert apply(plan, Simulated(plan, root, state)) == "nothing to do"


def beside(plan: Plan, world: Simulated, past: Past | None = None, **array: str) -> Decision:
    """Decided beside a mirror of somebody, or beside what else it is."""
    found: Machine = world.read(plan)
    objects = {**found.objects, "array": {**found.objects["array"]}}
    objects["array"][ARRAY] = {**objects["array"][ARRAY], **array}
    return decide(plan, replace(found, objects=objects), past or Past(), here=False)


def test_no_check_of_others_is_switched_off(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "plan", set_to("monitoring", {"scrub": "none"}))
    world = Simulated(plan, tmp_path / "root", machine(tmp_path / "root"))
    (reason,) = beside(plan, world).refusals
    assert reason.code == "others-unchecked" and reason.line
    assert reason.figures == {"arrays": (ARRAY_NODE,)}
    assert beside(plan, world, level="raid0").refusals == (), "that has nothing to check"
    for scrub in ("monthly", None):
        other = plan_of(tmp_path / str(scrub), set_to("monitoring", {"scrub": scrub} if scrub else None))
        assert beside(other, world).refusals == ()


def test_what_an_earlier_version_switched_off_is_told(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "plan", set_to("monitoring", {"scrub": "none"}))
    world = Simulated(plan, tmp_path / "root", machine(tmp_path / "root"))
    world.root.joinpath("etc/default").mkdir()
    world.root.joinpath("etc/default/mdadm").write_text(
        "# >>> raidplan pair\nAUTOCHECK=false\n# <<< raidplan pair\n"
    )
    world.state.objects["unit"] = {"mdcheck_start.timer": {"enabled": "disabled"}}
    decision = beside(plan, world)
    assert decision.refusals == ()
    (note,) = (note for note in decision.notes if note.code == "others-unchecked")
    assert note.figures == {"arrays": (ARRAY_NODE,)}
