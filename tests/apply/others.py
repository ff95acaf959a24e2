"""Disks of other people in the machine in memory: an array that runs, a file system, and a blank one of the plan's make."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from raidplan.base.magic import SignatureAt
from raidplan.facts import DiskFact, Machine
from raidplan.facts.machine import BlockFact, Trace
from raidplan.facts.uses import User

if TYPE_CHECKING:
    from raidplan.plan.disk_identity import DiskIdentity

NODES = ("/dev/other0", "/dev/other1", "/dev/other2", "/dev/other3")
ARRAY, ARRAY_NODE = "0c0c0c0c-1111-4222-8333-123456789abc", "/dev/md99"
PRECIOUS = "0b0b0b0b-1111-4222-8333-123456789abc"
BYTES = (b"first leg", b"second leg", b"photos", bytes(16))
SWEEPING = ("--scan", "--all-devices", "-a", "-A", "--all")
"""Words by which a program takes whatever it finds; `wipefs --all` means all signatures of the devices that it is given."""


@dataclass
class Others:
    """What is on them."""

    content: dict[str, bytes] = field(default_factory=lambda: dict(zip(NODES, BYTES, strict=True)))

    def hashes(self) -> dict[str, str]:
        """Of the bytes of each."""
        return {node: hashlib.sha256(data).hexdigest() for node, data in self.content.items()}

    def given(self, argv: Iterable[str]) -> None:
        """A program writes to what it is given, by whatever name, also to all that there is; that is a failure at once."""
        words = list(argv)
        sweeps = words[0] != "wipefs" and not {*SWEEPING}.isdisjoint(words)
        array = any(ARRAY_NODE.removeprefix("/dev/") in word or ARRAY in word for word in words)
        for number, node in enumerate(NODES):
            if sweeps or any(node.removeprefix("/dev/") in word for word in words) or (array and number < 2):
                self.content[node] = b"written over"
        assert self.hashes() == Others().hashes(), f"{words} writes to the disks of others"

    def beside(self, machine: Machine, first: DiskIdentity | None) -> Machine:
        """The machine with them; the blank one is of the make and size of the first disk of the plan."""
        told = bool(first and (first.serial or first.wwn or first.path))
        alike = DiskFact(NODES[3], "other3", first.size if first else 10**12, serial="OTHER-3",
                         model=first.model if first and told else "", logical_block=first.logical_block if first else 512)  # fmt: skip
        legs = [_disk(n, Trace(4096, "linux_raid_member", 0, 10**12, "", ARRAY, "others:pair", "raid1 of 2, metadata 1.2", 2)) for n in (0, 1)]  # fmt: skip
        photos = _disk(2, Trace(0x438, "ext4", 0, 10**12, "", PRECIOUS, "precious"))
        legs = [replace(leg, users=(User("held", "md99"),)) for leg in legs]
        more = {
            "array": {ARRAY: {"name": "others:pair", "level": "raid1", "members": [*NODES[:2]], "node": ARRAY_NODE}},
            "filesystem": {PRECIOUS: {"type": "ext4", "label": "precious", "device": NODES[2]}},
            "content": {
                **{node: {"carries": [f"linux_raid_member {ARRAY}"]} for node in NODES[:2]},
                NODES[2]: {"carries": [f"ext4 {PRECIOUS}"]},
            },
        }  # fmt: skip
        objects = {
            kind: {**machine.objects.get(kind, {}), **more.get(kind, {})}
            for kind in {**machine.objects, **more}
        }
        disks = (alike, *legs, photos, *machine.disks)
        return replace(machine, disks=disks, objects=objects, blocks=(*machine.blocks, *blocks()))


def blocks() -> Iterable[BlockFact]:
    """As sysfs shows them."""
    for number, node in enumerate(NODES):
        found = {2: (SignatureAt.read(f"0 0x438 ext4 {PRECIOUS}"),), 3: ()}.get(
            number, (SignatureAt.read(f"0 0x1000 linux_raid_member {ARRAY}"),)
        )
        yield BlockFact(f"other{number}", node, node, "disk", 10**12, found=found)
    yield BlockFact("md99", f"array:{ARRAY}", ARRAY_NODE, "array", 10**12, 0, ("other0", "other1"), (), (), (), "clean")  # fmt: skip


def _disk(number: int, trace: Trace) -> DiskFact:
    return DiskFact(NODES[number], f"other{number}", 10**12, serial=f"OTHER-{number}", traces=(trace,))
