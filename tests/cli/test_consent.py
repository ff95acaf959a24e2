"""What is destroyed needs a yes to its list: typed after it was shown, or the digest of exactly that plan."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from raidplan.apply import world
from raidplan.apply.stages import rechecking
from raidplan.cli import run
from raidplan.cli.apply import TRIES, _apply
from raidplan.cli.consent import ask_consent
from raidplan.facts import Machine
from raidplan.facts.machine import Properties
from raidplan.plan.codec import plan_digest
from raidplan.plan.loss import said_before
from raidplan.plan.step import Plan, Step
from raidplan.render.losses import loss_texts
from tests.absent import needs_root
from tests.apply.cut_off import JOURNAL, Cut
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Killed, Simulated
from tests.apply.stacks import LAYOUT, Box, decided, old_pair, plan_of

__all__ = ["impatient"]


class Terminal(io.StringIO):
    """Somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """A plan that destroys an old array."""
    return decided(plan_of(LAYOUT, tmp_path), old_pair()).left


@pytest.fixture
def harmless(tmp_path: Path) -> Plan:
    return decided(plan_of(LAYOUT, tmp_path), Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1")).left


def asked(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, typed: str | None = None, confirm: str | None = None, destroy: str | None = None
) -> bool:  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.StringIO("") if typed is None else Terminal(typed + "\n"))
    return ask_consent(plan, argparse.Namespace(confirm=confirm, destroy=destroy))


