"""Keys and words that people write because other tools have them, and what to do where raidplan has not."""

from __future__ import annotations

STATE = "once the array stands, as root: `echo {} > /sys/block/mdN/md/dev-DISK/state`"
NOT_DONE = {
    "spare_group": "give each array spares of its own: raidplan shares none between arrays",
    "write_mostly": f"raidplan has no key for it; {STATE.format('writemostly')}",
    "failfast": f"raidplan has no key for it; {STATE.format('failfast')}",
    "integrity": "raidplan makes no dm-integrity, and takes disks, partitions, arrays and volumes only",
    "luks": "write encryption: {crypt0: {device: s0, key: ask}}, and let the file system be on crypt0",
    "bitmap_chunk": "raidplan leaves it to mdadm; after apply: `mdadm --grow --bitmap=none`, then `mdadm --grow --bitmap=internal --bitmap-chunk`",
    "rmw_level": "raidplan has no key for it; write /sys/block/mdN/md/rmw_level after each boot",
    "journal_mode": "raidplan has no key for it; write /sys/block/mdN/md/journal_mode after each boot",
    "profile": "raidplan makes btrfs on one device, with mkfs.btrfs's own profiles",
    "multipath": "describe each disk once, by its serial or wwn: raidplan knows no multipath",
    "mkfs_options": "raidplan computes them; change what can be changed after apply: tune2fs, xfs_admin, btrfs",
    "zfs": "choose ext4, xfs or btrfs: raidplan makes no ZFS, and leaves disks alone that the layout does not use",
}
"""A hint for each, in place of a list of keys or of the key that is spelled most alike."""
