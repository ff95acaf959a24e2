"""Layouts as the machines that rules see."""

from __future__ import annotations

from raidplan.document.read import parse_document
from raidplan.layout.load import load_layout
from raidplan.topology import Topology, resolve
from tests.rules.stages import HEAD


def machine(text: str) -> Topology:
    document, problems = parse_document(HEAD + text, "x.yaml")
    assert document is not None, problems
    layout, findings = load_layout(document)
    assert layout is not None, findings
    return resolve(layout)[0]
