"""The command `make kills`: what it runs again, what it records of a server that fails, when it is no success."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from raidplan.twin.server import (
    BootError,
    CommandError,
    CommandTimeoutError,
    HostError,
    TwinError,
    UnreachableError,
)
from tests.guest_of_kills import outcome
from tests.kills import __main__ as command
from tests.kills import power, session
from tests.kills.adversity import CONVERGED, STUCK
from tests.kills.cases import PLACES, Case, case_of, cases
from tests.kills.family import Drawn
from tests.kills.record import read, table
from tests.kills.session import Reference, Void

pytestmark = pytest.mark.in_turn(10)


def test_a_number_has_its_parts_and_the_other_way() -> None:
    for each in (Case(7, 703, 2), Case(7301, 9999, 99), Case(1, 0, 0)):
        assert case_of(each.number) == each
    assert case_of(7_070_302) == Case(7, 703, 2)
    assert [each.layout for each in cases(99_99, 3, 1)] == [9900, 9901, 9902]
    for each in (0, PLACES + 1):
        with pytest.raises(ValueError, match="possible are"):
            cases(1, 5, each)


class Machine:
    """A server in which every case converges, but for those that fail."""

    def __init__(self, folder: Path) -> None:
        self.console = folder / "console.log"
        self.console.write_text("Kernel panic")

    def restore(self, name: str) -> None: ...
    def put(self, *words: object) -> None: ...
    def run(self, *words: object, **more: object) -> None: ...
    def unplug(self, *words: object) -> None: ...


class Servers:
    """Counts those that were started; `fails` has what comes in place of an outcome, by the number of the case."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.started = self.cases = 0
        self.fails: dict[int, Exception] = {}
        self.void = self.dirty = ""
        self.said: list[str] = []
        self._folder = folder
        monkeypatch.setattr(session, "server", self.server)
        monkeypatch.setattr(session, "reference", self.reference)
        monkeypatch.setattr(session, "in_guest", self.outcome)
        monkeypatch.setattr(power, "_outcome", self.outcome)
        monkeypatch.setattr(power, "prepared", lambda *words: {"decoys": {}, "files": {}})
        monkeypatch.setattr(power, "in_guest", lambda *words, **more: {"records": 0})
        monkeypatch.setattr(power, "made_ready", lambda twin: None)
        monkeypatch.setattr(power.TwinWithLog, "start", self.server)
        monkeypatch.setattr(command, "say", self.said.append)
        monkeypatch.setattr(command, "dirt", lambda: self.dirty)

    @contextmanager
    def server(self, *words: object, **more: object) -> Iterator[Machine]:
        self.started += 1
        yield Machine(self._folder)

    def reference(self, twin: object, drawn: Drawn) -> Reference:
        if self.void:
            raise Void(self.void)
        journal = [(kind, "config.udev") for kind in ("intent", "ended")]
        return Reference(drawn, [], journal, {"lvs": ["a"]}, {}, {})

    def outcome(self, *words: object, **more: object) -> dict[str, Any]:
        self.cases += 1
        if error := self.fails.get(self.cases):
            raise error
        return outcome(CONVERGED)


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Servers:
    return Servers(monkeypatch, tmp_path)


