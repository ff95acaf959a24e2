"""Configuration undone: every file by its bytes and every unit as it was switched, or refused in words."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.undo.copies import Copies
from raidplan.apply.undo.undo import way_back
from raidplan.plan.codec import plan_digest, plan_to_json
from raidplan.plan.places import INITRAMFS_ASIDE
from raidplan.plan.step import Plan
from raidplan.render.refusals import refusal_text
from tests.apply.earlier import plan_of as changed_plan
from tests.apply.earlier import set_to, standing
from tests.apply.runs import apply, impatient, machine, plan_of
from tests.apply.simulated import Killed, Simulated, State
from tests.apply.undone import FOLDER, LINK, killed_before, undone, undone_on

pytestmark = [pytest.mark.slow, pytest.mark.in_turn(9)]

__all__ = ["impatient"]


def configuration(root: Path, state: State) -> object:
    """Every file of the machine that is not ours, links as links, and how the units are switched."""
    ours = ("-old", "-new")
    files = {
        str(file.relative_to(root)): f"-> {file.readlink()}" if file.is_symlink() else file.read_bytes()
        for file in sorted((root / "etc").rglob("*"))
        if (file.is_file() or file.is_symlink()) and not file.name.endswith(ours)
    }
    units = {name: found["enabled"] for name, found in state.objects.get("unit", {}).items()}
    return files, {name: word for name, word in units.items() if word not in ("disabled", "static")}


def both(data: dict) -> None:  # type: ignore[type-arg]
    set_to("filesystems", "home", "options", ["noatime", "x-systemd.automount"])(data)
    set_to("monitoring", {"mail": "you@example.org", "scrub": "monthly"})(data)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, State]:
    """A machine on which an earlier layout stands."""
    root = tmp_path_factory.mktemp("before") / "root"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("raidplan.apply.work.APPEAR_SECONDS", 0)
        return root, standing(root.parent, root)


def again(before: tuple[Path, State], root: Path) -> State:
    shutil.copytree(before[0], root, symlinks=True)
    return deepcopy(before[1])


Changed = tuple[Path, State, Plan, object]


@pytest.fixture
def changed(before: tuple[Path, State], tmp_path: Path) -> Changed:
    """The machine after another layout was applied, that layout's plan, and its configuration before."""
    root = tmp_path / "root"
    state, later = again(before, root), changed_plan(tmp_path, both)
    was = configuration(root, state)
    assert apply(later, Simulated(later, root, state)) == "done"
    return root, state, later, was


@pytest.mark.parametrize(
    "change", [both, set_to("filesystems", "home", "options", ["noatime", "x-systemd.automount"])]
)
def test_f61_a_run_that_changes_configuration_only_is_undone(
    change: Callable[[dict], None], before: tuple[Path, State], tmp_path: Path  # type: ignore[type-arg]
) -> None:  # fmt: skip
    root = tmp_path / "root"
    state = again(before, root)
    was, later = configuration(root, state), changed_plan(tmp_path, change)
    assert apply(later, Simulated(later, root, state)) == "done"
    assert configuration(root, state) != was
    assert undone(later, root, state) == 0
    assert configuration(root, state) == was
    assert undone(later, root, state) == 2, "there is nothing more to undo"


@pytest.mark.parametrize(
    "change", [set_to("boot", {"degraded": "wait"}), set_to("arrays", "p", "stripe_cache_size", 4096), set_to("arrays", "p", "group_thread_count", 2)]
)  # fmt: skip
def test_f61_rules_by_which_udev_tunes_arrays_are_undone(
    change: Callable[[dict], None], before: tuple[Path, State], tmp_path: Path, capsys: pytest.CaptureFixture[str]  # type: ignore[type-arg]
) -> None:  # fmt: skip
    """To look at an array again is no way of no return; what the rules of before do not set stays, and is told of."""
    root = tmp_path / "root"
    state = again(before, root)
    was, tuned = configuration(root, state), deepcopy(state.objects["tuning"])
    later = changed_plan(tmp_path, change)
    world = Simulated(later, root, state)
    assert apply(later, world) == "done" and any("udevadm trigger" in line for line in world.executed)
    capsys.readouterr()
    assert undone(later, root, state) == 0
    assert configuration(root, state) == was
    said, kept = capsys.readouterr().err, state.objects["tuning"] != tuned
    assert ("left running: " in said) == kept, said
    assert apply(changed_plan(tmp_path, lambda data: None), Simulated(later, root, state)) == "nothing to do"


