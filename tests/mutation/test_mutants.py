"""What is changed, that nothing else is, and that the tests to ask are those that run the line."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutation.__main__ import TARGETS, _files
from tests.mutation.mutants import Mutant, mutants, mutated
from tests.mutation.seen import MOST, Line, Uses, to_ask

FILE = Path("raidplan/base/size.py")
PATH = str(FILE.resolve())

MADE = {
    "a < 1": ["a <= 1", "a < 2", "a < 0"],
    "a == b != c": ["a != b != c", "a == b == c"],
    "a in b and c is not None": ["a in b or c is not None", "a not in b and c is not None", "a in b and c is None"],
    "a + b": ["a - b"],
    "a % b // c": ["a % b * c", "a // b // c"],
    "not a": ["a"],
    "f(a, key=True)": ["f(a, key=False)"],
    "'a' + b": [],
    "f'{a:10.3f} in all'": [],
    "1.5": ["2.5", "0.5"],
}  # fmt: skip


@pytest.mark.parametrize("expression", MADE)
def test_what_is_made_of_an_expression(expression: str) -> None:
    source = f"def f() -> int:\n    x({expression})\n"
    made = [ast.unparse(mutated(source, each)).splitlines()[1].strip() for each in mutants(source, FILE)]
    assert sorted(made) == sorted(f"x({each})" for each in MADE[expression])


def test_results_are_lost() -> None:
    source = "def f():\n    return a\ndef g():\n    yield b\n    yield from c\n    return None\n"
    made = [ast.unparse(mutated(source, each)) for each in mutants(source, FILE)]
    kept = ast.unparse(ast.parse(source))
    changed = [("return a", "return None"), ("yield b", "yield from ()"), ("yield from c", "yield from ()")]
    assert sorted(made) == sorted(kept.replace(old, new) for old, new in changed)


def test_types_decorators_and_texts_are_left_alone() -> None:
    source = '''"""Chapter 1"""
A: list[int | None] = []
B = int | str
@f(1)
def g(a: Literal[1] = None) -> Literal[2]:
    """Section 2"""
@dataclass(frozen=True)
class C: pass
'''
    assert list(mutants(source, FILE)) == []


@pytest.mark.drawn(20)
@pytest.mark.parametrize("file", [file for target in TARGETS for file in _files(Path(target))], ids=str)
def test_every_mutant_of_a_module_differs_from_it_and_compiles(file: Path) -> None:
    source = file.read_text()
    before = ast.dump(ast.parse(source))
    found = list(mutants(source, file))
    for each in found[:: max(1, len(found) // 5)]:
        tree = mutated(source, each)
        assert ast.dump(tree) != before
        compile(tree, str(file), "exec")


def mutant(source: str, what: str) -> Mutant:
    (found,) = (each for each in mutants(source, FILE) if each.what == what)
    return found


def ran(*numbers: int) -> frozenset[Line]:
    return frozenset((PATH, number) for number in numbers)


SOURCE = "LIMIT = 5\ndef f(a):\n    if a:\n        return a < 7\n    return LIMIT\n"
LINES = {"none": ran(), "slow": ran(3, 4), "quick": ran(3, 4), "other": ran(3, 5), "deep": ran(3, 4, 5)}
SECONDS = {"none": 1.0, "slow": 9.0, "quick": 1.0, "other": 2.0, "deep": 3.0}


def asked(source: str, what: str, **seconds: float) -> list[str]:
    return to_ask(mutant(source, what), LINES, SECONDS | seconds, Uses({PATH: source}))


def test_the_tests_that_run_the_line_are_asked_each_way_in_turn() -> None:
    assert asked(SOURCE, "Lt to LtE") == ["deep", "quick", "slow"]


def test_what_runs_at_import_shows_where_it_is_used() -> None:
    assert asked(SOURCE, "5 to 6") == ["deep", "other"]
    assert asked(SOURCE.replace("LIMIT = 5", "FEW = 5; LIMIT = {1: FEW}"), "5 to 6") == ["deep", "other"]
    assert set(asked(SOURCE.replace("LIMIT = 5", "UNUSED = 5"), "5 to 6")) == set(LINES)
    method = "class C:\n    limit = 5\n    def f(self):\n        return self.limit\n"
    assert set(asked(method, "5 to 6")) == {"slow", "quick", "deep"}


def test_long_tests_are_asked_last_and_not_all_of_them() -> None:
    assert asked(SOURCE, "Lt to LtE", deep=MOST - 12.0) == ["quick", "deep", "slow"]
    assert asked(SOURCE, "Lt to LtE", deep=MOST - 5.0) == ["quick", "deep"]
    assert asked(SOURCE, "Lt to LtE", slow=MOST + 5.0, quick=MOST + 5.0, deep=MOST + 5.0) == ["deep"]
