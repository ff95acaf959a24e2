"""Encryptions that an earlier apply made, and of whose header nothing is left: the content can be whole, and no key opens it without.

`apply` keeps a copy of each header that it makes. Nothing else is written over such a device, whatever the layout allows to be wiped.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from raidplan.apply.decide.lost_superblocks import is_known_on
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.hidden import escaped
from raidplan.facts import Machine
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.step import Plan, Step


def headers_lost(plan: Plan, machine: Machine, past: Past) -> Iterator[Refusal]:
    """A refusal for each such encryption on the disks of then, with the commands that bring it back from the copy. None while a run is
    open: it may have cleared the device itself."""
    if past.is_open:
        return
    made = made_nodes(plan)
    for step in plan.steps:
        if not _has_stood(step, machine, past) or not is_known_on(step.guard[0], step, plan, past):
            continue
        identity = identity_of(step.guard[0], made)
        block = next((block for block in machine.blocks if block.identity == identity), None)
        # Other content is one more reason to look at it, and that is told otherwise.
        if block is None or machine.carried(identity):
            continue
        assert step.proof is not None
        kept, opened = past.header(step.proof.key), machine.observe("mapping", step.proof.key) or {}
        node = step.guard[0] if step.guard[0].startswith("/") else f"/dev/{block.name}"
        yield refusal(
            "superblocks-lost",
            "header-kept" if kept else "header",
            place=step.because,
            line=step.line,
            began=past.made_at.get(made_by(step), ""),
            node=shlex.quote(node),
            file=shlex.quote(kept) if kept else "",
            opened=escaped(str(opened.get("name", ""))),
        )


def _has_stood(step: Step, machine: Machine, past: Past) -> bool:
    """The step made an encryption in an earlier run, which is not there now; plain ones have no header."""
    if (
        step.proof is None
        or step.proof.kind != "encryption"
        or not step.guard
        or step.proof.expect.get("type") == "plain"
    ):
        return False
    if machine.observe("encryption", step.proof.key):
        return False
    return made_by(step) in past.made
