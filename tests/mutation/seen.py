"""Which test runs which line: one run of the tests under a trace."""

from __future__ import annotations

import ast
import os
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import pytest

from tests.mutation.mutants import Mutant, defined

MOST = 40
"""Seconds of processor time, under the trace: tests of so long are asked about one mutant, and what they do not notice
counts as survived."""
Line = tuple[str, int]
"""A file and a line of it."""


@dataclass(eq=False)
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

        before = sum(os.times()[:4])
        threading.settrace(trace)
        sys.settrace(trace)
        yield
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        self.seconds[item.nodeid] = sum(os.times()[:4]) - before
        self.lines[item.nodeid] = frozenset(found)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tests that fail without any change can say nothing."""
        if report.failed:
            self.failed.append(report.nodeid)


def to_ask(
    mutant: Mutant, lines: Mapping[str, frozenset[Line]], seconds: Mapping[str, float], uses: Uses
) -> list[str]:
    """The tests that may notice: of each way through the function first the quickest, the deepest way first; long ones last.

    What runs at import shows where its names are used; if no function does, any test may notice it.
    """
    file = str(mutant.file.resolve())
    if mutant.around is None:
        needed, near = uses.of(mutant.names)
    else:
        first, last = mutant.around
        near = frozenset((file, line) for line in range(first, last + 1))
        needed = frozenset((file, line) for line in mutant.lines)
    ways: dict[frozenset[Line], list[str]] = {}
    for test in sorted(lines, key=seconds.__getitem__):
        if not needed or lines[test] & needed:
            ways.setdefault(lines[test] & near, []).append(test)
    ranked = sorted(
        (seconds[test] > MOST / 10, turn, -len(way), test)
        for way, tests in ways.items()
        for turn, test in enumerate(tests)
    )
    asked, spent = [], 0.0
    for *_, test in ranked:
        if spent + seconds[test] <= MOST or not asked:
            asked.append(test)
            spent += seconds[test]
    return asked


class Uses:
    """Where the names of modules are used in functions."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.functions: list[tuple[str, ast.FunctionDef]] = []
        self.tables: list[tuple[frozenset[str], frozenset[str]]] = []
        """What each statement outside of functions defines, and the names it is made of."""
        for file, source in sources.items():
            tree = ast.parse(source)
            self.functions += [(file, node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            self.tables += [
                (frozenset(defined(each)), frozenset(name for name, _ in _named(each)))
                for each in _statements(tree.body)
            ]

    def of(self, names: frozenset[str]) -> tuple[frozenset[Line], frozenset[Line]]:
        """The lines that use any of them, or what is made of them; and the functions around these lines."""
        wanted = names
        while more := frozenset().union(*(made for made, of in self.tables if of & wanted)) - wanted:
            wanted |= more
        used, around = set(), set()
        for file, function in self.functions:
            lines = {(file, line) for name, line in _named(function) if name in wanted}
            used |= lines
            if lines:
                last = function.end_lineno or function.lineno
                around |= {(file, line) for line in range(function.lineno, last + 1)}
        return frozenset(used), frozenset(around)


def _named(top: ast.AST) -> Iterator[tuple[str, int]]:
    """The names in a function, or in what is no function."""
    for node in ast.walk(top):
        if isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Those outside of functions."""
    for each in body:
        if isinstance(each, ast.ClassDef):
            yield from _statements(each.body)
        elif not isinstance(each, ast.FunctionDef):
            yield each
