"""Everything that can be known to fail, asked before the first write; the whole list, not the first entry."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from raidplan.apply.configuration.array_names import named_by_the_image, numbers_needed
from raidplan.apply.configuration.blocks import file_text
from raidplan.apply.configuration.conflicts import changed_by_ours, conflicting, overruling, redirected
from raidplan.apply.configuration.initramfs import reasons_not_to_renew
from raidplan.apply.devices.guard import not_blank
from raidplan.apply.preflight.booting import other_firmware, unreadable, unsigned, without_image
from raidplan.apply.preflight.doubles import copied, doubles, names_of_arrays
from raidplan.apply.preflight.keys import unusable, without_opener
from raidplan.apply.preflight.monthly_check import others_stay_checked
from raidplan.apply.preflight.mount_points import target_unmounted, unfit
from raidplan.apply.preflight.mounted import kept_as_mounted
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.preflight.surroundings import (
    cannot_administer,
    changed_by_others,
    out_of_target,
    systemd_is_absent,
    udev_is_absent,
    unwritable,
)
from raidplan.apply.preflight.versions import too_old
from raidplan.apply.refusal import Refusal, of_use, refusal, unclear
from raidplan.apply.teardown.assembly_hold import HOLDING
from raidplan.facts.in_use import claimed_elsewhere, used_by_others, written_by_others
from raidplan.facts.run import find_tool, no_program
from raidplan.facts.traces import words
from raidplan.plan.initramfs import BOOT
from raidplan.plan.places import STATE
from raidplan.plan.step import RenewInitramfs, Step, WriteBlock, WriteFile, Zero


def preflight(situation: Situation, *, here: bool = True) -> list[Refusal]:
    """Every reason not to begin; `here`: the machine is this one and can be asked more."""
    checks = (*OF_FACTS, *OF_THIS_MACHINE) if here else OF_FACTS
    return [reason for check in checks for reason in check(situation)]


def is_root(situation: Situation) -> Iterator[Refusal]:
    """Only root can write to disks."""
    if not situation.machine.is_root:
        yield refusal("not-root")


def root_may_administer(situation: Situation) -> Iterator[Refusal]:
    """Root of a container is not root of the machine."""
    if situation.machine.is_root:
        yield from cannot_administer()


def udev_runs(situation: Situation) -> Iterator[Refusal]:
    """New devices have names that udev gives them."""
    if any(step.awaits for step in situation.plan.steps):
        yield from udev_is_absent()


def systemd_runs(situation: Situation) -> Iterator[Refusal]:
    """systemd mounts what is in fstab; what is below a target, mount(8) does."""
    if not situation.plan.target and any(
        step.proof and step.proof.kind == "mount" for step in situation.plan.steps
    ):
        yield from systemd_is_absent()


def tools_are_roots(situation: Situation) -> Iterator[Refusal]:
    """A program that others may change makes them root."""
    for tool in situation.plan.tools:
        if found := find_tool(tool):
            yield from changed_by_others(found)


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


def tools_present(situation: Situation) -> Iterator[Refusal]:
    """Every program of the plan, and the probes' own, must be there before the first of them runs."""
    inside = situation.plan.tools_inside if situation.plan.target else ()
    for tool in dict.fromkeys((*situation.plan.tools, "wipefs", "lsblk", "udevadm")):
        if tool not in inside and not find_tool(tool):
            node = no_program(tool)
            if not node:
                yield refusal("program-missing", place=tool)
            elif os.path.isdir(node):
                yield refusal("program-missing", "folder", place=tool, node=node)
            else:
                yield refusal("program-missing", "mode", place=tool, node=node)
    yield from without_opener(situation)


def versions_fit(situation: Situation) -> Iterator[Refusal]:
    """Programs that are too old for the plan, or for an option that it uses."""
    yield from too_old(situation.plan, situation.machine)


