"""What must hold for the plan of every example."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.base.identity import md_form as coloned
from raidplan.compiler import compile_plan
from raidplan.document import read_document
from raidplan.layout.load import load_layout
from raidplan.placement import place
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.phases import PHASES
from raidplan.plan.places import MDADM_CONF
from raidplan.plan.step import Plan, RenewInitramfs, Run, WriteBlock, WriteFile
from raidplan.topology import resolve

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


def plan_of(file: Path) -> Plan:
    document, located = read_document(str(file))
    assert document is not None and not located
    layout, findings = load_layout(document)
    assert layout is not None, findings
    layout, _, findings = place(layout)
    assert not findings
    topology, findings = resolve(layout)
    assert not findings
    plan, findings = compile_plan(topology, document)
    assert plan is not None, findings
    return plan


@pytest.fixture(params=EXAMPLES, ids=lambda file: file.stem)
def plan(request: pytest.FixtureRequest) -> Plan:
    return plan_of(request.param)


def test_steps_stand_after_what_they_need(plan: Plan) -> None:
    seen: set[str] = set()
    for step in plan.steps:
        assert set(step.needs) <= seen, step.id
        assert step.id not in seen
        seen.add(step.id)


def test_phases_come_in_order(plan: Plan) -> None:
    phases = [PHASES.index(step.phase) for step in plan.steps]
    assert phases == sorted(phases)


def test_what_a_boot_reads_comes_in_order(plan: Plan) -> None:
    """mdadm.conf, the initramfs that holds it, and fstab when everything that it mounts is there."""
    before: dict[str, set[str]] = {}
    for step in plan.steps:
        before[step.id] = {*step.needs}.union(*(before[need] for need in step.needs))
    conf = {
        s.id for s in plan.steps if isinstance(s.action, WriteBlock) and s.action.file.endswith("mdadm.conf")
    }
    initramfs = {s.id for s in plan.steps if isinstance(s.action, RenewInitramfs)}
    made = {s.id for s in plan.steps if s.creates and s.proof and not s.proof.key.startswith("file:")}
    assert all(conf <= before[step] for step in initramfs) and len(initramfs) == len(conf)
    for step in plan.steps:
        if isinstance(step.action, WriteBlock) and step.action.file == "/etc/fstab":
            assert made | initramfs <= before[step.id]


def test_only_disks_of_the_layout_are_named(plan: Plan) -> None:
    names = {f"{{{disk.name}}}" for disk in plan.disks}
    for step in plan.steps:
        words = [*(step.action.argv if isinstance(step.action, Run) else ()), *step.guard]
        assert {word for word in words if word.startswith("{")} <= names


def test_no_command_names_a_kernel_disk(plan: Plan) -> None:
    for step in plan.steps:
        if isinstance(step.action, Run):
            assert not [
                word for word in step.action.argv if word.startswith(("/dev/sd", "/dev/nvme", "/dev/vd"))
            ]


def test_what_is_said_of_arrays_is_about_one_of_the_layout(plan: Plan) -> None:
    """CREATE, HOMEHOST, AUTO and POLICY would count for the arrays of others too; of addresses mdadm takes one for all."""
    arrays = {step.proof.key for step in plan.steps if step.proof and step.proof.kind == "array"}
    named = {text for uuid in arrays for text in (uuid, coloned(uuid))}
    files = {a.file: a.content for s in plan.steps if isinstance(a := s.action, WriteFile | WriteBlock)}
    for line in files.get(MDADM_CONF, "").splitlines():
        assert line.startswith("MAILADDR ") or any(f" UUID={uuid}" in line for uuid in named), line
    rules = (content for file, content in files.items() if file.startswith("/etc/udev/"))
    for line in (line for content in rules for line in content.splitlines() if not line.startswith("#")):
        assert any(f'_UUID}}=="{uuid}"' in line for uuid in named), line


def test_two_steps_that_write_one_file_share_a_target(plan: Plan) -> None:
    """Side by side, one of them would write over what the other has just written: so each file is a target of who writes it."""
    written = [step for step in plan.steps if isinstance(step.action, WriteBlock | WriteFile)]
    assert written
    assert [step.id for step in written if step.action.file not in step.targets] == []  # type: ignore[union-attr]


def test_what_destroys_is_guarded_and_proven(plan: Plan) -> None:
    for step in plan.steps:
        if step.destroys:
            assert step.guard and step.proof, step.id


def test_each_device_is_written_over_once_per_layer(plan: Plan) -> None:
    guarded = [target for step in plan.steps for target in step.guard]
    assert len(guarded) == len(set(guarded))


def test_every_step_has_a_line_of_the_layout(plan: Plan) -> None:
    assert all(step.line > 0 for step in plan.steps)


def test_json_round_trip(plan: Plan) -> None:
    assert plan_from_json(plan_to_json(plan)) == plan


def test_equal_layouts_give_equal_bytes() -> None:
    for file in EXAMPLES:
        assert plan_to_json(plan_of(file)) == plan_to_json(plan_of(file))


def test_every_destroyed_device_is_a_disk_a_partition_an_array_or_a_volume_of_the_layout(plan: Plan) -> None:
    made = {node for step in plan.steps for node in step.awaits} | {f"{{{disk.name}}}" for disk in plan.disks}
    for step in plan.steps:
        for target in step.guard:
            assert target in made or not target.startswith("/dev/"), (step.id, target)


def test_the_root_file_system_is_checked_first(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(
        "version: 1\nhost: h\nhardware: {disks: {d<0-2>: {serial: S<1>, size: 10GiB}}}\nfilesystems:\n"
        "  root: {device: d0, type: ext4, mount: /}\n  data: {device: d1, type: ext4, mount: /srv}\n"
        "  fast: {device: d2, type: xfs, mount: /fast}\n"
    )
    actions = [step.action for step in plan_of(file).steps]
    [block] = [
        action.content for action in actions if isinstance(action, WriteBlock) and action.file == "/etc/fstab"
    ]
    assert [line.split()[-1] for line in block.splitlines()] == ["1", "2", "0"]
