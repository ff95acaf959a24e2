"""Wrong and moving disks: found by what they are, or refused before the first write."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decide.fingerprint import changed, state_of
from raidplan.apply.decision import Decision, decide, with_devices
from raidplan.apply.devices import guard
from raidplan.apply.devices.guard import not_blank
from raidplan.apply.devices.zero import zero
from raidplan.apply.execute import execute
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import refusal
from raidplan.facts import DiskFact, Machine
from raidplan.facts.match import Mismatch, match
from raidplan.facts.uses import NotWritten, Use, User, use
from raidplan.plan import identities
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.step import Plan, Run, Step, Zero
from tests.apply.sentences import failures, not_cleared
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import LAYOUT, TB, Box, plan_of
from tests.images import MIB, image, tool


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(LAYOUT, tmp_path)


def box(*serials: str) -> Machine:
    """Blank disks, sda first; a serial may come with a WWN: `PAIR-0 0x5000c500a0000000`."""
    made = Box()
    for letter, told in zip("abcdef", serials, strict=False):
        serial, _, wwn = told.partition(" ")
        made.disk(f"sd{letter}", serial)
        made.disks[f"sd{letter}"] = replace(made.disks[f"sd{letter}"], wwn=wwn)
    return made.machine()


def decided(plan: Plan, machine: Machine) -> Decision:
    return decide(plan, machine, Past(), here=False)


@pytest.mark.parametrize(
    ("now", "nodes"),
    [
        (("PAIR-1", "PAIR-0"), {"d0": "/dev/sdb", "d1": "/dev/sda"}),
        (("STICK", "PAIR-0", "PAIR-1"), {"d0": "/dev/sdb", "d1": "/dev/sdc"}),
        (("PAIR-1", "STICK", "OTHER", "PAIR-0"), {"d0": "/dev/sdd", "d1": "/dev/sda"}),
    ],
)
def test_f11_f18_other_names_change_nothing_but_the_names(
    plan: Plan, now: tuple[str, ...], nodes: dict[str, str], tmp_path: Path
) -> None:
    """The plan that was made for the names of before holds, and its commands get those of now."""
    before = decided(plan, box("PAIR-0", "PAIR-1"))
    assert before.nodes == {"d0": "/dev/sda", "d1": "/dev/sdb"} and not before.refusals
    after = decided(before.left, box(*now))
    assert (after.refusals, after.nodes) == ((), nodes)
    assert after.left.steps == before.left.steps and after.left.machine == before.left.machine
    world = Ran(plan, tmp_path, State())
    tables = [step for step in after.left.steps if step.phase == "partition"]
    execute(Plan("h", "", "", (), tuple(replace(s, needs=(), guard=(), awaits=()) for s in tables)), after.disks, lambda event: None, Silent(), world)  # fmt: skip
    assert sorted(word for line in world.ran for word in line if word.startswith("/dev/sd")) == sorted(nodes.values())  # fmt: skip


class Ran(Simulated):
    """Notes the commands."""

    def run(self, argv, stdin=""):  # type: ignore[no-untyped-def]
        self.ran = [*getattr(self, "ran", ()), tuple(argv)]
        return replace(super().effect("run", "", lambda: guard.run(["true"])), argv=tuple(argv))


class Silent:
    """A journal that keeps nothing."""

    def record_intent(self, step: str, sectors: bytes = b"", *, erased: bool = False) -> None: ...
    def record_end(self, step: str, seconds: float, made: str = "") -> None: ...
    def record_failure(self, step: str, message: str) -> None: ...
    def record_refusal(self, step: str, message: str) -> None: ...


@pytest.mark.parametrize(
    ("now", "why"),
    [
        pytest.param(("PAIR-0",), ("nearest", "none"), id="f13"),
        pytest.param(("PAIR-0", "PAIR-7"), ("nearest", "none"), id="f14"),
        pytest.param(("PAIR-0", "PAIR-1", "PAIR-1"), ("several",), id="f16"),
    ],
)
def test_f13_f14_f16_no_step_is_left_for_a_machine_that_does_not_fit(
    plan: Plan, now: tuple[str, ...], why: tuple[str, ...]
) -> None:
    """One disk in doubt refuses the whole plan, that of the other disk too."""
    (found,) = (each for each in decided(plan, box(*now)).refusals if each.code == "disk-unmatched")
    assert found.place == "d1" and found.case in why
    assert found.figures["identifiers"] == ("serial PAIR-1",)
    assert why != ("several",) or found.figures["nodes"] == ("/dev/sdb", "/dev/sdc")


def test_f14_the_same_serial_with_other_content_is_another_disk(plan: Plan) -> None:
    made = decided(plan, box("PAIR-0", "PAIR-1")).left
    other = Box().disk("sda", "PAIR-0").disk("sdb", "PAIR-1").table("sdb").machine()
    now = {
        each.place: each.figures for each in decided(made, other).refusals if each.code == "machine-changed"
    }
    assert now["d1.content"]["planned"] == () != now["d1.content"]["now"]


@pytest.mark.parametrize("size", [TB - 512, TB * 2])
def test_f15_f49_another_size_is_another_disk(plan: Plan, size: int) -> None:
    machine = box("PAIR-0", "PAIR-1")
    machine = replace(machine, disks=(machine.disks[0], replace(machine.disks[1], size=size)))
    (found,) = (each for each in decided(plan, machine).refusals if each.code == "disk-unmatched")
    assert (found.place, found.case) == ("d1", "small" if size < TB else "large")
    assert (found.figures["node"], found.figures["size"]) == ("/dev/sdb", size)


def test_f16_what_two_disks_tell_can_be_told_apart_by_more() -> None:
    """A USB dock gives both its disks one serial number: with their paths they are two."""
    disks = tuple(DiskFact(f"/dev/sd{n}", f"sd{n}", TB, serial="DOCK", path=f"usb-{n}") for n in "ab")
    wanted = [DiskIdentity(n, TB, serial="DOCK", path=f"usb-{n}") for n in "ab"]
    found, problems = match(wanted, Machine(disks))
    assert [disk.node for disk in found.values()] == ["/dev/sda", "/dev/sdb"] and not problems


def test_f17_one_disk_by_two_paths_is_refused() -> None:
    """Even where the layout tells the paths apart: two members on one disk would be the least harm."""
    disks = tuple(
        DiskFact(f"/dev/sd{n}", f"sd{n}", TB, serial="LUN", wwn="0x6001405a", path=f"pci-{n}") for n in "ab"
    )
    wanted = [DiskIdentity(n, TB, serial="LUN", path=f"pci-{n}") for n in "ab"]
    found, problems = match(wanted, Machine(disks))
    assert not found
    one = {"wwn": "0x6001405a", "serial": "LUN"}
    assert problems == [
        Mismatch("a", "several-paths", {"nodes": ("/dev/sda", "/dev/sdb"), **one}),
        Mismatch("b", "several-paths", {"nodes": ("/dev/sdb", "/dev/sda"), **one}),
    ]


def test_f17_below_a_map_of_multipath_a_path_is_in_use(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT.replace(", wipe: true", ""), tmp_path)
    machine = box("PAIR-0", "PAIR-1")
    held = tuple(replace(disk, users=(User("held", "mpatha (dm-0)"),)) for disk in machine.disks)
    refused = decided(plan, replace(machine, disks=held)).refusals
    assert any("mpatha" in str(each.figures) for each in refused)


def test_f19_identical_disks_in_another_machine(plan: Plan) -> None:
    """The disks were moved: what the plan was made for is the installation as well."""
    here = replace(box("PAIR-0", "PAIR-1"), machine_id="aaaa")
    made = decided(plan, here).left
    assert decided(made, here).refusals == ()
    moved = refusal("machine-changed", place="machine-id", planned="aaaa", now="bbbb")
    assert decided(made, replace(here, machine_id="bbbb")).refusals == (moved,)


def test_a_plan_for_what_is_left_is_applied_where_it_was_made(plan: Plan) -> None:
    """It runs fewer programs than the whole plan: those are no difference."""
    tools = {name: {"path": name, "version": "9"} for name in plan.tools}
    machine = box("PAIR-0", "PAIR-1")
    machine = replace(machine, objects={**machine.objects, "tool": tools})
    made = decided(plan, machine).left
    assert set(made.tools) < set(plan.tools) and decided(made, machine).refusals == ()


def test_f19_every_property_of_the_machine_counts(plan: Plan) -> None:
    disks = {"d0": box("PAIR-0").disks[0]}
    before = state_of(plan.tools, disks, box("PAIR-0"))
    for name, other in {"serial": "X", "wwn": "X", "size": 1, "logical_block": 4096}.items():
        now = state_of(plan.tools, {"d0": replace(disks["d0"], **{name: other})}, box("PAIR-0"))
        assert [each.place for each in changed(before.values, now)] == [f"d0.{name}"]


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Nodes that are no disks, among them links below /dev that end at files."""
    folder = Path("/dev/shm") / f"raidplan-{os.getpid()}"
    folder.mkdir()
    (folder / "file").write_bytes(b"precious" * 512)
    (folder / "one").symlink_to(folder / "two")
    (folder / "two").symlink_to(folder / "file")
    (folder / "circle").symlink_to(folder / "circle")
    os.mkfifo(folder / "fifo")
    yield {"null": "/dev/null", "folder": str(folder), **{each.name: str(each) for each in folder.iterdir()}}
    assert (folder / "file").read_bytes() == b"precious" * 512
    for each in folder.iterdir():
        each.unlink()
    folder.rmdir()