def modules_loadable(situation: Situation) -> Iterator[Refusal]:
    """A create without its personality fails after it has overwritten superblocks."""
    for module in situation.plan.modules:
        found = situation.machine.observe("module", module)
        if not found or not (found.get("loaded") or found.get("loadable")):
            yield refusal("module-missing", place=module, kernel=situation.machine.kernel)


def initramfs_can_be_made(situation: Situation) -> Iterator[Refusal]:
    """A full /boot is found out now, and not when everything else is done."""
    actions = [step.action for step in situation.plan.steps if isinstance(step.action, RenewInitramfs)]
    for action in dict.fromkeys(actions):
        yield from reasons_not_to_renew(situation.at("/"), situation.machine.kernel, action)


def machine_is_clear(situation: Situation) -> Iterator[Refusal]:
    """An array without a name, a tool that would not answer: no ground to write on."""
    yield from map(unclear, situation.machine.problems)


def disks_blank(situation: Situation) -> Iterator[Refusal]:
    """Content on a disk, in use or not, that somebody could miss."""
    for name, disk in situation.written_disks.items():
        found = [*map(words, disk.traces)] or [*disk.signatures]
        found = [*disk.users, *(f"partition {part.node}" for part in disk.partitions), *found]
        if found:
            yield refusal("disk-not-blank", place=name, node=disk.node, found=tuple(found))
        if disk.read_only:
            yield refusal("disk-read-only", place=name, node=disk.node)


def other_targets_blank(situation: Situation) -> Iterator[Refusal]:
    """Partitions, arrays and volumes that are there already, by libblkid and by who uses them; files that would be written over."""
    standing = situation.standing
    for _, target in situation.guarded:
        if target in standing or not (os.path.isabs(target) and os.path.exists(target)):
            continue
        if found := not_blank(target, everywhere=False):
            yield Refusal("target-not-blank", "device", target, uses=tuple(found))


def targets_blank_by_identity(situation: Situation) -> Iterator[Refusal]:
    """The content of targets, under whatever name they run now; where libblkid is silent, by their bytes: plain dm-crypt, a raw database."""
    for target, found in situation.standing.items():
        yield refusal("target-not-blank", place=target, found=tuple(found))


def nobody_else_uses_what_is_cleared(situation: Situation) -> Iterator[Refusal]:
    """Users that sysfs does not show: mounts in other namespaces, programs that write past every file system."""
    cleared = {
        situation.node(step.action.device): step
        for step in situation.plan.steps
        if step.phase == "teardown" and isinstance(step.action, Zero)
    }
    others = [*used_by_others(*cleared)]
    yield from (of_use("in-use-elsewhere", each) for each in others)
    for node, step in cleared.items():
        # What stands on it is taken off by other steps before; the rest must be ours at once.
        if not set(step.needs) - set(HOLDING) and not (others and [*used_by_others(node)]):
            yield from (of_use("in-use-elsewhere", each) for each in claimed_elsewhere(node))


def nobody_else_writes_to_what_is_blank(situation: Situation) -> Iterator[Refusal]:
    """The new disk of a virtual machine is blank, claimed by nobody, and in use."""
    yield from (of_use("open-for-writing", each) for each in written_by_others(*situation.there))


def names_free(situation: Situation) -> Iterator[Refusal]:
    """An array of that name that is not ours would take the device node."""
    names = {
        str(step.proof.expect["name"]): step
        for step in _created(situation, "array")
        if step.proof and "name" in step.proof.expect  # 0.90 metadata stores none
    }
    ours = {step.proof.key for step in names.values() if step.proof}
    for uuid, (where, theirs) in names_of_arrays(situation.machine, situation.disks.values()).items():
        taken = next((mine for mine in names if not {mine, mine.rpartition(":")[2]}.isdisjoint(theirs)), None)
        if taken and uuid not in ours:
            yield refusal("name-taken", "array", place=taken, uuid=uuid, node=where)
    for step in _created(situation, "volume_group"):
        if step.proof and situation.machine.observe("volume_group", step.proof.key):
            yield refusal("name-taken", "group", place=step.proof.key)


