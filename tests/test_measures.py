"""The command that counts lines and imports."""

from __future__ import annotations

from pathlib import Path

from tests.measures import MOST_GENERATED, ROOT, measures, other_lines


def test_a_tree_is_measured(tmp_path: Path) -> None:
    for name, text in {
        "raidplan/base/a.py": '"""A.\n\nMore."""\nfrom raidplan.facts import b\n',
        "raidplan/facts/b.py": "from raidplan.base import a\n",
        "tests/test_a.py": "x = 1\n",
        "tests/names.txt": "a\nb\n",
        "tests/diff/golden/pair.txt": "a\nb\nc\n",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert dict(measures(tmp_path)) == {
        "lines of Python in raidplan/": "5 in 2 files",
        "median file, longest file": "2, 4 lines",
        "median line, longest line": "18, 28 characters",
        "share of docstrings": "60.0 %",
        "lines of Python in tests/": "1 in 1 files",
        "lines of other text in tests/": "5",
        "generated among them (at most 20,000)": "3",
        "entries of raidplan/ (at most 20)": "2",
        "imports that go up": "1",
        "pairs of folders that import each other": "1",
        "files in circles of imports": "2",
    }


def test_generated_text_has_a_limit() -> None:
    others, generated = other_lines(ROOT / "tests")
    assert 0 < generated <= MOST_GENERATED and generated < others
