"""The rehearsal of a change with a stand-in for the virtual machine: interrupted where the seed says, or that is found."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raidplan.cli import FINDINGS, OK, UNABLE, VOID
from raidplan.diff.judge import judge
from raidplan.review.pipeline import load
from raidplan.topology import Topology
from raidplan.twin.rehearsal import change, interruption
from raidplan.twin.rehearsal.cases import Fault
from raidplan.twin.rehearsal.change import DRAWS, INTERRUPTION
from raidplan.twin.rehearsal.kept import disks_of_both, kept, subjects_of
from raidplan.twin.rehearsal.resumption import SYNCED, WAITS
from raidplan.twin.rehearsal.rig import GIVEN
from raidplan.twin.rehearsal.stages import EVENTS
from raidplan.twin.server import CommandTimeoutError, UnreachableError
from tests.rehearsal.conftest import LAYOUT, Rehearsal
from tests.rehearsal.stand_in import CUT_OFF, Faulty, StandIn

Changed = Callable[..., dict[str, Any]]
MIRROR = LAYOUT.replace(
    "swap: {mirror: {device: mirror}}", "  mirror: {device: mirror, type: ext4, mount: /srv/mirror}"
)


@pytest.fixture
def changed(rehearsed: Rehearsal) -> Changed:
    """The rehearsal of a change from one layout to another."""

    def change(
        faulty: Faulty, *words: str, old: str = LAYOUT, new: str = LAYOUT, code: int = OK
    ) -> dict[str, Any]:
        before = rehearsed.folder / "old.yaml"
        before.write_text(old.replace("BOOT", ""))
        return rehearsed(faulty, "--from", str(before), *words, text=new, code=code)

    return change


def said(case: dict[str, Any], what: str) -> list[str]:
    return [claim["observed"] for claim in case["claims"] if claim["what"] == what]


def test_it_is_interrupted_and_every_kept_record_reads_back(changed: Changed, rehearsed: Rehearsal) -> None:
    report = changed(Faulty())
    assert [case["fault"] for case in report["cases"]] == ["none", "killed", "cut", "killed", "cut"]
    assert said(report["cases"][0], "records") == ["64"]
    for case in report["cases"][1:]:
        assert said(case, "interrupted") == ["in the middle"] and said(case, "apply") == ["ends"]
        assert said(case, "written") == ["5"] and said(case, "records") == ["69"]
        assert case["name"].startswith("step ") and " of 3 (step-" in case["name"]
    assert not report["void"] and said(report["control"], "damage") == ["seen"]
    assert "--from" in report["command"] and "--faults" not in report["command"]
    calls = rehearsed.twin.calls
    struck = [call.split()[3:5] for call in calls if INTERRUPTION in call]
    assert [way for way, _ in struck] == ["kill", "freeze", "kill", "freeze"]
    assert sum("witness.py start" in call for call in calls) == 4, "it is written to meanwhile"
    assert json.loads(rehearsed.twin.files[GIVEN])["paging"] is False, "swap is the change's"
    again = changed(Faulty())
    names = [case["name"] for case in report["cases"]]
    assert [case["name"] for case in again["cases"]] == names, "by the seed"


def test_each_apply_leaves_its_events_also_one_that_is_interrupted(
    changed: Changed, rehearsed: Rehearsal
) -> None:
    logs = rehearsed.folder / "logs"
    changed(Faulty(), "--logs", str(logs))
    kept = [(logs / f"apply-{number + 1}.jsonl").read_text() for number in range(len([*logs.iterdir()]))]
    whole, cut_off = kept[0], kept[0][:CUT_OFF]
    made = (
        3 + 2
    )  # the old layout, that there is nothing to do, twice; the new one, that there is nothing to do
    assert kept == [whole] * made + [cut_off, whole] * 4


def test_an_apply_without_events_leaves_none(changed: Changed, rehearsed: Rehearsal) -> None:
    logs = rehearsed.folder / "logs"
    changed(Faulty(starts=False), "--logs", str(logs), code=FINDINGS)
    assert len([*logs.iterdir()]) == 3 + 2 + 4, "those of the applies that end"


def test_a_power_cut_loses_what_was_not_flushed_and_says_how_much(changed: Changed) -> None:
    report = changed(Faulty())
    lost = [said(case, "unflushed writes lost") for case in report["cases"]]
    assert lost == [[], [], ["3"], [], ["3"]], "no kill loses any"
    whole = changed(Faulty(flushes=True), code=FINDINGS)
    assert [case["as_predicted"] for case in whole["cases"]] == [True, True, False, True, False]


def test_a_power_cut_right_after_a_flush_is_made_anew_at_another_place(
    changed: Changed, rehearsed: Rehearsal
) -> None:
    report = changed(Faulty(late_cuts=DRAWS - 1))
    assert [said(case, "unflushed writes lost") for case in report["cases"]] == [[], [], ["3"], [], ["3"]]
    ways = [call.split()[3] for call in rehearsed.twin.calls if INTERRUPTION in call]
    assert ways == ["kill", *["freeze"] * DRAWS, "kill", "freeze"]


def test_what_the_programs_are_given_is_on_the_disks_before_the_power_goes(
    changed: Changed, rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = StandIn.put

    def noted(self: StandIn, content: Path | bytes, remote: str, **options: object) -> None:
        self.calls.append(f"put {remote}")
        put(self, content, remote, **options)

    monkeypatch.setattr(StandIn, "put", noted)
    changed(Faulty())
    calls = rehearsed.twin.calls
    struck = [at for at, call in enumerate(calls) if INTERRUPTION in call and not call.startswith("put")]
    for at in struck:
        before = [call for call in calls[:at] if call in ("sync", f"put {GIVEN}")]
        assert before[-1] == "sync"
    assert len(struck) == 4


def test_where_nothing_writes_meanwhile_a_power_cut_may_lose_nothing(
    changed: Changed, rehearsed: Rehearsal
) -> None:
    report = changed(Faulty(flushes=True), new=LAYOUT.replace("/srv/five", "/srv/other"))
    (claim,) = (one for one in report["cases"][2]["claims"] if one["what"] == "unflushed writes lost")
    assert claim["observed"] == "0" and not claim["counts"]
    assert sum(INTERRUPTION in call and not call.startswith("put") for call in rehearsed.twin.calls) == 4


def test_an_apply_that_does_not_run_was_not_interrupted(changed: Changed) -> None:
    report = changed(Faulty(starts=False), code=FINDINGS)
    for case in report["cases"][1:]:
        assert not case["as_predicted"]
        assert said(case, "interrupted") == [f"not, in {DRAWS} attempts: refused: not root"]


@pytest.mark.parametrize(("misses", "code"), [(1, OK), (DRAWS - 1, OK), (DRAWS, FINDINGS)])
def test_a_place_that_is_missed_is_drawn_anew(
    changed: Changed, rehearsed: Rehearsal, misses: int, code: int
) -> None:
    """Of those that miss, every second one is met right before its end: it runs, and its journal is closed then."""
    report = changed(Faulty(misses=misses), code=code)
    assert [case["as_predicted"] for case in report["cases"]] == [True, code == OK, True, True, True]
    struck = [call.split()[4:6] for call in rehearsed.twin.calls if INTERRUPTION in call]
    assert len(struck) == 3 + min(misses + 1, DRAWS) and len({tuple(each) for each in struck}) > 1
    if code != OK:
        assert "it had ended before" in said(report["cases"][1], "interrupted")[0]


def test_what_goes_otherwise_is_found(changed: Changed) -> None:
    assert changed(Faulty(blind=True), code=VOID)["void"]
    lost = changed(Faulty(forgets=True), code=FINDINGS)
    assert not any(case["as_predicted"] for case in lost["cases"][1:])
    unheard = changed(Faulty(unheard=True), code=FINDINGS)
    assert {said(case, "written")[0] for case in unheard["cases"][1:]} == {"0"}


def test_an_apply_that_is_refused_while_an_array_syncs_is_begun_again_after_that(
    changed: Changed, rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut an array without a bitmap syncs, and cannot be changed meanwhile: apply says so, and what to wait for."""
    report = changed(Faulty(syncs=WAITS))
    ends = [said(case, "apply") for case in report["cases"]]
    assert ends == [[], ["ends, once a sync had ended"], ["ends"], ["ends"], ["ends"]]
    calls = rehearsed.twin.calls
    waits = [at for at, call in enumerate(calls) if SYNCED in call]
    assert len(waits) == WAITS
    for at in waits:
        assert "speed_limit_max=400000" in calls[at - 1], "the image has a low one"
        assert " apply " in next(call for call in calls[at:] if "raidplan" in call)
    never = changed(Faulty(syncs=WAITS + 1), code=FINDINGS)
    assert [case["as_predicted"] for case in never["cases"]] == [True, False, True, True, True]
    endless = changed(Faulty(syncs=1, syncs_end=False), code=FINDINGS)
    assert [case["as_predicted"] for case in endless["cases"]] == [True, False, True, True, True]
    assert "refused" in said(endless["cases"][1], "apply")[0]
    monkeypatch.setattr(StandIn, "events", lambda _: [b'{"event": "started", "step": "a"}\n{"eve'])
    refused = changed(Faulty(forgets=True), code=FINDINGS)
    assert all("refused" in said(case, "apply")[0] for case in refused["cases"][1:])
    assert not any(SYNCED in call for call in rehearsed.twin.calls)