def uuids_free(situation: Situation) -> Iterator[Refusal]:
    """A device with the UUID of an array or a partition of the layout would be taken for it, at the next boot at the latest."""
    whole = situation.whole or situation.plan
    yield from doubles(whole.steps, situation.machine, situation.disks.values())
    yield from copied(whole, situation.machine)


def nodes_free(situation: Situation) -> Iterator[Refusal]:
    """vgcreate refuses a name that stands in /dev, whatever it is there, and cryptsetup one in /dev/mapper."""
    for step in _created(situation, "volume_group"):
        if step.proof and os.path.lexists(f"/dev/{step.proof.key}"):
            yield refusal("name-taken", "folder", place=step.proof.key)
    for step in situation.plan.steps:
        if step.proof and step.proof.kind == "mapping" and os.path.lexists(step.awaits[0]):
            yield refusal("name-taken", "mapping", place=step.awaits[0], line=step.line)


def _created(situation: Situation, kind: str) -> Iterator[Step]:
    yield from (
        step
        for step in situation.plan.steps
        if step.proof and step.proof.kind == kind and (step.creates or kind == "volume_group")
    )


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
        yield from kept_as_mounted(step, situation.machine)


def keys_are_secret(situation: Situation) -> Iterator[Refusal]:
    """A key file that is missing, that others may read, or that does not open what stands already."""
    yield from unusable(situation)


def mount_points_empty(situation: Situation) -> Iterator[Refusal]:
    """A mount would hide the files in the folder; a link could lead anywhere."""
    yield from unfit(situation)


def target_is_mounted(situation: Situation) -> Iterator[Refusal]:
    """Mount points that would lead to the rescue system's own files."""
    if situation.plan.target:
        yield from target_unmounted(situation)


def firmware_starts_it(situation: Situation) -> Iterator[Refusal]:
    """A boot loader that the firmware of this machine would not start."""
    yield from other_firmware(situation)
    yield from unsigned(situation)
    yield from unreadable(situation)
    yield from without_image(situation)


def memory_for_stripe_cache(situation: Situation) -> Iterator[Refusal]:
    """A stripe cache that does not fit makes the kernel kill programs, this one among them."""
    wanted = 0
    for step in situation.plan.steps:
        if step.proof and step.proof.kind == "tuning" and "md/stripe_cache_size" in step.proof.expect:
            members = _members(situation, step.proof.key)
            entries = int(str(step.proof.expect["md/stripe_cache_size"]))
            wanted += entries * members * os.sysconf("SC_PAGESIZE")
    if wanted > situation.machine.memory_bytes * 0.8:
        yield refusal("memory", wanted=wanted, memory=situation.machine.memory_bytes)


def _members(situation: Situation, uuid: str) -> int:
    """The number of members of an array, planned or existing."""
    planned = [
        s.proof.expect
        for s in situation.plan.steps
        if s.proof and "members" in s.proof.expect and s.proof.key == uuid
    ]
    found = planned[0] if planned else situation.machine.observe("array", uuid) or {}
    members = found.get("members")
    return len(members) if isinstance(members, list) else 0


Check = Callable[[Situation], Iterator[Refusal]]

OF_FACTS: tuple[Check, ...] = (
    machine_is_clear,
    versions_fit,
    modules_loadable,
    disks_blank,
    targets_blank_by_identity,
    names_free,
    uuids_free,
    lines_do_not_conflict,
    mounts_can_follow,
    firmware_starts_it,
    memory_for_stripe_cache,
)
"""Checks that a snapshot answers. To add a check, write a function and name it here or below."""

OF_THIS_MACHINE: tuple[Check, ...] = (
    is_root,
    root_may_administer,
    tools_present,
    tools_are_roots,
    udev_runs,
    systemd_runs,
    files_can_be_written,
    other_targets_blank,
    nodes_free,
    nobody_else_uses_what_is_cleared,
    nobody_else_writes_to_what_is_blank,
    keys_are_secret,
    target_is_mounted,
    mount_points_empty,
    initramfs_can_be_made,
)
"""Checks that look at devices, folders and programs."""
