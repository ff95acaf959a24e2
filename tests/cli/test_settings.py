"""A project's settings, and the options that stand in their place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidplan.cli import run

SCRATCH = "version: 1\nhost: h\nhardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}\narrays: {a: {level: raid0, members: [d<0-1>]}}\n"
"""One warning: no-redundancy."""
TWICE = "version: 1\nhost: h\nhardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}\nfilesystems: {f<0-1>: {device: d<1>, type: xfs, mount: /s}}\n"
"""An error that nobody can accept: duplicate-mount."""


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    folder = tmp_path / "site" / "layouts"
    folder.mkdir(parents=True)
    (folder / "l.yaml").write_text(SCRATCH)
    return folder / "l.yaml"


def rules(layout: Path, capsys: pytest.CaptureFixture[str], *options: str) -> set[str]:
    run(["check", str(layout), "--format", "json", *options])
    return {item["rule"] for item in json.loads(capsys.readouterr().out)["findings"]}


def test_the_nearest_settings_hold(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = layout.parents[1]
    assert "no-redundancy" in rules(layout, capsys)
    (site.parent / ".raidplan.toml").write_text('ignore = ["no-redundancy"]\n')
    assert "no-redundancy" not in rules(layout, capsys)
    (site / "pyproject.toml").write_text("[project]\nname = 'raidplan-layouts'\n[tool.ruff]\n")
    assert "no-redundancy" not in rules(layout, capsys), "a pyproject.toml without our table is passed over"
    (site / "pyproject.toml").write_text("[tool.raidplan]\n")
    assert "no-redundancy" in rules(layout, capsys)
    (site / ".raidplan.toml").write_text('select = ["no-spare"]\n')
    assert "no-redundancy" not in rules(layout, capsys), "of two in one folder the file of our own holds"


def test_settings_are_looked_for_from_the_layout_not_from_here(
    layout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / ".raidplan.toml").write_text('ignore = ["no-redundancy"]\n')
    assert "no-redundancy" in rules(Path("../site/layouts/l.yaml"), capsys)
    (layout.parent / ".raidplan.toml").write_text('ignore = ["no-redundancy"]\n')
    assert "no-redundancy" not in rules(Path("../site/layouts/l.yaml"), capsys)


def test_fail_on(layout: Path) -> None:
    assert run(["check", str(layout)]) == 0
    (layout.parent / ".raidplan.toml").write_text('fail-on = "warning"\n')
    assert run(["check", str(layout)]) == 1
    assert run(["check", str(layout), "--fail-on", "error"]) == 0


def test_each_layout_has_the_settings_of_its_folder(layout: Path, tmp_path: Path) -> None:
    strict = tmp_path / "strict"
    strict.mkdir()
    (strict / "l.yaml").write_text(SCRATCH)
    (strict / ".raidplan.toml").write_text('fail-on = "warning"\n')
    assert run(["check", str(layout)]) == 0
    assert run(["check", str(layout), str(strict / "l.yaml")]) == 1


def test_options_stand_in_place_of_settings(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (layout.parent / ".raidplan.toml").write_text('ignore = ["no-redundancy"]\n')
    assert "no-redundancy" in rules(layout, capsys, "--ignore", "no-spare")
    assert rules(layout, capsys, "--select", "no-redundancy", "--ignore", "no-spare") == {"no-redundancy"}
    assert rules(layout, capsys, "--select", "no-spare, swap-on-raid0", "--select", "swap-on-parity") == set()


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_a_rule_that_does_not_exist(option: str, layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(layout), option, "no-redundncy"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("raidplan: ") and err.count("\n") == 1
    assert "'no-redundncy'" in err and "'no-redundancy'" in err


def test_what_guards_data_cannot_be_ignored(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout.write_text(TWICE)
    assert run(["check", str(layout), "--ignore", "duplicate-mount"]) == 2
    assert "duplicate-mount cannot be ignored" in capsys.readouterr().err
    assert rules(layout, capsys, "--select", "no-spare") == {"duplicate-mount"}


def test_plan_and_apply_hold_to_the_settings(layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--offline", str(layout)]) == 0
    assert "no-redundancy" in capsys.readouterr().out
    (layout.parent / ".raidplan.toml").write_text('ignore = ["no-redundancy"]\n')
    assert run(["plan", "--offline", str(layout)]) == 0
    assert "no-redundancy" not in capsys.readouterr().out
    (layout.parent / ".raidplan.toml").write_text("ignor = []\n")
    for command in (["check"], ["plan", "--offline"], ["apply"]):
        assert run([*command, str(layout)]) == 2
        assert "unknown key 'ignor'; did you mean 'ignore'?" in capsys.readouterr().err


WRONG = {
    "no TOML": ("fail-on = \n", "Invalid value"),
    "not UTF-8": (b"fail-on = '\xff'\n", "can't decode"),
    "unknown key": (
        "paths = []\n",
        "unknown key 'paths'; known here: fail-on, select, ignore, include, exclude",
    ),
    "underscore": ("fail_on = 'note'\n", "unknown key 'fail_on'; did you mean 'fail-on'?"),
    "severity": ("fail-on = 'fatal'\n", "fail-on: fatal is none of error, warning, note; choose one of them"),
    "severity as a list": ("fail-on = []\n", "fail-on: [] is none of error, warning, note"),
    "one name": ("select = 'no-spare'\n", 'select: a list of texts is expected; write ["no-spare"]'),
    "numbers": ("ignore = [1]\n", "ignore: a list of texts is expected"),
    "rule": ("ignore = ['no-spar']\n", "ignore: there is no rule 'no-spar'; did you mean 'no-spare'?"),
    "guard": ("ignore = ['duplicate-mount']\n", "ignore: duplicate-mount cannot be ignored"),
    "large": (" " * 1024**2 + "\n", "larger than 1 MiB"),
    "hostile": ('"\\u001b[31m" = 1\n', "unknown key '\\x1b[31m'"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_wrong_settings_are_said_and_stop(
    text: str | bytes, said: str, layout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = layout.parent / ".raidplan.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert run(["check", str(layout)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"raidplan: {file}: ") and said in err


@pytest.mark.parametrize("text", ["tool = 1\n# raidplan", "[tool]\nraidplan = 1\n"])
def test_a_table_that_is_none(text: str, layout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (layout.parent / "pyproject.toml").write_text(text)
    code = run(["check", str(layout)])
    assert (code, "write [tool.raidplan]" in capsys.readouterr().err) == (
        (2, True) if "[tool]" in text else (0, False)
    )


def test_standard_input_has_the_settings_of_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io

    monkeypatch.chdir(tmp_path)
    (tmp_path / ".raidplan.toml").write_text('fail-on = "warning"\n')
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SCRATCH.encode())))
    assert run(["check", "-"]) == 1
