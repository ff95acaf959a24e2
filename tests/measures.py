"""`python -m tests.measures [COMMIT]`: lines, docstrings, imports that go up, and circles; of a commit too, to compare.

Imports go up by the floors of today, also those of a commit; of folders that it alone has, none is counted.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.imports import Imports, circles

ROOT = Path(__file__).parents[1]
GENERATED = {"golden", "said", "recorded", "decisions.txt"}
"""The names of folders, and of a file, below tests/ whose text a command makes."""
MOST_GENERATED = 20_000
"""Lines of it: what nobody reads proves nothing."""


def measures(root: Path) -> Iterator[tuple[str, str]]:
    """The name and the figure of each measure of a tree."""
    python = {folder: [*(root / folder).rglob("*.py")] for folder in ("raidplan", "tests")}
    lines = {
        folder: [len(file.read_text().splitlines()) for file in files] for folder, files in python.items()
    }
    yield "lines of Python in raidplan/", f"{sum(lines['raidplan']):,} in {len(lines['raidplan'])} files"
    yield "median file, longest file", f"{median(lines['raidplan']):.0f}, {max(lines['raidplan'])} lines"
    widths = [
        len(line) for file in python["raidplan"] for line in file.read_text().splitlines() if line.strip()
    ]
    yield "median line, longest line", f"{median(widths):.0f}, {max(widths)} characters"
    share = 100 * sum(map(_docstring_lines, python["raidplan"])) / sum(lines["raidplan"])
    yield "share of docstrings", f"{share:.1f} %"
    yield "lines of Python in tests/", f"{sum(lines['tests']):,} in {len(lines['tests'])} files"
    others, generated = other_lines(root / "tests")
    yield "lines of other text in tests/", f"{others:,}"
    yield f"generated among them (at most {MOST_GENERATED:,})", f"{generated:,}"
    imports = Imports(root / "raidplan")
    yield (
        "entries of raidplan/ (at most 20)",
        str(len([each for each in (root / "raidplan").iterdir() if each.name != "__pycache__"])),
    )
    yield "imports that go up", str(len(imports.up()))
    yield "pairs of folders that import each other", str(len(imports.pairs()))
    yield "files in circles of imports", str(len(circles(imports.arrows)))


def other_lines(tests: Path) -> tuple[int, int]:
    """The lines of text that is no Python, and those of them that a command makes; nothing that is packed."""
    found = {
        file.relative_to(tests): len(file.read_bytes().splitlines())
        for file in tests.rglob("*")
        if file.is_file() and file.suffix not in (".py", ".pyc", ".gz")
    }
    generated = (lines for file, lines in found.items() if not GENERATED.isdisjoint(file.parts))
    return sum(found.values()), sum(generated)


def _docstring_lines(file: Path) -> int:
    """The lines of all strings that are statements."""
    nodes = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Expr))
    texts = (
        node for node in nodes if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in texts)


def main() -> None:
    """Prints the measures of the working tree, and of a commit beside them."""
    parser = argparse.ArgumentParser(prog="python -m tests.measures", description=__doc__)
    parser.add_argument("commit", nargs="?", help="a commit to compare with")
    commit: str | None = parser.parse_args().commit
    now = dict(measures(ROOT))
    before: dict[str, str] = {}
    if commit:
        archive = subprocess.run(
            ["git", "archive", commit, "raidplan", "tests"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
            before = dict(measures(Path(folder)))
        sys.stdout.write(f"{'':42}{commit:>24}{'the working tree':>24}\n")
    for name, figure in now.items():
        sys.stdout.write(f"{name:42}{before.get(name, ''):>24}{figure:>24}\n")


if __name__ == "__main__":
    main()
