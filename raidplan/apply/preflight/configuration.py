"""Configuration files, keys, mount points and the boot: lines of others, files that cannot be written, folders that are not empty."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.apply.configuration.array_names import named_by_the_image, numbers_needed
from raidplan.apply.configuration.blocks import file_text
from raidplan.apply.configuration.conflicts import changed_by_ours, conflicting, overruling, redirected
from raidplan.apply.configuration.initramfs import reasons_not_to_renew
from raidplan.apply.preflight.booting import other_firmware, unreadable, unsigned, without_image
from raidplan.apply.preflight.keys import unusable
from raidplan.apply.preflight.monthly_check import others_stay_checked
from raidplan.apply.preflight.mount_points import target_unmounted, unfit
from raidplan.apply.preflight.mounted import kept_as_mounted
from raidplan.apply.preflight.situation import Check, Situation
from raidplan.apply.preflight.surroundings import out_of_target, unwritable
from raidplan.apply.refusal import Refusal
from raidplan.plan.initramfs import BOOT
from raidplan.plan.places import STATE
from raidplan.plan.step import RenewInitramfs, WriteBlock, WriteFile


def lines_do_not_conflict(situation: Situation) -> Iterator[Refusal]:
    """A line of somebody else for the same mount point, file system or array: two truths; or one that ours would change, or that changes ours; or a check that ours ends."""
    whole = situation.whole or situation.plan
    yield from conflicting(whole, situation.machine)
    yield from changed_by_ours(whole, situation.machine)
    yield from overruling(whole, situation.machine)
    yield from numbers_needed(situation.plan, situation.machine)
    yield from named_by_the_image(situation.plan, whole, situation.machine)
    yield from redirected(situation.plan, whole, situation.machine, situation.past)
    yield from others_stay_checked(situation)


def mounts_can_follow(situation: Situation) -> Iterator[Refusal]:
    """Changes of fstab that would take effect after the next mount only."""
    for step in situation.plan.steps:
        yield from kept_as_mounted(step, situation.machine, situation.plan.target)


def firmware_starts_it(situation: Situation) -> Iterator[Refusal]:
    """A boot loader that the firmware of this machine would not start."""
    yield from other_firmware(situation)
    yield from unsigned(situation)
    yield from unreadable(situation)
    yield from without_image(situation)


def files_can_be_written(situation: Situation) -> Iterator[Refusal]:
    """A configuration file that cannot be replaced would be found out after everything else was done."""
    files = [s.action for s in situation.plan.steps if isinstance(s.action, WriteBlock | WriteFile)]
    if situation.plan.target:
        places = (*(action.file for action in files), *situation.plan.proof_keys("key_file"), STATE, BOOT)
        yield from out_of_target(map(situation.at, dict.fromkeys(places)), situation.plan.target)
    if situation.machine.is_root:
        for action in files:
            size = len(file_text(situation.machine, action.file) or "") + len(action.content)
            file = str(situation.at(action.file))
            yield from unwritable(file, 2 * size)


def keys_are_secret(situation: Situation) -> Iterator[Refusal]:
    """A key file that is missing, that others may read, or that does not open what stands already."""
    yield from unusable(situation)


def target_is_mounted(situation: Situation) -> Iterator[Refusal]:
    """Mount points that would lead to the rescue system's own files."""
    if situation.plan.target:
        yield from target_unmounted(situation)


def mount_points_empty(situation: Situation) -> Iterator[Refusal]:
    """A mount would hide the files in the folder; a link could lead anywhere."""
    yield from unfit(situation)


def initramfs_can_be_made(situation: Situation) -> Iterator[Refusal]:
    """A full /boot is found out now, and not when everything else is done."""
    actions = [step.action for step in situation.plan.steps if isinstance(step.action, RenewInitramfs)]
    for action in dict.fromkeys(actions):
        yield from reasons_not_to_renew(situation.at("/"), situation.machine.kernel, action)


OF_FACTS: tuple[Check, ...] = (
    lines_do_not_conflict,
    mounts_can_follow,
    firmware_starts_it,
)
"""Checks that a snapshot answers."""
OF_THIS_MACHINE: tuple[Check, ...] = (
    files_can_be_written,
    keys_are_secret,
    target_is_mounted,
    mount_points_empty,
    initramfs_can_be_made,
)
"""Checks that look at devices, folders and programs."""
