"""Every single thing that `apply` does fails once, or from then on: it stops, says so, and the next run converges."""

from __future__ import annotations

import argparse
import errno
import os
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest

from raidplan.apply import work
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import BrokenJournal, open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.session import carry_out
from raidplan.apply.syncs import held_syncs
from raidplan.apply.undo.copying import NoRoom
from raidplan.apply.world import World
from raidplan.cli.apply import _execute
from raidplan.plan.loss import loss
from raidplan.plan.step import Plan
from raidplan.render.losses import loss_text, loss_texts
from raidplan.render.syncs import held_text
from tests.apply.left import drawn
from tests.apply.others import Others
from tests.apply.sentences import failures, sentences
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import plan_of

pytestmark = [pytest.mark.slow, pytest.mark.in_turn(7)]

T = TypeVar("T")
LAYOUT = """\
version: 1
host: pair
hardware: {disks: {d<0-1>: {size: 1TB, serial: PAIR-<1>, partitions: {data: {size: 900GB}, swap: {size: 4GiB}}}}}
arrays: {data: {level: raid1, members: [d<0-1>.data], sync_speed_min: 50MB/s}}
filesystems: {data: {device: data, type: ext4, mount: /srv/data}}
swap: {swap: {device: d0.swap, priority: 5}}
"""
FSTAB = "# by hand\nUUID=1 / ext4 defaults 0 1\n"
JOURNAL = "/var/lib/raidplan/"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return plan_of(LAYOUT, tmp_path_factory.mktemp("layout"))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "APPEAR_SECONDS", 0)
    monkeypatch.setattr(work, "LOOK_AGAIN_SECONDS", 0)


def machine(root: Path) -> State:
    (root / "etc").mkdir(parents=True)
    (root / "etc/fstab").write_text(FSTAB)
    return State()


class Disturbed(Simulated):
    """Something happens before or after one of the effects."""

    def __init__(
        self, plan: Plan, root: Path, state: State, disturb: Callable[[int, str, str, str], None]
    ) -> None:
        super().__init__(plan, root, state)
        self.disturb = disturb

    def effect(self, kind: str, what: str, act: Callable[[], T]) -> T:
        number = len(self.effects) + 1
        self.disturb(number, "before", kind, what)
        result = super().effect(kind, what, act)
        self.disturb(number, "after", kind, what)
        return result


def apply(plan: Plan, world: Simulated) -> str:
    """As the command does it: "done", "nothing to do", "refused: …" before the first step, or "stopped: …"."""
    folder = world.root / JOURNAL.strip("/")
    try:
        decision = decide(plan, world.read(plan), read_past(folder), here=False)
        if decision.refusals:
            return "refused: " + "; ".join(sentences(decision.refusals))
        if decision.left.lost:
            return "asks: " + "; ".join(loss_texts(decision.left.lost))
        journal = open_journal(folder, world)
        if not decision.left.steps:
            if journal.past.is_open:
                journal.close()
            return "nothing to do"
        outcome = carry_out(decision, journal, lambda event: None, workers=1)
    except (NoRoom, BrokenJournal) as error:
        return f"refused: {error}"
    if not outcome.complete:
        return "stopped: " + "; ".join(failures(outcome).values())
    return "stopped: " + "; ".join(sentences(outcome.unproven)) if outcome.unproven else "done"


def end(world: Simulated) -> object:
    files = {
        str(file.relative_to(world.root)): file.read_text()
        for file in sorted(world.root.rglob("*"))
        if file.is_file()
        and JOURNAL not in str(file)
        and not file.name.endswith(("-old", "-new"))
        and file.parent.name != "raidplan.old"
    }
    state = world.state
    return deepcopy((state.objects, state.content, files, state.unfinished, state.others.hashes()))


def undisturbed(plan: Plan, root: Path) -> tuple[object, list[tuple[str, str]]]:
    world = Simulated(plan, root, machine(root))
    assert apply(plan, world) == "done"
    assert world.state.others.hashes() == Others().hashes()
    return end(world), world.effects


def converges(plan: Plan, world: Simulated, wanted: object, words: object) -> None:
    again = Simulated(plan, world.root, world.state)
    said = apply(plan, again)
    assert said in ("done", "nothing to do"), f"{words}: {said}"
    assert end(again) == wanted, words
    assert not read_past(world.root / JOURNAL.strip("/")).is_open


