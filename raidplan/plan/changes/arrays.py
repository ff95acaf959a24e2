"""The table of changes of an array: by which commands, from which mdadm on, or why there is no way.

Whatever fits no row is impossible: a new array, and the data copied.

Sources: mdadm(8), GROW MODE and MANAGE MODE; `analyse_change`, `set_new_data_offset`, `Grow_consistency_policy` and
`remove_disks_for_takeover` in Grow.c of mdadm 4.4; `takeover`, `raid5_check_reshape` and `raid10_resize` in
drivers/md/raid{0,1,5,10}.c of Linux, `super_1_rdev_size_change` in md.c; the changelog of mdadm 4.4 for what earlier versions get
wrong in a reshape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from raidplan.base.levels import LEVELS, raid10_copies
from raidplan.plan.changes.answer import Answer, Before, Kind, Reason, by_hand, impossible
from raidplan.plan.changes.shape import Shape

RESHAPE = "4.4"
"""The first mdadm with the repairs of reshapes."""
ADD = "mdadm {node} --add {new}"
FAIL, REMOVE = "mdadm {node} --fail {old}", "mdadm {node} --remove {old}"
COUNT = "mdadm --grow --raid-devices={count} {node}"
END = "mdadm --grow --array-size={array_size} {node}"
BITMAP = "mdadm --grow --bitmap={} {{node}}"
RESYNC, PPL = (f"mdadm --grow --consistency-policy={policy} {{node}}" for policy in ("resync", "ppl"))
WITHOUT_JOURNAL = "echo resync > {attributes}md/consistency_policy"
WHOLE = "mdadm --grow --size=max {node}"
AT_END = frozenset(("0.90", "1.0"))
"""Metadata with the superblock at the end of each member: where that grows, nothing finds it until `WHOLE` has moved it."""
READ_ONLY, WRITABLE = "mdadm --readonly {node}", "mdadm --readwrite {node}"

SPARE_ADDED = Answer(Kind.BY_APPLY, ("mdadm --manage {node} --add-spare {new}",))
"""A spare."""
SPARE_REMOVED = Answer(Kind.BY_APPLY, ("mdadm --manage {node} --remove {old}",))
"""A spare, which then forgets the array."""
EXCHANGED = by_hand("mdadm {node} --add-spare {added}", "mdadm {node} --replace {old} --with {new}")
"""The old member stays in the array until the new one is full; `added` are those of the new ones that are no spare of it yet."""
REBUILT = by_hand(FAIL, REMOVE, ADD, before=(Before.ONE_BY_ONE,))
REORDERED = by_hand(called="none")
"""Members of a mirror in another order: one that is added again gets the only empty slot, which is its own."""
MISSING_FILLED = by_hand(ADD)
MEMBER_ADDED = Answer(Kind.BY_APPLY, (ADD,))
"""Devices of the layout, in place of those that left, where nothing is on them yet."""
SPARE_AGAIN = ("mdadm {node} --remove {old}", "mdadm {node} --add-spare {old}")
"""A spare that had taken a member's place, once that place is given back."""
FAILED_REMOVED = "mdadm {node} --remove failed"
"""A failed member belongs to the array until it is removed; `failed` is mdadm's word for all that are."""
LOG = (READ_ONLY, "mdadm {node} --add-journal {journal}", WRITABLE)
"""mdadm adds a journal to an array that is read-only, and to no other."""
JOURNAL_ADDED = by_hand(*LOG, before=(Before.UNUSED,))
JOURNAL_EXCHANGED = by_hand(FAIL, REMOVE, *LOG, before=(Before.UNUSED,))
RENAMED = by_hand(
    "mdadm --stop {node}",
    "mdadm --assemble --update=name --name={name} {node} {members}",
    before=(Before.UNUSED,),
)


class Takeover(NamedTuple):
    """A level that another one turns into while the data stays."""

    members: int
    """So many more than before."""
    before: tuple[Before, ...] = ()
    since: str = ""
    """`RESHAPE` where data is moved."""


FIXED = ("raid0", "linear")
"""Levels whose arrays take as much of each member as when they were made."""
TAKEOVERS: Mapping[tuple[str, str], Takeover] = {
    ("raid1", "raid5"): Takeover(0, (Before.CHUNK_IS_64K,)),
    ("raid5", "raid6"): Takeover(1, since=RESHAPE),
    ("raid4", "raid5"): Takeover(0, since=RESHAPE),
    ("raid0", "raid4"): Takeover(1, since=RESHAPE),
    ("raid0", "raid5"): Takeover(1, since=RESHAPE),
}
"""RAID0 and RAID10 turn into each other too, under conditions."""
REFUSED: Mapping[tuple[str, str], Reason] = {
    ("raid5", "raid1"): Reason.HANGS,
    ("raid6", "raid5"): Reason.UNFINISHED,
    ("raid6", "raid0"): Reason.UNFINISHED,
    ("raid5", "raid0"): Reason.UNFINISHED,
    ("raid5", "raid4"): Reason.UNFINISHED,
    ("raid4", "raid0"): Reason.UNFINISHED,
}
"""Changes that mdadm offers and nobody should rely on with data."""


