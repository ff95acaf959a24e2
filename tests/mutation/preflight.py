"""`python -m tests.mutation.preflight`: each reason not to write is taken away once, and the tests are asked.

Writes docs/internals/preflight.md: which tests fail without it, by name. Reasons that the page knows already keep their tests,
unless `--all` is given.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from hypothesis import settings

from tests.mutation.reasons import Reason, every_reason
from tests.mutation.seen import Seen
from tests.mutation.trial import OPTIONS, quickly

PAGE = Path("docs/internals/preflight.md")
TESTS = ("tests/apply", "tests/facts", "tests/cli")
CHOSEN = ("--capture=sys", "-m", "not machine", "-k", "not kill")
"""Runs that are cut off at every effect take minutes, and say nothing of what comes before the first."""
NAMED = 3
"""So many failing tests are looked for."""
FEW = 10
"""Examples of a property; for a sentence that is never said, they are enough."""
MOST = 150
"""So many tests are asked about one reason."""
SECONDS = 60
"""Of processor time for one trial, and three times that in all; what was found until then counts."""
FORK = get_context("fork")
HEAD = """\
# Every reason not to write

Before the first write `apply` asks everything that can be known to fail, and right before each step once more whether it
still holds. This page lists every place in the code that can say no, and tests that fail if it never does. The
command `python -m tests.mutation.preflight` made it: it takes one reason away at a time, runs the tests of
`tests/apply`, `tests/facts` and `tests/cli` that reach it, and names the first that fail, three at
most. A test of the everyday suite holds the page against the code: no reason is without a test.
The codes are in [refusals.md](../refusals.md).
"""
Key = tuple[str, str, str]


def main() -> int:
    """Tries what the page does not know, and writes it; 1 if a reason has no test."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.preflight", description=__doc__)
    parser.add_argument("tests", nargs="*", default=TESTS, help="files or folders of tests to ask")
    parser.add_argument("--all", action="store_true", help="also the reasons whose tests the page names")
    arguments = parser.parse_args()
    reasons = every_reason()
    before = named(PAGE.read_text())
    known = {} if arguments.all else before
    known = {reason.key: known[reason.key] for reason in reasons if known.get(reason.key)}

    def told(reason: Reason, tests: Sequence[str]) -> None:
        known[reason.key] = tuple(tests)
        where = f"{reason.file}:{min(reason.lines)} {reason.function}"
        print(f"{where}: {', '.join(tests) or 'NO TEST'}", file=sys.__stderr__, flush=True)
        PAGE.write_text(page(reasons, known))

    left = [reason for reason in reasons if reason.key not in known]
    print(f"{len(reasons)} reasons, {len(left)} are tried", flush=True)
    PAGE.write_text(page(reasons, known))
    if left:
        pytest.main([*OPTIONS, *CHOSEN, *arguments.tests], plugins=[Trials(left, told, before)])
    return int(any(not known.get(reason.key) for reason in reasons))


