"""A changed layout on a machine where an earlier version of it stands: changed in place, or refused and named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.apply.change.array_by_hand import array_by_hand
from raidplan.apply.change.by_hand import Advice
from raidplan.apply.change.difference import Difference
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.base.mount_flags import flags
from raidplan.facts import Machine
from raidplan.facts.machine import BlockFact
from raidplan.facts.ranges import BACK, FRONT
from raidplan.plan.changes import Before
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.step import Plan, Run, Zero
from tests.apply.earlier import IN_PLACE, everything, plan_of, set_to, standing
from tests.apply.left import Kills
from tests.apply.runs import apply, end, impatient, in_order, machine
from tests.apply.sentences import sentences
from tests.apply.simulated import Killed, Simulated

pytestmark = pytest.mark.in_turn(16)

__all__ = ["impatient"]


@pytest.mark.parametrize("name", IN_PLACE)
def test_is_changed_in_place(name: str, tmp_path: Path) -> None:
    change, command = IN_PLACE[name]
    state = standing(tmp_path, tmp_path / "root")
    later = plan_of(tmp_path, change)
    world = Simulated(later, tmp_path / "root", state)
    decision = decide(later, world.read(later), read_past(tmp_path / "root/var/lib/raidplan"), here=False)
    assert not decision.refusals
    writing = [step for step in decision.left.steps if step.destroys or step.creates]
    assert not decision.left.lost and all(step.changes for step in writing), "no data is touched"
    assert bool(writing) == ("spare" in name)
    assert apply(plan_from_json(plan_to_json(decision.left)), world) == "done", "as the plan in a file, too"
    assert any(command in line for line in world.executed), world.executed
    assert apply(later, Simulated(later, tmp_path / "root", state)) == "nothing to do"
    fresh = Simulated(later, tmp_path / "fresh", machine(tmp_path / "fresh"))
    assert apply(later, fresh) == "done"
    assert end(world) == end(fresh), "as if it had been made like this at once"


REFUSED = {
    "level": (set_to("arrays", "b", "level", "raid5"), "differs commands", ("mdadm --grow --level=raid5 /dev/md/b", Before.CHUNK_IS_64K)),
    "level that mdadm does not take": (set_to("arrays", "b", "level", "raid10"), "differs new-array", ("level raid1 raid10",)),
    "chunk": (set_to("arrays", "p", "chunk", "64KiB"), "differs commands", ("mdadm --grow --chunk=64K /dev/md/p", Before.CHUNK_FITS)),
    "members": (set_to("arrays", "p", "members", ["d0.vg", "d1.vg", "d3.vg"]), "differs member-exchanged",
        ("mdadm /dev/md/p --replace /dev/disk/by-partuuid/639d009d-726a-5ffa-8a19-ebe63f728ecd --with /dev/disk/by-partuuid/",)),
    "more members": (set_to("arrays", "p", "members", ["d0.vg", "d1.vg", "d2.vg", "d3.vg"]), "differs commands", ("mdadm --grow --raid-devices=4 /dev/md/p",)),
    "order": (set_to("arrays", "p", "members", ["d1.vg", "d0.vg", "d2.vg"]), "differs order", ("d0.vg, d1.vg, d2.vg",)),
    "PPL": (set_to("arrays", "p", "consistency", "ppl"), "differs commands", ("mdadm --grow --consistency-policy=ppl /dev/md/p",)),
    "type of a partition": (set_to("hardware", "disks", "d<0-3>", "partitions", "data", "type", "linux"), "differs types", ("`type: raid`",)),
    "type of swap": (set_to("hardware", "disks", "d<0-3>", "partitions", "swap", "type", "linux"), "differs types", ("`type: swap`",)),
    "journal": (set_to("arrays", "p", "journal", "d3.swap"), "differs commands",
        ("mdadm --readonly /dev/md/p, mdadm /dev/md/p --add-journal /dev/disk/by-partuuid/",)),
    "spare for a member": (set_to("arrays", "p", "members", ["d0.vg", "d1.vg"]), "differs commands",
        ("mdadm --grow --array-size=2612224K /dev/md/p, mdadm --grow --raid-devices=2 /dev/md/p",)),
    "metadata": (set_to("arrays", "a", "metadata", "1.0"), "differs new-array", ("metadata 1.2 1.0",)),
    "type": (set_to("filesystems", "x", "type", "ext4"), "differs new-filesystem", ("type xfs ext4",)),
    "inodes": (set_to("filesystems", "a", "inodes", 20000), "differs new-filesystem", ("inodes",)),
    "partition": (set_to("hardware", "disks", "d<0-3>", "partitions", "data", "size", "2GiB"), "differs commands", ("sfdisk --no-reread -N",)),
    "volume": (set_to("volume_groups", "v", "volumes", "x", "size", "2GiB"), "differs commands-before-content", ("lvextend --size=2147483648b /dev/v/x",)),
    "smaller volume": (set_to("volume_groups", "v", "volumes", "x", "size", "896MiB"), "differs commands", ("lvreduce --size=939524096b /dev/v/x",)),
    "mount point": (set_to("filesystems", "a", "mount", "/srv/b"), "mount-conflict point", ("now /srv/a", "planned /srv/b")),
    "journal mode": (set_to("filesystems", "a", "options", ["data=journal"]), "mount-conflict options", ("with data=journal",)),
    "label in use": (set_to("filesystems", "home", "label", "new"), "differs label-mounted", ("mounted /srv/home", "type xfs")),
    "hostile label": (set_to("filesystems", "x", "label", "a b;c"), "differs label-characters", ("a b;c",)),
    "swap in use": (set_to("swap", "s", "label", "two"), "differs swap-in-use", ("/dev/disk/by-partuuid/",)),
    "size of a swap file": (set_to("swap", "f", "size", "128MiB"), "differs swap-file", ("/srv/a/swap",)),
}  # fmt: skip
"""By change: code and case of the refusal, and what its figures and deviations hold."""


def held(reason: Refusal) -> list[str]:
    """The figures and deviations of a reason, each as a text that begins with its name."""
    differ = [f"{each.name} {each.found} {each.planned}" for each in reason.deviations]
    lists = {name: value if isinstance(value, tuple) else (value,) for name, value in reason.figures.items()}
    return [f"{name} {', '.join(map(str, values))}" for name, values in lists.items()] + differ


def reasons(plan: Plan, root: Path, machine: Machine) -> tuple[Refusal, ...]:
    return decide(plan, machine, read_past(root / "var/lib/raidplan"), here=False).refusals


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_before_the_first_write(name: str, tmp_path: Path) -> None:
    change, code, wanted = REFUSED[name]
    root = tmp_path / "root"
    state = standing(tmp_path, root)
    later = plan_of(tmp_path, change)
    world = Simulated(later, root, state)
    before = end(world)
    found = [each for each in reasons(later, root, world.read(later)) if f"{each.code} {each.case}" == code]
    assert any(all(any(word in text for text in held(each)) for word in wanted) for each in found), found
    assert "{" not in apply(later, world), "a shell knows no disk by that name"
    assert world.effects == [] and end(world) == before


@pytest.mark.parametrize(("change", "case"), [("type of a partition", "types"), ("partition", "commands")])
def test_a_hint_names_the_device(change: str, case: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    state = standing(tmp_path, root)
    later = plan_of(tmp_path, REFUSED[change][0])
    read = Simulated(later, root, state).read(later)
    blocks = tuple(BlockFact(disk.node[5:], disk.node, disk.node, "disk", disk.size) for disk in read.disks)
    found = reasons(later, root, replace(read, blocks=blocks))
    assert "/dev/d2" in [
        word
        for each in found
        if (each.code, each.case) == ("differs", case)
        for word in (each.figures.get("node"), *str(each.figures.get("commands")).split())
    ]
    assert "{" not in " ".join(sentences(found))


def test_a_hint_for_an_array_of_whole_disks_names_them(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    made = next(step for step in plan.steps if step.id == "array.p.create")
    assert made.proof is not None
    now, planned = ["{d0}", "{d1}"], ["{d0}", "{d1}", "{d2}"]
    found = {**made.proof.expect, "members": now}
    step = replace(made, proof=made.proof._replace(expect={**made.proof.expect, "members": planned}))
    blocks = tuple(BlockFact(f"sd{c}", f"{{d{n}}}", f"{{d{n}}}", "disk", 1) for n, c in enumerate("abc"))

    def first(machine: Machine) -> str:
        difference = Difference(step, "members", planned, now, found, machine, plan, Past())
        return str(difference.by_hand.refusal.figures["commands"][0])  # type: ignore[index]

    assert first(Machine(blocks=blocks)) == "mdadm /dev/md/p --add /dev/sdc"
    assert first(Machine()) == "mdadm /dev/md/p --add the disk d2"


def test_killed_at_every_effect_of_a_change_and_resumed(tmp_path: Path, dice: Random | None) -> None:
    state = standing(tmp_path, tmp_path / "once")
    later = plan_of(tmp_path, everything)
    once = Simulated(later, tmp_path / "once", state)
    kills = Kills(once, tmp_path / "killed", dice)
    assert apply(later, once) == "done" and in_order(once.effects) > 20
    wanted = end(once)
    assert kills.points == 3 * len(once.effects)
    for point, left in kills.machines():
        world = Simulated(later, left.root, left.state)
        assert apply(later, world) in ("done", "nothing to do"), point
        assert end(world) == wanted, point
        assert apply(later, Simulated(later, left.root, left.state)) == "nothing to do"


WORDS = ["noatime", "relatime", "strictatime", "nodiratime", "nosuid", "nodev", "noexec", "ro", "rw", "suid",
         "defaults", "user", "nofail", "exec"]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS)), st.lists(st.sampled_from(WORDS)))
def test_a_remount_gives_the_flags_of_a_new_mount_whatever_was_before(
    before: list[str], after: list[str]
) -> None:
    from raidplan.apply.change.change_contents import remount_words
    from tests.apply.changed import remount

    mount = {"flags": flags(before)}
    remount(mount, remount_words(flags(after)))
    assert mount["flags"] == flags(after)


@pytest.mark.parametrize(
    ("now", "wanted"), [(["ro"], "rw"), (["nodev", "noexec"], "dev, exec"), (["noatime"], "")]
)
def test_a_remount_says_what_it_takes_back(now: list[str], wanted: str, tmp_path: Path) -> None:
    """Somebody made it read-only, as before a rescue; a nightly apply takes that back."""
    root = tmp_path / "root"
    state = standing(tmp_path, root)
    state.objects["mount"]["/srv/a"]["flags"] = now
    plan = plan_of(tmp_path)
    found = decide(
        plan, Simulated(plan, root, state).read(plan), read_past(root / "var/lib/raidplan"), here=False
    )
    (step,) = found.left.steps
    assert step.say.partition(": ")[2] == ", ".join(filter(None, ("relatime", wanted)))


def test_no_command_of_a_change_names_an_unproven_device(tmp_path: Path) -> None:
    """What stands is named by the array, the volume, or the partition's GUID; never by a kernel name."""
    root = tmp_path / "root"
    state = standing(tmp_path, root)
    later = plan_of(tmp_path, everything)
    decision = decide(
        later, Simulated(later, root, state).read(later), read_past(root / "var/lib/raidplan"), here=False
    )
    words = [
        word for step in decision.left.steps if isinstance(step.action, Run) for word in step.action.argv
    ]
    assert not [word for word in words if word.startswith(("/dev/sd", "/dev/md1", "/dev/dm-"))]


