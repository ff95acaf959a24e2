"""The command line itself: what it imports, how it takes arguments, where it prints, how it exits."""

from __future__ import annotations

import argparse
import json
import os
import stat
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from raidplan import __version__
from raidplan.cli import COMMANDS, check, run
from raidplan.cli.arguments import ARGUMENTS
from raidplan.cli.output import Unable, emit, wants_colour
from raidplan.cli.progress import events_to
from raidplan.rules import CATALOGUE

LAYOUT = "examples/raid1-pair.yaml"
HEAVY = {"pydantic", "pydantic_core", "yaml", "sh", "rich", "jinja2", "asyncio"}


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], [], ["chek"], ["explain"], *([name, "--help"] for name in COMMANDS)]
)
def test_what_needs_no_layout_imports_no_library(words: list[str]) -> None:
    result = python(
        f"import sys; from raidplan.cli import run; run({words!r}); print('loaded', *({HEAVY!r} & set(sys.modules)))"
    )
    assert result.stdout.splitlines()[-1] == "loaded", result.stderr


def test_a_check_does_without_what_takes_longest_to_load() -> None:
    result = python(
        f"import sys; from raidplan.cli import run; run(['check', {LAYOUT!r}]); print('loaded', *({HEAVY!r} & set(sys.modules)))"
    )
    assert result.stdout.splitlines()[-1] == "loaded yaml", result.stderr


def test_help_loads_almost_nothing_of_ours() -> None:
    """So it starts as fast as an empty Python; `python -m bench` says how fast."""
    result = python(
        "import sys; from raidplan.cli import run; run(['--help']); print(*(name for name in sys.modules if 'raidplan' in name))"
    )
    loaded = set(result.stdout.splitlines()[-1].split())
    assert loaded <= {"raidplan", *(f"raidplan.{each}" for each in ("base", "base.hidden", "cli", "cli.output", "render", "render.visible"))}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_a_module(name: str) -> None:
    module = import_module(f"raidplan.cli.{name}")
    assert callable(module.run)
    assert [*ARGUMENTS] == [*COMMANDS]


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"  {name} " in printed for name in COMMANDS)
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"raidplan {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "usage: raidplan COMMAND"),
        (["chek"], "did you mean 'check'?"),
        (["nas.yaml"], "'nas.yaml' is not a command; write raidplan check nas.yaml"),
        (["--verison"], "--verison is not an option of raidplan itself; did you mean '--version'?"),
        (["-V"], "-V is not an option of raidplan itself; options stand behind a command"),
        (["check", "--help-me"], "unrecognized arguments: --help-me"),
        (["explain", "keep"], "it is a key of a layout, and docs/layout.md has those"),
        (["explain", "arrays.chunk"], "it is a key of a layout, and docs/layout.md has those"),
        (["explain", "chunkk"], "`raidplan explain` lists the rules"),
        (["\x1b[2J"], "'\\x1b[2J' is not a command"),
        (["--verbose"], "--verbose is not an option of raidplan itself"),
        (["check"], "the following arguments are required: LAYOUT"),
        (["check", LAYOUT, "--form", "json"], "unrecognized arguments: --form"),
        (["check", LAYOUT, "--format", "\x1b[2J"], "\\x1b[2J"),
        (["plan", LAYOUT, "--offline", "--machine", "x"], "not allowed with"),
        (["plan", LAYOUT, "extra"], "unrecognized arguments: extra"),
    ],
)
def test_what_makes_no_sense_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and said in err


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--format", "json", LAYOUT, LAYOUT],
        ["check", LAYOUT, LAYOUT, "--format=json"],
        ["check", LAYOUT, "--format", "json", LAYOUT],
        ["--format", "json", "check", LAYOUT, LAYOUT],
        ["check", "--format", "json", "--", LAYOUT, LAYOUT],
    ],
)
def test_options_stand_anywhere(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 0
    assert capsys.readouterr().out.startswith('{\n  "format_version": 1,')


def test_a_file_may_look_like_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "-x").write_text("version: 1\nhost: h\n")
    monkeypatch.chdir(tmp_path)
    assert run(["check", "--", "-x"]) == 0


