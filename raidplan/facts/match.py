"""Matches disks of the layout with disks of the machine: every identifier given must agree, or there is no match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from raidplan.base.size import human
from raidplan.base.words import listed
from raidplan.facts.machine import DiskFact, Machine
from raidplan.facts.signatures import plain
from raidplan.plan.step import DiskIdentity

MOST_LARGER = 0.01
"""A disk that is larger by more than this fraction is probably another one."""

NEAR = 0.5
"""The least likeness (0 to 1) of a disk that is worth naming as the nearest."""

NO_IDENTITY = frozenset(
    {
        "", "unknown", "none", "null", "n/a", "not specified", "default string", "to be filled by o.e.m.",
        "0123456789abcdef", "0123456789",
    }
)  # fmt: skip
"""Placeholders of firmware for an identifier that nobody set; the last two are of USB bridges."""
IDENTIFIERS = ("serial", "wwn", "path", "model")


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The reason why a disk of the layout has no match; `str` gives the sentence."""

    disk: str
    message: str

    def __str__(self) -> str:
        return f"{self.disk}: {self.message}"


def match(disks: Sequence[DiskIdentity], machine: Machine) -> tuple[dict[str, DiskFact], list[Mismatch]]:
    """The disk for each name of the layout, and every reason why one is missing, ambiguous or unfit.

    A disk that was found but is unfit, or taken twice, is not in the result.
    """
    found: dict[str, DiskFact] = {}
    problems: list[Mismatch] = []
    for wanted in disks:
        fitting = _fitting(wanted, machine)
        words = (
            list(_unfit(wanted, fitting[0], machine))
            if len(fitting) == 1
            else [_not_one(wanted, fitting, machine)]
        )
        if words:
            problems += (Mismatch(wanted.name, text) for text in words)
        else:
            found[wanted.name] = fitting[0]
    twice = list(_taken_twice(found))
    shared = {problem.disk for problem in twice}
    return {name: disk for name, disk in found.items() if name not in shared}, problems + twice


def meaningful(identifier: str) -> str:
    """The identifier without outer spaces; empty if it tells nothing, as `0000` or `unknown`."""
    text = identifier.strip()
    if text.lower() in NO_IDENTITY or len(set(text.replace("-", "").replace(" ", ""))) <= 1:
        return ""
    return text


def comparable(name: str, identifier: str) -> str:
    """The form in which two values of an identifier are compared; empty if it tells nothing."""
    text = meaningful(identifier)
    if name == "wwn":
        text = text.lower()
        for prefix in ("naa.", "eui.", "0x"):
            text = text.removeprefix(prefix)
        return meaningful(text)
    # udev shows the spaces of a model as underscores, lsblk as spaces.
    return " ".join(text.replace("_", " ").split()) if name == "model" else text


def _given(wanted: DiskIdentity) -> dict[str, str]:
    return {name: getattr(wanted, name) for name in IDENTIFIERS if getattr(wanted, name).strip()}


def _fitting(wanted: DiskIdentity, machine: Machine) -> list[DiskFact]:
    if wanted.device:
        disk = machine.disk(wanted.device)
        return [disk] if disk else []
    given = {name: comparable(name, value) for name, value in _given(wanted).items()}
    if not any(given.values()) or not all(given.values()):
        return []
    return [
        disk
        for disk in machine.disks
        if all(comparable(name, getattr(disk, name)) == value for name, value in given.items())
    ]


def _not_one(wanted: DiskIdentity, fitting: list[DiskFact], machine: Machine) -> str:
    given = _given(wanted)
    if wanted.device:
        return f"{wanted.device} is not a disk of this machine, which has {_nodes(machine.disks)}"
    if not given:
        return "nothing tells which disk it is: give its serial, wwn, path or model"
    empty = [f"{name} '{value}'" for name, value in given.items() if not comparable(name, value)]
    if empty:
        return f"{' and '.join(empty)} tells nothing about a disk: give another identifier"
    words = " and ".join(f"{name} {value}" for name, value in given.items())
    if fitting:
        return (
            f"{len(fitting)} disks have {words}: {_nodes(fitting)}; add what tells them apart, such as path"
        )
    return f"no disk has {words}" + _nearest(given, machine)


def _nearest(given: Mapping[str, str], machine: Machine) -> str:
    """The disk that comes closest, with what it has instead."""
    close = max(machine.disks, key=lambda disk: _likeness(given, disk), default=None)
    if close is None:
        return "; the machine shows no disks at all"
    if _likeness(given, close) < NEAR:
        return f"; the machine has {_nodes(machine.disks)}"
    has = " and ".join(f"{name} {plain(getattr(close, name)) or 'unknown'}" for name in given)
    return f"; the nearest is {close.node} with {has}"


def _likeness(given: Mapping[str, str], disk: DiskFact) -> float:
    """0 (nothing in common) to 1, on average over the identifiers given."""
    pairs = [
        (comparable(name, value), comparable(name, getattr(disk, name))) for name, value in given.items()
    ]
    return sum(SequenceMatcher(None, *pair, autojunk=False).ratio() for pair in pairs) / len(pairs)


def _nodes(disks: Sequence[DiskFact]) -> str:
    nodes = [disk.node for disk in disks]
    return listed(nodes, most=12) or "none"


def _unfit(wanted: DiskIdentity, disk: DiskFact, machine: Machine) -> Iterator[str]:
    """The faults of the one disk that has the identifiers."""
    twins = [other for other in machine.disks if other.node != disk.node and _is_same(disk, other)]
    if twins:
        yield (
            f"{_nodes([disk, *twins])} are one disk by several paths (wwn {plain(disk.wwn)}, serial {plain(disk.serial)}): "
            f"what is written by one path is not seen by the other; leave it one path"
        )
    sizes = f"{disk.node} has {_exact(disk.size)}, planned {_exact(wanted.size)}"
    if disk.size < wanted.size:
        yield f"{sizes}: it is {wanted.size - disk.size} bytes too small"
    elif wanted.size and disk.size > wanted.size * (1 + MOST_LARGER):
        yield f"{sizes}: {(disk.size / wanted.size - 1) * 100:.1f} % more, is it another disk?"
    if disk.logical_block != wanted.logical_block:
        yield f"{disk.node} has logical blocks of {disk.logical_block} bytes, planned {wanted.logical_block}"


def _is_same(one: DiskFact, other: DiskFact) -> bool:
    """Both disks have the same world-wide name, serial number and size, as no two disks do."""
    told = [
        (comparable("wwn", disk.wwn), comparable("serial", disk.serial), disk.size) for disk in (one, other)
    ]
    return all(told[0]) and told[0] == told[1]


def _exact(size: int) -> str:
    return f"{human(size)} ({size} bytes)"


def _taken_twice(found: Mapping[str, DiskFact]) -> Iterator[Mismatch]:
    by_node: dict[str, list[str]] = {}
    for name, disk in found.items():
        by_node.setdefault(disk.node, []).append(name)
    for node, names in by_node.items():
        for name in names if len(names) > 1 else ():
            others = " and ".join(other for other in names if other != name)
            yield Mismatch(name, f"{node} is {others} as well: two disks of the layout cannot be one disk")
