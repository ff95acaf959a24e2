"""`raidplan check`: exit codes, forms, and files that are anything but a layout."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from raidplan.cli import run

GOOD = "version: 1\nhost: h\n"
UNWISE = """\
version: 1
host: h
hardware:
  disks:
    d<0-2>: {size: 1TB, serial: S<1>, partitions: {data: {size: rest}, swap: {size: 4GiB}}}
arrays:
  a: {level: raid5, members: [d<0-2>.data]}
swap:
  s<0-2>: {device: d<1>.swap, priority: 10}
"""
INVALID = "version: 1\nhost: h\narrays: {a: {level: raid7, members: [x], chnk: 1KiB}}\n"


@pytest.fixture
def layout(tmp_path: Path) -> Callable[..., str]:
    def write(text: str, name: str = "layout.yaml") -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_exit_codes(layout: Callable[..., str]) -> None:
    good, unwise, invalid = layout(GOOD, "g"), layout(UNWISE, "u"), layout(INVALID, "i")
    assert run(["check", good]) == 0
    assert run(["check", unwise]) == 1
    assert run(["check", good, unwise]) == 1
    assert run(["check", invalid]) == 2
    assert run(["check", unwise, invalid, good]) == 2
    assert run(["check", good, "/nonexistent"]) == 2


def test_fail_on(layout: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    mild = layout(
        GOOD
        + "hardware: {disks: {d<0-1>: {size: 1TB, serial: S<1>}}}\narrays: {a: {level: raid1, members: [d<0-1>]}}\n"
    )
    run(["check", mild, "--format", "json"])
    counts = json.loads(capsys.readouterr().out)
    assert counts["errors"] == 0
    for severity in ("error", "warning", "note"):
        at_or_above = (
            counts["errors"]
            + (severity != "error") * counts["warnings"]
            + (severity == "note") * counts["notes"]
        )
        assert run(["check", mild, "--fail-on", severity]) == (1 if at_or_above else 0)


def test_an_invalid_layout_reports_everything_in_every_form(
    layout: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = layout(INVALID)
    assert run(["check", file]) == 2
    text = capsys.readouterr().out
    assert (
        "error[unknown-key]" in text
        and "error[invalid-value]" in text
        and "2 errors, 0 warnings, 0 notes" in text
    )
    assert run(["check", file, "--format", "json"]) == 2
    data = json.loads(capsys.readouterr().out)
    assert data["errors"] == 2 and {item["rule"] for item in data["findings"]} == {
        "unknown-key",
        "invalid-value",
    }
    assert [(item["line"], item["path"]) for item in data["findings"]] == [
        (3, "arrays.a.level"),
        (3, "arrays.a.chnk"),
    ]
    assert all(item["file"] == file for item in data["findings"])


def test_several_layouts_are_told_apart(
    layout: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = layout(INVALID, "one"), layout(UNWISE, "two")
    run(["check", one, two, "--format", "json"])
    files = [item["file"] for item in json.loads(capsys.readouterr().out)["findings"]]
    assert files[:2] == [one, one] and set(files[2:]) == {two}


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(UNWISE.encode())))
    assert run(["check", "-"]) == 1
    text = capsys.readouterr().out
    assert "  --> -:" in text and " | " in text


def test_a_hardware_file_is_named_where_it_is_wrong(
    layout: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    hardware = layout("disks:\n  d0: {size: 3T}\n", "h.hardware.yaml")
    assert run(["check", layout(GOOD + "hardware: h.hardware.yaml\n")]) == 2
    text = capsys.readouterr().out
    assert f"{hardware}:2:14" in text and "d0: {size: 3T}" in text and "^^" in text


def sparse(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(100 * 1024**2)


HOSTILE: dict[str, Callable[[Path], object]] = {
    "missing": lambda file: None,
    "fifo": os.mkfifo,
    "empty": lambda file: file.touch(),
    "only a comment": lambda file: file.write_text("# nothing\n"),
    "100 MB": sparse,
    "binary": lambda file: file.write_bytes(bytes(range(256)) * 100),
    "not UTF-8": lambda file: file.write_bytes(b"version: 1\nhost: caf\xe9\n"),
    "UTF-16": lambda file: file.write_bytes(GOOD.encode("utf-16")),
    "NUL": lambda file: file.write_text("version: 1\nhost: a\0b\n"),
    "tabs": lambda file: file.write_text("version: 1\nhardware:\n\tdisks: {}\n"),
    "duplicate key": lambda file: file.write_text(GOOD + "host: other\n"),
    "deep nesting": lambda file: file.write_text("[" * 200_000),
    "deep mappings": lambda file: file.write_text("{a: " * 100_000),
    "alias bomb": lambda file: file.write_text("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
    "merge key": lambda file: file.write_text("a: {b: 1}\n<<: {c: 2}\n"),
    "tag": lambda file: file.write_text("host: !!python/object/apply:os.system ['touch BAD']\n"),
    "two documents": lambda file: file.write_text(GOOD + "---\n" + GOOD),
    "a list": lambda file: file.write_text("- version: 1\n"),
    "a word": lambda file: file.write_text("hello\n"),
    "escape": lambda file: file.write_text(GOOD + "arrays: {\x1b[31m: 1}\n"),
    "bidi": lambda file: file.write_text(GOOD + "workload: \u202emixed\n"),
    "long line": lambda file: file.write_text(GOOD + "workload: " + "x" * 3_000_000 + "\n"),
    "long range": lambda file: file.write_text(GOOD + "hardware: {disks: {d<0-99999999>: {}}}\n"),
    "many ranges": lambda file: file.write_text(GOOD + "hardware: {disks: {d" + "<0-9>" * 30 + ": {}}}\n"),
    "unclosed": lambda file: file.write_text(GOOD + 'workload: "mixed\n'),
    "keys that are no text": lambda file: file.write_text("[a]: b\n? {c: d}\n: e\n"),
}  # fmt: skip


def test_a_folder_without_a_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(tmp_path), "--format", "json"]) == 2
    assert capsys.readouterr() == ("", f"raidplan: there is no layout in {tmp_path}\n")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", ["text", "json"])
def test_what_is_no_layout_is_a_clear_error(
    name: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "layout.yaml"
    HOSTILE[name](file)
    started = process_time()
    assert run(["check", str(file), "--format", form]) == 2
    assert process_time() - started < 2
    out, err = capsys.readouterr()
    assert err == ""
    assert all(line.isprintable() for line in out.split("\n"))
    assert len(out) < 5000
    assert "error" in out and "layout.yaml" in out


def test_what_is_no_layout_yet_is_said_to_be_looked_at_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Seven errors were mended, and others came that nobody had announced."""
    file = tmp_path / "x.yaml"
    said = []
    for text in (
        "disks: {d: {size: 4}}",
        "disks: {d: {serial: S, size: 4TB}}",
        "disks: {d: {serial: S, size: 1MiB, partitions: {p: {size: 1GiB}}}}",
    ):
        file.write_text(f"version: 1\nhost: h\nhardware: {{{text}}}\n")
        run(["check", str(file)])
        said.append(
            capsys.readouterr().out.endswith(
                "\nfix these first: the other checks run only on a layout that can be read\n"
            )
        )
    assert said == [True, False, False]
