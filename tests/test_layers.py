"""Imports go down: every folder stands on a floor, and no file takes part in a circle, not even for type checks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "raidplan"
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): file
    for file in FILES
}
FLOORS = [
    "base", "geometry", "plan/changes", "plan", "base/filesystems", "facts",
    "apply/refusal", "apply/devices", "apply/reading", "apply/world", "apply/journal", "apply/configuration", "apply/change", "apply/teardown",
    "apply/decide", "apply/adopt", "apply/recheck_target", "apply/syncs", "apply/execute", "apply/preflight", "apply/undo", "apply/stages", "apply/decision", "apply/session",
    "apply/bring_up",
    "document", "layout/kinds", "layout", "topology", "estimate/survival", "estimate/links", "estimate", "rules/lib", "rules",
    "placement", "compiler", "review", "diff", "render", "discover", "render/draw", "render/html", "render/installers", "twin/loops", "twin/server",
    "cli", "cli/lsp", "__main__",
]  # fmt: skip
"""From the ground up: each may import those before it, and itself."""


def room(file: Path) -> str:
    """The folder of a file; a module that stands beside folders, in the root or in `apply/`, is a room of its own."""
    inside = file.relative_to(PACKAGE).with_suffix("")
    return str(inside if str(inside.parent) in (".", "apply") else inside.parent)


def imported(file: Path) -> Iterator[Path]:
    """The files of raidplan that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                found = [MODULES.get(f"{module}.{name.name}") or MODULES.get(module) for name in names]
            case ast.Import(names=names):
                found = [MODULES.get(name.name) for name in names]
            case _:
                continue
        yield from (target for target in found if target)


IMPORTS = {file: sorted(set(imported(file)) - {file}) for file in FILES}


def circles(arrows: Mapping[Path, Iterable[Path]]) -> set[Path]:
    """The files from which the arrows lead back to themselves."""
    reached = {file: set(targets) for file, targets in arrows.items()}
    for between in arrows:
        for targets in reached.values():
            if between in targets:
                targets |= reached[between]
    return {file for file, targets in reached.items() if file in targets}


def test_every_room_has_a_floor() -> None:
    rooms = {room(file) for file in FILES if file.name != "__init__.py"}
    assert rooms == set(FLOORS)


@pytest.mark.parametrize("name", FLOORS)
def test_no_import_goes_up(name: str) -> None:
    below = set(FLOORS[: FLOORS.index(name) + 1]) | {"__init__"}
    up = [
        f"{file.relative_to(PACKAGE)} imports {target.relative_to(PACKAGE)}"
        for file, targets in IMPORTS.items()
        if room(file) == name
        for target in targets
        if room(target) not in below
    ]
    assert up == []


def test_no_file_takes_part_in_a_circle() -> None:
    assert {str(file.relative_to(PACKAGE).with_suffix("")) for file in circles(IMPORTS)} == set()


def test_a_circle_is_found() -> None:
    a, b, c, d = map(Path, "abcd")
    assert circles({a: [b], b: [c], c: [b], d: [a]}) == {b, c}


def test_the_root_can_be_read_at_a_glance() -> None:
    """At most 20 entries, each to be found by its name in the drawing and the table of docs/internals/architecture.md."""
    page = (PACKAGE.parent / "docs/internals/architecture.md").read_text()
    entries = [entry.name for entry in PACKAGE.iterdir() if entry.name not in ("__pycache__", "py.typed")]
    assert len(entries) <= 20
    entries = [name for name in entries if not name.startswith("__")]
    assert [name for name in entries if f"`{name}`" not in page and f"`{name}/`" not in page] == []
