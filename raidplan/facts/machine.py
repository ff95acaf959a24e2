"""The actual state of a machine: its disks, and every object on them by kind and key. Pure values.

A snapshot travels as JSON, so that a plan can be made on another computer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypeVar, get_args

from raidplan.base.identity import DISK, NODE, Identity, disk_word
from raidplan.base.magic import Content, SignatureAt
from raidplan.facts.failure import Failed, failure
from raidplan.facts.problem import Problem, Unread
from raidplan.facts.uses import User, read_users
from raidplan.plan.step import Value

Words = Callable[[Problem], str]

FORMAT_VERSION = 1

Properties = Mapping[str, Value]
Objects = Mapping[str, Mapping[str, Properties]]
"""kind, then key, then property."""

SORTED = ("spares", "devices", "faulty")
"""Lists without an order of their own; they are kept sorted."""

NO_DEVICES = ("file", "directory", "tool", "unit", "unit_file", "module", "kernel")
"""Kinds whose texts never name a device, whatever they look like."""


def texts(value: object) -> list[str]:
    """The items of a property that is a list, as texts; nothing if it is none."""
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


@dataclass(frozen=True, slots=True)
class PartitionFact:
    """A partition; `start` and `size` in bytes, `uuid` and `type` in lower case, empty if not known."""

    node: str
    uuid: str
    type: str
    start: int
    size: int
    name: str = ""
    signatures: tuple[str, ...] = ()
    """The signatures on it in words, as `DiskFact.signatures` has them: `ext4 at 0x438`."""
    holds: tuple[str, ...] = ()
    """The types of the signatures, in libblkid's words; none if it could not be read."""

    @property
    def number(self) -> int:
        """The number in the partition table, by the kernel's name; 0 where that has none."""
        digits = re.search(r"\d+$", self.node)
        return int(digits[0]) if digits else 0


Where = Literal["disk", "partition", "future", "inside"]
"""The kind of a range: the disk itself, a partition of any table, where the layout wants one, the inside of an array."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Something that was written to a disk, and its place. Positions and sizes in bytes of the disk.

    `type` is libblkid's word, or `data` for what nothing here recognises, or `unreadable`. `uuid` and `label`
    are the disk's own words, `detail` and `place` are ours: `metadata 1.2, bad checksum`, `partition 1`.
    """

    offset: int
    type: str
    start: int = 0
    """The start of the range that holds it."""
    room: int = 0
    """The size of that range."""
    place: str = ""
    """The partition in words; empty for the disk itself."""
    uuid: str = ""
    label: str = ""
    detail: str = ""
    members: int = 0
    """The number of members of the array when complete; 0 if the trace is of no array."""
    where: Where = "disk"
    """The kind of the range."""


@dataclass(frozen=True, slots=True)
class DiskFact:
    """A whole disk, or a loop device in its place. Texts are empty where the disk does not tell.

    `signatures` are in words: `gpt at 0x200`. `users` are those of its partitions and of the devices on top, too.
    """

    node: str
    kernel_name: str
    size: int
    """Bytes."""
    kind: str = "disk"
    serial: str = ""
    wwn: str = ""
    path: str = ""
    """udev's ID_PATH."""
    model: str = ""
    transport: str = ""
    logical_block: int = 512
    physical_block: int = 512
    rotational: bool = False
    read_only: bool = False
    signatures: tuple[str, ...] = ()
    partitions: tuple[PartitionFact, ...] = ()
    users: tuple[User, ...] = ()
    links: tuple[str, ...] = ()
    """The other names of the node, below /dev/disk."""
    traces: tuple[Trace, ...] = ()
    """Everything on it, at every place; none if it is proven blank."""
    instance: str = ""
    """The appearance of the disk, as `facts.block.instance_of` tells it."""


