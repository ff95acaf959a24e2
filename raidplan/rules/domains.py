"""Rules about failure domains: what fails together takes several members at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from raidplan.findings import Path, Severity
from raidplan.rules.engine import Hit, rule
from raidplan.rules.subjects import arrays, counted, losses, member_disks, place, redundant

if TYPE_CHECKING:
    from raidplan.kinds.array import Array
    from raidplan.topology import Topology
    from raidplan.topology.wiring import Wiring


@rule(Severity.WARNING)
def array_behind_one_multiplier(topology: Topology) -> Iterator[Hit]:
    """All members of an array hang behind one port multiplier.

    Why: everything the array reads or writes goes through one SATA link: 3Gbps are 300 MB/s on the line, so
    five disks have 60 MB/s each, where one 7200 rpm disk streams 150. And the multiplier is a single point
    of failure; one hung disk can reset the port and all its neighbours with it. Member k of every array
    behind multiplier k was the arrangement of the 40-disk machine that read about 500 and wrote 344 MB/s.

    **Bad**

    ```yaml
    hardware:
      controllers: {sil0: {ports: 8}}
      multipliers: {pm<0-4>: {behind: sil0, speed: 3Gbps, ports: 5}}
      disks: {d<0-4><0-4>: {behind: pm<1>, port: <2>, size: 3TB}}
    arrays:
      s0:
        level: raid6
        members: [d0<0-4>]    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      controllers: {sil0: {ports: 8}}
      multipliers: {pm<0-3>: {behind: sil0, speed: 3Gbps, ports: 5}}
      disks: {d<0-3><0-4>: {behind: pm<1>, port: <2>, size: 3TB}}
    arrays:
      s<0-4>: {level: raid6, members: [d<0-3><1>]}
    ```

    Source: E. Aronovich, "Cheap network storage system" (2012);
    https://staging.45drives.com/blog/Hardware/our-biggest-design-decision-direct-wired-or-backplane.
    """
    for name, path, array in arrays(topology):
        disks = _own_disks(topology, array)
        multiplier = _common(topology.wiring, disks, "multiplier")
        if len(disks) < 2 or multiplier is None:
            continue
        speed = topology.layout.hardware.multipliers[multiplier].speed
        # 8b/10b: ten bits on the line for each byte.
        share = f", {speed / 1e7 / len(disks):.0f} MB/s for each" if speed else ""
        others = len(topology.layout.hardware.multipliers) > 1
        yield Hit(
            (*path, "members"),
            f"{_all(disks)} members of {name} share the one uplink of {multiplier}{share}, and fail with it",
            "take the members from behind different multipliers"
            + ("; members: {from: [...], count: N, spread: multiplier} picks them so" if others else ""),
            related=(place("multiplier", topology.wiring.components[multiplier].path),),
        )


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
        disks = _own_disks(topology, array)
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
            f"{_all(disks)} members of {name} hang on {controller}: without that controller the array "
            f"stops, although it survives the loss of {counted(losses(array), 'disk')}",
            f"put {len(disks) - keeps} of them on free ports of the other controllers"
            if enough
            else "the other controllers have too few free ports to change that; keep a second card at hand",
            severity=None if enough else Severity.NOTE,
            related=(place("controller", wiring.components[controller].path),),
        )


def _own_disks(topology: Topology, array: Array) -> list[str]:
    """One disk for each member, if all members are disks or partitions; arrays of arrays have none."""
    below = member_disks(topology, array)
    nested = any(topology.provider[member].path[0] == "arrays" for member in array.named_members if below)
    return [] if nested else [min(disks) for disks in below]


def _all(disks: list[str]) -> str:
    return "both" if len(disks) == 2 else f"all {len(disks)}"


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


@rule(Severity.ERROR)
def two_members_one_disk(topology: Topology) -> Iterator[Hit]:
    """Two members of a redundant array stand on one disk.

    Why: the disk takes both with it, and redundancy counts members. A raid1 of two partitions of one disk
    protects from nothing; a raid5 with two members on one disk is lost with that disk. The heads also travel
    between both partitions at every stripe.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-2>: {size: 3TB, partitions: {a: {size: 1TB}, b: {size: 1TB}}}}
    arrays:
      s0:
        level: raid5
        members:
          - d<0-2>.a
          - d2.b    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 3TB, partitions: {a: {size: 1TB}, b: {size: 1TB}}}}
    arrays:
      s0: {level: raid5, members: [d<0-3>.a]}
    ```

    Source: http://unthought.net/Software-RAID.HOWTO/Software-RAID.HOWTO-2.html.
    """
    for name, path, array in arrays(topology):
        first: dict[str, str] = {}
        for number, member in enumerate(array.named_members if redundant(array) else ()):
            disks = sorted(topology.disks_below(member))
            shared = next((disk for disk in disks if first.get(disk, member) != member), None)
            if shared is not None:
                yield Hit(
                    (*path, "members", number),
                    f"{first[shared]} and {member} stand on the disk {shared}: it takes two members of {name} "
                    f"with it, and {array.level} always survives the loss of {losses(array)}",
                    "take each member from a disk of its own",
                    related=(place("disk", ("hardware", "disks", shared)),),
                )
            for disk in disks:
                first.setdefault(disk, member)


@rule(Severity.ERROR)
def journal_on_member(topology: Topology) -> Iterator[Hit]:
    """The write journal of an array lies on a disk of one of its members.

    Why: the journal is there for the moment when a member is lost during a write; on the same disk both are
    lost together, and md makes the array read-only without its journal. All data is written to the journal
    first, so that disk also seeks back and forth at every write.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-2>: {size: 3TB, partitions: {log: {size: 1GiB}, data: {size: rest}}}}
    arrays:
      s0:
        level: raid5
        members: [d<0-2>.data]
        consistency: journal
        journal: d0.log    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks:
        d<0-2>: {size: 3TB}
        nvme<0-1>: {size: 400GB, rotational: false, partitions: {log: {size: 10GiB}}}
    arrays:
      log: {level: raid1, members: [nvme<0-1>.log]}
      s0: {level: raid5, members: [d<0-2>], consistency: journal, journal: log}
    ```

    Source: md(4), "RAID456 WRITE JOURNAL"; https://docs.kernel.org/driver-api/md/raid5-cache.html.
    """
    for name, path, array in arrays(topology):
        if array.journal is None:
            continue
        journal: Path = (*path, "journal")
        disks = topology.disks_below(array.journal)
        member = next((m for m in array.named_members if topology.disks_below(m) & disks), None)
        if member is not None:
            shared = min(topology.disks_below(member) & disks)
            yield Hit(
                journal,
                f"the journal of {name} lies on {shared}, and so does its member {member}: both are lost together",
                "put the journal on disks of its own, best a raid1 of two SSDs",
                related=(place("disk", ("hardware", "disks", shared)),),
            )
