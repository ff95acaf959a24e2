"""Partitions that begin where the plan has them and bear other UUIDs, as after another name in the layout.

By those UUIDs everything on them is found until a person has changed them (`sfdisk --part-uuid`), so it is compared by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from raidplan.apply.change.change import changes
from raidplan.apply.decide.comparison import compare, without_data
from raidplan.apply.decide.redo_steps import half_done
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.base.identity import Identity
from raidplan.facts import Machine
from raidplan.facts.prove import Deviation
from raidplan.plan.partitions import partition_rows
from raidplan.plan.step import Plan, Step, Value

ELSEWHERE = "elsewhere"
"""The kind of the identity of a planned partition whose UUID another place bears; no device has it."""


def compare_by_present_uuids(plan: Plan, machine: Machine, past: Past) -> tuple[Plan, list[Refusal]]:
    """The remaining steps, and the reasons to refuse them. A table whose partitions have other UUIDs than planned is one, and what
    stands on them is none because of that."""
    by_present, actual = by_present_uuids(plan, machine, past)
    lost = bool(actual and without_data(by_present, machine, past))
    if lost and (tables := [*_of_tables(by_present, actual, machine, past)]):
        return replace(plan, steps=()), tables
    left, refusals = compare(by_present, machine, past)
    planned = {step.id: step.proof for step in plan.steps} if actual else {}
    steps = (replace(step, proof=planned.get(step.id, step.proof)) for step in left.steps)
    return replace(left, steps=tuple(steps)), [_by_planned_names(each, actual) for each in refusals]


def _of_tables(plan: Plan, actual: Mapping[str, str], machine: Machine, past: Past) -> Iterator[Refusal]:
    """The refusals of the tables with other UUIDs, which come alone while an array has no data: the commands that bring its members
    back call them by their planned UUIDs."""
    for step in plan.steps:
        rows = step.proof.partitions if step.proof and step.proof.kind == "table" else ()
        if any(row.identity in actual for row in rows):
            yield from changes(step, machine, plan, past)[1]


def _by_planned_names(refusal: Refusal, actual: Mapping[str, str]) -> Refusal:
    """The refusal in which a partition has the name that the layout has for its place, whatever its UUID is."""

    def named(each: Deviation) -> Deviation:
        there = {name: of for name, of in each.names.items() if name not in actual}
        return replace(
            each, names=there | {actual[uuid]: of for uuid, of in each.names.items() if uuid in actual}
        )

    return replace(refusal, deviations=tuple(map(named, refusal.deviations))) if actual else refusal


def by_present_uuids(plan: Plan, machine: Machine, past: Past) -> tuple[Plan, Mapping[str, str]]:
    """The plan whose proofs name partitions by the UUIDs that they bear, and those by the planned ones; the plan itself where
    all are as planned.

    Every table with another UUID than planned is refused, so nothing is done by such a plan.
    """
    tables = {step.id: uuid for step in plan.steps if (uuid := _table_on(step, machine, past))}
    actual: dict[str, str] = {}
    for step in plan.steps:
        if step.id in tables:
            actual |= _actual_of(step, tables[step.id], machine)
    if not actual:
        return plan, {}
    return replace(plan, steps=tuple(_with(step, actual, tables) for step in plan.steps)), actual


def _table_on(step: Step, machine: Machine, past: Past) -> str:
    """The UUID of the table that a step wrote, or wrote when its disk had another name; empty if there is none."""
    if step.proof is None or step.proof.kind != "table" or half_done(step, machine, past):
        return ""
    there = {
        uuid: [row[1:] for row in partition_rows(found["partitions"])]
        for uuid, found in machine.objects.get("table", {}).items()
        if found.get("disk") == step.proof.expect["disk"]
    }
    if step.proof.key in there or machine.observe("table", step.proof.key):
        return step.proof.key if step.proof.key in there else ""
    planned = [row[1:] for row in step.proof.partitions]
    renamed = (
        uuid for uuid, rows in there.items() if rows == planned and str(Identity("table", uuid)) in past.made
    )
    return next(renamed, "")


def _actual_of(step: Step, table: str, machine: Machine) -> Iterator[tuple[str, str]]:
    """Maps each planned partition to the one found at its start, if that has another UUID. If the planned UUID sits at another start,
    maps it to a placeholder that matches no device."""
    assert step.proof is not None
    found = machine.objects["table"][table]
    rows = partition_rows(found["partitions"])
    there = {row.start: row for row in rows}
    for row in step.proof.partitions:
        if row.start in there and there[row.start].uuid != row.uuid:
            yield row.identity, there[row.start].identity
        elif row.start not in there and row.uuid in [each.uuid for each in rows]:
            yield row.identity, str(Identity(ELSEWHERE, row.uuid))


def _with(step: Step, actual: Mapping[str, str], tables: Mapping[str, str]) -> Step:
    if step.proof is None:
        return step
    if step.proof.kind == "table":
        return replace(step, proof=step.proof._replace(key=tables.get(step.id) or step.proof.key))
    expect = {name: _named(value, actual) for name, value in step.proof.expect.items()}
    return step if expect == step.proof.expect else replace(step, proof=step.proof._replace(expect=expect))


def _named(value: Value, actual: Mapping[str, str]) -> Value:
    if isinstance(value, list):
        return [actual.get(each, each) for each in value]
    return actual.get(value, value) if isinstance(value, str) else value