def test_an_undo_below_a_target_tells_no_program_of_the_rescue_system(changed: Changed) -> None:
    """The journal is that of the installed system, whose plan knows no target."""
    root, state, later, _ = changed
    world = Simulated(later, root, state)
    world.target = "/mnt"
    way = way_back(later, read_past(root / FOLDER), Copies(), world.read(later), world)
    assert {step.id for step in way.again} == {"config.initramfs"}
    world.target = ""
    way = way_back(later, read_past(root / FOLDER), Copies(), world.read(later), world)
    assert {step.id for step in way.again} > {"config.initramfs"}


SEEN = ("run", "rename", "remove")
"""After other effects nobody but us sees anything else than before them."""


def test_f61_configuration_comes_back_wherever_the_apply_was_killed(
    before: tuple[Path, State], tmp_path: Path, dice: Random | None
) -> None:
    later, points = changed_plan(tmp_path, both), 0
    once = Simulated(later, tmp_path / "once", again(before, tmp_path / "once"))
    assert apply(later, once) == "done"
    every = [at for at, (kind, _) in enumerate(once.effects, 1) if kind in SEEN]
    for at in sorted(dice.sample(every, 5)) if dice else every:
        root = tmp_path / str(at)
        state = again(before, root)
        was = configuration(root, state)
        with pytest.raises(Killed):
            apply(later, Simulated(later, root, state, (at, "after")))
        if read_past(root / FOLDER).plan_digest == plan_digest(later):
            begun = read_past(root / FOLDER).run
            assert undone(later, root, state) == (0 if begun else 2), at
            points += 1
        assert configuration(root, state) == was, f"after effect {at}"
        shutil.rmtree(root)
    assert dice or points > 10


def test_f61_configuration_comes_back_wherever_the_undo_was_killed(changed: Changed, tmp_path: Path) -> None:
    done, state, later, was = changed
    for at in range(1, 1000):
        root = tmp_path / str(at)
        now = again((done, state), root)
        try:
            assert undone_on(Simulated(later, root, now, (at, "before"))) == 0
            assert at > 10
            break
        except Killed:
            assert not read_past(root / FOLDER).run or undone(later, root, now) == 0, at
        assert configuration(root, now) == was, f"before effect {at}"
        shutil.rmtree(root)


def test_f61_f62_wherever_it_was_killed_it_is_undone_or_the_step_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A blank machine, before each effect: no end of an undo leaves a file behind and says nothing."""
    plan = plan_of("raid1-pair")
    created = next(step.id for step in plan.steps if step.id.startswith("array.") and step.creates)
    codes: list[int] = []
    while codes.count(4) < 10:
        root = tmp_path / "root"
        state = machine(root)
        was, at = configuration(root, state), len(codes) + 1
        with pytest.raises(Killed):
            apply(plan, Simulated(plan, root, state, (at, "before")))
        begun = read_past(root / FOLDER).run
        codes.append(undone(plan, root, state))
        said = capsys.readouterr().err
        if codes[-1] == 4:
            say = next(step.say for step in plan.steps if step.id == created)
            assert refusal_text(refusal("not-undoable", "passed", step=created, say=say)) in said
        else:
            assert codes[-1] == (0 if begun else 2), at
            assert configuration(root, state) == was, at
        shutil.rmtree(root)
    assert codes == sorted(codes, key=(2, 0, 4).index) and {*codes} == {0, 2, 4}


def linked(root: Path) -> tuple[Path, Path]:
    """mdadm.conf lies in a folder of somebody's own, and a link leads there."""
    link, file = root / LINK, root / "etc/dotfiles/mdadm.conf"
    link.parent.mkdir()
    file.parent.mkdir()
    file.write_text("# mine\n")
    link.symlink_to("../dotfiles/mdadm.conf")
    return link, file


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    plan, state = plan_of("raid1-pair"), machine(tmp_path)
    link, file = linked(tmp_path)
    killed_before(plan, tmp_path, state, lambda kind, what: kind == "run" and what.startswith("sfdisk"))
    assert link.is_symlink() and "raidplan" in file.read_text()
    assert undone(plan, tmp_path, state) == 0
    assert link.is_symlink() and file.read_text() == "# mine\n"


