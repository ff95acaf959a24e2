"""Steps run in the order of their needs, side by side where they may, and stop at the first failure."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.devices.partition_lock import partitions_of
from raidplan.apply.execute import WORKERS, Outcome
from raidplan.apply.execute import execute as execute_in
from raidplan.apply.work import Event
from raidplan.apply.world import World, attribute
from raidplan.base.reader import Reader
from raidplan.base.size import MIB
from raidplan.facts import DiskFact
from raidplan.facts.failure import failure
from raidplan.facts.run import Result
from raidplan.facts.uses import Use, use
from raidplan.plan.step import Plan, Proof, Run, SetAttribute, Step
from tests.apply.record import Record
from tests.apply.sentences import failures
from tests.apply.uses import uses_of


def step(
    name: str,
    *argv: str,
    needs: tuple[str, ...] = (),
    targets: tuple[str, ...] = (),
    guard: tuple[str, ...] = (),
) -> Step:
    return Step(
        name,
        "prepare",
        name,
        Run(argv or ("true",)),
        "arrays",
        needs=needs,
        targets=targets or (name,),
        guard=guard,
    )


def execute(
    plan: Plan,
    nodes: Mapping[str, str],
    tell: Callable[[Event], None],
    record: Record | None = None,
    *,
    workers: int = 8,
) -> Outcome:
    disks = {name: DiskFact(node, node, 0) for name, node in nodes.items()}
    return execute_in(plan, disks, tell, record or Record(), World(), workers=workers)


def plan(*steps: Step) -> Plan:
    return Plan("host", "", "", (), steps)


class Log:
    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.now: set[str] = set()
        self.together: set[frozenset[str]] = set()

    def __call__(self, event: Event) -> None:
        self.events.append((event.kind, event.step.id))
        (self.now.add if event.kind == "started" else self.now.discard)(event.step.id)
        self.together.add(frozenset(self.now))


def test_needs_come_first() -> None:
    log = Log()
    outcome = execute(plan(step("a"), step("b", needs=("a",)), step("c", needs=("b",))), {}, log)
    assert outcome.complete and outcome.done == ["a", "b", "c"]
    assert log.events == [(kind, name) for name in "abc" for kind in ("started", "done")]


def test_steps_that_wait_for_each_other_are_named() -> None:
    """A bug of the plan: what does not wait is done, and nothing ends without a word."""
    record = Record()
    circle = plan(step("a"), step("b", needs=("c", "a")), step("c", needs=("b",)))
    with pytest.raises(RuntimeError, match="no step can begin: b waits for c; c waits for b"):
        execute(circle, {}, Log(), record)
    assert record.lines == [("intent", "a"), ("ended", "a")]


def test_a_step_that_an_interrupt_kept_from_its_begin_is_left() -> None:
    """^C came while the display told of it: it is in no list any more, and nothing may count as complete."""

    def tell(event: Event) -> None:
        if (event.kind, event.step.id) == ("started", "b"):
            raise KeyboardInterrupt

    record = Record()
    outcome = execute(plan(step("a"), step("b", needs=("a",))), {}, tell, record)
    assert outcome.interrupted and not outcome.complete and outcome.not_begun == ["b"]
    assert ("intent", "b") not in record.lines


def test_steps_that_share_no_target_run_side_by_side() -> None:
    log = Log()
    execute(plan(step("a", "sleep", "0.2"), step("b", "sleep", "0.2")), {}, log)
    assert frozenset("ab") in log.together


def test_steps_that_share_a_target_never_do() -> None:
    log = Log()
    execute(plan(*(step(name, "sleep", "0.05", targets=("disk",)) for name in "abcd")), {}, log)
    assert max(map(len, log.together)) == 1


def test_never_more_at_once_than_workers() -> None:
    log = Log()
    execute(plan(*(step(str(n), "sleep", "0.05") for n in range(9))), {}, log, workers=3)
    assert max(map(len, log.together)) == 3


def test_by_itself_never_more_than_eight_at_once() -> None:
    """As docs/apply.md says."""
    log = Log()
    steps = (step(str(n), "sleep", "0.1") for n in range(20))
    assert execute_in(plan(*steps), {}, log, Record(), World()).complete
    assert max(map(len, log.together)) == WORKERS == 8
    assert "at most eight." in (Path(__file__).parents[2] / "docs/apply.md").read_text()


def test_a_failure_starts_nothing_new_and_lets_the_others_finish() -> None:
    log = Log()
    slow = step("slow", "sleep", "0.3")
    outcome = execute(plan(step("bad", "false"), slow, step("later", needs=("slow",))), {}, log)
    assert outcome.done == ["slow"] and outcome.not_begun == ["later"]
    assert outcome.failed["bad"] == (failure("program", "false", code=1, said=""),)
    assert not outcome.complete


def test_a_program_that_is_not_there_is_a_failure_with_its_name() -> None:
    outcome = execute(plan(step("a", "no-such-program-here")), {}, Log())
    assert "no-such-program-here" in failures(outcome)["a"]


def test_a_guard_that_does_not_hold_stops_before_the_command(tmp_path: Path) -> None:
    there, made = tmp_path / "there", tmp_path / "made"
    there.write_text("precious")
    outcome = execute(plan(step("a", "cp", "/dev/null", str(made), guard=(str(there),))), {}, Log())
    assert "exists already" in failures(outcome)["a"]
    assert not made.exists() and there.read_text() == "precious"


def test_disks_are_named_only_when_the_step_runs(tmp_path: Path) -> None:
    disk, made = tmp_path / "disk", tmp_path / "made"
    disk.write_text("content")
    execute(plan(step("a", "cp", "{d00}", str(made))), {"d00": str(disk)}, Log())
    assert made.read_text() == "content"


@pytest.mark.parametrize("now", [("8", 1000), ("7", 2000)], ids=["another one", "of another size"])
def test_a_disk_that_was_exchanged_is_not_touched(now: tuple[str, int], tmp_path: Path) -> None:
    class Exchanged(World):
        def instance(self, node: str) -> tuple[str, int]:
            return now

    (tmp_path / "disk").touch()
    disk = DiskFact(str(tmp_path / "disk"), "sdb", 1000, instance="7")
    record = Record()
    touch = plan(step("a", "rm", "{d00}"))
    outcome = execute_in(touch, {"d00": disk}, Log(), record, Exchanged())
    assert [(each.kind, each.figures["disk"]) for each in uses_of(outcome)["a"]] == [("other-disk", "d00")]
    assert (tmp_path / "disk").exists() and record.lines == [("refused", "a")]


def test_an_intent_is_recorded_before_and_an_end_after(tmp_path: Path) -> None:
    record = Record()
    execute(plan(step("a"), step("b", "false", needs=("a",))), {}, Log(), record)
    assert record.lines == [("intent", "a"), ("ended", "a"), ("intent", "b"), ("failed", "b")]


def test_attributes_are_never_created(tmp_path: Path) -> None:
    missing = Step("a", "array", "a", SetAttribute(str(tmp_path / "sync_action"), "frozen"), "arrays")
    outcome = execute(plan(missing), {}, Log())
    assert outcome.failed and not list(tmp_path.iterdir())


def test_waits_for_the_device_that_a_program_makes_late(tmp_path: Path) -> None:
    node = tmp_path / "node"
    late = threading.Timer(0.3, node.touch)
    late.start()
    waiting = Step("a", "array", "a", Run(("true",)), "arrays", awaits=(str(node),))
    started = time.monotonic()
    assert execute(plan(waiting), {}, Log()).complete
    assert node.exists() and time.monotonic() - started >= 0.2


class Flickering(World):
    """udev takes a partition away for a moment after its table was written, and again before it is used."""

    def __init__(self, missing: int) -> None:
        super().__init__()
        self.missing, self.asked_blank = missing, list[bool]()

    def exists(self, node: str) -> bool:
        self.missing -= 1
        return self.missing < 0

    def not_blank(self, *devices: str, everywhere: bool) -> list[Use]:
        self.asked_blank.append(self.missing < 0)
        return [] if self.missing < 0 else [use("absent", device) for device in devices]


class Flash(Flickering):
    """Every device of it reads as erased flash."""

    def written(self, node: str) -> tuple[Reader, int]:
        return lambda at, size: b"\xff" * size, 64 * MIB


def test_the_record_says_of_a_step_that_its_device_reads_as_erased_flash() -> None:
    """Not of one that writes over no device, and not of members, where mdadm itself writes such bytes."""
    proofs = {
        kind: Proof(kind, "x", {"partitions": []})
        for kind in ("table", "filesystem", "encryption", "array", "mount")
    }
    steps = [replace(step(kind, guard=("/dev/x",)), proof=proof) for kind, proof in proofs.items()]
    steps[-1] = replace(steps[-1], guard=())
    for world, erased in ((Flash(0), {"table", "filesystem", "encryption"}), (Flickering(0), set())):
        record = Record()
        execute_in(plan(*steps), {}, Log(), record, world)
        assert {name for kind, name in record.lines if kind == "intent"} == {*proofs}
        assert record.erased == erased


def test_a_node_that_is_gone_for_a_moment_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidplan.apply.work.LOOK_AGAIN_SECONDS", 0.001)
    world = Flickering(5)
    made = step("made", guard=("/dev/disk/by-partuuid/x",))
    outcome = execute_in(plan(made), {}, lambda event: None, Record(), world)
    assert outcome.complete and world.asked_blank == [True]


def test_a_node_that_never_comes_back_is_not_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidplan.apply.work.APPEAR_SECONDS", 0.01)
    monkeypatch.setattr("raidplan.apply.work.LOOK_AGAIN_SECONDS", 0.001)
    record = Record()
    made = step("made", guard=("/dev/disk/by-partuuid/x",))
    outcome = execute_in(plan(made), {}, lambda event: None, record, Flickering(10**9))
    assert "/dev/disk/by-partuuid/x is not there" in failures(outcome)["made"]
    assert record.lines == [("refused", "made")]


def test_attributes_are_those_of_the_running_array(tmp_path: Path) -> None:
    """Made again while the kernel still has the name of the stopped one: the link says which it is."""
    before, file = "/sys/block/md_swap/md/array_state", "/sys/block/{/dev/md/swap}/md/array_state"
    assert attribute(before, tmp_path) == before, "a plan of before, and no link"
    (tmp_path / "dev/md").mkdir(parents=True)
    (tmp_path / "dev/md127").touch()
    (tmp_path / "dev/md/swap").symlink_to("../md127")
    assert attribute(file, tmp_path) == "/sys/block/md127/md/array_state"
    assert attribute(before, tmp_path) == "/sys/block/md127/md/array_state"
    assert attribute("/sys/block/{/dev/md5}/md/array_state", tmp_path) == "/sys/block/md5/md/array_state"
    assert attribute("/sys/block/sda/queue/scheduler", tmp_path) == "/sys/block/sda/queue/scheduler"


class Unseen(World):
    """udev made no link for what mkfs closed while udev looked at it: it does when it is asked to look again."""

    def __init__(self, target: str = "") -> None:
        super().__init__(target=target)
        self.asked: list[str] = []

    def exists(self, node: str) -> bool:
        return not node.startswith("/dev/disk/") or bool(self.asked)

    def look_again(self, *nodes: str, settle: bool = False) -> None:
        self.asked += nodes

    def not_blank(self, *devices: str, everywhere: bool) -> list[Use]:
        return []


@pytest.mark.parametrize(("phase", "seen"), [("format", True), ("partition", True), ("array", False)])
def test_udev_is_asked_to_look_again_at_what_was_formatted_or_partitioned(
    monkeypatch: pytest.MonkeyPatch, phase: str, seen: bool
) -> None:
    """Of members nobody asks: an event of theirs can assemble what is not to be."""
    monkeypatch.setattr("raidplan.apply.work.APPEAR_SECONDS", 0.05)
    monkeypatch.setattr("raidplan.apply.work.LOOK_AGAIN_SECONDS", 0.005)
    monkeypatch.setattr("raidplan.apply.work.ASK_AGAIN_SECONDS", 0.01)
    made = replace(step("a", guard=("/dev/md/x",)), phase=phase, awaits=("/dev/disk/by-uuid/1",))
    world = Unseen()
    outcome = execute_in(Plan("h", "", "", (), (made,)), {}, lambda event: None, Record(), world)
    assert outcome.complete == seen and world.asked[:1] == (["/dev/md/x"] if seen else [])


@pytest.mark.parametrize(("target", "asked"), [("/mnt", ["/dev/md/x"]), ("", [])])
def test_below_a_target_udev_is_done_with_a_physical_volume_before_its_group_is_made(
    target: str, asked: list[str]
) -> None:
    """Or it would activate the group, and LVM leave a copy of its metadata in the rescue system's /etc/lvm."""
    made = replace(step("a", guard=("/dev/md/x",)), action=Run(("pvcreate", "/dev/md/x")))
    world = Unseen(target=target)
    world.run = lambda *_: Result((), 0, "", "")  # type: ignore[method-assign]
    world.sync = lambda path: None  # type: ignore[method-assign]
    assert execute_in(Plan("h", "", "", (), (made,)), {}, lambda event: None, Record(), world).complete
    assert world.asked == asked


