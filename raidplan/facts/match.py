"""The match of a layout's disks with the machine's: every identifier given must agree, or there is no match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from raidplan.base.figures import Figure, Figures
from raidplan.base.groups import by_key
from raidplan.facts.machine import DiskFact, Machine
from raidplan.plan.disk_identity import IDENTIFIERS, STRONG, DiskIdentity

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


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The reason why a disk of the layout has no match, and the figures of its sentence: sizes in bytes, names as they were read."""

    disk: str
    case: str
    figures: Figures = field(default_factory=dict, hash=False)


def match(disks: Sequence[DiskIdentity], machine: Machine) -> tuple[dict[str, DiskFact], list[Mismatch]]:
    """The disk for each name of the layout, and every reason why one is missing, ambiguous or unfit.

    A disk that was found but is unfit, or taken twice, is not in the result.
    """
    found: dict[str, DiskFact] = {}
    problems: list[Mismatch] = []
    for wanted in disks:
        fitting = _fitting(wanted, machine)
        unfit = (
            list(_unfit(wanted, fitting[0], machine))
            if len(fitting) == 1
            else [_not_one(wanted, fitting, machine)]
        )
        problems += unfit
        if not unfit:
            found[wanted.name] = fitting[0]
    twice = list(_doubles(found))
    shared = {problem.disk for problem in twice}
    return {name: disk for name, disk in found.items() if name not in shared}, problems + twice


def meaningful(identifier: str) -> str:
    """The identifier without outer spaces; empty if it tells nothing, as `0000` or `unknown`."""
    text = identifier.strip()
    if text.lower() in NO_IDENTITY or len(set(text.replace("-", "").replace(" ", ""))) <= 1:
        return ""
    return text


def has_number(disk: DiskFact) -> bool:
    """The disk has a serial number or a WWN: without, another one in its place looks the same."""
    return any(comparable(name, getattr(disk, name)) for name in STRONG)


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


def _identifiers_of(wanted: DiskIdentity) -> dict[str, str]:
    return {name: getattr(wanted, name) for name in IDENTIFIERS if getattr(wanted, name).strip()}


def _fitting(wanted: DiskIdentity, machine: Machine) -> list[DiskFact]:
    if wanted.device:
        disk = machine.disk(wanted.device)
        return [disk] if disk else []
    identifiers = {name: comparable(name, value) for name, value in _identifiers_of(wanted).items()}
    if not any(identifiers.values()) or not all(identifiers.values()):
        return []
    return [
        disk
        for disk in machine.disks
        if all(comparable(name, getattr(disk, name)) == value for name, value in identifiers.items())
    ]


def _not_one(wanted: DiskIdentity, fitting: list[DiskFact], machine: Machine) -> Mismatch:
    given, name = _identifiers_of(wanted), wanted.name
    if wanted.device:
        return Mismatch(name, "device", {"node": wanted.device, "nodes": _nodes(machine.disks)})
    if not given:
        return Mismatch(name, "no-identifier")
    empty = tuple(f"{each} '{value}'" for each, value in given.items() if not comparable(each, value))
    if empty:
        return Mismatch(name, "meaningless", {"identifiers": empty})
    identifiers = tuple(f"{each} {value}" for each, value in given.items())
    if fitting:
        return Mismatch(
            name, "several", {"identifiers": identifiers, "count": len(fitting), "nodes": _nodes(fitting)}
        )
    close = max(machine.disks, key=lambda disk: _likeness(given, disk), default=None)
    if close is None:
        return Mismatch(name, "no-disks", {"identifiers": identifiers})
    if _likeness(given, close) < NEAR:
        return Mismatch(name, "none", {"identifiers": identifiers, "nodes": _nodes(machine.disks)})
    has = tuple(f"{each} {getattr(close, each) or 'unknown'}" for each in given)
    return Mismatch(name, "nearest", {"identifiers": identifiers, "node": close.node, "has": has})


def _likeness(given: Mapping[str, str], disk: DiskFact) -> float:
    """0 (nothing in common) to 1, on average over the identifiers given."""
    pairs = [
        (comparable(name, value), comparable(name, getattr(disk, name))) for name, value in given.items()
    ]
    return sum(SequenceMatcher(None, *pair, autojunk=False).ratio() for pair in pairs) / len(pairs)


def _nodes(disks: Sequence[DiskFact]) -> tuple[str, ...]:
    return tuple(disk.node for disk in disks)


def _unfit(wanted: DiskIdentity, disk: DiskFact, machine: Machine) -> Iterator[Mismatch]:
    """The faults of the one disk that has the identifiers."""
    twins = [other for other in machine.disks if other.node != disk.node and _is_same(disk, other)]
    if twins:
        figures: Figures = {"nodes": _nodes([disk, *twins]), "wwn": disk.wwn, "serial": disk.serial}
        yield Mismatch(wanted.name, "several-paths", figures)
    sizes: dict[str, Figure] = {"node": disk.node, "size": disk.size, "planned": wanted.size}
    if disk.size < wanted.size:
        yield Mismatch(wanted.name, "small", sizes | {"short": wanted.size - disk.size})
    elif wanted.size and disk.size > wanted.size * (1 + MOST_LARGER):
        percent = f"{(disk.size / wanted.size - 1) * 100:.1f}"
        yield Mismatch(wanted.name, "large", sizes | {"percent": percent})
    if disk.logical_block != wanted.logical_block:
        blocks: Figures = {"node": disk.node, "size": disk.logical_block, "planned": wanted.logical_block}
        yield Mismatch(wanted.name, "logical-block", blocks)


def _is_same(one: DiskFact, other: DiskFact) -> bool:
    """Both disks have the same world-wide name, serial number and size, as no two disks do."""
    identities = [
        (comparable("wwn", disk.wwn), comparable("serial", disk.serial), disk.size) for disk in (one, other)
    ]
    return all(identities[0]) and identities[0] == identities[1]


def _doubles(found: Mapping[str, DiskFact]) -> Iterator[Mismatch]:
    for node, names in by_key((disk.node, name) for name, disk in found.items()).items():
        for name in names if len(names) > 1 else ():
            others = tuple(other for other in names if other != name)
            yield Mismatch(name, "taken", {"node": node, "others": others})
