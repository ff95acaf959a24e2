"""Rules about where copies and spares lie, and about joining arrays without redundancy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from raidplan.base.findings import Edit, Path, Related, Severity
from raidplan.base.groups import by_key
from raidplan.base.levels import LEVELS, copy_sets
from raidplan.base.size import human
from raidplan.base.words import SHOWN, counted, listed
from raidplan.estimate.survival import Component
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.exchange import safe_spare
from raidplan.rules.lib.free_devices import roomiest, with_ports
from raidplan.rules.lib.parts import (
    KINDS,
    disks_of_parts,
    fatal_parts,
    members_of_parts,
    most_together,
    parts_of_disks,
    shared_parts,
)
from raidplan.rules.lib.subjects import arrays, footing, losses, own_disks, place, redundant
from raidplan.topology import Topology

JOINED_IN = ("multiplier", "expander", "enclosure")
"""Parts that may hold one array each of several that are joined."""
MOST_ORDER = 16
"""Members of an order that still fit a hint."""


@rule(Severity.WARNING)
def mirror_pair_shares_component(topology: Topology) -> Iterator[Hit]:
    """The copies of a raid10 lie behind one component, and another order of the members would part them.

    Why: the order of the members is the order of the slots, and raid10 keeps the copies of a chunk on
    neighbours: slots 0 and 1, 2 and 3 with n2 and an even number; each slot and the next with far and offset
    copies or an odd number. Two neighbours behind one multiplier, controller, shelf or supply are lost with
    it, and the array with them. The same disks in turn (a0 b0 a1 b1) survive that.

    Bad:
        hardware:
          controllers: {a: {ports: 2}, b: {ports: 2}}
          disks: {a<0-1>: {behind: a, size: 3TB}, b<0-1>: {behind: b, size: 3TB}}
        arrays:
          s0:
            level: raid10
            members: [a0, a1, b0, b1]    # <-- here

    Good:
        hardware:
          controllers: {a: {ports: 2}, b: {ports: 2}}
          disks: {a<0-1>: {behind: a, size: 3TB}, b<0-1>: {behind: b, size: 3TB}}
        arrays:
          s0: {level: raid10, members: [a0, b0, a1, b1]}

    Source: md(4), "RAID10"; mdadm(8), "CREATE MODE" (the order of the devices).
    """
    for name, path, array in arrays(topology):
        disks = own_disks(topology, array)
        together = partners_that_share(topology, array, array.layout or "n2")
        if together:
            pair, part = together[0]
            rest = len(together) - 1
            more = f"; so {'do' if rest > 1 else 'does'} {counted(rest, 'other pair')}" if rest else ""
            order = _interleaved(topology, array, disks, part.kind)
            better = array.changed(members=tuple(order)) if 0 < len(order) <= MOST_ORDER else array
            parted = not partners_that_share(topology, better, array.layout or "n2")
            yield Hit(
                (*path, "members"),
                f"{listed(pair, last=' and ')} of {name} hold the same data and fail with "
                f"the {KINDS[part.kind]} {part.name}{more}",
                "" if parted else f"change the order of the members, one of each {KINDS[part.kind]} in turn",
                related=tuple(
                    place(KINDS[p.kind], p.path) for p in {p.path: p for _, p in together}.values()
                ),
                edits=(Edit((*path, "members"), better.named_members),) if parted else (),
            )


def partners_that_share(topology: Topology, array: Array, layout: str) -> list[tuple[list[str], Component]]:
    """The disks that hold the same data in a layout of raid10 and fail together, though the array could be safe from it."""
    disks = own_disks(topology, array) if LEVELS[array.level].arranged else []
    try:
        sets = copy_sets(layout, len(disks)) if disks else []
    except ValueError:
        return []
    fits = {part: n <= most_together(array) for part, n in members_of_parts(topology, disks).items()}
    copies = ([disks[slot] for slot in slots] for slots in sets)
    return [(pair, part) for pair in copies if (part := _shared(topology, pair, fits)) is not None]


def _shared(topology: Topology, disks: Sequence[str], fits: Mapping[Path, bool]) -> Component | None:
    """The smallest part that all these disks fail with, though the array could be safe from it in another order."""
    behind = topology.once(disks_of_parts)
    for part in topology.once(parts_of_disks).get(disks[0], ()):
        if all(disk in behind[part.path] for disk in disks):
            return part if fits[part.path] else None
    return None


def _interleaved(topology: Topology, array: Array, disks: Sequence[str], kind: str) -> list[str]:
    """The members in an order that parts all copies as far as this kind of part goes; empty if none was found."""
    parts = (
        next((p.name for p in topology.once(parts_of_disks).get(disk, ()) if p.kind == kind), disk)
        for disk in disks
    )
    groups = by_key(zip(parts, array.named_members, strict=True))
    grouped = [
        (part, member)
        for part, members in sorted(groups.items(), key=lambda g: -len(g[1]))
        for member in members
    ]
    copies = losses(array) + 1
    step = len(grouped) // copies
    order = [grouped[first + turn * step] for first in range(step) for turn in range(copies)]
    order += grouped[step * copies :]
    sets = copy_sets(array.layout or "n2", len(order))
    apart = all(len({order[slot][0] for slot in slots}) > 1 for slots in sets)
    return [member for _, member in order] if apart else []


@rule(Severity.NOTE)
def spare_shares_fate(topology: Topology) -> Iterator[Hit]:
    """A spare fails together with members: with one on its own disk, or with more than the array can lose.

    Why: a spare is there for the moment when members fail. If the component that it hangs on takes more
    members than the level survives, it goes with them, at the one event where the array needs it most; for
    the loss of single disks it serves as well elsewhere. Said only where there is an elsewhere: a free disk,
    another shelf or supply, a free port of another controller. A spare on the disk of a member, or of
    another spare, is a warning wherever it is: it cannot stand in for that member, and when it stands in for
    another, one disk holds two members of an array that looks whole.

    Bad:
        hardware:
          controllers: {c0: {ports: 8}, c1: {ports: 8}}
          disks: {a<0-3>: {behind: c0, size: 3TB}, b<0-2>: {behind: c1, size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [a<0-2>, b0]
            spares:
              - a3    # <-- here

    Good:
        hardware:
          controllers: {c0: {ports: 8}, c1: {ports: 8}}
          disks: {a<0-3>: {behind: c0, size: 3TB}, b<0-2>: {behind: c1, size: 3TB}}
        arrays:
          s0: {level: raid5, members: [a<0-2>, b0], spares: [b1]}

    Source: mdadm(8), `--spare-devices`; it follows from what a spare is for.
    """
    for name, path, array in arrays(topology):
        disks = own_disks(topology, array) if redundant(array) and array.spares else []
        if not disks:
            continue
        counts, most = members_of_parts(topology, disks), losses(array)
        first = dict(zip(disks, array.named_members, strict=True))
        fatal = {part.path for part, _ in topology.once(fatal_parts).get(name, ())}
        for number, spare in enumerate(array.spares):
            there = (*path, "spares", number)
            shared = min(topology.disks_below(spare) & first.keys(), default=None)
            if shared is not None:
                yield _on_one_disk(topology, there, first[shared], shared)
                continue
            first.update(dict.fromkeys(topology.disks_below(spare), spare))
            part = _fatal_part(topology, spare, fatal)
            edits = _better_spare(topology, there) if part is not None else ()
            advice = _other_spare(topology, part, fatal) if part is not None and not edits else ""
            if part is not None and (edits or advice):
                yield Hit(
                    there,
                    f"the spare {spare} fails with the {KINDS[part.kind]} {part.name}, which takes "
                    f"{counts[part.path]} members of {name}, and {array.level} survives the loss of {most}",
                    advice,
                    related=(place(KINDS[part.kind], part.path),),
                    edits=edits,
                )


def _better_spare(topology: Topology, there: Path) -> tuple[Edit, ...]:
    disk = safe_spare(topology, str(there[1]))
    return (Edit(there, disk),) if disk else ()


def _on_one_disk(topology: Topology, there: Path, other: str, disk: str) -> Hit:
    """A spare and what else of its array stands on the same disk."""
    name, edits = str(there[1]), _better_spare(topology, there)
    array = topology.layout.arrays[name]
    return Hit(
        there,
        f"the spare {array.spares[int(there[-1])]} stands on the disk {disk}, as {other} does: once both are in use, "
        f"that disk takes two members of {name} with it, and {array.level} always survives the loss of {losses(array)}",
        "" if edits else "take the spare from a disk of its own",
        severity=Severity.WARNING,
        related=(place("disk", ("hardware", "disks", disk)),),
        edits=edits,
    )


def _other_spare(topology: Topology, part: Component, fatal: Set[Path]) -> str:
    """The place of a better spare; none where nothing of its kind is left that the array survives."""
    section = part.path[:-1]
    if part.kind == "controller":
        ports = with_ports(topology, lambda name: (*section, name) not in fatal, ports=roomiest)
        return f"plug it in elsewhere: {ports}" if ports else ""
    others = {each.path for each in topology.once(shared_parts) if each.path[:-1] == section}
    return f"take a spare that hangs on another {KINDS[part.kind]}" if others - fatal else ""


def _fatal_part(topology: Topology, spare: str, fatal: Set[Path]) -> Component | None:
    """The smallest part with which the spare and the array are lost; never all of the machine."""
    own, every = topology.disks_below(spare), len(topology.layout.hardware.disks)
    parts = topology.once(parts_of_disks).get(min(own), ()) if len(own) == 1 else ()
    return next((part for part in parts if part.path in fatal and len(part.disks) < every), None)


@rule(Severity.WARNING)
def nested_without_redundancy(topology: Topology) -> Iterator[Hit]:
    """Redundant arrays, each in a box of its own, are joined without redundancy.

    Why: each array survives the loss of disks, but the join survives the loss of none of its parts. With one
    array in each shelf or behind each multiplier, any shelf that fails takes the whole pool with it, not its
    own share; with n of them that is n times as likely. A cluster builder in 2009 kept a file system for each
    box for this reason. Spread each array over the boxes, or keep a file system on each.

    Bad:
        hardware:
          disks: {d<0-1><0-3>: {size: 3TB}}
          enclosures: {shelf<0-1>: {disks: [d<1><0-3>]}}
        arrays:
          leg<0-1>: {level: raid6, members: [d<1><0-3>]}
          pool:
            level: raid0
            members: [leg<0-1>]    # <-- here

    Good:
        hardware:
          disks: {d<0-1><0-3>: {size: 3TB}}
          enclosures: {shelf<0-1>: {disks: [d<1><0-3>]}}
        arrays:
          leg<0-1>: {level: raid6, members: [d<0-1><1:0/2>, d<0-1><1:1/3>]}
          pool: {level: raid0, members: [leg<0-1>]}

    Source: "Cheap Man's 40-Disk Storage Cluster" (2009); md(4), "RAID0" and "LINEAR".
    """
    for name, path, legs in _joins(topology):
        for kind in JOINED_IN:
            boxes = [_box(topology, leg, kind) for leg in legs]
            if all(boxes) and len(set(boxes)) > 1 and not any(footing(topology, leg).exposed for leg in legs):
                inside = ", ".join(
                    f"{leg} in {box}" for leg, box in list(zip(legs, boxes, strict=True))[:SHOWN]
                )
                size = f" ({human(topology.devices[name].size)})" if name in topology.devices else ""
                yield Hit(
                    path,
                    f"{name}{size} joins {counted(len(legs), 'array')} without redundancy, each in one {KINDS[kind]} "
                    f"({inside}{', ...' if len(legs) > SHOWN else ''}): the loss of any one takes all of it",
                    f"spread each of them over the {KINDS[kind]}s, or make a file system on each",
                    related=tuple(_described(topology, leg) for leg in legs),
                )
                break


def _joins(topology: Topology) -> Iterator[tuple[str, Path, list[str]]]:
    """Things without redundancy of their own that stand on several devices."""
    for name, path, array in arrays(topology):
        if not redundant(array) and len(array.named_members) > 1:
            yield name, (*path, "members"), list(array.named_members)
    for name, group in topology.layout.volume_groups.items():
        if len(group.devices) > 1:
            yield name, ("volume_groups", name, "devices"), list(group.devices)


def _box(topology: Topology, leg: str, kind: str) -> str | None:
    """The one part of a kind that all disks of a leg hang on."""
    boxes = {topology.wiring.nearest(disk, kind) for disk in topology.disks_below(leg)}
    return boxes.pop() if len(boxes) == 1 else None


def _described(topology: Topology, leg: str) -> Related:
    return place("array", topology.provider[leg].path)