def test_each_array_that_syncs_is_waited_for_and_no_frozen_one(tmp_path: Path) -> None:
    for name, action in {"md1": "resync", "md2": "idle", "md3": "frozen", "md4": "recover"}.items():
        (tmp_path / name / "md").mkdir(parents=True)
        (tmp_path / name / "md/sync_action").write_text(f"{action}\n")
    script = SYNCED.replace("/sys/block", str(tmp_path)).replace("mdadm", "echo")
    waited = subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout
    assert waited == "--wait /dev/md1\n--wait /dev/md4\n"


def test_a_writer_that_failed_meanwhile_is_found(changed: Changed) -> None:
    report = changed(Faulty(breaks_off=True), code=FINDINGS)
    assert [case["as_predicted"] for case in report["cases"]] == [True, False, True, False, True], (
        "after each kill"
    )
    assert said(report["cases"][1], "records") == ["69, until the writer met an error: Input/output error"]


def test_a_reader_to_whom_nothing_is_whole_is_no_control(changed: Changed) -> None:
    report = changed(Faulty(misread=True), code=VOID)
    assert said(report["control"], "damage") == ["not whole before"] and not report["as_predicted"]


def test_a_file_system_that_moves_keeps_its_records(changed: Changed, rehearsed: Rehearsal) -> None:
    report = changed(Faulty(), old=MIRROR, new=MIRROR.replace("/srv/five", "/srv/other"))
    assert report["as_predicted"] and not report["void"]
    mounts = json.loads(rehearsed.twin.files[GIVEN])["mounts"]
    assert mounts == {"mirror": "/srv/mirror", "five": "/srv/other"}, "what is written to comes first"
    for case in report["cases"][1:]:
        assert said(case, "records") == ["69", "64"] and said(case, "written") == ["5"]
    assert any("five, whose mount point changes" in each for each in report["untried"])


