"""The sentences of refusals about this machine, its programs and its mounts, as templates of `render/sentences.py`."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.render.key_words import AT

OTHER_MOUNT = f"{AT} is not what is mounted at {{point}}, but {{source}} ({{type}}): where nobody needs that, take it away first (`{{command}}`)"
DOWN_FIRST = "take all of it down with `raidplan umount`, then mount it with --read-only"

MACHINE: Mapping[str, Mapping[str, str]] = {
    "machine-unclear": {"": "{problem}"},
    "not-root": {"": "not root: run it with sudo"},
    "not-administrator": {
        "no-capability": "root without CAP_SYS_ADMIN, as in a container: run it on the host",
        "user-namespace": "root of a user namespace only, as in a container: run it on the host",
    },
    "program-missing": {
        "": "the program {place} is missing: install it",
        "folder": "{node} is a folder, and no program: install {place} in its place",
        "mode": "{node} is not executable: chmod +x {node}",
        "opener": "there is no {place}, which opens the encryptions of crypttab at boot: install {package}",
    },
    "program-not-roots": {
        "owner": "{place} belongs to user {user}, not to root: whoever may change it would be root here",
        "mode": "{place} can be written by others than root (mode {mode}): chmod go-w {place}",
    },
    "version": {
        "unknown": "{place} does not tell its version: it is another program of that name, or a script around it",
        "old": "{place} {version} is older than {oldest}, the first version that plans are right for",
        "option": f"{AT} needs {{program}} {{since}} or later (for {{options: }}), here is {{version}}",
    },
    "module-missing": {"": "the kernel {kernel} has no module {place}"},
    "udev-absent": {"": "udev does not run (there is no {place}), and without it no new partition gets a name: start systemd-udevd"},
    "systemd-absent": {
        "": "systemd does not run here (there is no {place}), and it is what mounts: run it on the booted system, in no chroot"
    },
    "target-not-mounted": {
        "": "nothing is mounted at {place}, and the layout mounts nothing at /: mount the system there, or leave out --target",
        "no-folder": "there is no folder {place}: make it (mkdir {place})",
    },
    "firmware-differs": {
        "": "this machine was started by {found}, and the layout's boot loader is for {planned}: start it by that, or write firmware: "
        "{found} under hardware"
    },
    "loader-cannot-read": {
        "": f"{AT}: {{what}}, as {{program}} writes it here, can be read by GRUB {{since}} or later, and it would be {{version}}: put /boot on "
        "ext4",
        "unknown": f"{AT}: {{what}}, as {{program}} writes it here, can be read by GRUB {{since}} or later, and its version is not known: put "
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
    "not-mountable": {
        "incomplete": f"{AT} lacks {{missing:12}}: --degraded assembles it without",
        "no-members": f"{AT} has none of its members here",
        "header": f"{AT}: its header is not there",
        "key-file": f"{AT}: its key file {{file}} is not there",
        "volume": f"{AT}: there is no volume {{volume}}",
        "filesystem": f"{AT}: its file system is not there",
        "other-mount": OTHER_MOUNT,
        "writable-mount": f"{AT} is mounted at {{point}} already, and writable: {DOWN_FIRST}",
        "writable-array": f"{AT} runs already as {{node}}, and writable: {DOWN_FIRST}",
        "command": "{command: }: {error}",
    },
    "not-unmountable": {
        "other-mount": OTHER_MOUNT,
        "mounted": "{place} is mounted as well: take it away first (`{command}`)",
        "swap": f"{AT} is in use: swapoff it first",
        "command": "{command: }: {error}",
    },
}
"""Reasons of `raidplan mount` and `raidplan umount`, by code and case."""
