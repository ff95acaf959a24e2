"""Devices that are not in an array, that a person would add to it, and that are not blank: mdadm asks nothing before it writes over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from raidplan.base.hidden import escaped
from raidplan.base.identity import Identity
from raidplan.base.magic import member_of
from raidplan.facts import Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import BlockFact, Properties, texts
from raidplan.facts.uses import Use, use
from raidplan.plan.identities import node_of
from raidplan.plan.step import Value

LISTS = ("members", "spares", "faulty", "journal")
"""Properties of an array that have its devices."""


def not_blank(
    uuid: str,
    found: Properties,
    planned: Mapping[str, Value],
    machine: Machine,
    shown: Callable[[str], str],
) -> Iterator[Use]:
    """Content and users of the planned devices that are not in the array `uuid`; `shown` turns an identity into a name in a shell."""
    inside = {*_devices(found)}
    blocks = {block.identity: block for block in machine.blocks}
    for identity in _devices(planned):
        if identity not in inside and not _is_known(identity, uuid, blocks.get(identity), machine):
            for stain in _stains(identity, blocks.get(identity), machine):
                node = node_of(identity)
                yield use("stain", escaped(shown(identity) if node == identity else node), stain=stain)


def _devices(array: Mapping[str, Value]) -> Iterator[str]:
    for name in LISTS:
        value = array.get(name)
        yield from [value] if isinstance(value, str) and value else texts(value)


def _is_known(identity: str, uuid: str, block: BlockFact | None, machine: Machine) -> bool:
    """The device has a superblock of this array, and no signature besides but those of the array's content, as a mirror shows it whose
    superblock is at the end."""
    carried = {*machine.carried(identity), *(each.content for each in (block.found if block else ()))}
    ours = member_of(uuid)
    return ours in carried and carried <= {ours, *machine.carried(str(Identity("array", uuid)))}


def _stains(identity: str, block: BlockFact | None, machine: Machine) -> list[str]:
    """Content and users of a device, in words; none if it is blank, or not there."""
    stains = Stack(machine, {}).stains(block.name) if block else []
    content = (
        [*map(str, block.uses), *block.content, *(str(each.content) for each in block.found)] if block else []
    )
    more = content if block and block.kind == "disk" else []  # a scan of a disk may know less than libblkid
    return [*dict.fromkeys((*stains, *more))] or content or [*map(str, machine.carried(identity))]
