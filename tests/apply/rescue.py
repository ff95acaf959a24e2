"""A rescue system in memory, in which a machine's storage is brought up and down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from raidplan.apply.bring_up import Command, Wish, bring_down, bring_up
from raidplan.apply.refusal import Refusal
from raidplan.base.identity import md_form
from raidplan.facts import Machine
from raidplan.plan.step import Plan
from raidplan.review import pipeline
from tests.apply.runs import apply, machine
from tests.apply.simulated import Simulated, State

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
        running |= {
            f"volume:{key}" for key, found in machine.objects.get("volume", {}).items() if found["active"]
        }
        running |= {f"mapping:{key}" for key in machine.objects.get("mapping", {})}
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
                state = "readonly" if "--readonly" in argv else "clean"
                objects["array"][step.proof.key] |= {"node": node, "state": state}
            case ("mdadm", "--run", node):
                (array,) = (found for found in objects["array"].values() if found["node"] == node)
                array["state"] = "clean"
            case ("cryptsetup", "open", *_, device, name):
                (step,) = (each for each in self.plan.steps if f"/dev/mapper/{name}" in each.awaits)
                assert step.proof and device in step.action.argv  # type: ignore[union-attr]
                self._object(step.proof)
            case ("cryptsetup", "close", name):
                opened = objects["mapping"]
                del opened[next(key for key, found in opened.items() if found["name"] == name)]
            case ("lvchange", "--activate", to, volume):
                objects["volume"][volume]["active"] = to == "y"
            case ("mount", "--types", _, "--options", options, _, point):
                key = point.removeprefix(self.target) or "/"
                assert key == "/" or "/" in objects["mount"], "it would be hidden"
                (step,) = (
                    each
                    for each in self.plan.steps
                    if each.proof and (each.proof.kind, each.proof.key) == ("mount", key)
                )
                assert step.proof
                self._object(step.proof)
                objects["mount"][key]["options"] = ["ro" if "ro" in options.split(",") else "rw"]
            case ("umount", point):
                del objects["mount"][point.removeprefix(self.target) or "/"]
            case ("mdadm", "--stop", node):
                assert not objects["mount"] and not objects.get("mapping")
                assert not any(volume["active"] for volume in objects.get("volume", {}).values())
                super()._do(argv)
            case _:
                raise AssertionError(f"{argv} is none of its commands")


def plan_of(layout: str) -> Plan:
    with NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(layout)
        file.flush()
        made, loaded = pipeline.plan(pipeline.check(file.name), "/mnt")
    assert made is not None, loaded.findings
    return made


def as_applied(plan: Plan, tmp_path: Path) -> Rescue:
    """The machine as `apply --target` leaves it."""
    state = machine(tmp_path)
    (tmp_path / "mnt").mkdir()
    assert apply(plan, Simulated(plan, tmp_path, state)) == "done"
    return Rescue(plan, tmp_path, state)


def nobody_is_asked(name: str) -> bytes:
    raise AssertionError(f"{name} has no passphrase")


def up(
    made: Rescue,
    wish: Wish | None = None,
    tell: Callable[[Command], None] = lambda command: None,
    ask: Callable[[str], bytes] = nobody_is_asked,
) -> list[Refusal]:
    return bring_up(made.plan, made, wish or Wish(), tell, ask)


def down(made: Rescue) -> None:
    assert bring_down(made.plan, made, lambda command: None) == []
    made.ran.clear()


def without(made: Rescue, *devices: str) -> None:
    """Devices of the layout that are no members of anything, as those of a disk that is not there."""
    for device in devices:
        del made.state.content[made._identity(device)]


def guards(plan: Plan, name: str) -> tuple[str, ...]:
    return next(step.guard for step in plan.steps if step.id == f"array.{name}.create")
