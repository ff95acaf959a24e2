"""Devices that a person would add to an array or a volume group, and that are not blank: mdadm and pvcreate write over raw data unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from raidplan.base.hidden import escaped
from raidplan.base.magic import Content
from raidplan.facts import Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import BlockFact, Properties, texts
from raidplan.facts.uses import Use, use
from raidplan.plan.identities import node_of
from raidplan.plan.step import Proof, Value

LISTS = ("members", "spares", "faulty", "journal", "devices")
"""Properties of an array or a volume group that have its devices."""


def not_blank(
    planned: Proof,
    found: Properties,
    machine: Machine,
    shown: Callable[[str], str],
    own: Callable[[str], Content | None],
) -> Iterator[Use]:
    """Content and users of the planned devices that are not in the array or group. `shown` turns an identity into a name in a shell,
    `own` into the superblock or label that the device has as a part of it."""
    inside = {*_devices(found)}
    blocks = {block.identity: block for block in machine.blocks}
    above = {*machine.carried(str(planned.identity))}
    for identity in _devices(planned.expect):
        block = blocks.get(identity)
        if identity not in inside and not _is_known(identity, block, own(identity), above, machine):
            for stain in _stains(identity, block, machine):
                node = node_of(identity)
                yield use("stain", escaped(shown(identity) if node == identity else node), stain=stain)


def _devices(properties: Mapping[str, Value]) -> Iterator[str]:
    for name in LISTS:
        value = properties.get(name)
        yield from [value] if isinstance(value, str) and value else texts(value)


def _is_known(
    identity: str, block: BlockFact | None, own: Content | None, above: set[Content], machine: Machine
) -> bool:
    """The device has its `own` superblock, and no signature besides but those of the content `above`, as a mirror shows it whose superblock
    is at the end."""
    carried = {*machine.carried(identity), *(each.content for each in (block.found if block else ()))}
    return own in carried and carried <= {own, *above}


def _stains(identity: str, block: BlockFact | None, machine: Machine) -> list[str]:
    """Content and users of a device, in words; none if it is blank, or not there."""
    stains = Stack(machine, {}).stains(block.name) if block else []
    content = (
        [*map(str, block.uses), *block.content, *(str(each.content) for each in block.found)] if block else []
    )
    more = content if block and block.kind == "disk" else []  # a scan of a disk may know less than libblkid
    return [*dict.fromkeys((*stains, *more))] or content or [*map(str, machine.carried(identity))]
