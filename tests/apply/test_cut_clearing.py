"""A clearing that was cut off within an array's content, or within the superblock of a device that left it: what is left is
known by its sectors, and one that came since is never written over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from raidplan.apply.change.change_array import forget_member
from raidplan.apply.decide import cut_clearing
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.past import Past, sectors_as
from raidplan.apply.journal.sectors import compared, digest_of, is_compared, sectors_now
from raidplan.apply.journal.step_fingerprints import marks_of_added
from raidplan.facts.machine import Machine
from raidplan.plan.identities import PARTITION
from raidplan.plan.origin import Origin
from raidplan.plan.step import Plan, Step, Zero
from raidplan.render.losses import loss_texts
from tests.apply.sentences import sentences
from tests.apply.stacks import GIB, LAYOUT, MIB, Box, plan_of
from tests.images import superblock

SECTOR = 512
OURS, ELSE = b"\xab" * SECTOR, b"\xcd" * SECTOR
NODE = "/dev/disk/by-id/md-uuid-{}"


class Device:
    """Sectors by their places; all others are blank."""

    def __init__(self, *places: int) -> None:
        self.sectors = dict.fromkeys(places, OURS)

    def read(self, node: str, at: int, size: int) -> bytes:
        """As of any node that is there."""
        if not node:
            raise FileNotFoundError
        data = bytearray(size)
        for place, sector in self.sectors.items():
            if at <= place < at + size:
                data[place - at : place - at + SECTOR] = sector
        return bytes(data)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    made = Device(0, 4096, 4096 + SECTOR, 5 * MIB - SECTOR)
    monkeypatch.setattr(cut_clearing, "read_at", made.read)
    return made


def begun(plan: Plan, decision: Decision | None, step: Step, device: Device, folder: Path) -> Past:
    """The journal of a run that was killed while it cleared the device, on these disks."""
    data = sectors_now(step, lambda node: node, device.read)
    digest = digest_of(data)
    (folder / sectors_as(digest)).write_bytes(data)
    disks = decision.disks if decision else {}
    return Past(
        is_open=True,
        begun=frozenset([step.id]),
        marks=marks_of_added(plan, disks, compared([step])),
        listed={step.id: step.destroys},
        sectors={step.id: digest},
        origins={step.id: step.origin},
        folder=str(folder),
    )


# through an array that runs


def uuid_of(plan: Plan) -> str:
    return next(step.proof.key for step in plan.steps if step.proof and step.proof.kind == "array")


def stands(plan: Plan, **more: Any) -> Machine:
    """The array of the layout with another level; an ext4 on it, or `more` of its block."""
    uuid, box = uuid_of(plan), Box()
    for number, name in enumerate(("sdb", "sdc")):
        box.disk(name, f"PAIR-{number}").member(name, uuid, "pair:data", level="raid0")
    box.array("md127", "sdb", "sdc", uuid=uuid, name="pair:data", node=NODE.format(uuid))
    box.objects["array"][uuid] |= {"level": "raid0"}
    if "content" not in more:
        box.filesystem("md127")
    box.blocks["md127"] = replace(box.blocks["md127"], **more)
    return box.machine()


def at(byte: int) -> dict[str, Any]:
    return {
        "content": (f"data that nothing here recognises from byte {byte} on",),
        "unknown_from": byte,
    }


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(LAYOUT, tmp_path)


def listed(plan: Plan, machine: Machine, past: Past) -> set[str]:
    return {*loss_texts(decide(plan, machine, past).left.lost)}


def killed(plan: Plan, device: Device, folder: Path, **more: Any) -> tuple[set[str], Past]:
    """What was agreed to, and the journal of an apply that was killed while it cleared the array."""
    first = decide(plan, stands(plan, **more), Past())
    (step,) = (step for step in first.left.steps if step.id == f"teardown.array.{uuid_of(plan)}.zero")
    return {*loss_texts(first.left.lost)}, begun(plan, first, step, device, folder)


def test_what_is_left_in_an_array_was_agreed_to(plan: Plan, device: Device, tmp_path: Path) -> None:
    agreed, past = killed(plan, device, tmp_path)
    del device.sectors[0]
    assert listed(plan, stands(plan, **at(4096)), past) <= agreed, "between its ends and at them"
    device.sectors.clear()
    assert listed(plan, stands(plan, **at(7 * GIB)), past) <= agreed, "cleared whole: the rest lies between"
    assert listed(plan, stands(plan, **at(4096)), past) - agreed, "cleared whole, and then written to"


def test_what_came_into_an_array_since_was_not(plan: Plan, device: Device, tmp_path: Path) -> None:
    agreed, past = killed(plan, device, tmp_path)
    device.sectors = {4096: OURS, 8192: ELSE}
    new = "data on the array 'pair:data' (/dev/md127) that came after the interrupted clearing had begun, at byte 8192"
    assert new in listed(plan, stands(plan, **at(4096)), past) - agreed


def test_an_array_is_known_by_its_uuid_alone(plan: Plan, device: Device, tmp_path: Path) -> None:
    """Where udev shows no link that has it, the kernel's name can be that of another array after a boot."""
    name = {"node": "/dev/md127"}
    agreed, past = killed(plan, device, tmp_path, **name)
    assert listed(plan, stands(plan, **name, **at(4096)), past) - agreed


