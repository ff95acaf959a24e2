"""`wipe: true` makes an object of the layout anew where a person chose another one, never for what became of the one that stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import Decision, decide
from raidplan.base.magic import SignatureAt
from raidplan.plan.step import Plan, Step, Value
from tests.apply.drifted import standing, the_array
from tests.apply.finished import past_of
from tests.apply.stacks import Box, plan_of

LAYOUT = """\
version: 1
host: pair
hardware:
  disks: {{d<0-3>: {{size: 1TB, serial: PAIR-<1>{wipe}}}}}
arrays:
  data: {{level: raid5, members: [d<0-2>]{more}}}
{top}"""
ENCRYPTION = "encryption:\n  crypt: {device: data, key: ask}\n"
FILESYSTEM = "filesystems:\n  data: {device: data, type: ext4, mount: /srv/data}\n"
JOURNAL = ", journal: d3"
LOST: Mapping[str, Value] = {"degraded": 1, "members": ["missing", "1", "2"]}


def layout(folder: Path, *, more: str = "", top: str = "", wipe: bool = True) -> Plan:
    return plan_of(LAYOUT.format(more=more, top=top, wipe=", wipe: true" if wipe else ""), folder)


def stands(plan: Plan, found: Mapping[str, Value]) -> Box:
    """All that a plan makes on its disks, but for what was found of the array."""
    box = standing(plan)
    array = the_array(box)
    slots = array["members"]
    array |= {"sync_held": False, **found}
    array["members"] = [slots[int(each)] if each.isdigit() else each for each in array["members"]]
    for step in plan.steps:
        if step.creates and step.proof and step.proof.kind in ("filesystem", "encryption"):
            box.put(step.proof.kind, step.proof.key, **step.proof.expect)
            block = box.blocks["md127"]
            kind = "ext4" if step.proof.kind == "filesystem" else "crypto_LUKS"
            there = SignatureAt.read(f"0 0x438 {kind} {step.proof.key}")
            box.blocks["md127"] = replace(block, found=(there,), content=(kind,))
    return box


def decided(now: Plan, then: Plan, box: Box, folder: Path, *, closed: bool = True) -> Decision:
    """The decision on the layout of now; that of then was applied. All modules are loaded."""
    machine = box.machine()
    loaded = {name: {"loaded": True, "loadable": True} for name in now.modules}
    machine = replace(machine, objects={**machine.objects, "module": loaded})
    return decide(now, machine, past_of(then, box, folder, closed=closed), here=False)


def of_the_array(decision: Decision) -> list[tuple[str, str]]:
    return [(each.code, each.case) for each in decision.refusals if each.place == "arrays.data"]


def written_over(decision: Decision) -> list[str]:
    return [step.id for step in decision.left.steps if step.creates]


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize(
    ("then", "now", "found", "case"),
    [
        ("", "", LOST, "member-missing"),
        ("", ", consistency: ppl", LOST, "member-missing"),
        ("", ", consistency: ppl", {"degraded": 1, "sync_action": "recover"}, "commands"),
        (", consistency: ppl", "", LOST, "member-missing"),
        (", consistency: ppl", "", {"consistency": "bitmap"}, "commands"),
        ("", ", bitmap: none", LOST, "member-missing"),
        (JOURNAL, JOURNAL, {"journal": None, "state": "readonly"}, "commands"),
        (JOURNAL, JOURNAL, {"journal": None, "state": "readonly", **LOST}, "state"),
    ],
)
def test_whatever_becomes_of_an_array_it_stays(
    then: str, now: str, found: Mapping[str, Value], case: str, closed: bool, tmp_path: Path
) -> None:
    """Also while its policy is to be another one, from which other sizes follow."""
    refused = []
    for wipe in (True, False):
        made, wanted = layout(tmp_path, more=then, wipe=wipe), layout(tmp_path, more=now, wipe=wipe)
        folder = tmp_path / str(wipe)
        decision = decided(wanted, made, stands(made, found), folder, closed=closed)
        assert decision.left.lost == () and not {"array.data.create"} & {*written_over(decision)}
        refused.append(of_the_array(decision))
    assert refused[0] == refused[1]
    assert ("differs", case) in refused[0] and {code for code, _ in refused[0]} == {"differs"}


@pytest.mark.parametrize("now", [", chunk: 64KiB", ", layout: right-symmetric", ", metadata: '1.1'"])
def test_an_array_that_a_person_chose_otherwise_is_made_anew_after_a_yes(now: str, tmp_path: Path) -> None:
    made, wanted = layout(tmp_path), layout(tmp_path, more=now)
    decision = decided(wanted, made, stands(made, {}), tmp_path)
    assert decision.refusals == () and "array.data.create" in written_over(decision)
    assert any(loss.kind == "array" and loss.own for loss in decision.left.lost)


@pytest.mark.parametrize(
    ("name", "value", "anew"),
    [("headers", 1, False), ("headers", 0, False), ("keyed", False, False), ("cipher", "null", True)],
)
def test_an_encryption_with_a_damaged_header_stays(
    name: str, value: Value, anew: bool, tmp_path: Path
) -> None:
    plan = layout(tmp_path, top=ENCRYPTION)
    box = stands(plan, {})
    ((uuid, header),) = box.objects["encryption"].items()
    box.put("encryption", uuid, **{**header, name: value})
    decision = decided(plan, plan, box, tmp_path)
    assert ("encryption.crypt.make" in written_over(decision)) == anew == bool(decision.left.lost)


def test_a_file_system_of_another_size_stays(tmp_path: Path) -> None:
    plan = layout(tmp_path, top=FILESYSTEM)
    box = stands(plan, {})
    ((uuid, found),) = box.objects["filesystem"].items()
    for property, value, anew in (("blocks", found["blocks"] // 2, False), ("type", "xfs", True)):
        box.put("filesystem", uuid, **{**found, property: value})
        decision = decided(plan, plan, box, tmp_path / property)
        assert ("filesystem.data.make" in written_over(decision)) == anew == bool(decision.left.lost)


def test_no_step_is_named_that_the_plan_does_not_have(tmp_path: Path) -> None:
    steps: list[Step] = [*layout(tmp_path, top=ENCRYPTION).steps, *layout(tmp_path, top=FILESYSTEM).steps]
    named = {"array.data.create", "encryption.crypt.make", "filesystem.data.make"}
    assert named <= {step.id for step in steps}
