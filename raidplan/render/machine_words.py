"""The sentences of refusals about this machine, its programs and its mounts, as templates of `render/sentences.py`."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.render.key_words import AT

OTHER_MOUNT = f"{AT} is not mounted at {{point}}, but {{source}} ({{type}}) is: if nobody needs that, unmount it first (`{{command}}`)"
DOWN_FIRST = "take all of it down with `raidplan umount`, then mount it with --read-only"

MACHINE: Mapping[str, Mapping[str, str]] = {
    "machine-unclear": {
        "": "{problem}",
        "array": "the array {place} shows no UUID, so nothing can be said about it: stop it (mdadm --stop) if nobody needs it",
        "program": "{place} failed: {problem}",
        "unsettled": "udev has been at work on some device for a minute, so what disks are called may be out of date: `udevadm monitor` "
        "shows which one it is; end that, then try again",
    },
    "not-root": {"": "not root: run it with sudo"},
    "not-administrator": {
        "no-capability": "root without CAP_SYS_ADMIN, as in a container: run it on the host",
        "no-trace": "root without CAP_SYS_PTRACE, from whom programs that write to a disk are hidden: run it with all of root's rights",
        "user-namespace": "root of a user namespace only, as in a container: run it on the host",
        "process-namespace": "in a namespace of processes of its own, as in a container, where programs of others that write to a disk are "
        "not to be seen: run it on the host",
    },
    "program-missing": {
        "": "the program {place} is missing: install it",
        "folder": "{node} is a folder, not a program: remove it and install {place}",
        "mode": "{node} is not executable: chmod +x {node}",
        "opener": "{place} is missing, which opens the encryptions of crypttab at boot: install {package}",
    },
    "program-not-roots": {
        "owner": "{place} belongs to user {user}, who could change what raidplan runs as root: chown root {place}",
        "mode": "{place} can be written by others than root (mode {mode}): chmod go-w {place}",
    },
    "version": {
        "unknown": "{place} does not tell its version, so it is another program of that name, or a script around it: install the distribution's own",
        "old": "{place} {version} is older than {oldest}, the oldest version that raidplan supports",
        "option": f"{AT} needs {{program}} {{since}} or later (for {{options: }}), and this machine has {{version}}",
    },
    "module-missing": {"": "the running kernel {kernel} has no module {place}: install its modules, or restart into a kernel that has them"},
    "udev-absent": {"": "udev does not run ({place} is missing), and without it no new partition gets a name: start systemd-udevd"},
    "systemd-absent": {
        "": "systemd, which does the mounting, does not run here ({place} is missing): run raidplan on the booted system, not in a chroot"
    },
    "target-not-mounted": {
        "": "nothing is mounted at {place}, and the layout mounts nothing at /: mount the system there, or leave out --target",
        "no-folder": "there is no folder {place}: make it (mkdir {place})",
    },
    "firmware-differs": {
        "": "this machine was booted by {found}, but the layout's boot loader is for {planned}: boot it by {planned}, or write firmware: "
        "{found} under hardware"
    },
    "loader-cannot-read": {
        "": f"{AT}: only GRUB {{since}} or later can read {{what}}, as {{program}} writes it here, and the version here is {{version}}: put /boot on "
        "ext4",
        "unknown": f"{AT}: only GRUB {{since}} or later can read {{what}}, as {{program}} writes it here, and the version here is unknown: put "
        "/boot on ext4, or install grub2-common of the same release here",
        "rebuilt": f"{AT}: GRUB may read the member that md still rebuilds: wait for it (mdadm --wait {{node}}), and apply again",
    },
    "loader-unsigned": {
        "": "Secure Boot is on, and the system in {place} lacks {missing: and }: install it there, or switch Secure Boot off"
    },
    "memory": {"": "the stripe caches take {wanted:size}, and the machine has {memory:size}: lower stripe_cache_size"},
}  # fmt: skip
"""By code and case."""

MOUNT: Mapping[str, Mapping[str, str]] = {
    "mount-conflict": {
        "point": "{source} is mounted at {now}, and the layout wants {planned}: umount {now}, then apply again",
        "point-in-use": "{source} is mounted at {now}, which this system runs from, and the layout wants {planned}: apply in a rescue system, "
        "with --target /mnt",
        "options": "the layout wants {point} {changes: and }, which a remount may not change: umount {mounted}, then apply again",
        "options-remounted": "the layout wants {point} {changes: and }, and {point} is only ever remounted: if `{command}` is taken, as the boot "
        "does it, write {options} into its line of {place}, restart, then apply again; if not, leave it out of the layout",
        "options-at-boot": "the layout wants {point} {changes: and }, which a remount may not change, and the journal lies below it: write "
        "{options} into its line of {place}, restart, then apply again",
    },
    "not-mountable": {
        "incomplete": f"{AT} lacks {{missing:12}}: --degraded assembles it without them",
        "no-members": f"{AT}: none of its members is in this machine: connect their disks",
        "header": f"{AT}: no LUKS header with its UUID was found: is its device there, and the array below it assembled?",
        "key-file": f"{AT}: its key file {{file}} is missing: put it there",
        "volume": f"{AT}: LVM finds no volume {{volume}}: are the devices of its group there?",
        "filesystem": f"{AT}: the file system of the layout was not found on its device",
        "other-mount": OTHER_MOUNT,
        "writable-mount": f"{AT} is mounted at {{point}} already, and writable: {DOWN_FIRST}",
        "writable-array": f"{AT} runs already as {{node}}, and writable: {DOWN_FIRST}",
        "command": "{command: }: {failures:; }",
    },
    "not-unmountable": {
        "other-mount": OTHER_MOUNT,
        "mounted": "{place} is mounted too: unmount it first (`{command}`)",
        "swap": f"{AT} is in use as swap: switch it off first (swapoff)",
        "command": "{command: }: {failures:; }",
    },
}
"""Reasons about mounts: what stays mounted otherwise than fstab will say, and those of `raidplan mount` and `raidplan umount`."""