def test_a_bug_asks_to_be_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(file: str, settings: object) -> None:
        raise ZeroDivisionError(f"in {file}")

    monkeypatch.setattr(check, "check", broken)
    assert run(["check", "a\x1bb"]) == 2
    err = capsys.readouterr().err
    assert "bug in raidplan" in err and "ZeroDivisionError: in a\\x1bb" in err and "Report it" in err


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(file: str, settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "check", interrupted)
    assert run(["check", LAYOUT]) == 130


def shell(command: str) -> subprocess.CompletedProcess[str]:
    line = command.replace("raidplan", f"{sys.executable} -m raidplan")
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    big = "raidplan plan examples/tel-aviv-jbod.yaml --offline --format json"
    result = shell(f"{big} | head -n 1; exit ${{PIPESTATUS[0]}}")
    assert (result.stdout, result.stderr, result.returncode) == ("{\n", "", 0)
    result = shell(f"{big} --detailed-exitcode | head -n 1; exit ${{PIPESTATUS[0]}}")
    assert result.returncode == 2


def test_no_output_goes_to_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-o /dev/sdb` or `--events /dev/sdb`, with a letter too few or too many."""

    def written(*_: object, **__: object) -> None:
        raise AssertionError("opened")

    node = os.stat_result((stat.S_IFBLK | 0o660, *[0] * 9))
    monkeypatch.setattr(os, "lstat", lambda path: node)
    monkeypatch.setattr(os, "stat", lambda path: node)
    monkeypatch.setattr("builtins.open", written)
    monkeypatch.setattr(os, "open", written)
    with pytest.raises(Unable, match="/dev/sdb is a block device"):
        emit("plan", "/dev/sdb")
    with pytest.raises(Unable, match="/dev/sdb is a block device"):
        events_to("/dev/sdb").__enter__()


@pytest.mark.parametrize(
    ("redirection", "said"),
    [(">/dev/full", "cannot write to standard output: No space left"), (">&-", "standard output is closed")],
)
def test_output_that_cannot_be_written_is_an_error(redirection: str, said: str) -> None:
    result = shell(f"raidplan show {LAYOUT} {redirection}")
    assert result.returncode == 2 and said in result.stderr and "Traceback" not in result.stderr


def test_nobody_listens_to_what_is_said() -> None:
    assert shell("raidplan check /nonexistent >/dev/null 2>&-").returncode == 2
    assert shell("raidplan chek 2>/dev/full").returncode == 2


@pytest.mark.parametrize("locale", ["C", "POSIX", "nonsense"])
def test_any_locale_will_do(locale: str, tmp_path: Path) -> None:
    environment = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    file = bytes(tmp_path) + b"/\xc3\xa9\xff"
    for words in (["check"], ["plan", "--offline"], ["show"]):
        result = subprocess.run(
            [sys.executable, "-m", "raidplan", *words, file], capture_output=True, timeout=60, env=environment
        )
        assert result.returncode == 2
        assert b"cannot read" in result.stdout + result.stderr and b"bug" not in result.stderr
    Path(os.fsdecode(file)).write_text(
        "version: 1\nhost: h\nallow: [{rule: é, at: ぁ, reason: x}]\n", encoding="utf-8"
    )
    result = subprocess.run(
        [sys.executable, "-m", "raidplan", "show", file], capture_output=True, timeout=60, env=environment
    )
    assert "é".encode() in result.stdout


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("old")
    file.chmod(0o640)
    emit("new é", str(file))
    assert file.read_text(encoding="utf-8") == "new é" and stat.S_IMODE(file.stat().st_mode) == 0o640
    link = tmp_path / "link"
    link.symlink_to(file)
    emit("newer", str(link))
    assert link.is_symlink() and file.read_text() == "newer"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link", "out"]
    with pytest.raises(Unable, match="cannot write"):
        emit("x", str(tmp_path / "none" / "out"))


def test_a_file_whose_writing_is_interrupted_stays_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "out"
    file.write_text("old")
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        emit("new", str(file))
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link away")
def test_a_link_of_another_user_is_not_followed(tmp_path: Path) -> None:
    """As the kernel does it in /tmp (fs.protected_symlinks): a name there could lead to any file of root's."""
    file, link = tmp_path / "theirs", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    os.lchown(link, 65534, 65534)
    for write in (lambda: emit("new", str(link)), lambda: events_to(str(link)).__enter__()):
        with pytest.raises(Unable, match=r"is a symbolic link of another user \(uid 65534\)"):
            write()
    assert file.read_text() == "old" and link.is_symlink()


def test_a_layout_can_be_shown_into_itself(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text("version: 1\nhost: h\nhardware: {disks: {d<0-1>: {}}}\n")
    assert run(["show", str(file), "-o", str(file)]) == 0
    assert file.read_text() == "version: 1\nhost: h\n\nhardware:\n  disks:\n    d0: {}\n    d1: {}\n"


class Terminal:
    def __init__(self, terminal: bool) -> None:
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("option", "environment", "terminal", "wanted"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": "", "TERM": "xterm"}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ("always", {"NO_COLOR": "1", "TERM": "dumb"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour(
    option: str, environment: dict[str, str], terminal: bool, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    arguments = argparse.Namespace(color=option, output=None)
    assert wants_colour(arguments, Terminal(terminal)) is wanted  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ["apply", "adopt", "undo"])
def test_what_prints_no_data_takes_no_file_for_it(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "x", "-o", "y"]) == 2
    assert "unrecognized arguments: -o" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    ["check l.yaml", "plan --offline l.yaml", "plan -", "apply l.yaml", "adopt l.yaml", "diff a.yaml b.yaml"],
)
def test_in_a_folder_that_was_deleted_it_says_so(words: str, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    begin = f"import os, sys; os.chdir({str(tmp_path / 'gone')!r}); os.rmdir(os.getcwd())"
    result = python(f"{begin}; from raidplan.cli import run; sys.exit(run({words.split()!r}))")
    assert result.returncode == 2
    said = "raidplan: the current directory no longer exists; change to one that does (cd /)"
    assert result.stderr.splitlines() == [said]


def test_help_of_a_command_is_its_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--help"]) == 0
    own = capsys.readouterr().out
    assert run(["help", "check"]) == 0 and capsys.readouterr().out == own != ""
    assert run(["--help"]) == 0
    general = capsys.readouterr().out
    for words in (["help"], ["help", "help"]):
        assert run(words) == 0 and capsys.readouterr().out == general
    assert run(["help", "chek"]) == 2
    said = capsys.readouterr().err
    assert "'chek'" in said and "'check'" in said


def test_rules_are_explained_to_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["format_version"] == 1 and [each["rule"] for each in told["rules"]] == sorted(CATALOGUE)
    assert run(["explain", "--format", "json", "swap-across-members"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert alone in told["rules"] and alone["severity"] == "error"
    assert alone["summary"] and alone["page"].startswith(CATALOGUE["swap-across-members"].page)


def test_the_list_of_rules_can_be_narrowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--severity", "error", "--about", "SWAP"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "swap-across-members" in {line.split()[0] for line in lines}
    assert all(line.split()[1] == "error" and "swap" in line.lower() for line in lines)
    assert run(["explain", "swap-across-members", "--severity", "error"]) == 2


def test_quiet_is_silent_only_where_nothing_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "-q", "examples/rio-swap-cure.yaml"]) == 0
    assert capsys.readouterr().out == ""
    assert run(["check", "-q", "examples/rio-swap-mistake.yaml"]) == 1
    assert "swap-across-members" in capsys.readouterr().out
