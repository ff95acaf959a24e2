"""The command that counts lines and imports."""

from __future__ import annotations

from pathlib import Path

from tests.measures import measures


def test_a_tree_is_measured(tmp_path: Path) -> None:
    for name, text in {
        "raidplan/base/a.py": '"""A.\n\nMore."""\nfrom raidplan.facts import b\n',
        "raidplan/facts/b.py": "from raidplan.base import a\n",
        "tests/test_a.py": "x = 1\n",
        "tests/golden.txt": "a\nb\n",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert dict(measures(tmp_path)) == {
        "lines of Python in raidplan/": "5 in 2 files",
        "median file, longest file": "2, 4 lines",
        "share of docstrings": "60.0 %",
        "lines of Python in tests/": "1 in 1 files",
        "lines of other text in tests/": "2",
        "entries of raidplan/": "2",
        "imports that go up": "1",
        "pairs of folders that import each other": "1",
        "files in circles of imports": "2",
    }
