"""The imports of the package: the floors on which its folders stand, arrows that lead up, and circles."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

FLOORS = [
    "base", "geometry", "plan/changes", "plan", "base/filesystems", "facts",
    "apply/note", "apply/refusal", "apply/devices", "apply/reading", "apply/world", "apply/journal", "apply/configuration", "apply/change", "apply/teardown",
    "apply/decide", "apply/recheck_target", "apply/syncs", "apply/progress", "apply/flush", "apply/work", "apply/execute", "apply/preflight",
    "apply/undo", "apply/stages", "apply/adopt", "apply/decision", "apply/session", "apply/strangers", "apply/bring_up",
    "document", "layout/kinds", "layout", "topology", "estimate/survival", "estimate/links", "estimate", "rules/lib", "rules",
    "placement", "compiler", "review", "diff", "render", "discover", "render/draw", "render/html", "render/installers", "twin/loops", "twin/server",
    "twin/rehearsal", "render/rehearsal",
    "cli", "cli/lsp", "__main__",
]  # fmt: skip
"""From the ground up: each may import those before it, and itself."""


class Imports:
    """The imports of a package, of all its files and wherever in them."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.files = sorted(package.rglob("*.py"))
        self.modules = {
            ".".join(file.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): file
            for file in self.files
        }

    def room(self, file: Path) -> str:
        """The folder of a file; a module that stands beside folders, in the root or in `apply/`, is a room of its own."""
        inside = file.relative_to(self.package).with_suffix("")
        return str(inside if str(inside.parent) in (".", "apply") else inside.parent)

    @cached_property
    def arrows(self) -> dict[Path, list[Path]]:
        """The files that each file imports."""
        return {file: sorted(set(self._imported(file)) - {file}) for file in self.files}

    def _imported(self, file: Path) -> Iterator[Path]:
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.ImportFrom(module=str(module), names=names):
                    found = [
                        self.modules.get(f"{module}.{name.name}") or self.modules.get(module)
                        for name in names
                    ]
                case ast.Import(names=names):
                    found = [self.modules.get(name.name) for name in names]
                case _:
                    continue
            yield from (target for target in found if target)

    def up(self) -> list[str]:
        """The imports that lead to a higher floor. An `__init__.py` of a room without a floor stands on the lowest in its
        folder, for whoever imports a module there runs it first; nothing else in such a room is looked at."""
        floor = {name: number for number, name in enumerate(FLOORS)}
        for file in self.files:
            if file.name == "__init__.py":
                inside = [floor[room] for each in self.files if each.is_relative_to(file.parent) and (room := self.room(each)) in floor]  # fmt: skip
                floor.setdefault(self.room(file), min(inside, default=-1))
        return [
            f"{file.relative_to(self.package)} imports {target.relative_to(self.package)}"
            for file, targets in self.arrows.items()
            for target in targets
            if floor.get(self.room(target), -1) > floor.get(self.room(file), len(FLOORS))
        ]

    def first_folder(self, file: Path) -> str:
        """The folder of the root, or the module there, that a file belongs to."""
        return self.room(file).split("/")[0]

    def pairs(self, room: Callable[[Path], str] | None = None) -> set[frozenset[str]]:
        """The rooms that import each other; `room`: the name of a file's, if not the innermost."""
        room = room or self.room
        between = {(room(file), room(target)) for file, targets in self.arrows.items() for target in targets}
        return {frozenset(pair) for pair in between if pair[0] != pair[1] and pair[::-1] in between}


def circles(arrows: Mapping[Path, Iterable[Path]]) -> set[Path]:
    """The files from which the arrows lead back to themselves."""
    reached = {file: set(targets) for file, targets in arrows.items()}
    for between in arrows:
        for targets in reached.values():
            if between in targets:
                targets |= reached[between]
    return {file for file, targets in reached.items() if file in targets}
