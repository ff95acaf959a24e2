"""The verdict, the exit code and the report of a rehearsal, with a stand-in for the virtual machine; mistakes of its user."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raidplan.cli import FINDINGS, UNABLE, VOID, run
from raidplan.cli import rehearse as command
from raidplan.cli.output import Unable
from raidplan.twin.rehearsal import stages
from raidplan.twin.rehearsal.host import CONSOLE
from raidplan.twin.rehearsal.subject import Unsuited, subject_of
from raidplan.twin.server import Image
from raidplan.twin.server.image import KEY
from tests.rehearsal.conftest import ENCRYPTED, LAYOUT, Rehearsal, topology_of
from tests.rehearsal.stand_in import Faulty

HEAD = "version: 1\nhost: h\n"
DISKS = HEAD + "hardware: {disks: {DISKS}}\n"


def untried(report: dict[str, Any]) -> str:
    return "\n".join(report["untried"])


def test_a_stage_that_fails_after_the_control_is_no_void_rehearsal(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(cut_fails=True), "--faults", "boot:machine,d0", code=FINDINGS)
    assert report["control"]["observed"] and report["versions"]["kernel"] == "6.1.0"
    assert not report["void"] and not report["as_predicted"] and report["cases"]
    assert report["stages"][-1] | {"began": 0, "seconds": 0} == {
        "name": "boots", "began": 0, "seconds": 0, "passed": False, "detail": "QEMU does not end",
    }  # fmt: skip


def test_what_is_void_is_not_as_predicted(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(survives_all=True), "--faults", "boot:d1", code=VOID)
    assert report["void"] and not report["as_predicted"]


def test_a_host_without_room_ends_the_stage(rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tests.rehearsal.stand_in.StandIn.save", full)
    report = rehearsed(Faulty(), "--faults", "d0", code=FINDINGS)
    assert "No space left on device" in report["stages"][-1]["detail"]


@pytest.mark.parametrize("words", ["", ",", "disks,", "none,d0", "disks,,media", "boot:", ":"])
def test_an_empty_choice_is_a_mistake(rehearsed: Rehearsal, words: str) -> None:
    _refused(rehearsed, "--faults", words, says=f"--faults {words}")


def test_a_choice_of_which_the_layout_has_nothing_is_a_mistake(rehearsed: Rehearsal) -> None:
    _refused(rehearsed, "--faults", "pairs", "--pairs", "0", says="--pairs 0 draws no pair")
    large = LAYOUT.replace("size: 1GiB", "size: 100GiB")
    _refused(rehearsed, "--faults", "replaced", text=large, says="nothing would be tried")
    _refused(rehearsed, "--faults", "replaced:d0", text=large, says="takes disks of at most 16 GiB")
    _refused(rehearsed, "--faults", "media:d9", says="takes arrays with redundancy")
    _refused(rehearsed, "--faults", "disk", says="none of all, none, disks, components")
    assert rehearsed(Faulty(), "--faults", "none", text=large)["untried"] == ["No fault was tried."]


def test_a_layout_that_cannot_be_rehearsed_says_why_in_the_place_of_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By that ci/review tells it from what went wrong; what a name in it holds is no markup."""
    layout, report = tmp_path / "layout.yaml", tmp_path / "report.md"
    layout.write_text(HEAD + "hardware: {disks: {'a': {serial: A}}}\n")
    words = ["rehearse", str(layout)]
    assert run([*words, "-o", str(report)]) == UNABLE
    (line,) = report.read_text().splitlines()
    assert line.startswith("**h: not rehearsed**: a: a disk") and "&#96;size:&#96;" in line
    assert "state `size:`" in capsys.readouterr().err
    assert run([*words, "--format", "json"]) == UNABLE and not capsys.readouterr().out
    report.unlink()
    assert run([*words, "--faults", "all", "--measure", "-o", str(report)]) == UNABLE, "options first"
    assert not report.exists()


@pytest.mark.parametrize(("words", "suits"), [("replaced", False), ("replaced,d9", True), ("d9", True)])
def test_only_words_that_every_layout_may_have_cases_of_are_no_mistake(
    rehearsed: Rehearsal, words: str, suits: bool
) -> None:
    report = rehearsed.folder / "report.md"
    large = LAYOUT.replace("size: 1GiB", "size: 100GiB")
    _refused(rehearsed, "--faults", words, "-o", str(report), text=large, says="--faults")
    assert report.exists() is not suits


