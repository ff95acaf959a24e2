"""One mutant and its tests, in a process of its own that ends with the answer."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_loader
from types import CodeType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.mutation.mutants import Mutant, mutated

SURVIVED, KILLED, BROKEN = 0, 1, 3
"""Codes with which the process ends; BROKEN: the module cannot be imported any more. A signal: it took too long."""
OPTIONS = ("-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider", "--seed=1")
"""With one seed each run draws the same cases: those that were seen to reach a mutant are asked about it."""
FIRST = 20
"""So many tests notice most mutants, and they are in few files."""
SECONDS = 100
"""Of processor time: how busy the machine is changes nothing."""
MEMORY = 4 * 1024**3


def ask(mutant: Mutant, tests: Sequence[str]) -> None:
    """Runs the tests, until one notices; never returns."""
    silent = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(silent, number)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    module = ".".join(mutant.file.with_suffix("").parts).removesuffix(".__init__")
    sys.meta_path.insert(0, _Finder(module, mutant))
    try:
        import_module(module)
    except BaseException:  # whatever it is, no test could have missed it
        os._exit(BROKEN)
    noticed = any(_fails(part) for part in (tests[:FIRST], tests[FIRST:]) if part)
    os._exit(KILLED if noticed else SURVIVED)


def _fails(tests: Sequence[str]) -> bool:
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    code = pytest.main([*OPTIONS, "-x", *files], plugins=[_Selected(tests)])
    return code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def quickly() -> None:
    """Hypothesis tries the same examples every time, and does not look for the smallest that fails."""
    settings.register_profile(
        "mutation",
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
    )
    settings.load_profile("mutation")


class _Selected:
    """A pytest plugin that runs these tests in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.order = {test: number for number, test in enumerate(tests)}

    def pytest_configure(self) -> None:
        quickly()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self.order]
        items[:] = sorted(chosen, key=lambda item: self.order[item.nodeid])


class _Finder(MetaPathFinder):
    """Finds one module as it is mutated."""

    def __init__(self, module: str, mutant: Mutant) -> None:
        self.module, self.mutant = module, mutant

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        return spec_from_loader(fullname, _Loader(fullname, self.mutant))


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, mutant: Mutant) -> None:
        super().__init__(fullname, str(mutant.file.resolve()))
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        tree = mutated(self.mutant.file.read_text(), self.mutant)
        return compile(tree, self.path, "exec", dont_inherit=True)
