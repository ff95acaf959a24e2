"""Objects with the identity of a planned one on a disk that no layout names: copies, not an earlier shape of our own."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.apply.refusal import Refusal
from raidplan.base.figures import Figures
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.identity import Identity
from raidplan.facts import Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import Properties
from raidplan.plan.step import Step

PLACES = {"table": "disk", "filesystem": "device", "swap": "device"}
"""Kinds that lie on one device, and the property that says which."""
CALLED = {"table": "partition table", "filesystem": "file system", "swap": "swap area"}
SWAP_UUID = "swaplabel --uuid $(uuidgen)"
"""The command that gives a swap area another UUID and changes nothing else (swaplabel(8))."""


def copy_elsewhere(step: Step, found: Properties, machine: Machine) -> Iterator[Refusal]:
    """Reasons for a person to look at an object `found` elsewhere; none if it is on disks of the layout."""
    assert step.proof is not None
    kind, key = step.proof.kind, step.proof.key
    place = found.get(PLACES.get(kind, ""))
    name = next((block.name for block in machine.blocks if block.identity == place), "")
    base = Stack(machine, {}).base(name)
    # A disk of the layout is called by its name there: `{d00}`.
    if not name or any(block.name in base and Identity.read(block.identity).disk for block in machine.blocks):
        return
    known = FILESYSTEMS.get(str(found.get("type")))
    argv = SWAP_UUID if kind == "swap" else known.another_uuid if known else ""
    figures: Figures = {"kind": CALLED[kind], "uuid": key, "device": f"/dev/{name}", "command": argv}
    yield Refusal("differs", "copy" if argv else "copy-without-command", step.because, step.line, figures)