def test_without_an_array_there_is_nothing_to_measure(rehearsed: Rehearsal) -> None:
    one = (
        DISKS.replace("DISKS", "a: {size: 1GiB, serial: A}")
        + "filesystems: {x: {device: a, type: ext4, mount: /srv/x}}\n"
    )
    _refused(rehearsed, "--measure", text=one, says="the layout has no array, so there is nothing to measure")


def test_words_combine_and_each_case_is_tried_once(rehearsed: Rehearsal) -> None:
    def cases(words: str) -> list[tuple[str, str, str]]:
        found = rehearsed(Faulty(), "--faults", words)["cases"]
        return [(case["fault"], case["kind"], case["name"]) for case in found]

    assert cases("all,d0") == cases("all") and len(cases("d0,disks")) == 4


@pytest.mark.parametrize(
    "words",
    [("--measure",), ("--faults", "nonsense"), ("--pairs", "3"), ("--shell",)],
    ids=lambda words: words[0],
)
def test_an_option_without_effect_is_refused(rehearsed: Rehearsal, words: tuple[str, ...]) -> None:
    old = rehearsed.folder / "old.yaml"
    old.write_text(LAYOUT.replace("BOOT", ""))
    _refused(rehearsed, "--from", str(old), *words, says=words[0])
    if words[0] != "--measure":
        _refused(rehearsed, "--measure", *words, says=f"{words[0]} has no effect beside --measure")


@pytest.mark.parametrize("words", [("--pairs", "-1"), ("--scale", "0"), ("--scale", "-2"), ("--pairs", "x")])
def test_numbers_have_a_least_one(words: tuple[str, ...]) -> None:
    assert run(["rehearse", "examples/raid1-pair.yaml", *words]) == UNABLE


def _refused(rehearsed: Rehearsal, *words: str, says: str, text: str = LAYOUT) -> None:
    (rehearsed.folder / "report.json").write_text("{}")
    assert rehearsed(Faulty(), *words, text=text, code=UNABLE) == {}
    assert not rehearsed.twin.calls, "nothing was started"
    assert says in rehearsed.said()


def test_what_was_not_tried_is_said(rehearsed: Rehearsal) -> None:
    large = rehearsed(Faulty(), "--pairs", "1", text=LAYOUT.replace("size: 1GiB", "size: 100GiB"))
    assert "takes hours in emulation (--scale divides sizes): d0, d1, d2, d3." in untried(large)
    assert "1 of 4 pairs of disks" in untried(large)
    assert "the way back" in untried(large) and "Only one disk was slow: d0." in untried(large)
    assert "No place was damaged below mirror" in untried(large)
    assert "Not chosen" not in untried(large)
    some = rehearsed(Faulty(), "--faults", "d1,media")
    assert "Not chosen, or of single parts only: disks, components, pairs, replaced, boot" in untried(some)
    for form in ("text", "markdown", "html"):
        file = rehearsed.folder / f"said.{form}"
        rehearsed(Faulty(), "--faults", "d1", "-o", str(file), "--format", form)
        assert "Not chosen, or of single parts only" in file.read_text()


def test_three_disks_at_once_and_what_is_not_mounted_are_said_not_to_be_tried(rehearsed: Rehearsal) -> None:
    four = LAYOUT.replace("members: [d0.p, d2.p]", "members: [d<0-3>.p]").replace(", mount: /srv/five", "")
    report = rehearsed(Faulty(), "--faults", "pairs", text=four)
    assert "Three disks" in untried(report) and "would not stop mirror" in untried(report)
    assert "no mount point: five." in untried(report)
    fewer = untried(rehearsed(Faulty(), "--faults", "pairs"))
    assert "Three disks" in fewer and "would not stop" not in fewer


def test_a_single_disk_has_no_other_place(rehearsed: Rehearsal) -> None:
    one = DISKS.replace("DISKS", "a: {size: 1GiB, serial: A}") + "filesystems: {x: {device: a, type: ext4, mount: /srv/x}}\n"  # fmt: skip
    faults = [case["fault"] for case in rehearsed(Faulty(), "--faults", "boot", text=one)["cases"]]
    assert faults == ["absent", "power"]


def test_the_second_parity_is_not_damaged_and_that_is_said(rehearsed: Rehearsal) -> None:
    six = rehearsed(Faulty(), "--faults", "media", text=LAYOUT.replace("raid5", "raid6"))
    assert "(P)" in untried(six)
    assert "(P)" not in untried(rehearsed(Faulty(), "--faults", "media"))


