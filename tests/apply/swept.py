"""Pairs of layouts, by what is changed: before, after, what `diff` says of them and what `apply` says."""

from __future__ import annotations

SWEPT: dict[str, tuple[str, str, str, str]] = {
    "swap label": (
        "swap: {s: {device: d0.q, label: a}}\n",
        "swap: {s: {device: d0.q, label: b}}\n",
        "s changed: swaplabel --label",
        "s swap-in-use",
    ),
    "swap priority": (
        "swap: {s: {device: d0.q, priority: 1}}\n",
        "swap: {s: {device: d0.q, priority: 5}}\n",
        "s changed: swapoff, swapon --priority",
        "step swapoff; step swapon",
    ),
    "swap dev": (
        "swap: {s: {device: d0.q}}\n",
        "swap: {s: {device: d1.q}}\n",
        "s re-created: impossible",
        "s other",
    ),
    "swap on array grown": (
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p]}}\nswap: {s: {device: a}}\n",
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p,d3.p]}}\nswap: {s: {device: a}}\n",
        "a reshaped: mdadm --add, mdadm --grow --raid-devices; s changed: swapoff, mkswap, swapon",
        "a follows; a commands: mdadm, mdadm --grow --raid-devices; s commands-after-device: swapoff, mkswap --uuid, swapon",
    ),
    "swap on vol grown": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\nswap: {s: {device: vg.v}}\n",
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 768MiB}}}}\nswap: {s: {device: vg.v}}\n",
        "v changed: lvextend --size; s changed: swapoff, mkswap, swapon",
        "v commands-before-content: lvextend --size; s commands-after-device: swapoff, mkswap --uuid, swapon",
    ),
    "swap to ext4": (
        "swap: {s: {device: d0.q}}\n",
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "f created; s destroyed",
        "step mke2fs",
    ),
    "ext4 to swap": (
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "swap: {s: {device: d0.q}}\n",
        "f destroyed; s created",
        "step mkswap; step swapon",
    ),
    "luks discard": (
        "encryption: {c: {device: d0.q, key: ask}}\n",
        "encryption: {c: {device: d0.q, key: ask, discard: true}}\n",
        "c changed: cryptsetup refresh",
        "c discards: cryptsetup refresh --allow-discards",
    ),
    "luks sector": (
        "encryption: {c: {device: d0.q, key: ask, sector_size: 512}}\n",
        "encryption: {c: {device: d0.q, key: ask, sector_size: 4096}}\n",
        "c re-created: impossible",
        "c sector-size",
    ),
    "luks random to ask": (
        "encryption: {c: {device: d0.q, key: random}}\nswap: {s: {device: c}}\n",
        "encryption: {c: {device: d0.q, key: ask}}\nswap: {s: {device: c}}\n",
        "c re-created: impossible; s re-created: impossible, swapoff, mkswap, swapon",
        "c other",
    ),
    "luks renamed": (
        "encryption: {c: {device: d0.q, key: ask}}\n",
        "encryption: {e: {device: d0.q, key: ask}}\n",
        "c destroyed; e created",
        "step cryptsetup",
    ),
    "luks under fs": (
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "encryption: {c: {device: d0.q, key: ask}}\nfilesystems: {f: {device: c, type: ext4}}\n",
        "c created; f re-created: impossible, resize2fs",
        "f new-filesystem",
    ),
    "vol read_ahead": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\n",
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 512MiB, read_ahead: 1MiB}}}}\n",
        "v changed: lvchange --readahead",
        "step lvchange --readahead",
    ),
    "group reduced": (
        "volume_groups: {vg: {devices: [d0.q, d1.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\n",
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\n",
        "vg changed: pvmove, vgreduce",
        "vg commands: pvmove, vgreduce",
    ),
    "group other dev": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\n",
        "volume_groups: {vg: {devices: [d1.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\n",
        "vg changed: pvcreate, vgextend, pvmove, vgreduce",
        "vg commands: pvcreate --uuid --norestorefile --dataalignment, vgextend, pvmove, vgreduce",
    ),
    "vol added": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\n",
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {w: {size: 100MiB}, v: {size: 512MiB}}}}\n",
        "w created",
        "step lvcreate",
    ),
    "vol renamed": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\n",
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {w: {size: 512MiB}}}}\n",
        "v destroyed; w created",
        "step lvcreate",
    ),
    "group renamed": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\n",
        "volume_groups: {vh: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\n",
        "vg destroyed; v destroyed; vh created; v created",
        "step pvcreate; step vgcreate; step lvcreate",
    ),
    "extent larger": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 512MiB}}}}\n",
        "volume_groups: {vg: {devices: [d0.q], extent: 8MiB, volumes: {v: {size: 512MiB}}}}\n",
        "vg re-created: impossible; v re-created: impossible",
        "vg other",
    ),
    "mount point": (
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, mount: /g}}\n",
        "f changed: umount, mount",
        "/etc/fstab point; left mount /f",
    ),
    "mount options": (
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f, options: [noatime]}}\n",
        "f changed: mount --options remount",
        "step mount --options-source -o",
    ),
    "mount point given": (
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f}}\n",
        "f changed: systemctl start",
        "step mkdir; step systemctl",
    ),
    "mount point left out": (
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f}}\n",
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "f changed: umount",
        "left mount /f",
    ),
    "mount options of systemd": (
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f, options: [noatime]}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f, options: [noatime, x-systemd.device-timeout=9s]}}\n",
        "f changed: none",
        "configuration",
    ),
    "mount options that fstab has anyhow": (
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f, options: [noatime]}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f, options: [noatime, nofail, x-systemd.device-timeout=120s]}}\n",
        "f changed: none",
        "",
    ),
    "mount options for a new mount": (
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f, options: [noatime]}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f, options: [noatime, data=journal]}}\n",
        "f changed: umount, mount",
        "/etc/fstab options",
    ),
    "mount options of /var": (
        "filesystems: {f: {device: d0.q, type: ext4, mount: /var}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, mount: /var, options: [data=journal]}}\n",
        "f changed: none",
        "/etc/fstab options-at-boot",
    ),
    "mount point of /var": (
        "filesystems: {f: {device: d0.q, type: ext4, mount: /var}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, mount: /srv}}\n",
        "f changed: none",
        "/etc/fstab point-in-use; left mount /var",
    ),
    "mount point and options": (
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, mount: /g, options: [noatime]}}\n",
        "f changed: umount, mount, none",
        "/etc/fstab point; left mount /f",
    ),
    "swap priority of none": (
        "swap: {s: {device: d0.q, priority: -1}}\n",
        "swap: {s: {device: d0.q}}\n",
        "s changed: none",
        "",
    ),
    "swap priority to that of none": (
        "swap: {s: {device: d0.q, priority: 5}}\n",
        "swap: {s: {device: d0.q, priority: -1}}\n",
        "s changed: swapoff, swapon",
        "left priority 5",
    ),
    "swap priority left out": (
        "swap: {s: {device: d0.q, priority: 5}}\n",
        "swap: {s: {device: d0.q}}\n",
        "s changed: swapoff, swapon",
        "left priority 5",
    ),
    "stripe cache left out": (
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p], stripe_cache_size: 1024}}\n",
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p]}}\n",
        "a changed: none",
        "step udevadm; left md/stripe_cache_size 1024",
    ),
    "fs label": (
        "filesystems: {f: {device: d0.q, type: ext4, label: a}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, label: b}}\n",
        "f changed: e2label",
        "step e2label",
    ),
    "fs label xfs mounted": (
        "filesystems: {f: {device: d0.q, type: xfs, label: a, mount: /f}}\n",
        "filesystems: {f: {device: d0.q, type: xfs, label: b, mount: /f}}\n",
        "f changed: xfs_admin -L",
        "f label-mounted",
    ),
    "fs label vfat": (
        "filesystems: {f: {device: d0.q, type: vfat, label: A}}\n",
        "filesystems: {f: {device: d0.q, type: vfat, label: B}}\n",
        "f changed: fatlabel",
        "step fatlabel",
    ),
    "fs label f2fs mounted": (
        "filesystems: {f: {device: d0.q, type: f2fs, label: a, mount: /f}}\n",
        "filesystems: {f: {device: d0.q, type: f2fs, label: b, mount: /f}}\n",
        "f changed: f2fslabel",
        "f label-mounted",
    ),
    "fs label btrfs": (
        "filesystems: {f: {device: d0.q, type: btrfs, label: a, mount: /f}}\n",
        "filesystems: {f: {device: d0.q, type: btrfs, label: b, mount: /f}}\n",
        "f changed: btrfs filesystem label",
        "step btrfs filesystem label",
    ),
    "fs label none": (
        "filesystems: {f: {device: d0.q, type: ext4, label: a}}\n",
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "f changed: e2label",
        "step e2label",
    ),
    "fs other device": (
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "filesystems: {f: {device: d1.q, type: ext4}}\n",
        "f re-created: impossible",
        "f new-filesystem",
    ),
    "ext2 to ext3": (
        "filesystems: {f: {device: d0.q, type: ext2}}\n",
        "filesystems: {f: {device: d0.q, type: ext3}}\n",
        "f changed: tune2fs -j",
        "f commands: tune2fs -j",
    ),
    "ext2 to ext4": (
        "filesystems: {f: {device: d0.q, type: ext2}}\n",
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "f changed: tune2fs -O extents,has_journal",
        "f commands: tune2fs",
    ),
    "ext4 to ext3": (
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "filesystems: {f: {device: d0.q, type: ext3}}\n",
        "f re-created: impossible",
        "f new-filesystem",
    ),
    "fs renamed": (
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "filesystems: {g: {device: d0.q, type: ext4}}\n",
        "f destroyed; g created",
        "step mke2fs",
    ),
    "reserved": (
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, reserved: 0%}}\n",
        "f changed: tune2fs -r",
        "step tune2fs -r",
    ),
    "inode ratio": (
        "filesystems: {f: {device: d0.q, type: ext4}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, inode_ratio: 64KiB}}\n",
        "f re-created: impossible",
        "f new-filesystem",
    ),
    "f2fs smaller vol": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 800MiB}}}}\nfilesystems: {f: {device: vg.v, type: f2fs}}\n",
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 400MiB}}}}\nfilesystems: {f: {device: vg.v, type: f2fs}}\n",
        "v changed: lvreduce --size; f re-created: impossible",
        "v commands: lvreduce --size; f shrinks-not",
    ),
    "btrfs smaller vol": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 800MiB}}}}\nfilesystems: {f: {device: vg.v, type: btrfs, mount: /f}}\n",
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 400MiB}}}}\nfilesystems: {f: {device: vg.v, type: btrfs, mount: /f}}\n",
        "v changed: lvreduce --size; f changed: btrfs filesystem resize",
        "v commands: lvreduce --size; f commands: btrfs filesystem resize",
    ),
    "vfat larger vol": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 400MiB}}}}\nfilesystems: {f: {device: vg.v, type: vfat}}\n",
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 800MiB}}}}\nfilesystems: {f: {device: vg.v, type: vfat}}\n",
        "v changed: lvextend --size; f changed: none",
        "v commands-before-content: lvextend --size",
    ),
    "ext3to4+grow": (
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 400MiB}}}}\nfilesystems: {f: {device: vg.v, type: ext3}}\n",
        "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 800MiB}}}}\nfilesystems: {f: {device: vg.v, type: ext4}}\n",
        "v changed: lvextend --size; f changed: tune2fs -O extents, resize2fs",
        "v commands-before-content: lvextend --size; f commands: tune2fs; f commands-after-device: resize2fs",
    ),
    "luks vol larger": (
        (
            "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 400MiB}}}}\n"
            "encryption: {c: {device: vg.v, key: ask}}\n"
            "filesystems: {f: {device: c, type: ext4}}\n"
        ),
        (
            "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 800MiB}}}}\n"
            "encryption: {c: {device: vg.v, key: ask}}\n"
            "filesystems: {f: {device: c, type: ext4}}\n"
        ),
        "c changed: cryptsetup resize; v changed: lvextend --size; f changed: resize2fs",
        "v commands-before-content: lvextend --size; f commands-after-device: cryptsetup resize, resize2fs",
    ),
    "luks vol smaller": (
        (
            "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 800MiB}}}}\n"
            "encryption: {c: {device: vg.v, key: ask}}\n"
            "filesystems: {f: {device: c, type: ext4}}\n"
        ),
        (
            "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 400MiB}}}}\n"
            "encryption: {c: {device: vg.v, key: ask}}\n"
            "filesystems: {f: {device: c, type: ext4}}\n"
        ),
        "c changed: cryptsetup resize --size; v changed: lvreduce --size; f changed: resize2fs",
        "v commands: lvreduce --size; f commands: resize2fs, cryptsetup resize --size",
    ),
    "luks vol smaller xfs": (
        (
            "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 800MiB}}}}\n"
            "encryption: {c: {device: vg.v, key: ask}}\n"
            "filesystems: {f: {device: c, type: xfs}}\n"
        ),
        (
            "volume_groups: {vg: {devices: [d0.q], extent: 4MiB, volumes: {v: {size: 400MiB}}}}\n"
            "encryption: {c: {device: vg.v, key: ask}}\n"
            "filesystems: {f: {device: c, type: xfs}}\n"
        ),
        "c changed: cryptsetup resize --size; v changed: lvreduce --size; f re-created: impossible",
        "v commands: lvreduce --size; f shrinks-not",
    ),
    "spare added": (
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p]}}\n",
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p], spares: [d3.p]}}\n",
        "a changed: mdadm --manage --add-spare",
        "step mdadm --manage",
    ),
    "spare removed": (
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p], spares: [d3.p]}}\n",
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p]}}\n",
        "a changed: mdadm --manage --remove",
        "step mdadm --manage",
    ),
    "array renamed": (
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p]}}\n",
        "arrays: {b: {level: raid5, members: [d0.p,d1.p,d2.p]}}\n",
        "a destroyed; b created",
        "step udevadm; step mdadm",
    ),
    "swap file size": (
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f}}\nswap: {s: {file: /f/s, size: 64MiB}}\n",
        "filesystems: {f: {device: d0.q, type: ext4, mount: /f}}\nswap: {s: {file: /f/s, size: 128MiB}}\n",
        "s re-created: impossible",
        "s swap-file: swapoff",
    ),
    "chunk stripe xfs": (
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p], chunk: 64KiB}}\nfilesystems: {f: {device: a, type: xfs, mount: /f}}\n",
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p], chunk: 512KiB}}\nfilesystems: {f: {device: a, type: xfs, mount: /f}}\n",
        "a reshaped: mdadm --grow --chunk; f changed: none",
        "a commands: mdadm --grow --chunk; f stripe-stays",
    ),
    "level5-6 ext4": (
        "arrays: {a: {level: raid5, members: [d0.p,d1.p,d2.p]}}\nfilesystems: {f: {device: a, type: ext4}}\n",
        "arrays: {a: {level: raid6, members: [d0.p,d1.p,d2.p,d3.p]}}\nfilesystems: {f: {device: a, type: ext4}}\n",
        "a reshaped: mdadm --add, mdadm --grow --level --raid-devices",
        "a commands: mdadm, mdadm --grow --level --raid-devices",
    ),
}
