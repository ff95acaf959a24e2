"""The paths of the configuration that plans write, the mount points of the system, and the units that plans switch."""

from __future__ import annotations

from pathlib import PurePosixPath

UDEV_RULES = "/etc/udev/rules.d/65-raidplan-{host}.rules"
"""After 63-md-raid-arrays.rules, which imports MD_UUID."""
RULES_BEGIN = "# Written by raidplan"
MDADM_CONF = "/etc/mdadm/mdadm.conf"
OPEN, CLOSE = "# >>> raidplan {mark}", "# <<< raidplan {mark}"
"""The first and last line of our block in a file that others write too."""
BLOCK = (
    r"(?m)^[ \t]*"
    + OPEN.format(mark=r"(\S+)")
    + r"[ \t]*$[^\0]*?^[ \t]*"
    + CLOSE.format(mark=r"\1")
    + r"[ \t]*$"
)
"""A regular expression for such a block."""
MDADM_CONF_PARTS = (f"{MDADM_CONF}.d", "/etc/mdadm.conf.d")
"""Folders of files that mdadm reads after the main one; which of the two was decided when it was compiled."""
FSTAB = "/etc/fstab"
CMDLINE = "/proc/cmdline"
"""The words that the boot loader gave to the running kernel."""
RESUME_CONF = ("/etc/initramfs-tools/initramfs.conf", "/etc/initramfs-tools/conf.d")
"""A file and a folder of files in which RESUME= names the swap area of a hibernation (initramfs.conf(5))."""
SYSTEM_MOUNTS = ("/", "/usr", "/boot", "/var")
"""The mounts of the system itself; the boot does not go on without them."""
CRYPTTAB = "/etc/crypttab"
"""The lines by which encryptions are opened at boot; Debian's initramfs and systemd read it."""
DEFAULTS = "/etc/default/mdadm"
"""A file that Debian's scripts of mdadm read; of two lines the later one counts."""
CHECK = ("mdcheck_start.timer", "mdcheck_continue.timer")
CHECK_OF_CRON = "/etc/cron.d/mdadm"
"""Where it is there, as in Debian 12, the distribution's own check is that of cron; where not, as in Debian 13, the timers."""
LAST_RESORT = "mdadm-last-resort@.timer"
MONITOR = "mdmonitor.service"
STATE = "/var/lib/raidplan"
"""The folder of journals, and of copies of headers."""
REMOUNTED = ("/", "/usr")
"""Mounts that the initramfs makes, and that the boot brings to their lines in fstab by a remount (systemd-remount-fs(8))."""
RUNS_FROM = frozenset((*REMOUNTED, STATE, *map(str, PurePosixPath(STATE).parents)))
"""Mounts that nobody ends by hand while the system runs, or while the journal below them is written."""
INITRAMFS_ASIDE = "/boot/raidplan.new"
"""A folder on the file system of the images, which is there as long as new ones are being made."""
INITRAMFS_KEPT = "/boot/raidplan.old"
"""A folder beside it for earlier images: many programs look for initrd.img-* in /boot."""
LIVE = ("/proc", "/sys", "/dev", "/run")
"""Folders of the running system, which the kernel and systemd mount themselves; programs below a target see them as well."""


def below(target: str, file: str) -> str:
    """The path of a file of the machine: below the target, if there is one."""
    there = not target or any(PurePosixPath(file).is_relative_to(each) for each in LIVE)
    return file if there else target + file
