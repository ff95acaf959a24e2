"""Imports go down: every folder stands on a floor, and no file takes part in a circle, not even for type checks."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.imports import FLOORS, Imports, circles

PACKAGE = Path(__file__).parents[1] / "raidplan"
IMPORTS = Imports(PACKAGE)


def test_every_room_has_a_floor() -> None:
    rooms = {IMPORTS.room(file) for file in IMPORTS.files if file.name != "__init__.py"}
    assert rooms == set(FLOORS)


def test_no_import_goes_up() -> None:
    assert len(IMPORTS.arrows) > 400 and IMPORTS.up() == []


def test_modules_whose_names_are_made_while_it_runs_are_of_the_same_folder() -> None:
    """No arrow is drawn for these."""
    found = {
        f"{file.relative_to(PACKAGE)}: {ast.unparse(call.args[0])}"
        for file in IMPORTS.files
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(("import_module", "__import__"))
    }
    assert found == {
        "cli/__init__.py: f'raidplan.cli.{command}'",
        "render/forms.py: f'raidplan.render.{FORMS[form]}'",
        "rules/__init__.py: f'{__name__}.{_module}'",
    }


def test_few_folders_of_the_root_stand_on_several_floors() -> None:
    """Of one that has a folder of its own higher up, the drawing shows which."""
    assert IMPORTS.pairs(IMPORTS.first_folder) == {
        frozenset(("base", "geometry")), frozenset(("base", "plan")), frozenset(("render", "twin")),
    }, "base/filesystems, render/rehearsal"  # fmt: skip


def test_an_import_that_goes_up_is_found(tmp_path: Path) -> None:
    for name, text in {
        "base/a.py": "from raidplan.cli import b\n",
        "cli/b.py": "import raidplan.base.a\n",
    }.items():
        file = tmp_path / "raidplan" / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    found = Imports(tmp_path / "raidplan")
    assert found.up() == ["base/a.py imports cli/b.py"] and found.pairs() == {frozenset(("base", "cli"))}
    assert len(circles(found.arrows)) == 2


@pytest.mark.parametrize("folder", ["apply", "twin", "."])
def test_an_init_stands_on_the_lowest_floor_of_its_folder(folder: str, tmp_path: Path) -> None:
    package = tmp_path / "raidplan"
    for name, text in {
        f"{folder}/__init__.py": "from raidplan.cli import b\n",
        "apply/note.py": "",
        "twin/loops/a.py": "",
        "cli/b.py": "",
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    assert Imports(package).up() == [f"{Path(folder, '__init__.py')} imports cli/b.py"]


def test_no_file_takes_part_in_a_circle() -> None:
    assert {str(file.relative_to(PACKAGE).with_suffix("")) for file in circles(IMPORTS.arrows)} == set()


def test_a_circle_is_found() -> None:
    a, b, c, d = map(Path, "abcd")
    assert circles({a: [b], b: [c], c: [b], d: [a]}) == {b, c}


def test_the_root_can_be_read_at_a_glance() -> None:
    """At most 20 entries, each in the drawing at the head of docs/internals/architecture.md."""
    drawing = (PACKAGE.parent / "docs/internals/architecture.md").read_text().split("```")[1]
    entries = [entry.name for entry in PACKAGE.iterdir() if entry.name not in ("__pycache__", "py.typed")]
    assert len(entries) <= 20
    entries = [name for name in entries if not name.startswith("__")]
    assert sorted(set(entries) - set(re.findall(r"\w+", drawing))) == []
