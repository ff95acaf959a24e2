"""The codes of refusals: what each means, and what ends it. docs/refusals.md lists them."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.apply.refusal import Code

CODES: Mapping[Code, tuple[str, str]] = {
    # the disks, and what is on them
    "disk-unmatched": (
        "No disk, or more than one, has the identifiers, or it is unfit.",
        "Correct them (`raidplan discover hardware` prints them), or connect the disk.",
    ),
    "disk-not-blank": (
        "A disk that would be written over has content.",
        "Clear it by hand, or allow that with `wipe: true`.",
    ),
    "kept-differs": (
        "A disk with `keep: true`, or with such a partition, is not as described.",
        "Correct the layout by `raidplan discover hardware`.",
    ),
    "disk-read-only": ("A disk that would be written to is read-only.", "Make it writable, or replace it."),
    "disk-unreadable": (
        "A disk that would be cleared cannot be read everywhere, or takes no writes.",
        "Replace the disk.",
    ),
    "target-not-blank": (
        "A partition, array, volume or file that would be written over has content.",
        "Move its content, clear it by hand, or allow that with `wipe: true`.",
    ),
    "in-use": (
        "What would be cleared is mounted, swap, or held by a device.",
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
        "raidplan does not take apart what is on a disk.",
        "Close or delete it with its own tools.",
    ),
    "hidden-from-lvm": (
        "LVM does not show a physical volume that would be cleared.",
        "Change LVM's filter or devices file, or remove the volume with its own tools.",
    ),
    "shared": (
        "What would be cleared stands on other disks as well.",
        "Add those disks to the layout, or delete it with its own tools.",
    ),
    "firmware": (
        "A disk is a member of an array of firmware, or of a cache.",
        "Delete the array in the firmware, or detach the cache.",
    ),
    "needed-at-boot": (
        "fstab, crypttab or a unit names what would be cleared, or a line that the next boot needs left the layout.",
        "Remove that line or unit, or move the line out of raidplan's block.",
    ),
    # what stands already
    "not-started": (
        "An array or a volume of the layout is there and does not run.",
        "Start it with the command in the message.",
    ),
    "too-many-lost": (
        "An array has lost more members than its level goes on without.",
        "Bring them back, and add nothing: the message has the commands.",
    ),
    "differs": (
        "What stands differs from the layout, and apply does not change that in place.",
        "Run the command in the message, or change the layout.",
    ),
    "runs-under-other-name": (
        "An array runs under another name, and another array under its own.",
        "Stop that one.",
    ),
    "superblocks-lost": (
        "Members of an array lost its superblock, or disks their table; its data can be whole.",
        "Run the command in the message.",
    ),
    "not-of-that-step": (
        "A step was interrupted, and the present content is not from it.",
        "`raidplan adopt` checks it and records it if intact; clear the rest by hand.",
    ),
    "gone": (
        "What an earlier step made is missing.",
        "Bring it back, or give it up: `raidplan adopt --forget`.",
    ),
    "not-in-journal": (
        "No journal says that an existing object was ever finished.",
        "`raidplan adopt` checks it and records it if intact.",
    ),
    "not-as-planned": (
        "A step finished, and the machine differs from its promise.",
        "Mend it, then apply again.",
    ),
    "not-whole": (
        "A check found damage in a file system.",
        "Mend it with its own tools, or clear it if nobody misses it (wipefs --all of its device).",
    ),
    "not-looked-at": (
        "The command that checks a file system could not read it.",
        "It may be sound: find out why.",
    ),
    "name-taken": (
        "An array, a volume group or a file in /dev has a name that the layout wants.",
        "Rename one of the two.",
    ),
    "uuid-taken": (
        "A disk outside the layout has the UUID of a planned object.",
        "Disconnect that disk, or give it another UUID.",
    ),
    # encryption
    "terminal-missing": (
        "A passphrase has to be typed, and there is no terminal.",
        "Run it from a terminal, or name a key file.",
    ),
    "passphrase-unfit": (
        "A new passphrase has fewer than 15 characters, or more bytes than cryptsetup reads.",
        "Choose another: several words are easily remembered.",
    ),
    "passphrase-differs": ("A new passphrase was typed twice, not the same way.", "Apply again."),
    "passphrase-wrong": (
        "No key of an encryption is the passphrase that was typed.",
        "Find the right one, or restore a copy of the header for which it is known.",
    ),
    "key-file": (
        "A key file is missing, empty, not root's, or others can read it.",
        "Make it, or mend its mode, by the command in the sentence.",
    ),
    "key-wrong": ("A key file does not open its encryption.", "Put the right one in its place."),
    # the journal, and plans in files
    "undo-interrupted": ("An undo was interrupted.", "Finish it with `raidplan undo`."),
    "interrupted-elsewhere": (
        "The interrupted apply began a step that this plan does not have.",
        "Finish it by the plan beside its journal, or `raidplan adopt` this layout.",
    ),
    "machine-changed": (
        "The machine changed since the plan in the file was made, or while a person read its list.",
        "Make the plan again.",
    ),
    "not-in-plan": (
        "A step is due that the plan in the file lacks.",
        "Make the plan again.",
    ),
    "journal-hidden": (
        "A mount of this plan would hide the folder of the journal.",
        "Name another folder with --state.",
    ),
    "journal-unusable": (
        "The journal, or a file beside it, is damaged or cannot be used.",
        "Do what the message says.",
    ),
    "locked": ("Another raidplan is at work.", "Wait for its end."),
    "no-room": (
        "The journal or the safety copies cannot be kept.",
        "Name another folder with --state.",
    ),
    "not-mountable": (
        "What `mount` brings up is missing, writable in spite of --read-only, hidden by another mount, or its command failed.",
        "Do what the message says.",
    ),
    "not-unmountable": (
        "What `umount` takes down is in use, hidden by another mount, or a command failed.",
        "End its use.",
    ),
    "assembly-held-off": (
        "An interrupted apply still holds off the automatic assembly of arrays.",
        "The next apply ends that, and so does a boot.",
    ),
    "not-undoable": (
        "What the last apply wrote over is gone, or there is no copy of it.",
        "Change the machine by a layout or by hand.",
    ),
    "changed-since": (
        "A disk, file or unit was changed since that apply.",
        "Restore the named file, unit or disk by hand.",
    ),
    # configuration files
    "block-damaged": (
        "The marks of raidplan's block in a configuration file are damaged.",
        "Restore the two lines.",
    ),
    "foreign-lines": (
        "raidplan's block has foreign lines, which would be lost.",
        "Move them out of the block.",
    ),
    "lines-conflict": (
        "A line of somebody else speaks of the same device, mount point or array.",
        "Remove that line, or take the thing out of the layout.",
    ),
    "others-unchecked": (
        "`scrub: none` would end the check of arrays of others too.",
        "Write `monthly`, or leave it out.",
    ),
    "mount-conflict": (
        "No remount changes what is mounted to the line of fstab.",
        "umount it, or write the line by hand and restart; then apply again.",
    ),
    "mount-point": ("A mount point is a link, no folder, or not empty.", "Empty it, or name another one."),
    "file-not-writable": ("A configuration file could not be written.", "Make room, or make it writable."),
    "initramfs": ("The initramfs could not be renewed.", "The message says what is missing."),
    # this machine
    "machine-unclear": (
        "A tool that reads the machine fails or is unclear.",
        "The message says what to mend.",
    ),
    "not-root": ("Only root can write to disks.", "Run it with sudo."),
    "not-administrator": ("Root of a container is not root of the machine.", "Run it on the machine itself."),
    "program-missing": ("A program that the plan runs is missing.", "Install it."),
    "program-not-roots": (
        "Others than root could change a program that root would run.",
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
        "Nothing is mounted at the folder of --target, or it is missing.",
        "Mount the system there, or give the layout a mount at /.",
    ),
    "firmware-differs": (
        "The layout's boot loader is for another firmware than the one in use.",
        "Start by that firmware, or change `firmware` under `hardware`.",
    ),
    "loader-cannot-read": ("GRUB could not read the kernels.", "Put /boot on ext4, or wait for the rebuild."),
    "loader-unsigned": (
        "Secure Boot is on, and the system has no signed boot loader.",
        "Install one, or switch Secure Boot off.",
    ),
    "memory": ("The stripe caches do not fit into memory.", "Lower `stripe_cache_size`."),
}
"""Each code, what it means and what ends it. A code is never given another meaning."""
