"""Which test runs which line: one run of the tests under a trace."""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.mutation.mutants import Mutant

MOST = 400
"""So many tests are asked about one mutant; what they do not notice counts as survived."""
Line = tuple[str, int]
"""A file and a line of it."""


@dataclass
class Seen:
    """A pytest plugin that notes the lines of some files that each test runs, and the seconds it takes."""

    files: Collection[str]
    lines: dict[str, frozenset[Line]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """One test with its fixtures."""
        found: set[Line] = set()

        def within(frame: FrameType, event: str, _: Any) -> Any:
            found.add((frame.f_code.co_filename, frame.f_lineno))
            return within

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            return within(frame, event, argument) if frame.f_code.co_filename in self.files else None

        before = time.perf_counter()
        sys.settrace(trace)
        yield
        sys.settrace(None)
        self.seconds[item.nodeid] = time.perf_counter() - before
        self.lines[item.nodeid] = frozenset(found)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tests that fail without any change can say nothing."""
        if report.failed:
            self.failed.append(report.nodeid)


def to_ask(
    mutant: Mutant, lines: Mapping[str, frozenset[Line]], seconds: Mapping[str, float], uses: Uses
) -> list[str]:
    """The tests that may notice, those first that go deepest into the function, then the quick ones.

    What runs at import may matter to any test: those that run its users come first.
    """
    file = str(mutant.file.resolve())
    if mutant.around is None:
        near, needed = uses.lines(mutant.names), frozenset[Line]()
    else:
        first, last = mutant.around
        near = frozenset((file, line) for line in range(first, last + 1))
        needed = frozenset((file, line) for line in mutant.lines)
    asked = [test for test, ran in lines.items() if not needed or ran & needed]
    return sorted(asked, key=lambda test: (-len(lines[test] & near), seconds[test]))[:MOST]


class Uses:
    """Where the names of modules are used in functions."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.found: dict[str, set[Line]] = {}
        for file in files:
            for top in ast.walk(ast.parse(file.read_text())):
                if isinstance(top, ast.FunctionDef):
                    self._note(top, str(file.resolve()))

    def _note(self, function: ast.FunctionDef, file: str) -> None:
        for node in ast.walk(function):
            if isinstance(node, ast.Name | ast.Attribute):
                name = node.id if isinstance(node, ast.Name) else node.attr
                self.found.setdefault(name, set()).add((file, node.lineno))

    def lines(self, names: Collection[str]) -> frozenset[Line]:
        """The lines that use any of them."""
        return frozenset().union(*(self.found.get(name, set()) for name in names))
