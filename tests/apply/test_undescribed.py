"""What the layout does not say any more: configuration is taken back, data is told of and left."""

from __future__ import annotations

import shutil
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from raidplan.apply import work
from raidplan.apply.change.obsolete import Mounted, Prioritised, Standing, Tuned
from raidplan.apply.change.remove_configuration import DEGRADED, removals
from raidplan.apply.configuration.blocks import BrokenBlock, wanted_text
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.journal.past import Past
from raidplan.facts.host import READ_WHOLE
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.places import CHECK, CHECK_OF_CRON, INITRAMFS_ASIDE
from raidplan.plan.step import Plan, Run, WriteBlock, WriteFile
from raidplan.plan.switches import MONITOR_STEP
from raidplan.render.obsolete import obsolete_text
from tests.apply.earlier import plan_of
from tests.apply.left import Kills
from tests.apply.runs import FSTAB, apply, end, impatient, machine
from tests.apply.simulated import Simulated, State

__all__ = ["impatient"]

RULES = "etc/udev/rules.d/65-raidplan-pair.rules"
HARMLESS = ("udevadm", "systemctl", "mkinitramfs", "run-parts")
"""All that runs when something is not described any more."""


def told(decision: Decision) -> tuple[str, ...]:
    """The sentences on what stays as it is."""
    return tuple(map(obsolete_text, decision.obsolete))


def typed(data: dict) -> None:  # type: ignore[type-arg]
    """Else the type of a partition is that of its use, and nobody changes it under what stands."""
    data["hardware"]["disks"]["d<0-3>"]["partitions"]["swap"]["type"] = "raid"


def earlier(data: dict) -> None:  # type: ignore[type-arg]
    typed(data)
    data["monitoring"] = {"mail": "root@example.org", "scrub": "monthly"}


def untuned(data: dict) -> None:  # type: ignore[type-arg]
    earlier(data)
    del data["arrays"]["p"]["stripe_cache_size"], data["arrays"]["p"]["read_ahead"]


def less_tuned(data: dict) -> None:  # type: ignore[type-arg]
    earlier(data)
    del data["arrays"]["p"]["stripe_cache_size"]


def unmounted(data: dict) -> None:  # type: ignore[type-arg]
    earlier(data)
    del data["filesystems"], data["swap"]


def unwatched(data: dict) -> None:  # type: ignore[type-arg]
    typed(data)
    del data["monitoring"]


def bare(data: dict) -> None:  # type: ignore[type-arg]
    typed(data)
    for key in ("arrays", "volume_groups", "filesystems", "swap", "monitoring"):
        del data[key]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, State]:
    """The machine after the earlier layout was applied."""
    root = tmp_path_factory.mktemp("before")
    state = machine(root)
    (root / "etc/default").mkdir()
    (root / "etc/default/mdadm").write_text("START_DAEMON=true\n")
    (root / "etc/cron.d").mkdir()
    (root / "etc/cron.d/mdadm").write_text("57 0 * * 0 root /usr/share/mdadm/checkarray --cron --all\n")
    plan = plan_of(root / "layout", earlier)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "APPEAR_SECONDS", 0)
        assert apply(plan, Simulated(plan, root, state)) == "done"
    return root, state


def again(before: tuple[Path, State], root: Path) -> State:
    shutil.copytree(before[0], root)
    return deepcopy(before[1])


def decided(plan: Plan, world: Simulated) -> Decision:
    return decide(plan, world.read(plan), read_past(world.root / "var/lib/raidplan"), here=False)


def texts(root: Path) -> dict[str, str]:
    files = (RULES, "etc/fstab", "etc/mdadm/mdadm.conf", "etc/default/mdadm")
    return {file: (root / file).read_text() for file in files if (root / file).exists()}


def striped(data: dict) -> None:  # type: ignore[type-arg]
    bare(data)
    data["arrays"] = {"s": {"level": "raid0", "members": ["d0.data", "d1.data"], "read_ahead": "1MiB"}}


