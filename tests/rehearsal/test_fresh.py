"""A whole server rehearsed with a stand-in for the virtual machine: made below a target, booted from its own disks."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.cli import FINDINGS
from raidplan.estimate.survival import BOOT, Outcome, survive
from raidplan.plan.codec import plan_from_json
from raidplan.plan.step import Run
from raidplan.review.pipeline import load
from raidplan.topology import Topology
from raidplan.twin.rehearsal.boot_outcomes import outcomes_at_boot
from raidplan.twin.rehearsal.making import BELOW, PLAN, TARGET
from raidplan.twin.rehearsal.stages import RAIDPLAN
from tests.rehearsal.conftest import SERVER, Rehearsal
from tests.rehearsal.stand_in import Faulty

APPLY = " ".join((*RAIDPLAN, "apply"))
WAITS = SERVER.replace("boot: {", "boot: {degraded: wait, ")
BESIDE = (
    WAITS.replace("root: {size: 4GiB}", "root: {size: 4GiB}, beside: {size: 1GiB}")
    .replace("arrays:", "arrays:\n  beside: {level: raid1, members: [d<0-1>.beside]}")
    .replace("filesystems:", "filesystems:\n  beside: {device: beside, type: ext4, mount: MOUNT}")
)
"""One more array on the disks of the root file system; that of the data has others."""
ACROSS = BESIDE.replace("[d<0-1>.beside]", "[d0.beside, e0]").replace("[e<0-1>]", "[d1.beside, e1]")
"""It shares one disk with the root file system."""


def test_it_is_made_below_a_target_and_booted_from_its_disks(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(), "--faults", "disks,components,boot", text=SERVER)
    assert report["as_predicted"] and not report["void"]
    assert [stage["name"] for stage in report["stages"]][2:9] == [
        "install", "preflight", "apply", "system", "finish", "boot from disks", "apply again",
    ]  # fmt: skip
    applies = [call for call in rehearsed.twin.calls if call.startswith(APPLY)]
    files = [BELOW, BELOW, PLAN, PLAN]
    assert [word for call in applies for word in call.split() if word in files] == files
    assert [plan_from_json(rehearsed.twin.files[file].decode()).target for file in (BELOW, PLAN)] == [
        TARGET,
        "",
    ]
    assert rehearsed.twin.calls.count("started from disks") == 1
    seen = {
        (case["name"], case["fault"]): {one["path"]: one["survived"] for one in case["observed"]}
        for case in report["cases"]
    }
    assert seen["a", "absent"] == {"boot": False}, "of what does not boot nothing else is seen"
    assert seen["b", "absent"]["boot"] and not seen["b", "absent"]["filesystems.data"]
    assert not seen["a", "pulled"]["machine"] and seen["d0", "pulled"]["machine"]


def test_no_rule_keeps_a_server_from_being_rehearsed(rehearsed: Rehearsal) -> None:
    """In the twin an array with parity is made without an initial sync, which `check` calls an error, so plans are applied."""
    parity = SERVER.replace("e<0-1>", "e<0-3>").replace(
        "level: raid1, members: [e", "level: raid6, members: [e"
    )
    rehearsed(Faulty(), "--faults", "disks", text=parity)
    applied = [call.split()[5] for call in rehearsed.twin.calls if call.startswith(APPLY)]
    for file in applied:
        steps = plan_from_json(rehearsed.twin.files[file].decode()).steps
        (create,) = (step.action for step in steps if step.id == "array.data.create")
        assert isinstance(create, Run) and "--assume-clean" in create.argv


def test_a_blank_disk_comes_last_in_the_boot_order(rehearsed: Rehearsal) -> None:
    rehearsed(Faulty(), "--faults", "boot:d0", text=SERVER)
    assert rehearsed.twin.orders == [("d1", "e0", "e1", "d0")], "one boot with it blank"


PAIR = """\
version: 1
host: pair
hardware: {disks: {d<0-1>: {size: 2GiB, serial: P<1>, partitions: {p: {size: 512MiB}, q: {size: 512MiB}}}}}
arrays: {pair: {level: raid1, members: [d<0-1>.p]}}
filesystems:
  pair: {device: pair, type: ext4, mount: /srv/pair}
  plain: {device: d0.q, type: ext4, mount: /srv/plain}
"""


def test_each_boot_begins_from_the_first_order_of_disks(rehearsed: Rehearsal) -> None:
    """A blank disk comes last in one boot; with all moved afterwards, no disk may be in its first place again by that."""
    report = rehearsed(Faulty(), "--faults", "boot:d0,boot:machine", text=PAIR)
    faults = [case["fault"] for case in report["cases"]]
    assert faults == ["absent", "blank", "moved", "power"]
    assert rehearsed.twin.orders == [("d1", "d0"), ("d1", "d0")]
    assert [disk.name for disk in rehearsed.twin.machine.disks] == ["d0", "d1"], "after the power cut"


def test_one_that_does_not_boot_without_a_disk_is_found(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(boots_without=False), "--faults", "boot:d0", text=SERVER, code=FINDINGS)
    assert {case["as_predicted"] for case in report["cases"] if case["fault"] == "absent"} == {False}


@pytest.mark.parametrize(("lost", "boots"), [(("d0",), True), (("d0", "d1"), False), (("e0", "e1"), True)])
def test_it_boots_as_long_as_a_loader_and_the_root_are_there(
    lost: tuple[str, ...], boots: bool, tmp_path: Path
) -> None:
    assert outcomes_at_boot(topology_of(SERVER, tmp_path), lost)[BOOT].survives == boots


def topology_of(text: str, folder: Path) -> Topology:
    file = folder / "layout.yaml"
    file.write_text(text)
    topology = load(str(file)).topology
    assert topology is not None
    return topology


@pytest.mark.parametrize("mount", ["/srv/beside", "/var"])
def test_with_wait_it_boots_without_a_member_of_the_root(rehearsed: Rehearsal, mount: str) -> None:
    """The initramfs waits for the root then, and starts all arrays; for one of other disks it does not wait."""
    report = rehearsed(Faulty(), "--faults", "disks,boot", text=BESIDE.replace("MOUNT", mount))
    assert report["as_predicted"]
    absent = {
        case["name"]: {one["path"]: one["predicted"] for one in case["observed"]}
        for case in report["cases"]
        if case["fault"] == "absent"
    }
    assert absent["d0"]["boot"] == absent["e0"]["boot"] == "intact"
    assert absent["d0"]["arrays.root"] == absent["d0"]["arrays.beside"] == "degraded"
    assert absent["e0"]["arrays.data"] == "lost"


@pytest.mark.parametrize("degraded", ["start", "wait"])
@pytest.mark.parametrize(
    "text",
    [SERVER, BESIDE, ACROSS, "root-raid1-uefi", "root-raid6-lvm"],
    ids=["bios", "beside", "across", "uefi", "lvm"],
)
def test_a_whole_server_boots_as_estimate_says(text: str, degraded: str, tmp_path: Path) -> None:
    text = text if "\n" in text else Path(f"examples/{text}.yaml").read_text()
    text = text.replace("MOUNT", "/var").replace("degraded: wait, ", "")
    topology = topology_of(text.replace("\nboot: {", f"\nboot: {{degraded: {degraded}, "), tmp_path)
    assert topology.layout.boot.degraded == degraded
    survival = survive(topology)
    for component in survival.components:
        promised = survival.after(component.disks).get(BOOT, Outcome.INTACT)
        assert outcomes_at_boot(topology, component.disks)[BOOT].survives == promised.survives, component.name
