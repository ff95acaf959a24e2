"""The survival of layouts given as text, and sets of components written out."""

from __future__ import annotations

from itertools import chain, combinations, product

from raidplan.document.read import parse_document
from raidplan.estimate.survival import Sets, Survival, survive
from raidplan.layout.load import load_layout
from raidplan.topology import resolve


def survival(text: str) -> Survival:
    """The survival of a layout without its first two lines."""
    document, problems = parse_document(f"version: 1\nhost: h\n{text}", "x.yaml")
    assert document is not None and not problems
    layout, findings = load_layout(document)
    assert layout is not None, findings
    return survive(resolve(layout)[0])


def expanded(sets: Sets) -> set[frozenset[str]]:
    """Every set by the names in it."""
    return {
        frozenset(chain.from_iterable(names))
        for choice in sets.choices
        for names in product(*(combinations(part.names, part.count) for part in choice))
    }