@dataclass(frozen=True, slots=True)
class BlockFact:
    """A block device with its place in the stack, its users and its content.

    `name` and `below` are kernel names. `identity` is its name in proofs: `{d00}`, `partition:<uuid>`,
    `array:<uuid>`, `volume:vg0/home`, `mapping:<uuid>`.
    """

    name: str
    identity: str
    node: str
    """The name for commands: a link that names the thing itself where there is one; empty if no command may name it."""
    kind: str
    """`disk`, `partition`, `array`, `volume` (of LVM), `mapping` (an opened encryption), or the kernel's name for anything else."""
    size: int
    start: int = 0
    """The start of a partition on its disk, in bytes; 0 for anything else."""
    below: tuple[str, ...] = ()
    uses: tuple[User, ...] = ()
    """Direct users that are no block devices themselves."""
    found: tuple[SignatureAt, ...] = ()
    """The signatures that libblkid finds on it and on its partitions."""
    content: tuple[str, ...] = ()
    """The content in words, of the device alone; without `found`, content that libblkid does not recognise."""
    state: str = ""
    """The state of an array in the kernel's word; empty for anything else."""
    group: str = ""
    """The UUID of a volume's group; empty for anything else."""
    unknown_from: int = -1
    """The start of bytes that nothing recognises; -1 where there are none, or nobody knows."""

    @property
    def key(self) -> str:
        """The key in `identity`, by which objects of its kind are known; empty for what has a node alone, and for a disk."""
        kind, key = Identity.read(self.identity)
        return key if kind not in (DISK, NODE) else ""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine at one moment."""

    disks: tuple[DiskFact, ...] = ()
    objects: Objects = field(default_factory=dict)
    memory_bytes: int = 0
    firmware: str = ""
    """`bios` or `uefi`."""
    host: str = ""
    is_root: bool = False
    kernel: str = ""
    """The release, as in `uname -r`."""
    problems: tuple[Problem, ...] = ()
    machine_id: str = ""
    """The id of this installation, hashed: /etc/machine-id itself is not to be shown to anybody (machine-id(5))."""
    blocks: tuple[BlockFact, ...] = ()

    def observe(self, kind: str, key: str) -> Properties | None:
        """The properties of an object, or None if there is none."""
        return self.objects.get(kind, {}).get(key)

    def carried(self, identity: str) -> list[Content]:
        """The content of a device, by each of its signatures; empty where there are none, or where nobody asked."""
        return [*map(Content.read, texts((self.observe("content", identity) or {}).get("carries")))]

    def with_more(self, found: Mapping[tuple[str, str], Properties]) -> Machine:
        """A copy of the machine with these properties added to objects, each by its kind and key."""
        objects = {kind: dict(of_kind) for kind, of_kind in self.objects.items()}
        for (kind, key), more in found.items():
            objects.setdefault(kind, {})[key] = {**objects.get(kind, {}).get(key, {}), **more}
        return replace(self, objects=objects)

    def disk(self, node: str) -> DiskFact | None:
        """The disk with this node, or with this link to it."""
        return next((disk for disk in self.disks if node == disk.node or node in disk.links), None)

    def named(self, disks: Mapping[str, str]) -> Machine:
        """A copy of the machine, with its disks (node to layout name) called `{d00}` where objects name them."""
        names = {node: disk_word(name) for node, name in disks.items()}
        objects = {
            kind: of_kind
            if kind in NO_DEVICES
            else {names.get(key, key): _renamed(found, names) for key, found in of_kind.items()}
            for kind, of_kind in self.objects.items()
        }
        blocks = tuple(
            replace(
                block,
                identity=names.get(block.identity, block.identity),
                node=names.get(block.node, block.node),
            )
            for block in self.blocks
        )
        return replace(self, objects=objects, blocks=blocks)

    def to_data(self, words: Words | None = None) -> dict[str, Any]:
        """Plain values for JSON; `words` say each problem for whoever reads that."""
        objects = {kind: {key: dict(found) for key, found in of.items()} for kind, of in self.objects.items()}
        scalars = {
            name: getattr(self, name)
            for name in ("memory_bytes", "firmware", "host", "machine_id", "is_root", "kernel")
        }
        return {
            "format_version": FORMAT_VERSION,
            **scalars,
            "disks": [{**asdict(disk), "users": [*map(str, disk.users)]} for disk in self.disks],
            "blocks": [
                {**asdict(block), "found": [*map(str, block.found)], "uses": [*map(str, block.uses)]}
                for block in self.blocks
            ],
            "objects": objects,
            "problems": [*map(words, self.problems)] if words else [],
            "unread": [asdict(problem) for problem in self.problems],
        }

    @classmethod
    def from_data(cls, data: Any) -> Machine:
        """The machine in plain values. Raises Failed for anything that is not one, ValueError for a signature or number that is none."""
        try:
            return _machine(data)
        except (KeyError, TypeError, AttributeError) as error:
            raise Failed(failure("snapshot", error=f"{type(error).__name__} {error}")) from None


def _renamed(found: Properties, names: Mapping[str, str]) -> Properties:
    def name(key: str, value: Value) -> Value:
        if isinstance(value, str):
            return names.get(value, value)
        if isinstance(value, list):
            items = [names.get(item, item) for item in value]
            return sorted(items) if key in SORTED else items
        return value

    return {key: name(key, value) for key, value in found.items()}


def _machine(data: dict[str, Any]) -> Machine:
    version = data["format_version"]
    if version != FORMAT_VERSION:
        raise Failed(failure("snapshot-version", version=str(version), known=FORMAT_VERSION))
    objects = {
        kind: {key: {name: _value(value) for name, value in found.items()} for key, found in of_kind.items()}
        for kind, of_kind in data["objects"].items()
    }
    scalars: dict[str, Any] = {
        "memory_bytes": int(data["memory_bytes"]),
        "is_root": bool(data["is_root"]),
        **{name: str(data[name]) for name in ("firmware", "host", "machine_id", "kernel")},
    }
    disks = tuple(_disk(disk) for disk in data["disks"])
    blocks = tuple(map(_block, data["blocks"]))
    return Machine(disks, objects, blocks=blocks, problems=_problems(data), **scalars)


def _problems(data: dict[str, Any]) -> tuple[Problem, ...]:
    """Snapshots of earlier versions have sentences alone."""
    if "unread" not in data:
        return tuple(Problem("", said=str(each)) for each in data["problems"])
    return tuple(_fact(Problem, each) for each in data["unread"])


def _value(value: Any) -> Value:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise Failed(failure("snapshot-property", type=type(value).__name__))


Fact = TypeVar("Fact", DiskFact, PartitionFact, BlockFact, Trace, Problem)


def _disk(data: dict[str, Any]) -> DiskFact:
    partitions = tuple(_fact(PartitionFact, part) for part in data["partitions"])
    traces = tuple(_fact(Trace, trace) for trace in data["traces"])
    users = read_users(data["users"])
    return _fact(DiskFact, {**data, "partitions": partitions, "traces": traces, "users": users})


def _block(data: dict[str, Any]) -> BlockFact:
    found = tuple(map(SignatureAt.read, data["found"]))
    return _fact(BlockFact, {**data, "found": found, "uses": read_users(data["uses"])})


def _fact(kind: type[Fact], data: dict[str, Any]) -> Fact:
    """A fact whose every field is there and of its type."""
    values: dict[str, Any] = {}
    for known in fields(kind):
        value = tuple(data[known.name]) if isinstance(data[known.name], list) else data[known.name]
        allowed = _WORDS.get(str(known.type), (value,))
        if type(value) is not _TYPES.get(str(known.type), tuple) or value not in allowed:
            raise Failed(failure("snapshot-value", data.get("node", ""), name=known.name, value=repr(value)))
        values[known.name] = value
    return kind(**values)


_TYPES: dict[str, type] = {"str": str, "int": int, "bool": bool, "Where": str, "Unread": str}
_WORDS: dict[str, tuple[object, ...]] = {"Where": get_args(Where), "Unread": get_args(Unread)}
