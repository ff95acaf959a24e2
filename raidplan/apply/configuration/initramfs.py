"""The renewal of the initramfs: an image made aside, read to its end, and only then put in place of the present one.

update-initramfs puts in place what it made without a look into it, and ends with 0 where it did nothing. So its two
halves are run here, with the proof between them: mkinitramfs(8), and the hooks that tell boot loaders of a new image.
A machine whose image does not name its arrays calls them md127.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from raidplan.apply.refusal import Refusal, refusal
from raidplan.facts.block import Names, text_of
from raidplan.facts.failure import Failure, failure
from raidplan.facts.initramfs import (
    Unreadable,
    arrays_named,
    encryptions_opened,
    images,
    outdated,
    read_configuration,
    unpacker,
)
from raidplan.facts.mounts import read_mounts
from raidplan.facts.run import Result, find_tool
from raidplan.plan.initramfs import BOOT, UNKNOWN, Generator
from raidplan.plan.places import INITRAMFS_ASIDE, INITRAMFS_KEPT
from raidplan.plan.step import RenewInitramfs

if TYPE_CHECKING:
    from raidplan.apply.world import World

GROWTH = 1.2
"""A new image may be so much larger than the present one."""
FAT = frozenset({"vfat", "msdos", "exfat"})
"""A file has one name there, so the image of before is kept as a copy."""


def renew(action: RenewInitramfs, world: World, *, keep: bool = True) -> list[Failure]:
    """Makes the image of every kernel, and may `keep` the earlier one; the reasons if it did not.

    Raises OSError. The folder that they are made in goes when everything is done: as long as it is there, the step
    is due again. Killed at any point, each kernel has its present image or a proven new one.
    """
    found = images(world.path("/"), os.uname().release, action.by)
    if not found:
        return []  # and nothing then proves the step
    aside = world.path(INITRAMFS_ASIDE)
    begun = aside.is_dir()
    if keep:
        _folder(world.path(INITRAMFS_KEPT), world)
        for image in found:
            _keep(image, begun, action, world)
    _folder(aside, world)
    _empty(aside, action.by, world)
    made = {image: aside / image.name for image in found}
    present = {image: _appearance(image) for image in found}
    try:
        problems = _not_made(action, found, world) or [*unproven(made.values(), action, world.path("/"))]
        if not problems:
            for image, new in made.items():
                world.make_alike(new, image)
                world.sync(new)
    except OSError:
        _give_up(aside, begun, action.by, world)  # a part of an image would take the last room
        raise
    problems = problems or [*_changes_by_others(present)]
    if problems:
        _give_up(aside, begun, action.by, world)
        return [*problems, failure("images-stay", aside.parent)]
    for image, new in made.items():
        world.effect("rename", str(image), partial(new.rename, image))
    for folder in (aside.parent, aside):
        world.sync(folder)
    if problems := [*_failed_hooks(action, found, world)]:
        return problems
    world.effect("remove", str(aside), aside.rmdir)
    world.sync(aside.parent)
    return []


def _folder(path: Path, world: World) -> None:
    world.effect("write", str(path.parent), partial(path.mkdir, 0o700, exist_ok=True))
    world.sync(path.parent)


def _keep(image: Path, begun: bool, action: RenewInitramfs, world: World) -> None:
    """Keeps the image, unless an interrupted run has kept it already and an image with the new configuration is that
    run's own."""
    kept = world.path(INITRAMFS_KEPT) / image.name
    if not begun or not kept.exists() or any(unproven([image], action, world.path("/"))):
        world.keep_beside(image, kept, how=_second_name)


def _second_name(image: Path, kept: Path) -> None:
    """Makes a hard link, as update-initramfs does for a backup: it takes no room until the image is another one."""
    kept.unlink(missing_ok=True)
    try:
        kept.hardlink_to(image)
    except OSError:
        shutil.copy2(image, kept)


def _appearance(image: Path) -> tuple[int, int]:
    found = image.stat()
    return found.st_ino, found.st_mtime_ns


def _changes_by_others(present: Mapping[Path, tuple[int, int]]) -> Iterator[Failure]:
    """Images that another program renewed in the meantime, such as an upgrade: theirs may be newer than ours."""
    for image, seen in present.items():
        if not image.exists() or _appearance(image) != seen:
            yield failure("image-changed", image)


def _not_made(action: RenewInitramfs, found: Mapping[Path, str], world: World) -> list[Failure]:
    """The program that failed; no further image is started after it."""
    for image, kernel in found.items():
        result = world.run_inside(action.by.make(kernel, image.name))
        if result.returncode:
            return [failure("image-program", image, **_ended(result))]
    return []


def _failed_hooks(action: RenewInitramfs, found: Mapping[Path, str], world: World) -> Iterator[Failure]:
    """The hooks that failed: copies that they make elsewhere would still boot the old image."""
    if world.path(action.by.hooks).is_dir():
        for image, kernel in found.items():
            result = world.run_inside(action.by.tell(kernel, image.name))
            if result.returncode:
                yield failure("image-hooks", image, folder=action.by.hooks, **_ended(result))