@pytest.mark.parametrize("when", ["before", "after"])
def test_f07_f46_f54_every_effect_fails_once(
    plan: Plan, when: str, tmp_path: Path, dice: Random | None
) -> None:
    """No memory, no room, a bad sector: whatever the kernel says no to, before or after it has done it."""
    wanted, effects = undisturbed(plan, tmp_path / "undisturbed")
    for at in drawn(effects, dice):
        kind, what = effects[at - 1]
        why = (errno.EIO, errno.ENOSPC, errno.EMFILE, errno.ENOMEM)[at % 4]

        def fail(number: int, place: str, kind: str, what: str, at: int = at, why: int = why) -> None:
            if (number, place) == (at, when):
                raise OSError(why, os.strerror(why), what)

        root = tmp_path / str(at)
        world = Disturbed(plan, root, machine(root), fail)
        said = apply(plan, world)
        assert said.startswith(("refused", "stopped")), f"{when} {kind} {what}: {said}"
        assert not said.startswith("refused") or not world.state.objects, "nothing was written to any disk"
        converges(plan, world, wanted, f"{when} {at}: {kind} {what}")


def test_f54_no_record_follows_one_that_was_lost(tmp_path: Path) -> None:
    """Other steps end while one record could not be written: the journal stays readable, and claims less."""

    class Full(World):
        full = False

        def append(self, file: Path, data: bytes) -> None:
            if self.full:
                super().append(file, data[:20])
                raise OSError(errno.ENOSPC, "No space left on device", str(file))
            super().append(file, data)

    world = Full()
    journal = open_journal(tmp_path / "state", world)
    journal.begin("{}", "sha256:plan")
    journal.record_intent("a")
    world.full = True
    with pytest.raises(OSError, match="No space left"):
        journal.record_intent("b")
    world.full = False
    with pytest.raises(OSError, match="No space left"):
        journal.record_end("a", 1.0)
    past = read_past(tmp_path / "state")
    assert (past.begun, past.ended) == ({"a"}, frozenset())
    again = open_journal(tmp_path / "state", World())
    again.record_end("a", 1.0)
    assert read_past(tmp_path / "state").ended == {"a"}


def test_f54_the_disk_of_the_journal_is_full_from_some_point_on(plan: Plan, tmp_path: Path) -> None:
    wanted, effects = undisturbed(plan, tmp_path / "undisturbed")
    points = [at for at, (kind, what) in enumerate(effects, 1) if kind == "write" and JOURNAL in what]
    for at in points:

        def full(number: int, place: str, kind: str, what: str, at: int = at) -> None:
            if number >= at and place == "before" and kind == "write" and JOURNAL in what:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), what)

        root = tmp_path / str(at)
        world = Disturbed(plan, root, machine(root), full)
        said = apply(plan, world)
        assert "No space left on device" in said and said != "done", said
        assert not said.startswith("refused") or not world.executed
        converges(plan, world, wanted, at)


def test_f46_f48_a_configuration_folder_that_turns_read_only(plan: Plan, tmp_path: Path) -> None:
    wanted, effects = undisturbed(plan, tmp_path / "undisturbed")
    points = [at for at, (kind, what) in enumerate(effects, 1) if kind == "write" and "/etc/" in what]
    assert points
    for at in points:

        def read_only(number: int, place: str, kind: str, what: str, at: int = at) -> None:
            if number >= at and place == "before" and kind in ("write", "rename") and "/etc/" in what:
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), what)

        root = tmp_path / str(at)
        world = Disturbed(plan, root, machine(root), read_only)
        assert "Read-only file system" in apply(plan, world)
        assert (root / "etc/fstab").read_text().startswith(FSTAB)
        converges(plan, world, wanted, at)


def forget_array(state: State) -> None:
    """`mdadm --stop` by somebody else."""
    for key in list(state.objects.get("array", {})):
        del state.objects["array"][key]


def fail_member(state: State) -> None:
    for found in state.objects.get("array", {}).values():
        found["members"] = [*found["members"][:-1], "removed"]
        found["degraded"] = 1


def readd_member(state: State) -> None:
    """Its link was gone for a moment, and udev gave it back: it has its slot, and nothing on it yet."""
    for found in state.objects.get("array", {}).values():
        found["degraded"] = 1


