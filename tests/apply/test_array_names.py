"""No line of ours says how arrays of others are called or watched; and what an earlier version wrote goes in a step that says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.note import note
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.identity import md_form
from raidplan.facts import Machine
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.step import Plan, WriteBlock
from raidplan.render.losses import loss_texts
from raidplan.render.note_words import note_text
from tests.apply import stacks, wiped
from tests.apply.earlier import plan_of, set_to
from tests.apply.left import Kills
from tests.apply.others import ARRAY, ARRAY_NODE, NODES
from tests.apply.recorded_runs import Recorded
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Killed, Simulated, State

__all__ = ["impatient"]

CONF = "etc/mdadm/mdadm.conf"
OTHER = "0d0e0a0d-1111-4222-8333-123456789abc"


@pytest.mark.parametrize("name", ["create-finished", "change-finished", "teardown-finished"])
def test_what_an_earlier_version_wrote_goes_in_a_step_that_says_so(name: str, tmp_path: Path) -> None:
    left = Recorded(name, tmp_path / "left")
    conf = left.root / CONF
    assert "create names=yes" in conf.read_text()
    decision = left.decide(left.layout)
    step = decision.left.steps[0]
    assert decision.refusals == () and step.id == "config.mdadm.conf"
    assert "md127" in step.say
    assert all(not step.id.startswith(("array.", "filesystem.", "disk.")) for step in decision.left.steps)
    assert plan_from_json(plan_to_json(decision.left)) == decision.left
    assert left.apply(left.layout) == "done"
    assert "names" not in conf.read_text() and "ARRAY /dev/md/data " in conf.read_text()
    assert left.apply(left.layout) == "nothing to do"


def test_with_another_change_of_the_block_it_is_a_step_of_its_own(tmp_path: Path) -> None:
    left = Recorded("create-finished", tmp_path / "left")
    conf = left.root / CONF
    conf.write_text(
        conf.read_text().replace("create names=yes\n", "create names=yes\nMAILADDR old@example.org\n")
    )
    steps = {step.id: step for step in left.decide(left.layout).left.steps}
    numbers, block = steps["config.mdadm.conf+numbers"], steps["config.mdadm.conf"]
    assert numbers.id in block.needs and "by numbers" in numbers.say and "by numbers" not in block.say
    assert isinstance(numbers.action, WriteBlock) and numbers.action.content.startswith(
        "MAILADDR old@example.org\nARRAY"
    )
    assert left.apply(left.layout) == "done"
    assert left.apply(left.layout) == "nothing to do"


@pytest.mark.parametrize("where", ["before ours", "behind ours"])
def test_names_that_somebody_else_asks_for_are_theirs(where: str, tmp_path: Path) -> None:
    left = Recorded("create-finished", tmp_path / "left")
    conf = left.root / CONF
    text = conf.read_text()
    conf.write_text(f"CREATE names=yes\n{text}" if where == "before ours" else f"{text}CREATE names=yes\n")
    step = left.decide(left.layout).left.steps[0]
    assert step.id == "config.mdadm.conf" and "by numbers" not in step.say


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("etc/fstab", "/dev/md_lab:foreign /srv/theirs ext4 defaults 0 2"),
        ("etc/crypttab", "secret /dev/md_data none luks"),
        ("etc/systemd/system/srv-x.mount", "[Mount]\nWhat=/dev/md_other\nWhere=/srv/x"),
        ("etc/initramfs-tools/conf.d/resume", "RESUME=/dev/md_other"),
        ("proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/md_other ro"),
    ],
)
def test_a_line_that_needs_such_a_name_keeps_it(file: str, line: str, tmp_path: Path) -> None:
    left = Recorded("create-finished", tmp_path / "left")
    path = left.root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text() if path.exists() else ""
    path.write_text(f"{before}{line}\n")
    decision = left.decide(left.layout)
    assert decision.refusals == () and all(step.id != "config.mdadm.conf" for step in decision.left.steps)
    (note,) = (note for note in decision.notes if note.code == "names-stay")
    assert str(note.figures["line_at"]).startswith(f"/{file}") and "write UUID= there" in note_text(note)
    assert left.apply(left.layout) == "done" and "create names=yes" in (left.root / CONF).read_text()
    assert left.apply(left.layout) == "nothing to do"
    path.write_text(before)
    assert "by numbers" in left.decide(left.layout).left.steps[0].say


def beside(tmp_path: Path, plan: Plan, *, device: str = "md127", **files: str) -> Decision:
    """A blank machine with an array of somebody, and these files."""
    root = tmp_path / "root"
    for name, text in files.items():
        file = root / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    state = State()
    state.objects["array"] = {
        OTHER: {"name": "lab:theirs", "node": f"/dev/{device}", "device": device, "links": ["theirs"]}
    }
    return decide(plan, Simulated(plan, root, state).read(plan), Past(), here=False)


FSTAB_LINE = "/dev/md127 /srv/theirs ext4 defaults 0 2\n"
BY_CHANCE = {
    "etc__fstab": FSTAB_LINE,
    "etc__initramfs-tools__initramfs.conf": "RESUME=/dev/md127\n",
    "proc__cmdline": "quiet resume=/dev/md127p1\n",
}
HELD = f"ARRAY /dev/md127 UUID={OTHER}\n"


@pytest.mark.parametrize("file", BY_CHANCE)
def test_a_line_that_calls_an_array_of_others_by_chance_is_refused(file: str, tmp_path: Path) -> None:
    plan, line = plan_of(tmp_path / "plan"), {file: BY_CHANCE[file]}
    place = f"/{file.replace('__', '/')} line 1"
    refused = beside(tmp_path, plan, **line).refusals
    assert refused == (refusal("lines-conflict", "number", place=place, node="/dev/md127"),)
    held = beside(tmp_path, plan, **line, **{"etc__mdadm__mdadm.conf": HELD})
    assert held.refusals == () and not any(note.code == "numbers-free" for note in held.notes)


def test_a_name_that_only_the_initramfs_has_is_not_lost(tmp_path: Path) -> None:
    """With the first line ARRAY in mdadm.conf, Debian's hook writes none for arrays of others any more."""
    plan, dashless = plan_of(tmp_path / "plan"), OTHER.replace("-", "")
    uuid = ":".join(dashless[at : at + 8] for at in range(0, 32, 8))
    line = f"ARRAY /dev/md/theirs metadata=1.2 UUID={uuid} name=lab:theirs"
    absent = "ARRAY /dev/md/gone metadata=1.2 UUID=1:2:3:4 name=lab:gone"

    def refused(conf: str = "", lines: tuple[str, ...] = (line, absent)) -> tuple[Refusal, ...]:
        root, state = tmp_path / f"root{len(conf)}", State()
        (root / "etc/mdadm").mkdir(parents=True, exist_ok=True)
        (root / CONF).write_text(conf)
        state.objects["array"] = {
            OTHER: {"name": "lab:theirs", "node": "/dev/md127", "device": "md127", "links": ["theirs"]}
        }
        looked = Simulated(plan, root, state).read(plan)
        image = {"current": {"fresh": False, "array_lines": [*lines]}}
        looked = replace(looked, objects=looked.objects | {"initramfs": image})
        return decide(plan, looked, Past(), here=False).refusals

    assert refused() == (refusal("lines-conflict", "image", place=f"/{CONF}", lines=(line,)),)
    assert refused(f"{line}\n") == () and refused(lines=(absent,)) == () and refused(lines=()) == ()


