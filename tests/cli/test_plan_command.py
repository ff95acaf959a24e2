"""`raidplan plan`, `show` and `explain`: forms, exit codes, and what is printed when there is no plan."""

from __future__ import annotations

import io
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import Decision
from raidplan.apply.preflight.versions import notes
from raidplan.cli import run
from raidplan.facts import DiskFact, Machine
from raidplan.plan.codec import plan_from_json
from raidplan.plan.step import Plan
from raidplan.render.note_words import note_text
from raidplan.review import pipeline
from raidplan.rules import CATALOGUE

LAYOUT = """\
version: 1
host: pair
hardware:
  disks: {d<0-1>: {size: 1TB, serial: PAIR-<1>}}
arrays:
  data: {level: raid1, members: [d<0-1>]}
filesystems:
  data: {device: data, type: ext4, mount: /srv/data, label: "$(x) | @all"}
"""
INVALID = LAYOUT.replace("raid1", "raid7")
WITHOUT_SIZES = LAYOUT.replace("size: 1TB, ", "")
UNWISE = LAYOUT.replace("raid1", "raid5").replace("members", "chunk: 100KiB, members")
FORMS = ("text", "json", "shell", "markdown")


@pytest.fixture
def layout(tmp_path: Path) -> str:
    (tmp_path / "layout.yaml").write_text(LAYOUT)
    return str(tmp_path / "layout.yaml")


def whole(layout: str) -> Plan:
    made, _ = pipeline.plan(pipeline.check(layout))
    assert made is not None
    return made


def machine(**changes: object) -> Machine:
    disks = tuple(DiskFact(f"/dev/sd{n}", f"sd{n}", 10**12, serial=f"PAIR-{n}") for n in range(2))
    modules = {name: {"loaded": False, "loadable": True} for name in ("md_mod", "raid1")}
    return Machine(tuple(replace(disk, **changes) for disk in disks), {"module": modules})  # type: ignore[arg-type]


def facts(tmp_path: Path, value: Machine) -> str:
    (tmp_path / "facts.json").write_text(json.dumps(value.to_data()))
    return str(tmp_path / "facts.json")


