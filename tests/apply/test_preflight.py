"""What is asked before the first write: a machine that is ready gets no word, and each thing amiss gets its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal
from raidplan.apply.journal.past import Past
from raidplan.apply.preflight import configuration, running_system, targets
from raidplan.apply.preflight import preflight as checks
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.refusal import Refusal, of_use, refusal
from raidplan.apply.session import carry_out
from raidplan.facts import Machine
from raidplan.facts.problem import Problem
from raidplan.facts.run import find_tool
from raidplan.facts.uses import User, use
from raidplan.plan.step import Plan, Step, Zero
from raidplan.render.refusals import refusal_text
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import GIB, GROUP, OTHER, Box, decided, old_pair, plan_of
from tests.apply.stacks import LAYOUT as OLD

LAYOUT = """\
version: 1
host: ready
hardware:
  disks: {{d<0-1>: {{size: 1TB, serial: READY-<1>}}, d<2-4>: {{size: 1TB, serial: READY-<1>}}}}
arrays:
  os: {{level: raid1, members: [d<0-1>]}}
  data: {{level: raid5, members: [d<2-4>], chunk: 64KiB, stripe_cache_size: 4096}}
volume_groups: {{vg-of-nobody: {{devices: [data], volumes: {{all: {{size: 100%free}}}}}}}}
filesystems:
  os: {{device: os, type: ext4, mount: {folder}/os}}
  all: {{device: vg-of-nobody.all, type: ext4, mount: {folder}/all}}
swap:
  file: {{file: {folder}/os/swap, size: 1GiB}}
