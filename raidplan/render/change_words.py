"""The words of changes in place, by code: what has to hold before, and why there is none."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.base.figures import Figure, Figures
from raidplan.plan.changes import Before, Reason

BEFORE: Mapping[Before, str] = {
    Before.IDLE: "all members must be in sync, and no sync or check may be running",
    Before.ROOM: "there must be room beside the data (mdadm --examine: Unused Space), for no --backup-file is given",
    Before.LARGER: "its members must have become larger",
    Before.SUPERBLOCK_MOVES: "no restart comes before --size=max has ended: until that moves the superblock to the new end of a "
    "member that has grown, nothing finds it there; after a restart, that member is made as small as it was",
    Before.SMALLER: "make what is on it smaller first; check it after --array-size, which can still be taken back",
    Before.WITHOUT_PPL: "switch the PPL off first: the kernel refuses this while one is in use",
    Before.WITHOUT_JOURNAL: "take the journal off first: the kernel refuses this while one is in use",
    Before.ONE_BY_ONE: "wait before each command until what the one before began has ended",
    Before.AFTER_LEVEL: "wait until the change of level has ended: mdadm does not do both at once",
    Before.CHUNK_FITS: "the component size must be a multiple of the new chunk",
    Before.CHUNK_IS_64K: "it gets chunks of 64 KiB, and another size afterwards, as a change of its own",
    Before.UNUSED: "nothing may use the array meanwhile",
    Before.KEEPS_SIZE: "it keeps its size, but a new array of this layout has another size: this layout fits a new array only",
    Before.STAYS_SMALL: "nothing here makes it larger: it stays as large as it is, with its files",
    Before.UNMOUNTED: "unmount it first",
    Before.FILES_FIT: "its files must fit; make its device smaller only afterwards",
    Before.CONTENTS_SHRUNK: "make what is on it smaller first",
    Before.SHRUNK_OR_LOST: "make what is on it smaller first; what cannot become smaller is lost: copy it before",
    Before.CONTENT_LOST: "stop all use of the partition, and copy what is needed of its content: that is lost",
    Before.NAMED_ELSEWHERE: "put the new one into lines that name it by its PARTUUID or PARTLABEL, as in fstab and of a boot loader",
    Before.DEVICE_LATER: "use the device for something else only after that",
    Before.END_MOVED: "first move what lies beyond the new end; make its device smaller only after that",
    Before.UNUSED_SWAP: "switch it off first: swap in use keeps its label",
    Before.SWAP_OFF_FIRST: "switch it off before its device gets smaller; the other commands come after that",
    Before.IN_FSTAB_FIRST: "write the options into its line of fstab and restart, then apply",
    Before.FROM_OUTSIDE: "the system runs from it: change it from a rescue system",
    Before.GROUPS_FIT: "agsize in xfs_info must be a multiple of the new unit",
    Before.AT_BOOT: "apply writes it into the configuration; it takes effect at the next boot",
    Before.AS_MADE: "it stays as it was made: this layout has it for a new one only",
}
REASONS: Mapping[Reason, str] = {
    Reason.LEVEL: "mdadm cannot change this level to that one",
    Reason.HANGS: "this change of level is known to hang the array",
    Reason.UNFINISHED: "mdadm's own tests of this change fail, and one that is interrupted stays unfinished",
    Reason.COUNT: "mdadm does not change the level to this number of members",
    Reason.FEWER: "mdadm cannot take members out of an array of this level",
    Reason.COPIES: "a RAID10 keeps the number of its copies",
    Reason.FAR: "mdadm cannot move far copies",
    Reason.METADATA: "metadata changes from 0.90 to 1.0 only, without a bitmap",
    Reason.OLD_METADATA: "metadata 0.90 has no room to move the data safely",
    Reason.UNEVEN: "its members have different sizes",
    Reason.POLICY: "this level, or its metadata, does not support this consistency policy",
    Reason.SIZE: "mdadm cannot change how much of its members this level uses",
    Reason.SHRINKS_NOT: "no program makes it smaller",
    Reason.TYPE: "this file system type cannot be converted to that one",
    Reason.STRIPE: "its stripe cannot be changed: this layout fits a new file system only",
    Reason.SIZE_OF_EXTENTS: "the extents of a volume group can only become smaller, by a whole factor",
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