def test_numbers_of_others_that_nothing_holds_are_told(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "plan")
    found = beside(tmp_path, plan)
    (note,) = (note for note in found.notes if note.code == "numbers-free")
    assert note.figures == {"arrays": ("md127",)} and found.refusals == ()
    assert not any(note.code == "numbers-free" for note in beside(tmp_path, plan, device="md_theirs").notes)


def test_the_address_of_others_is_not_overruled(tmp_path: Path) -> None:
    plan, conf = plan_of(tmp_path / "plan"), "etc__mdadm__mdadm.conf"
    refused = beside(tmp_path, plan, **{conf: "MAILADDR # none\nMAILADDR root\n"}).refusals
    figures = {"address": "root", "array": "/dev/md99", "ours": "root@example.org"}
    assert refused == (Refusal("lines-conflict", "address", "/etc/mdadm/mdadm.conf line 2", figures=figures),)
    for same in ("MAILADDR root@example.org\n", "MAILADDR\nMAILADDR root@example.org root\n"):
        assert beside(tmp_path, plan, **{conf: same}).refusals == ()
    silent = plan_of(tmp_path / "silent", set_to("monitoring", None))
    assert beside(tmp_path, silent, **{conf: "MAILADDR root\n"}).refusals == ()
    told = note("alarms-of-others", arrays=("/dev/md99", "/dev/md127"), ours="root@example.org")
    for none in ("", "MAILADDR\n"):
        notes = beside(tmp_path, plan, **{conf: none}).notes
        assert told in notes and not any(note.code == "alarms-overridden" for note in notes)


