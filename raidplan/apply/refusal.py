"""A reason to write nothing: a stable code, a place, and a sentence. docs/refusals.md lists the codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason; `place` is the disk, device, object or file that it is about, `line` that of the layout, if they are known.

    Two that say the same are the same.
    """

    code: str = field(compare=False)
    says: str
    place: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    @property
    def remedy(self) -> str:
        """The remedy for refusals of this code."""
        return CODES[self.code][1]


def refused(code: str, says: Iterable[str], place: str = "", line: int = 0) -> Iterator[Refusal]:
    """A refusal for each sentence."""
    yield from (Refusal(code, each, place, line) for each in says)


CODES: Mapping[str, tuple[str, str]] = {
    # the disks, and what is on them
    "disk-unmatched": (
        "A disk of the layout is no disk of this machine, or more than one, or an unfit one.",
        "Correct its identifiers (`raidplan discover` prints those of the machine), or connect the disk.",
    ),
    "disk-not-blank": (
        "A disk that would be written over holds something.",
        "Clear it by hand, or allow that with `wipe: true` in the layout.",
    ),
    "disk-read-only": ("A disk that would be written to is read-only.", "Make it writable, or replace it."),
    "disk-unreadable": (
        "A disk that would be cleared cannot be read everywhere, or takes no writes.",
        "Replace the disk.",
    ),
    "target-not-blank": (
        "A partition, an array, a volume or a file that would be written over holds something.",
        "Move what is on it elsewhere and clear it by hand, or allow that with `wipe: true` in the layout.",
    ),
    "in-use": (
        "Something that would be cleared is mounted, used as swap, or held by another device.",
        "End its use: umount, swapoff, or stop what holds it.",
    ),
    "in-use-elsewhere": (
        "Another mount namespace or a program uses what would be cleared.",
        "End that program, or the container that has it mounted.",
    ),
    "open-for-writing": (
        "A program has a device open for writing that would be written over.",
        "End that program.",
    ),
    "not-understood": (
        "What stands on a disk is of a kind that raidplan does not take apart.",
        "Close or delete it with its own tools.",
    ),
    "hidden-from-lvm": (
        "LVM does not show a physical volume that would be cleared.",
        "Change the filter or the devices file of LVM, or remove the physical volume with its own tools.",
    ),
    "shared": (
        "What would be cleared stands on disks as well that this plan does not write over.",
        "Add those disks to the layout, or delete it with its own tools.",
    ),
    "firmware": (
        "A disk is a member of an array of firmware, or of a cache.",
        "Delete the array in the firmware, or detach the cache.",
    ),
    "needed-at-boot": (
        "fstab, crypttab or a unit names what would be cleared.",
        "Remove that line or that unit.",
    ),
    # what stands already
    "not-started": (
        "An array or a volume of the layout is there and does not run.",
        "Start it with the command that the sentence names.",
    ),
    "differs": (
        "What stands differs from the layout, and apply does not change that in place.",
        "Change it with the command that the sentence names, or change the layout.",
    ),
    "runs-under-other-name": (
        "An array runs under another name and is in use.",
        "End its use, or renew the initramfs and boot.",
    ),
    "not-of-that-step": (
        "A step was interrupted, and what stands there now cannot be left from it.",
        "`raidplan adopt` enters what is whole; clear the rest by hand.",
    ),
    "gone": (
        "What an earlier step made is not there any more.",
        "Find out who removed it; `raidplan adopt` lets it be made again.",
    ),
    "not-in-journal": (
        "Something stands as planned, and no journal says that it was ever finished.",
        "`raidplan adopt` looks at it and enters it.",
    ),
    "name-taken": (
        "An array, a volume group or a file in /dev has a name that the layout wants.",
        "Rename one of the two.",
    ),
    "uuid-taken": (
        "A disk outside of the layout has the UUID of something that the layout makes.",
        "Disconnect that disk, or give it another UUID.",
    ),
    # the journal, and plans in files
    "undo-interrupted": ("An undo was interrupted.", "Finish it with `raidplan undo`."),
    "interrupted-elsewhere": (
        "The interrupted apply began a step that this plan does not have.",
        "Finish it with the plan beside its journal, or let `raidplan adopt` forget it.",
    ),
    "machine-changed": (
        "The machine is not the one any more that the plan in the file was made for.",
        "Make the plan again with `raidplan plan`.",
    ),
    "not-in-plan": (
        "Something would be done that the plan in the file does not say.",
        "Make the plan again with `raidplan plan`.",
    ),
    "journal-hidden": (
        "A mount of this plan would hide the folder of the journal.",
        "Name another folder with --state.",
    ),
    "assembly-held-off": (
        "An interrupted apply still holds off the automatic assembly of arrays.",
        "The next apply that is not refused ends that, and so does a boot.",
    ),
    # configuration files
    "block-damaged": (
        "The marks of raidplan's block in a configuration file are not as they were written.",
        "Restore the two lines.",
    ),
    "foreign-lines": (
        "Somebody wrote lines into raidplan's block, which would be lost.",
        "Move them out of the block.",
    ),
    "lines-conflict": (
        "A line of somebody else speaks of the same device, mount point or array.",
        "Remove that line, or take the thing out of the layout.",
    ),
    "mount-conflict": (
        "What is mounted differs from the line that fstab would get, and no remount changes that.",
        "umount it, then apply again.",
    ),
    "mount-point": ("A mount point is a link, no folder, or not empty.", "Empty it, or name another one."),
    "file-not-writable": ("A configuration file could not be written.", "Make room, or make it writable."),
    "initramfs": ("The initramfs could not be renewed.", "The sentence says what is missing."),
    # this machine
    "machine-unclear": (
        "A tool that reads the machine fails, or what it says is not clear.",
        "The sentence says what to mend.",
    ),
    "not-root": ("Only root can write to disks.", "Run it with sudo."),
    "not-administrator": ("Root of a container is not root of the machine.", "Run it on the machine itself."),
    "program-missing": ("A program that the plan runs is missing.", "Install it."),
    "program-not-roots": (
        "Somebody other than root could change a program that would run as root.",
        "Give it and its folders to root.",
    ),
    "version": (
        "A program or the kernel is too old for the plan.",
        "Install a later version, or leave the option out of the layout.",
    ),
    "module-missing": (
        "The kernel has no module for a RAID level or LVM.",
        "Install the modules of the running kernel.",
    ),
    "udev-absent": ("udev does not run, which names new devices.", "Start it, or apply elsewhere."),
    "systemd-absent": (
        "systemd does not run, which mounts what is in fstab.",
        "Apply on a system that was booted with it.",
    ),
    "target-not-mounted": (
        "Nothing is mounted at the folder that --target names, or there is no such folder.",
        "Mount the system there, or let the layout mount a file system at /.",
    ),
    "firmware-differs": (
        "The layout's boot loader is for another firmware than the one in use.",
        "Start by that firmware, or change `firmware` under `hardware`.",
    ),
    "loader-unsigned": (
        "Secure Boot is on, and the system has no signed boot loader.",
        "Install one, or switch Secure Boot off.",
    ),
    "memory": ("The stripe caches do not fit into memory.", "Lower `stripe_cache_size`."),
}
"""Each code, what it means and what ends it. A code is never given another meaning."""
