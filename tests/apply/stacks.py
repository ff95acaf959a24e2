"""Machines as facts, with anything on their disks: built layer by layer, as the kernel and libblkid would show them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from raidplan.apply.decide.redo_steps import redo
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.past import Past
from raidplan.base.magic import Content, SignatureAt
from raidplan.facts import DiskFact, Machine, PartitionFact
from raidplan.facts.machine import BlockFact, Trace, Where
from raidplan.facts.uses import User
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.identities import made_nodes
from raidplan.plan.step import Plan, Run, Step, Zero
from raidplan.review import pipeline

TB, GIB, MIB = 10**12, 2**30, 2**20
OLD = "0d0e0a0d-1111-4222-8333-123456789abc"
OTHER = "0f0f0f0f-1111-4222-8333-123456789abc"
PHOTOS = "aaaaaaaa-1111-4222-8333-123456789abc"
GROUP = "QZ1gHf-9DaL-abl7-V4qN-Yqsb-HX7k-a580W8"

LAYOUT = """\
version: 1
host: pair
hardware:
  disks: {d<0-1>: {size: 1TB, serial: PAIR-<1>, wipe: true}}
arrays:
  data: {level: raid1, members: [d<0-1>]}
filesystems:
  data: {device: data, type: ext4, mount: /srv/data}
