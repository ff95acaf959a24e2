"""Estimates of layouts given as text."""

from __future__ import annotations

from raidplan.document.read import parse_document
from raidplan.estimate.estimate import estimate
from raidplan.estimate.result import Estimate, Estimates
from raidplan.layout.load import load_layout
from raidplan.placement import place
from raidplan.topology import resolve

MB = 1_000_000


def estimates(text: str) -> Estimates:
    """The estimate of a layout without its first two lines; it may lack sizes."""
    document, problems = parse_document(f"version: 1\nhost: h\n{text}", "x.yaml")
    assert document is not None and not problems
    layout, findings = load_layout(document)
    assert layout is not None, findings
    topology, findings = resolve(place(layout)[0])
    assert not findings
    return estimate(topology)


def array(text: str, name: str = "s") -> Estimate:
    """One array of it."""
    (found,) = (each for each in estimates(text).arrays if each.name == name)
    return found


def mb(thing: Estimate, *, together: bool = False) -> tuple[float | None, float | None]:
    """MB/s read and written."""
    figures = thing.together if together else thing.alone
    rates = (figures.read.bytes_per_second, figures.write.bytes_per_second)
    read, write = (None if rate is None else round(rate / MB, 1) for rate in rates)
    return read, write


def bound(thing: Estimate) -> list[str]:
    """What bounds its read alone."""
    return [each.component for each in thing.alone.read.bottlenecks]
