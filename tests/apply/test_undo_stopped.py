"""An undo that something comes in between of: its code never says that nothing was written when something was."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from raidplan.cli import consent, undo
from raidplan.plan import Plan
from tests.apply.simulated import Simulated, State
from tests.apply.test_kill_matrix import impatient, machine, plan_of
from tests.apply.test_undo_configuration import FOLDER, LINK, killed_before, undone

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


def test_what_changes_while_the_list_is_read_is_looked_at_again(
    cut: tuple[Plan, Path, State], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, root, state = cut

    def yes(*_: object) -> bool:
        (root / LINK).write_text((root / LINK).read_text() + "# theirs\n")
        return True

    monkeypatch.setattr(consent, "agreed", yes)
    world = Simulated(plan, root, state)
    assert undo.undo(arguments(plan, root), world) == 4 and not world.effects
    assert "the machine changed while the list was read; nothing was written" in capsys.readouterr().err