@pytest.mark.parametrize("typed", ["pair", " pair "])
def test_the_host_name_is_typed(
    plan: Plan,
    harmless: Plan,
    typed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert asked(harmless, monkeypatch, typed)
    assert "to write to" in capsys.readouterr().err
    assert asked(plan, monkeypatch, typed)
    assert "to destroy the 6 things listed above" in capsys.readouterr().err


def test_a_list_that_went_into_a_file_is_shown_where_the_name_is_typed(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`raidplan apply LAYOUT >log`: the person is asked for things listed above, and saw nothing of them."""
    assert asked(plan, monkeypatch, "pair")
    said = capsys.readouterr().err
    assert all(f"destroyed: {words}\n" in said.partition("Type the ")[0] for words in loss_texts(plan.lost))
    monkeypatch.setattr("sys.stdout", Terminal())
    assert asked(plan, monkeypatch, "pair")
    assert "destroyed: " not in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["", "yes", "y", "PAIR", "pair2"])
def test_anything_else_is_a_no(plan: Plan, typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not asked(plan, monkeypatch, typed)


def test_confirm_is_enough_only_where_nothing_is_destroyed(
    plan: Plan, harmless: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(harmless, monkeypatch, confirm="pair") and not asked(harmless, monkeypatch, confirm="other")
    capsys.readouterr()
    for typed in (None, "pair"):
        assert not asked(plan, monkeypatch, typed, confirm="pair")
        assert f"--destroy {plan_digest(plan)}" in capsys.readouterr().err


def test_the_digest_says_yes_to_exactly_one_plan(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = plan_digest(plan)
    assert asked(plan, monkeypatch, destroy=digest)
    for other in ("", "sha256:", digest[:-1], digest.upper(), "pair", "yes"):
        assert not asked(plan, monkeypatch, "pair", confirm="pair", destroy=other)
    more = replace(plan.steps[-1], id="x", phase="teardown", destroys=(said_before("something more"),))
    assert not asked(replace(plan, steps=(*plan.steps, more)), monkeypatch, destroy=digest)


def test_without_a_terminal_nobody_is_asked(
    plan: Plan, harmless: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not asked(harmless, monkeypatch) and not asked(plan, monkeypatch)
    assert "Type the " not in capsys.readouterr().err


def test_what_the_layout_made_itself_is_never_given_up_by_typing(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def own(step: Step) -> Step:
        return replace(step, destroys=tuple(replace(loss, own=True) for loss in step.destroys))

    plan = replace(plan, steps=tuple(own(step) if step.phase == "teardown" else step for step in plan.steps))
    assert not asked(plan, monkeypatch, "pair") and not asked(plan, monkeypatch, confirm="pair")
    assert "confirm with --destroy" in capsys.readouterr().err
    assert asked(plan, monkeypatch, destroy=plan_digest(plan))


def test_plan_prints_the_list_and_the_digest(
    tmp_path: Path, plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    (tmp_path / "facts.json").write_text(json.dumps(old_pair().machine().to_data()))
    for form in ("text", "markdown", "shell"):
        arguments = [
            "plan",
            str(tmp_path / "layout.yaml"),
            "--machine",
            str(tmp_path / "facts.json"),
            "--format",
            form,
        ]
        assert run(arguments) == 0
        out = capsys.readouterr().out
        assert plan_digest(plan) in out, form
        assert "the array" in out and "old:data" in out and "photos" in out, form


@pytest.mark.parametrize("changed", ["file system", "program"])
def test_apply_refuses_what_changed_while_the_list_was_read(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan_of(LAYOUT, tmp_path)
    boxes, versions = [old_pair(), old_pair()], ["4.2", "4.3" if changed == "program" else "4.2"]
    if changed == "file system":
        boxes[1].filesystem("sdb1", "0f0f0f0f-1111-4222-8333-123456789abc", "new")

    def read(plan: Plan, tools: Mapping[str, Properties] | None) -> Machine:
        found, version = boxes.pop(0).machine(), versions.pop(0)
        found.objects["tool"] = dict(tools) if tools else {"mdadm": {"version": version}}
        return found

    monkeypatch.setattr(world, "read_for", read)
    monkeypatch.setattr("raidplan.apply.stages.refusing.preflight", lambda situation, here=True: [])
    monkeypatch.setattr("sys.stdin", Terminal("pair\n"))
    written: list[object] = []
    monkeypatch.setattr("raidplan.apply.execute.execute", lambda *args, **more: written.append(args))
    assert run(["apply", str(tmp_path / "layout.yaml"), "--state", str(tmp_path / "state")]) == 4
    assert "the machine changed" in capsys.readouterr().err
    assert not written and not boxes


@dataclass
class HalfMade:
    """A machine with a file system that a kill left half-made: nothing is listed as lost, it is cleared and made anew."""

    plan: Plan
    world: Simulated
    monkeypatch: pytest.MonkeyPatch
    shown: list[Plan] = field(default_factory=list)
    typed_for: list[Plan] = field(default_factory=list)
    """The plans whose passphrases were asked for."""

    def apply(self, meanwhile: Callable[[int], object], typed: Callable[[], object] = lambda: None) -> int:
        """The exit code, after what happened each time that somebody was asked, and each time that passphrases were typed."""

        def confirm(plan: Plan, arguments: argparse.Namespace) -> bool:
            self.shown.append(plan)
            meanwhile(len(self.shown))
            return True

        def passphrases(plan: Plan, nodes: Mapping[str, str]) -> dict[str, bytes]:
            self.typed_for.append(plan)
            typed()
            return {"of": str(len(self.typed_for)).encode()}

        self.monkeypatch.setattr("raidplan.cli.apply.ask_consent", confirm)
        self.monkeypatch.setattr("raidplan.cli.apply.passphrases", passphrases)
        arguments = argparse.Namespace(
            state=str(self.world.root / JOURNAL), events=None, color="never", output=None, all_steps=False
        )
        return _apply(self.plan, arguments, self.world)


@pytest.fixture
def half_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HalfMade:
    text = "version: 1\nhost: pair\nhardware: {disks: {d0: {size: 1TB, serial: PAIR-0, partitions: {a: {size: 9GB}}}}}\n"
    plan = plan_of(text + "filesystems: {a: {device: d0.a, type: ext4, mount: /srv/a}}\n", tmp_path)
    state, root = machine(tmp_path / "root"), tmp_path / "root"
    with pytest.raises(Killed):
        apply(plan, Cut(plan, root, state, "mke2fs", "during"))
    monkeypatch.setattr("raidplan.apply.stages.refusing.preflight", lambda situation, here=True: [])
    monkeypatch.setattr(rechecking, "look_closer", lambda plan, machine, disks, past: machine)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return HalfMade(plan, Simulated(plan, root, state), monkeypatch)


@needs_root
@pytest.mark.parametrize("when", ["asked", "typing a passphrase"])
def test_apply_refuses_what_is_used_since_somebody_was_asked_to_go_on(when: str, half_made: HalfMade) -> None:
    made = half_made.world.state.objects["filesystem"]

    def use(_: int = 0) -> None:
        for found in made.values():
            found["untouched"] = False

    assert (half_made.apply(use) if when == "asked" else half_made.apply(lambda _: None, use)) == 4
    assert [(plan.lost, any(step.clears for step in plan.steps)) for plan in half_made.shown] == [((), True)]
    assert not half_made.world.effects


@needs_root
@pytest.mark.parametrize(
    ("changes", "code", "shown"), [(0, 0, 1), (1, 0, 2), (TRIES - 1, 0, TRIES), (TRIES, 4, TRIES)]
)
def test_a_list_that_destroys_nothing_is_shown_again_when_the_machine_changed(
    half_made: HalfMade, monkeypatch: pytest.MonkeyPatch, changes: int, code: int, shown: int
) -> None:
    """After a boot arrays come up by themselves for a while: whoever applies then need not start anew."""
    digests = iter([str(number) for number in range(2 * changes)])
    monkeypatch.setattr("raidplan.cli.apply.plan_digest", lambda plan: next(digests, "it rests"))
    assert half_made.apply(lambda _: None) == code
    assert len(half_made.shown) == shown
    assert half_made.typed_for == half_made.shown, "a list that is shown again has passphrases of its own"
    assert half_made.world.passphrases == {"of": str(shown).encode()}
    assert bool(half_made.world.effects) == (code == 0)


@pytest.mark.parametrize("command", [["apply", "x.yaml"], ["undo", "pair"], ["adopt", "x.yaml"]], ids=lambda words: words[0])  # fmt: skip
def test_no_switch_covers_everything(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """None of what other tools have, not even as the beginning of a longer one."""
    for switch in (
        "--force",
        "-f",
        "--yes",
        "-y",
        "--assume-yes",
        "--no-confirm",
        "--conf",
        "--dest",
        "--wipe",
    ):
        given = (
            [*command, switch] if not switch.startswith(("--conf", "--dest")) else [*command, switch, "pair"]
        )
        assert run(given) == 2, switch
        assert "unrecognized arguments" in capsys.readouterr().err, switch
