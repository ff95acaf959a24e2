"""Somebody in between: an apply is cut off, the machine or the layout changes, and `apply` is called again.

It never writes to what it did not make, and never to what it made and somebody may have used since without asking.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.decide import fingerprint
from raidplan.apply.decide.leftovers import NotOurs, carries_ours
from raidplan.apply.decide.redo_steps import redo
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.session import carry_out
from raidplan.facts.uses import use
from raidplan.plan.codec import plan_digest, plan_to_json
from raidplan.plan.step import Plan, Proof, Run, Value
from raidplan.render.losses import loss_texts
from tests.apply.cut_off import JOURNAL, LAYOUT, Cut, again, cut
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Killed, Simulated, State
from tests.apply.stacks import Box, plan_of
from tests.apply.uses import uses_of

__all__ = ["impatient"]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return plan_of(LAYOUT, tmp_path_factory.mktemp("layout"))


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """The disk d0 is another one."""
    text = LAYOUT.replace(
        "d<0-1>: {size: 1TB, serial: PAIR-<1>", "d<0-1>: {size: 1TB, serial: PAIR-<1:NEW/1>"
    )
    return plan_of(text, tmp_path_factory.mktemp("later"))


def table_of_somebody(state: State, disk: str) -> None:
    """A GPT of their own with a file system in it, on a disk that had none or another one."""
    tables = state.objects.setdefault("table", {})
    for uuid in [uuid for uuid, found in tables.items() if found["disk"] == f"{{{disk}}}"]:
        for row in tables.pop(uuid)["partitions"]:
            state.content.pop(f"partition:{row.split()[0]}", None)
            state.nodes.discard(f"/dev/disk/by-partuuid/{row.split()[0]}")
    theirs = "aaaaaaaa-0000-0000-0000-000000000001"
    tables["foreign"] = {"disk": f"{{{disk}}}", "partitions": [f"{theirs} 1048576 1000000000 x"]}
    state.content |= {f"{{{disk}}}": ["PMBR", "gpt"], f"partition:{theirs}": ["ext4 precious"]}
    state.foreign |= {f"{{{disk}}}", f"partition:{theirs}"}


def test_another_disk_of_that_name_is_not_taken_for_ours(plan: Plan, later: Plan, tmp_path: Path) -> None:
    for how in ("before", "during", "after"):
        state = cut(plan, tmp_path / how, "sfdisk", how)
        table_of_somebody(state, "d0")
        said, ran = again(later, tmp_path / how, state)
        assert "d0 (/dev/d0) is not blank" in said and not ran, how


def test_a_blank_disk_in_place_of_a_dead_one_is_done_redo(plan: Plan, later: Plan, tmp_path: Path) -> None:
    """Its partitions had ended, on the other disk."""
    state = cut(plan, tmp_path, "mdadm --create")
    (ours,) = (uuid for uuid, found in state.objects["table"].items() if found["disk"] == "{d0}")
    for row in state.objects["table"].pop(ours)["partitions"]:
        state.nodes.discard(f"/dev/disk/by-partuuid/{row.split()[0]}")
    del state.content["{d0}"]
    said, ran = again(later, tmp_path, state)
    assert said == "done" and next(line for line in ran if line.startswith("sfdisk")).endswith("/dev/d0")
    assert again(later, tmp_path, state) == ("nothing to do", [])


def test_a_blank_disk_that_somebody_begins_to_write_to(plan: Plan, tmp_path: Path) -> None:
    """A virtual machine is started with it after everything was asked, before its step."""
    state = machine(tmp_path)
    world = Simulated(plan, tmp_path, state)
    decision = decide(plan, world.read(plan), Past(), here=False)
    state.writers["{d1}"] = {"process": 7, "program": "qemu"}
    outcome = carry_out(decision, open_journal(tmp_path / JOURNAL, world), lambda event: None, workers=1)
    written = use("written", "/dev/d1", process=7, program="qemu")
    assert uses_of(outcome) == {"disk.d1.partition": (written,)}
    assert not any("/dev/d1" in line for line in world.executed)
    state.writers.clear()
    assert again(plan, tmp_path, state)[0] == "done"


def test_a_disk_that_was_partitioned_by_hand(plan: Plan, tmp_path: Path) -> None:
    state = cut(plan, tmp_path, "sfdisk", "during")
    table_of_somebody(state, "d0")
    said, ran = again(plan, tmp_path, state)
    assert "hardware.disks.d0 (line 3): {d0} has the partition table foreign" in said and not ran


def test_a_partition_that_was_added_or_used_by_hand(plan: Plan, tmp_path: Path) -> None:
    state = cut(plan, tmp_path, "sfdisk", "during")
    ((_, table),) = state.objects["table"].items()
    added, used = deepcopy(state), deepcopy(state)
    added.objects["table"][next(iter(state.objects["table"]))]["partitions"].append("beef 9 9 x")
    assert "{d0} has the partition beef 9 9 x" in again(plan, tmp_path, added)[0]
    first = f"partition:{table['partitions'][0].split()[0]}"
    used.content[first] = ["ext4 precious"]
    said, ran = again(plan, tmp_path, used)
    assert f"{first} carries ext4 precious" in said and "raidplan adopt" in said and not ran


@pytest.mark.parametrize("how", ["before", "during", "after"])
def test_a_half_made_array_that_somebody_uses(plan: Plan, tmp_path: Path, how: str) -> None:
    state = cut(plan, tmp_path, "mdadm --create", how)
    for uuid in state.objects.get("array", {}):
        state.content[f"array:{uuid}"] = ["ext4 mine"]
        said, ran = again(plan, tmp_path, state)
        assert "the array pair:data carries ext4 mine" in said and not ran
        state.content[f"array:{uuid}"], state.stains = [], {f"array:{uuid}": "data from byte 8192 on"}
        said, ran = again(plan, tmp_path, state)
        assert "the array pair:data holds data from byte 8192 on" in said and not ran
        state.stains = {}
        state.objects["mount"] = {"/mnt": {"source": f"array:{uuid}"}}
        said, ran = again(plan, tmp_path, state)
        assert "the array pair:data is in use, mounted at /mnt" in said and not ran
        del state.objects["mount"]
    assert again(plan, tmp_path, state)[0] == "done"


def test_another_swap_file_is_not_deleted(plan: Plan, tmp_path: Path) -> None:
    state = cut(plan, tmp_path / "root", "dd ", "during")
    other = plan_of(LAYOUT.replace("/srv/data/swapfile", "/srv/data/important.img"), tmp_path)
    file = tmp_path / "root/srv/data/important.img"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("precious")
    said, ran = again(other, tmp_path / "root", state)
    assert "/srv/data/important.img exists already" in said and file.read_text() == "precious"
    assert not any("important" in line for line in ran)


def test_a_swap_file_that_became_something_else_is_not_deleted(plan: Plan, tmp_path: Path) -> None:
    state = cut(plan, tmp_path, "dd ", "during")
    file = tmp_path / "srv/data/swapfile"
    with file.open("wb") as opened:
        opened.truncate(65 * 2**20)
    said, ran = again(plan, tmp_path, state)
    assert "/srv/data/swapfile exists already, with 68157440 bytes" in said and not ran
    file.write_bytes(b"")
    assert again(plan, tmp_path, state)[0] == "done"


def used(state: State, *, mounted: bool = False) -> None:
    for found in state.objects["filesystem"].values():
        found["untouched"] = False
        if mounted:
            state.objects["mount"] = {"/mnt": {"source": found["device"]}}


@pytest.mark.parametrize("how", ["during", "after"])
def test_a_file_system_used_since_is_a_loss(plan: Plan, tmp_path: Path, how: str) -> None:
    """mkfs had ended, and the journal does not know it, or is of an earlier moment."""
    state = cut(plan, tmp_path, "mke2fs", how)
    world = Simulated(plan, tmp_path, state)
    used(state)
    left = decide(plan, world.read(plan), read_past(tmp_path / JOURNAL), here=False).left
    assert left.lost == left.own
    (lost,) = left.lost
    assert (lost.where, lost.own, lost.figures["type"], lost.figures["label"]) == (
        "the array pair:data",
        True,
        "ext4",
        "data",
    )
    assert again(plan, tmp_path, state) == (f"asks: {loss_texts(left.lost)[0]}", [])
    used(state, mounted=True)
    said, ran = again(plan, tmp_path, state)
    assert "the array pair:data is in use, mounted at /mnt" in said and not ran


def test_what_nobody_recognises_where_mkfs_was_cut_off(plan: Plan, tmp_path: Path) -> None:
    """It can be of mkfs, and of somebody."""
    state = cut(plan, tmp_path, "mke2fs")
    (uuid,) = state.objects["array"]
    state.stains = {f"array:{uuid}": "data from byte 8192 on"}
    said, ran = again(plan, tmp_path, state)
    assert said.startswith("asks: data from byte 8192 on, on the array pair:data: of the step") and not ran


def test_what_stands_on_a_half_made_thing() -> None:
    """Devices that the kernel shows, whether or not anything on them has a signature."""
    box = Box().disk("sdb", "PAIR-0").partition("sdb", uuid="1-1")
    table = Proof("table", "guid", {"disk": "/dev/sdb", "partitions": ["1-1 1048576 966367641600 raid"]})
    assert not carries_ours("/dev/sdb", table, box.machine()), "the kernel still has the partitions"
    box.array("md127", "sdb1")
    with pytest.raises(NotOurs) as found:
        carries_ours("/dev/sdb", table, box.machine())
    assert found.value.refusal.uses == (
        use("stands", "/dev/sdb", device="the array 'old:data' (/dev/md127)"),
    )
    box = Box().disk("sdb", "PAIR-0").group("theirs", "sdb")
    volume = Proof("physical_volume", "PVuuid-0", {"device": "/dev/sdb"})
    with pytest.raises(NotOurs) as found:
        carries_ours("/dev/sdb", volume, box.machine())
    assert found.value.refusal.uses == (use("group", "/dev/sdb", group="theirs"),)


def test_a_table_that_only_the_kernel_still_has(plan: Plan) -> None:
    """Killed while a half-made table was cleared: the disk is blank, and nothing looked at it again."""
    step = next(step for step in plan.steps if step.id == "disk.d0.partition")
    past = Past(is_open=True, begun=frozenset({step.id}), ours={step.id: frozenset({"{d0}"})})
    blank = Box().disk("sdb", "PAIR-0")
    assert [each.id for each in redo(step, blank.machine().named({"/dev/sdb": "d0"}), past, {})] == [step.id]
    left = blank.partition("sdb", uuid="1-1").machine().named({"/dev/sdb": "d0"})
    clear, again = redo(step, left, past, {})
    assert clear.action == Run(("blockdev", "--rereadpt", "{d0}")) and again.needs[-1] == clear.id


def test_what_an_earlier_run_left_running_is_not_held_again(plan: Plan, tmp_path: Path) -> None:
    """Nothing shows that a sync was held before; the journal of the run that goes on says of which array."""
    state, root = machine(tmp_path / "root"), tmp_path / "root"
    assert apply(plan, Simulated(plan, root, state)) == "done"
    changed = plan_of(LAYOUT.replace("label: data", "label: other"), tmp_path)
    with pytest.raises(Killed):
        apply(changed, Cut(changed, root, state, "e2label", "before"))
    world = Simulated(changed, root, state)
    assert apply(changed, world) == "done" and world.executed
    assert "set" not in [kind for kind, _ in world.effects], world.effects


@pytest.mark.parametrize("how", ["before", "during", "after"])
def test_a_new_array_is_held_and_opened_by_the_run_that_goes_on(plan: Plan, tmp_path: Path, how: str) -> None:
    state = cut(plan, tmp_path, "mdadm --create", how)
    world = Simulated(plan, tmp_path, state)
    assert apply(plan, world) == "done"
    written = [what.rpartition("/")[2] for kind, what in world.effects if kind == "set"]
    assert written == ["sync_action", "array_state", "sync_action"]


def test_a_suspended_system_is_no_swap_of_ours(plan: Plan, tmp_path: Path) -> None:
    state = cut(plan, tmp_path, "mkswap", "during")
    ((uuid, found),) = state.objects["swap"].items()
    state.content[found["device"]] = [f"swsuspend {uuid}"]
    said, ran = again(plan, tmp_path, state)
    assert f"carries swsuspend {uuid}" in said and not ran


@pytest.mark.parametrize(
    ("tool", "was", "now"),
    [("mke2fs", "label: data", "label: other"), ("mdadm --create", ".data]}", ".data], bitmap: none}")],
)
def test_what_another_layout_began_is_not_taken_for_done(
    tool: str, was: str, now: str, plan: Plan, tmp_path: Path
) -> None:
    """Also where it shows on a device only: mdadm was cut off behind the first superblock."""
    state = cut(plan, tmp_path / "root", tool, "during")
    other = plan_of(LAYOUT.replace(was, now), tmp_path)
    said, ran = again(other, tmp_path / "root", state)
    assert "began it" in said and "plan.json beside the journal" in said and not ran
    assert again(plan, tmp_path / "root", state)[0] == "done"


def without_marks(file: Path) -> None:
    """As an earlier raidplan wrote it."""
    import hashlib

    before, lines = "0" * 64, []
    for line in file.read_bytes().splitlines():
        record = {**json.loads(line), "before": before}
        record.pop("on", None)
        record.pop("format", None)
        lines.append(json.dumps(record).encode() + b"\n")
        before = hashlib.sha256(lines[-1]).hexdigest()
    file.write_bytes(b"".join(lines))


def test_a_journal_of_an_earlier_raidplan_counts_only_where_all_is_blank(plan: Plan, tmp_path: Path) -> None:
    for how, wanted in (("before", "done"), ("during", "or of an earlier raidplan")):
        state = cut(plan, tmp_path / how, "mke2fs", how)
        without_marks(tmp_path / how / JOURNAL / "journal")
        said, ran = again(plan, tmp_path / how, state)
        assert wanted in said and bool(ran) == (how == "before")


def test_a_disk_of_ours_that_may_be_wiped_is_listed(plan: Plan, tmp_path: Path) -> None:
    """`wipe: true` lets a person give up what stands on a half-made thing; it is in the list."""
    text = LAYOUT.replace("serial: PAIR-<1>", "serial: PAIR-<1>, wipe: true")
    wiping = plan_of(text, tmp_path)
    state = cut(wiping, tmp_path / "root", "sfdisk", "during")
    table_of_somebody(state, "d0")
    said, ran = again(wiping, tmp_path / "root", state)
    assert not ran and ("not blank" in said or "asks: " in said)


Change = Callable[[State], Any]


def on_every_device(words: str) -> Change:
    def put(state: State) -> None:
        arrays = {f"array:{uuid}": found for uuid, found in state.objects.get("array", {}).items()}
        bare = {f"partition:{node.rpartition('/')[2]}" for node in state.nodes if "by-partuuid" in node}
        for found in arrays.values():
            bare -= set(found["members"])
        for one in [one for one in {*bare, *arrays} if not state.content.get(one)]:
            if words:
                state.content[one] = [words]
            else:
                state.stains[one] = "data from byte 0 on"
            members = arrays.get(one, {}).get("members", [])
            state.foreign |= {one, *members}

    return put


CHANGES: dict[str, Change] = {
    "a table of somebody": lambda state: table_of_somebody(state, "d1"),
    "a file system on all that is bare": on_every_device("ext4 precious"),
    "everything was used": lambda state: used(state) if state.objects.get("filesystem") else None,
}


@pytest.mark.parametrize("how", ["before", "during", "after"])
@pytest.mark.parametrize("change", CHANGES)
def test_somebody_between_a_kill_and_the_next_apply(
    plan: Plan, later: Plan, tmp_path: Path, change: str, how: str
) -> None:
    """At every program that writes to a device: what is theirs (the machine asserts it) is never written to."""
    for number, words in enumerate(("sfdisk", "mdadm --create", "mke2fs", "mkswap")):
        for which in (plan, later):
            root = tmp_path / f"{number}{which is later}"
            state = cut(plan, root, words, how)
            CHANGES[change](state)
            before = {one: deepcopy(state.content.get(one)) for one in state.foreign}
            said, ran = again(which, root, state)
            assert {one: state.content.get(one) for one in state.foreign} == before, (words, said)
            world = Simulated(which, root, state)
            ours = {world._identity(node) for step in which.steps for node in step.guard}
            assert said != "done" or not state.foreign & ours, (words, ran)


def test_a_plan_file_is_resumed_on_its_own_machine_only(plan: Plan, tmp_path: Path) -> None:
    world = Simulated(plan, tmp_path, machine(tmp_path))
    left = decide(plan, world.read(plan), read_past(tmp_path / JOURNAL), here=False).left
    journal = open_journal(tmp_path / JOURNAL, world)
    journal.begin(plan_to_json(left), plan_digest(left))
    journal.record_intent("nothing")

    def refused(seen: dict[str, Value]) -> tuple[Refusal, ...]:
        other = replace(left, machine={**left.machine, **seen})
        journal.begin(plan_to_json(other), plan_digest(other))
        past = replace(read_past(tmp_path / JOURNAL), begun=frozenset())
        return decide(other, world.read(other), past, here=False).refusals

    assert refused({}) == refused({"kernel": "5.10", "d0.content": ["gpt at 512"]}) == ()
    changed = refusal("machine-changed", place="machine-id", planned="another", now="")
    assert refused({"machine-id": "another"}) == (changed,)
    tool, *_ = refused({"tool.sfdisk": "2.0"})
    assert (tool.code, tool.place, tool.figures["planned"]) == ("machine-changed", "tool.sfdisk", "2.0")


def test_a_journal_of_a_later_raidplan_is_not_read(plan: Plan, tmp_path: Path) -> None:
    cut(plan, tmp_path, "mke2fs")
    file = tmp_path / JOURNAL / "journal"
    first, *_ = file.read_bytes().splitlines()
    file.write_bytes(json.dumps({**json.loads(first), "format": 3}).encode() + b"\n")
    with pytest.raises(Exception, match=r"journal-unusable later .*1"):
        open_journal(tmp_path / JOURNAL, Simulated(plan, tmp_path, State()))


def test_a_disk_that_is_called_tool_is_no_program() -> None:
    """A program that the plan did not run does not count; a disk does, whatever its name is."""
    program = fingerprint.State({}, {"tool.sfdisk": "2.0"}, {})
    disk = fingerprint.State({}, {}, {"tool.size": 5})
    assert not [*fingerprint.changed({}, program)]
    assert [(each.code, each.place) for each in fingerprint.changed({}, disk)] == [
        ("machine-changed", "tool.size")
    ]
