"""Rules about failure domains: what fails together takes several members at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from raidplan.findings import Severity
from raidplan.rules.engine import Hit, rule
from raidplan.rules.free import LOOKED_AT, are_free, fitting, free_disks, room_elsewhere
from raidplan.rules.parts import (
    KINDS,
    behind_controllers,
    behind_multipliers,
    disks_of_parts,
    fatal_parts,
    most_together,
)
from raidplan.rules.subjects import all_of, arrays, counted, losses, own_disks, place, redundant

if TYPE_CHECKING:
    from raidplan.kinds.array import Array
    from raidplan.survival import Component
    from raidplan.topology import Topology


@rule(Severity.WARNING)
def array_behind_one_controller(topology: Topology) -> Iterator[Hit]:
    """All members of a redundant array hang on one controller, though there is another.

    Why: the loss of that card stops the array at once, whatever its level. Usually it can be assembled again
    behind another card, but that is downtime, and writes under way at that moment may be half done. It is a
    warning where the free ports of other controllers suffice to hold so many members that no controller
    keeps more than the array can lose (half of them for the mirrored pairs of raid10), and a note where they
    do not. With a single controller there is nothing to choose, and nothing is said.

    **Bad**

    ```yaml
    hardware:
      controllers: {ahci: {ports: 6}, hba0: {ports: 8}}
      disks: {d<0-1>: {behind: ahci, port: <1>, size: 3TB}}
    arrays:
      s0:
        level: raid1
        members: [d<0-1>]    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      controllers: {ahci: {ports: 6}, hba0: {ports: 8}}
      disks:
        d0: {behind: ahci, port: 0, size: 3TB}
        d1: {behind: hba0, port: 0, size: 3TB}
    arrays:
      s0: {level: raid1, members: [d<0-1>]}
    ```

    Source: md(4), "RECOVERY" and "UNCLEAN SHUTDOWN"; E. Aronovich, "Cheap network storage system" (2012).
    """
    wiring = topology.wiring
    if len(topology.layout.hardware.controllers) < 2:
        return
    for name, path, array in arrays(topology):
        disks = own_disks(topology, array) if redundant(array) else []
        (controller, *more) = topology.once(behind_controllers)[name] or [None]
        if len(disks) < 2 or controller is None or more:
            continue
        if len(topology.once(behind_multipliers)[name]) == 1 and wiring.nearest(disks[0], "multiplier"):
            continue  # the nearer cause has a rule of its own
        keeps = most_together(array)
        enough = keeps > 0 and room_elsewhere(topology, name, controller, keeps) >= len(disks) - keeps
        yield Hit(
            (*path, "members"),
            f"{all_of(disks)} members of {name} hang on {controller}: without that controller the array "
            f"stops, although it survives the loss of {counted(losses(array), 'disk')}",
            f"put {len(disks) - keeps} of them on free ports of the other controllers"
            if enough
            else "the other controllers have too few free ports to change that; keep a second card at hand",
            severity=None if enough else Severity.NOTE,
            related=(place("controller", wiring.components[controller].path),),
        )


@rule(Severity.WARNING)
def component_loss_kills_array(topology: Topology) -> Iterator[Hit]:
    """A component takes more members of a redundant array with it than the array can lose.

    Why: a multiplier, an expander, a shelf or a supply fails as one, and so does a controller. If more members
    hang on it than the level can lose, the array fails at once; most often it can be assembled by force
    afterwards, but that is downtime, and a parity array that was writing may be inconsistent. One hung disk can
    reset all ports of a multiplier. A controller or a supply is named only where there are several; a
    controller is a note where the free ports of the others cannot take the members.

    **Bad**

    ```yaml
    hardware:
      controllers: {hba0: {ports: 8}}
      disks: {d<0-1><0-3>: {behind: hba0, size: 3TB}}
      enclosures: {shelf<0-1>: {disks: [d<1><0-3>]}}
    arrays:
      s0:
        level: raid6
        members: [d<0-1><0-3>]    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      controllers: {hba0: {ports: 8}}
      disks: {d<0-3><0-1>: {behind: hba0, size: 3TB}}
      enclosures: {shelf<0-3>: {disks: [d<1><0-1>]}}
    arrays:
      s0: {level: raid6, members: [d<0-3><0-1>]}
    ```

    Source: md(4), "RECOVERY" and "UNCLEAN SHUTDOWN"; https://github.com/openwrt/openwrt/pull/2007 (port resets);
    E. Aronovich, "Cheap network storage system" (2012).
    """
    for name, path, array in arrays(topology):
        killers = _killers(topology, name, array) if redundant(array) else []
        for severity in (Severity.WARNING, Severity.NOTE):
            some = [killer for killer in killers if killer.severity is severity]
            if some:
                (first, *others), count = some, len(array.named_members)
                taken = (
                    f"all {count} members"
                    if first.members == count
                    else f"{first.members} of its {count} members"
                )
                more = "".join(f", {each.part.name} {each.members}" for each in others[:3])
                yield Hit(
                    (*path, "members"),
                    f"{name} survives the loss of {counted(losses(array), 'disk')}, and the {KINDS[first.part.kind]} "
                    f"{first.part.name} takes {taken} with it{more}",
                    _apart(topology, array, first),
                    severity=severity,
                    related=tuple(place(KINDS[each.part.kind], each.part.path) for each in some),
                )


@dataclass(frozen=True, slots=True)
class Killer:
    """A component without which an array is lost, how many members it takes, and how grave that is."""

    part: Component
    members: int
    severity: Severity


def _killers(topology: Topology, name: str, array: Array) -> list[Killer]:
    """The smallest ones, without those that another rule names."""
    found: list[Killer] = []
    below = [topology.disks_below(member) for member in array.named_members]
    nested = not own_disks(topology, array)
    for part in topology.once(fatal_parts).get(name, ()):
        gone = topology.once(disks_of_parts)[part.path]
        members = sum(disks <= gone for disks in below)
        whole = part.kind == "controller" and members == len(below) and not nested
        pairs = array.level == "raid10" and members <= most_together(array)
        inside = any(topology.once(disks_of_parts)[other.part.path] <= gone for other in found)
        severity = _gravity(topology, name, array, part, members)
        if severity is not None and not (whole or pairs or inside):
            found.append(Killer(part, members, severity))
    return found


def _gravity(topology: Topology, name: str, array: Array, part: Component, members: int) -> Severity | None:
    """None where there is nothing to choose."""
    hardware, keeps = topology.layout.hardware, most_together(array)
    if part.kind == "controller":
        enough = keeps > 0 and room_elsewhere(topology, name, part.name, keeps) >= members - keeps
        return None if len(hardware.controllers) < 2 else Severity.WARNING if enough else Severity.NOTE
    if part.kind == "power":
        return Severity.WARNING if sum(bool(supply.feeds) for supply in hardware.power.values()) > 1 else None
    return Severity.WARNING


def _apart(topology: Topology, array: Array, killer: Killer) -> str:
    kind, keeps = killer.part.kind, most_together(array)
    if kind == "controller":
        if killer.severity is Severity.NOTE:
            return "the other controllers have too few free ports to change that; keep a second card at hand"
        return f"put {killer.members - keeps} of them on free ports of the other controllers"
    gone = topology.once(disks_of_parts)[killer.part.path]
    free = [
        disk for disk in fitting(topology, array, topology.once(free_disks), LOOKED_AT) if disk not in gone
    ][:4]
    return f"leave at most {keeps} of them to one {KINDS[kind]}" + (f"; {are_free(free)}" if free else "")
