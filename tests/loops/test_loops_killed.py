"""Killed, failing or interrupted at any step: nothing is lost sight of. Some steps are drawn; with `--long` it is all of them."""

import os
import signal
from random import Random

import pytest

from raidplan.facts.run import CommandFailed
from raidplan.twin.loops import Stopped, down, losetup, up
from raidplan.twin.loops.folder import Folder

pytestmark = [pytest.mark.root, pytest.mark.in_turn(1)]


class Steps:
    """Counts everything that changes something, and does `act` before or after the step of a number."""

    def __init__(self, monkeypatch, at, when, act):
        self.count, self.at, self.when, self.act = 0, at, when, act
        for holder, name in ((Folder, "write"), (Folder, "make"), (Folder, "remove"), (losetup, "run")):
            self.wrap(monkeypatch, holder, name)
        for name in ("ftruncate", "rename"):
            self.wrap(monkeypatch, os, name)

    def wrap(self, monkeypatch, holder, name):
        real = getattr(holder, name)

        def step(*arguments, **settings):
            number, self.count = self.count, self.count + 1
            if number == self.at and self.when == "before":
                self.act()
            answer = real(*arguments, **settings)
            if number == self.at and self.when == "after":
                self.act()
            return answer

        monkeypatch.setattr(holder, name, step)


def drawn(total: int, dice: Random | None) -> list[int]:
    """The numbers of steps to try, in their order."""
    return sorted(dice.sample(range(total), 4)) if dice else list(range(total))


def in_child(work) -> int:
    """Runs it in another process; its wait status."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1]


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def steps_of(monkeypatch, work):
    with monkeypatch.context() as patch:
        steps = Steps(patch, -1, "", None)
        work()
    return steps.count


@pytest.mark.parametrize("when", ["before", "after"])
def test_up_killed_at_every_step(place, wanted, monkeypatch, when, dice):
    total = steps_of(monkeypatch, lambda: up(wanted("d0", "d1"), place.directory, layout="x\n"))
    down(place.directory)
    assert total > 15
    for number in drawn(total, dice):
        with monkeypatch.context() as patch:
            Steps(patch, number, when, kill)
            status = in_child(lambda: up(wanted("d0", "d1"), place.directory, layout="x\n"))
        assert os.WIFSIGNALED(status), number
        if number % 2:
            # `up` goes on from there ...
            up(wanted("d0", "d1"), place.directory, layout="x\n")
            assert set(place.loops()) == {"d0.img", "d1.img"}
        down(place.directory)  # ... and `down` removes it all.
        assert not place.loops() and not place.directory.exists(), number


@pytest.mark.parametrize("when", ["before", "after"])
def test_down_killed_at_every_step(place, wanted, monkeypatch, when, dice):
    up(wanted("d0", "d1"), place.directory, layout="x\n")
    total = steps_of(monkeypatch, lambda: down(place.directory))
    assert total > 8
    for number in drawn(total, dice):
        up(wanted("d0", "d1"), place.directory, layout="x\n")
        with monkeypatch.context() as patch:
            Steps(patch, number, when, kill)
            status = in_child(lambda: down(place.directory))
        assert os.WIFSIGNALED(status), number
        down(place.directory)
        assert not place.loops(), number
        assert not place.directory.exists(), number


@pytest.mark.parametrize(
    "problem",
    [OSError(28, "No space left on device"), CommandFailed(["losetup"], 1, "no"), KeyboardInterrupt()],
)
def test_up_failing_at_every_step(place, wanted, monkeypatch, problem, dice):
    total = steps_of(monkeypatch, lambda: up(wanted("d0", "d1"), place.directory, layout="x\n"))
    down(place.directory)

    def fail():
        raise problem

    for number in drawn(total, dice):
        with monkeypatch.context() as patch:
            Steps(patch, number, "before", fail)
            with pytest.raises((Stopped, KeyboardInterrupt)) as no:
                up(wanted("d0", "d1"), place.directory, layout="x\n")
        assert isinstance(problem, KeyboardInterrupt) or (isinstance(no.value, Stopped) and not no.value.left)
        assert not place.loops() and not place.directory.exists(), number


def test_the_last_loop_devices_are_not_to_be_had(place, wanted, monkeypatch):
    real, made = losetup.attach, []

    def attach(file, sector):
        if made:
            raise CommandFailed(["losetup", "--find"], 1, "cannot find an unused loop device")
        made.append(file)
        return real(file, sector)

    monkeypatch.setattr("raidplan.twin.loops.making.attach", attach)
    with pytest.raises(Stopped, match="cannot find an unused loop device"):
        up(wanted("d0", "d1"), place.directory)
    assert not place.loops() and not place.directory.exists()
