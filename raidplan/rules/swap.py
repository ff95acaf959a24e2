"""Rules about swap: where it lies, and what its loss takes down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.base.findings import Edit, Path, Related, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.words import counted, listed
from raidplan.rules.lib.areas import Area, spread_swap, swap_areas
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.free_devices import free_partitions
from raidplan.rules.lib.subjects import agreeing, arrays, footing, place, places, redundant
from raidplan.topology import Topology
from raidplan.topology.mounts import mounted


def _places(areas: list[Area], but: Area) -> Iterator[Related]:
    return (place("swap area", ("swap", area.name)) for area in areas if area is not but)


@rule(Severity.ERROR, acceptable=True)
def swap_across_members(topology: Topology) -> Iterator[Hit]:
    """Swap without a mirror lies on several disks, and a redundant array stands on them.

    Why: the array survives the loss of a disk, the machine does not. Pages that were swapped out to the
    dead disk are gone; the processes they belong to die, often init, sshd or the database among them. With
    swap on k disks, any one of k failures does it: 1 - (1 - q)^k, about k times the risk of one disk; a
    raid0 of these disks is no different. A server with RAID10 on four disks and swap on all four crashed when
    one disk died, the array intact; one swap disk in place of four cuts the risk by 75 %. Pulling one such
    disk from a virtual machine gives `Read-error on swap-device` in the kernel log and no more logins.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 300GB, partitions: {swap: {size: 2GiB}, data: {size: rest}}}}
        arrays:
          data: {level: raid10, members: [d<0-3>.data]}
        swap:
          swap0: {device: d0.swap}    # <-- here
          swap1: {device: d1.swap}

    Good:
        hardware:
          disks: {d<0-3>: {size: 300GB, partitions: {swap: {size: 2GiB}, data: {size: rest}}}}
        arrays:
          data: {level: raid10, members: [d<0-3>.data]}
          swap: {level: raid10, members: [d<0-3>.swap]}
        swap:
          swap0: {device: swap}

    Source: *Coder Blog, "New Disk" (about 2009); https://www.linuxjournal.com/article/5898; swapon(8).
    """
    spread = topology.once(spread_swap)
    if spread is not None:
        hurt = list(spread.below)
        touched = frozenset[str]().union(*spread.below.values())
        first = next(area for area in spread.areas if not area.on.exposed.isdisjoint(touched))
        both = [disk for disk in spread.disks if disk in touched]
        which = (
            "which also carry"
            if len(both) == len(spread.disks)
            else f"of which {listed(both, last=' and ')} also {agreeing(both, 'carries', 'carry')}"
        )
        yield Hit(
            first.path,
            f"swap is not mirrored: it is spread over {len(spread.disks)} disks ({listed(spread.disks)}), {which} "
            f"{listed(hurt)}: if any one of them fails, the machine goes down with its arrays intact",
            _mirror(spread.areas, first),
            related=(*_places(spread.areas, first), *(place("array", ("arrays", name)) for name in hurt)),
        )


def _mirror(areas: list[Area], first: Area) -> str:
    """Advice on mirrors in the places of swap."""
    if first.striped is not None:
        return f"make {first.striped} a raid1 or raid10, or put swap on one disk only"
    other = next(
        (area for area in areas if area.plain and area.on.exposed.isdisjoint(first.on.exposed)), None
    )
    if other is not None:
        return f"put swap on a raid1 or raid10 of these places, such as {first.device} and {other.device}, or else on one disk only"
    return "put swap on a raid1 or raid10 over these disks, or else on one disk only"


@rule(Severity.WARNING)
def equal_swap_priorities(topology: Topology) -> Iterator[Hit]:
    """Swap areas without a mirror on different disks have the same priority.

    Why: the kernel deals pages out in turn to areas of equal priority, which makes a stripe of them, a RAID0
    of swap: nearly every process then has pages on every disk, and the loss of any one disk takes something
    from all of them. With different priorities the first area fills before the next is touched; most
    machines never come to the second. Areas without a priority get different ones from kernels before 6.19.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 300GB, partitions: {swap: {size: 2GiB}, data: {size: rest}}}}
        swap:
          swap0:
            device: d0.swap
            priority: 10    # <-- here
          swap1: {device: d1.swap, priority: 10}

    Good:
        hardware:
          disks: {d<0-1>: {size: 300GB, partitions: {swap: {size: 2GiB}, data: {size: rest}}}}
        swap:
          swap0: {device: d0.swap, priority: 10}
          swap1: {device: d1.swap, priority: 5}

    Source: swapon(2), "Priority"; http://unthought.net/Software-RAID.HOWTO/Software-RAID.HOWTO-2.html.
    """
    equal: dict[int, list[Area]] = {}
    for area in topology.once(swap_areas):
        if not area.mirrored and area.priority is not None and area.priority >= 0:
            equal.setdefault(area.priority, []).append(area)
    for priority, areas_of_it in equal.items():
        disks = frozenset[str]().union(*(area.on.exposed for area in areas_of_it))
        first = areas_of_it[0]
        if any(area.on.exposed != first.on.exposed for area in areas_of_it):
            lower = _lower(topology, areas_of_it, priority)
            yield Hit(
                ("swap", first.name, "priority"),
                f"{len(areas_of_it)} swap areas without a mirror ({listed([a.name for a in areas_of_it])}) have "
                f"the priority {priority}: the kernel stripes swap over {len(disks)} disks, and any one takes "
                "pages of nearly every process with it",
                "so that one fills before the next, or put swap on a raid1"
                if lower
                else "give them different priorities, so that one fills before the next, or put swap on a raid1",
                related=tuple(_places(areas_of_it, first)),
                edits=lower,
            )


def _lower(topology: Topology, areas_of_it: Sequence[Area], priority: int) -> tuple[Edit, ...]:
    """Lower priorities for all of some areas but the first; none if too few are free."""
    taken = {area.priority for area in topology.once(swap_areas)}
    free = [number for number in range(priority - 1, -1, -1) if number not in taken]
    pairs = zip(areas_of_it[1:], free, strict=False)
    edits = tuple(Edit(("swap", area.name, "priority"), number) for area, number in pairs)
    return edits if len(edits) == len(areas_of_it) - 1 else ()


@rule(Severity.WARNING)
def swap_on_raid0(topology: Topology) -> Iterator[Hit]:
    """Swap lies on raid0 or linear, which any one disk takes away.

    Why: the pages on a lost disk are gone, and the processes they belong to die, often the whole machine with
    them; over n disks that is about n times as likely as on one. Nothing is gained either: the kernel
    stripes over several areas by itself if they have the same priority. Where a redundant array stands on one
    of these disks, that is an error with a rule of its own.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 300GB}}
        arrays:
          fast: {level: raid0, members: [d<0-1>]}
        swap:
          swap0: {device: fast}    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 300GB}}
        arrays:
          safe: {level: raid1, members: [d<0-1>]}
        swap:
          swap0: {device: safe}

    Source: http://unthought.net/Software-RAID.HOWTO/Software-RAID.HOWTO-2.html; swapon(2), "Priority".
    """
    for area in topology.once(swap_areas) if topology.once(spread_swap) is None else ():
        name = area.striped
        if name is not None and not area.mirrored:
            level, disks = topology.layout.arrays[name].level, len(area.on.exposed)
            yield Hit(
                area.path,
                f"{area.name} lies on {name}, which is {level} over {counted(disks, 'disk')}: "
                "whichever fails takes swapped pages with it",
                f"make {name} a raid1 or raid10, or swap on one disk",
                related=(place("array", ("arrays", name)),),
            )


@rule(Severity.NOTE)
def unmirrored_swap(topology: Topology) -> Iterator[Hit]:
    """The root file system survives the loss of a disk, and swap does not.

    Why: the mirror below `/` is there so that the machine keeps running when a disk dies. With swap on a
    single disk it does not when that disk is the one: pages swapped out are gone, and the processes they
    belong to die. Swap on one disk of four has a quarter of the risk of swap on all four; a mirror has none.
    On several disks, of which no redundant array has one, it is a warning: any of them takes the machine down.
    Where the layout has no root file system, an array on the same disk stands for it.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 300GB, partitions: {root: {size: 40GB}, swap: {size: 2GiB}}}}
        arrays:
          root: {level: raid1, members: [d<0-1>.root]}
        filesystems:
          root: {device: root, type: ext4, mount: /}
        swap:
          swap0: {device: d0.swap}    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 300GB, partitions: {root: {size: 40GB}, swap: {size: 2GiB}}}}
        arrays:
          root: {level: raid1, members: [d<0-1>.root]}
          swap: {level: raid1, members: [d<0-1>.swap]}
        filesystems:
          root: {device: root, type: ext4, mount: /}
        swap:
          swap0: {device: swap}

    Source: *Coder Blog, "New Disk" (about 2009).
    """
    plain = [area for area in topology.once(swap_areas) if area.plain]
    disks = sorted(frozenset[str]().union(*(area.on.exposed for area in plain)))
    safe = _survivor(topology, disks) if disks and topology.once(spread_swap) is None else None
    if safe is not None:
        purpose, word, path = safe
        alone = len(disks) == 1
        swap = f"swap on {disks[0]} alone" if alone else f"swap on any of {listed(disks, last=' and ')}"
        yield Hit(
            plain[0].path,
            f"the {purpose}{word} {path[-1]} survives the loss of a disk, and {swap} does not",
            f"put swap on a raid1 too{_partner(topology, plain[0]) if alone else ''}",
            severity=None if alone else Severity.WARNING,
            related=(*places("disk", ("hardware", "disks"), disks), place(word, path)),
        )


def _survivor(topology: Topology, disks: Sequence[str]) -> tuple[str, str, Path] | None:
    """The thing that goes on without a disk, by its purpose, its noun and its place: the root file system, or without one an array with a member on these disks."""
    root = topology.once(mounted).get("/")
    if root is None:
        held = (
            name
            for name, _, array in arrays(topology)
            if redundant(array) and not topology.disks_below(name).isdisjoint(disks)
        )
        name = next(held, None)
        return ("", "array", ("arrays", name)) if name is not None else None
    device = topology.layout.filesystems[root].device
    safe = topology.disks_below(device) and not footing(topology, device).exposed
    return ("root ", "file system", ("filesystems", root)) if safe else None


def _partner(topology: Topology, area: Area) -> str:
    """`, of d0.swap and d1.swap`: the other half that is there already, if one is."""
    least = topology.devices[area.device].size if area.device in topology.devices else 0
    there = [
        name
        for name, size in topology.once(free_partitions).items()
        if least and size >= least and name.partition(".")[0] not in area.on.exposed
    ]
    # The one that was made for this is rather the smallest, or has its name.
    part = area.device.partition(".")[2]
    there.sort(key=lambda name: (name.partition(".")[2] != part, topology.devices[name].size))
    return f", of {area.device} and {there[0]}" if there else ""


@rule(Severity.NOTE)
def swap_on_parity(topology: Topology) -> Iterator[Hit]:
    """Swap lies on an array with parity.

    Why: it works and survives the loss of a disk. But swap writes single pages, and each costs four disk
    operations on raid5 (read data and parity, write both) and six on raid6, and pages of the stripe cache,
    just when memory is short. A mirror writes two.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 300GB}}
        arrays:
          s0: {level: raid5, members: [d<0-2>]}
        swap:
          swap0: {device: s0}    # <-- here

    Good:
        hardware:
          disks: {d<0-2>: {size: 300GB}}
        arrays:
          s0: {level: raid10, members: [d<0-2>]}
        swap:
          swap0: {device: s0}

    Source: md(4), "RAID4", "RAID5" and "RAID6".
    """
    for area in topology.once(swap_areas):
        name = next((n for n in area.on.arrays if LEVELS[topology.layout.arrays[n].level].parity), None)
        if name is not None:
            array = topology.layout.arrays[name]
            yield Hit(
                area.path,
                f"{area.name} lies on {name}, which is {array.level}: each page swapped out costs "
                f"{2 + 2 * LEVELS[array.level].parity} disk operations",
                "put swap on a raid1 or raid10",
                related=(place("array", ("arrays", name)),),
            )