def _ended(result: Result) -> dict[str, str | int]:
    return {"program": result.argv[0], "code": result.returncode, "said": result.said}


def _give_up(aside: Path, begun: bool, by: Generator, world: World) -> None:
    """Removes the new images before the first is in place; an image that an interrupted run has put in place keeps the
    step due."""
    _empty(aside, by, world)
    if not begun:
        world.effect("remove", str(aside), aside.rmdir)
        world.sync(aside.parent)


def _empty(aside: Path, by: Generator, world: World) -> None:
    for left in sorted(aside.glob(by.image.format("*"))):
        world.effect("remove", str(left), left.unlink)


def unproven(made: Iterable[Path], action: RenewInitramfs, root: Path) -> Iterator[Failure]:
    """Content that the images lack."""
    for image in made:
        try:
            missing = sorted(set(action.arrays) - arrays_named(image))
            closed = sorted(set(action.encrypted) - encryptions_opened(image))
            has_lvm, behind = read_configuration(image).lvm, outdated(image, root)
        except Unreadable as error:
            yield from error.failures
            continue
        if missing:
            yield failure("image-arrays", image, arrays=tuple(missing))
        elif closed:
            yield failure("image-encryption", image, uuids=tuple(closed))
        elif action.volumes and not has_lvm:
            yield failure("image-volumes", image)
        elif behind:
            yield behind


def reasons_not_to_renew(root: Path, kernel: str, action: RenewInitramfs) -> Iterator[Refusal]:
    """Reasons not to renew the initramfs, before anything is written."""
    by = action.by
    boot, found = root / BOOT.lstrip("/"), images(root, kernel, by)
    lacking = {by.encryption: "opens-nothing", by.volumes: "no-volumes"}
    for hook in action.needed:
        if not (root / hook.file.lstrip("/")).exists():
            yield refusal("initramfs", lacking[hook], place=str(root), package=hook.package)
    if not found:
        yield refusal("initramfs", "none", place=str(boot), command=by.create.format(kernel=kernel))
        return
    if by.program not in text_of(root / by.updater.lstrip("/")):
        yield refusal("initramfs", "other-generator", place=by.updater, name=by.name, others=UNKNOWN)
    if by.is_switched_off(text_of(root / by.settings.lstrip("/"))):
        yield refusal("initramfs", "switched-off", place=by.settings, setting=by.switched_off)
    for image in found:
        if image.is_symlink():
            yield refusal("initramfs", "link", place=str(image))
    aside, kept = root / INITRAMFS_ASIDE.lstrip("/"), root / INITRAMFS_KEPT.lstrip("/")
    for odd in _in_the_way(found, aside, kept):
        yield refusal("initramfs", "in-the-way", place=str(odd))
    if others := sorted({*aside.glob("*"), *aside.glob(".*")} - {*aside.glob(by.image.format("*"))}):
        yield refusal("initramfs", "foreign-file", place=str(others[0]))
    try:
        missing = sorted({tool for image in found if (tool := unpacker(image))})
    except Unreadable as error:
        yield replace(refusal("initramfs", "unreadable", command=by.renew), failures=error.failures)
        return
    yield from (refusal("initramfs", "unpacker-missing", place=tool) for tool in missing)
    if (root / by.hooks.lstrip("/")).is_dir() and not find_tool("run-parts"):
        yield refusal("initramfs", "run-parts-missing", place=by.hooks)
    copied = any(mount.point == str(boot) and mount.type in FAT for mount in read_mounts(root, Names({})))
    room = os.statvfs(boot)
    if room.f_flag & os.ST_RDONLY:
        yield refusal("initramfs", "read-only", place=str(boot))
    size, free = _needed(found, aside, kept, copied), room.f_bavail * room.f_frsize
    if free < size:
        yield refusal("initramfs", "room", place=str(boot), free=free, images=len(found), needed=size)


def _in_the_way(found: Iterable[Path], aside: Path, kept: Path) -> Iterator[Path]:
    """Anything else than a folder of our own with files in it."""
    for folder in (aside, kept):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            yield folder
        else:
            within = (folder / image.name for image in found)
            yield from (
                file for file in within if file.is_symlink() or (file.exists() and not file.is_file())
            )


def _needed(found: Iterable[Path], aside: Path, kept: Path, copied: bool) -> int:
    """Bytes: each image once more, with room to grow, and as a copy; less what goes first: what a run that was killed has
    left, or the images of before that have no other name."""
    left = aside if aside.is_dir() else kept
    files = [file.stat() for image in found if not copied and (file := left / image.name).is_file()]
    freed = sum(file.st_size for file in files if file.st_nlink == 1)
    return int((GROWTH + copied) * sum(image.stat().st_size for image in found)) - freed