class Change(NamedTuple):
    """One property that differs between two shapes."""

    key: str
    """level, layout, raid-devices, chunk, metadata, consistency or size."""
    old: object
    new: object
    answer: Answer


def changes(old: Shape, new: Shape) -> Iterator[Change]:
    """Each difference of two shapes, with its answer. An impossible one makes the array another one."""
    if old.level != new.level:
        yield Change("level", old.level, new.level, _level(old, new))
    elif not _same_layout(old, new):
        yield Change("layout", old.layout, new.layout, _layout(old, new))
    if old.count != new.count:
        yield Change("raid-devices", old.count, new.count, _count(old, new))
    if old.chunk != new.chunk and old.chunk and new.chunk:
        yield Change("chunk", old.chunk, new.chunk, _chunk(old, new))
    if old.metadata != new.metadata:
        yield Change("metadata", old.metadata, new.metadata, _metadata(old, new))
    if old.policy != new.policy and old.policy and new.policy:
        yield Change("consistency", old.policy, new.policy, _policy(old, new))
    same = (old.level, old.count, old.chunk) == (new.level, new.count, new.chunk)
    if same and _same_layout(old, new) and old.size and new.size and old.size != new.size:
        yield Change("size", old.size, new.size, resize(old, smaller=new.size < old.size))


def _same_layout(old: Shape, new: Shape) -> bool:
    """A RAID0 of members of one size has none that matters, and its superblock need not tell it."""
    return old.layout == new.layout or (old.level == "raid0" and None in (old.layout, new.layout))


def resize(old: Shape, *, smaller: bool) -> Answer:
    """The answer for an array that takes more of its members, or less."""
    if old.level in FIXED:
        return impossible(Reason.SIZE)
    if _is_far(old):
        return impossible(Reason.FAR)
    idle = Before.IDLE, *_without_log(old)
    if smaller and old.metadata in AT_END:
        return impossible(Reason.SUPERBLOCK_AT_END)
    if smaller:
        return by_hand(END, "mdadm --grow --size={component} {node}", before=(Before.SMALLER, *idle))
    if old.metadata not in AT_END:
        return by_hand(WHOLE, before=(Before.LARGER, *idle))
    before = Before.LARGER, Before.SUPERBLOCK_MOVES, *idle
    if old.policy != "bitmap":
        return by_hand(WHOLE, before=before)
    # The kernel moves no superblock that has one beside it, and takes none back while it syncs.
    off, on = BITMAP.format("none"), BITMAP.format("internal")
    return by_hand(off, WHOLE, on, before=(*before, Before.ONE_BY_ONE))


def _reshape(old: Shape, *commands: str, before: tuple[Before, ...] = ()) -> Answer:
    """Data is moved within the members: away from where it lies, which metadata 0.90 cannot say."""
    if old.metadata == "0.90":
        return impossible(Reason.OLD_METADATA)
    return by_hand(*commands, before=(*before, Before.IDLE, Before.ROOM, *_without_log(old)), since=RESHAPE)


def _without_log(old: Shape) -> tuple[Before, ...]:
    logs = {"ppl": Before.WITHOUT_PPL, "journal": Before.WITHOUT_JOURNAL}
    return (logs[old.policy],) if old.policy in logs else ()


def _is_far(shape: Shape) -> bool:
    """Far copies, or ones that mdadm has no word for."""
    if shape.level != "raid10":
        return False
    try:
        return raid10_copies(shape.layout or "n2")[0] == "far"
    except ValueError:
        return True


def _is_uneven(shape: Shape) -> bool:
    """Beyond the end of its smallest member the data lies in another zone, and mdadm changes arrays of one zone only."""
    return shape.level == "raid0" and not shape.even


def _level(old: Shape, new: Shape) -> Answer:
    pair = old.level, new.level
    if pair in REFUSED:
        return impossible(REFUSED[pair])
    if _is_uneven(old):
        return impossible(Reason.UNEVEN)
    if set(pair) == {"raid0", "raid10"}:
        return _mirrored(old, new)
    takeover = TAKEOVERS.get(pair)
    if takeover is None:
        return impossible(Reason.LEVEL)
    reached = old.count + takeover.members
    if new.count < reached or (old.level == "raid1" and old.count != 2):
        return impossible(Reason.COUNT)
    later = (COUNT,) if new.count > reached else ()
    level = (
        "mdadm --grow --level={level} "
        + (f"--raid-devices={reached} " if takeover.members else "")
        + "{node}"
    )
    if old.level == "raid0":  # it has no spares: members come with the command itself
        commands: tuple[str, ...] = (f"{level} --add {{new}}", *later)
    else:
        commands = (*((ADD,) if new.count > old.count else ()), level, *later)
    before = (*takeover.before, *((Before.ONE_BY_ONE,) if later else ()))
    if takeover.since or later:
        return _reshape(old, *commands, before=before)
    return by_hand(*commands, before=(*before, Before.IDLE, *_without_log(old)))


