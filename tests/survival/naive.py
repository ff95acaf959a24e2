"""A second model of what survives, slow and plain: it lays chunks on disks and looks who is left.

It shares nothing with raidplan: a machine is nested dictionaries, as YAML would give them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations
from typing import Any

Machine = dict[str, Any]
CHUNKS = 60
"""So many chunks of a RAID10 are laid out: every pattern repeats long before."""


def alive(machine: Machine, device: str, lost: Collection[str]) -> bool:
    """A device still reads and writes."""
    disk, _, rest = device.partition(".")
    if disk in machine["hardware"]["disks"]:
        return disk not in lost
    if rest:
        return all(alive(machine, pv, lost) for pv in machine["volume_groups"][disk]["devices"])
    array = machine["arrays"][device]
    up = [alive(machine, member, lost) for member in array["members"]]
    if "journal" in array and not alive(machine, array["journal"], lost):
        return False
    down = up.count(False)
    match array["level"]:
        case "linear" | "raid0":
            return down == 0
        case "raid1":
            return down < len(up)
        case "raid4" | "raid5":
            return down <= 1
        case "raid6":
            return down <= 2
        case _:
            rows = raid10_rows(array.get("layout", "n2"), len(up))
            return all(any(up[slot] for slot in slots) for slots in rows)


def raid10_rows(layout: str, members: int) -> list[set[int]]:
    """For each chunk, the slots that hold a copy of it: written down row by row, as md(4) describes it."""
    kind, copies = layout[0], int(layout[1:])
    grid: list[list[int]] = []
    match kind:
        case "n":  # every chunk is repeated, then the next one follows
            line = [chunk for chunk in range(CHUNKS) for _ in range(copies)]
            grid = [line[start : start + members] for start in range(0, len(line), members)]
        case "o":  # every row is repeated, one slot further
            for start in range(0, CHUNKS, members):
                row = list(range(start, start + members))
                grid += [row[-turn:] + row[:-turn] if turn else row for turn in range(copies)]
        case "f":  # a whole section of rows is repeated, one slot further
            rows = [list(range(start, start + members)) for start in range(0, CHUNKS, members)]
            for turn in range(copies):
                grid += [row[-turn:] + row[:-turn] if turn else row for row in rows]
    held: dict[int, set[int]] = {}
    for row in grid:
        for slot, chunk in enumerate(row):
            held.setdefault(chunk, set()).add(slot)
    # The last rows may be cut off in the middle of a chunk's copies.
    return [slots for chunk, slots in held.items() if chunk < CHUNKS - members]


def things(machine: Machine) -> Iterator[tuple[str, str]]:
    """The arrays, volume groups, file systems and swap areas."""
    for section in ("arrays", "volume_groups", "filesystems", "swap"):
        yield from ((section, name) for name in machine[section])


def goes_on(machine: Machine, thing: tuple[str, str], lost: Collection[str]) -> bool:
    """A thing still reads and writes."""
    section, name = thing
    match section:
        case "arrays":
            return alive(machine, name, lost)
        case "volume_groups":
            return alive(machine, f"{name}.x", lost)
        case "filesystems":
            return alive(machine, machine[section][name]["device"], lost)
        case _:
            swap = machine["swap"][name]
            if "file" not in swap:
                return alive(machine, swap["device"], lost)
            home = [
                (len(entry["mount"]), fs)
                for fs, entry in machine["filesystems"].items()
                if swap["file"].startswith(entry["mount"].rstrip("/") + "/")
            ]
            return goes_on(machine, ("filesystems", max(home)[1]), lost) if home else True


def machine_goes_on(machine: Machine, lost: Collection[str]) -> bool:
    """The running system: swap, and what it is mounted on."""
    system = [n for n, fs in machine["filesystems"].items() if fs["mount"] in ("/", "/usr", "/var")]
    return all(goes_on(machine, ("swap", name), lost) for name in machine["swap"]) and all(
        goes_on(machine, ("filesystems", name), lost) for name in system
    )


def lost_with(machine: Machine, kind: str, name: str) -> set[str]:
    """The disks that are gone without a component."""
    return lost_together(machine, [(kind, name)])


def lost_together(machine: Machine, lost: Iterable[tuple[str, str]]) -> set[str]:
    """The disks that are gone without several components, by kind and name."""
    supplies = {name for kind, name in lost if kind == "power"}
    others = {name for kind, name in lost if kind != "power"}
    return {disk for disk in machine["hardware"]["disks"] if _gone(machine, disk, supplies, others)}


def _gone(machine: Machine, thing: str, supplies: set[str], others: set[str]) -> bool:
    hardware = machine["hardware"]
    wired = {
        **hardware["buses"],
        **hardware["controllers"],
        **hardware["multipliers"],
        **hardware["expanders"],
    }
    entry = {**wired, **hardware["disks"]}[thing]
    shelves = {shelf for shelf, e in hardware["enclosures"].items() if thing in e["disks"]}
    feeders = {s for s, e in hardware["power"].items() if {thing, *shelves} & set(e["feeds"])}
    if feeders and feeders <= supplies:
        return True
    if {thing, *shelves} & others:
        return True
    return "behind" in entry and _gone(machine, entry["behind"], supplies, others)


def smallest_sets(machine: Machine, thing: tuple[str, str]) -> set[frozenset[str]]:
    """All sets of the least number of disks, at most three, that stop a thing."""
    for count in (1, 2, 3):
        found = {
            frozenset(lost)
            for lost in combinations(machine["hardware"]["disks"], count)
            if not goes_on(machine, thing, lost)
        }
        if found:
            return found
    return set()


def parts(machine: Machine) -> list[tuple[str, str]]:
    """Every component, by kind and name."""
    kinds = {"buses": "bus", "power": "power"}
    return [
        (kinds.get(section, section.removesuffix("s")), name)
        for section, entries in machine["hardware"].items()
        for name in entries
    ]


def smallest_component_sets(machine: Machine, thing: tuple[str, str]) -> set[frozenset[tuple[str, str]]]:
    """All sets of the least number of components of any kind, at most three, that stop a thing."""
    for count in (1, 2, 3):
        found = {
            frozenset(some)
            for some in combinations(parts(machine), count)
            if not goes_on(machine, thing, lost_together(machine, some))
        }
        if found:
            return found
    return set()