# of a device that left an array

LARGER = """\
version: 1
host: pair
hardware: {disks: {d<0-2>: {size: 1TB, serial: PAIR-<1>, partitions: {a: {size: 9GiB}, b: {size: 1GiB}}}}}
arrays: {data: {level: raid1, members: [d0.a, d1.a]}}
swap: {swap: {device: d2.b}}
"""


def left_spare(folder: Path, device: Device) -> tuple[Plan, Machine, Past]:
    """An array out of which its spare d2.a was taken, and the journal of an apply that was killed while that forgot it."""
    plan, box = plan_of(LARGER, folder), Box()
    create = next(step for step in plan.steps if step.id == "array.data.create")
    tables = [step.proof for step in plan.steps if step.id.endswith(".partition")]
    assert create.proof
    for number, (name, table) in enumerate(zip(("sdb", "sdc", "sdd"), tables, strict=True)):
        assert table
        uuid = table.partitions[0].uuid
        box.disk(name, f"PAIR-{number}").partition(name, size=9 * GIB, uuid=uuid)
        carries = [] if number == 2 else [f"linux_raid_member {create.proof.key}"]
        box.put("content", f"partition:{uuid}", carries=carries)
    found = {**create.proof.expect, "spares": [], "node": "/dev/md127", "state": "clean"}
    box.put("array", create.proof.key, **found)
    machine = box.machine()
    step = forget_member(create, f"partition:{uuid}", PARTITION + uuid, machine)
    past = begun(plan, decide(plan, machine, Past(), here=False), step, device, folder)
    removed = f"{create.id}+remove.{uuid}"
    origins = {**past.origins, removed: Origin("change", create.id)}
    return plan, machine, replace(past, ended=frozenset([removed]), origins=origins)


def test_what_is_left_of_a_superblock_is_cleared(tmp_path: Path, device: Device) -> None:
    """Its first sector is gone: nothing knows the rest any more, and it stays, so that the device is never blank again."""
    plan, machine, past = left_spare(tmp_path, device)
    device.sectors = {4096 + SECTOR: OURS}
    decision = decide(plan, machine, past)
    forget = [step for step in decision.left.steps if "+forget." in step.id]
    assert [step.action.device for step in forget if isinstance(step.action, Zero)] == [
        *past.marks[forget[0].id]
    ]
    assert all(map(is_compared, forget))
    device.sectors.clear()
    assert not [step for step in decide(plan, machine, past).left.steps if "+forget." in step.id]


@pytest.mark.parametrize("carries", [False, True], ids=["beside the rest", "beside its superblock"])
def test_what_came_onto_a_device_that_left_its_array_is_kept(
    tmp_path: Path, device: Device, carries: bool
) -> None:
    plan, machine, past = left_spare(tmp_path, device)
    device.sectors = {4096 + SECTOR: OURS, 8192: ELSE}
    if carries:
        device.sectors[4096] = OURS
        machine = machine.with_more(
            {("content", machine.blocks[-1].identity): {"carries": [f"linux_raid_member {uuid_of(plan)}"]}}
        )
    decision = decide(plan, machine, past)
    assert not [step for step in decision.left.steps if "+forget." in step.id]
    said = [
        words
        for words in sentences(decision.refusals)
        if "came after raidplan had begun to clear it" in words
    ]
    assert len(said) == carries and all("at byte 8192" in words for words in said)


@pytest.mark.parametrize("came", [False, True], ids=["alone", "beside a foreign sector"])
@pytest.mark.parametrize("stranger", [False, True], ids=["of this array", "of another array"])
def test_md_may_write_the_superblock_anew_when_udev_gives_the_device_back(
    tmp_path: Path, device: Device, stranger: bool, came: bool
) -> None:
    """It is cleared last; the device was closed when the apply was killed, so udev looked at it, and mdadm added it again."""
    plan, machine, past = left_spare(tmp_path, device)
    past = replace(past, ours={step: frozenset(marks) for step, marks in past.marks.items()})
    spare, uuid = machine.blocks[-1], str(UUID(int=7)) if stranger else uuid_of(plan)
    new = superblock("1.2", spare.size, array=uuid, slot=0xFFFF)
    device.sectors = {4096 + at: new[at : at + SECTOR] for at in range(0, len(new), SECTOR)}
    device.sectors |= {8192: ELSE} if came else {}
    found = cut_clearing.with_rests_of_members(plan, machine, past).observe("content", spare.identity)
    assert (found or {}).get("later") == (8192 if came else 4096 if stranger else None)


def test_what_a_later_step_of_ours_wrote_came_from_nobody_else(tmp_path: Path, device: Device) -> None:
    """A device that was added once more has another superblock of the array."""
    plan, machine, past = left_spare(tmp_path, device)
    ((forget, marks),) = past.marks.items()
    add = "array.data.create+spare.x"
    device.sectors = {4096: ELSE}
    for order, came in ((add, forget), 1), ((forget, add), 0):
        later = replace(past, plans=dict.fromkeys(order, ""), ours={each: frozenset(marks) for each in order})
        found = cut_clearing.with_rests_of_members(plan, machine, later).observe(
            "content", machine.blocks[-1].identity
        )
        assert ("later" in (found or {})) == came
