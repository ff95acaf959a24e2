"""The words of changes in place, by code: what has to hold before, and why there is none."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.base.figures import Figure, Figures
from raidplan.plan.changes import Before, Reason

BEFORE: Mapping[Before, str] = {
    Before.IDLE: "all members are in sync, and no sync or check goes on",
    Before.ROOM: "there is room beside the data (mdadm --examine: Unused Space), so that no --backup-file is given",
    Before.LARGER: "its members are larger now",
    Before.SUPERBLOCK_MOVES: "no restart comes before --size=max has ended: until that moves the superblock to the new end of a "
    "member that has grown, nothing finds it there; after a restart, that member is made as small as it was",
    Before.SMALLER: "what is on it is made smaller first; after --array-size, which can be taken back, it is checked",
    Before.WITHOUT_PPL: "the kernel refuses it while a ppl is in use: that is taken off first",
    Before.WITHOUT_JOURNAL: "the kernel refuses it while a journal is in use: that is taken off first",
    Before.ONE_BY_ONE: "each command waits until what the one before began has ended",
    Before.AFTER_LEVEL: "the change of level has ended: mdadm does not do both at once",
    Before.CHUNK_FITS: "the component size is a multiple of the new chunk",
    Before.CHUNK_IS_64K: "it gets chunks of 64 KiB, and another size afterwards, as a change of its own",
    Before.UNUSED: "nothing uses the array meanwhile",
    Before.KEEPS_SIZE: "it keeps its size, but a new array of this layout has another size: this layout fits a new array only",
    Before.STAYS_SMALL: "nothing here makes it larger: it stays as large as it is, with its files",
    Before.UNMOUNTED: "it is not mounted",
    Before.FILES_FIT: "its files fit, and its device is made smaller only after it",
    Before.CONTENTS_SHRUNK: "what is on it is made smaller first",
    Before.SHRUNK_OR_LOST: "what is on it is made smaller first; what does not become smaller is copied before, and lost",
    Before.CONTENT_LOST: "nothing uses the partition, and what is needed of its content is copied: that is lost",
    Before.NAMED_ELSEWHERE: "lines that name it by its PARTUUID or PARTLABEL, as in fstab and of a boot loader, get the new one",
    Before.DEVICE_LATER: "the device is taken for anything else only after that",
    Before.END_MOVED: "what lies beyond the new end is moved first, and its device is made smaller only after that",
    Before.UNUSED_SWAP: "swap in use keeps its label",
    Before.REMOUNTABLE: "a few options take a new mount",
    Before.GROUPS_FIT: "agsize in xfs_info is a multiple of the new unit",
    Before.AS_MADE: "it stays as it was made: this layout has it for a new one only",
}
REASONS: Mapping[Reason, str] = {
    Reason.LEVEL: "mdadm cannot change this level to that one",
    Reason.HANGS: "this change of level is known to hang the array",
    Reason.UNFINISHED: "mdadm's own tests of this change fail, and one that is interrupted stays unfinished",
    Reason.COUNT: "mdadm does not change the level to this number of members",
    Reason.FEWER: "this level does not give up members",
    Reason.COPIES: "a RAID10 keeps the number of its copies",
    Reason.FAR: "far copies stay where they are",
    Reason.METADATA: "metadata changes from 0.90 to 1.0 only, without a bitmap",
    Reason.OLD_METADATA: "metadata 0.90 has no room to move the data safely",
    Reason.UNEVEN: "its members have different sizes",
    Reason.POLICY: "this level, or its metadata, does not support this consistency policy",
    Reason.SIZE: "this level cannot use more or less of its members",
    Reason.SHRINKS_NOT: "nothing makes it smaller",
    Reason.TYPE: "this file system type cannot be converted to that one",
    Reason.STRIPE: "it keeps its stripe: this layout fits a new file system only",
    Reason.SIZE_OF_EXTENTS: "extents become only smaller, and by a whole factor",
    Reason.NOTHING_TWICE: "a level here has no redundancy, so the data of that member would be lost",
    Reason.SUPERBLOCK_AT_END: "the superblock at the end of each member is not found once that is smaller",
    Reason.NAMED_BY_LVM: "raidplan knows the physical volume on it by a UUID made of its name, and no command sets that: keep the name",
    Reason.OTHER_SLOTS: "its data stays in the slots where it is, and members that stay would be in other slots",
}


SINCE = "mdadm is {since} or later"
KEYS = {"raid-devices": "number of members", "consistency": "consistency policy"}
"""The names of properties in the table of changes, where a person has other words for them."""


def with_words(figures: Figures) -> Figures:
    """The figures of an advice, and the sentences of those that are codes."""
    said: dict[str, Figure] = {}
    if "conditions" in figures:
        version = (SINCE.format_map(figures),) if figures.get("since") else ()
        said["before"] = (*(BEFORE[Before(each)] for each in _codes(figures["conditions"])), *version)
    if "cause" in figures:
        said["reason"] = REASONS[Reason(str(figures["cause"]))]
    if "differing" in figures:
        said["keys"] = tuple(KEYS.get(each, each) for each in _codes(figures["differing"]))
    return {**figures, **said}


def _codes(figure: Figure) -> tuple[str, ...]:
    return figure if isinstance(figure, tuple) else ()
