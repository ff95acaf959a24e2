"""Everything that a rehearsal leaves out, in sentences for its report."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from raidplan.base.levels import LEVELS, losses_survived
from raidplan.base.size import human
from raidplan.base.words import counted, duration, listed
from raidplan.topology import Topology
from raidplan.twin.rehearsal.cases import Case, Fault, Source, goes_back
from raidplan.twin.rehearsal.checks import CHECK_SECONDS, Check, check_of
from raidplan.twin.rehearsal.choices import CHOICES, REPLACED_AT_MOST, mapped, pairs_across
from raidplan.twin.rehearsal.fill import MOST, is_smaller
from raidplan.twin.rehearsal.kept import Kept
from raidplan.twin.rehearsal.observed import name_of
from raidplan.twin.rehearsal.rebuild_time import REBUILD_SECONDS, rebuild_seconds
from raidplan.twin.rehearsal.subject import Subject

PAIR = 2
"""Disks that are pulled at once, if no component takes more with it."""


def untried(source: Source, cases: Sequence[Case], faults: str) -> list[str]:
    """Everything that was not chosen, or cannot be tried of this layout."""
    if faults == "none":
        return ["No fault was tried."]
    words = {*faults.split(",")}
    found = [*_unmounted(source), *_too_small(source.topology)]
    chosen = {*CHOICES} if "all" in words else words & {*CHOICES}
    found += _not_chosen(chosen)
    if "components" in chosen:
        found += _held(source)
    if "pairs" in chosen:
        drawn, of = sum(case.kind == "pair" for case in cases), len(pairs_across(source))
        found += [f"{drawn} of {counted(of, 'pair')} of disks were pulled (--pairs)."] if drawn < of else []
        found += _more_than_pairs(source)
    if "replaced" in chosen:
        found += _not_replaced(source, {case.name for case in cases if case.fault is Fault.REPLACED})
    if "media" in chosen:
        found += _without_places(source)
    if "boot" in chosen:
        found += _not_at_boot(source)
    found += _ways_back(source, cases)
    found += _checked_at_begin(source, cases)
    found += _not_predicted(cases)
    if len(source.topology.layout.swap) > 1:
        found.append("With several swap areas it cannot be told which of them lost pages: that the machine lives is looked at alone.")  # fmt: skip
    return found


def untried_of_change(before: Subject, found: Sequence[Kept]) -> Iterator[str]:
    """Everything that the rehearsal of a change leaves out: data that are not read back, and what nobody interrupts or cuts off."""
    entries = before.topology.layout.filesystems.items()
    names = {each.name for each in found}
    if lost := [name for name, entry in entries if entry.mount and name not in names]:
        yield f"Not read back, for `diff` says that the data do not stay, or the new layout mounts it nowhere: {', '.join(lost)}."
    yield from _too_small(before.topology)
    if unmounted := [name for name, entry in entries if not entry.mount]:
        yield f"Not read back, for the old layout mounts it nowhere: {', '.join(unmounted)}."
    if moved := [each.name for each in found if not each.stays]:
        yield f"Nothing wrote while the change was interrupted to {', '.join(moved)}, whose mount point changes."
    yield "The new layout was booted only where the power was cut while it was made: after a change that nobody interrupts it was not."
    yield "Nothing wrote to file systems that the change makes, and no memory was in swap, while it was interrupted."
    if not before.fresh:
        yield "The disk of the twin's own system, where `apply` keeps its journal, lost nothing with the power."


def _not_chosen(chosen: Collection[str]) -> Iterator[str]:
    if left := [choice for choice in CHOICES if choice not in chosen]:
        yield f"Not chosen, or of single parts only: {', '.join(left)} (--faults)."


def _unmounted(source: Source) -> Iterator[str]:
    entries = source.topology.layout.filesystems.items()
    if names := [name for name, entry in entries if not entry.mount]:
        yield f"Not looked at, for it has no mount point: {listed(names, most=12)}."


def _too_small(topology: Topology) -> Iterator[str]:
    entries = topology.layout.filesystems.items()
    if names := [name for name, entry in entries if entry.mount and is_smaller(topology, entry)]:
        yield f"The records on {listed(names, most=12)} have at most {human(MOST)} and an eighth of the room, and may miss a member of the arrays below."


def _more_than_pairs(source: Source) -> Iterator[str]:
    """Arrays that go on without any three members; a RAID10 layout that does not exist survives nothing."""
    found = []
    for name, array in source.topology.layout.arrays.items():
        with suppress(ValueError):
            members = len(array.named_members)
            found += [name] if losses_survived(array.level, members, array.layout) > PAIR else []
    going_on = f", which would not stop {listed(found, most=12)}" if found else ""
    yield f"Three disks and more at once were pulled only with a component that takes them along{going_on}."


def _held(source: Source) -> Iterator[str]:
    if names := [each.name for each in source.survival.components if each.board or not each.disks]:
        yield f"Not pulled, for the machine hangs on it or it has no disks: {listed(names, most=12)}."


def _not_replaced(source: Source, replaced: Collection[str]) -> Iterator[str]:
    disks = source.topology.layout.hardware.disks
    large = [name for name, disk in disks.items() if (disk.size or 0) > REPLACED_AT_MOST]
    if large:
        yield f"Not replaced by a blank disk, for a rebuild of more than {human(REPLACED_AT_MOST)} takes hours in emulation (--scale divides sizes): {listed(large, most=12)}."
    slow = [
        name
        for name in disks
        if name not in large and rebuild_seconds(source.topology, name) > REBUILD_SECONDS
    ]
    if slow:
        yield f"Not replaced by a blank disk, for at `sync_speed_max` a rebuild takes more than {duration(REBUILD_SECONDS)} (--scale divides sizes): {listed(slow, most=12)}."
    if others := [name for name in disks if name not in {*replaced, *large, *slow}]:
        yield f"Not replaced by a blank disk, for something stops without it or no array is on it: {listed(others, most=12)}."


def _without_places(source: Source) -> Iterator[str]:
    layout = source.topology.layout
    redundant = [name for name, array in layout.arrays.items() if LEVELS[array.level].redundant]
    if others := [name for name in redundant if name not in mapped(layout)]:
        yield f"No place was damaged below {listed(others, most=12)}: no file system that says where its files lie (ext4, xfs) stands directly on it, or its members are arrays."
    unknown = [
        name
        for name in mapped(layout)
        if LEVELS[layout.arrays[name].level].parity
        and layout.arrays[name].layout not in (None, "left-symmetric")
    ]
    if unknown:
        yield f"No parity was damaged of {listed(unknown, most=12)}: only that of the layout left-symmetric is found."
    if two := [name for name in mapped(layout) if LEVELS[layout.arrays[name].level].parity == 2]:
        yield f"Of the two parities of {listed(two, most=12)} only the first (P) was damaged."
    if source.first_disks and len(layout.hardware.disks) > 1:
        yield f"Only one disk was slow: {source.first_disks[0]}."


def _not_at_boot(source: Source) -> Iterator[str]:
    arrays = source.member_disks.items()
    if unblanked := [name for name, disks in arrays if not disks[0]]:
        yield f"No boot with a blank member of {listed(unblanked, most=12)}, whose first member is no disk."
    if fresh := [name for name, disks in arrays if source.stale(disks) is None]:
        yield f"No boot with a stale member of {listed(fresh, most=12)}: something stops without each of its disks, or none of its members is a disk."


def _ways_back(source: Source, cases: Sequence[Case]) -> Iterator[str]:
    alone = (
        case
        for case in cases
        if case.fault is Fault.PULLED or (case.fault is Fault.ABSENT and case.kind == "disk")
    )
    if not all(goes_back(case, source.survival) for case in alone):
        yield "Where something stops, nothing was tried of the way back: the next case begins anew."
    if any(case.fault is Fault.ABSENT and case.kind != "disk" for case in cases):
        yield "After a boot without a whole component its disks were not put back."


def _checked_at_begin(source: Source, cases: Sequence[Case]) -> Iterator[str]:
    back = [case for case in cases if case.fault in (Fault.PULLED, Fault.ABSENT) and goes_back(case, source.survival)]  # fmt: skip
    away = {disk for case in back for disk in case.disks}
    names = [
        name
        for name, disks in source.member_disks.items()
        if not away.isdisjoint(disks) and check_of(source.topology, name) is Check.BEGIN
    ]
    if names:
        why = f"no file is known to lie there, and the whole takes more than {duration(CHECK_SECONDS)} in emulation"
        yield f"Checked at the begin alone once a disk was back, which is not counted, for {why}: {listed(names, most=12)}."


def _not_predicted(cases: Sequence[Case]) -> Iterator[str]:
    things = dict.fromkeys(name_of(thing) for case in cases for thing in case.unpredicted)
    if things:
        yield f"Of {listed([*things], most=12)} nothing is predicted where the volume group lacks devices while the system runs: a layout does not say where volumes lie."
