"""Rules about mount options: those that stop the boot, that no kernel knows any more, and that do nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.findings import Edit, Path, Severity, shortened
from raidplan.base.levels import LEVELS
from raidplan.base.size import human
from raidplan.layout.kinds.boot_options import BOOT_OPTIONS, TIMEOUT, device_timeout
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.plan.places import SYSTEM_MOUNTS
from raidplan.rules.autostart import is_short, last_disk, wait_for_disks
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.made_filesystems import ext_filesystems
from raidplan.rules.lib.subjects import array_disks, arrays, footing, place
from raidplan.topology import Topology

WRITTEN = device_timeout(BOOT_OPTIONS) or 0
"""Seconds of the wait that raidplan writes where no other is given."""


def _options(topology: Topology) -> Iterator[tuple[str, Filesystem, Path, str]]:
    """Each mount option with its file system and path."""
    for name, entry in topology.layout.filesystems.items():
        for number, option in enumerate(entry.options):
            yield name, entry, ("filesystems", name, "options", number), option


@rule(Severity.WARNING)
def mount_blocks_boot(topology: Topology) -> Iterator[Hit]:
    """The boot waits for a file system on an array that the system itself can do without.

    Why: systemd waits 90 s for a device that is missing, and without `nofail` it then stops in the emergency
    shell: a machine far away is not reached any more, and the disks that could be looked at over the network
    are the reason. A degraded array is only started after 30 s, so with a wait below a minute a mount fails
    that would have worked; machines with many disks behind multipliers took 3 minutes to boot. raidplan
    writes `nofail` and a wait of 120 s by itself, unless `auto` or another wait is given. A service that needs
    the file system, such as a database, says so in a drop-in: `RequiresMountsFor=/srv/data` below `[Unit]`; with
    `nofail` alone it is started without, and writes below the empty mount point.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        filesystems:
          data:
            device: s0
            type: xfs
            mount: /srv/data
            options: [auto]    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        filesystems:
          data: {device: s0, type: xfs, mount: /srv/data}

    Source: systemd.mount(5); systemd.unit(5), `RequiresMountsFor=`; mdadm's
    `mdadm-last-resort@.timer`; E. Aronovich, "Cheap network storage system" (2012).
    """
    for name, entry in topology.layout.filesystems.items():
        if not entry.mount or entry.mount in SYSTEM_MOUNTS or not footing(topology, entry.device).arrays:
            continue
        wait, mount = device_timeout(entry.options), shortened(entry.mount)
        short = is_short(topology, entry)
        if entry.stops_boot:
            yield Hit(
                ("filesystems", name, "options", entry.options.index("auto")),
                f"without {entry.device} the boot stops, though the system itself does not need {mount}",
                "so that raidplan writes nofail and a wait of 120 s, or write nofail beside it",
                edits=_without(name, entry, ("auto", TIMEOUT) if short else ("auto",)),
            )
        elif short:
            number = next(n for n, option in enumerate(entry.options) if option.startswith(f"{TIMEOUT}="))
            hint, edits = (
                f"for a wait of {WRITTEN:g} s, or write a minute or more",
                _without(name, entry, (TIMEOUT,)),
            )
            seconds, why = last_disk(topology, entry)
            if seconds > WRITTEN:
                hint = f"since its disks may take {seconds} s to appear: {why}"
                edits = wait_for_disks(name, entry, seconds)
            yield Hit(
                ("filesystems", name, "options", number),
                f"{mount} is given up after {wait:g} s, and a degraded {entry.device} is only started after 30 s",
                hint,
                edits=edits,
            )


def _without(name: str, entry: Filesystem, unwanted: Collection[str]) -> tuple[Edit, ...]:
    """A file system without some of its mount options, by their keys."""
    keys = enumerate(option.partition("=")[0] for option in entry.options)
    return tuple(
        Edit(("filesystems", name, "options", number), None) for number, key in keys if key in unwanted
    )


@rule(Severity.WARNING)
def no_write_barriers(topology: Topology) -> Iterator[Hit]:
    """A mount option switches off the flushes that keep a file system whole over a power cut.

    Why: disks hold megabytes of writes in their caches and write them in any order. The journal is only worth
    something if it is on the platters before what it describes. It is an error on XFS, where the option was
    removed in Linux 4.19: the mount fails. Flushes cost next to nothing where a battery makes them needless.

    Bad:
        hardware:
          disks: {d0: {size: 3TB}}
        filesystems:
          data:
            device: d0
            type: ext4
            mount: /srv/data
            options: [nobarrier]    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 3TB}}
        filesystems:
          data: {device: d0, type: ext4, mount: /srv/data}

    Source: https://docs.kernel.org/admin-guide/ext4.html; https://docs.kernel.org/admin-guide/xfs.html
    ("Removed Mount Options").
    """
    for name, entry, path, option in _options(topology):
        kind, since = entry.format, entry.format.removed_options.get(option)
        if since:
            message = (
                f"{kind.called} has no option '{option}' since Linux {since}, so {name} would not be mounted"
            )
            hint, edits = f"since {kind.called} always flushes", (Edit(path, None),)
            yield Hit(path, message, hint, severity=Severity.ERROR, edits=edits)
        elif option in kind.flushless:
            message = f"'{option}' leaves {name} open to corruption by a power cut"
            yield Hit(path, message, edits=(Edit(path, None),))


@rule(Severity.WARNING)
def xfs_stripe_options(topology: Topology) -> Iterator[Hit]:
    """An XFS is mounted with a stripe in numbers, which count sectors of 512 bytes.

    Why: mkfs.xfs takes the stripe from the array, raidplan writes it out, and the file system remembers it.
    The mount options override that, in units of 512 bytes, while xfs_info prints blocks of 4 KiB: numbers
    copied from there are wrong by a factor of eight, and every allocation is then misaligned.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}
        filesystems:
          data:
            device: s0
            type: xfs
            mount: /srv/data
            options: [sunit=128, swidth=384]    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}
        filesystems:
          data: {device: s0, type: xfs, mount: /srv/data}

    Source: xfs(5), sunit and swidth; xfs_info(8).
    """
    for name, entry in topology.layout.filesystems.items():
        kind = FILESYSTEMS[entry.type]
        given = [option for option in entry.options if option.partition("=")[0] in kind.stripe_options]
        if given:
            device = topology.devices.get(entry.device)
            right = device.chunk if device is not None else 0
            yield Hit(
                ("filesystems", name, "options", entry.options.index(given[0])),
                f"{shortened(', '.join(given))} override what {kind.package.programs[0]} notes of {entry.device}, and count 512 bytes",
                f"for the stripe is noted as sunit={right // 512}, swidth={device.stripe // 512}"
                if device is not None and right
                else "",
                edits=_without(name, entry, kind.stripe_options),
            )


@rule(Severity.WARNING)
def ext4_stripe_option(topology: Topology) -> Iterator[Hit]:
    """An ext4 is mounted with another stripe than the array below it has.

    Why: mke2fs notes the stripe of the array, and ext4 allocates large files along it. The mount option
    `stripe` overrides that, in blocks of the file system, and means the full stripe: chunk times data disks.
    With half of it, every other large write begins in the middle of a stripe, and a parity array has to read
    before it writes. `stripe=0` is not meant: it switches the alignment off, as some kernels need it.

    Bad:
        hardware:
          disks: {d<0-4>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-4>], chunk: 1MiB}
        filesystems:
          data:
            device: s0
            type: ext4
            mount: /srv/data
            options: [stripe=64]    # <-- here

    Good:
        hardware:
          disks: {d<0-4>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-4>], chunk: 1MiB}
        filesystems:
          data: {device: s0, type: ext4, mount: /srv/data}

    Source: https://docs.kernel.org/admin-guide/ext4.html, `stripe`;
    https://github.com/torvalds/linux/blob/master/fs/ext4/super.c (`ext4_get_stripe_size`).
    """
    for made, geometry in ext_filesystems(topology):
        right = geometry.stripe_width
        for number, option in enumerate(made.entry.options if geometry.fstype == "ext4" and right else ()):
            key, _, value = option.partition("=")
            if key == "stripe" and value.isdecimal() and int(value) not in (0, right):
                yield Hit(
                    (*made.path, "options", number),
                    f"'{shortened(option)}' overrides the stripe of {made.device.name}, which has {right} blocks of "
                    f"{human(geometry.block_size)}: {human(made.device.stripe)}",
                    f"for mke2fs notes the stripe by itself (stripe={right})",
                    edits=(Edit((*made.path, "options", number), None),),
                )


@rule(Severity.WARNING)
def discard_on_parity(topology: Topology) -> Iterator[Hit]:
    """A file system on raid4, raid5 or raid6 of solid-state disks is mounted with `discard`.

    Why: md passes TRIM on for raid0, raid1 and raid10. For parity it does so only if
    `raid456.devices_handle_discard_safely=Y` is set: the parity stays right only if every disk is sure to
    read zeroes where it was trimmed, and md trims whole stripes only. Without the parameter the option does
    nothing, and the disks believe that they are full. Where it works, a weekly fstrim does the same without a
    delay at each deletion.

    Bad:
        hardware:
          disks: {s<0-3>: {size: 2TB, rotational: false}}
        arrays:
          fast: {level: raid5, members: [s<0-3>]}
        filesystems:
          data:
            device: fast
            type: ext4
            mount: /srv/data
            options: [discard]    # <-- here

    Good:
        hardware:
          disks: {s<0-3>: {size: 2TB, rotational: false}}
        arrays:
          fast: {level: raid10, members: [s<0-3>]}
        filesystems:
          data: {device: fast, type: ext4, mount: /srv/data, options: [discard]}

    Source: https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c
    (`devices_handle_discard_safely`).
    """
    for _, entry, path, option in _options(topology):
        if option.partition("=")[0] != "discard":
            continue
        parity = topology.once(_solid_parity).intersection(footing(topology, entry.device).arrays)
        for name in sorted(parity)[:1]:
            yield Hit(
                path,
                f"{name} is {topology.layout.arrays[name].level}, which passes no TRIM on unless md is told "
                "that its disks read zeroes afterwards",
                "or choose raid10; set raid456.devices_handle_discard_safely=Y only if the maker promises it",
                related=(place("array", ("arrays", name)),),
                edits=(Edit(path, None),),
            )


def _solid_parity(topology: Topology) -> frozenset[str]:
    """The arrays with parity whose disks are known to be solid-state."""
    disks = topology.layout.hardware.disks
    parity = ((name, array) for name, _, array in arrays(topology) if LEVELS[array.level].parity)
    below = ((name, array_disks(topology, array)) for name, array in parity)
    return frozenset(
        name for name, names in below if names and all(disks[disk].rotational is False for disk in names)
    )