def swap_slots(state: State) -> None:
    for found in state.objects.get("array", {}).values():
        found["members"] = [*reversed(found["members"])]


@pytest.mark.parametrize(
    "harm", [forget_array, fail_member, readd_member, swap_slots], ids=lambda harm: harm.__name__
)
def test_f35_f45_f51_f52_an_array_that_is_not_as_planned_is_never_a_success(
    plan: Plan, harm: Callable[[State], None], tmp_path: Path
) -> None:
    """Stopped, degraded or in other slots, at any moment of the run: read back in the end, and told."""
    wanted, effects = undisturbed(plan, tmp_path / "undisturbed")
    first = next(at for at, (_, what) in enumerate(effects, 1) if what.startswith("mdadm --create"))
    last = max(at for at, (kind, what) in enumerate(effects, 1) if kind != "sync" and JOURNAL not in what)
    for at in range(first, last + 1, 3):
        root = tmp_path / str(at)
        state = machine(root)

        def disturb(
            number: int, place: str, kind: str, what: str, at: int = at, state: State = state
        ) -> None:
            if (number, place) == (at, "after"):
                harm(state)

        world = Disturbed(plan, root, state, disturb)
        said = apply(plan, world)
        assert said.startswith("stopped"), f"{effects[at - 1]}: {said}"
        assert end(world) != wanted
        assert read_past(root / JOURNAL.strip("/")).is_open, "the journal claims no success"


def run_until(plan: Plan, root: Path, at: int) -> tuple[State, bytes]:
    """The machine and the journal at one effect of a run."""

    class Cut(BaseException):
        pass

    def cut(number: int, place: str, kind: str, what: str) -> None:
        if (number, place) == (at, "after"):
            raise Cut

    state = machine(root)
    with suppress(Cut):
        apply(plan, Disturbed(plan, root, state, cut))
    file = root / JOURNAL.strip("/") / "journal"
    return state, file.read_bytes() if file.exists() else b""


def test_f09_f10_disks_and_journal_of_different_moments(plan: Plan, tmp_path: Path) -> None:
    """A snapshot that was put back: it converges to the planned end, refuses, or asks before a file system that was
    in use since is made anew; and changes nothing until then."""
    wanted, effects = undisturbed(plan, tmp_path / "undisturbed")
    moments = sorted({*range(4, len(effects) + 1, 13), len(effects)})
    kept = {at: run_until(plan, tmp_path / f"at{at}", at) for at in moments}
    refused = asked = 0
    for disks in moments:
        for journal in moments:
            root = tmp_path / f"{disks}-{journal}"
            state = machine(root)
            then = deepcopy(kept[disks][0])
            state.objects, state.content, state.nodes = then.objects, then.content, then.nodes
            state.unfinished = then.unfinished
            for file in ("etc/fstab", "etc/mdadm/mdadm.conf"):
                if (tmp_path / f"at{disks}" / file).exists():
                    (root / file).parent.mkdir(parents=True, exist_ok=True)
                    (root / file).write_bytes((tmp_path / f"at{disks}" / file).read_bytes())
            folder = root / JOURNAL.strip("/")
            open_journal(folder, World())
            (folder / "journal").write_bytes(kept[journal][1])
            (folder / "journal").chmod(0o600)
            before = deepcopy(state.objects)
            used = any(not found["untouched"] for found in before.get("filesystem", {}).values())
            world = Simulated(plan, root, state)
            said = apply(plan, world)
            written = {what.split()[0] if kind == "run" else kind for kind, what in world.effects}
            assert not (used and written & {"mke2fs", "zero"})
            if said.startswith(("refused", "asks")):
                refused += said.startswith("refused")
                asked += said.startswith("asks")
                assert state.objects == before and not world.executed
            elif said in ("done", "nothing to do"):
                assert end(world) == wanted and not state.unfinished, (disks, journal)
                assert apply(plan, Simulated(plan, root, state)) == "nothing to do"
            else:
                assert said.startswith("stopped"), said
    assert refused, "some pairs fit no run of ours"
    mkfs = next(at for at, (_, what) in enumerate(effects, 1) if what.startswith("mke2fs"))
    state, _ = run_until(plan, tmp_path / "used", len(effects))
    _, journal = run_until(plan, tmp_path / "early", mkfs)
    (tmp_path / "used" / JOURNAL.strip("/") / "journal").write_bytes(journal)
    world = Simulated(plan, tmp_path / "used", state)
    said = apply(plan, world)
    assert said.startswith("refused") and "mounted at /srv/data" in said and not world.executed
    del state.objects["mount"]
    said = apply(plan, world)
    lost = loss("content", "the array pair:data", own=True, type="ext4")
    assert said == f"asks: {loss_text(lost)}" and not world.executed


