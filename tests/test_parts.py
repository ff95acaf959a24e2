"""The parts of the whole suite hold all of it, and records are read as they are written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import parts
from tests.imports import Imports


def test_every_test_in_a_virtual_server_is_in_one_part() -> None:
    tests = Path(__file__).parent
    marked = {str(file.relative_to(tests)) for file in tests.rglob("test_*.py") if "mark.machine" in file.read_text() and file != Path(__file__)}  # fmt: skip
    words = [word.partition("::") for each in parts.IN_SERVERS.values() for word in each]
    assert {file for file, _, _ in words if not file.startswith("--")} == marked


def test_every_test_of_a_file_in_two_parts_is_in_one_of_them() -> None:
    words = [word for each in parts.IN_SERVERS.values() for word in each if not word.startswith(parts.BOOTED)]
    left_out = {word.removeprefix("--deselect=tests/") for word in words if word.startswith("--deselect=")}
    assert left_out and left_out == {word for word in words if "::" in word and not word.startswith("--")}


def test_only_records_of_this_commit_on_a_clean_tree_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parts, "RECORDS", tmp_path / "records")
    monkeypatch.setattr(parts, "digest_of", lambda name, commit="now": {"before": "abd"}.get(commit, "abc"))
    monkeypatch.setattr(
        parts.boots, "table", lambda found: [(each, "booted", True) for each in parts.boots.COMBINATIONS]
    )
    record = {"commit": "now", "dirty": False, "code": 0, "seconds": 9, "tests": 3, "failures": 0, "errors": 0, "skipped": 0}  # fmt: skip

    def shown(**change: object) -> bool:
        lines = [
            json.dumps({**record, "part": name, **(change if name == "wipes" else {})})
            for name in parts.parts()
        ]
        (tmp_path / "records").write_text("\n".join(lines) + "\n")
        return parts.show()

    assert shown()
    assert re.search("^wipes +passed: 3 tests, 0 skipped, 9 s$", capsys.readouterr().out, re.MULTILINE)
    assert shown(arguments=parts.parts()["wipes"]) and capsys.readouterr()
    assert not shown(arguments=["--long", "tests/machine/test_wipe.py"]) and capsys.readouterr()
    assert not shown(commit="before")
    assert re.search("^wipes +no record of this code$", capsys.readouterr().out, re.MULTILINE)
    assert not shown(code=1) and re.search("^wipes +FAILED", capsys.readouterr().out, re.MULTILINE)
    assert not shown(dirty=True) and "on a changed tree" in capsys.readouterr().out


def test_a_part_hangs_on_all_code_and_on_no_test_of_another_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def digests(*changed: str) -> dict[str, str]:
        monkeypatch.setattr(parts, "files", lambda _: [f"{line.endswith(changed)}{line}" for line in files])
        return {name: parts.digest_of(name) for name in ("wipes", "wipe-kills", "release", "simulated")}

    def unchanged_by(file: str) -> set[str]:
        return {name for name, digest in digests(file).items() if digest == before[name]}

    files = parts.files("HEAD")
    before = digests("no such file")
    assert unchanged_by("raidplan/plan/step.py") == unchanged_by("tests/conftest.py") == set()
    assert unchanged_by("tests/machine/test_wipe.py") == {"release"}
    assert unchanged_by("tests/release/test_site.py") == {"wipes", "wipe-kills", "simulated"}
    assert unchanged_by("tests/rules/test_said.py") == {"wipes", "wipe-kills", "release"}
    assert (
        unchanged_by("schemas/plan.schema.json") == unchanged_by("tests/parts.py") == {"wipes", "wipe-kills"}
    )


def read_by(name: str, imports: Imports) -> set[Path]:
    """The modules of a part: its tests, and what they import."""
    words = [word.partition("::")[0] for word in parts.parts()[name] if word.startswith("tests")]
    read = {file for file in imports.files if any(file.is_relative_to(parts.ROOT / each) for each in words)}
    read |= {folder / "conftest.py" for file in read for folder in file.parents} & {*imports.files}
    while more := {target for file in read for target in imports.arrows[file]} - read:
        read |= more
    return read


def test_a_part_whose_digest_leaves_the_forms_aside_reads_none() -> None:
    """An installed raidplan has none but in a package."""
    imports = Imports(parts.ROOT / "tests")
    places = [parts.ROOT / each for each in parts.FORMS]
    forms = {
        file
        for file in imports.files
        if any(file.is_relative_to(each) for each in places) or "schemas" in file.read_text()
    }
    assert "wipes" not in parts.OF_FORMS and len(read_by("wipes", imports)) > 5
    found = {name for name in parts.parts() if read_by(name, imports) & forms}
    assert {"simulated", "release", "outside"} <= found <= {*parts.OF_FORMS}


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parts.main(["everything"])
    assert "no such part: everything" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("processes", ["0", "1"])
def test_what_a_marker_leaves_out_is_counted_at_the_end(processes: str, tmp_path: Path) -> None:
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        f"--basetemp={tmp_path / 'of it'}",
        "-n",
        processes,
    ]
    tests = ["-m", "not machine", "--seed=7", "tests/geometry/test_lvm.py", "tests/machine/test_power.py"]
    said = subprocess.run([*argv, *tests], cwd=parts.ROOT, check=True, capture_output=True, text=True).stdout
    assert "left out: 1 tests by -m 'not machine'" in said
    assert "seed 7: --seed=7 draws the same again" in said


DRAWN = """\
import pytest

@pytest.mark.parametrize("number", range(8))
def test_drawn(number, request):
    with open("drawn", "a") as file:
        print(request.config.getoption("seed"), file=file)
"""


@pytest.mark.long
def test_every_process_draws_by_the_seed_that_is_printed(tmp_path: Path) -> None:
    (tmp_path / "test_drawn.py").write_text(DRAWN)
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.conftest",
        f"--rootdir={tmp_path}",
        "-n",
        "2",
        "test_drawn.py",
    ]
    said = subprocess.run(
        argv,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(parts.ROOT)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    (seed,) = set((tmp_path / "drawn").read_text().split())
    assert f"seed {seed}: --seed={seed} draws the same again" in said


SOME = """\
import pytest

@pytest.mark.drawn(3)
@pytest.mark.parametrize("number", range(8))
def test_some(number):
    pass

@pytest.mark.parametrize("number", range(8))
def test_all(number):
    pass
"""


@pytest.mark.long
def test_of_some_tests_every_run_draws_cases_and_the_whole_runs_all(tmp_path: Path) -> None:
    file = tmp_path / "test_some.py"
    file.write_text(SOME)

    def said(*words: str) -> str:
        options = ("-o", "addopts=-rs", "-p", "tests.conftest", "-p", "no:cacheprovider", "-n", "0", "-v")
        argv = [sys.executable, "-m", "pytest", *options, f"--rootdir={tmp_path}", *words, str(file)]
        return subprocess.run(argv, cwd=parts.ROOT, check=True, capture_output=True, text=True).stdout

    def drawn(text: str) -> set[str]:
        return set(re.findall(r"test_some\[(\d)\] PASSED", text))

    runs = [said(f"--seed={seed}") for seed in (1, 2)]
    assert all(len(drawn(each)) == 3 and each.count("PASSED") == 11 for each in runs)
    assert drawn(runs[0]) != drawn(runs[1])
    assert "0 long tests, 5 cases that were not drawn" in runs[0]
    assert said("--long").count("PASSED") == 16
    file.write_text(f"{SOME}\npytestmark = pytest.mark.in_turn(4)\n")
    assert said("--in-turn").count("PASSED") == 4 and said().count("PASSED") == 11