def _mirrored(old: Shape, new: Shape) -> Answer:
    """Each member of a RAID0 becomes a pair of a RAID10, or one of each pair stays."""
    mirrored, striped = (old, new) if old.level == "raid10" else (new, old)
    if (mirrored.layout or "n2") != "n2" or mirrored.count != 2 * striped.count:
        return impossible(Reason.COUNT)
    if old.chunk != new.chunk:
        return impossible(Reason.LEVEL)
    if _is_uneven(new):
        return impossible(Reason.UNEVEN)
    level = "mdadm --grow --level={level} "
    command = (
        f"{level}{{node}}" if old is mirrored else f"{level}--raid-devices={{count}} {{node}} --add {{new}}"
    )
    return by_hand(command, before=(Before.IDLE,))


def _layout(old: Shape, new: Shape) -> Answer:
    if old.level == "raid0":
        return impossible(Reason.UNEVEN)
    if old.level == "raid10":
        if _is_far(old) or _is_far(new):
            return impossible(Reason.FAR)
        if raid10_copies(old.layout or "n2")[1] != raid10_copies(new.layout or "n2")[1]:
            return impossible(Reason.COPIES)
    return _reshape(old, "mdadm --grow --layout={layout} {node}")


def _count(old: Shape, new: Shape) -> Answer:
    if old.level != new.level:
        return _level(old, new)
    return _more(old, new) if new.count > old.count else _fewer(old)


def _more(old: Shape, new: Shape) -> Answer:
    match old.level:
        case "linear":
            return by_hand("mdadm --grow {node} --add {new}")
        case "raid1":
            return by_hand(ADD, COUNT, before=(Before.IDLE,))
        case "raid0" if _is_uneven(old) or _is_uneven(new):
            return impossible(Reason.UNEVEN)
        case "raid0":
            return _reshape(old, f"{COUNT} --add {{new}}")
        case "raid10" if _is_far(old) or _is_far(new):
            return impossible(Reason.FAR)
    return _reshape(old, ADD, COUNT)


def _fewer(old: Shape) -> Answer:
    match old.level:
        case "raid1":
            return by_hand(FAIL, REMOVE, COUNT, "mdadm --zero-superblock {old}", before=(Before.IDLE,))
        case "raid4" | "raid5" | "raid6":
            return _reshape(old, END, COUNT, before=(Before.SMALLER,))
    return impossible(Reason.FEWER)


def _chunk(old: Shape, new: Shape) -> Answer:
    if not LEVELS[new.level].chunked:
        return impossible(Reason.LEVEL)
    if _is_uneven(old) or _is_uneven(new):
        return impossible(Reason.UNEVEN)
    if _is_far(old) or _is_far(new):
        return impossible(Reason.FAR)
    if "linear" in (old.level, new.level):
        return impossible(Reason.LEVEL)
    after = (Before.AFTER_LEVEL,) if old.level != new.level else ()
    return _reshape(old, "mdadm --grow --chunk={chunk} {node}", before=(*after, Before.CHUNK_FITS))


def _metadata(old: Shape, new: Shape) -> Answer:
    if (old.metadata, new.metadata) != ("0.90", "1.0") or old.policy == "bitmap":
        return impossible(Reason.METADATA)
    return by_hand(
        "mdadm --stop {node}", "mdadm --assemble --update=metadata {node} {members}", before=(Before.UNUSED,)
    )


def _policy(old: Shape, new: Shape) -> Answer:
    words = {"bitmap": "internal", "resync": "none"}
    if old.policy in words and new.policy in words:
        return Answer(Kind.BY_APPLY, (BITMAP.format(words[new.policy]),), (Before.IDLE,))
    if "0.90" in (old.metadata, new.metadata) or not LEVELS[new.level].has_stripe_cache:
        return impossible(Reason.POLICY)
    if new.policy == "journal" and {old.metadata, new.metadata} - {"1.1", "1.2"}:
        return impossible(Reason.POLICY)
    if "ppl" in (old.policy, new.policy) and {old.level, new.level} != {"raid5"}:
        return impossible(Reason.POLICY)
    taken_off = {
        "bitmap": (BITMAP.format("none"),),
        "ppl": (RESYNC,),
        "journal": (FAIL, REMOVE, WITHOUT_JOURNAL, WRITABLE),
    }
    put_on = {
        "bitmap": (BITMAP.format("internal"),),
        "ppl": (PPL,),
        "journal": LOG,
    }
    unused = (Before.UNUSED,) if "journal" in (old.policy, new.policy) else ()
    keeps = (Before.KEEPS_SIZE,) if "ppl" in (old.policy, new.policy) else ()
    commands = (*taken_off.get(old.policy, ()), *put_on.get(new.policy, ()))
    return by_hand(*commands, before=(Before.IDLE, *unused, *keeps))
