"""Content that can be left from an interrupted step: everything on the device, and every device on top of it, compared.

A pure function of a machine; what no tool recognises on a device is in its `stain` (recheck.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.apply.refusal import Refusal, Refused
from raidplan.base.hidden import escaped
from raidplan.base.identity import Identity
from raidplan.base.magic import MEMBER, PHYSICAL_VOLUME, Content
from raidplan.facts import Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import texts
from raidplan.facts.uses import Use, User, of_text, use
from raidplan.plan.loss import Loss, loss
from raidplan.plan.partitions import partition_rows
from raidplan.plan.step import Proof

TABLE_SIGNATURES = frozenset({"gpt", "PMBR"})
"""The signatures that sfdisk writes; libblkid reads no identity from them."""

ENCRYPTED = frozenset({"crypto_LUKS", "ext2"})
"""A LUKS header, or the label in front of what has a random key."""
TYPES = {"array": MEMBER, "swap": "swap", "physical_volume": PHYSICAL_VOLUME}
"""libblkid's words for what steps make; swap that holds a suspended system has the same UUID and another word."""


class NotOurs(Refused):
    """Content that the step cannot have left."""


def carries_ours(device: str, proof: Proof, machine: Machine) -> bool:
    """The device has content, all of which can be the step's own. Raises NotOurs."""
    carried = machine.carried(device)
    foreign = [
        use("carries", _called(device, machine), content=str(one)) for one in carried if not _ours(one, proof)
    ]
    reasons = [*foreign, *_more(device, proof, machine)]
    if reasons:
        raise NotOurs(Refusal("not-of-that-step", uses=tuple(dict.fromkeys(reasons))))
    return bool(carried)


def _ours(content: Content, proof: Proof) -> bool:
    kind, uuid = content
    if proof.kind == "table":
        return kind in TABLE_SIGNATURES
    if proof.kind == "encryption":
        return uuid == proof.key and kind in ENCRYPTED
    return uuid == proof.key and kind == TYPES.get(proof.kind, kind)


def losses(device: str, proof: Proof, machine: Machine) -> Iterator[Loss]:
    """Losses: content of our own that may have been used since, or content of either the step or somebody else."""
    found = machine.observe(proof.kind, proof.key) or {}
    fresh = found.get("device") == device and found.get("untouched")
    if proof.kind == "filesystem" and machine.carried(device) and not fresh:
        size = next((block.size for block in machine.blocks if block.identity == device), 0)
        type, label = str(found.get("type") or ""), str(found.get("label") or "")
        yield loss(
            "content", _called(device, machine), proof.key, own=True, type=type, label=label, size=size
        )
    if proof.kind not in ("table", "array") and (stain := _stain(device, machine)):
        yield loss("stain", _called(device, machine), stain=stain)


def _more(device: str, proof: Proof, machine: Machine) -> Iterator[Use]:
    """Foreign content on the device beside signatures."""
    yield from _in_use(device, machine)
    above = _table(device, proof, machine) if proof.kind == "table" else []
    if proof.kind == "array" and machine.observe("array", proof.key):
        above = [str(proof.identity)]
    for one in above:
        yield from (use("carries", _called(one, machine), content=str(each)) for each in machine.carried(one))
        yield from _in_use(one, machine)
    if proof.kind == "table":
        yield from _other_tables(device, proof, machine)
    yield from _standing(device, above, machine)
    for one in (device, *above):
        if proof.kind in ("table", "array") and (stain := _stain(one, machine)):
            yield use("stain", _called(one, machine), stain=stain)
    found = machine.observe(proof.kind, proof.key) or {}
    if proof.kind == "physical_volume" and found.get("group"):
        yield use("group", device, group=str(found["group"]))


def _table(device: str, proof: Proof, machine: Machine) -> list[str]:
    """The partitions of our table, and those that the kernel still has of a removed one."""
    found = machine.observe("table", proof.key)
    rows = partition_rows(found["partitions"]) if found and found.get("disk") == device else ()
    return list(dict.fromkeys([*(row.identity for row in rows), *partitions_on(device, machine)]))


def partitions_on(device: str, machine: Machine) -> list[str]:
    """The partitions that the kernel has of a disk, with a table on it or without."""
    names = {block.name for block in machine.blocks if block.identity == device}
    return [
        block.identity for block in machine.blocks if block.kind == "partition" and names & set(block.below)
    ]


def _other_tables(device: str, proof: Proof, machine: Machine) -> Iterator[Use]:
    planned = proof.partitions
    for uuid, found in machine.objects.get("table", {}).items():
        if found.get("disk") != device:
            continue
        if uuid != proof.key:
            yield use("table", device, uuid=uuid)
        others = (row for row in partition_rows(found["partitions"]) if row not in planned)
        yield from (use("partition", device, partition=str(row)) for row in others)


def _standing(device: str, known: list[str], machine: Machine) -> Iterator[Use]:
    """Devices that lie on this one, in use or not, except those that the step makes."""
    stack = Stack(machine, {})
    names = [block.name for block in machine.blocks if block.identity == device]
    for block in stack.above(names):
        if block.identity not in known:
            yield use("stands", device, device=stack.called(block))


def _in_use(device: str, machine: Machine) -> Iterator[Use]:
    uses = [use for block in machine.blocks if block.identity == device for use in block.uses]
    mounts = machine.objects.get("mount", {}).items()
    uses += [User("mounted", escaped(point)) for point, found in mounts if found.get("source") == device]
    for found in machine.objects.get("swap", {}).values():
        uses += [User("swap")] if found.get("device") == device and found.get("active") else []
    if uses:
        yield use("used", _called(device, machine), uses=tuple(map(str, dict.fromkeys(uses))))
    yield from map(of_text, texts((machine.observe("content", device) or {}).get("used")))


def _stain(device: str, machine: Machine) -> str:
    return str((machine.observe("content", device) or {}).get("stain", ""))


def _called(device: str, machine: Machine) -> str:
    """The name of a device in a sentence."""
    kind, key = Identity.read(device)
    found = machine.observe(kind, key) if kind == "array" else None
    return escaped(f"the array {found.get('name') or ''}".strip()) if found else escaped(device)
