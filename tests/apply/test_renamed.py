"""After a boot that did not know the arrays' names they run as md127 and the like, and are given their names as they run."""

from __future__ import annotations

import shutil
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.facts.arrays import read_links
from raidplan.facts.machine import BlockFact
from raidplan.facts.uses import User
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.step import Plan
from tests.apply.earlier import boot_that_knows_no_names, plan_of, standing
from tests.apply.runs import apply, end, impatient, machine
from tests.apply.simulated import Killed, Simulated, State

pytestmark = pytest.mark.in_turn(6)

__all__ = ["impatient"]

LOOK = "udevadm trigger --settle --action=change --name-match"


def only_looks_new(state: State) -> object:
    """The kernel's own words for where an array is are no part of what it is."""
    return {
        uuid: {key: value for key, value in found.items() if key not in ("node", "device", "links")}
        for uuid, found in state.objects["array"].items()
    }


def test_every_array_gets_its_name_before_anything_else(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "plan")
    whole = Simulated(plan, tmp_path / "whole", machine(tmp_path / "whole"))
    assert apply(plan, whole) == "done"
    first_mkfs = next(
        n for n, (_, what) in enumerate(whole.effects, 1) if what.startswith(("mke2fs", "mkfs"))
    )
    cut, state = tmp_path / "cut", machine(tmp_path / "cut")
    with pytest.raises(Killed):
        apply(plan, Simulated(plan, cut, state, (first_mkfs, "before")))
    boot_that_knows_no_names(state)
    again = Simulated(plan, cut, state)
    assert apply(plan, again) == "done"
    programs = [what for kind, what in again.effects if kind == "run"]
    assert programs[:4] == [
        "udevadm control --reload",
        *(f"{LOOK} /dev/md{number}" for number in (127, 126, 125)),
    ]
    assert not any(what.startswith(("mdadm --stop", "mdadm --assemble")) for what in programs)
    assert {name for found in state.objects["array"].values() for name in found["links"]} >= {"a", "b", "p"}
    assert only_looks_new(state) == only_looks_new(whole.state)
    assert end(again)[1:] == end(whole)[1:]  # type: ignore[index]


def cut_before(command: str, plan: Plan, root: Path) -> State:
    """The machine of an apply that was killed before the first program that begins so."""
    whole = Simulated(plan, root / "whole", machine(root / "whole"))
    assert apply(plan, whole) == "done"
    at = next(n for n, (_, what) in enumerate(whole.effects, 1) if what.startswith(command))
    state = machine(root)
    with pytest.raises(Killed):
        apply(plan, Simulated(plan, root, state, (at, "before")))
    return state


def converges(plan: Plan, root: Path, state: State) -> list[str]:
    """The programs that ran; as a file the plan is the same one, and afterwards there is nothing to do."""
    world = Simulated(plan, root, state)
    left = decide(plan, world.read(plan), read_past(root / "var/lib/raidplan"), here=False).left
    assert plan_from_json(plan_to_json(left)) == left
    assert apply(plan, world) == "done"
    assert apply(plan, Simulated(plan, root, state)) == "nothing to do"
    return world.executed


def test_a_module_that_the_boot_did_not_load_does_not_wait_for_the_names(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "plan")
    state = cut_before("mdadm --create /dev/md/p ", plan, tmp_path)
    boot_that_knows_no_names(state)
    state.nodes.discard("raid456")
    programs = converges(plan, tmp_path, state)
    assert programs[0] == "modprobe raid456" and programs[2].startswith(LOOK)


def test_an_array_gets_its_name_when_mdadm_conf_has_it_again(tmp_path: Path) -> None:
    """Somebody took our block out, and the next boot knew no names: udev would assemble the array as md127 again."""
    plan, root = plan_of(tmp_path / "plan"), tmp_path / "root"
    state = standing(tmp_path / "plan", root)
    (root / "etc/mdadm/mdadm.conf").write_text("")
    state.objects["mount"].clear()
    boot_that_knows_no_names(state)
    world = Simulated(plan, root, state)
    decision = decide(plan, world.read(plan), read_past(root / "var/lib/raidplan"), here=False)
    assert plan_from_json(plan_to_json(decision.left)) == decision.left
    ids = [step.id for step in decision.left.steps]
    assert ids[0] == "config.mdadm.conf" and "array.a.create+name.link" in ids
    converges(plan, root, state)