@pytest.mark.parametrize(
    ("given", "left", "said"),
    [
        ("noauto, noatime", ["noatime", "nofail"], "`noauto` is left out of five: of what is not mounted at boot"),
        ("ro", [], "`ro` is left out of five: of what is not written to nothing could be seen"),
        ("noatime", ["noatime"], ""),
    ],
)  # fmt: skip
def test_what_keeps_a_file_system_from_being_seen_is_left_out(
    given: str, left: list[str], said: str, tmp_path: Path
) -> None:
    subject = subject_of(topology_of(LAYOUT.replace("mount: /srv/five", f"mount: /srv/five, options: [{given}]").replace("BOOT", ""), tmp_path))  # fmt: skip
    entry = subject.topology.layout.filesystems["five"]
    assert [each for each in entry.options if "timeout" not in each] == left and not entry.stops_boot
    assert said in "\n".join(subject.differences)


def test_several_swap_areas_are_told_apart_by_nobody(rehearsed: Rehearsal) -> None:
    two = LAYOUT.replace("swap: {", "swap: {more: {device: d1.p}, ")
    assert "several swap areas" in untried(rehearsed(Faulty(), "--faults", "d1", text=two))
    assert "several swap areas" not in untried(rehearsed(Faulty(), "--faults", "d1"))


def test_the_digest_is_that_of_the_layout(rehearsed: Rehearsal, capsys: pytest.CaptureFixture[str]) -> None:
    report = rehearsed(Faulty(), "--faults", "none", "--scale", "2")
    file = rehearsed.folder / "layout.yaml"
    capsys.readouterr()
    run(["plan", "--offline", str(file), "--format", "json"])
    digest = json.loads(capsys.readouterr().out)["layout_digest"]
    assert report["layout_digest"] == digest and report["old_layout_digest"] is None
    old = rehearsed.folder / "old.yaml"
    old.write_text(file.read_text())
    new = LAYOUT.replace("size: 1GiB", "size: 2GiB")
    change = rehearsed(Faulty(), "--from", str(old), text=new)
    assert change["old_layout_digest"] == digest != change["layout_digest"]