def test_what_does_not_stay_is_named(changed: Changed) -> None:
    new = MIRROR.replace("  mirror: {device: mirror, type", "  copy: {device: mirror, type")
    report = changed(Faulty(), old=MIRROR, new=new)
    assert any(
        each.startswith("Not read back") and each.endswith("nowhere: mirror.") for each in report["untried"]
    )
    assert [claim["path"] for claim in report["cases"][0]["claims"]] == ["filesystems.five"]


def test_what_has_no_mount_point_is_named(changed: Changed) -> None:
    unmounted = MIRROR.replace(", mount: /srv/mirror", "")
    report = changed(Faulty(), old=unmounted, new=unmounted)
    assert any(
        each.startswith("Not read back") and each.endswith("nowhere: mirror.") for each in report["untried"]
    )


def test_where_nothing_stays_nothing_is_started(changed: Changed, rehearsed: Rehearsal) -> None:
    """No record could be read back, and the control would have none to write over."""
    (rehearsed.folder / "report.json").write_text("{}")
    assert (
        changed(Faulty(), new=LAYOUT.replace("filesystems:\n  five", "filesystems:\n  other"), code=UNABLE)
        == {}
    )
    assert not rehearsed.twin.calls
    assert "without --from" in rehearsed.said()
    changed(Faulty())
    assert "the control, 4 interruptions" in rehearsed.said()


