"""Rules about a level and what it takes: members, spares, the arrangement of data."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity, nearest
from raidplan.base.levels import LEVELS
from raidplan.base.mistake import Mistake
from raidplan.base.words import counted, listed
from raidplan.geometry.md_shape import raid10_layout
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.meant_range import meant_range
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import agreeing, arrays, places, redundant
from raidplan.topology import Topology


@rule(Severity.ERROR)
def too_few_members(topology: Topology) -> Iterator[Hit]:
    """An array has fewer members than its level needs.

    Why: mdadm refuses to create it: "at least 4 raid-devices needed for level 6". raid6 needs four members,
    every other level two; mdadm takes one alone for linear, raid0 and raid1 only with --force, which
    raidplan does not say.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 3TB}}
        arrays:
          s0: {level: raid6, members: [d<0-2>]}    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid6, members: [d<0-3>]}

    Source: https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/Create.c.
    """
    for name, path, array in arrays(topology):
        count, least = len(array.named_members), LEVELS[array.level].minimum
        meant = any(
            meant_range(each, topology.provider)
            for each in array.named_members
            if each not in topology.provider
        )
        if isinstance(array.members, tuple) and count < least and not meant:
            smaller = [name for name in ("raid1", "raid5", "raid10") if LEVELS[name].minimum <= count]
            advice = f", or choose {listed(smaller, last=' or ')}" if smaller else ""
            yield Hit(
                (*path, "members"),
                f"{array.level} needs at least {least} members, and {name} has {count}",
                f"add {counted(least - count, 'member')}{advice}",
            )


@rule(Severity.ERROR)
def spares_without_redundancy(topology: Topology) -> Iterator[Hit]:
    """An array whose level has no redundancy is given spares.

    Why: a spare is filled from what the other members still know, and raid0 and linear know nothing about a
    lost member. mdadm refuses: "spare-devices setting is incompatible with raid level 0".

    Bad:
        hardware:
          disks: {d<0-2>: {size: 3TB}}
        arrays:
          scratch:
            level: raid0
            members: [d<0-1>]
            spares: [d2]    # <-- here

    Good:
        hardware:
          disks: {d<0-2>: {size: 3TB}}
        arrays:
          scratch: {level: raid1, members: [d<0-1>], spares: [d2]}

    Source: https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/Create.c.
    """
    for name, path, array in arrays(topology):
        if array.spares and not redundant(array):
            yield Hit(
                (*path, "spares"),
                f"{array.level} cannot use a spare, and {name} has {len(array.spares)}",
                "or choose a level with redundancy",
                edits=(Edit((*path, "spares"), None),),
            )


@rule(Severity.ERROR)
def invalid_array_layout(topology: Topology) -> Iterator[Hit]:
    """An array's `layout` is none that its level has, or asks for more copies than members.

    Why: mdadm refuses unknown words. raid5 and raid6 take the names of parity layouts, raid10 a letter and a
    number of copies: `n2` near, `f2` far, `o2` offset, with 2 to 200 copies and at least as many members.
    linear, raid1 and raid4 have none; raid0 has `original` and `alternate`, which matter for members of unequal
    size only.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0:
            level: raid10
            members: [d<0-1>]
            layout: n3    # <-- here

    Good:
        hardware:
          disks: {d<0-2>: {size: 3TB}}
        arrays:
          s0: {level: raid10, members: [d<0-2>], layout: n3}

    Source: md(4), "RAID10"; mdadm(8), `--layout`;
    https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/util.c (`parse_layout_10`).
    """
    for _, path, array in arrays(topology):
        problem = _layout_problem(array) if array.layout is not None else None
        if problem is not None:
            message, hint, instead = problem
            yield Hit((*path, "layout"), message, hint, edits=(Edit((*path, "layout"), instead),))


def _layout_problem(array: Array) -> tuple[str, str, str | None] | None:
    """The fault of the layout word, other remedies, and the word for its place."""
    word, known = array.layout or "", LEVELS[array.level].layouts
    if not known:
        return f"{array.level} takes no layout", "", None
    if LEVELS[array.level].arranged:
        try:
            # As if there were members enough: too few of them is another rule's finding.
            raid10_layout(word, max(len(array.named_members), LEVELS[array.level].minimum))
        except Mistake as error:
            return error.message, "or f2 or o2: near, far or offset, and the number of copies", "n2"
    elif word not in known:
        return (
            f"'{word}' is not a layout of {array.level}",
            f"or one of {', '.join(known)}",
            nearest(word, known) or None,
        )
    return None


@rule(Severity.NOTE)
def linear_in_new_kernels(topology: Topology) -> Iterator[Hit]:
    """An array is linear, which some kernels do not have.

    Why: md's linear level was taken out of kernel 6.8 and came back with 6.14, and with later releases of the
    stable series in between. On a kernel without it the array can neither be made nor started, and its data
    are out of reach until another kernel is booted. LVM joins disks in the same way on every kernel.

    Bad:
        hardware:
          disks: {d0: {size: 2TB}, d1: {size: 3TB}}
        arrays:
          chain:
            level: linear    # <-- here
            members: [d<0-1>]

    Good:
        hardware:
          disks: {d0: {size: 2TB}, d1: {size: 3TB}}
        volume_groups:
          chain: {devices: [d<0-1>], volumes: {all: {size: 100%free}}}

    Source: Linux commit 127186cfb184, "md: reintroduce md-linear".
    """
    linear = [name for name, _, array in arrays(topology) if array.level == "linear"]
    if linear:
        yield Hit(
            ("arrays", linear[0], "level"),
            f"{listed(linear)} {agreeing(linear, 'is', 'are')} linear, which kernels 6.8 to 6.13 lack unless it was put back",
            "look at `modinfo md-linear` on the machine, or join the disks in a volume group",
            related=places("array", ("arrays",), linear[1:]),
        )
