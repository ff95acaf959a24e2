"""`raidplan diff`: exit codes, forms, findings, and what is no layout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from raidplan.cli import run

MISTAKE, CURE = "examples/forecast-vm-mistake.yaml", "examples/forecast-vm-cure.yaml"
GOOD = "version: 1\nhost: h\nhardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}\narrays:\n  a: {level: raid1, members: [d<0-1>]}\n"


@pytest.fixture
def layout(tmp_path: Path) -> Callable[[str, str], str]:
    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_exit_codes(layout: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", CURE, CURE]) == 0
    assert run(["diff", MISTAKE, CURE]) == 1
    capsys.readouterr()
    assert run(["diff", MISTAKE, CURE, "--allow-destroy"]) == 0
    assert capsys.readouterr().out.endswith("500 GB (465.5 GiB): allowed by --allow-destroy\n")
    assert run(["diff", MISTAKE, "/nonexistent"]) == 2
    assert run(["diff", layout("bad.yaml", "version: 1\n"), CURE]) == 2


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_an_invalid_layout_is_reported_in_every_form(
    form: str, layout: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", CURE, layout("bad.yaml", "version: 1\n"), "--format", form]) == 2
    out, err = capsys.readouterr()
    assert "missing-key" in out.replace("&#45;", "-") and err == ""
    if form == "json":
        assert json.loads(out)["errors"] == 1


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", MISTAKE, CURE, "--format", "json"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert made["format_version"] == 1 and made["destroys"] is True
    (loss,) = made["destroyed_data"]
    assert (loss["name"], loss["device"], loss["disks"]) == ("/srv/forecast", "fc0", ["fc0"])
    assert 499e9 < loss["capacity_bytes"] < 500e9
    (changed,) = made["things"]
    assert {each["key"]: each["in_place"] for each in changed["changes"]} == {
        "reserved": True,
        "inodes": False,
    }
    assert [item["rule"] for item in made["findings"]["gone"]] == ["not-enough-inodes"]
    assert made["findings"]["new"] == [] and made["tolerance"] == []


def test_findings_go_by_rule_and_thing_not_by_line(
    layout: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    old = layout("old.yaml", GOOD)
    moved = layout("new.yaml", GOOD.replace("arrays:", "# a word\n\narrays:").replace("[d<0-1>]", "[d0, d1]"))
    assert run(["diff", old, moved]) == 0
    assert capsys.readouterr().out == "nothing differs\n"
    watched = layout("watched.yaml", GOOD + "monitoring: {mail: root, scrub: monthly}\n")
    assert run(["diff", old, watched, "--format", "json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert "no-alarm" in {item["rule"] for item in findings["gone"]} and findings["new"] == []


def test_the_example_of_the_issue(
    layout: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An array of eight 3 TB disks that is no longer in the layout."""
    old = Path("examples/tel-aviv-jbod.yaml").read_text()
    new = old.replace("s<0-4>", "s<0/1/2/4>").replace("data<0-4>", "data<0/1/2/4>")
    assert run(["diff", layout("old.yaml", old), layout("new.yaml", new)]) == 1
    text = capsys.readouterr().out
    assert "- /data/3 is destroyed: 18 TB (16.4 TiB) on s3 (8 disks: d[0-7]3)" in text


def test_what_is_accepted_now_is_not_gone(
    layout: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    reason = "  # raidplan: allow[no-redundancy] until=2999-01-01 fetched again each night\n"
    old = GOOD.replace("raid1", "raid0")
    new = old.replace("  a:", reason + "  a:")
    sides = [layout("old.yaml", old), layout("new.yaml", new)]
    assert run(["diff", *sides]) == 0
    said = capsys.readouterr().out
    assert "accepted: warning[no-redundancy] at arrays.a.level" in said and "gone: " not in said
    assert "| accepted until 2999-01-01: fetched again each night" in said
    assert run(["diff", *sides, "--format", "json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [each["reason"] for each in findings["accepted"]] == ["fetched again each night"]
    assert findings["gone"] == []
    assert run(["diff", *reversed(sides), "--format", "json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [each["rule"] for each in findings["new"]] == ["no-redundancy"] and not findings["accepted"]
    both = layout("both.yaml", new + "# a word\n")
    assert run(["diff", sides[1], both]) == 0 and capsys.readouterr().out == "nothing differs\n"


def test_a_finding_that_is_graver_now_is_new(
    layout: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    disks = "hardware: {memory: 4GiB, disks: {d<0-3>: {serial: S<1>, size: 3TB}}}"
    old = (
        GOOD.replace(GOOD.splitlines()[2], disks)
        .replace("raid1", "raid6")
        .replace("d<0-1>]", "d<0-3>], stripe_cache_size: 32768")
    )
    sides = layout("old.yaml", old), layout("new.yaml", old.replace("4GiB", "900MiB"))
    assert run(["diff", *sides, "--format", "json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    of = {key: [(each["severity"], each["rule"]) for each in findings[key]] for key in ("new", "gone")}
    assert of == {"new": [("error", "stripe-cache-memory")], "gone": [("warning", "stripe-cache-memory")]}