def test_the_command_repeats_it(rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> None:
    report = rehearsed(Faulty(), "--faults", "d0")
    assert report["command"].endswith("--faults d0 --pairs 6 --scale 1 --seed 1 --suite bookworm")
    monkeypatch.setattr(command, "image_in", lambda folder: Image(folder, folder / KEY))
    report = rehearsed(Faulty(), "--faults", "d0", "--image", "/srv/my image")
    assert report["command"].endswith("--seed 1 --image '/srv/my image'")


def test_a_comment_says_why_a_stage_failed(rehearsed: Rehearsal) -> None:
    file = rehearsed.folder / "report.md"
    (rehearsed.folder / "report.json").write_text("{}")
    rehearsed(Faulty(boots=False), "-o", str(file), "--format", "markdown", code=FINDINGS)
    assert "boot: **failed**" in file.read_text() and "  > the guest gave up booting<br>" in file.read_text()
    assert "Kernel panic" in file.read_text()


def test_the_report_has_versions_and_a_time_line(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raidplan.twin.rehearsal.stages.emulator", lambda: "7.2.11")
    report = rehearsed(Faulty(), "--faults", "d0,boot:d0")
    assert report["versions"] == {
        "raidplan": "0.1.0", "QEMU": "7.2.11 (tcg)", "kernel": "6.1.0", "mdadm": "v4.2", "Debian": "12.5",
        "initramfs-tools": "0.142",
    }  # fmt: skip
    began = [each["began"] for each in report["stages"]]
    assert began == sorted(began) and began[0] >= 0
    assert {"began"} < {*report["cases"][0]} and {"began"} < {*report["control"]}
    page = rehearsed.folder / "page.html"
    rehearsed(Faulty(), "--faults", "d0,boot:d0", "-o", str(page), "--format", "html")
    assert page.read_text().count('style="margin-left: ') == len(report["stages"]) + len(report["cases"])


def test_cases_stand_in_the_time_line_where_they_were_tried(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1e9]  # the start of a run is taken from the true one

    def later() -> float:
        clock[0] += 1.0
        return clock[0]

    monkeypatch.setattr("time.monotonic", later)
    report = rehearsed(Faulty(), "--faults", "disks")
    stages = {stage["name"]: stage for stage in report["stages"]}
    faults = stages["faults"]
    began = [case["began"] for case in report["cases"]]
    assert began == sorted(began) and len({*began}) == 4
    assert (
        faults["began"] < began[0]
        and began[-1] < faults["began"] + faults["seconds"] < stages["control"]["began"] + 1
    )


def test_logs_are_left_where_they_are_asked_for(rehearsed: Rehearsal) -> None:
    logs = rehearsed.folder / "logs"
    rehearsed(Faulty(), "--faults", "d0", "--logs", str(logs))
    assert rehearsed.twin.shown_in == logs / CONSOLE
    events = [json.loads(line) for line in (logs / "apply-1.jsonl").read_text().splitlines()]
    assert events[0]["event"] == "started"
    assert sorted(file.name for file in logs.iterdir()) == [f"apply-{number}.jsonl" for number in (1, 2, 3)]
    failed = rehearsed.folder / "failed"
    rehearsed(Faulty(settles=False), "--faults", "d0", "--logs", str(failed), code=FINDINGS)
    assert (failed / "apply-2.jsonl").exists(), "of the one that went wrong too"
    rehearsed(Faulty(), "--faults", "d0")
    assert rehearsed.twin.shown_in is None


@pytest.mark.parametrize(
    ("disks", "words"),
    [
        ("", "no disks"),
        ("a: {size: 4096000512B, serial: A, logical_block: 4096}", "blocks of 4096"),
        ("a: {size: 4GiB, serial: A, logical_block: 512, physical_block: 8192}", "8192"),
        ("a: {size: 1B, serial: A}", "disk"),
    ],
)
def test_disks_that_no_virtual_machine_has_are_refused(disks: str, words: str, tmp_path: Path) -> None:
    topology = topology_of(DISKS.replace("DISKS", disks) if disks else HEAD, tmp_path)
    with pytest.raises(Unsuited, match=words):
        subject_of(topology)


def test_too_many_controllers_are_refused(tmp_path: Path) -> None:
    many = "hardware:\n  controllers: {c<000-199>: {ports: 4}}\n  disks: {d<000-199>: {behind: c<1>, port: 0, size: 1TB, serial: S<1>}}\n"
    with pytest.raises(Unsuited, match="200 controllers"):
        subject_of(topology_of(HEAD + many, tmp_path))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("serial", "A" * 40), ("serial", "A  B"), ("serial", "Ä1"), ("model", "Größe"), ("model", "a name of more than 16"),
        ("wwn", "eui.0025385b71b0a1c2"), ("wwn", "0x5000C500A0000000"), ("wwn", "0x5000c500a00000005000c500a0000000"),
    ],
)  # fmt: skip
def test_an_identifier_that_a_virtual_disk_cannot_show_is_left_out(
    key: str, value: str, tmp_path: Path
) -> None:
    subject = subject_of(
        topology_of(DISKS.replace("DISKS", f"a: {{size: 1GiB, {key}: '{value}'}}"), tmp_path)
    )
    disk = subject.topology.layout.hardware.disks["a"]
    assert getattr(disk, key) in (None, "a") and disk.serial == "a"
    assert any(each.startswith(f"1 disk: `{key}` is left out") for each in subject.differences)


def test_a_long_name_is_no_serial_number(tmp_path: Path) -> None:
    subject = subject_of(topology_of(DISKS.replace("DISKS", f"{'a' * 50}: {{size: 1GiB}}"), tmp_path))
    assert subject.topology.layout.hardware.disks["a" * 50].serial == "disk-0"


