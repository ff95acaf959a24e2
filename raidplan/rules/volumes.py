"""Rules about LVM: a volume's read-ahead, its place on the stripes below, and whether the layer is used."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from math import lcm

from raidplan.base.findings import Edit, Path, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.size import KIB, MIB, align_up, exact, human
from raidplan.base.words import listed
from raidplan.layout.kinds.device import Device
from raidplan.layout.kinds.lvm import VolumeGroup
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import place
from raidplan.rules.workloads import RANDOM, work_on
from raidplan.topology import Topology

STEP = 128 * KIB
"""The divisor of an extent that is no power of two (lvm2, `vg_check_new_extent_size`)."""


def _groups(topology: Topology) -> Iterator[tuple[str, Path, VolumeGroup, list[Device]]]:
    """Each volume group with the devices it stands on, where all of them are known."""
    for name, group in topology.layout.volume_groups.items():
        uses = list(group.uses(name, ("volume_groups", name)))
        if uses and all(
            topology.used_by.get(use.device) == use and use.device in topology.devices for use in uses
        ):
            yield name, ("volume_groups", name), group, [topology.taken(use) for use in uses]


@rule(Severity.WARNING)
def volume_read_ahead_low(topology: Topology) -> Iterator[Hit]:
    """A logical volume reads less ahead than one stripe of the array below it.

    Why: a sequential reader keeps all disks busy only if whole stripes are asked for in advance; md takes two
    by default. LVM once gave every volume 128 KiB: 51.5 MB/s through it, where the array read 87.4 with 1 MiB
    and LVM 104.5 with 2 MiB; on eight disks with a stripe of 1.75 MiB it was 43 instead of 125 MB/s. That
    is what the advice to avoid LVM comes from. Today `auto` is the read-ahead of the array, also one that is
    written, so only a number here can bring the loss back. A note below two stripes; nothing for databases and
    small files.

    Bad:
        hardware:
          disks: {d<0-7>: {size: 1TB}}
        arrays:
          s0: {level: raid5, members: [d<0-7>], chunk: 256KiB}
        volume_groups:
          vg0:
            devices: [s0]
            volumes:
              home: {size: 2TiB, read_ahead: 128KiB}    # <-- here

    Good:
        hardware:
          disks: {d<0-7>: {size: 1TB}}
        arrays:
          s0: {level: raid5, members: [d<0-7>], chunk: 256KiB}
        volume_groups:
          vg0: {devices: [s0], volumes: {home: {size: 2TiB, read_ahead: auto}}}

    Source: "Software RAID vs. LVM: Quick Speed Test" (2009); N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File
    Server" (2005) and a comment there; lvm2, `lv_calculate_readahead`.
    """
    for name, path, group, parts in _groups(topology):
        widest = max(parts, key=lambda part: part.stripe)
        first, two = topology.layout.arrays.get(parts[0].name), exact(2 * widest.stripe)
        auto = widest is parts[0] and first is not None and first.read_ahead is None
        for volume, entry in group.volumes.items():
            ahead, use = entry.read_ahead, topology.used_by.get(f"{name}.{volume}")
            if ahead == "auto" or int(ahead) >= 2 * widest.stripe or (use and use.role == "swap"):
                continue
            works = work_on(topology, use.path[:2] if use else path)
            if works and works <= RANDOM:
                continue
            yield Hit(
                (*path, "volumes", volume, "read_ahead"),
                f"{name}.{volume} reads {exact(int(ahead))} ahead, and a full stripe of {widest.name} has "
                f"{exact(widest.stripe)} on {widest.data_disks} data disks",
                f"which takes over that of {parts[0].name}, or {two}" if auto else "two full stripes",
                severity=None if int(ahead) < widest.stripe else Severity.NOTE,
                related=(place("array", widest.path),) if widest.kind == "array" else (),
                edits=(Edit((*path, "volumes", volume, "read_ahead"), "auto" if auto else two),),
            )


@rule(Severity.NOTE)
def idle_volume_group(topology: Topology) -> Iterator[Hit]:
    """A volume group is one volume over the whole of one array: nothing of LVM is used.

    Why: it costs no speed, but it is one more layer to make, to name and to bring up at boot. LVM is worth it
    with several volumes, with space left for snapshots or for volumes to grow into, or over several arrays.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 1TB}}
        arrays:
          s0: {level: raid10, members: [d<0-3>]}
        volume_groups:
          vg0:    # <-- here
            devices: [s0]
            volumes: {all: {size: 100%free}}
        filesystems:
          data: {device: vg0.all, type: xfs, mount: /srv/data}

    Good:
        hardware:
          disks: {d<0-3>: {size: 1TB}}
        arrays:
          s0: {level: raid10, members: [d<0-3>]}
        filesystems:
          data: {device: s0, type: xfs, mount: /srv/data}

    Source: "Software RAID vs. LVM: Quick Speed Test" (2009); N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File
    Server" (2005), whose authors both came to drop it.
    """
    for name, path, group, (part, *others) in _groups(topology):
        if others or part.kind != "array" or len(group.volumes) != 1:
            continue
        ((volume, entry),), array = group.volumes.items(), part.name
        if entry.size == "100%free":
            yield Hit(
                path,
                f"{name} holds one volume, {volume}, over the whole of {array}: nothing of LVM is used",
                f"put what stands on it on {array}, or leave space for snapshots and growth",
                related=(place("array", part.path),),
            )


@rule(Severity.ERROR, acceptable=True)
def group_on_volume(topology: Topology) -> Iterator[Hit]:
    """A volume group is to stand on a volume of another one.

    Why: LVM makes no physical volume of a volume (`device is an LV`) and finds none there, so that a host leaves
    alone what its guests keep in theirs. `scan_lvs = 1` in lvm.conf would change that, in the initramfs too;
    raidplan leaves that file alone; where it says so, accept this. vgcreate would fail only after all below it
    was made.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        volume_groups:
          vg0: {devices: [s0], volumes: {guest: {size: 1TiB}}}
          vg1:
            devices: [vg0.guest]    # <-- here
            volumes: {home: {size: 100GiB}}

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        volume_groups:
          vg0: {devices: [s0], volumes: {guest: {size: 1TiB}, home: {size: 100GiB}}}

    Source: `lvmconfig --typeconfig default --withcomments devices/scan_lvs`; 0 since 2019 (lvm2, commit
    427e8ba3e318).
    """
    for name, group in topology.layout.volume_groups.items():
        for number, device in enumerate(group.devices):
            item = topology.provider.get(device)
            if item is not None and item.path[0] == "volume_groups":
                yield Hit(
                    ("volume_groups", name, "devices", number),
                    f"{device} is a volume of {item.name}, and LVM makes no physical volume of one for {name}",
                    f"make the volumes of {name} in {item.name}, or give {name} a device that is no volume; accept this where scan_lvs is 1",
                    related=(place("volume group", item.path),),
                )


@rule(Severity.NOTE)
def volume_off_stripe(topology: Topology) -> Iterator[Hit]:
    """A logical volume begins in the middle of a stripe of an array with parity.

    Why: raidplan lets the first extent begin at a full stripe. The volumes after it begin where the one
    before ends, which is a multiple of the extent, and 4 MiB are a multiple of the stripe only if the number
    of data disks is a power of two. The file system there lays out whole stripes that are none, and each
    such write has to read first.

    Bad:
        hardware:
          disks: {d<0-7>: {size: 1TB}}
        arrays:
          s0: {level: raid6, members: [d<0-7>]}
        volume_groups:
          vg0:
            devices: [s0]
            volumes:
              home: {size: 1TiB}
              work: {size: 1TiB}    # <-- here

    Good:
        hardware:
          disks: {d<0-7>: {size: 1TB}}
        arrays:
          s0: {level: raid6, members: [d<0-7>]}
        volume_groups:
          vg0: {devices: [s0], extent: 6MiB, volumes: {home: {size: 1TiB}, work: {size: 1TiB}}}

    Source: lvmraid(7) and pvcreate(8), `--dataalignment`; vgcreate(8), `--physicalextentsize`.
    """
    for name, path, group, (part, *others) in _groups(topology):
        array = topology.layout.arrays.get(part.name)
        if array is None or not LEVELS[array.level].parity or _unlike(part, others):
            continue
        stripe = part.stripe
        devices = [topology.devices.get(f"{name}.{volume}") for volume in group.volumes]
        starts = accumulate((device.size if device else 0 for device in devices), initial=0)
        off = [(v, start % stripe) for v, start in zip(group.volumes, starts, strict=False) if start % stripe]
        # Where a volume goes over from one array to the next, it is in the middle of a stripe as well.
        if off or (others and group.extent % stripe):
            better = fitting_extent(stripe)
            whole = sum(align_up(device.size, better) for device in devices if device is not None)
            room = sum(each.size - better - 2 * stripe for each in (part, *others))
            fits = all(devices) and whole <= room
            which = (
                f"{name}.{off[0][0]} begins {human(off[0][1])}" if off else f"a volume of {name} can go on"
            )
            yield Hit(
                (*path, "volumes", off[0][0]) if off else path,
                f"{which} into a stripe of {part.name}, which has "
                f"{human(stripe)}; the extents of {exact(group.extent)} do not fit into it",
                "" if fits else f"choose extent: {exact(better)} for {name}, and smaller volumes",
                related=(place("array", part.path),),
                edits=(Edit((*path, "extent"), exact(better)),) if fits else (),
            )


@rule(Severity.NOTE)
def unlike_stripes_in_group(topology: Topology) -> Iterator[Hit]:
    """A volume group stands on arrays with stripes of different sizes.

    Why: a volume may lie on any of them, or on several, so no stripe is right for the file system on it: raidplan
    tells mkfs none, and the kernel reports the least common multiple, which is a stripe of none of them. Files
    then begin anywhere in a stripe, and with parity every such write has to read first.

    Bad:
        hardware:
          disks: {d<0-9>: {size: 1TB}}
        arrays:
          s0: {level: raid5, members: [d<0-4>]}
          s1: {level: raid6, members: [d<5-9>]}
        volume_groups:
          vg0:    # <-- here
            devices: [s0, s1]
            volumes: {home: {size: 1TiB}}

    Good:
        hardware:
          disks: {d<0-9>: {size: 1TB}}
        arrays:
          s0: {level: raid5, members: [d<0-4>]}
          s1: {level: raid5, members: [d<5-9>]}
        volume_groups:
          vg0: {devices: [s0, s1], volumes: {home: {size: 1TiB}}}

    Source: Linux, `blk_stack_limits` (block/blk-settings.c), which `dm_calculate_queue_limits` calls for every
    device of a volume.
    """
    for name, path, _, (part, *others) in _groups(topology):
        if _unlike(part, others):
            stripes = (f"{each.name} {human(each.stripe)}" for each in (part, *others) if each.stripe)
            yield Hit(
                path,
                f"{name} stands on devices with different stripes ({listed(list(stripes))}): no stripe is right for "
                "a volume that can lie on any of them",
                "decide whether to make a volume group on each, or arrays of the same chunk and number of data disks",
                related=tuple(place("array", each.path) for each in (part, *others) if each.kind == "array"),
            )


def _unlike(part: Device, others: list[Device]) -> bool:
    return any((part.chunk, part.data_disks) != (each.chunk, each.data_disks) for each in others)


def fitting_extent(stripe: int) -> int:
    """The smallest extent from 4 MiB on that LVM takes and that is whole stripes, bytes."""
    return align_up(4 * MIB, lcm(stripe, STEP))