def ran(monkeypatch: pytest.MonkeyPatch, file: Path, *words: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the records of a run."""
    monkeypatch.setattr(sys, "argv", ["tests.kills", *words, "--record", str(file)])
    return command.main(), read(file)


FAILS = (
    BootError("the guest gave up booting"),
    CommandError("python3: 1"),
    CommandTimeoutError("no end"),
    UnreachableError("no connection"),
    TwinError("the virtual machine closed its monitor"),
    json.JSONDecodeError("nothing", "", 0),
    ValueError("this is no log of writes"),
)


@pytest.mark.parametrize("options", [[], ["--power"]])
@pytest.mark.parametrize(
    ("number", "error"), [(2, each) for each in FAILS] + [(1, FAILS[0]), (3, FAILS[0])], ids=str
)
def test_a_server_that_fails_is_on_record_and_the_next_case_has_another(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    servers: Servers,
    options: list[str],
    error: Exception,
    number: int,
) -> None:
    servers.fails[number] = error
    code, records = ran(monkeypatch, tmp_path / "record", "4", "7", "--each", "3", *options)
    results = [each["result"] for each in records]
    assert code == 1 and results == [STUCK if each == number else CONVERGED for each in range(1, 5)]
    failed = records[number - 1]
    assert type(error).__name__ in failed["why"] and failed["console"] == "Kernel panic"
    servers.fails = {}
    before = servers.started
    ran(monkeypatch, tmp_path / "other", "4", "7", "--each", "3", *options)
    assert before == servers.started - before + 1


@pytest.mark.parametrize("options", [[], ["--power"]])
def test_of_a_host_without_room_a_case_is_void(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, servers: Servers, options: list[str]
) -> None:
    servers.fails[1] = HostError("no space")
    code, records = ran(monkeypatch, tmp_path / "record", "2", "7", "--each", "2", *options)
    assert code == 1 and [bool(each.get("void")) for each in records] == [True, False]


@pytest.mark.parametrize("options", [[], ["--power"]])
def test_a_server_that_does_not_start_is_on_record(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, servers: Servers, options: list[str]
) -> None:
    def fails(*words: object, **more: object) -> None:
        raise BootError("no server")

    start: Callable[..., Any] = fails
    monkeypatch.setattr(session, "server", start)
    monkeypatch.setattr(power.TwinWithLog, "start", start)
    code, records = ran(monkeypatch, tmp_path / "record", "2", "7", "--each", "1", *options)
    assert code == 1 and ["no server" in each["why"] for each in records] == [True, True]


@pytest.mark.parametrize("options", [[], ["--power"]])
def test_the_command_in_a_record_repeats_that_case_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, servers: Servers, options: list[str]
) -> None:
    _, first = ran(monkeypatch, tmp_path / "first", "12", "7", "--each", "12", *options)
    assert len({each["seed"] for each in first}) == 12
    last = first[-1]
    words = last["command"].split()
    assert words[:3] == ["python", "-m", "tests.kills"] and words[3:-2] == options
    _, again = ran(monkeypatch, tmp_path / "again", *words[3:])
    assert [(each["seed"], each["adversity"], each["layout"]) for each in again] == [
        (last["seed"], last["adversity"], last["layout"])
    ]


@pytest.mark.parametrize("options", [[], ["--power"]])
def test_a_case_that_is_on_record_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, servers: Servers, options: list[str]
) -> None:
    """Of this code, and by the same command; one that is asked for by its number is run again."""
    file, words = tmp_path / "record", ("7", "--each", "8", *options)
    _, first = ran(monkeypatch, file, "3", *words)
    _, more = ran(monkeypatch, file, "5", *words)
    assert more[:3] == first and len(more) == 5 == len({each["seed"] for each in more})
    _, again = ran(monkeypatch, file, *options, "--case", str(first[0]["seed"]))
    assert len(again) == 6 and again[-1]["seed"] == first[0]["seed"]
    file.write_text(file.read_text().replace('"result": "converged"', '"result": "stuck"', 1))
    assert ran(monkeypatch, file, "5", *words)[0] == 1, "on record is how it failed"
    monkeypatch.setattr(command, "digest", lambda: "of other code")
    _, other = ran(monkeypatch, file, "5", *words)
    assert len(other) == 11


@pytest.mark.parametrize("options", [[], ["--power"]])
def test_a_void_layout_is_recorded_and_is_no_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, servers: Servers, options: list[str]
) -> None:
    servers.void = "4: refused: no module"
    code, records = ran(monkeypatch, tmp_path / "record", "1", "7", *options)
    assert code == 1 and [each["why"] for each in records] == ["4: refused: no module"]
    assert "void: python -m tests.kills" in table(records, records[0]["digest"], [records[0]["generator"]])


def test_the_versions_are_read_again_for_each_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, servers: Servers
) -> None:
    versions = map(str, count())
    monkeypatch.setattr(command, "digest", lambda: next(versions))
    servers.fails[1] = BootError("no boot")
    _, records = ran(monkeypatch, tmp_path / "record", "2", "7", "--each", "2")
    assert len({each["digest"] for each in records}) == 2
    servers.dirty = " M raidplan/x.py"
    code, records = ran(monkeypatch, tmp_path / "dirty", "1", "7")
    assert code == 0 and records[0]["dirty"] and any("dirty" in words for words in servers.said)
