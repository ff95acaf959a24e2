"""The initramfs made anew: the earlier image of each kernel stays beside until the new one is proven, or comes back.

Neither update-initramfs nor dracut looks into what it made, and update-initramfs ends with 0 where it did nothing
(`update_initramfs=no`, /boot mounted read-only). A machine whose image does not name its arrays calls them md127.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from filecmp import cmp
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from raidplan.facts.initramfs import BEFORE, Unconfigured, Unreadable, arrays_named, images, unpacker
from raidplan.size import human

if TYPE_CHECKING:
    from raidplan.apply.world import World

GROWTH = 1.2
"""A new image may be so much larger than the present one."""


def renew(argv: Sequence[str], arrays: Sequence[str], world: World) -> str:
    """Runs the program, and reads every image that it made; why the earlier ones were put back, if they were.

    Raises OSError. Killed at any point: the earlier images lie beside the new ones, which are not proven, so the
    step is due again. What it finds kept then comes back only in place of an image that is not whole: what was made
    since the kill, by the program itself or by an upgrade, is the earlier image now.
    """
    found = images(world.path("/"), os.uname().release)
    if problem := "; ".join(undecided(found, arrays)):
        return problem
    for image in found:
        if not _before(image).exists() or _whole(image, arrays):
            world.keep_beside(image, _before(image))
    result = world.run(argv)
    problem = result.last_words if result.returncode else "; ".join(unproven(found, arrays))
    for image in found:
        if problem:
            world.effect("rename", str(image), partial(_before(image).rename, image))
        else:
            world.sync(image)
            world.effect("remove", str(_before(image)), _before(image).unlink)
        world.sync(image.parent)
    if problem and found:
        problem += (
            f"; the earlier images are back in {found[0].parent}, and the machine boots as before: see why "
            f"`{' '.join(argv)}` did not do it, then apply again"
        )
    return problem


def undecided(found: Sequence[Path], arrays: Sequence[str]) -> Iterator[str]:
    """Images of which nobody here knows whether they are better than the one that is kept beside them, in words."""
    for image in found:
        if _before(image).exists() and _whole(image, arrays) is None:
            yield (
                f"{_before(image)} is left of an apply that was killed, and {image} was made since, but does not name all "
                "arrays that the other names: keep the one that boots this machine (mv or rm), then apply again"
            )


def _whole(image: Path, arrays: Sequence[str]) -> bool | None:
    """Whether an image was made to its end since another was kept beside it, and is no worse; None if it may be."""
    kept = _before(image)
    if cmp(image, kept, shallow=False):
        return False
    try:
        named = arrays_named(image, needed=True)
    except Unconfigured:
        return None
    except Unreadable:
        return False
    try:
        return True if named >= arrays_named(kept) or named >= set(arrays) else None
    except Unreadable:
        return True


def unproven(found: Sequence[Path], arrays: Sequence[str]) -> Iterator[str]:
    """What the images lack, in words."""
    for image in found:
        try:
            missing = sorted(set(arrays) - arrays_named(image))
        except Unreadable as no:
            yield str(no)
            continue
        if missing:
            yield (
                f"{image} does not hold the ARRAY lines of mdadm.conf for {', '.join(missing)}, so a boot would not "
                "know the arrays by name"
            )


def cannot_be_renewed(root: Path, kernel: str) -> Iterator[str]:
    """Why the initramfs should not be touched, known before anything is written."""
    boot, found = root / "boot", images(root, kernel)
    if not found:
        yield f"there is no initramfs in {boot}, so the names of the arrays cannot be put into it: mount {boot}, or make one (update-initramfs -c -k {kernel})"
        return
    try:
        missing = sorted({tool for image in found if (tool := unpacker(image))})
    except Unreadable as no:
        yield f"{no}: make it anew (update-initramfs -u -k all), or remove it with its kernel"
        return
    yield from (f"the program {tool} is missing, which unpacks the initramfs: install it" for tool in missing)
    room = os.statvfs(boot)
    if room.f_flag & os.ST_RDONLY:
        yield f"{boot} is mounted read-only, so no initramfs can be made: mount -o remount,rw {boot}"
    needed, free = _needed(found), room.f_bavail * room.f_frsize
    if free < needed:
        yield (
            f"{boot} has {human(free)} free, and the initramfs of {len(found)} kernel{'s' * (len(found) > 1)} made anew "
            f"beside the present one takes {human(needed)}: remove kernels that are not needed (apt autoremove --purge)"
        )


def _needed(found: Sequence[Path]) -> int:
    """Bytes: a copy of each image, room for each to grow, and one more while it is made."""
    sizes = [image.stat().st_size for image in found]
    kept = sum(image.stat().st_size for image in found if _before(image).exists())
    return int(GROWTH * (sum(sizes) + max(sizes))) - kept


def _before(image: Path) -> Path:
    return image.with_name(image.name + BEFORE)