def test_the_page_shows_what_the_control_saw(changed: Changed, rehearsed: Rehearsal) -> None:
    page = rehearsed.folder / "page.html"
    (rehearsed.folder / "report.json").write_text("{}")
    changed(Faulty(), "-o", str(page), "--format", "html")
    assert "a record that was written over: seen" in page.read_text()


def fail_to_give(monkeypatch: pytest.MonkeyPatch, file: str, failure: Exception) -> None:
    """The guest does not give this file."""
    get = StandIn.get

    def fails(self: StandIn, remote: str, **options: object) -> bytes:
        if remote == file:
            raise failure
        return get(self, remote, **options)

    monkeypatch.setattr(StandIn, "get", fails)


def test_events_that_a_guest_does_not_give_are_no_change_without_a_step(
    changed: Changed, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_to_give(monkeypatch, EVENTS, CommandTimeoutError("reading /root/apply.events: no end within 600 s"))
    report = changed(Faulty(), code=FINDINGS)
    assert report["stages"][-1]["name"] == "change" and "no end within" in report["stages"][-1]["detail"]


def test_a_change_without_a_step_cannot_be_interrupted(changed: Changed) -> None:
    report = changed(Faulty(steps=0))
    assert len(report["cases"]) == 1 and any("nothing to interrupt" in each for each in report["untried"])


def test_a_stage_that_fails_keeps_the_control(changed: Changed) -> None:
    report = changed(Faulty(cut_fails=True), code=FINDINGS)
    assert report["control"] and report["versions"]["kernel"] == "6.1.0" and not report["void"]
    assert (
        report["stages"][-1]["name"] == "interruptions"
        and report["stages"][-1]["detail"] == "QEMU does not end"
    )


def test_a_guest_that_is_silent_after_the_change_is_in_the_report(
    changed: Changed, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_to_give(monkeypatch, GIVEN, UnreachableError("the connection broke"))
    report = changed(Faulty(), code=FINDINGS)
    first = report["cases"][0]
    assert said(first, "records") == ["0"] and not first["as_predicted"]


DISKS = """\
version: 1
host: h
hardware: {disks: {DISKS}}
"""


def topology(disks: str, folder: Path, more: str = "") -> Topology:
    file = folder / "layout.yaml"
    file.write_text(DISKS.replace("DISKS", disks) + more)
    found = load(str(file)).topology
    assert found is not None
    return found


def test_a_disk_of_both_layouts_shows_the_identifiers_of_both(tmp_path: Path) -> None:
    one, two = "0x5000c500a0000001", "0x5000c500a0000002"
    old = topology(
        f"a: {{size: 1GiB, wwn: '{one}'}}, b: {{size: 1GiB, serial: B}}, c: {{size: 1GiB, serial: C}}",
        tmp_path,
    )
    new = topology(
        f"x: {{size: 1GiB, wwn: '{one}', serial: X}}, b: {{size: 1GiB, serial: B, wwn: '{two}'}}, c: {{size: 1GiB, serial: D}}",
        tmp_path,
    )
    before, after = subjects_of(old, new)
    found = [(disk.name, disk.serial, disk.wwn) for disk in disks_of_both(before, after)]
    assert found == [("a", "X", one), ("b", "B", two), ("c", "C", ""), ("c_new", "D", "")]


LONG = "X" * 40
"""More than SCSI carries."""
FILE_SYSTEM = "filesystems: {f: {device: DEVICE, type: ext4, mount: /srv/f}}\n"


@pytest.mark.parametrize(
    ("old", "new", "device"),
    [
        (("path: p0", "path: p1"), ("path: p0", "path: p2"), "b"),
        (("path: p0", "path: p1"), ("path: p1", "path: p0"), "a"),
        (("path: p0", "path: p1"), ("path: p1, serial: S", "path: p0, serial: a"), "a"),
        (("path: p0, serial: S", "path: p1"), ("path: p0", "path: p1"), "a"),
        (("wwn: eui.0025385b71b0a1c0", "wwn: eui.0025385b71b0a1c2"), ("wwn: eui.0025385b71b0a1c0", "wwn: eui.0025385b71b0a1c4"), "b"),
        ((f"serial: {LONG}1", f"serial: {LONG}2"), (f"serial: {LONG}2", f"serial: {LONG}3"), "a"),
        (("serial: S", "path: p1"), ("wwn: '0x5000c500a0000001'", "serial: T"), "a"),
        (("serial: S, path: p0", "serial: T, wwn: eui.1"), ("serial: T, wwn: eui.2", "path: p1"), "b"),
        (("path: p0", "serial: a"), ("serial: disk-0", "path: p2"), "b"),
    ],
)  # fmt: skip
def test_disks_are_the_same_in_the_twin_where_diff_says_that_they_are(
    old: tuple[str, str], new: tuple[str, str], device: str, tmp_path: Path
) -> None:
    def layout(disks: tuple[str, str], on: str) -> Topology:
        a, b = disks
        return topology(f"a: {{size: 1GiB, {a}}}, b: {{size: 1GiB, {b}}}", tmp_path, FILE_SYSTEM.replace("DEVICE", on))  # fmt: skip

    was, now = layout(old, "b"), layout(new, device)
    real = judge(was, now)
    before, after = subjects_of(was, now)
    twin = judge(before.topology, after.topology)
    assert twin.disks == real.disks
    assert twin.fate(("filesystems", "f")) is real.fate(("filesystems", "f"))
    assert bool(kept(before, after)) is not real.fate(("filesystems", "f")).loses
    serials = [disk.serial for disk in disks_of_both(before, after)]
    assert len({*serials}) == len(serials) == 4 - len(real.disks)


def test_a_disk_that_another_one_takes_the_place_of_is_another_one_in_the_twin(changed: Changed) -> None:
    """Without an identifier that the twin can show, both were the disk of that name."""
    old = MIRROR.replace("serial: L<1>", "path: p<1>")
    new = old.replace("path: p<1>", "path: <1:p0/q1/p2/q3>")
    report = changed(Faulty(), old=old, new=new)
    assert any(each.startswith("Not read") and each.endswith(": five.") for each in report["untried"])
    assert changed(Faulty(), old=old, new=old)["as_predicted"]


def test_the_report_says_how_the_twin_of_the_old_layout_differs_too(changed: Changed) -> None:
    old = LAYOUT.replace("mount: /srv/five", "mount: /srv/five, options: [ro]")
    report = changed(Faulty(), old=old)
    (said,) = (each for each in report["differences"] if "`ro`" in each)
    assert said.startswith("of the old")
    assert len(report["differences"]) == 2, "what is so of both is said once"


class Unit:
    """A stand-in for the unit in which an apply runs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, events: int) -> None:
        self.group = folder / "group"
        self.group.mkdir()
        (self.group / "cgroup.procs").write_text("17\n")
        (folder / "0.acknowledged").write_text(f"{7:12}")
        self.writer = subprocess.Popen(["sleep", "60"])
        (folder / "pids.json").write_text(json.dumps({"0": self.writer.pid, "swap": _ended()}))
        (folder / "witness.py").write_text(
            f"import sys\nopen({str(folder / 'pressed')!r}, 'w').write(sys.argv[1])"
        )
        for name, value in {
            "GROUP": self.group,
            "EVENTS": folder / "events",
            "LOG": folder / "log",
            "WRITERS": folder,
            "WITNESS": str(folder / "witness.py"),
        }.items():
            monkeypatch.setattr(interruption, name, value)
        monkeypatch.setattr(interruption, "begin", self.begin)
        monkeypatch.setattr(interruption.time, "sleep", self.slept)
        self.folder, self.events, self.waited = folder, events, [0.0]

    def begin(self, command: list[str]) -> None:
        assert command == ["raidplan", "apply", "--events", str(self.folder / "events")]
        (self.folder / "log").write_text("refused: no\n")

    def slept(self, seconds: float) -> None:
        self.waited.append(seconds)
        if seconds == 0.05:  # once it was killed
            (self.group / "cgroup.procs").write_text("")
        elif self.events:
            self.events -= 1
            with (self.folder / "events").open("a") as file:
                file.write(
                    '{"format_version": 1, "event": "started", "step": "x"}\n{"format_version": 1, "event": "done"}\n'
                )
        else:
            (self.group / "cgroup.procs").write_text("")


def _ended() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        return process.pid


@pytest.mark.parametrize(
    ("way", "events", "hit"),
    [("kill", 9, True), ("freeze", 9, True), ("kill", 1, False), ("freeze", 1, False)],
)
def test_the_program_in_the_guest_meets_the_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, events: int, hit: bool
) -> None:
    unit = Unit(tmp_path, monkeypatch, events)
    try:
        met = interruption.main([way, "2", "1.5", "raidplan", "apply"])
        told = (tmp_path / "events").read_text()
        assert met == {"running": hit, "written": {"0": 7}, "said": "refused: no", "events": told}
        assert (unit.group / f"cgroup.{way}").exists() is hit
        assert (1.5 in unit.waited) is hit, "so long after it was begun"
        pressed = tmp_path / "pressed"
        assert (pressed.exists() and pressed.read_text() == "press") is (hit and way == "freeze")
        _, status = os.waitpid(unit.writer.pid, os.WUNTRACED | (0 if way == "freeze" else os.WNOHANG))
        assert os.WIFSTOPPED(status) is (way == "freeze"), "its flushes would keep what the apply wrote"
    finally:
        unit.writer.kill()
        unit.writer.wait()


def test_where_the_witness_does_not_write_nothing_is_pressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interruption, "WRITERS", tmp_path)
    done: list[object] = []
    monkeypatch.setattr(interruption.subprocess, "run", lambda *words, **_: done.append(words))
    monkeypatch.setattr(interruption.os, "kill", lambda *words: done.append(words))
    interruption.press()
    interruption.pause_writers()
    assert done == []
    monkeypatch.setattr(interruption, "writers", lambda: [4194304])
    interruption.press()
    interruption.pause_writers()
    assert len(done) == 2, "they are seen where there is a writer"


def test_the_apply_is_begun_in_a_unit_and_says_what_it_does_to_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = tmp_path / "systemd-run"
    runner.write_text('#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"\n')
    runner.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(interruption, "EVENTS", tmp_path / "events")
    monkeypatch.setattr(interruption, "LOG", tmp_path / "log")
    (tmp_path / "events").write_text("of before")
    interruption.begin(["sh", "-c", "echo one 'two  three'; echo four >&2"])
    assert (tmp_path / "log").read_text() == "one two  three\nfour\n" and not (tmp_path / "events").exists()
    assert interruption.begun() == 0


def test_after_cuts_that_lose_nothing_and_misses_one_that_met_it_is_judged(
    changed: Changed, monkeypatch: pytest.MonkeyPatch
) -> None:
    strike, places = change._strike, list[Any]()

    def cut(run: Any, of: Any, fault: Fault, place: Any) -> Any:
        blow = strike(run, of, fault, place)
        if fault is not Fault.CUT:
            return blow
        places.append(place)
        if len(places) == 1:
            return replace(blow, lost=0)
        return replace(blow, hit=False) if len(places) <= DRAWS else blow

    monkeypatch.setattr(change, "_strike", cut)
    report = changed(Faulty())
    assert said(report["cases"][2], "interrupted") == ["in the middle"]
    assert len(places) == DRAWS + 2 and places[DRAWS] == places[0], "and one for the other cut"