def test_an_image_without_the_names_is_said_before_the_boot(tmp_path: Path) -> None:
    """After an apply that ended, another program makes an image without mdadm.conf's lines: that is all that is left to do."""
    root = tmp_path / "root"
    state, plan = standing(tmp_path / "plan", root), plan_of(tmp_path / "plan")
    world = Simulated(plan, root, state)
    assert not decide(plan, world.read(plan), read_past(root / "var/lib/raidplan"), here=False).left.steps
    for image in (root / "boot").glob("initrd.img-?.?"):
        image.write_bytes(b"made without mdadm.conf")
    decision = decide(plan, world.read(plan), read_past(root / "var/lib/raidplan"), here=False)
    assert [step.id for step in decision.left.steps] == ["config.initramfs"] and not decision.refusals
    assert {program.split()[0] for program in converges(plan, root, state)} == {"mkinitramfs", "run-parts"}


def test_what_is_in_use_goes_on(tmp_path: Path) -> None:
    """Mounts, volumes and other arrays may stand on it by then, as a boot activates them."""
    root, plan = tmp_path / "root", plan_of(tmp_path / "plan")
    state = standing(tmp_path / "plan", root)
    boot_that_knows_no_names(state)
    array = BlockFact("md127", "array:x", "/dev/md127", "array", 2**30, uses=(User("mounted", "/srv/a"),))
    above = BlockFact("dm-0", "volume:v/home", "/dev/v/home", "volume", 2**30, below=("md125",))
    looked = replace(Simulated(plan, root, state).read(plan), blocks=(array, above))
    decision = decide(plan, looked, read_past(root / "var/lib/raidplan"), here=False)
    assert decision.refusals == ()
    names = [step.id for step in decision.left.steps if "+name." in step.id]
    made = "array.b.create+name.rule", "array.b.create+name.reload"
    assert names == [*made, *(f"array.{each}.create+name.link" for each in "bap")]
    converges(plan, root, state)


def test_a_name_that_another_array_has_is_refused(tmp_path: Path) -> None:
    root, plan = tmp_path / "root", plan_of(tmp_path / "plan")
    state = standing(tmp_path / "plan", root)
    boot_that_knows_no_names(state)
    looked = Simulated(plan, root, state).read(plan)
    looked.objects["array"]["other"] = {"device": "md9", "node": "/dev/md9", "name": "far:a", "links": ["a"]}
    refusals = decide(plan, looked, read_past(root / "var/lib/raidplan"), here=False).refusals
    (refusal,) = (each for each in refusals if each.code == "runs-under-other-name")
    assert (refusal.figures["planned"], refusal.figures["other"]) == ("/dev/md/a", "/dev/md9")


@pytest.mark.drawn(1)
@pytest.mark.parametrize("how", ["before", "during", "after"])
def test_killed_while_it_gives_the_names(how: str, tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "plan")
    state = cut_before("mke2fs", plan, tmp_path / "root")
    boot_that_knows_no_names(state)
    shutil.copytree(tmp_path / "root", tmp_path / "probe")
    probe = Simulated(plan, tmp_path / "probe", deepcopy(state))
    assert apply(plan, probe) == "done"
    last = max(n for n, (_, what) in enumerate(probe.effects, 1) if what.startswith(f"{LOOK} /dev/md12"))
    for point in range(1, last + 1):
        root, left = tmp_path / f"cut{point}", deepcopy(state)
        shutil.copytree(tmp_path / "root", root)
        with pytest.raises(Killed):
            apply(plan, Simulated(plan, root, left, (point, how)))
        converges(plan, root, left)
    assert last > 4


def test_an_array_that_has_its_name_is_left_alone(tmp_path: Path) -> None:
    state, plan = standing(tmp_path / "plan", tmp_path / "root"), plan_of(tmp_path / "plan")
    for found in state.objects["array"].values():
        found["links"] = ["other", found["node"].rpartition("/")[2]]
    assert apply(plan, Simulated(plan, tmp_path / "root", state)) == "nothing to do"


def test_the_links_below_dev_md(tmp_path: Path) -> None:
    folder = tmp_path / "dev/md"
    assert read_links(tmp_path) == {}
    folder.mkdir(parents=True)
    (folder / "p1").symlink_to("../md127")
    (folder / "twin:p1").symlink_to("../md127")
    (folder / "s0").symlink_to("../md_s0")
    (folder / "no-link").write_text("")
    assert read_links(tmp_path) == {"md127": ["p1", "twin:p1"], "md_s0": ["s0"]}
