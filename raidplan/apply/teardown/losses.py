"""The losses of a teardown, for the list that a person confirms; `render/losses.py` has their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from raidplan.base.figures import Figures
from raidplan.base.hidden import escaped
from raidplan.base.identity import group_of
from raidplan.base.magic import MEMBER
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import BlockFact, Trace, texts
from raidplan.facts.ranges import BACK, FRONT
from raidplan.plan.loss import Loss, LossKind, loss
from raidplan.plan.step import Plan

TABLES = {"gpt": "gpt", "dos": "dos", "PMBR": "gpt", "sun": "sun", "sgi": "sgi", "bsd": "bsd", "mac": "mac"}

UNRECOGNISED = ""
"""In place of a UUID: bytes that nothing recognises."""


def own_identities(plan: Plan) -> frozenset[str]:
    """The UUIDs of everything with content that the plan makes: who destroys these, destroys what it made itself."""
    kinds = ("array", "encryption", "physical_volume", "filesystem", "swap")
    return frozenset(step.proof.key for step in plan.steps if step.proof and step.proof.kind in kinds)


def on_device(stack: Stack, name: str, own: frozenset[str]) -> Iterator[Loss]:
    """The content of a target: of a disk or partition every trace, of an array or volume the signatures of libblkid."""
    block, traces = stack.blocks.get(name), stack.traces(name)
    listed = [trace for trace in traces if trace.type != "data" or not _is_listed_before(trace, traces)]
    yield from (_trace(trace, stack.disk_of(name), own) for trace in listed)
    if not traces:
        found = next((one.signatures for one in stack.machine.disks if one.kernel_name == name), ())
        where = stack.named(name)
        yield from (loss("signature", where, signature=words) for words in found)
    if block and block.kind != "disk" and not traces:
        yield from on_layer(stack, block, own)


def is_between_ends(stack: Stack, name: str) -> bool:
    """Nothing is on a target but bytes that nothing recognises, where clearing reaches neither of its ends."""
    block, traces = stack.blocks.get(name), stack.traces(name)
    if traces or not block:
        return all(
            each.type == "data" and not each.place and FRONT <= each.offset < each.room - BACK
            for each in traces
        )
    return not block.found and FRONT <= block.unknown_from < block.size - BACK


def is_within(stack: Stack, name: str, ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether all that is found on a target lies in these ranges, or is bytes between its ends that nothing recognises."""
    block, traces = stack.blocks.get(name), stack.traces(name)
    first = block.start if block and block.kind == "partition" else 0
    between = (
        each for each in traces if each.type != "data" or not FRONT <= each.offset - first < each.room - BACK
    )
    return all(any(at <= each.offset - first < at + size for at, size in ranges) for each in between)


def came_since(stack: Stack, name: str, byte: int) -> Loss:
    """A sector of somebody else in what an interrupted clearing has left."""
    block = stack.blocks.get(name)
    called = stack.called(block) if block else stack.named(name)
    return loss("later", stack.disk_of(name), place=called, offset=byte)


def _is_listed_before(data: Trace, traces: Sequence[Trace]) -> bool:
    """Whether unrecognised data was listed before: it is listed once for a partition, where it begins, and once for the disk itself, to
    which the ranges of future partitions belong."""
    before = traces[: next(number for number, trace in enumerate(traces) if trace is data)]
    earlier = [trace for trace in before if trace.type == "data"]
    if data.where == "future":
        return any(trace.where in ("disk", "future") for trace in earlier)
    place = (data.where, data.start, data.room)
    return any((trace.where, trace.start, trace.room) == place for trace in earlier)


def _trace(trace: Trace, disk: str, own: frozenset[str]) -> Loss:
    if trace.type in TABLES and trace.where == "disk":
        return loss("table", disk, trace.uuid, own=trace.uuid in own, format=TABLES[trace.type])
    kind: LossKind = "content"
    of_kind: Figures = {"type": trace.type, "label": trace.label, "size": trace.room}
    if trace.type == "data":
        kind, of_kind = "data", {"offset": trace.offset}
    elif trace.type == MEMBER:
        kind, of_kind = "member", {"label": trace.label, "detail": trace.detail}
    inside = int(trace.where == "inside")
    return loss(kind, disk, trace.uuid, own=trace.uuid in own, place=trace.place, inside=inside, **of_kind)


def on_layer(stack: Stack, block: BlockFact, own: frozenset[str]) -> Iterator[Loss]:
    """The content of an array or a volume."""
    where = stack.called(block)
    for words, one in zip_longest(block.content, block.found):
        uuid = (one.content.uuid or one.content.type) if one else ""
        yield loss("layer", where, uuid, own=uuid in own, content=words or "", size=block.size)


def array(stack: Stack, block: BlockFact, own: frozenset[str]) -> Loss:
    """A running array as a whole."""
    uuid = block.key
    found = stack.machine.observe("array", uuid) or {}
    level, members = str(found.get("level") or ""), len(texts(found.get("members")))
    called = stack.called(block)
    return loss("array", called, uuid, own=uuid in own, level=level, members=members, size=block.size)


def group(stack: Stack, name: str, uuid: str) -> Iterator[Loss]:
    """A volume group and its volumes, each by itself: vgremove takes one after the other, and what is left after a kill was
    listed before with the same words."""
    volumes: Mapping[str, Mapping[str, object]] = stack.machine.objects.get("volume", {})
    for key, found in volumes.items():
        if group_of(key) == name:
            yield loss("volume", f"the volume {escaped(key)}", size=int(str(found.get("size", 0))))
    yield Loss("group", group_called(name, uuid), uuid)


def group_called(name: str, uuid: str) -> str:
    """A volume group by its name, or by its UUID where LVM shows none."""
    return f"the volume group '{escaped(name)}'" if name else f"the volume group {uuid}"


def absent(traces: Iterable[tuple[str, Trace]], cleared: Mapping[tuple[str, str], int]) -> Iterator[Loss]:
    """Arrays of which members are nowhere to be found: what those carry cannot be cleared here.

    Each trace with its disk; `cleared` by disk and UUID is how many an interrupted run was to clear, and those that are
    gone since are no such members.
    """
    arrays: dict[str, list[Trace]] = {}
    there = Counter[tuple[str, str]]()
    for disk, trace in traces:
        if trace.type == MEMBER and trace.members:
            arrays.setdefault(trace.uuid, []).append(trace)
            there[disk, trace.uuid] += 1
    absent = Counter[str]()
    for (disk, uuid), count in cleared.items():
        absent[uuid] += max(0, count - there[disk, uuid])
    for uuid, found in arrays.items():
        missing = found[0].members - len(found) - absent[uuid]
        if missing > 0:
            name = f"'{escaped(found[0].label)}'" if found[0].label else uuid
            yield loss("absent", f"the array {name}", uuid, missing=missing, members=found[0].members)
