"""What is handed out: the same bytes twice, runs with nothing beside it, and leaves the machine as it is."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from raidplan.cli import COMMANDS
from release import debian
from tests.examples import EXAMPLES

pytestmark = [pytest.mark.slow, pytest.mark.network]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two folders, built with another umask, time zone, order of sets and time of day."""
    folders = tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")
    for folder, umask, changed in zip(
        folders,
        (0o022, 0o077),
        ({"TZ": "UTC", "PYTHONHASHSEED": "1"}, {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}),
        strict=True,
    ):
        argv = [sys.executable, "-m", "release", str(folder)]
        subprocess.run(argv, cwd=ROOT, env={**os.environ, **changed}, umask=umask, check=True)
    return folders


def one(folder: Path, pattern: str) -> Path:
    (file,) = folder.glob(pattern)
    return file


def alone(pyz: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The file run by Python with its standard library only."""
    argv = [sys.executable, "-I", "-S", str(pyz), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, cwd=ROOT)


def test_the_same_commit_gives_the_same_bytes(built: tuple[Path, Path]) -> None:
    first, second = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in built)
    assert sorted(Path(name).suffix for name in first) == [".deb", ".gz", ".pyz", ".whl"]
    assert [name for name in first if first[name] != second.get(name)] == []


def test_the_one_file_finds_what_the_sources_find(built: tuple[Path, Path]) -> None:
    pyz, words = one(built[0], "*.pyz"), ("check", "--format", "json", *map(str, EXAMPLES))
    argv = [sys.executable, "-m", "raidplan", *words]
    wanted = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=ROOT)
    found = alone(pyz, *words)
    assert (
        found.stdout == wanted.stdout and found.returncode == wanted.returncode and '"rule"' in found.stdout
    )


def test_the_one_file_does_the_rest_too(built: tuple[Path, Path]) -> None:
    pyz, layout = one(built[0], "*.pyz"), str(ROOT / "examples/raid1-pair.yaml")
    assert alone(pyz, "check", "--format", "html", layout).stdout.startswith("<!DOCTYPE html>")
    assert alone(pyz, "plan", "--offline", "--format", "shell", layout).stdout.startswith("#!/bin/sh\n")
    assert '"memory_bytes"' in alone(pyz, "discover", "facts").stdout, "programs are run"
    schema = alone(pyz, "schema")
    assert schema.returncode == 2 and schema.stderr.startswith("raidplan: this needs pydantic")


def test_the_one_file_has_the_moving_progress(built: tuple[Path, Path]) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(one(built[0], '*.pyz'))!r}); from raidplan.cli.progress import Live\n"
        "with Live(2) as live: print(type(live.progress).__module__)"
    )
    argv = [sys.executable, "-I", "-S", "-c", code]
    assert "rich.progress" in subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def test_lintian_has_nothing_to_say(built: tuple[Path, Path]) -> None:
    argv = ["lintian", "--allow-root", "--fail-on", "error,warning", str(one(built[0], "*.deb"))]
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "")


def test_the_package_holds_a_page_for_every_command_and_completion(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    subprocess.run(["dpkg-deb", "--extract", str(one(built[0], "*.deb")), str(tmp_path)], check=True)
    share = tmp_path / "usr/share"
    pages = {
        file.name: gzip.decompress(file.read_bytes()).decode() for file in (share / "man/man1").iterdir()
    }
    assert set(pages) == {"raidplan.1.gz", *(f"raidplan-{name}.1.gz" for name in COMMANDS)}
    for name, page in pages.items():
        said = subprocess.run(
            ["mandoc", "-T", "lint", "-W", "error"], input=page, capture_output=True, text=True
        )
        assert said.returncode == 0, (name, said.stdout)
    assert "\\-\\-detailed\\-exitcode" in pages["raidplan-plan.1.gz"]
    scripts = ("bash-completion/completions/raidplan", "zsh/vendor-completions/_raidplan", "fish/vendor_completions.d/raidplan.fish")  # fmt: skip
    for script in scripts:
        text = (share / script).read_text()
        assert [name for name in COMMANDS if name not in text] == [] and "detailed-exitcode" in text
    complete = (
        f"source {share / scripts[0]}; COMP_WORDS=(raidplan dis); COMP_CWORD=1; "
        "_shtab_raidplan; echo ${COMPREPLY[@]}"
    )
    assert subprocess.run(["bash", "-c", complete], capture_output=True, text=True).stdout == "discover\n"


def test_maintainer_scripts_touch_nothing_but_our_own_modules(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    subprocess.run(["dpkg-deb", "--control", str(one(built[0], "*.deb")), str(tmp_path)], check=True)
    assert {file.name for file in tmp_path.iterdir()} == {"control", "md5sums", "postinst", "prerm"}
    for name, programs in (("postinst", {"py3compile"}), ("prerm", {"py3clean", "find"})):
        lines = [line.strip() for line in (tmp_path / name).read_text().splitlines()[2:]]
        started = {line.split()[0] for line in lines if not line.startswith(("if ", "else", "fi"))}
        assert started == programs
    assert "/usr/lib/python3/dist-packages/raidplan -name __pycache__" in debian.PRERM
