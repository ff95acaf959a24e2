"""What a program wrote is on the disks before the journal says so: LVM flushes nothing, and a power cut took a new group along."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.flush import written
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.recheck_target import Decided
from raidplan.apply.work import Work
from raidplan.apply.world import World
from raidplan.plan.origin import TEARDOWN, Origin
from raidplan.plan.step import Plan, Proof, Run, Step
from tests.apply.earlier import IN_PLACE, plan_of, standing
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated, State

__all__ = ["impatient"]


class Watched(Simulated):
    """Notes which devices were synced between the program of a step and the journal's end of it."""

    def exists(self, node: str) -> bool:
        return super().exists(node) or any(node == f"/dev/{disk.name}" for disk in self.plan.disks)

    def follow(self) -> dict[str, set[str]]:
        synced: set[str] = set()
        ends: dict[str, set[str]] = {}

        def watch(when: str, kind: str, what: str) -> None:
            if (when, kind) == ("after", "run"):
                synced.clear()
            if (when, kind) == ("after", "sync"):
                synced.add(what)
            if (when, kind) == ("after", "write") and what.endswith("/journal"):
                last = json.loads(Path(what).read_text().splitlines()[-1])
                if last["kind"] == "ended":
                    ends.setdefault(last["step"], {node for node in synced if node.startswith("/dev/")})

        self.watch = watch
        return ends


def ends_of(plan: Plan, folder: Path, state: State) -> dict[str, set[str]]:
    """By steps, the devices that were synced before the journal had their end."""
    world = Watched(plan, folder, state)
    ends = world.follow()
    assert apply(plan, world) == "done"
    return ends


def test_each_device_that_a_program_writes_to_is_synced_before_the_journal_has_its_end(
    tmp_path: Path,
) -> None:
    plan = plan_of(tmp_path)
    ends = ends_of(plan, tmp_path, machine(tmp_path))
    named = dict(
        zip(
            ("data", "swap", "vg"),
            next(s for s in plan.steps if s.id == "disk.d0.partition").awaits,
            strict=True,
        )
    )
    expected = {
        "disk.d0.partition": {"/dev/d0"},
        "array.a.create": {"/dev/md/a", named["data"]},
        "array.b.create": {"/dev/md/b", named["swap"]},
        "volume.v.physical.p": {"/dev/md/p"},
        "volume.v.create": {"/dev/md/p"},
        "volume.v.home.create": {"/dev/md/p"},
        "filesystem.a.make": {"/dev/md/a"},
        "filesystem.home.make": {"/dev/v/home"},
        "swap.s.make": {next(s for s in plan.steps if s.id == "swap.s.make").guard[0]},
    }
    missing = {step: devices - ends.get(step, set()) for step, devices in expected.items()}
    assert not any(missing.values()), missing
    assert not ends["swap.s.on"]


CHANGES: dict[str, tuple[str, Callable[[dict[str, Any]], None], set[str]]] = {
    name: (step, IN_PLACE[name][0], devices)
    for name, step, devices in [
        ("read-ahead of a volume", "volume.v.home.create+read_ahead", {"/dev/md/p"}),
        ("read-ahead below a volume", "volume.v.home.create+read_ahead", {"/dev/md/p"}),
        ("label of XFS", "filesystem.x.make+label", {"/dev/v/x"}),
        ("bitmap", "array.b.create+consistency", {"/dev/md/b"}),
    ]
}


@pytest.mark.parametrize("name", CHANGES)
def test_so_is_what_a_change_in_place_writes(name: str, tmp_path: Path) -> None:
    step, change, devices = CHANGES[name]
    state = standing(tmp_path, tmp_path)
    ends = ends_of(plan_of(tmp_path, change), tmp_path, state)
    assert devices <= ends[step], ends


@pytest.mark.parametrize(
    "phase, origin", [("array", Origin("clear", "array.a.create")), ("teardown", TEARDOWN)]
)
def test_the_node_of_a_stopped_array_is_not_opened_again(phase: str, origin: Origin) -> None:
    stop = Step("stop", phase, "stop it", Run(("mdadm", "--stop", "/dev/md127")), "arrays.a", origin=origin)
    assert written(stop, {}) == ()


def test_a_program_that_only_looks_at_a_device_is_followed_by_no_flush() -> None:
    argv = ("udevadm", "trigger", "--name-match=/dev/md/a", "/dev/md/a")
    assert written(Step("tune", "array", "", Run(argv), ""), {}) == ()


def test_a_device_in_an_option_counts() -> None:
    argv = ("mdadm", "--create", "/dev/md/a", "--write-journal=/dev/sdz", "{d0}")
    assert written(Step("make", "array", "", Run(argv), ""), {}) == ("/dev/md/a", "/dev/sdz", "{d0}")


def test_of_a_volume_all_devices_of_its_group_are_flushed() -> None:
    step = Step(
        "on", "volume", "", Run(("lvchange", "--activate", "y", "v/x")), "", proof=Proof("volume", "v/x", {})
    )
    assert written(step, {"v": ("/dev/md/a", "{d0}"), "w": ("{d1}",)}) == ("/dev/md/a", "{d0}")


class Refusing(Simulated):
    """Answers each sync of a device with an error."""

    error = 0

    def sync(self, path: Path) -> None:
        if self.error and str(path).startswith("/dev/"):
            raise OSError(self.error, "refused", str(path))
        super().sync(path)


def refusing(error: int, folder: Path) -> tuple[str, Past]:
    plan = plan_of(folder)
    world = Refusing(plan, folder, machine(folder))
    world.error = error
    return apply(plan, world), read_past(folder / "var/lib/raidplan")


def test_without_a_flush_nothing_is_made(tmp_path: Path) -> None:
    said, past = refusing(errno.EIO, tmp_path)
    assert said.startswith("stopped: ")
    assert "array.b.create" in past.begun and "array.b.create" not in past.ended


@pytest.mark.parametrize("word", ["/dev/null", "/dev/no-such-device", "/etc"])
def test_a_word_that_is_no_block_device_is_never_opened(word: str) -> None:
    """A label may begin like a device, and some devices begin to count as soon as they are opened (/dev/watchdog)."""
    assert not World().is_block(word)


def test_the_copy_of_a_key_is_synced(tmp_path: Path) -> None:
    copy = Run(("install", "-D", "/etc/keys/c", "/mnt/etc/keys/c"))
    key = Step("encryption.c.key", "configure", "", copy, "", proof=Proof("key_file", "/etc/keys/c", {}))
    plan, state = plan_of(tmp_path), machine(tmp_path)
    world = Simulated(plan, tmp_path, state)
    synced: list[str] = []
    world.watch = lambda when, kind, what: synced.append(what) if kind == "sync" else None
    Work(
        {}, open_journal(tmp_path / "journal", world), world, ExitStack(), frozenset(), Decided({}, {}, {})
    )._flush(key)
    assert str(world.path("/etc/keys/c")) in synced
