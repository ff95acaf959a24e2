"""The properties of an array that decide where its data lies."""

from __future__ import annotations

from dataclasses import dataclass

from raidplan.base.levels import raid10_copies


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of an array, desired or actual."""

    level: str
    count: int
    chunk: int | None
    """Bytes; None where the level has no chunks."""
    layout: str | None
    metadata: str
    policy: str
    """The consistency policy: resync, bitmap, ppl, journal; empty where the level has none."""
    size: int | None = None
    """The size of the array in bytes; None if not known."""
    even: bool = True
    """No members of different sizes are known: raid0 has one zone."""

    @property
    def far(self) -> bool:
        """A RAID10 with far copies, or with ones that mdadm has no word for."""
        if self.level != "raid10":
            return False
        try:
            return raid10_copies(self.layout or "n2")[0] == "far"
        except ValueError:
            return True

    @property
    def uneven(self) -> bool:
        """A RAID0 with another zone beyond the end of its smallest member: mdadm changes arrays of one zone only."""
        return self.level == "raid0" and not self.even


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
