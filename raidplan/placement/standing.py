"""The members and spares that the array of a pool has on a machine already, or had when it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from raidplan.base.identity import Identity, derived_uuid
from raidplan.layout.kinds.naming import identity
from raidplan.layout.kinds.pool import Pool
from raidplan.plan.step import Value
from raidplan.topology import Topology

Arrays = Mapping[str, Mapping[str, Value]]
"""Properties of arrays by UUID, as a machine shows them or a plan expects them; disks by their names in the layout."""


class Standing(NamedTuple):
    """The devices that an array has, by their names in the layout; the members in slot order."""

    members: tuple[str, ...]
    spares: tuple[str, ...]


def standing(name: str, pool: Pool, topology: Topology, found: Sequence[Arrays]) -> Standing | None:
    """The first that is complete and of the pool, if any; a member that failed leaves an array incomplete.

    It may have fewer members and spares than are wanted now, and then grows.
    """
    array = topology.layout.arrays[name]
    names = {_identity(name, device, topology): device for device in (*pool.from_, *array.spares)}
    for arrays in found:
        stands = arrays.get(derived_uuid(topology.host, "array", name), {})
        members, spares = (_named(stands.get(key), names) for key in ("members", "spares"))
        own = tuple(spare for spare in spares if spare not in array.spares)
        few = 0 < len(members) <= pool.count and len(own) <= pool.spares
        if few and {*members, *own} <= {*pool.from_}:
            return Standing(members, own)
    return None


def _named(identities: Value, names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(names.get(each, "") for each in identities) if isinstance(identities, list) else ()


def _identity(array: str, name: str, topology: Topology) -> str:
    """The identity that a device of a pool has as a member of the array."""
    device = topology.devices.get(name)
    if device is None or (device.kind == "disk" and not topology.layout.arrays[array].whole_disks):
        return str(Identity("partition", derived_uuid(topology.host, "partition", f"{name}.{array}")))
    return identity(device)
