"""`python -m tests.measures [COMMIT]`: lines, docstrings, imports that go up, and circles; of a commit too, to compare."""

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


def measures(root: Path) -> Iterator[tuple[str, str]]:
    """The name and the figure of each measure of a tree."""
    python = {folder: [*(root / folder).rglob("*.py")] for folder in ("raidplan", "tests")}
    lines = {
        folder: [len(file.read_text().splitlines()) for file in files] for folder, files in python.items()
    }
    yield "lines of Python in raidplan/", f"{sum(lines['raidplan']):,} in {len(lines['raidplan'])} files"
    yield "median file, longest file", f"{median(lines['raidplan']):.0f}, {max(lines['raidplan'])} lines"
    share = 100 * sum(map(_docstring_lines, python["raidplan"])) / sum(lines["raidplan"])
    yield "share of docstrings", f"{share:.1f} %"
    yield "lines of Python in tests/", f"{sum(lines['tests']):,} in {len(lines['tests'])} files"
    others = [file for file in (root / "tests").rglob("*") if file.is_file() and file.suffix != ".py"]
    yield "lines of other text in tests/", f"{sum(len(file.read_bytes().splitlines()) for file in others):,}"
    imports = Imports(root / "raidplan")
    yield (
        "entries of raidplan/",
        str(len([each for each in (root / "raidplan").iterdir() if each.name != "__pycache__"])),
    )
    yield "imports that go up", str(len(imports.up()))
    yield "pairs of folders that import each other", str(len(imports.pairs()))
    yield "files in circles of imports", str(len(circles(imports.arrows)))


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
    for name, figure in now.items():
        sys.stdout.write(f"{name:42}{before.get(name, ''):>24}{figure:>24}\n")


if __name__ == "__main__":
    main()
