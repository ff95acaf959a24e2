"""The words of `--faults`: the cases that each stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import NamedTuple

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.levels import LEVELS
from raidplan.base.size import GIB, human
from raidplan.base.words import duration, listed
from raidplan.estimate.survival import BOOT, Outcome
from raidplan.layout.kinds.array import Array
from raidplan.layout.model import Layout
from raidplan.twin.rehearsal.boot_outcomes import outcomes_at_boot
from raidplan.twin.rehearsal.cases import Case, Fault, Source, goes_on
from raidplan.twin.rehearsal.rebuild_time import REBUILD_SECONDS, rebuild_seconds
from raidplan.twin.rehearsal.subject import Unsuited

REPLACED_AT_MOST = 16 * GIB
"""Disks of more are not replaced by blank ones: in emulation that takes hours."""
MAPPED = tuple(name for name, each in FILESYSTEMS.items() if each.mapped)
"""File systems that say at which byte of their device a file lies."""


class NoSuchPart(Exception):
    """`--faults` names no disk and no component of the layout."""


def _disks(source: Source) -> Iterator[Case]:
    return (case for case in source.singles if case.kind == "disk")


def _components(source: Source) -> Iterator[Case]:
    return (case for case in source.singles if case.kind != "disk")


def _pairs(source: Source) -> Iterator[Case]:
    """Two disks behind unlike components, as far as the layout has such."""
    across, most = pairs_across(source), source.pairs
    drawn = across if len(across) <= most else sorted(Random(source.seed).sample(across, most))
    return (source.pulled(" and ".join(pair), "pair", pair) for pair in drawn)


def pairs_across(source: Source) -> list[tuple[str, str]]:
    """All pairs of which `_pairs` draws."""
    components = source.survival.components
    parts: dict[str, set[str]] = {}
    for part in components:
        if part.kind != "disk":
            for disk in part.disks:
                parts.setdefault(disk, set()).add(part.name)
    disks = [part.name for part in components if part.kind == "disk"]
    return [pair for pair in combinations(disks, 2) if not parts or parts.get(pair[0]) != parts.get(pair[1])]


def _replaced(source: Source) -> Iterator[Case]:
    """Each disk of an array that goes on without it, if a rebuild takes minutes."""
    sizes = {name: disk.size or 0 for name, disk in source.topology.layout.hardware.disks.items()}
    for case in _disks(source):
        carries = any(path[0] == "arrays" for path in case.predicted)
        ends = rebuild_seconds(source.topology, case.name) <= REBUILD_SECONDS
        if carries and ends and sizes[case.name] <= REPLACED_AT_MOST and goes_on(case):
            yield replace(case, fault=Fault.REPLACED)


def _boots(source: Source) -> Iterator[Case]:
    """A boot without each part, with disks in other places, with a blank and with a stale one, and after a power cut."""
    for case in source.singles:
        yield Case(
            case.name, case.kind, case.disks, outcomes_at_boot(source.topology, case.disks), Fault.ABSENT
        )
    if len(source.topology.layout.hardware.disks) > 1:
        yield Case("all disks", "machine", (), outcomes_at_boot(source.topology, ()), Fault.MOVED)
    for disks in source.member_disks.values():
        if disk := disks[0]:
            yield Case(disk, "disk", (disk,), outcomes_at_boot(source.topology, (disk,)), Fault.BLANK)
        if stale := source.stale(disks):
            yield replace(stale, predicted={**stale.predicted, BOOT: Outcome.INTACT})
    yield Case("the machine", "machine", (), outcomes_at_boot(source.topology, ()), Fault.POWER)


def _media(source: Source) -> Iterator[Case]:
    """Wrong and unreadable places on data and on parity of each array with redundancy and a file system on it; a slow disk."""
    for name in mapped(source.topology.layout):
        array = source.topology.layout.arrays[name]
        if (level := LEVELS[array.level]).redundant:
            known = level.parity and array.layout in (None, "left-symmetric")
            for kind in ("data", "parity") if known else ("data",):
                yield Case(name, kind, (), {}, Fault.CHANGED)
                yield Case(name, kind, (), {}, Fault.UNREADABLE)
    for disk in source.first_disks[:1]:
        yield Case(disk, "disk", (disk,), {}, Fault.SLOW)


def mapped(layout: Layout) -> list[str]:
    """The arrays on which a place can be found: made of disks, and a file system that says where a file lies stands on them directly."""
    mounted = {entry.device for entry in layout.filesystems.values() if entry.mount and entry.type in MAPPED}
    return [name for name, array in layout.arrays.items() if name in mounted and _is_of_disks(array, layout)]


def _is_of_disks(array: Array, layout: Layout) -> bool:
    return all(member.partition(".")[0] in layout.hardware.disks for member in array.named_members)


class Choice(NamedTuple):
    """A word of `--faults`."""

    cases: Callable[[Source], Iterator[Case]]
    takes: str
    """The names that it takes after a colon."""


CHOICES: Mapping[str, Choice] = {
    "disks": Choice(_disks, "the names of disks"),
    "components": Choice(_components, "the names of components with disks, and their kinds"),
    "pairs": Choice(_pairs, "two disks behind unlike components, as in `pairs:a and b`"),
    "replaced": Choice(
        _replaced,
        f"disks of at most {human(REPLACED_AT_MOST)} (--scale divides sizes) without which everything goes on, and whose rebuild takes at most {duration(REBUILD_SECONDS)}",
    ),
    "media": Choice(
        _media,
        "arrays with redundancy and an ext or XFS file system on them, `data`, `parity`, and the disk that is slow",
    ),
    "boot": Choice(_boots, "the names of disks and components, and `machine`"),
}
"""The words of `--faults` beside `all` and `none`, in the order in which they are tried; any other names one disk or component."""


def cases_of(source: Source, faults: str) -> list[Case]:
    """The cases of a choice, each once; with commas several, with a colon those of one disk or component.

    Raises NoSuchPart for a wrong word, Unsuited where the layout has no case of right ones, and so nothing is left to try.
    """
    if faults == "none":
        return []
    found: dict[tuple[Fault, str, str], Case] = {}
    words = faults.split(",")
    if len(words) > 1 and not {"", "none"}.isdisjoint(words):
        raise NoSuchPart(
            f"--faults {faults}: a word is missing between commas, or `none` stands beside others"
        )
    for word in words:
        choices = list(CHOICES) if word == "all" else [word]
        for each in choices:
            for case in _chosen(source, each):
                found.setdefault((case.fault, case.kind, case.name), case)
    if not found:
        why = (
            "--pairs 0 draws no pair"
            if "pairs" in words and not source.pairs
            else "the layout has no such case"
        )
        raise Unsuited(f"--faults {faults}: {why}, so nothing would be tried; `none` says that it is meant")
    return list(found.values())


def _chosen(source: Source, word: str) -> list[Case]:
    choice, colon, part = word.partition(":")
    if colon and not part:
        raise NoSuchPart(f"--faults {word}: the name of a disk or component is missing after the colon")
    if choice not in CHOICES:
        if not (chosen := [case for case in source.singles if case.name == word]):
            words = listed(("all", "none", *CHOICES))
            raise NoSuchPart(
                f"--faults {word}: the layout has no such disk or component, and it is none of {words}"
            )
        return chosen
    if part and choice == "pairs":  # one that is named need not be drawn
        source = replace(source, pairs=len(pairs_across(source)))
    chosen = [case for case in CHOICES[choice].cases(source) if not part or part in (case.name, case.kind)]
    if part and not chosen:
        raise NoSuchPart(
            f"--faults {word}: there is no such case in the layout; `{choice}` takes {CHOICES[choice].takes}"
        )
    return chosen
