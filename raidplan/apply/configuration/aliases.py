"""Every name that a line of a configuration file can have for a device, or for what is on it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from raidplan.apply.configuration.lines import Key, device
from raidplan.base.identity import mapper_node, md_form
from raidplan.facts.device_stack import BY_ID, Stack
from raidplan.facts.machine import BlockFact


def aliases(stack: Stack, name: str) -> set[Key]:
    """The names of the device with this kernel name: its nodes and links, its UUIDs and labels, and those of its content."""
    traces = stack.traces(name)
    words = chain.from_iterable((("UUID", one.uuid), ("LABEL", one.label)) for one in traces)
    keys = {device(node) for node in _nodes(stack, name)} | {
        device(f"{tag}={value}") for tag, value in words if value
    }
    block = stack.blocks.get(name)
    own = [one.content.uuid for one in block.found if not one.partition] if block else []
    keys |= {device(f"UUID={uuid}") for uuid in own if uuid}
    return keys | (set(contents(stack, block.identity)) if block else set())


def contents(stack: Stack, identity: str) -> Iterator[Key]:
    """UUID and label of the file system or swap on the device with this identity."""
    for kind in ("filesystem", "swap"):
        for uuid, found in stack.machine.objects.get(kind, {}).items():
            if found.get("device") == identity:
                yield from of_content(uuid, str(found.get("label") or ""))


def of_content(uuid: str, label: str) -> Iterator[Key]:
    """The tags of a file system."""
    yield device(f"UUID={uuid}")
    if label:
        yield "LABEL", label


def _nodes(stack: Stack, name: str) -> Iterator[str]:
    yield f"/dev/{name}"
    disk = next((disk for disk in stack.machine.disks if disk.kernel_name == name), None)
    yield from disk.links if disk else ()
    block = stack.blocks.get(name)
    if block is None:
        return
    if block.node.startswith("/dev/"):
        yield block.node
    key = block.key
    match block.kind:
        case "partition":
            yield from _of_partition(stack, block, key)
        case "array":
            yield from of_array(key, str((stack.machine.observe("array", key) or {}).get("name") or ""))
        case "volume" if key:
            yield from of_volume(key)


def of_array(uuid: str, stored: str) -> Iterator[str]:
    """The links of an array; `stored` is the name in its superblocks, with the host's (63-md-raid-arrays.rules)."""
    yield f"{BY_ID}md-uuid-{md_form(uuid)}"
    if stored:
        short = stored.rpartition(":")[2]
        yield from (f"{BY_ID}md-name-{stored}", f"/dev/md/{short}", f"/dev/md_{short}")


def of_volume(key: str) -> Iterator[str]:
    """The links of a logical volume `group/volume`."""
    mapped = mapper_node(key)
    yield from (f"/dev/{key}", mapped, f"{BY_ID}dm-name-{mapped.rpartition('/')[2]}")


def _of_partition(stack: Stack, block: BlockFact, uuid: str) -> Iterator[str]:
    below = block.below[0]
    number = block.name.removeprefix(below).lstrip("p")
    yield from (f"{node}-part{number}" for node in _nodes(stack, below) if node.startswith("/dev/disk/"))
    yield f"PARTUUID={uuid}"
    parts = (part for disk in stack.machine.disks if disk.kernel_name == below for part in disk.partitions)
    for part in parts:
        if part.uuid == uuid and part.name:
            yield f"PARTLABEL={part.name}"