def test_f10_the_journal_of_another_plan_is_finished_first(plan: Plan, tmp_path: Path) -> None:
    _, effects = undisturbed(plan, tmp_path / "undisturbed")
    make = next(at for at, (_, what) in enumerate(effects, 1) if what.startswith("mke2fs"))
    state, _ = run_until(plan, tmp_path / "one", make)
    other = plan_of(LAYOUT.replace("filesystems: {data:", "filesystems: {other:"), tmp_path)
    world = Simulated(other, tmp_path / "one", state)
    (lost,) = decide(
        other, world.read(other), read_past(world.root / JOURNAL.strip("/")), here=False
    ).refusals
    assert (lost.code, lost.figures["steps"]) == ("interrupted-elsewhere", ("filesystem.data.make",))
    assert apply(other, world).startswith("refused") and not world.executed


def test_f06_f10_the_journal_of_another_boot_goes_on(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a reboot took away is read from the machine, not from the journal."""
    wanted, effects = undisturbed(plan, tmp_path / "undisturbed")
    storage = max(at for at, (_, what) in enumerate(effects, 1) if what.startswith(("mke2fs", "mkswap")))
    state, _ = run_until(plan, tmp_path / "one", storage + 2)
    monkeypatch.setattr("raidplan.apply.journal.journal.boot_id", lambda: "another")
    for kind in ("mount", "tuning", "swap_active"):
        state.objects.pop(kind, None)  # gone with the boot
    converges(plan, Simulated(plan, tmp_path / "one", state), wanted, "another boot")


def test_f08_the_journal_has_its_order_from_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock goes back by years and to another zone with every record."""

    class Jumping(datetime):
        year_of_next = 2100

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            cls.year_of_next -= 20
            return datetime(
                cls.year_of_next, 3, 28, 2, 30, tzinfo=timezone(timedelta(hours=cls.year_of_next % 12))
            )

    monkeypatch.setattr("raidplan.apply.journal.journal.datetime", Jumping)
    journal = open_journal(tmp_path / "state", World())
    journal.begin("{}", "sha256:plan")
    journal.record_intent("a")
    journal.record_end("a", 1.0, "array:1")
    journal.record_intent("b")
    again = open_journal(tmp_path / "state", World())
    again.record_intent("c")
    past = read_past(tmp_path / "state")
    assert (past.run, past.ended, past.made) == (("a", "b", "c"), {"a"}, {"array:1"})
    assert past.began.startswith("2080"), "only said, never compared"


@pytest.mark.parametrize("how", ["failed", "interrupted", "broken"])
def test_f03_an_apply_that_stops_with_a_sync_held_names_the_array(
    how: str, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says how it goes on: until then the array is not redundant."""
    world = Simulated(plan, tmp_path, machine(tmp_path), lie={"systemctl daemon-reload": "failed after all"})
    decision = decide(plan, world.read(plan), Past(), here=False)
    problems = {"interrupted": KeyboardInterrupt, "broken": RuntimeError}

    def stopped(*given: object) -> object:
        outcome = carry_out(*given, workers=1)  # type: ignore[arg-type]
        if how in problems:
            raise problems[how]
        return outcome

    monkeypatch.setattr("raidplan.cli.apply.carry_out", stopped)
    arguments = argparse.Namespace(events=None)
    assert _execute(decision, open_journal(tmp_path / "state", world), arguments) == 3
    said = capsys.readouterr().err
    (sync,) = held_syncs(plan, world)
    assert said.endswith(f"{held_text(sync)}\n") and sync.array == "data"
    assert (sync.release, sync.attribute) == ("idle", "/sys/block/data/md/sync_action")
    world.lie = {}
    monkeypatch.setattr("raidplan.cli.apply.carry_out", carry_out)
    decision = decide(plan, world.read(plan), read_past(tmp_path / "state"), here=False)
    assert _execute(decision, open_journal(tmp_path / "state", world), arguments) == 0
    assert "paused" not in capsys.readouterr().err
    assert not list(held_syncs(plan, world))