"""
ELSEWHERE = (
    (running_system, "cannot_administer"),
    (running_system, "changed_by_others"),
    (running_system, "systemd_is_absent"),
    (running_system, "udev_is_absent"),
    (configuration, "reasons_not_to_renew"),
    (configuration, "unwritable"),
)
"""What looks at this machine, and is tested beside its own code."""
CACHE = 4096 * 3 * 4096
"""Bytes: entries, members, a page."""


def preflight(situation: Situation, *, here: bool = True) -> list[Refusal]:
    return [*checks.preflight(situation, here=here)]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(LAYOUT.format(folder=tmp_path), tmp_path)


@pytest.fixture(autouse=True)
def every_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_system, "find_tool", lambda tool: f"/sbin/{tool}")
    for part, name in ELSEWHERE:
        monkeypatch.setattr(part, name, lambda *arguments, **more: iter(()))
    monkeypatch.setattr("os.sysconf", lambda name: 4096)


def box() -> Box:
    made = Box()
    for number, name in enumerate(("sdb", "sdc", "sdd", "sde", "sdf")):
        made.disk(name, f"READY-{number}")
    return made.put("tool", "mdadm", version="4.2")


def ready(made: Box | None = None, **changes: Any) -> Machine:
    machine = (made or box()).machine()
    modules = {name: {"loaded": False, "loadable": True} for name in ("md_mod", "raid1", "raid456", "dm_mod")}
    objects = {**machine.objects, "module": modules}
    return replace(
        machine, **{"objects": objects, "kernel": "6.1.0-38", "memory_bytes": 2 * CACHE, **changes}
    )


def refused(plan: Plan, machine: Machine) -> list[Refusal]:
    disks = {disk.serial.replace("READY-", "d"): disk for disk in machine.disks}
    return preflight(Situation(plan, machine, disks))


def without_module(name: str) -> Callable[[], Machine]:
    machine = ready()
    module = {**machine.objects["module"], name: {"loaded": False, "loadable": False}}
    return lambda: replace(machine, objects={**machine.objects, "module": module})


def of_disk(**changes: Any) -> Callable[[], Machine]:
    machine = ready()
    first, *others = machine.disks
    return lambda: replace(machine, disks=(replace(first, **changes), *others))


def before(plan: Plan, step: Step) -> set[str]:
    """The steps that must have ended before a step is begun."""
    by_id = {each.id: each for each in plan.steps}
    found, left = set[str](), [step.id]
    while left:
        needs = set(by_id[left.pop()].needs) - found
        found |= needs
        left += needs
    return found


def test_nothing_is_written_over_before_every_personality_is_loaded(plan: Plan, tmp_path: Path) -> None:
    torn = decided(plan_of(OLD, tmp_path), without_loaded(old_pair())).left
    assert torn.lost and any(isinstance(step.action, Zero) for step in torn.steps)
    for each in (plan, torn):
        loads = {step.id for step in each.steps if step.proof and step.proof.kind == "module"}
        assert loads == {f"prepare.{module}" for module in each.modules}
        for step in each.steps:
            if step.guard or isinstance(step.action, Zero):
                assert loads <= before(each, step), step.id


class Bare(Box):
    """A machine whose kernel has loaded no personality yet."""

    def machine(self) -> Machine:
        module = {name: {"loaded": False, "loadable": True} for name in ("md_mod", "raid1")}
        return replace(made := super().machine(), objects={**made.objects, "module": module})


def without_loaded(box: Box) -> Box:
    return Bare(box.disks, box.blocks, box.objects)


def test_a_personality_that_cannot_be_loaded_stops_all_before_the_first_write(tmp_path: Path) -> None:
    plan, state = plan_of(OLD.replace(", wipe: true", ""), tmp_path), State()
    world = Simulated(plan, tmp_path, state, lie={"modprobe raid1": "failed after all"})
    decision = decide(plan, world.read(plan), Past(), here=False)
    journal = open_journal(tmp_path / "state", world)
    outcome = carry_out(decision, journal, lambda event: None, workers=8)
    assert outcome.failed.keys() == {"prepare.raid1"}
    assert {step.id for step in plan.steps if step.guard} <= set(outcome.not_begun)


def not_blank(found: str) -> Refusal:
    return refusal("disk-not-blank", place="d0", node="/dev/sdb", found=(found,))


AMISS: dict[str, tuple[Callable[[], Machine], Refusal]] = {
    "not root": (lambda: ready(is_root=False), refusal("not-root")),
    "problem": (lambda: ready(problems=(Problem("", said="two disks say they are one"),)), refusal("machine-unclear", problem="two disks say they are one")),
    "no uuid": (lambda: ready(problems=(Problem("array", "/dev/md9"),)), refusal("machine-unclear", "array", place="/dev/md9", problem="")),
    "mdadm": (lambda: ready(box().put("tool", "mdadm", version="4.1")), refusal("version", "old", place="mdadm", version="4.1", oldest="4.2")),
    "module": (without_module("raid456"), refusal("module-missing", place="raid456", kernel="6.1.0-38")),
    "device mapper": (without_module("dm_mod"), refusal("module-missing", place="dm_mod", kernel="6.1.0-38")),
    "used": (of_disk(users=(User("mounted", "/srv"),)), not_blank("mounted at /srv")),
    "signature": (of_disk(signatures=("ext4 at 0x438",)), not_blank("ext4 at 0x438")),
    "partition": (of_disk(partitions=old_pair().disks["sdb"].partitions), not_blank("partition /dev/sdb1")),
    "read-only": (of_disk(read_only=True), refusal("disk-read-only", place="d0", node="/dev/sdb")),
    "name": (lambda: ready(box().put("array", OTHER, name="elsewhere:data", node="/dev/md9")),
             refusal("name-taken", "array", place="ready:data", uuid=OTHER, node="/dev/md9")),
    "group": (lambda: ready(box().put("volume_group", "vg-of-nobody", uuid=GROUP)), refusal("name-taken", "group", place="vg-of-nobody")),
    "memory": (lambda: ready(memory_bytes=CACHE), refusal("memory", wanted=CACHE, memory=CACHE)),
}  # fmt: skip


def test_a_machine_that_is_ready_gets_no_word(plan: Plan) -> None:
    assert refused(plan, ready()) == []
    assert refused(plan, ready(memory_bytes=CACHE * 5 // 4)) == []


@pytest.mark.parametrize("name", AMISS)
def test_what_is_amiss_gets_its_own_word(name: str, plan: Plan) -> None:
    machine, reason = AMISS[name]
    assert refused(plan, machine()) == [reason]


def test_everything_is_said_at_once(plan: Plan) -> None:
    machine = ready(
        is_root=False, memory_bytes=0, problems=(Problem("", said="a"), Problem("program", "lsblk", "b"))
    )
    assert len(refused(plan, machine)) == 4


def test_on_another_machine_nothing_is_asked_of_this_one(plan: Plan) -> None:
    machine = ready(is_root=False)
    assert preflight(Situation(plan, machine, {}), here=False) == []


@pytest.mark.parametrize("tool", ["mdadm", "vgcreate", "mke2fs", "wipefs", "lsblk", "udevadm"])
def test_a_program_that_is_missing(tool: str, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_system, "find_tool", lambda name: None if name == tool else f"/sbin/{name}")
    assert refused(plan, ready()) == [refusal("program-missing", place=tool)]


def test_what_has_the_name_of_a_program_and_is_none(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was said to be missing, and to be installed, of a package that is there."""
    monkeypatch.setattr("raidplan.facts.run.SEARCH", (str(tmp_path),))
    monkeypatch.setattr(running_system, "find_tool", find_tool)
    for tool in (*plan.tools, "wipefs", "lsblk", "udevadm"):
        (tmp_path / tool).write_text("")
        (tmp_path / tool).chmod(0o755)
    assert refused(plan, ready()) == []
    (tmp_path / "mdadm").chmod(0o644)
    node = f"{tmp_path}/mdadm"
    assert refused(plan, ready()) == [refusal("program-missing", "mode", place="mdadm", node=node)]
    (tmp_path / "mdadm").unlink()
    (tmp_path / "mdadm").mkdir()
    assert refused(plan, ready()) == [refusal("program-missing", "folder", place="mdadm", node=node)]


