"""Rules about failure domains: what fails together takes several members at once."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from raidplan.base.findings import Path, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.words import SHOWN, and_more, counted, listed
from raidplan.estimate.survival import Component
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.better_disks import apart, booted, ports_for, spread_over_controllers
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.exchange import exchange
from raidplan.rules.lib.free_devices import room_elsewhere
from raidplan.rules.lib.parts import (
    KINDS,
    behind_controllers,
    behind_multipliers,
    disks_of_parts,
    fatal_parts,
    most_together,
    parts_of_disks,
)
from raidplan.rules.lib.subjects import agreeing, all_of, arrays, losses, own_disks, place
from raidplan.topology import Topology


@rule(Severity.WARNING)
def array_behind_one_controller(topology: Topology) -> Iterator[Hit]:
    """All members of a redundant array hang on one controller, though there is another.

    Why: the loss of that card stops the array at once, whatever its level. Usually it can be assembled again
    behind another card, but that is downtime, and writes under way at that moment may be half done. It is a
    warning where the free ports of other controllers suffice to hold so many members that no controller
    keeps more than the array can lose (half of them for the mirrored pairs of raid10), and a note where they
    do not. For what the machine boots from only ports count whose disks the firmware shows. Arrays on the
    same disks are named together. With a single controller there is nothing to choose, and nothing is said.

    Bad:
        hardware:
          controllers: {ahci: {ports: 6}, hba0: {ports: 8}}
          disks: {d<0-1>: {behind: ahci, port: <1>, size: 3TB}}
        arrays:
          s0:
            level: raid1
            members: [d<0-1>]    # <-- here

    Good:
        hardware:
          controllers: {ahci: {ports: 6}, hba0: {ports: 8}}
          disks:
            d0: {behind: ahci, port: 0, size: 3TB}
            d1: {behind: hba0, port: 0, size: 3TB}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}

    Source: md(4), "RECOVERY" and "UNCLEAN SHUTDOWN"; E. Aronovich, "Cheap network storage system" (2012).
    """
    if len(topology.layout.hardware.controllers) < 2:
        return
    for (controller, disks), names in _on_one_controller(topology).items():
        name = next((each for each in names if each in topology.once(booted)), names[0])
        array, others = topology.layout.arrays[name], [each for each in names if each != name]
        keeps, ports = most_together(array), ports_for(topology, name)
        enough = room_elsewhere(topology, name, controller, keeps, ports) >= len(disks) - keeps
        edits = exchange(topology, name) if not others else ()
        so = f"; so {agreeing(others, 'does', 'do')} {listed(others, last=' and ')}" if others else ""
        yield Hit(
            ("arrays", name, "members"),
            f"{all_of(disks)} members of {name} hang on {controller}: without that controller the array "
            f"stops, although it survives the loss of {counted(losses(array), 'disk')}{so}",
            ""
            if edits
            else spread_over_controllers(topology, name, controller, len(disks) - keeps if enough else 0),
            severity=None if enough else Severity.NOTE,
            related=(place("controller", topology.wiring.components[controller].path),),
            edits=edits,
        )


def _on_one_controller(topology: Topology) -> dict[tuple[str, frozenset[str]], list[str]]:
    """The redundant arrays that lie behind one controller, by that and by their disks."""
    found: dict[tuple[str, frozenset[str]], list[str]] = {}
    for name, _, array in arrays(topology):
        disks = frozenset(own_disks(topology, array)) if most_together(array) else frozenset()
        (controller, *more) = topology.once(behind_controllers)[name] or [None]
        nearer = topology.once(behind_multipliers)[name]
        nearest = len(nearer) == 1 and None not in nearer  # that cause has a rule of its own
        if len(disks) > 1 and controller is not None and not more and not nearest:
            found.setdefault((controller, disks), []).append(name)
    return found


@rule(Severity.WARNING)
def component_loss_kills_array(topology: Topology) -> Iterator[Hit]:
    """A component takes more members of a redundant array with it than the array can lose.

    Why: a multiplier, an expander, a shelf or a supply fails as one, and so does a controller. If more members
    hang on it than the level can lose, the array fails at once; most often it can be assembled by force
    afterwards, but that is downtime, and a parity array that was writing may be inconsistent. One hung disk can
    reset all ports of a multiplier. A controller or a supply is named only where there are several; a
    controller is a note where the free ports of the others cannot take the members.

    Bad:
        hardware:
          controllers: {hba0: {ports: 8}}
          disks: {d<0-1><0-3>: {behind: hba0, size: 3TB}}
          enclosures: {shelf<0-1>: {disks: [d<1><0-3>]}}
        arrays:
          s0:
            level: raid6
            members: [d<0-1><0-3>]    # <-- here

    Good:
        hardware:
          controllers: {hba0: {ports: 8}}
          disks: {d<0-3><0-1>: {behind: hba0, size: 3TB}}
          enclosures: {shelf<0-3>: {disks: [d<1><0-1>]}}
        arrays:
          s0: {level: raid6, members: [d<0-3><0-1>]}

    Source: md(4), "RECOVERY" and "UNCLEAN SHUTDOWN"; https://github.com/openwrt/openwrt/pull/2007 (port resets);
    E. Aronovich, "Cheap network storage system" (2012).
    """
    for name, path, array in arrays(topology):
        killers = _killers(topology, name, array) if most_together(array) else []
        for severity in (Severity.WARNING, Severity.NOTE):
            some = [killer for killer in killers if killer.severity is severity]
            if some:
                edits = exchange(topology, name)
                first, count = some[0], len(array.named_members)
                taken = f"all {count}" if first.members == count else f"{first.members} of its {count}"
                more = "".join(f", {each.part.name} {each.members}" for each in some[1:SHOWN])
                rest = f" {and_more(len(some) - SHOWN)} like them" if len(some) > SHOWN else ""
                yield Hit(
                    (*path, "members"),
                    f"{name} survives the loss of {counted(losses(array), 'disk')}, and the {KINDS[first.part.kind]} "
                    f"{first.part.name} takes {taken} members with it{more}{rest}",
                    "" if edits else _apart(topology, name, array, first),
                    severity=severity,
                    edits=edits,
                    related=tuple(place(KINDS[each.part.kind], each.part.path) for each in some[:SHOWN]),
                )


class Killer(NamedTuple):
    """A component without which an array is lost, how many members it takes, and how grave that is."""

    part: Component
    members: int
    severity: Severity


def _killers(topology: Topology, name: str, array: Array) -> list[Killer]:
    """The smallest ones, without those that another rule names."""
    found: dict[Path, Killer] = {}
    nested = not own_disks(topology, array)
    for part, members in topology.once(fatal_parts).get(name, ()):
        whole = part.kind == "controller" and members == len(array.named_members) and not nested
        pairs = LEVELS[array.level].arranged and members <= most_together(array)
        severity = _gravity(topology, name, array, part, members)
        if severity is not None and not (whole or pairs or _holds_one_of(topology, part, found)):
            found[part.path] = Killer(part, members, severity)
    return list(found.values())


def _holds_one_of(topology: Topology, part: Component, found: Container[Path]) -> bool:
    """A part that was found already lies inside this one."""
    behind = topology.once(disks_of_parts)
    smaller = (each.path for disk in part.disks for each in topology.once(parts_of_disks)[disk])
    return any(path in found and behind[path] <= behind[part.path] for path in smaller)


def _gravity(topology: Topology, name: str, array: Array, part: Component, members: int) -> Severity | None:
    """The severity of a part that takes an array along; None where there is nothing to choose."""
    if part.kind == "power":
        return Severity.WARNING if topology.once(_feeding) > 1 else None
    if part.kind != "controller":
        return Severity.WARNING
    if len(topology.layout.hardware.controllers) < 2:
        return None
    keeps = most_together(array)
    ports = ports_for(topology, name)
    enough = room_elsewhere(topology, name, part.name, keeps, ports) >= members - keeps
    return Severity.WARNING if enough else Severity.NOTE


def _feeding(topology: Topology) -> int:
    """The number of supplies that feed something."""
    return sum(bool(supply.feeds) for supply in topology.layout.hardware.power.values())


def _apart(topology: Topology, name: str, array: Array, killer: Killer) -> str:
    """Advice about a component that takes too many members."""
    if killer.part.kind == "controller":
        enough = killer.severity is Severity.WARNING
        excess = killer.members - most_together(array) if enough else 0
        return spread_over_controllers(topology, name, killer.part.name, excess)
    return apart(topology, array, killer.part)