class Opened(World):
    """Notes which disks are open while each program runs."""

    def __init__(self) -> None:
        super().__init__()
        self.open: dict[int, str] = {}
        self.seen: dict[str, set[str]] = {}

    def hold(self, node: str) -> int:
        return self._opened(f"held {node}")

    def hold_partitions(self, node: str) -> int:
        return self._opened(f"still {node}")

    def _opened(self, words: str) -> int:
        descriptor = os.open("/dev/null", os.O_RDONLY)
        self.open[descriptor] = words
        return descriptor

    def not_blank(self, *devices: str, everywhere: bool) -> list[Use]:
        return []

    def run(self, argv: Sequence[str], stdin: str = "") -> Result:
        there = {
            words for descriptor, words in self.open.items() if Path(f"/proc/self/fd/{descriptor}").exists()
        }
        self.seen[argv[0]] = there
        return Result(tuple(argv), 0, "", "")


def test_a_disk_is_open_as_long_as_it_is_written_and_still_as_long_as_others_are() -> None:
    """Open, its name means no other disk; still, udev takes away none of its partitions."""
    proof = Proof("table", "guid", {"partitions": ["uuid 1048576 1048576 raid"]})
    table = replace(step("a", "sfdisk", "{d0}"), proof=proof)
    world = Opened()
    outcome = execute_in(
        plan(table, step("b", "mke2fs", needs=("a",))),
        {"d0": DiskFact("/dev/x", "x", 0)},
        Log(),
        Record(),
        world,
    )
    assert outcome.complete, outcome.failed
    assert world.seen == {"sfdisk": {"held /dev/x"}, "mke2fs": {"still /dev/x"}}
    assert not [number for number in world.open if os.path.realpath(f"/proc/self/fd/{number}") == "/dev/null"]


def test_the_partitions_of_a_disk_are_those_that_the_kernel_has(tmp_path: Path) -> None:
    for name in ("nvme0n1/nvme0n1p1", "nvme0n1/nvme0n1p12", "nvme0n1/queue"):
        (tmp_path / "sys/class/block" / name).mkdir(parents=True)
    for part in ("nvme0n1p1", "nvme0n1p12"):
        (tmp_path / "sys/class/block/nvme0n1" / part / "partition").touch()
    assert partitions_of("/dev/nvme0n1", tmp_path) == ("/dev/nvme0n1p1", "/dev/nvme0n1p12")
    assert partitions_of("/dev/md/x", tmp_path) == ()
    (tmp_path / "sys/class/block/cciss!c0d0/cciss!c0d0p1").mkdir(parents=True)
    (tmp_path / "sys/class/block/cciss!c0d0/cciss!c0d0p1/partition").touch()
    assert partitions_of("/dev/cciss/c0d0", tmp_path) == ("/dev/cciss/c0d0p1",)
