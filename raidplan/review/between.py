"""Layouts that are checked together, against each other: a disk or a host that stands in two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from raidplan.base.findings import Finding, Path, Severity, shortened
from raidplan.plan.disk_identity import STRONG
from raidplan.review.pipeline import Loaded, with_findings
from raidplan.rules import CATALOGUE
from raidplan.rules.identity import comparable, differing_keys

T = TypeVar("T")


def between(checked: Sequence[Loaded]) -> list[Loaded]:
    """Each with what it shares with another, at its place in both."""
    hosts: dict[str, list[int]] = {}
    disks: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for number, loaded in enumerate(checked):
        if loaded.layout is not None:
            hosts.setdefault(loaded.layout.host, []).append(number)
            for name, disk in loaded.layout.hardware.disks.items():
                for mark in STRONG:
                    if value := comparable(disk, mark):
                        disks.setdefault((mark, value), []).append((number, name))
    found: list[list[Finding]] = [[] for _ in checked]
    for numbers in hosts.values():
        for number, other in _pairs(numbers):
            found[number].append(_host(checked[other]))
    for (mark, _), places in disks.items():
        for (number, name), (other, twin) in _pairs(places):
            if checked[number].layout.host != checked[other].layout.host:  # type: ignore[union-attr]  # both have one
                found[number].append(_disk(checked[number], name, mark, checked[other], twin))
    return [with_findings(*pair) for pair in zip(checked, found, strict=True)]


def _pairs(places: Sequence[T]) -> Iterator[tuple[T, T]]:
    """Each place with the first of the others: as many findings as places."""
    if len(places) > 1:
        yield places[0], places[1]
        yield from ((place, places[0]) for place in places[1:])


def _host(other: Loaded) -> Finding:
    rule = CATALOGUE["host-in-two-layouts"]
    message = f"{_place(other, ('host',))} is a layout for this host too"
    return Finding(rule.name, rule.severity, ("host",), message, "keep one of them, or correct the name")


def _disk(loaded: Loaded, name: str, mark: str, other: Loaded, twin: str) -> Finding:
    assert loaded.layout is not None and other.layout is not None
    disk, second = loaded.layout.hardware.disks[name], other.layout.hardware.disks[twin]
    apart = differing_keys(disk, second, besides="path")
    path: Path = ("hardware", "disks", name, mark)
    where = _place(other, ("hardware", "disks", twin, mark))
    return Finding(
        "disk-in-two-layouts",
        Severity.WARNING if apart else Severity.ERROR,
        path,
        f"{twin} of {other.layout.host} has the same {mark}, {shortened(getattr(disk, mark))} ({where})"
        + (f"; they differ in {' and '.join(apart)}" if apart else ""),
        "correct the one that was copied; a disk that moved leaves the layout of the host that it was in",
    )


def _place(loaded: Loaded, path: Path) -> str:
    assert loaded.document is not None
    span = loaded.document.locate(path)
    return f"{span.file}:{span.line}"
