"""Layouts with pools on a machine: an array that stands there keeps its members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from raidplan.apply.decision import with_devices
from raidplan.apply.undo.undo import plan_of_run
from raidplan.base.identity import derived_uuid
from raidplan.cli.devices import read_devices
from raidplan.cli.state import past_of_host, state_folder
from raidplan.compiler.compile import identities
from raidplan.facts import Machine
from raidplan.facts.machine import Properties
from raidplan.facts.match import match
from raidplan.plan.step import Plan
from raidplan.review import pipeline
from raidplan.review.pipeline import Loaded


def keep_members(
    loaded: Loaded,
    plan: Plan,
    machine: Machine,
    journal: Mapping[str, Properties],
    devices: str | None = None,
) -> tuple[Plan | None, Loaded]:
    """The plan with the members that arrays have on the machine, or by `journal`, in place of those picked anew.

    `devices`: the file of `--devices`.
    """
    assert loaded.topology is not None
    # With those that were not picked; of a disk that is not there, no array is found.
    whole = replace(plan, disks=tuple(identities(loaded.topology, every=True)))
    disks, _ = match((with_devices(whole, read_devices(devices, whole)) if devices else whole).disks, machine)
    named = machine.named({disk.node: name for name, disk in disks.items()})
    found = (named.objects.get("array", {}), journal)
    uuids = {derived_uuid(plan.host, "array", each.array) for each in loaded.placements}
    if not any(uuids & arrays.keys() for arrays in found):
        return plan, loaded
    # The texts that were read: a file may have changed since, and standard input is used up.
    texts = loaded.sources
    again = pipeline.check(
        loaded.file, loaded.settings, reader=lambda file: (texts.get(file), "it was not read"), arrays=found
    )
    return pipeline.plan(again, plan.target) if again.valid else (None, again)


def journalled(plan: Plan, state: str | None) -> Mapping[str, Properties]:
    """The arrays that the host's last apply made or was about to make, by UUID; none if the journal cannot be read."""
    try:
        past = past_of_host(state, plan.host, plan.target)
        steps = (
            plan_of_run(state_folder(state, plan.host, plan.target), past).steps if past.plan_digest else ()
        )
    except (OSError, ValueError):
        return {}
    proofs = (step.proof for step in steps if step.creates and step.proof)
    return {
        proof.key: proof.expect
        for proof in proofs
        if proof.kind == "array" and (past.is_open or str(proof.identity) in past.made)
    }
