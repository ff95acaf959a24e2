"""`make golden`: make the golden files anew, and say what that changes, for whoever reviews it.

tests/golden holds digests of most plans, which nobody can read. So both sides are made in full: what the code of a
commit gives, and what the code here gives.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory

FIRST = 3
"""So many differing lines of a form are shown."""
OPTION = "--update-golden"
FILES = ("tests", "docs", "schemas", ":!*.py")
"""All that this option writes lies there."""


def main(commit: str) -> int:
    """Update, print the summary, and end as pytest did."""
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-m",
        "not machine",
        OPTION,
        *updated(),
    ]
    code = subprocess.run(words).returncode
    sys.stdout.write(f"\nSince {commit}:\n")
    with TemporaryDirectory() as folder:
        sys.stdout.writelines(f"{line}\n" for line in changes_since(commit, Path(folder)))
    files = ["git", "diff", "--stat", "--stat-width=100", commit, "--", *FILES]
    changed = subprocess.run(files, capture_output=True, text=True, check=True).stdout
    sys.stdout.write(f"\nFiles to review:\n{changed}")
    return code


def updated() -> list[str]:
    """The test files that the option has something to write for, for they ask for it."""
    asking = f'getoption("{OPTION}")'
    return [str(file) for file in sorted(Path("tests").rglob("test_*.py")) if asking in file.read_text()]


def changes_since(commit: str, folder: Path) -> Iterator[str]:
    """The summary of all forms of all examples, of which the folder gets both sides."""
    packed = subprocess.run(["git", "archive", commit], capture_output=True, check=True).stdout
    (folder / "code").mkdir()
    subprocess.run(["tar", "-x", "-C", folder / "code"], input=packed, check=True)
    for code, side in ((folder / "code", "old"), (Path.cwd(), "new")):
        subprocess.run([sys.executable, "-m", "tests.forms", folder / side], cwd=code, check=True)
    yield from summary(
        *({of(file): file.read_text() for file in (folder / side).glob("*/*")} for side in ("old", "new"))
    )


def of(file: Path) -> tuple[str, str]:
    """The example and the form that a file holds."""
    return file.parent.name, file.name


def summary(old: dict[tuple[str, str], str], new: dict[tuple[str, str], str]) -> Iterator[str]:
    """For each form that differs: example, form, how many lines and steps differ, the first of the lines."""
    same = sum(old.get(key) == text for key, text in new.items())
    for example, form in sorted(old.keys() | new.keys()):
        before, after = old.get((example, form)), new.get((example, form))
        if before is None or after is None:
            yield f"{example} {form}: {'new' if before is None else 'gone'}"
        elif before != after:
            yield from _difference(f"{example} {form}", before, after)
    yield f"{same} of {len(new)} forms are as they were"


def _difference(place: str, before: str, after: str) -> Iterator[str]:
    _, _, *told = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    lines = [line for line in told if not line.startswith("@@")]
    gone = sum(line.startswith("-") for line in lines)
    steps = f"; {_steps(before, after)}" if place.endswith("plan.json") else ""
    yield f"{place}: {gone} lines gone, {len(lines) - gone} new{steps}"
    yield from (f"    {line}" for line in lines[:FIRST])


def _steps(before: str, after: str) -> str:
    old, new = ({step["id"]: step for step in json.loads(text)["steps"]} for text in (before, after))
    changed = sum(old[step] != new[step] for step in old.keys() & new.keys())
    return (
        f"steps: {len(old.keys() - new.keys())} gone, {len(new.keys() - old.keys())} new, {changed} changed"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