@pytest.mark.parametrize("was", [True, False])
def test_what_somebody_writes_while_it_is_undone_is_kept(was: bool, tmp_path: Path) -> None:
    """Right before the rename or the removal."""
    plan, state = plan_of("raid1-pair"), machine(tmp_path)
    file = tmp_path / LINK
    if was:
        file.parent.mkdir()
        file.write_text("# mine\n")
    killed_before(plan, tmp_path, state, lambda kind, what: kind == "run" and what.startswith("sfdisk"))

    class Busy(Simulated):
        def effect(self, kind, what, act):  # type: ignore[no-untyped-def]
            if (kind, what) == ("rename" if was else "remove", str(file)):
                file.write_text("# theirs\n")
            return super().effect(kind, what, act)

    assert undone_on(Busy(plan, tmp_path, state)) == 3
    assert file.read_text() == "# theirs\n"


def test_what_somebody_wrote_between_two_parts_of_a_run_is_not_taken_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, state = plan_of("raid1-pair"), machine(tmp_path)
    file = tmp_path / LINK
    file.parent.mkdir()
    file.write_text("# mine\n")
    killed_before(plan, tmp_path, state, lambda kind, what: (kind, what) == ("rename", str(file)))
    file.write_text("# mine\n# theirs\n")
    killed_before(plan, tmp_path, state, lambda kind, what: kind == "run" and what.startswith("sfdisk"))
    both = file.read_text()
    assert "raidplan" in both and "# theirs" in both
    assert undone(plan, tmp_path, state) == 4
    changed = refusal("changed-since", "file", place=f"/{LINK}")
    assert refusal_text(changed) in capsys.readouterr().err
    assert file.read_text() == both


def test_what_an_earlier_layout_of_the_same_run_wrote_is_undone_as_well(
    before: tuple[Path, State], tmp_path: Path
) -> None:
    """The run goes on with a layout that has no such file any more."""
    root = tmp_path / "root"
    state = again(before, root)
    was = configuration(root, state)
    rules = root / "etc/udev/rules.d/65-raidplan-pair.rules"
    tuned = changed_plan(tmp_path / "tuned", set_to("arrays", "p", "stripe_cache_size", 4096))
    killed_before(
        tuned, root, state, record(5)
    )  # open, copied, intent and end of the rules, and the next intent
    assert "4096" in rules.read_text()

    def untuned(data: dict) -> None:  # type: ignore[type-arg]
        del data["arrays"]["p"]["stripe_cache_size"], data["arrays"]["p"]["read_ahead"]

    later = changed_plan(tmp_path / "untuned", untuned)
    killed_before(later, root, state, record(3))
    assert read_past(root / FOLDER).run == ("config.udev",) and "4096" in rules.read_text()
    assert undone(later, root, state) == 0
    assert configuration(root, state) == was


def record(number: int) -> Callable[[str, str], bool]:
    """When so many records were to be written."""
    written: list[str] = []

    def chosen(kind: str, what: str) -> bool:
        written.extend([what] * (kind == "write" and what.endswith("/journal")))
        return len(written) == number

    return chosen


