"""A plan in a file for a machine on which something stands: applied as `apply LAYOUT` would, whatever it changes or clears."""

from __future__ import annotations

import json
import shutil
from copy import deepcopy
from pathlib import Path

import pytest

from raidplan.apply import reading
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.cli import run
from raidplan.facts import Machine
from raidplan.facts.host import HOLD
from raidplan.plan.codec import plan_digest, plan_from_json, plan_to_json
from raidplan.plan.digest import digest
from raidplan.plan.step import Plan
from tests.apply import wiped
from tests.apply.earlier import boot_that_knows_no_names, everything, plan_of, standing
from tests.apply.runs import apply, end, impatient
from tests.apply.simulated import Killed, Simulated
from tests.apply.stacks import LAYOUT, Box
from tests.apply.stacks import plan_of as layout

__all__ = ["impatient"]


def in_file(plan: Plan, world: Simulated) -> Plan:
    """As `plan --format json` writes it for this machine, and `apply` reads it."""
    decision = decide(plan, world.read(plan), read_past(world.root / "var/lib/raidplan"), here=False)
    assert not decision.refusals
    made = plan_from_json(plan_to_json(decision.left))
    again = decide(made, world.read(made), read_past(world.root / "var/lib/raidplan"), here=False)
    assert plan_digest(again.left) == plan_digest(made), "the digest of it says yes to what is done"
    return made


def less(data: dict) -> None:  # type: ignore[type-arg]
    """Changes of every kind, with configuration that is taken back."""
    everything(data)
    del data["monitoring"], data["filesystems"]["a"]["mount"], data["swap"]["f"]


def test_changes_in_place_are_those_of_the_layout(tmp_path: Path) -> None:
    earlier = standing(tmp_path, tmp_path / "earlier")
    later = plan_of(tmp_path, less)
    worlds = []
    for name in ("layout", "file"):
        shutil.copytree(tmp_path / "earlier", tmp_path / name)
        worlds.append(Simulated(later, tmp_path / name, deepcopy(earlier)))
    by_layout, by_file = worlds
    assert apply(later, by_layout) == "done"
    made = in_file(later, by_file)
    assert apply(made, by_file) == "done"
    assert by_file.executed == by_layout.executed
    what = [[what for kind, what in world.effects if kind == "zero"] for world in worlds]
    assert what[0] == what[1] != [], "what is taken out of an array forgets it"
    assert end(by_file) == end(by_layout)
    assert apply(made, Simulated(later, by_file.root, by_file.state)) == "nothing to do"


@pytest.mark.parametrize("how", ["before", "during", "after"])
def test_changes_that_were_killed_go_on(how: str, tmp_path: Path) -> None:
    earlier = standing(tmp_path, tmp_path / "earlier")
    later = plan_of(tmp_path, everything)
    once = Simulated(later, tmp_path / "earlier", deepcopy(earlier))
    made = in_file(later, once)
    shutil.copytree(tmp_path / "earlier", tmp_path / "whole")
    whole = Simulated(later, tmp_path / "whole", deepcopy(earlier))
    assert apply(made, whole) == "done"
    tools = [at for at, (kind, _) in enumerate(whole.effects, 1) if kind in ("run", "zero")]
    for at in tools[::4]:
        root, state = tmp_path / str(at), deepcopy(earlier)
        shutil.copytree(tmp_path / "earlier", root)
        with pytest.raises(Killed):
            apply(made, Simulated(later, root, state, (at, how)))
        assert apply(made, Simulated(later, root, state)) in ("done", "nothing to do"), f"{how} effect {at}"
        assert end(Simulated(later, root, state)) == end(whole), f"{how} effect {at}"


def test_arrays_get_their_names(tmp_path: Path) -> None:
    state, plan = standing(tmp_path / "plan", tmp_path / "root"), plan_of(tmp_path / "plan")
    boot_that_knows_no_names(state)
    world = Simulated(plan, tmp_path / "root", state)
    apply(in_file(plan, world), world)
    assert sorted(line.split()[-1] for line in world.executed) == ["--reload", "/dev/md125", "/dev/md126", "/dev/md127"]  # fmt: skip
    assert {"/dev/md/a", "/dev/md/b", "/dev/md/p"} <= state.nodes


def test_a_teardown_ends_well_and_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    plan = layout(LAYOUT, tmp_path)
    once = wiped.Old(plan, tmp_path / "once", wiped.machine(tmp_path / "once"))
    wanted, agreed = wiped.undisturbed(plan, once)
    effects = len(once.effects)
    made = in_file(plan, wiped.Old(plan, tmp_path / "made", wiped.machine(tmp_path / "made")))
    for at in (*range(2, effects, 17), effects + 1000):
        root, how = tmp_path / str(at), ("before", "during", "after")[at % 3]
        state = wiped.machine(root)
        try:
            said = wiped.apply(made, wiped.Old(plan, root, state, (at, how)), agreed)
            assert said == "done"
        except Killed:
            assert at <= effects
        world = wiped.Old(plan, root, state)
        assert wiped.apply(made, world, agreed) in ("done", "nothing to do"), f"{how} effect {at}"
        assert wiped.end(world) == wanted, f"{how} effect {at}"
        assert not world.path(HOLD).exists()


def test_what_it_does_not_say_is_refused(tmp_path: Path) -> None:
    """Since it was made somebody has taken our block out of fstab."""
    state, later = (
        standing(tmp_path, tmp_path / "root"),
        plan_of(tmp_path, lambda data: data["monitoring"].update(scrub="monthly")),
    )
    world = Simulated(later, tmp_path / "root", state)
    made = in_file(later, world)
    (tmp_path / "root/etc/fstab").write_text("")
    past = read_past(world.root / "var/lib/raidplan")
    refused = decide(made, world.read(made), past, here=False).refusals
    assert ("not-in-plan", "") in {(each.code, each.case) for each in refused}
    assert apply(made, world) != "done" and not world.effects


def test_the_machine_is_read_as_for_the_whole_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk whose table stands is not read to its end; what is on it would else be something else than when the plan was made."""
    plan = layout(LAYOUT.replace(", wipe: true", ""), tmp_path)
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1")
    box.put("module", "raid1", loaded=True, loadable=True)
    left = decide(plan, box.machine(), read_past(tmp_path), here=False).left
    made = Plan(**{**{name: getattr(left, name) for name in left.__slots__}, "steps": left.steps[3:], "whole": plan.steps})  # fmt: skip
    (tmp_path / "plan.json").write_text(plan_to_json(made))
    asked: list[object] = []

    def read(*what: object, **more: object) -> Machine:
        asked.append((what, more))
        return box.machine()

    monkeypatch.setattr(reading, "read_machine", read)
    words = [
        "apply",
        str(tmp_path / "plan.json"),
        "--confirm",
        "elsewhere",
        "--state",
        str(tmp_path / "state"),
    ]
    assert run(words) == 4
    reading.read_for(plan)
    as_made, as_whole = asked
    assert as_made == as_whole


def test_a_plan_of_an_earlier_raidplan_does_not_say_what_stands(tmp_path: Path) -> None:
    plan = layout(LAYOUT, tmp_path)
    data = json.loads(
        plan_to_json(Plan(plan.host, "", "", plan.disks, plan.steps, machine={"kernel": "6.1"}))
    )
    del data["whole"]
    data["digest"] = digest({key: value for key, value in data.items() if key not in ("findings", "digest")})
    with pytest.raises(ValueError, match=r"^without-whole "):
        plan_from_json(json.dumps(data))