def test_without_arrays_of_others_nobody_misses_an_alarm(tmp_path: Path) -> None:
    plan, root = plan_of(tmp_path / "plan"), tmp_path / "root"
    (root / "etc/mdadm").mkdir(parents=True)
    (root / CONF).write_text("MAILADDR root\n")
    there = Simulated(plan, root, State()).read(plan)
    alone = replace(there, disks=there.disks[4:], objects=there.objects | {"array": {}}, blocks=())
    decision = decide(plan, alone, Past(), here=False)
    assert decision.refusals == () and any(
        note.code == "alarms-overridden" and note.figures["ours"] == "root@example.org"
        for note in decision.notes
    )


class Alone:
    """A machine without the disks of others."""

    def read(self, plan: Plan) -> Machine:
        found = super().read(plan)  # type: ignore[misc]
        arrays = {uuid: each for uuid, each in found.objects["array"].items() if uuid != ARRAY}
        disks = tuple(disk for disk in found.disks if disk.node not in NODES)
        blocks = tuple(
            block for block in found.blocks if not {block.node, *block.below} & {*NODES, ARRAY_NODE}
        )
        return replace(found, disks=disks, objects=found.objects | {"array": arrays}, blocks=blocks)


class Server(Alone, Simulated):
    pass


class Wiped(Alone, wiped.Full):
    pass


AWAY = f"ARRAY /dev/md/usb metadata=1.2 UUID={md_form(OTHER)}\n"


