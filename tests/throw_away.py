"""What is thrown away again shows that a row of "One place for one new thing" is true: a copy of the package with nothing but its files edited."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "raidplan"
PAGE = (ROOT / "docs/internals/architecture.md").read_text()


def cells(heading: str) -> list[list[str]]:
    """The cells of the table below a heading of the page."""
    table = PAGE.partition(f"## {heading}")[2].partition("\n## ")[0]
    found = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in found[2:]]


def python_files(text: str) -> set[str]:
    """The files of the package that a cell names."""
    return {name for name in re.findall(r"`([\w/]+\.py)`", text) if (PACKAGE / name).is_file()}


Edits = Mapping[str, Mapping[str, str]]
"""By file of the package: texts, each once there, and what takes its place; of a new file its whole text takes that of `NEW`."""
NEW = "\n"


class Copied:
    """A copy of the package in which the files that a row names up to a semicolon, and no others, are edited or made."""

    def __init__(self, folder: Path, row: str, edits: Edits) -> None:
        (touch,) = (touch for name, touch, _ in cells("One place for one new thing") if name == row)
        folders = {*re.findall(r"`([\w/]+/)`", touch)}
        made = {name for name in edits if not (PACKAGE / name).exists()}
        needed = python_files(touch.partition(";")[0])
        assert needed <= {*edits} <= needed | made, "what is done is what the row says"
        assert {f"{PurePath(name).parent}/" for name in made} <= folders, "so are the modules that are new"
        shutil.copytree(PACKAGE, folder / "raidplan")
        for name, texts in edits.items():
            file = folder / "raidplan" / name
            text = file.read_text() if name not in made else NEW
            for old, new in texts.items():
                assert text.count(old) == 1, (name, old)
                text = text.replace(old, new)
            file.write_text(text)
        self.folder = folder
        self.environment = {**os.environ, "PYTHONPATH": str(folder)}

    def python(self, *words: str) -> str:
        done = subprocess.run([sys.executable, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    def raidplan(self, *words: str) -> str:
        return self.python("-m", "raidplan", *words)

    def layout(self, name: str, text: str) -> str:
        file = self.folder / f"{name}.yaml"
        file.write_text(text)
        return str(file)