@pytest.mark.parametrize("name", ["null", "folder", "file", "one", "fifo"])
def test_f20_what_is_no_block_device_is_never_written(odd: dict[str, str], name: str) -> None:
    assert [*not_blank(odd[name], everywhere=True)] == [use("no-device", odd[name])]
    if name != "fifo":  # opening it would wait for a reader
        with pytest.raises((NotWritten, OSError)):
            zero(odd[name], Zero(odd[name], ((0, 512),)))


def test_f20_a_link_to_itself_is_not_there(odd: dict[str, str]) -> None:
    circle = use("unseen", odd["circle"], error=os.strerror(errno.ELOOP))
    assert [*not_blank(odd["circle"], everywhere=True)] == [circle]
    assert [*not_blank(odd["circle"], everywhere=False)] == [circle]


@pytest.mark.parametrize("name", ["null", "folder", "file", "one", "circle", "fifo"])
def test_f20_devices_that_are_none_are_refused(plan: Plan, odd: dict[str, str], name: str) -> None:
    named = with_devices(plan, {"d0": odd[name]})
    none = refusal("disk-unmatched", "device", place="d0", node=odd[name], nodes=("/dev/sda", "/dev/sdb"))
    assert none in decided(named, box("PAIR-0", "PAIR-1")).refusals


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices")
def test_f21_a_link_to_another_partition_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both partitions are blank: nothing but the table tells that the link is wrong."""
    nodes = []
    monkeypatch.setattr(identities, "PARTITION", f"{tmp_path}/")
    uuids = ["aaaaaaaa-1111-4222-8333-123456789abc", "bbbbbbbb-1111-4222-8333-123456789abc"]
    try:
        for uuid in uuids:
            file = image(tmp_path, 16 * MIB, uuid[0])
            tool("sfdisk", "--quiet", file, stdin=f"label: gpt\nsize=4MiB, uuid={uuid}\n")
            nodes.append(tool("losetup", "--find", "--show", "--partscan", file).strip())
            if not Path(f"{nodes[-1]}p1").exists():
                tool("partx", "--add", nodes[-1])
        link = tmp_path / uuids[0]
        for number, node in enumerate(nodes):
            link.unlink(missing_ok=True)
            link.symlink_to(f"{node}p1")
            found = guard.other_partition(str(link), os.stat(link).st_rdev)
            assert found == (
                None if number == 0 else use("other-partition", str(link), partition=f"{Path(node).name}p1")
            )
        raw = Path(f"{nodes[1]}p1")
        raw.write_bytes(b"a raw database" * 512)
        with not_cleared("other-partition", str(link), partition=f"{Path(node).name}p1"):
            zero(str(link), Zero(str(link), ((0, MIB),), ()))
        assert raw.read_bytes().startswith(b"a raw database" * 512)
        tool("sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", nodes[0], stdin="label: gpt\nsize=4MiB\n")  # fmt: skip
        link.unlink()
        link.symlink_to(f"{nodes[0]}p1")
        anew = guard.other_partition(str(link), os.stat(link).st_rdev)
        assert anew and anew.kind == "other-partition", "a table made anew"
    finally:
        for node in nodes:
            tool("losetup", "--detach", node)


def test_f21_a_step_does_not_write_where_a_link_leads_elsewhere(tmp_path: Path) -> None:
    class Misled(Simulated):
        def not_blank(self, *devices: str, everywhere: bool) -> list[Use]:
            return [use("other-partition", device, partition="sdx1") for device in devices]

    node = "/dev/disk/by-partuuid/x"
    world = Misled(Plan("h", "", "", (), ()), tmp_path, State(nodes={node}))
    step = Step("make", "format", "make", Run(("mke2fs", node)), "x", targets=(node,), guard=(node,))
    outcome = execute(Plan("h", "", "", (), (step,)), {}, lambda event: None, Silent(), world)
    assert failures(outcome) == {"make": f"not done, because {node} leads to sdx1, another partition"}
    assert not world.executed
