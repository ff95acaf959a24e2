"""Changes of encryption, LVM, swap and mounts in place; those of file systems, by type, stand in `base/filesystems/`.

Sources: cryptsetup-luksChangeKey(8), cryptsetup-refresh(8), cryptsetup-resize(8),
lvm(8), vgchange(8), lvextend(8), lvreduce(8), pvcreate(8), pvresize(8), vgextend(8), mkswap(8), swapon(8), swaplabel(8), mount(8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from raidplan.base.mount_flags import fixed, flags
from raidplan.base.size import MIB, align_up
from raidplan.geometry import luks
from raidplan.geometry.md_member import MOST_1X
from raidplan.plan.changes.answer import Answer, Before, Reason, by_apply, by_hand, impossible

AT_BOOT = by_apply(before=(Before.AT_BOOT,), called="none")
"""A setting that the boot reads: `apply` writes it into the configuration, and leaves what runs as it is."""

KEY_CHANGED = by_hand("cryptsetup luksChangeKey {node}")
ENCRYPTION_REFRESHED = by_hand("cryptsetup refresh {options}{name}")
ENCRYPTION_CLOSED = by_hand("cryptsetup close {name}")
ENCRYPTION_GROWN = by_hand("cryptsetup resize {name}")
"""Before what is on it."""
ENCRYPTION_SHRUNK = by_hand("cryptsetup resize --size={sectors} {name}", before=(Before.CONTENTS_SHRUNK,))
"""In sectors of 512 bytes; after what is on it, and before its device."""
GROUP_EXTENDED = by_hand("pvcreate {options} {new}", "vgextend {group} {new}")
"""The first for each device, with the UUID and alignment of the plan: by itself vgextend draws another UUID (vgextend(8))."""
GROUP_REDUCED = by_hand("pvmove {old}", "vgreduce {group} {old}", before=(Before.DEVICE_LATER,))
PHYSICAL_GROWN = by_hand("pvresize {node}")
PHYSICAL_SHRUNK = by_hand(
    "pvmove {end}", "pvresize --setphysicalvolumesize={size}b {node}", before=(Before.END_MOVED,)
)
EXTENT = by_hand("vgchange --physicalextentsize={size}b {group}")


def extent(now: int, planned: int) -> Answer:
    """The way to another size of extents: to a divisor, so that no extent has to move."""
    return impossible(Reason.SIZE_OF_EXTENTS) if now % planned else EXTENT


VOLUME_GROWN = by_hand("lvextend --size={size}b {node}")
VOLUME_SHRUNK = by_hand("lvreduce --size={size}b {node}", before=(Before.CONTENTS_SHRUNK,))
VOLUME_READ_AHEAD = by_apply("lvchange --readahead={sectors} {volume}")
VOLUME_ACTIVATED = by_apply("lvchange --activate y {volume}")

SWAP_LABEL = by_apply("swaplabel --label {label} {node}", before=(Before.UNUSED_SWAP,))
SWAP_PRIORITY = by_apply("swapoff {node}", "swapon --priority={priority} {node}")
"""Linux gives a priority when an area is taken into use, and not after (swapon(2))."""
SWAP_OFF = by_apply(SWAP_PRIORITY.commands[0])
SWAP_WITHOUT_PRIORITY = by_hand(*SWAP_OFF.commands, "swapon {node}")
SWAP_GROWN = by_hand(*SWAP_OFF.commands, "mkswap {options} {node}", "swapon {node}")
"""On a device of another size, with the UUID and label that it had."""
SWAP_SHRUNK = SWAP_GROWN._replace(before=(Before.SWAP_OFF_FIRST,))


def swap_priority(planned: int | None) -> Answer:
    """The way to another priority; to the kernel's own by hand, since `apply` ends no use for that."""
    return SWAP_WITHOUT_PRIORITY if planned is None else SWAP_PRIORITY


REMOUNTED = by_apply("mount --options-source=disable -o {options} {point}", called="mount --options remount")
"""Without fstab, since its line may have options that no remount takes."""
IN_FSTAB_FIRST = by_hand(before=(Before.IN_FSTAB_FIRST,), called="none")
FROM_OUTSIDE = by_hand(before=(Before.FROM_OUTSIDE,), called="none")
MOUNTED = by_apply("systemctl start {new}")
UNMOUNTED = by_hand("umount {point}")
MOUNTED_ELSEWHERE = by_hand(*UNMOUNTED.commands, "mount {new}")


def mount_point(now: str | None, planned: str | None, *, stays: bool) -> Answer:
    """The way to another mount point, to the first, or to none; `stays`: nobody ends the present mount while the system runs."""
    if now is None:
        return MOUNTED
    if stays:
        return FROM_OUTSIDE
    return UNMOUNTED if planned is None else MOUNTED_ELSEWHERE


def mount_options(now: Sequence[str], planned: Sequence[str], *, stays: bool) -> Answer:
    """The way to other options in the line of fstab: a remount, a new mount for those that the file system reads then, or none;
    `stays`: nobody ends the mount while the system runs."""
    if fixed(now) == fixed(planned):
        return AT_BOOT if flags(now) == flags(planned) else REMOUNTED
    return IN_FSTAB_FIRST if stays else MOUNTED_ELSEWHERE


AS_MADE = by_hand(before=(Before.AS_MADE,), called="none")
"""A property that is fixed when the object is made: nothing is to be done about it when that grows."""
FRONTS: Mapping[str, tuple[str, int]] = {
    "encryption": ("data_offset", luks.HEADER),
    "physical_volume": ("data_start", MIB),
}
"""By kind of object: the property `AS_MADE` that has the bytes in front of its data, and the fewest of them."""


def front_stays(kind: str, front: object, chunks: Iterable[int]) -> bool:
    """Whether a new object would have so many bytes in front on an array of one of these chunks, with some number of members.

    On anything else there is one right place, so that another one does not come from a growth.
    """
    least = FRONTS[kind][1]
    return any(front == align_up(least, members * chunk) for chunk in chunks for members in range(1, MOST_1X))
