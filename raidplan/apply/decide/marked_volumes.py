"""Physical volumes that an interrupted vgcreate has marked as used, before any device had the group's metadata.

vgcreate writes the mark into the label of each device (`PV_EXT_USED`, format_text/layout.h of lvm2) before it commits the
group. In between LVM refuses the device to vgcreate and pvcreate, as one whose group is missing. So the physical volume is
made again, as any that was interrupted, after its device was proven to hold nothing else (own_sectors.py).
"""

from __future__ import annotations

from dataclasses import replace

from raidplan.apply.journal.past import Past
from raidplan.facts import Machine
from raidplan.plan.step import Plan


def with_marked_volumes(past: Past, plan: Plan, machine: Machine) -> Past:
    """The journal with the steps of such physical volumes among those that were begun and not finished."""
    steps = {step.id: step for step in plan.steps}
    marked = set[str]()
    for step in plan.steps:
        proof = step.proof
        if (
            step.id in past.begun
            and proof
            and proof.kind == "volume_group"
            and not machine.observe(proof.kind, proof.key)
        ):
            for need in (steps[each] for each in step.needs if each in past.ended):
                volume = need.proof and machine.observe(need.proof.kind, need.proof.key)
                marked |= {need.id} if volume and volume.get("marked") else set()
    return replace(past, begun=past.begun | marked, ended=past.ended - marked) if marked else past
