"""A server that stands on its disks, of which one is lost, and the layout with the serial number of the blank one in its place."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from raidplan.apply.journal.hand_over import hand_over
from raidplan.plan.step import Plan
from raidplan.review import pipeline
from tests.apply.runs import apply, install, machine
from tests.apply.simulated import Simulated, State

LAYOUT = """\
version: 1
host: fresh
hardware:
  firmware: bios
  disks:
    a0: {size: 4GiB, serial: DISK-0-A, partitions: PARTS}
    a1: {size: 4GiB, serial: DISK-1-A, partitions: PARTS}
    a2: {size: 4GiB, serial: DISK-2-A, partitions: PARTS}
boot: {loader: grub}
arrays:
  boot: {level: raid1, members: [a<0-2>.boot], initial_sync: assume-clean}
  root: {level: raid1, members: [a<0-2>.root]}
  data: {level: raid5, members: [a<0-2>.data], bitmap: none}
filesystems:
  boot: {device: boot, type: ext4, mount: /boot}
  root: {device: root, type: ext4, mount: /}
  data: {device: data, type: ext4, mount: /srv}
  scratch: {device: a1.own, type: ext4, mount: /scratch}
swap: {swap: {device: a2.own}}
monitoring: {scrub: monthly}
""".replace(
    "PARTS",
    "{bios: {size: 1MiB, type: bios-boot}, boot: {size: 500MiB}, root: {size: 1GiB}, own: {size: 256MiB}, data: {size: rest}}",
)
BY_UEFI = (
    LAYOUT.replace("firmware: bios", "firmware: uefi")
    .replace("bios: {size: 1MiB, type: bios-boot}", "esp: {size: 100MiB, type: esp}")
    .replace("boot: {loader: grub}", "boot: {loader: grub, esp: [a<0-2>.esp]}")
    .replace(
        "filesystems:\n",
        "filesystems:\n"
        + "".join(
            f"  efi{n}: {{device: a{n}.esp, type: vfat, mount: /boot/efi{n or ''}}}\n" for n in range(3)
        ),
    )
)
OF_MIRRORS = LAYOUT.replace(
    "level: raid5, members: [a<0-2>.data], bitmap: none", "level: raid1, members: [a<0-2>.data]"
)
TARGET = "/mnt"


@cache
def plan_of(text: str, target: str = "", exchanged: str = "") -> Plan:
    """`exchanged`: the numbers of the disks that have other serial numbers."""
    for number in exchanged:
        text = text.replace(f"DISK-{number}-A", f"DISK-{number}-B")
    with NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        made, loaded = pipeline.plan(pipeline.check(file.name), target)
    assert made is not None, loaded.findings
    return made


def booted(folder: Path, text: str) -> tuple[Path, State]:
    """The root of the server that was made in a rescue system and booted, and what stands on it."""
    state = machine(folder)
    (folder / "mnt").mkdir()
    plan = plan_of(text, TARGET)
    assert apply(plan, Simulated(plan, folder, state)) == "done"
    install(folder)
    assert apply(plan, Simulated(plan, folder, state)) == "done"
    state.objects["swap"] = {key: {**found, "active": True} for key, found in state.objects["swap"].items()}
    hand_over(folder / "var/lib/raidplan", folder / "mnt/var/lib/raidplan", Simulated(plan, folder, state))
    root = folder / "mnt"
    here = plan_of(text)
    assert apply(here, Simulated(here, root, state)) == "nothing to do"
    return root, state


def lose(state: State, plan: Plan, disk: str) -> None:
    """The disk is gone with all that was on it, and arrays run without it."""
    step = next(each for each in plan.steps if each.id == f"disk.{disk}.partition")
    assert step.proof
    rows = step.proof.expect["partitions"]
    assert isinstance(rows, list)
    uuids = [row.split()[0] for row in rows]
    gone = {f"{{{disk}}}", *(f"partition:{uuid}" for uuid in uuids)}
    state.nodes -= {*step.awaits}
    for identity in gone:
        state.content.pop(identity, None)
    for kind, of_kind in state.objects.items():
        for key, found in list(of_kind.items()):
            on_it = gone & {found.get("device"), found.get("disk"), found.get("source")}
            if on_it or (kind == "boot_loader" and key in uuids):
                del of_kind[key]
    for array in arrays(state):
        members = ["missing" if each in gone else each for each in array["members"]]
        array["degraded"] = members.count("missing")
        if members != array["members"]:
            array.pop("sync_action", None)
        array["members"] = members


def arrays(state: State) -> list[dict[str, Any]]:
    return [*state.objects["array"].values()]


def array(state: State, name: str) -> dict[str, Any]:
    return next(each for each in arrays(state) if each["name"] == f"fresh:{name}")
