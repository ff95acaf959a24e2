"""Disks whose partition table is gone, and on which, by the journal, an array stands: its data can be whole.

The table is written first, as the apply wrote it: a look at its partitions shows then whether the superblocks are gone as
well (lost_superblocks.py). Nothing else is written over such a disk, whatever the layout allows to be wiped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import join, quote

from raidplan.apply.decide.lost_superblocks import has_stood, is_known_on, too_few
from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import PLAN, Past
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.teardown.losses import TABLES
from raidplan.base.identity import Identity
from raidplan.facts import DiskFact, Machine
from raidplan.facts.device_stack import by_id
from raidplan.facts.match import has_number
from raidplan.plan.step import Plan, Run, Step


def tables_lost(plan: Plan, machine: Machine, disks: Mapping[str, DiskFact], past: Past) -> Iterator[Refusal]:
    """A refusal for each such disk, with the command that writes its table. Not for a disk that somebody uses otherwise now,
    and not for one without a serial number and a WWN, which can be a new one; `disks` by layout name."""
    arrays: dict[str, list[Step]] = {}
    for step in plan.steps:
        # What the open run made itself is gone, not lost (comparison.py).
        if step.id not in past.ended and has_stood(step, machine, past) and too_few(step, machine):
            for node in step.guard:
                if is_known_on(node, step, plan, past):
                    arrays.setdefault(node, []).append(step)
    for table in plan.steps:
        stood = [step for node in table.awaits for step in arrays.get(node, ())]
        name = Identity.read(table.guard[0]).disk if table.guard else ""
        if stood and name in disks and _is_gone(table, disks[name], machine):
            same = table.id in past.standing
            yield refusal(
                "superblocks-lost",
                "table" if same else "other-table",
                place=name,
                line=table.line,
                node=disks[name].node,
                arrays=tuple(step.because for step in stood),
                began=past.made_at.get(made_by(stood[0]), ""),
                **{"command": _command(table, disks[name])}
                if same
                else {"step": table.id, "file": f"{past.folder}/{PLAN}"},
            )


def _is_gone(table: Step, disk: DiskFact, machine: Machine) -> bool:
    """The disk is the one that had the table, and has none with partitions now, nor other content of its own."""
    other = any(trace.where == "disk" and trace.type not in (*TABLES, "data") for trace in disk.traces)
    there = table.proof and machine.observe("table", table.proof.key)
    return has_number(disk) and not there and not other and not any(part.uuid for part in disk.partitions)


def _command(table: Step, disk: DiskFact) -> str:
    """The command that wrote the table, for a shell; it is told the disk by a name that lasts."""
    assert isinstance(table.action, Run) and isinstance(table.action.stdin, str)
    node = by_id(disk) or disk.node
    lines = " ".join(map(quote, table.action.stdin.splitlines()))
    return f"printf '%s\\n' {lines} | {join(node if word == table.guard[0] else word for word in table.action.argv)}"