@pytest.mark.parametrize(("part", "name"), ELSEWHERE)
def test_what_looks_at_this_machine_is_asked(
    part: ModuleType, name: str, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        part,
        name,
        lambda *arguments, **more: iter((refusal("machine-unclear", problem=f"{name} says no"),)),
    )
    assert {*refused(plan, ready())} == {refusal("machine-unclear", problem=f"{name} says no")}
    assert preflight(Situation(plan, ready(), {}), here=False) == []


def test_a_group_needs_a_name_that_is_free_in_dev(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.lexists", lambda path: path == "/dev/vg-of-nobody")
    assert refused(plan, ready()) == [refusal("name-taken", "folder", place="vg-of-nobody")]


def test_a_file_that_would_be_written_over(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "os").mkdir()
    (tmp_path / "os/swap").touch()
    swap = f"{tmp_path}/os/swap"
    there, hides = sorted(refused(plan, ready()), key=lambda each: each.code, reverse=True)
    assert hides == refusal("mount-point", "not-empty", place=f"{tmp_path}/os")
    assert (there.code, there.case, there.place) == ("target-not-blank", "device", swap)


def test_a_mount_point_that_leads_elsewhere(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "os").symlink_to("elsewhere")
    assert refused(plan, ready()) == [refusal("mount-point", "link", place=f"{tmp_path}/os")]


def test_a_mount_point_that_is_no_folder(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "os").touch()
    assert refused(plan, ready()) == [refusal("mount-point", "no-folder", place=f"{tmp_path}/os")]
    mounted = box().put("mount", f"{tmp_path}/os", source="/dev/md/os")
    assert refused(plan, ready(mounted)) == [], "what is mounted is changed in place"


def test_a_line_of_somebody_else(plan: Plan, tmp_path: Path) -> None:
    fstab = f"# {tmp_path}/os\n/dev/sdz {tmp_path}/os ext4 defaults 0 2\n"
    word = f"{tmp_path}/os"
    found = refused(plan, ready(box().put("file", "/etc/fstab", content=fstab)))
    assert found == [refusal("lines-conflict", "line", place="/etc/fstab", number=2, word=word)]
    array = box().put("file", "/etc/mdadm/mdadm.conf", content=f"ARRAY /dev/md/os UUID={OTHER}\n")
    conf = "/etc/mdadm/mdadm.conf"
    named = refusal("lines-conflict", "line", place=conf, number=1, word="/dev/md/os")
    assert refused(plan, ready(array)) == [named]


def clearing(plan: Plan, *needs: str) -> Plan:
    """The plan with a step that clears a disk first."""
    zero = replace(plan.steps[0], id="teardown.d0.zero", phase="teardown", action=Zero("{d0}", ((0, GIB),)), needs=needs, guard=(), clears=("{d0}",), proof=None)  # fmt: skip
    return replace(plan, steps=(zero, *plan.steps))


def test_what_shows_in_no_fact_is_asked_of_the_device(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, claimed = use("loop", "/dev/sdb", loop="/dev/loop7"), use("claimed", "/dev/sdb", error="busy")
    monkeypatch.setattr(targets, "used_by_others", lambda *nodes: iter((loop,)))
    monkeypatch.setattr(targets, "claimed_elsewhere", lambda node: iter((claimed,)))
    assert refused(clearing(plan), ready()) == [of_use("in-use-elsewhere", loop)]
    monkeypatch.setattr(targets, "used_by_others", lambda *nodes: iter(()))
    assert refused(clearing(plan), ready()) == [of_use("in-use-elsewhere", claimed)]
    before = clearing(plan, "teardown.array.stop")
    assert refused(before, ready()) == [], "what stands on it is taken off before"


def test_many_things_on_one_disk_are_counted(plan: Plan) -> None:
    (reason,) = refused(plan, of_disk(signatures=tuple(f"x at {n}" for n in range(20)))())
    assert len(reason.figures["found"]) == 20  # type: ignore[arg-type]
    assert refusal_text(reason).endswith("x at 11 and 8 more")