def test_a_file_that_is_called_json_is_a_plan_for_apply(layout: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    assert run(["plan", layout, "--offline", "-o", str(file)]) == 0
    assert plan_from_json(file.read_text()).steps == whole(layout).steps


@pytest.mark.parametrize(
    ("name", "starts"),
    [("a.sh", "#!/bin/sh"), ("a.md", "### raidplan"), ("a.html", "<!doctype html>"), ("a.d/a", "Plan for "), ("a", "Plan for ")],
)  # fmt: skip
def test_the_name_of_the_file_tells_the_format(layout: str, name: str, starts: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    assert run(["plan", layout, "--offline", "-o", str(file)]) == 0
    assert file.read_text().startswith(starts)


@pytest.mark.parametrize(
    "words",
    [["-o", "a.png"], ["-o", "a.dot"], ["-o", "plan.jsonl"], ["-o", "p.py"], ["-o", "x.y/a.bmp"], ["-o", "a.svg"],
     ["-o", "a.json", "--format", "text"], ["--format=shell", "-o", "a.html"]],
    ids=" ".join,
)  # fmt: skip
def test_a_name_of_another_format_is_refused(
    layout: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    assert run(["plan", layout, "--offline", *words]) == 2
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("form", FORMS)
def test_offline_in_every_form(layout: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", layout, "--offline", "--format", form]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "mdadm" in out
    starts = {"text": "Plan for pair: ", "json": "{\n", "shell": "#!/bin/sh\n", "markdown": "### raidplan: "}
    assert out.startswith(starts[form])


def test_json_is_a_plan_with_its_findings(layout: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["plan", layout, "--offline", "--format", "json"])
    text = capsys.readouterr().out
    plan = plan_from_json(text)
    assert replace(plan, findings=()) == whole(layout)
    assert set(json.loads(text)) >= {
        "format_version",
        "host",
        "layout_digest",
        "machine_digest",
        "steps",
        "findings",
    }
    assert [item["rule"] for item in plan.findings] == [
        item.finding.rule for item in pipeline.check(layout).findings
    ]


def test_it_is_the_same_every_time(layout: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(["plan", layout, "--offline", "--format", "json", "-o", str(tmp_path / name)])
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_detailed_exit_codes(layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["plan", layout, "--offline", "--detailed-exitcode"]) == 2
    (tmp_path / "empty.yaml").write_text("version: 1\nhost: h\n")
    assert run(["plan", str(tmp_path / "empty.yaml"), "--offline", "--detailed-exitcode"]) == 0
    (tmp_path / "bad.yaml").write_text(INVALID)
    assert run(["plan", str(tmp_path / "bad.yaml"), "--offline", "--detailed-exitcode"]) == 1
    assert run(["plan", layout, "--machine", facts(tmp_path, Machine()), "--detailed-exitcode"]) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("text", "code"), [(INVALID, 2), (UNWISE, 1), (WITHOUT_SIZES, 2), ("[", 2)])
def test_without_a_plan_the_findings_are_printed(
    text: str, code: int, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(text)
    assert run(["plan", str(file), "--offline", "--format", form]) == code
    out, _ = capsys.readouterr()
    findings = pipeline.check(str(file)).findings or pipeline.plan(pipeline.check(str(file)))[1].findings
    assert findings and all(item.finding.rule in out for item in findings)
    if form == "json":
        assert json.loads(out)["steps"] == [] and json.loads(out)["errors"] >= 1
        with pytest.raises(ValueError, match=r"^form "):
            plan_from_json(out)
    if form == "shell":
        assert subprocess.run(["sh", "-c", out], capture_output=True).returncode == 2


def test_a_blank_machine_gets_the_whole_plan(
    layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", layout, "--machine", facts(tmp_path, machine()), "--format", "json"]) == 0
    plan = plan_from_json(capsys.readouterr().out)
    assert plan.steps == whole(layout).steps and plan.machine_digest.startswith("sha256:")
    assert run(["plan", layout, "--machine", facts(tmp_path, machine())]) == 0
    assert "serial PAIR-0  -> /dev/sd0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (Machine(), "d0: no disk has serial PAIR-0"),
        (machine(size=10**12 - 512), "too small"),
        (machine(signatures=("ext4 at 0x438",)), "not blank"),
        (machine(users=("mounted at /",)), "not blank"),
    ],
)
def test_another_machine_is_refused(
    layout: str, tmp_path: Path, found: Machine, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", layout, "--machine", facts(tmp_path, found)]) == 4
    out, err = capsys.readouterr()
    assert out == "" and reason in err and "--offline" in err


def test_what_is_good_to_know_is_said_beside_the_plan(
    layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = machine()
    new = replace(new, kernel="6.19.6", objects={**new.objects, "kernel": {"6.1.0": {}}})
    assert run(["plan", layout, "--machine", facts(tmp_path, new), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert plan_from_json(out).steps == whole(layout).steps
    (found,) = (each for each in notes(whole(layout), new) if each.code == "kernel-cannot-read")
    assert (found.place, found.line) == ("arrays.data", 6)
    assert (found.figures["since"], found.figures["version"]) == ("6.19", "6.1.0")
    assert f"note: {note_text(found)}\n" in err


NAMES = {
    "another": ("vm", True),
    "the same": ("pair", False),
    "with its domain": ("Pair.example.org", False),
    "none": ("localhost", False),
    "unknown": ("", False),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_machine_that_calls_itself_otherwise_is_noted_once(
    name: str, layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host, told = NAMES[name]
    other = replace(machine(), host=host)
    other = replace(other, objects={**other.objects, "kernel": {"6.1.0": {}}})
    words = f"note: this machine is called {host}, but the layout is for pair: "
    assert run(["plan", layout, "--machine", facts(tmp_path, other)]) == 0
    assert capsys.readouterr().err.count(words) == told
    rescue = replace(other, objects={**other.objects, "kernel": {}})
    assert run(["plan", layout, "--machine", facts(tmp_path, rescue)]) == 0
    assert words not in capsys.readouterr().err, "a rescue system is called as its maker called it"
    loops = [replace(disk, kernel_name=f"loop{n}") for n, disk in enumerate(other.disks)]
    assert run(["plan", layout, "--machine", facts(tmp_path, replace(other, disks=tuple(loops)))]) == 0
    assert words not in capsys.readouterr().err, (
        "nor is anybody on the wrong machine who tries it on loop devices"
    )


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format_version": 9}', "[" * 100_000])
def test_facts_that_are_none(
    layout: str, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "facts.json").write_text(text)
    assert run(["plan", layout, "--machine", str(tmp_path / "facts.json")]) == 2
    assert "facts.json" in capsys.readouterr().err
    assert run(["plan", layout, "--machine", "/nonexistent"]) == 2


def test_this_machine_decides(
    layout: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from raidplan.apply.refusal import Refusal
    from raidplan.cli import for_machine

    monkeypatch.setattr(for_machine, "read_for", lambda plan: Machine())
    monkeypatch.setattr(
        for_machine,
        "decide",
        lambda plan, machine, past, here: Decision(
            plan, plan, {}, (Refusal("disk-unmatched", "no-identifier", "d0"),), machine
        ),
    )
    assert run(["plan", layout]) == 4
    assert "refused: d0 has no identifier" in capsys.readouterr().err
    done = replace(whole(layout), steps=())
    monkeypatch.setattr(
        for_machine, "decide", lambda plan, machine, past, here: Decision(plan, done, {}, (), machine)
    )
    assert run(["plan", layout, "--detailed-exitcode"]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_devices_take_the_place_of_identities(
    layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "devices.json").write_text(json.dumps({"host": "pair", "devices": {"d0": "/dev/loop7"}}))
    assert (
        run(["plan", layout, "--offline", "--devices", str(tmp_path / "devices.json"), "--format", "shell"])
        == 0
    )
    out = capsys.readouterr().out
    assert "disk_d0=$(use_device d0 1000000000000 512 /dev/loop7)" in out and "find_disk d1" in out
    (tmp_path / "devices.json").write_text("[]")
    assert run(["plan", layout, "--offline", "--devices", str(tmp_path / "devices.json")]) == 2


def test_show_prints_what_is_meant(
    layout: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", layout]) == 0
    shown = capsys.readouterr().out
    assert "    d1: {serial: PAIR-1, size: 1TB}\n" in shown and "members: [d0, d1]" in shown
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(shown.encode())))
    assert run(["show", "-"]) == 0
    assert capsys.readouterr().out == shown


def test_show_fills_pools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "layout.yaml"
    pool = "{from: [d<0-1>], count: 2, spread: controller}"
    file.write_text(
        LAYOUT.replace("[d<0-1>]", pool)
        .replace("size: 1TB", "behind: c<1>, size: 1TB")
        .replace("  disks", "  controllers: {c<0-1>: {}}\n  disks")
    )
    assert run(["show", str(file)]) == 0
    assert "members: [d0, d1]" in capsys.readouterr().out


def test_show_of_what_is_no_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "layout.yaml").write_text(INVALID)
    assert run(["show", str(tmp_path / "layout.yaml")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "raid7" in err


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(CATALOGUE)
    assert run(["explain", "invalid-chunk"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("invalid-chunk (error, its errors cannot be accepted)\n\n") and "**Bad**" in page
    assert run(["explain", "invalid-chnk"]) == 2
    assert "did you mean 'invalid-chunk'?" in capsys.readouterr().err