def test_a_label_read_from_a_disk_is_spelled_out(tmp_path: Path) -> None:
    state = standing(tmp_path, tmp_path / "root")
    for found in state.objects["filesystem"].values():
        if found["label"] == "old":
            found["label"] = "\x1b[2J\nreboot #\u202e"
    later = plan_of(tmp_path, set_to("filesystems", "a", "label", "new"))
    world = Simulated(later, tmp_path / "root", state)
    decision = decide(later, world.read(later), read_past(tmp_path / "root/var/lib/raidplan"), here=False)
    (step,) = (step for step in decision.left.steps if step.id == "filesystem.a.make+label")
    assert r"'\x1b[2J\nreboot #\u202e'" in step.say


def test_a_spare_that_is_taken_out_is_blank_and_can_be_taken_in_again(tmp_path: Path) -> None:
    """mdadm would leave its bitmap there, which nobody recognises."""
    state = standing(tmp_path, tmp_path / "root")
    for change in ("no spare", "bitmap"):  # the second one has the spare again
        later = plan_of(tmp_path, IN_PLACE[change][0])
        world = Simulated(later, tmp_path / "root", state)
        decision = decide(later, world.read(later), read_past(tmp_path / "root/var/lib/raidplan"), here=False)
        cleared = [step.action for step in decision.left.steps if isinstance(step.action, Zero)]
        if change == "no spare":
            (forgotten,) = cleared
            assert forgotten.ranges == ((0, FRONT), (-BACK, BACK)) and forgotten.found == ()
        else:
            assert len(decision.overwrites) == 1 and not cleared
        assert apply(later, world) == "done"


