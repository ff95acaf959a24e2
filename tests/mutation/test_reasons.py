"""docs/internals/preflight.md names every reason not to write that the code has, and tests that exist."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutation.preflight import PAGE, named, page
from tests.mutation.reasons import NONE_GIVEN, WHERE, every_reason, reasons

AGAIN = "run: python -m tests.mutation.preflight"
SOURCE = '''
from x import y

def is_root(situation) -> Iterator[str]:
    """Only root. Nobody else."""
    if not situation.root:
        yield f"not root but {situation.user}"
    yield from others(situation)

def signatures(node) -> list[str]:
    found = [1, 2]
    if not found:
        return []
    words = node
    return [f"{node} carries {one}" for one in found]

def decide(plan):
    refusals = [str(one) for one in plan]
    refusals += forgotten(plan)
    other += 1
    if plan.open:
        raise Held("somebody has it") from None
    refusals.append("a | b")
    refusals.append(refusal("memory", wanted=1, memory=2))
    raise
    return refusals

CHECKS: tuple[Check, ...] = (is_root, signatures)
'''
FOUND = {
    ("is_root", "`CHECKS` names it"): "CHECKS: tuple[Check, ...] = (signatures,)",
    ("signatures", "`CHECKS` names it"): "CHECKS: tuple[Check, ...] = (is_root,)",
    ("is_root", "not root but …"): "        yield from ()",
    ("is_root", "`others(situation)`"): "    yield from ()",
    ("signatures", "… carries …"): "    return []",
    ("decide", "`[str(one) for one in plan]`"): "    refusals = []",
    ("decide", "`forgotten(plan)`"): "    pass",
    ("decide", "somebody has it"): "        pass",
    ("decide", "a | b"): "    pass",
    ("decide", "the stripe caches take …, and the machine has …: lower stripe_cache_size"): "    pass",
}


@pytest.fixture
def example(tmp_path: Path) -> Path:
    (tmp_path / "example.py").write_text(SOURCE)
    return tmp_path / "example.py"


def test_every_place_that_can_say_no_is_found_and_nothing_else(example: Path) -> None:
    assert {(each.function, each.says) for each in reasons(example, SOURCE)} == set(FOUND)


@pytest.mark.parametrize("key", FOUND, ids=" ".join)
def test_one_reason_is_taken_away_and_all_else_stays(key: tuple[str, str], example: Path) -> None:
    (reason,) = (each for each in reasons(example, SOURCE) if (each.function, each.says) == key)
    before = ast.unparse(ast.parse(SOURCE)).splitlines()
    after = ast.unparse(reason.without()).splitlines()
    assert len(before) == len(after)
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [FOUND[key]]


def test_a_page_is_read_as_it_was_written(example: Path) -> None:
    found = list(reasons(example, SOURCE))
    tests = {each.key: ("tests/a.py::test_b", f"tests/a.py::test_{each.node}") for each in found}
    assert named(page(found, tests)) == tests


def test_every_reason_has_a_test_that_fails_without_it() -> None:
    found = {reason.key for reason in every_reason()}
    told = named(PAGE.read_text())
    assert sorted(found - told.keys()) == [], AGAIN
    assert sorted(told.keys() - found) == [], AGAIN
    assert [key for key, tests in told.items() if not tests] == []


def test_the_page_is_what_the_command_writes() -> None:
    text = PAGE.read_text()
    assert text == page(every_reason(), named(text)), AGAIN


def test_the_tests_that_the_page_names_exist() -> None:
    tests = {test for each in named(PAGE.read_text()).values() for test in each}
    files = {test.partition("::")[0] for test in tests}
    exist = {
        f"{file}::{node.name}"
        for file in files
        for node in ast.walk(ast.parse(Path(file).read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    assert tests <= exist


def test_what_is_left_out_exists() -> None:
    """A module or function that was renamed is looked at again."""
    files = {
        file.name: file
        for each in WHERE
        for file in (Path(each).rglob("*.py") if Path(each).is_dir() else [Path(each)])
    }
    for entry in NONE_GIVEN:
        file, _, function = entry.partition(":")
        assert file in files and f"def {function}" in files[file].read_text(), entry
