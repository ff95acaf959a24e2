"""What `mdadm --grow` can make of an array while its data stays.

Sources: mdadm(8), GROW MODE; `analyse_change` and `remove_disks_for_takeover` in Grow.c of mdadm 4.4; `takeover` and
`create_strip_zones` in drivers/md/raid{0,1,5,10}.c of Linux.
Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from raidplan.base.levels import LEVELS, LEVELS_CHANGED, raid10_copies, raid10_moves
from raidplan.diff.changes import Way, noted

GROW = "mdadm --grow"
WITHOUT_LOG = "the kernel refuses it while a {policy} is in use: that is taken off first"
WITHOUT_BITMAP = "the bitmap is taken off first and put back afterwards"
SMALLER = "what is on it is made smaller first; then --array-size, which can be taken back"


@dataclass(frozen=True, slots=True)
class Shape:
    """What of an array decides where its data lies."""

    level: str
    count: int
    chunk: int | None
    layout: str | None
    metadata: str
    policy: str
    """The consistency policy: resync, bitmap, ppl, journal; empty where the level has none."""
    size: int | None
    """Bytes for what is on it; None if not known."""
    even: bool = True
    """No members of different sizes are known: raid0 has one zone."""


def grow(old: Shape, new: Shape) -> Iterator[tuple[str, object, object, Way | None]]:
    """(key, old, new, how) of each difference; nothing can be done in place where there is no way."""
    if old.level != new.level:
        yield "level", old.level, new.level, _noted(_level(old, new), old)
    elif old.layout != new.layout:
        yield "layout", old.layout, new.layout, _noted(_layout(old, new), old)
    if old.count != new.count:
        yield "raid-devices", old.count, new.count, _noted(_count(old, new), old)
    if old.chunk != new.chunk and old.chunk and new.chunk:
        yield "chunk", old.chunk, new.chunk, _noted(_chunk(old, new), old)
    if old.metadata != new.metadata:
        yield "metadata", old.metadata, new.metadata, _metadata(old, new)
    if old.policy != new.policy and old.policy and new.policy:
        yield "consistency", old.policy, new.policy, _policy(old, new)
    same = (old.level, old.count, old.layout) == (new.level, new.count, new.layout)
    if same and old.size and new.size and old.size != new.size and old.chunk == new.chunk:
        yield "size", old.size, new.size, resized(old, new, smaller=new.size < old.size)


def _noted(way: Way | None, old: Shape, *, resized: bool = False) -> Way | None:
    """With what has to be taken off before."""
    log = WITHOUT_LOG.format(policy=old.policy) if old.policy in ("ppl", "journal") else ""
    return noted(way, log, WITHOUT_BITMAP if resized and old.policy == "bitmap" else "")


def slot_after(slot: int, old: Shape, new: Shape) -> int | None:
    """The slot that a member has after the change; None if it is no member any more.

    Of a RAID10, the kernel makes slot // 2 of a RAID0, whichever of the two copies stays; of a RAID0, 2 * slot
    (`create_strip_zones` in raid0.c, `raid10_takeover_raid0` in raid10.c). All others keep their numbers: data
    members come first and parity last (`ALGORITHM_PARITY_N` in raid5.c) when a level is taken over.
    """
    match old.level, new.level:
        case "raid10", "raid0":
            after = slot // 2
        case "raid0", "raid10":
            after = 2 * slot
        case _:
            after = slot
    return after if after < new.count else None


def _level(old: Shape, new: Shape) -> Way | None:
    way = Way(f"{GROW} --level")
    if old.level == "raid0" and not old.even:
        return None
    if {old.level, new.level} == {"raid0", "raid10"}:
        mirrored, striped = (old, new) if old.level == "raid10" else (new, old)
        fits = (mirrored.layout or "n2") == "n2" and mirrored.count == 2 * striped.count
        return way if fits and old.chunk == new.chunk else None
    if frozenset((old.level, new.level)) not in LEVELS_CHANGED:
        return None
    if old.level == "raid1" and old.count != 2:
        return None
    if new.level == "raid1" and (old.count, new.count) != (2, 2):
        return None
    return way


def _layout(old: Shape, new: Shape) -> Way | None:
    if old.level == "raid10":
        moved = raid10_moves(old.layout or "n2", new.layout or "n2") and old.metadata != "0.90"
        return Way(f"{GROW} --layout") if moved else None
    return Way(f"{GROW} --layout", "all of it is copied twice, through a --backup-file elsewhere")


def _count(old: Shape, new: Shape) -> Way | None:
    if old.level != new.level and "raid10" in (old.level, new.level):
        return _level(old, new)
    if old.level == "linear":
        return Way(f"{GROW} --add") if new.count > old.count else None
    if old.level == "raid0" and not old.even:
        return None
    if new.level == "raid10":
        far = raid10_copies(old.layout or "n2")[0] == "far"
        if far or old.metadata == "0.90" or new.count < old.count:
            return None
    if new.count > old.count:
        return Way(f"mdadm --add, {GROW} --raid-devices")
    if new.level == "raid1":
        return Way(f"mdadm --fail, mdadm --remove, {GROW} --raid-devices")
    return Way(f"{GROW} --raid-devices", SMALLER)


def _chunk(old: Shape, new: Shape) -> Way | None:
    if not LEVELS[new.level].chunked or (old.level == "raid0" and not old.even):
        return None
    if new.level == "raid10" and (old.metadata == "0.90" or raid10_copies(old.layout or "n2")[0] == "far"):
        return None
    return Way(f"{GROW} --chunk", "all of it is copied twice, through a --backup-file elsewhere")


def _metadata(old: Shape, new: Shape) -> Way | None:
    if (old.metadata, new.metadata) == ("0.90", "1.0") and old.policy != "bitmap":
        return Way("mdadm --assemble --update=metadata")
    return None


def _policy(old: Shape, new: Shape) -> Way | None:
    if new.policy == "journal":
        return Way("mdadm --add-journal", "the array is read-only meanwhile, and its bitmap or PPL taken off")
    if old.policy == "journal":
        note = "after mdadm --fail and --remove of the journal, which makes the array read-only"
        return Way("echo resync > md/consistency_policy", note)
    if "ppl" in (old.policy, new.policy):
        return Way(f"{GROW} --consistency-policy")
    return Way(f"{GROW} --bitmap")


def resized(old: Shape, new: Shape, *, smaller: bool) -> Way | None:
    """How an array takes more of its members, or less."""
    return _noted(_size(old, new, smaller=smaller), old, resized=True)


def _size(old: Shape, new: Shape, *, smaller: bool) -> Way | None:
    if new.level in ("raid0", "linear"):
        return None
    if new.level == "raid10" and raid10_copies(old.layout or "n2")[0] != "near":
        return None
    return Way(f"{GROW} --size", SMALLER if smaller else "")