def test_a_spare_that_was_not_yet_added_is_not_cleared_for_the_journal_alone(tmp_path: Path) -> None:
    """Killed before mdadm: what somebody put there since, and nothing recognises, is theirs."""
    state = standing(tmp_path, tmp_path / "root")
    later = plan_of(tmp_path, IN_PLACE["spare"][0])

    class Cut(Simulated):
        def effect(self, kind, what, act):  # type: ignore[no-untyped-def]
            if "--add-spare" in what:
                raise Killed
            return super().effect(kind, what, act)

    with pytest.raises(Killed):
        apply(later, Cut(later, tmp_path / "root", state))
    world = Simulated(later, tmp_path / "root", state)
    past = read_past(tmp_path / "root/var/lib/raidplan")
    assert any("+spare." in step for step in past.begun)
    steps = decide(later, world.read(later), past, here=False).left.steps
    assert any("--add-spare" in step.action.argv for step in steps if isinstance(step.action, Run))
    assert not [step for step in steps if isinstance(step.action, Zero) or step.clears]


def test_who_replaces_a_disk_is_told_what_to_add() -> None:
    """By the name that the layout gives it: another partition would never be as planned."""

    def told(found: list[str], planned: list[str]) -> Advice:
        made = {"level": "raid1", "metadata": "1.2"}
        before, after = {**made, "members": found}, {**made, "members": planned}
        return array_by_hand("members", "/dev/md/a", before, after, str)

    missing = told(["partition:1", "missing"], ["partition:1", "partition:2"])
    add = "mdadm /dev/md/a --add /dev/disk/by-partuuid/2"
    assert missing == Advice("member-missing", {"commands": (add,), "conditions": ()})
    more = told(["{d1}"], ["{d1}", "{d3}"])
    assert "mdadm /dev/md/a --add {d3}" in more.figures["commands"]  # type: ignore[operator]
