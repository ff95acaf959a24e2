"""An undo that something comes in between of: its code never says that nothing was written when something was."""

from __future__ import annotations

import argparse
import os
import signal
from pathlib import Path

import pytest

from raidplan.cli import undo
from raidplan.plan.step import Plan
from tests.apply.runs import impatient, machine, plan_of
from tests.apply.simulated import Simulated, State
from tests.apply.undone import FOLDER, LINK, killed_before, undone

__all__ = ["impatient"]


@pytest.fixture
def cut(tmp_path: Path) -> tuple[Plan, Path, State]:
    """A machine whose apply was killed before its first partition table: mdadm.conf is written already."""
    plan, state = plan_of("raid1-pair"), machine(tmp_path)
    (tmp_path / LINK).parent.mkdir()
    (tmp_path / LINK).write_text("# mine\n")
    killed_before(plan, tmp_path, state, lambda kind, what: kind == "run" and what.startswith("sfdisk"))
    return plan, tmp_path, state


def arguments(plan: Plan, root: Path) -> argparse.Namespace:
    return argparse.Namespace(host=plan.host, state=str(root / FOLDER), confirm=plan.host)


@pytest.mark.parametrize("problem", [KeyboardInterrupt, RuntimeError, ValueError])
def test_it_is_told_as_stopped(problem: type[BaseException], cut: tuple[Plan, Path, State]) -> None:
    """After the first file was put back: ^C, a hang-up, a bug."""
    plan, root, state = cut

    class Cut(Simulated):
        def effect(self, kind, what, act):  # type: ignore[no-untyped-def]
            done = super().effect(kind, what, act)
            if (kind, what) == ("rename", str(root / LINK)):
                raise problem("no thread")
            return done

    assert undo.undo(arguments(plan, root), Cut(plan, root, state)) == 3
    assert (root / LINK).read_text() == "# mine\n"
    assert undone(plan, root, state) == 0


def test_f03_who_interrupts_again_gets_the_same_code(
    cut: tuple[Plan, Path, State], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """After the first file was put back, and with every word that is said from then on."""
    plan, root, state = cut
    signal.signal(signal.SIGINT, signal.default_int_handler)
    struck: list[str] = []

    def strike(what: str) -> None:
        struck.append(what)
        os.kill(os.getpid(), signal.SIGINT)

    class Struck(Simulated):
        def effect(self, kind, what, act):  # type: ignore[no-untyped-def]
            done = super().effect(kind, what, act)
            if (kind, what) == ("rename", str(root / LINK)):
                strike(what)
            return done

    monkeypatch.setattr(undo, "talk", lambda words: strike(words) if struck else None)
    assert undo.undo(arguments(plan, root), Struck(plan, root, state)) == 3
    (renamed, said) = struck
    assert renamed == str(root / LINK) and said.startswith("stopped part-way: ") and "`raidplan undo`" in said
    os.kill(os.getpid(), signal.SIGTERM)
    assert capfd.readouterr().err.count("the running programs") == 1


def test_what_changes_while_the_list_is_read_is_looked_at_again(
    cut: tuple[Plan, Path, State], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, root, state = cut

    def yes(*_: object) -> bool:
        (root / LINK).write_text((root / LINK).read_text() + "# theirs\n")
        return True

    monkeypatch.setattr(undo, "ask_host_name", yes)
    world = Simulated(plan, root, state)
    assert undo.undo(arguments(plan, root), world) == 4 and not world.effects
    assert "the machine changed" in capsys.readouterr().err