"""


def plan_of(text: str, tmp_path: Any) -> Plan:
    """The whole plan of a layout."""
    file = tmp_path / "layout.yaml"
    file.write_text(text)
    plan, loaded = pipeline.plan(pipeline.check(str(file)))
    assert plan is not None, [item.finding for item in loaded.findings]
    return plan


@dataclass
class Box:
    """A machine under construction; disks are sdb, sdc, … with the serials PAIR-0, PAIR-1, …"""

    disks: dict[str, DiskFact] = field(default_factory=dict)
    blocks: dict[str, BlockFact] = field(default_factory=dict)
    objects: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    def disk(self, name: str, serial: str, *traces: Trace) -> Box:
        """A whole disk of 1 TB."""
        self.disks[name] = DiskFact(f"/dev/{name}", name, TB, serial=serial, traces=traces)
        found = tuple(
            SignatureAt(0, one.offset, Content(one.type, one.uuid)) for one in traces if not one.place
        )
        self.blocks[name] = BlockFact(name, f"/dev/{name}", f"/dev/{name}", "disk", TB, found=found)
        return self

    def table(self, name: str) -> Box:
        """A GPT with its backup."""
        self.trace(name, Trace(510, "PMBR", 0, TB), Trace(512, "gpt", 0, TB))
        return self.trace(name, Trace(TB - 512, "gpt", 0, TB, detail="the backup"))

    def partition(
        self, disk: str, number: int = 1, start: int = MIB, size: int = 900 * GIB, uuid: str = ""
    ) -> Box:
        """A partition that the kernel knows."""
        name, uuid = f"{disk}{number}", uuid or f"9{number}{disk}"
        part = PartitionFact(f"/dev/{name}", uuid, "raid", start, size)
        self.disks[disk] = replace(self.disks[disk], partitions=(*self.disks[disk].partitions, part))
        self.blocks[name] = BlockFact(
            name, f"partition:{uuid}", f"/dev/{name}", "partition", size, start, (disk,)
        )
        return self

    def trace(self, disk: str, *traces: Trace) -> Box:
        """Something on a disk, as the scan of it would tell."""
        self.disks[disk] = replace(self.disks[disk], traces=(*self.disks[disk].traces, *traces))
        return self

    def member(
        self, name: str, array: str = OLD, label: str = "old:data", members: int = 2, level: str = "raid1"
    ) -> Box:
        """A 1.2 superblock on a disk or partition."""
        block = self.blocks[name]
        disk, place = (
            (block.below[0], f"partition {name[len(block.below[0]) :]}") if block.below else (name, "")
        )
        self.blocks[name] = replace(
            block, found=(*block.found, SignatureAt.read(f"0 0x1000 linux_raid_member {array}"))
        )
        detail = f"{level} of {members}, metadata 1.2"
        where: Where = "partition" if block.below else "disk"
        return self.trace(disk, Trace(block.start + 4096, "linux_raid_member", block.start, block.size, place, array, label, detail, members, where))  # fmt: skip

    def array(self, kernel: str, *members: str, uuid: str = OLD, name: str = "old:data", state: str = "clean", node: str = "", metadata: str = "1.2") -> Box:  # fmt: skip
        """A running array."""
        size = 0 if state == "inactive" else 899 * GIB
        node = node or f"/dev/{kernel}"
        self.blocks[kernel] = BlockFact(
            kernel, f"array:{uuid}", node, "array", size, below=members, state=state
        )
        identities = [self.blocks[member].identity for member in members]
        self.put(
            "array",
            uuid,
            name=name,
            level="raid1",
            members=identities,
            metadata=metadata,
            node=f"/dev/{kernel}",
        )
        for member in members:
            for disk in {member, *self.blocks[member].below} & self.disks.keys():
                users = (*self.disks[disk].users, User("held", kernel))
                self.disks[disk] = replace(self.disks[disk], users=users)
        return self

    def filesystem(self, name: str, uuid: str = PHOTOS, label: str = "photos", kind: str = "ext4") -> Box:
        """A file system on a partition, an array or a volume."""
        block = self.blocks[name]
        found, content = (
            (*block.found, SignatureAt.read(f"0 0x438 {kind} {uuid}")),
            (*block.content, f"{kind} '{label}'"),
        )
        self.blocks[name] = replace(block, found=found, content=content)
        if block.kind == "partition":
            disk, number = block.below[0], name[len(block.below[0]) :]
            self.trace(
                disk,
                Trace(
                    block.start + 0x438,
                    kind,
                    block.start,
                    block.size,
                    f"partition {number}",
                    uuid,
                    label,
                    where="partition",
                ),
            )
        return self.put("filesystem", uuid, type=kind, label=label, device=block.identity)

    def group(self, name: str, *devices: str, uuid: str = GROUP, missing: int = 0) -> Box:
        """A volume group; no volume of it runs yet."""
        identities = [self.blocks[device].identity for device in devices]
        for number, identity in enumerate(identities):
            self.put("physical_volume", f"PVuuid-{number}", device=identity, group=name)
        return self.put("volume_group", name, uuid=uuid, devices=identities, missing=missing)

    def volume(self, dm: str, group: str, name: str, *below: str, uuid: str = GROUP) -> Box:
        """A volume that runs."""
        identity, node = f"volume:{group}/{name}", f"/dev/disk/by-id/dm-uuid-LVM-{name * 8}"
        self.blocks[dm] = BlockFact(dm, identity, node, "volume", 100 * GIB, below=below, group=uuid)
        return self.put("volume", f"{group}/{name}", size=100 * GIB)

    def use(self, name: str, words: str) -> Box:
        """`mounted at /x` or `swap`."""
        self.blocks[name] = replace(self.blocks[name], uses=(User.read(words),))
        return self

    def put(self, kind: str, key: str, **found: Any) -> Box:
        """An object."""
        self.objects.setdefault(kind, {})[key] = found
        return self

    def machine(self) -> Machine:
        """As it would be read."""
        modules = {
            name: {"loaded": True, "loadable": True}
            for name in ("md_mod", "raid1", "raid6", "dm_mod", "dm_crypt")
        }
        objects = {**self.objects, "module": modules}
        blocks = tuple(block for _, block in sorted(self.blocks.items()))
        return Machine(tuple(self.disks.values()), objects, 2**40, is_root=True, blocks=blocks)


def old_pair() -> Box:
    """Two disks of one partition each, which are a running RAID1 with photos on it."""
    box = Box()
    for disk, serial in (("sdb", "PAIR-0"), ("sdc", "PAIR-1")):
        box.disk(disk, serial).table(disk).partition(disk).member(f"{disk}1")
    return box.array("md127", "sdb1", "sdc1").filesystem("md127")


def decided(plan: Plan, box: Box, past: Past | None = None) -> Decision:
    """What `plan --machine` decides; a plan that comes of it is taken again from a file."""
    decision = decide(plan, box.machine(), past or Past(), here=False)
    assert decision.refusals or plan_from_json(plan_to_json(decision.left)) == decision.left
    return decision


def redone(plan: Plan, id: str, box: Box) -> list[Step]:
    """The steps for one that was begun and never ended."""
    step = next(step for step in plan.steps if step.id == id)
    past = Past(is_open=True, begun=frozenset({id}), ours={id: frozenset(step.guard)})
    return redo(step, box.machine(), past, made_nodes(plan))


def order(plan: Plan) -> list[str]:
    """The ids of the steps, as a run could take them one by one: each one that stands late and may come early does."""
    done: list[str] = []
    steps = list(plan.steps)
    while steps:
        ready = next(step for step in reversed(steps) if set(step.needs) <= set(done))
        done.append(ready.id)
        steps.remove(ready)
    return done


def behind(plan: Plan, step: str) -> set[str]:
    """The ids of all that it waits for."""
    needs = {each.id: each.needs for each in plan.steps}
    return {id for need in needs[step] for id in (need, *behind(plan, need))}


def commands(plan: Plan, *phases: str) -> list[str]:
    """What the steps of some phases run or write, in order."""
    return [said(step) for step in plan.steps if step.phase in phases]


def said(step: Step) -> str:
    """The action in a word."""
    match step.action:
        case Run(argv):
            return " ".join(argv)
        case Zero(device):
            return f"zero {device}"
        case _:
            return f"write {step.targets[0]}"
