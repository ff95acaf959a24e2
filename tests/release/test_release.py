"""What is handed out: the same bytes twice, runs with nothing beside it, and leaves the machine as it is."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from raidplan.cli import COMMANDS
from release import debian
from release.wheel import COMPLETION
from tests.examples import EXAMPLES

pytestmark = [pytest.mark.slow, pytest.mark.network, pytest.mark.in_turn(4)]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all that `make dist` builds."""
    return build(tmp_path_factory.mktemp("dist"), 0o022, TZ="UTC", PYTHONHASHSEED="1")


def build(folder: Path, umask: int, sources: Path = ROOT, **changed: str) -> Path:
    argv = [sys.executable, "-m", "release", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(sources), **changed}
    subprocess.run(argv, cwd=sources, env=environment, umask=umask, check=True)
    return folder


def one(folder: Path, pattern: str) -> Path:
    (file,) = folder.glob(pattern)
    return file


def alone(pyz: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The file run by Python with its standard library only."""
    argv = [sys.executable, "-I", "-S", str(pyz), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.long
def test_the_same_commit_gives_the_same_bytes(tmp_path: Path) -> None:
    """Of two clones: in another folder, made with another umask; built in another time zone and locale, with another order of sets."""
    clones = [tmp_path / "one", tmp_path / "other/of them"]
    for clone, umask in zip(clones, (0o022, 0o077), strict=True):
        clone.parent.mkdir(exist_ok=True)
        argv = ["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)]
        subprocess.run(argv, umask=umask, check=True)
    folders = (
        build(tmp_path / "first", 0o022, clones[0], TZ="UTC", PYTHONHASHSEED="1", LC_ALL="C"),
        build(tmp_path / "second", 0o077, clones[1], TZ="Asia/Tokyo", PYTHONHASHSEED="7", LC_ALL="C.UTF-8"),
    )
    first, second = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders)
    assert sorted(Path(name).suffix for name in first) == [".deb", ".gz", ".gz", ".pyz", ".whl"]
    assert [name for name in first if first[name] != second.get(name)] == []


@pytest.mark.long
def test_the_one_file_finds_what_the_sources_find(built: Path) -> None:
    pyz, words = one(built, "*.pyz"), ("check", "--format", "json", *map(str, EXAMPLES))
    argv = [sys.executable, "-m", "raidplan", *words]
    wanted = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=ROOT)
    found = alone(pyz, *words)
    assert (
        found.stdout == wanted.stdout and found.returncode == wanted.returncode and '"rule"' in found.stdout
    )


@pytest.mark.long
def test_the_one_file_does_the_rest_too(built: Path) -> None:
    pyz, layout = one(built, "*.pyz"), str(ROOT / "examples/raid1-pair.yaml")
    assert alone(pyz, "check", "--format", "html", layout).stdout.startswith("<!doctype html>")
    assert alone(pyz, "plan", "--offline", "--format", "shell", layout).stdout.startswith("#!/bin/sh\n")
    assert '"memory_bytes"' in alone(pyz, "discover", "facts").stdout, "programs are run"
    schema = alone(pyz, "schema")
    assert schema.returncode == 2 and schema.stderr.startswith("raidplan: this needs pydantic")


def test_the_one_file_has_the_moving_progress(built: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(one(built, '*.pyz'))!r}); from raidplan.cli.progress import Live\n"
        "with Live(2) as live: print(type(live.progress).__module__)"
    )
    argv = [sys.executable, "-I", "-S", "-c", code]
    assert "rich.progress" in subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@pytest.mark.long
def test_lintian_has_nothing_to_say(built: Path) -> None:
    argv = ["lintian", "--allow-root", "--fail-on", "error,warning", str(one(built, "*.deb"))]
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "")


def test_what_the_package_points_at_is_in_it(built: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "-x", one(built, "*.deb"), tmp_path], check=True)
    documents = tmp_path / "usr/share/doc/raidplan"
    pages, links = [*documents.rglob("*.md")], 0
    for page in pages:
        for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)\s#]+)", page.read_text()):
            if ":" not in target:
                links += 1
                assert (page.parent / target).exists(), f"{page.name}: {target}"
    assert len(pages) > 20 and links > 50
    for example in (documents / "examples").glob("*.yaml"):
        (schema,) = re.findall(r"\$schema=(\S+)", example.read_text())
        assert (tmp_path / schema.lstrip("/")).exists(), example.name


def test_scripts_are_executable_in_the_package_and_nothing_else_is(built: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "--extract", str(one(built, "*.deb")), str(tmp_path)], check=True)
    files = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert [
        each for each in files if bool(each.stat().st_mode & 0o111) != each.read_bytes().startswith(b"#!")
    ] == []


def test_the_package_holds_a_page_for_every_command_and_completion(built: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "--extract", str(one(built, "*.deb")), str(tmp_path)], check=True)
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


def test_pip_puts_pages_and_completion_beside_the_program(built: Path, tmp_path: Path) -> None:
    argv = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--ignore-installed",
        "--prefix",
        str(tmp_path),
    ]
    subprocess.run([*argv, "--no-compile", str(one(built, "*.whl"))], check=True)
    found = {
        str(each.relative_to(tmp_path / "share"))
        for each in (tmp_path / "share").rglob("*")
        if each.is_file()
    }
    assert found == {
        "man/man1/raidplan.1",
        *(f"man/man1/raidplan-{name}.1" for name in COMMANDS),
        *COMPLETION.values(),
    }
    assert (tmp_path / "bin" / "raidplan").exists()


def test_maintainer_scripts_touch_nothing_but_our_own_modules(built: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "--control", str(one(built, "*.deb")), str(tmp_path)], check=True)
    assert {file.name for file in tmp_path.iterdir()} == {"control", "md5sums", "postinst", "prerm"}
    for name, programs in (("postinst", {"py3compile"}), ("prerm", {"py3clean", "find"})):
        lines = [line.split() for line in (tmp_path / name).read_text().splitlines()[2:]]
        started = {line[0] for line in lines if line[0] not in ("if", "else", "fi")}
        assert started == programs
    assert "/usr/lib/python3/dist-packages/raidplan -name __pycache__" in debian.PRERM
