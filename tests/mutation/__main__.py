"""`python -m tests.mutation`: how many mutants of rules, geometry, levels and sizes the tests kill, by module."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pickle
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant, mutants
from tests.mutation.seen import Seen, Uses, to_ask
from tests.mutation.trial import BROKEN, OPTIONS, SURVIVED, ask, quickly

TARGETS = ("raidplan/rules", "raidplan/geometry", "raidplan/base/levels.py", "raidplan/base/size.py")
TESTS = (
    "tests/rules", "tests/geometry", "tests/layout", "tests/test_size.py",
    "tests/compiler", "tests/estimate", "tests/survival", "tests/render/test_golden.py",
)  # fmt: skip
SHARED = ("hypothesis", "jinja2", "pydantic", "yaml")
"""What every trial imports and none changes."""
FORK = multiprocessing.get_context("fork")


def main() -> int:
    """Prints a line for each module, and every mutant that no test noticed."""
    arguments = _arguments()
    files = [file for target in arguments.targets for file in _files(Path(target))]
    every = [mutant for file in files for mutant in mutants(file.read_text(), file)]
    chosen = every
    if arguments.sample and arguments.sample < len(every):
        chosen = random.Random(arguments.seed).sample(every, arguments.sample)
    print(f"{len(every)} mutants of {len(files)} modules; {len(chosen)} are tried", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for module in SHARED:
            import_module(module)
        sys.pycache_prefix, sys.dont_write_bytecode = folder, False  # every trial imports the same modules
        seen = _kept(arguments.seen, files, arguments.tests)
        uses = Uses({str(file.resolve()): file.read_text() for file in files})
        tasks = [(mutant, to_ask(mutant, seen.lines, seen.seconds, uses)) for mutant in chosen]
        results = dict(_tried(tasks, arguments.jobs))
    _report(results)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("targets", nargs="*", default=TARGETS, help="modules or folders of modules")
    parser.add_argument(
        "--tests",
        nargs="+",
        default=TESTS,
        help="files or folders of tests that are asked, for other targets",
    )
    parser.add_argument("--sample", type=int, default=300, help="how many mutants; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument(
        "--seen", type=Path, help="a file that keeps which test runs which line, for the next time"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at once")
    return parser.parse_args()


def _files(target: Path) -> list[Path]:
    return sorted(target.rglob("*.py")) if target.is_dir() else [target]


def _kept(file: Path | None, files: Sequence[Path], tests: Sequence[str]) -> Seen:
    """What was learned the last time, if it was kept."""
    if file and file.exists():
        kept = pickle.loads(file.read_bytes())
        assert isinstance(kept, Seen)
        return kept
    seen = _learn(files, tests)
    if file:
        file.write_bytes(pickle.dumps(seen))
    return seen


def _learn(files: Sequence[Path], tests: Sequence[str]) -> Seen:
    """What each test runs; in a process of its own, so that none of the modules is imported here."""
    here, there = FORK.Pipe(duplex=False)

    def run() -> None:
        quickly()
        seen = Seen(frozenset(str(file.resolve()) for file in files))
        pytest.main([*OPTIONS, *tests], plugins=[seen])
        there.send(seen)

    process = FORK.Process(target=run)
    process.start()
    there.close()
    seen: Seen = here.recv()
    process.join()
    if seen.failed or not seen.lines:
        sys.exit(f"without any change there fail: {', '.join(seen.failed) or 'all'}")
    print(f"{len(seen.lines)} tests", flush=True)
    return seen


def _tried(tasks: Sequence[tuple[Mutant, list[str]]], jobs: int) -> Iterator[tuple[Mutant, int]]:
    """Each mutant with the code that its process ended with."""
    waiting = list(reversed(tasks))
    running: dict[int, tuple[Mutant, ForkProcess]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant, tests = waiting.pop()
            process = FORK.Process(target=ask, args=(mutant, tests))
            process.start()
            running[process.sentinel] = mutant, process
        for sentinel in wait(list(running)):
            assert isinstance(sentinel, int)
            mutant, process = running.pop(sentinel)
            process.join()
            code = process.exitcode
            assert code is not None
            print(f"{'survived' if code == SURVIVED else 'killed':8} {mutant}", flush=True)
            yield mutant, code


def _report(results: dict[Mutant, int]) -> None:
    totals = Counter(str(mutant.file) for mutant in results)
    survived = Counter(str(mutant.file) for mutant, code in results.items() if code == SURVIVED)
    for file in sorted(totals):
        print(f"{totals[file] - survived[file]:4} of {totals[file]:4} killed  {file}")
    killed, total = len(results) - survived.total(), len(results)
    broken = sum(code == BROKEN for code in results.values())
    late = sum(code < 0 for code in results.values())
    print(
        f"{killed:4} of {total:4} killed, {killed / total:.1%}; {broken} of them cannot be imported, {late} ran out of time"
    )


if __name__ == "__main__":
    sys.exit(main())
