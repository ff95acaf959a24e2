"""A machine's storage brought up and down below a folder of a rescue system."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

from raidplan.apply.bring_up import Command, Wish, bring_down, bring_up
from raidplan.base.identity import md_form
from raidplan.facts import Machine
from raidplan.plan.step import Plan
from raidplan.render.refusals import refusal_text
from raidplan.review import pipeline
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated, State

__all__ = ["impatient"]

LAYOUT = """\
version: 1
host: fresh
hardware:
  disks: {a<0-1>: {size: 4GiB, serial: FRESH-<1>, partitions: {boot: {size: 500MiB}, os: {size: rest}}}}
arrays:
  boot: {level: raid1, members: [a<0-1>.boot]}
  os: {level: raid1, members: [a<0-1>.os]}
volume_groups: {vg: {devices: [os], volumes: {root: {size: 2GiB}, srv: {size: 1GiB}, swap: {size: 512MiB}}}}
filesystems:
  srv: {device: vg.srv, type: xfs, mount: /srv, options: [noatime]}
  boot: {device: boot, type: ext4, mount: /boot}
  root: {device: vg.root, type: ext4, mount: /}
swap: {area: {device: vg.swap}}
"""


class Rescue(Simulated):
    """A rescue system in which nothing of the storage runs until it is brought up: each layer shows the one above it."""

    def __init__(self, plan: Plan, root: Path, state: State) -> None:
        super().__init__(plan, root, state)
        self.ran: list[Command] = []

    def read(self, plan: Plan) -> Machine:
        """What lies on an array that does not run is not seen, nor is a volume that is not active."""
        machine = super().read(plan)
        running = {f"array:{key}" for key in machine.objects["array"]}
        running |= {f"volume:{key}" for key, found in machine.objects["volume"].items() if found["active"]}
        seen = {
            key: found for key, found in machine.objects["filesystem"].items() if found["device"] in running
        }
        return replace(machine, objects={**machine.objects, "filesystem": seen})

    def _do(self, argv: tuple[str, ...]) -> None:
        self.ran.append(argv)
        if self.lie.get(" ".join(argv)):
            return
        objects = self.state.objects
        match argv:
            case ("mdadm", "--assemble", node, uuid, *_):
                (step,) = (each for each in self.plan.steps if node in each.awaits)
                assert step.proof and uuid == f"--uuid={md_form(step.proof.key)}"
                self._object(step.proof)
                objects["array"][step.proof.key] |= {"node": node}
            case ("lvchange", "--activate", to, volume):
                objects["volume"][volume]["active"] = to == "y"
            case ("mount", "--types", _, "--options", _, _, point):
                key = point.removeprefix(self.target) or "/"
                assert key == "/" or "/" in objects["mount"], "it would be hidden"
                (step,) = (
                    each
                    for each in self.plan.steps
                    if each.proof and (each.proof.kind, each.proof.key) == ("mount", key)
                )
                assert step.proof
                self._object(step.proof)
            case ("umount", point):
                del objects["mount"][point.removeprefix(self.target) or "/"]
            case ("mdadm", "--stop", node):
                assert not objects["mount"] and not any(
                    volume["active"] for volume in objects["volume"].values()
                )
                super()._do(argv)
            case _:
                raise AssertionError(f"{argv} is none of its commands")


@pytest.fixture
def plan() -> Plan:
    with NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(LAYOUT)
        file.flush()
        made, loaded = pipeline.plan(pipeline.check(file.name), "/mnt")
    assert made is not None, loaded.findings
    return made


@pytest.fixture
def made(plan: Plan, tmp_path: Path) -> Rescue:
    """The machine as `apply --target` leaves it."""
    state = machine(tmp_path)
    (tmp_path / "mnt").mkdir()
    assert apply(plan, Simulated(plan, tmp_path, state)) == "done"
    return Rescue(plan, tmp_path, state)


def down(made: Rescue) -> None:
    assert bring_down(made.plan, made, lambda command: None) == []
    made.ran.clear()


def shown(made: Rescue) -> object:
    objects = made.state.objects
    return deepcopy((objects["mount"], objects["volume"], {*objects["array"]}))


def test_down_and_up_again_the_outer_mounts_first(made: Rescue) -> None:
    before = shown(made)
    told: list[Command] = []
    assert bring_down(made.plan, made, told.append) == []
    assert told == made.ran and not made.state.objects["mount"] and not made.state.objects["array"]
    assert [argv[-1] for argv in told if argv[0] == "umount"] == ["/mnt/srv", "/mnt/boot", "/mnt"]
    made.ran.clear()
    assert bring_up(made.plan, made, Wish(), lambda command: None) == []
    assert next(argv[-1] for argv in made.ran if argv[0] == "mount") == "/mnt"
    assert shown(made) == before
    assert bring_up(made.plan, made, Wish(), lambda command: None) == [] and len(made.ran) == 8


def test_read_only_writes_to_nothing(made: Rescue) -> None:
    down(made)
    assert bring_up(made.plan, made, Wish(read_only=True), lambda command: None) == []
    options = {argv[-1]: argv[4] for argv in made.ran if argv[0] == "mount"}
    assert options == {
        "/mnt": "defaults,ro,noload",
        "/mnt/boot": "defaults,ro,noload",
        "/mnt/srv": "noatime,ro,norecovery",
    }
    assert all("--readonly" in argv for argv in made.ran if argv[:2] == ("mdadm", "--assemble"))


def without(made: Rescue, *devices: str) -> None:
    """Devices of the layout that are no members of anything, as those of a disk that is not there."""
    for device in devices:
        del made.state.content[made._identity(device)]


def guards(plan: Plan, name: str) -> tuple[str, ...]:
    return next(step.guard for step in plan.steps if step.id == f"array.{name}.create")


def test_an_array_that_lacks_a_member_needs_a_word(made: Rescue) -> None:
    down(made)
    first, second = guards(made.plan, "boot")
    without(made, second)
    lacks, unseen = bring_up(made.plan, made, Wish(), lambda command: None)
    assert (lacks.case, lacks.figures) == ("incomplete", {"missing": (second,)})
    assert (unseen.case, unseen.place) == ("filesystem", "filesystems.boot")
    assert not [argv for argv in made.ran if "/dev/md/boot" in argv]
    assert {"/", "/srv"} == {*made.state.objects["mount"]}, "what lacks nothing is there"
    assert bring_up(made.plan, made, Wish(degraded=True), lambda command: None) == []
    assert [argv[-1] for argv in made.ran if argv[:2] == ("mdadm", "--assemble")][-1] == "--run"
    without(made, first)
    down(made)
    (trouble, *_) = bring_up(made.plan, made, Wish(degraded=True), lambda command: None)
    assert trouble.case == "no-members"


def test_nothing_is_taken_away_from_a_user(made: Rescue) -> None:
    made.state.objects["mount"]["/proc"] = {"source": "proc", "type": "proc"}
    (found,) = bring_down(made.plan, made, lambda command: None)
    assert refusal_text(found) == "/mnt/proc is mounted as well: umount it first"
    assert not made.ran


def test_swap_in_use_is_not_taken_away(made: Rescue) -> None:
    (step,) = (each for each in made.plan.steps if each.proof and each.proof.kind == "swap" and each.creates)
    assert step.proof
    made.state.objects["swap"][step.proof.key]["active"] = True
    (trouble,) = bring_down(made.plan, made, lambda command: None)
    assert (trouble.case, trouble.place) == ("swap", "swap.area") and trouble.line and not made.ran


def test_a_command_that_fails_ends_it(made: Rescue) -> None:
    made.lie = {"umount /mnt/srv": "failed after all"}
    (failed,) = bring_down(made.plan, made, lambda command: None)
    assert refusal_text(failed) == "umount /mnt/srv: umount ended with 1: a lie"
    assert len(made.ran) == 1
    made.lie = {}
    told: list[Command] = []
    down(made)
    assert bring_up(made.plan, made, Wish(), told.append) == []
    down(made)
    first = " ".join(told[0])
    made.lie = {first: "failed after all"}
    (failed,) = bring_up(made.plan, made, Wish(), lambda command: None)
    assert refusal_text(failed) == f"{first}: mdadm ended with 1: a lie"
    assert len(made.ran) == 1