def test_a_unit_that_somebody_switched_since_is_left(
    changed: Changed, capsys: pytest.CaptureFixture[str]
) -> None:
    root, state, later, _ = changed
    state.objects["unit"]["mdcheck_start.timer"] = {"enabled": "masked"}
    was = configuration(root, state)
    assert undone(later, root, state) == 4
    said = capsys.readouterr().err
    switched = {"now": "masked", "before": "disabled", "made": "enabled"}
    found = Refusal("changed-since", "unit", "mdcheck_start.timer", figures=switched)
    assert refusal_text(found) in said
    assert configuration(root, state) == was


def test_a_file_without_a_copy_is_named(
    before: tuple[Path, State], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The journal was made by a version that did not keep it."""
    root = tmp_path / "root"
    state, later = again(before, root), changed_plan(tmp_path, both)
    journal = open_journal(root / FOLDER, Simulated(later, root, state))
    journal.begin(plan_to_json(later), plan_digest(later))
    journal.record_copies({}, [])
    journal.record_intent("config.fstab")
    journal.record_end("config.fstab", 0.1)
    assert undone(later, root, state) == 4
    none = refusal("not-undoable", "no-copy", place="/etc/fstab")
    assert refusal_text(none) in capsys.readouterr().err


def test_a_plan_that_is_not_that_of_the_run_undoes_nothing(
    before: tuple[Path, State], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The journal says so before plan.json is replaced; the power goes in between."""
    root = tmp_path / "root"
    state, later = again(before, root), changed_plan(tmp_path, both)
    killed_before(later, root, state, record(5))
    was = configuration(root, state)
    mail = changed_plan(tmp_path / "mail", set_to("monitoring", "mail", "third@example.org"))
    killed_before(mail, root, state, lambda kind, what: kind == "rename" and what.endswith("/plan.json"))
    assert undone(mail, root, state) == 4
    other = refusal("journal-unusable", "other-plan", place=str(root / FOLDER / "plan.json"))
    assert refusal_text(other) in capsys.readouterr().err
    assert configuration(root, state) == was
    killed_before(mail, root, state, record(2))
    assert undone(mail, root, state) == 0, "with the plan in its place all that was written comes back"


@pytest.mark.parametrize(
    ("line", "lie", "words"),
    [
        ("systemctl disable --now mdcheck_start.timer", "no effect", "mdcheck_start.timer is enabled after"),
        ("systemctl daemon-reload", "failed after all", "systemctl ended with 1: a lie"),
        (
            f"mkinitramfs -o {INITRAMFS_ASIDE}/initrd.img-6.1 6.1",
            "failed after all",
            "stay as they are",
        ),
    ],
)
def test_what_does_not_hear_of_it_is_told_and_tried_again(
    line: str, lie: str, words: str, changed: Changed, capsys: pytest.CaptureFixture[str]
) -> None:
    root, state, later, was = changed
    kept = root / "boot/raidplan.old/initrd.img-6.1"
    first = kept.read_bytes()
    assert undone_on(Simulated(later, root, state, lie={line: lie})) == 3
    said = capsys.readouterr().err
    assert words in said and "run `raidplan undo` again to go on" in said and "as it was before" not in said
    assert undone(later, root, state) == 0
    assert configuration(root, state) == was
    assert kept.read_bytes() == first, "the image of before the apply stays the one that is kept"


@pytest.mark.parametrize(
    ("kind", "code", "said"),
    [
        ("undoing", 4, "takes no record: No space left"),
        ("undone", 3, "did not take its last record: No space left"),
    ],
)
def test_a_journal_that_takes_no_record_of_an_undo(
    kind: str, code: int, said: str, changed: Changed, capsys: pytest.CaptureFixture[str]
) -> None:
    root, state, later, was = changed
    now = configuration(root, state)

    class Full(Simulated):
        def append(self, file: Path, data: bytes) -> None:
            if f'"kind": "{kind}"'.encode() in data:
                raise OSError(28, "No space left on device")
            super().append(file, data)

    assert undone_on(Full(later, root, state)) == code
    assert said in capsys.readouterr().err
    assert configuration(root, state) == (now if code == 4 else was)
    assert undone(later, root, state) == 0 and configuration(root, state) == was
