"""Rules about failure domains: what fails together takes several members at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from raidplan.findings import Severity
from raidplan.rules.engine import Hit, rule
from raidplan.rules.subjects import all_of, arrays, counted, losses, own_disks, place, redundant

if TYPE_CHECKING:
    from raidplan.kinds.array import Array
    from raidplan.topology import Topology
    from raidplan.topology.wiring import Wiring


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
    wiring, controllers = topology.wiring, topology.layout.hardware.controllers
    if len(controllers) < 2:
        return
    free = {name: _free_ports(name, wiring) for name in controllers}
    for name, path, array in arrays(topology):
        disks = own_disks(topology, array)
        controller = _common(wiring, disks, "controller")
        if controller is None or len(disks) < 2 or not redundant(array):
            continue
        if _common(wiring, disks, "multiplier") is not None:
            continue  # the nearer cause has a rule of its own
        keeps = _most_on_one(array)
        room = sum(min(ports, keeps) for other, ports in free.items() if other != controller)
        enough = keeps > 0 and room >= len(disks) - keeps
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


def _common(wiring: Wiring, disks: list[str], kind: str) -> str | None:
    """The component of a kind that all the disks hang on."""
    above = {wiring.nearest(disk, kind) for disk in disks}
    return above.pop() if len(above) == 1 else None


def _most_on_one(array: Array) -> int:
    """How many members may hang on one controller so that the array survives its loss."""
    if array.level == "raid10":
        # Copies lie on neighbours, so every other slot may go.
        return len(array.named_members) // (losses(array) + 1)
    return losses(array)


def _free_ports(controller: str, wiring: Wiring) -> int:
    """Ports of a controller, and of what hangs on it, that nothing is plugged into; 0 where not known."""
    free, seen, waiting = 0, set[str](), [controller]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        plugs = wiring.hanging.get(name, [])
        free += max(0, (wiring.components[name].ports or 0) - len(plugs))
        waiting += (plug.name for plug in plugs if plug.kind != "disk")
    return free