def striped_and_untuned(data: dict) -> None:  # type: ignore[type-arg]
    striped(data)
    del data["arrays"]["s"]["read_ahead"]


def test_rules_that_tune_nothing_any_more_go_out_of_the_initramfs_too(tmp_path: Path) -> None:
    """Where no array is redundant, no rule is about those that lack a member."""
    root, plan = tmp_path / "root", plan_of(tmp_path / "before", striped)
    state = machine(root)
    assert apply(plan, Simulated(plan, root, state)) == "done" and (root / RULES).exists()
    later = plan_of(tmp_path / "later", striped_and_untuned)
    world = Simulated(later, root, state)
    assert apply(later, world) == "done" and not (root / RULES).exists()
    reload, renewal = "udevadm control --reload", f"mkinitramfs -o {INITRAMFS_ASIDE}/initrd.img-6.1 6.1"
    assert {reload, renewal} <= {*world.executed} and Simulated._initramfs_is_new(world)
    assert apply(later, Simulated(later, root, state)) == "nothing to do"


@pytest.mark.parametrize(
    ("change", "gone", "commands"),
    [
        (bare, RULES, ["udevadm control --reload", f"mkinitramfs -o {INITRAMFS_ASIDE}/initrd.img-6.1 6.1"]),
        (unmounted, "etc/fstab", ["systemctl daemon-reload"]),
        (
            unwatched,
            "etc/default/mdadm",
            ["systemctl disable --now mdcheck_start.timer mdcheck_continue.timer"],
        ),
        (bare, "etc/mdadm/mdadm.conf", [f"mkinitramfs -o {INITRAMFS_ASIDE}/initrd.img-6.1 6.1"]),
    ],
)  # fmt: skip
def test_configuration_is_taken_back(change, gone, commands, before, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    root = tmp_path / "root"
    state = again(before, root)
    objects, was = deepcopy(state.objects), texts(root)
    assert "raidplan" in was[gone]
    later = plan_of(tmp_path, change)
    world = Simulated(later, root, state)
    assert apply(later, world) == "done"
    assert "raidplan" not in texts(root).get(gone, "")
    assert set(commands) <= set(world.executed)
    assert all(line.split()[0] in HARMLESS for line in world.executed)
    assert b"no array is" not in world.path("/boot/initrd.img-6.1").read_bytes()
    assert Simulated._initramfs_is_new(world) or gone == "etc/mdadm/mdadm.conf"
    assert apply(later, Simulated(later, root, state)) == "nothing to do"
    for kind in ("array", "filesystem", "swap", "volume", "mount", "table"):
        assert state.objects[kind] == objects[kind], "nothing that holds data is touched"


def test_where_the_timers_are_the_distributions_own_check_they_are_switched_on(
    before: tuple[Path, State], tmp_path: Path
) -> None:
    """As in Debian 13, whose mdadm has no job of cron and enables them itself (4.4-11, postinst)."""
    root = tmp_path / "root"
    state = again(before, root)
    (root / "etc/cron.d/mdadm").unlink()
    world = Simulated(plan_of(tmp_path / "later", unwatched), root, state)
    state.objects["unit"] |= {timer: {"enabled": "disabled"} for timer in CHECK}
    assert apply(world.plan, world) == "done"
    assert {world.unit(timer) for timer in CHECK} == {"enabled"}


@pytest.mark.parametrize("cron", [True, False])
def test_below_a_target_the_check_of_the_system_there_is_given_back(
    cron: bool, before: tuple[Path, State], tmp_path: Path
) -> None:
    root = tmp_path / "root"
    world = Simulated(plan_of(tmp_path, unwatched), root, again(before, root))
    machine = world.read(world.plan)
    if not cron:
        files = {name: found for name, found in machine.objects["file"].items() if name != CHECK_OF_CRON}
        machine = replace(machine, objects={**machine.objects, "file": files})
    steps = removals(replace(world.plan, target="/mnt"), machine, Past())
    switches = [
        step.action.argv for step in steps if isinstance(step.action, Run) and CHECK[0] in step.action.argv
    ]
    assert switches == [("systemctl", "--root=/mnt", "disable" if cron else "enable", *CHECK)]


def test_below_a_target_no_program_of_the_rescue_system_is_told(
    before: tuple[Path, State], tmp_path: Path
) -> None:
    """Its own systemd, udev and monitor have read none of these files, and its timer is not the one that was masked."""
    root = tmp_path / "root"
    world = Simulated(plan_of(tmp_path, bare), root, again(before, root))
    machine, past = world.read(world.plan), Past(finished={DEGRADED: 1, MONITOR_STEP: 2})
    here = {step.id for step in removals(world.plan, machine, past)}
    below = [*removals(replace(world.plan, target="/mnt"), machine, past)]
    runs = {step.id: step.action.argv for step in below if isinstance(step.action, Run)}
    assert here - {step.id for step in below} == {"back.udev.reload", "back.fstab.reload", "back.monitor"}
    assert {*runs} == {"back.scrub", "back.degraded"}
    assert {argv[:2] for argv in runs.values()} == {("systemctl", "--root=/mnt")}


def test_every_byte_of_others_stays(before: tuple[Path, State], tmp_path: Path) -> None:
    root = tmp_path / "root"
    later = plan_of(tmp_path, bare)
    assert apply(later, Simulated(later, root, again(before, root))) == "done"
    assert texts(root) == {
        "etc/fstab": FSTAB,
        "etc/mdadm/mdadm.conf": "",
        "etc/default/mdadm": "START_DAEMON=true\n",
    }


def test_a_tunable_less_changes_the_rules(before: tuple[Path, State], tmp_path: Path) -> None:
    root = tmp_path / "root"
    later = plan_of(tmp_path, less_tuned)
    assert apply(later, Simulated(later, root, again(before, root))) == "done"
    rules = texts(root)[RULES]
    assert "stripe_cache_size" in texts(before[0])[RULES] and "stripe_cache_size" not in rules
    assert "read_ahead" in rules


def test_what_still_runs_is_told_once_with_what_ends_it(before: tuple[Path, State], tmp_path: Path) -> None:
    root = tmp_path / "root"
    state = again(before, root)
    tuned = state.objects["tuning"]
    (uuid,) = tuned
    state.objects["array"][uuid]["device"] = "md_p"
    tuned[uuid]["md/sync_speed_min"] = 1000  # the kernel's own, and in no rule
    running = deepcopy(tuned)
    same, later = plan_of(tmp_path / "same", earlier), plan_of(tmp_path, untuned)
    assert decided(same, Simulated(same, root, state)).obsolete == ()
    world = Simulated(later, root, state)
    cache = Tuned("md_p", "md/stripe_cache_size", 1024, "layout")
    ahead = Tuned("md_p", "queue/read_ahead_kb", 1024, "layout")
    assert decided(later, world).obsolete == (cache, ahead)
    assert (cache.default, ahead.default) == ("256", "")
    less = plan_of(tmp_path / "less", less_tuned)
    assert decided(less, Simulated(less, root, state)).obsolete == (cache,)
    assert apply(later, world) == "done"
    assert tuned == running, "nothing is taken from an array that runs"
    assert apply(later, Simulated(later, root, state)) == "nothing to do"
    assert decided(later, Simulated(later, root, state)).obsolete == ()


def unmounted_home(data: dict) -> None:  # type: ignore[type-arg]
    earlier(data)
    del data["filesystems"]["home"]["mount"], data["filesystems"]["home"]["options"]


def test_a_mount_that_stays_is_told_with_what_ends_it(before: tuple[Path, State], tmp_path: Path) -> None:
    root = tmp_path / "root"
    state = again(before, root)
    later = plan_of(tmp_path, unmounted_home)
    world = Simulated(later, root, state)
    assert decided(later, world).obsolete == (Mounted("/srv/home"),)
    assert apply(later, world) == "done"
    assert "/srv/home" in state.objects["mount"], "nobody's files are taken away under them"
    assert decided(later, Simulated(later, root, state)).obsolete == ()


@pytest.mark.parametrize("gone", ["mount", "another", "line"])
def test_a_mount_that_is_not_ours_or_gone_is_not_told(
    gone: str, before: tuple[Path, State], tmp_path: Path
) -> None:
    root = tmp_path / "root"
    state = again(before, root)
    later = plan_of(tmp_path, unmounted_home)
    match gone:
        case "mount":
            del state.objects["mount"]["/srv/home"]
        case "another":
            state.objects["mount"]["/srv/home"]["source"] = "partition:somebody's"
        case "line":
            (root / "etc/fstab").write_text(FSTAB)
    assert decided(later, Simulated(later, root, state)).obsolete == ()


@pytest.mark.parametrize("name", ["s", "f"])
def test_a_priority_that_stays_is_told_with_what_ends_it(
    name: str, before: tuple[Path, State], tmp_path: Path
) -> None:
    root = tmp_path / "root"
    state = again(before, root)

    def change(data: dict) -> None:  # type: ignore[type-arg]
        earlier(data)
        del data["swap"][name]["priority"]

    later = plan_of(tmp_path, change)
    world = Simulated(later, root, state)
    (stays,) = decided(later, world).obsolete
    key, area = next(
        (key, area)
        for key, area in state.objects["swap"].items()
        if area.get("active") and key.startswith("file:") == (name == "f")
    )
    source = key.removeprefix("file:") if name == "f" else f"UUID={key}"
    assert stays == Prioritised(source, 5)
    assert apply(later, world) == "done"
    assert area["priority"] == 5 and not any(line.startswith("swap") for line in world.executed)
    area["priority"] = 7  # somebody has set it since
    (root / "etc/fstab").write_bytes((before[0] / "etc/fstab").read_bytes())
    assert decided(later, Simulated(later, root, state)).obsolete == ()


MONITOR = "systemctl --no-block restart mdmonitor.service"


def test_the_monitor_forgets_an_address_once(before: tuple[Path, State], tmp_path: Path) -> None:
    root = tmp_path / "root"
    state = again(before, root)
    later = plan_of(tmp_path, unwatched)
    world = Simulated(later, root, state)
    assert apply(later, world) == "done"
    assert world.executed.count(MONITOR) == 1
    written = world.effects.index(("rename", str(root / "etc/mdadm/mdadm.conf")))
    assert written < world.effects.index(("run", MONITOR)), "it reads what was written before"
    same = plan_of(tmp_path / "same", earlier)
    world = Simulated(same, root, state)
    assert apply(same, world) == "done"
    assert MONITOR not in world.executed


def test_a_hostile_mount_point_is_one_word_of_the_command(before: tuple[Path, State], tmp_path: Path) -> None:
    root = tmp_path / "root"
    state = again(before, root)
    fstab = root / "etc/fstab"
    fstab.write_text(fstab.read_text().replace("/srv/home", "/srv/$(reboot)\\040\\033"))
    state.objects["mount"]["/srv/$(reboot) \033"] = state.objects["mount"].pop("/srv/home")
    later = plan_of(tmp_path, unmounted_home)
    (said,) = told(decided(later, Simulated(later, root, state)))
    assert "\033" not in said and "umount '/srv/$(reboot) " in said and said.endswith("'")


def test_what_somebody_set_by_hand_since_is_not_ours_to_speak_of(
    before: tuple[Path, State], tmp_path: Path
) -> None:
    root = tmp_path / "root"
    state = again(before, root)
    ((_, running),) = state.objects["tuning"].items()
    running["md/stripe_cache_size"] = 512
    later = plan_of(tmp_path, less_tuned)
    assert decided(later, Simulated(later, root, state)).obsolete == ()


def test_a_hostile_name_of_an_array_comes_into_no_command(before: tuple[Path, State], tmp_path: Path) -> None:
    root = tmp_path / "root"
    state = again(before, root)
    (uuid,) = state.objects["tuning"]
    state.objects["array"][uuid]["device"] = "md_;reboot"
    later = plan_of(tmp_path, less_tuned)
    (said,) = told(decided(later, Simulated(later, root, state)))
    assert "echo" not in said


def test_what_stands_is_told(before: tuple[Path, State], tmp_path: Path) -> None:
    root = tmp_path / "root"
    state = again(before, root)
    same, later = plan_of(tmp_path / "same", earlier), plan_of(tmp_path, bare)
    assert decided(same, Simulated(same, root, state)).obsolete == ()
    decision = decided(later, Simulated(later, root, state))
    found = {(each.kind, each.name) for each in decision.obsolete if isinstance(each, Standing)}
    arrays, filesystems = (
        {("array", "pair:a"), ("array", "pair:b")},
        {("filesystem", "old"), ("filesystem", "before")},
    )
    assert found >= arrays | filesystems | {("swap", "one")}


def test_a_plan_that_was_made_for_a_machine_takes_back_what_it_says(
    before: tuple[Path, State], tmp_path: Path
) -> None:
    """And nothing else: it holds the whole plan, beside what was left to do."""
    root = tmp_path / "root"
    state = again(before, root)
    later = plan_of(tmp_path, less_tuned)
    by_layout = decided(later, Simulated(later, root, state))
    made = by_layout.left
    decision = decided(plan_from_json(plan_to_json(made)), Simulated(later, root, state))
    assert not decision.refusals and decision.obsolete == by_layout.obsolete
    assert [step.id for step in decision.left.steps] == [step.id for step in made.steps]


def test_a_broken_block_is_refused(before: tuple[Path, State], tmp_path: Path) -> None:
    root = tmp_path / "root"
    state = again(before, root)
    fstab = root / "etc/fstab"
    fstab.write_text(fstab.read_text().replace("# <<< raidplan pair\n", ""))
    later = plan_of(tmp_path, bare)
    world = Simulated(later, root, state)
    broken = [(each.code, each.case, each.place) for each in decided(later, world).refusals]
    assert ("block-damaged", "", "/etc/fstab") in broken
    assert apply(later, world) != "done" and world.effects == []


def test_rules_too_large_to_be_read_are_refused(before: tuple[Path, State], tmp_path: Path) -> None:
    root = tmp_path / "root"
    state = again(before, root)
    (root / RULES).write_text("# more\n" * READ_WHOLE)
    for number, change in enumerate((earlier, untuned)):
        later = plan_of(tmp_path / str(number), change)
        world = Simulated(later, root, state)
        found = [(each.code, each.case, each.place) for each in decided(later, world).refusals]
        assert ("block-damaged", "large", f"/{RULES}") in found
        assert apply(later, world) != "done" and not world.effects


def test_killed_at_every_effect_and_resumed(
    before: tuple[Path, State], tmp_path: Path, dice: Random | None
) -> None:
    later = plan_of(tmp_path, bare)
    once = Simulated(later, tmp_path / "once", again(before, tmp_path / "once"))
    kills = Kills(once, tmp_path / "killed", dice)
    assert apply(later, once) == "done"
    wanted = end(once)
    for point, left in kills.machines():
        world = Simulated(later, left.root, left.state)
        assert apply(later, world) in ("done", "nothing to do"), point
        assert end(world) == wanted, point
        assert {*left.executed, *world.executed} == set(once.executed), point
        assert apply(later, Simulated(later, left.root, left.state)) == "nothing to do"


def test_without_content_a_block_or_a_file_goes() -> None:
    block = WriteBlock("/f", "", "h")
    assert wanted_text(block, "a\n# >>> raidplan h\nx\n# <<< raidplan h\nb") == "a\nb"
    assert wanted_text(block, "a") == "a" and wanted_text(block, None) is None
    assert wanted_text(WriteFile("/f", ""), "x") is None is wanted_text(WriteFile("/f", ""), None)
    with pytest.raises(BrokenBlock):
        wanted_text(block, "# >>> raidplan h\n")
