"""What works without the libraries that are extras, and what is said where one of them is missed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from random import Random

import pytest

from raidplan.cli import EXTRAS
from tests.examples import EXAMPLES

WITHOUT = "import sys; sys.modules.update(dict.fromkeys({missing!r})); from raidplan.cli import run; sys.exit(run(sys.argv[1:]))"
ALL_MISSING = ("pydantic", "jinja2", "markupsafe", "rich")
MISTAKES = """\
version: 1
host: h
hardware: {disks: {a: {serial: A, size: 3T}, b: {serial: B, size: 3TB, rtae: 1}, c: {size: 4TB}}}
arrays: {x: {level: raid7, members: [a, q]}, y: {level: raid6, members: [b, c]}}
filesystems: {z: {device: y, type: ext4, mount: srv, options: ["a b"]}}
"""


def ran(missing: tuple[str, ...], *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", WITHOUT.format(missing=missing), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_the_same_layouts_give_the_same_findings_without_any_extra(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(MISTAKES)
    words = ("check", "--format", "json", *map(str, EXAMPLES), str(wrong))
    with_all, with_none = ran((), *words), ran(ALL_MISSING, *words)
    assert with_all.stdout == with_none.stdout and with_all.returncode == with_none.returncode
    assert with_all.stdout.count('"rule"') > 20 and str(wrong) in with_all.stdout


BROKEN = ["a: [1, 2\nb: 3", "a: {b: 1\nc: 2", "a: b: c", "a:\n\tb: 1", "a: 'x", 'a: "x\\q"', "- a\nb: 1",
    "a: @b", "{a: 1}}", "a\nb: 1", ": a", "a: [1,,2]", "a: >5x\n b", "a: !<x y", "a: b\n- c"]  # fmt: skip
"""YAML that no reader takes; libyaml has other words for it than PyYAML's own reader."""


def test_broken_yaml_is_the_same_finding_without_libyaml(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.yaml" for number, _ in enumerate(BROKEN)]
    for file, text in zip(files, BROKEN, strict=True):
        file.write_text(f"version: 1\n{text}\n")
    words = ("check", "--format", "json", *map(str, files))
    with_it, without = ran((), *words), ran(("yaml._yaml",), *words)
    assert with_it.stdout == without.stdout and with_it.returncode == without.returncode
    assert with_it.stdout.count('"invalid-yaml"') == len(BROKEN)


def damaged(lines: list[str], draw: Random) -> str:
    """A layout with one line taken away, doubled, or with a key or a value that is wrong."""
    number = draw.choice([place for place, line in enumerate(lines) if ":" in line.partition("#")[0]])
    key, colon, value = lines[number].partition(":")
    other = draw.choice(
        [
            "",
            f"{lines[number]}\n{lines[number]}",
            f"{key}{colon} {draw.choice(['7', 'x', '[]', '{}', '3T', '[null]', '-1'])}",
            f"{key}x{colon}{value}",
        ]
    )
    return "\n".join([*lines[:number], other, *lines[number + 1 :]]) + "\n"


def test_damaged_layouts_give_the_same_findings_without_any_extra(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    draw = Random(f"{request.config.getoption('seed')} damaged")
    files = []
    for example in EXAMPLES:
        for number in range(4):
            files.append(tmp_path / f"{example.stem}-{number}.yaml")
            files[-1].write_text(damaged(example.read_text().splitlines(), draw))
    words = ("check", "--format", "json", *map(str, files))
    with_all, with_none = ran((), *words), ran(ALL_MISSING, *words)
    assert with_all.stdout == with_none.stdout and with_all.returncode == with_none.returncode
    assert with_all.stdout.count('"severity": "error"') > len(EXAMPLES)


@pytest.mark.parametrize(
    ("missing", "words", "said"),
    [
        ("jinja2", ("check", "--format", "html", str(EXAMPLES[0])), "this needs Jinja2 3.1.2 or later: pip install 'Jinja2>=3.1.2', or Debian's package python3-jinja2"),
        ("markupsafe", ("check", "--format", "html", str(EXAMPLES[0])), "this needs Jinja2 3.1.2 or later"),
        ("pydantic", ("schema",), "this needs pydantic 2.10 or later: pip install 'pydantic>=2.10', or Debian's package"),
        ("lsprotocol", ("lsp",), "this needs pygls 2.0 or later: pip install 'pygls>=2.0'\n"),
        ("pygls", ("lsp",), "this needs pygls 2.0 or later: pip install 'pygls>=2.0'\n"),
        ("pydantic.json_schema", ("schema",), "this needs pydantic 2.10 or later"),
    ],
)  # fmt: skip
def test_a_missing_extra_is_named(missing: str, words: tuple[str, ...], said: str) -> None:
    result = ran((missing,), *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"raidplan: {said}") and "bug" not in result.stderr


def test_another_missing_module_is_a_bug() -> None:
    result = ran(("raidplan.review",), "check", str(EXAMPLES[0]))
    assert result.returncode == 2 and "this is a bug in raidplan" in result.stderr


def test_progress_is_plain_lines_without_rich() -> None:
    code = (
        "import sys; sys.stderr.isatty = lambda: True; sys.modules.update(dict.fromkeys({missing!r})); "
        "from raidplan.cli.progress import display; print(type(display(1).display).__name__)"
    )
    for missing, kind in ((("rich",), "Lines"), ((), "Live")):
        argv = [sys.executable, "-c", code.format(missing=missing)]
        assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == f"{kind}\n"


def test_the_words_name_libraries_and_bounds_of_the_project() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    wanted = {line.partition(",")[0] for extra in project["optional-dependencies"].values() for line in extra}
    assert {f"{library}>={version}" for library, version, _ in EXTRAS.values()} <= wanted