class Trials:
    """A pytest plugin: all tests once under a trace, then for each reason those that reach it, without it.

    Each trial is a fork of the process that has imported everything, in which one function has other code.
    """

    def __init__(
        self,
        reasons: Sequence[Reason],
        told: Callable[[Reason, Sequence[str]], None],
        before: Mapping[Key, Sequence[str]],
    ) -> None:
        self.reasons, self.told, self.before = reasons, told, before

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of the run of all tests."""
        quickly()
        few = settings(settings.get_profile("mutation"), max_examples=FEW)
        settings.register_profile("reasons", few)
        settings.load_profile("reasons")
        seen = Seen(frozenset(str(reason.file.resolve()) for reason in self.reasons))
        session.config.pluginmanager.register(seen)
        for item, after in zip(session.items, [*session.items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        session.config.pluginmanager.unregister(seen)
        for test in seen.failed:
            print(f"not asked, it fails without any change: {test}", file=sys.__stderr__, flush=True)
        items = {item.nodeid: item for item in session.items}
        for reason in self.reasons:
            asked = [items[test] for test in to_ask(reason, seen, self.before.get(reason.key, ()))]
            self.told(reason, _failing(reason, sorted(asked, key=_needs_root)))
        return True


def to_ask(reason: Reason, seen: Seen, before: Sequence[str] = ()) -> list[str]:
    """The tests that run the lines: first those that failed without it `before`, then those that are about little else."""
    file = str(reason.file.resolve())
    lines = {(file, line) for line in reason.lines}
    near = {(file, line) for line in reason.around}
    asked = [test for test, ran in seen.lines.items() if ran & lines and test not in seen.failed]

    def turn(test: str) -> tuple[bool, int, int, str]:
        return (
            test.partition("[")[0] not in before,
            -len(seen.lines[test] & near),
            len(seen.lines[test]),
            test,
        )

    return sorted(asked, key=turn)[:MOST]


def _failing(reason: Reason, items: Sequence[pytest.Item]) -> list[str]:
    """The first tests that fail without the reason, as `file::function`."""
    here, there = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_trial, args=(reason, items, there))
    process.start()
    there.close()
    found: list[str] = []
    while True:
        try:
            found.append(str(here.recv()))
        except EOFError:
            process.join()
            return found


def _trial(reason: Reason, items: Sequence[pytest.Item], told: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(3 * SECONDS)
    take_away(reason)
    failed = _Failed()
    found: dict[str, None] = {}
    for item in items:
        function = item.nodeid.partition("[")[0]
        if len(found) == NAMED or (found and _needs_root(item)):
            break
        if function not in found:
            item.config.pluginmanager.register(failed)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            item.config.pluginmanager.unregister(failed)
        if failed.any:
            found[function] = None
            told.send(function)
        failed.any = False
    os._exit(0)


def _needs_root(item: pytest.Item) -> bool:
    """Loop devices take long: they are asked last, and only where no other test fails."""
    return item.get_closest_marker("root") is not None


class _Failed:
    """A pytest plugin that notes whether a test, or a fixture of it, failed."""

    any = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.any |= report.failed


def take_away(reason: Reason) -> None:
    """From the module as it is imported in this process."""
    module = import_module(".".join(reason.file.with_suffix("").parts))
    if reason.in_list:
        checks = getattr(module, reason.in_list)
        setattr(module, reason.in_list, tuple(each for each in checks if each.__name__ != reason.function))
        return
    code = compile(reason.without(), str(reason.file.resolve()), "exec", dont_inherit=True)
    *owner, name = reason.qualified.split(".")
    found = vars(getattr(module, owner[0]) if owner else module)[name]
    function = inspect.unwrap(found)
    assert isinstance(function, FunctionType)
    function.__code__ = _code(code, reason.qualified)


def _code(within: CodeType, qualified: str) -> CodeType:
    found = (each for each in within.co_consts if isinstance(each, CodeType))
    for each in found:
        if each.co_qualname == qualified:
            return each
        if qualified.startswith(f"{each.co_qualname}."):
            return _code(each, qualified)
    raise LookupError(qualified)


def page(reasons: Sequence[Reason], tests: Mapping[Key, Sequence[str]]) -> str:
    """The page: a table for each module, a row for each reason."""
    parts = [HEAD]
    for file, of_file in groupby(reasons, lambda reason: reason.file):
        parts += [
            f"\n## {file}\n\n| check | what it is about | what it says | fails without it |\n| --- | --- | --- | --- |\n"
        ]
        last = ""
        for reason in of_file:
            why = reason.why if reason.function != last else ""
            last = reason.function
            listed = " ".join(f"`{test}`" for test in tests.get(reason.key, ()))
            parts.append(f"| `{reason.function}` | {_cell(why)} | {_cell(reason.says)} | {listed} |\n")
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def named(text: str) -> dict[Key, tuple[str, ...]]:
    """The tests that a page names for each reason."""
    found: dict[Key, tuple[str, ...]] = {}
    file = ""
    for line in text.splitlines():
        if line.startswith("## "):
            file = line.removeprefix("## ")
        elif line.startswith("| `"):
            function, _, says, tests = (
                cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]
            )
            found[file, function.strip("`"), says] = tuple(re.findall(r"`([^`]+)`", tests))
    return found


if __name__ == "__main__":
    sys.exit(main())