@pytest.mark.parametrize("place", ["nowhere/report.json", "folder.json", "file/report.json"])
def test_a_place_that_cannot_be_written_is_said_at_once(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (rehearsed.folder / "folder.json").mkdir()
    (rehearsed.folder / "file").touch()
    before = sorted(rehearsed.folder.iterdir())
    _refused(rehearsed, "-o", str(rehearsed.folder / place), says="cannot write")
    assert {*rehearsed.folder.iterdir()} - {*before} <= {
        rehearsed.folder / "layout.yaml",
        rehearsed.folder / "report.json",
    }


def test_a_report_that_cannot_be_written_in_the_end_is_said(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise Unable("cannot write report.json: No space left on device")

    monkeypatch.setattr(command, "emit", full)
    (rehearsed.folder / "report.json").write_text("{}")
    rehearsed(Faulty(), "--faults", "d0", code=UNABLE)
    said = rehearsed.said()
    assert "No space left on device" in said and "levels: 12 of 12 predictions were observed" in said


@pytest.mark.parametrize("option", ["--keep", "--logs"])
def test_a_folder_that_cannot_be_made_is_said_at_once(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    monkeypatch.setattr(shutil, "which", lambda program, **_: program)
    (tmp_path / "file").touch()
    assert run(["rehearse", "examples/raid1-pair.yaml", option, f"{tmp_path}/file/x"]) == UNABLE
    assert f"{option} {tmp_path}/file/x: no folder can be made or written there" in capsys.readouterr().err


def test_logs_of_another_rehearsal_are_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    monkeypatch.setattr(shutil, "which", lambda program, **_: program)
    (tmp_path / CONSOLE).touch()
    assert run(["rehearse", "examples/raid1-pair.yaml", "--logs", str(tmp_path)]) == UNABLE
    assert "name another folder" in capsys.readouterr().err


def test_without_a_case_there_is_no_conclusion(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(), "--faults", "none")
    assert report["as_predicted"] is None and report["control"] is None and not report["void"]
    for form in ("text", "markdown", "html"):
        file = rehearsed.folder / f"said.{form}"
        rehearsed(Faulty(), "--faults", "none", "-o", str(file), "--format", form)
        assert "nothing was predicted" in file.read_text()
    assert rehearsed(Faulty(settles=False), "--faults", "none", code=FINDINGS)["as_predicted"] is False


def test_the_files_stay_in_the_folder_that_was_named(rehearsed: Rehearsal) -> None:
    folder = rehearsed.folder / "kept"
    rehearsed(Faulty(), "--faults", "none", "--keep", str(folder))
    assert rehearsed.twin.kept_in == folder
    rehearsed(Faulty(), "--faults", "none")
    assert rehearsed.twin.kept_in is None


def test_the_shell_is_opened_once_the_layout_stands(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[list[str]] = []
    own = SimpleNamespace(run=lambda words, **_: opened.append(words))
    monkeypatch.setattr(stages, "subprocess", own)
    report = rehearsed(Faulty(), "--faults", "d1", "--shell")
    assert opened == [["ssh", "-t", "-F", str(rehearsed.twin.ssh_config), "twin"]]
    names = [stage["name"] for stage in report["stages"]]
    assert names[names.index("read back") + 1 :][:2] == ["shell", "prepare"]


def test_arrays_without_a_blank_or_a_stale_boot_are_named(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(), "--faults", "boot", text=ENCRYPTED)
    assert not {"blank", "stale"} & {case["fault"] for case in report["cases"]}
    assert "blank member of safe," in untried(report) and "stale member of safe:" in untried(report)
    both = untried(rehearsed(Faulty(), "--faults", "boot"))
    assert "blank member" not in both and "stale member" not in both


def test_the_stale_disk_is_one_that_nothing_stops_without(rehearsed: Rehearsal) -> None:
    """The first member is on a disk with more on it, the second is not."""
    plain = LAYOUT.replace("filesystems:\n", "filesystems:\n  x: {device: d0.r, type: ext4, mount: /srv/x}\n")
    report = rehearsed(Faulty(), "--faults", "boot", text=plain)
    names = {fault: [case["name"] for case in report["cases"] if case["fault"] == fault] for fault in ("blank", "stale")}  # fmt: skip
    assert names == {"blank": ["d0"], "stale": ["d1", "d2"]}
    assert "stale member" not in untried(report)
    assert "the way back" in untried(report), "d0 is not put back after the boot without it"
    assert "the way back" not in untried(rehearsed(Faulty(), "--faults", "boot:d1", text=plain))


BELOW = """\
version: 1
host: below
hardware: {disks: {d<0-2>: {serial: B<1>, size: SIZE}}}
arrays: {five: {level: raid5, members: [d<0-2>]}}
volume_groups: {v: {devices: [five], volumes: {a: {size: 512MiB}}}}
filesystems: {a: {device: v.a, type: ext4, mount: /srv/a}}
"""


@pytest.mark.parametrize(("size", "whole"), [("1GiB", True), ("4GiB", False)])
def test_an_array_below_a_volume_is_checked_whole_or_its_check_does_not_count(
    rehearsed: Rehearsal, size: str, whole: bool
) -> None:
    text = BELOW.replace("SIZE", size)
    report = rehearsed(Faulty(), "--faults", "d1", text=text)
    (claim,) = report["cases"][0]["claims"]
    assert claim["what"] == "mismatches" and claim["as_predicted"] and claim["counts"] is whole
    checks = [call for call in rehearsed.twin.calls if "mismatch_cnt" in call]
    assert len(checks) == whole and ("not counted" in untried(report)) is not whole
    found = rehearsed(Faulty(differs=True), "--faults", "d1", text=text, code=FINDINGS)
    assert found["cases"][0]["claims"][0]["counts"], "what does not agree counts everywhere"
