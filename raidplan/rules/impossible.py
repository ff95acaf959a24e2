"""The documentation of findings that are made before any rule runs: sizes that do not fit, and what no tool would make."""

from __future__ import annotations

from raidplan.base.findings import Severity
from raidplan.rules.lib.engine import stated


@stated(Severity.ERROR)
def partitions_too_large() -> None:
    """The partitions of a disk do not fit on it.

    Why: a partition table takes 1 MiB at the front and up to 128 MiB at the end, and partitions begin at full
    MiB. Only one of them can take the rest.

    Bad:
        hardware:
          disks:
            d0:
              size: 500GB
              partitions: {root: {size: 400GB}, swap: {size: 100GB}}    # <-- here

    Good:
        hardware:
          disks:
            d0: {size: 500GB, partitions: {root: {size: 400GB}, swap: {size: rest}}}

    Source: the GUID partition table, UEFI specification 2.10, section 5.3.
    """


@stated(Severity.ERROR)
def volumes_too_large() -> None:
    """The volumes of a group do not fit into it.

    Why: LVM gives out whole extents, and each physical volume loses its first MiB. Only one volume can take the
    rest.

    Bad:
        hardware: {disks: {d0: {serial: S0, size: 500GB}}}
        volume_groups:
          vg0:
            devices: [d0]
            volumes: {home: {size: 500GB}}    # <-- here

    Good:
        hardware: {disks: {d0: {serial: S0, size: 500GB}}}
        volume_groups:
          vg0:
            devices: [d0]
            volumes: {home: {size: 100%free}}

    Source: lvm2, lib/format_text; vgcreate(8).
    """


@stated(Severity.ERROR)
def label_too_long() -> None:
    """A label is longer than the file system can store.

    Why: XFS stores 12 bytes, ext4 16, FAT 11, swap 16. The tool refuses it, or cuts it, and then nothing that
    mounts by label finds it.

    Bad:
        hardware: {disks: {d0: {serial: S0, size: 500GB}}}
        filesystems:
          f: {device: d0, type: xfs, label: measurements-2026}    # <-- here

    Good:
        hardware: {disks: {d0: {serial: S0, size: 500GB}}}
        filesystems:
          f: {device: d0, type: xfs, label: measurements}

    Source: mkfs.xfs(8), mke2fs(8), mkfs.fat(8), mkswap(8).
    """


@stated(Severity.ERROR, general=True)
def impossible_array() -> None:
    """No array can be made of these members.

    Why: they are too small for their metadata and one stripe.

    Bad:
        hardware: {disks: {d<0-2>: {serial: S<1>, size: 16MiB}}}
        arrays:
          s0: {level: raid5, members: [d<0-2>], chunk: 64MiB}    # <-- here

    Good:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0: {level: raid5, members: [d<0-2>], chunk: 64KiB}

    Source: mdadm 4.2, super1.c.
    """


@stated(Severity.ERROR, general=True)
def impossible_filesystem() -> None:
    """No file system of this type can be made in this way on this device.

    Why: the type's own tool would refuse it, after the arrays below had been made. mke2fs, for one, keeps at
    most half of the blocks in reserve.

    Bad:
        hardware: {disks: {d0: {serial: S0, size: 500GB}}}
        filesystems:
          f: {device: d0, type: ext4, reserved: 60%}    # <-- here

    Good:
        hardware: {disks: {d0: {serial: S0, size: 500GB}}}
        filesystems:
          f: {device: d0, type: ext4, reserved: 1%}

    Source: mke2fs(8), mkfs.xfs(8).
    """


@stated(Severity.ERROR, general=True)
def impossible_volume_group() -> None:
    """No volume group can be made of these devices.

    Why: a physical volume needs room for its metadata and at least one extent.

    Bad:
        hardware: {disks: {d0: {serial: S0, size: 64MiB}}}
        volume_groups:
          vg0: {devices: [d0], extent: 128MiB}    # <-- here

    Good:
        hardware: {disks: {d0: {serial: S0, size: 64MiB}}}
        volume_groups:
          vg0: {devices: [d0], extent: 4MiB}

    Source: vgcreate(8).
    """


@stated(Severity.ERROR, general=True)
def impossible_encryption() -> None:
    """No device can be encrypted as the layout says.

    Why: LUKS2 takes 16 MiB in front, up to a full stripe, for its two headers and the key slots. Behind them
    there has to be a whole number of the sectors that are encrypted as one: cryptsetup refuses the rest.

    Bad:
        hardware:
          disks: {d0: {serial: S0, size: 1GB, partitions: {small: {size: 16MiB}, data: {size: rest}}}}
        encryption:
          crypt:
            device: d0.small    # <-- here
            key: ask

    Good:
        hardware:
          disks: {d0: {serial: S0, size: 1GB, partitions: {small: {size: 16MiB}, data: {size: rest}}}}
        encryption:
          crypt: {device: d0.data, key: ask}

    Source: cryptsetup, lib/luks2/luks2_json_format.c and lib/setup.c.
    """