def listed(root: Path, text: str, file: str = CONF) -> None:
    for name, written in ((CONF, "MAILADDR root\n"), (file, text)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        with (root / name).open("a") as conf:
            conf.write(written)


@pytest.mark.parametrize(
    ("text", "file", "named"),
    [
        (AWAY, CONF, "/dev/md/usb (/etc/mdadm/mdadm.conf line 2)"),
        (AWAY, "etc/mdadm/mdadm.conf.d/usb.conf", "/dev/md/usb (/etc/mdadm/mdadm.conf.d/usb.conf line 1)"),
        ("ARRAY /dev/md0 devices=/dev/sdx1,/dev/sdy1\n", CONF, "/dev/md0 (/etc/mdadm/mdadm.conf line 2)"),
        (AWAY.replace("/dev/md/usb", "<ignore>"), CONF, ""),
        (f"# {AWAY}", CONF, ""),
    ],
)
def test_the_address_of_an_array_that_is_away_is_not_overruled(
    text: str, file: str, named: str, tmp_path: Path
) -> None:
    """Its disks are not plugged in: a line of mdadm.conf alone speaks of it."""
    plan, root = plan_of(tmp_path / "plan"), tmp_path / "root"
    listed(root, text, file)
    refused = decide(plan, Server(plan, root, State()).read(plan), Past(), here=False).refusals
    assert [each.figures["array"] for each in refused if each.case == "address"] == ([named] if named else [])
    assert len(refused) == bool(named)


def test_a_line_about_an_array_of_ours_is_none_of_others(tmp_path: Path) -> None:
    plan, root = plan_of(tmp_path / "plan"), tmp_path / "root"
    uuid = next(step.proof.key for step in plan.steps if step.proof and step.proof.kind == "array")
    listed(root, f"ARRAY /dev/md0 UUID={md_form(uuid)}\n")
    refused = decide(plan, Server(plan, root, State()).read(plan), Past(), here=False).refusals
    assert [each.case for each in refused] == ["line"]


def test_the_line_of_an_array_that_is_wiped_counts_for_nothing_however_often_it_is_killed(
    tmp_path: Path, dice: Random | None
) -> None:
    """After its disks were cleared the journal alone knows that it was given up; the check of all arrays ends later."""
    plan = stacks.plan_of(f"{stacks.LAYOUT}monitoring: {{mail: root@example.org, scrub: none}}\n", tmp_path)
    state = wiped.machine(tmp_path / "once")
    listed(tmp_path / "once", AWAY)
    world = Wiped(plan, tmp_path / "once", state)
    agreed = {*loss_texts(decide(plan, world.read(plan), Past(), here=False).left.lost)}
    kills = Kills(world, tmp_path / "killed", dice)
    assert wiped.apply(plan, world, agreed) == "done"
    for point, left in kills.machines():
        said = wiped.apply(plan, Wiped(plan, left.root, left.state), agreed)
        assert said in ("done", "nothing to do"), f"{point}: {said}"


def test_a_name_that_members_of_an_array_which_does_not_run_have_is_taken(tmp_path: Path) -> None:
    """A boot would assemble both, and one link would lead to either."""
    plan = plan_of(tmp_path / "plan")
    there = Simulated(plan, tmp_path / "root", State()).read(plan)
    leg = there.disks[1]
    for label, taken in (("pair:a", True), ("a", False), ("lab:a", False), ("pair:a2", False)):
        traces = (replace(leg.traces[0], type="linux_raid_member", uuid=OTHER, label=label),)
        disks = (there.disks[0], replace(leg, traces=traces), *there.disks[2:])
        refused = decide(plan, replace(there, disks=disks), Past(), here=False).refusals
        by = refusal("name-taken", "array", place="pair:a", uuid=OTHER, node="/dev/other0")
        assert refused == ((by,) if taken else ())


def test_udev_looks_at_every_device_once_more_after_the_last_write(tmp_path: Path) -> None:
    """It may have looked before mdadm or mkfs had ended, and then lsblk -f has nothing of a member or a file system."""
    plan = plan_of(tmp_path / "plan")
    disks = {f"/dev/d{n}" for n in range(4)}
    world = Simulated(plan, tmp_path / "root", machine(tmp_path / "root"))
    world.state.nodes |= disks
    assert apply(plan, world) == "done"
    nodes, effects = world.looked_at
    written = {
        word for step in plan.steps for word in (*step.guard, *step.awaits) if word.startswith("/dev/")
    }
    assert nodes == written | disks
    last = max(n for n, (kind, _) in enumerate(world.effects, 1) if kind in ("run", "set", "zero"))
    assert effects >= last
    world.looked_at = (set(), 0)
    assert apply(plan, world) == "nothing to do" and world.looked_at == (set(), 0)


def test_udev_looks_again_also_where_only_the_end_of_the_journal_was_missing(tmp_path: Path) -> None:
    """raidplan died behind its last step, and before udev was asked."""
    plan = plan_of(tmp_path / "plan")
    once = Simulated(plan, tmp_path / "once", machine(tmp_path / "once"))
    assert apply(plan, once) == "done"
    journal = next(n for n in range(once.looked_at[1], 0, -1) if once.effects[n - 1][0] == "write")
    state = machine(tmp_path / "root")
    killed = Simulated(plan, tmp_path / "root", state, (journal, "after"))
    with pytest.raises(Killed):
        apply(plan, killed)
    assert killed.looked_at == (set(), 0)
    world = Simulated(plan, tmp_path / "root", state)
    assert apply(plan, world) == "nothing to do"
    assert world.looked_at[0] == once.looked_at[0]
    assert not read_past(world.root / "var/lib/raidplan").is_open
