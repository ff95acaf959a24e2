"""Exact sentences are asserted in one place; tests elsewhere assert rule, code, case, place, line and figures."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "raidplan"
IN_A_ROW = 4
"""So many words in a row that also stand so in a string of the package make a text of a test one of its sentences."""
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
ONE_PLACE = ("render/", "rules/test_said.py", "diff/test_said.py", "diff/test_golden_diffs.py")
"""What is rendered is compared word for word there: refusals, notes, syncs (`render/test_said.py`), findings, diffs, forms."""
MOST = {
    "acceptance": 1,
    "ansible": 2,
    "apply": 35,
    "ci": 5,
    "cli": 6,
    "compiler": 4,
    "diff": 2,
    "discover": 7,
    "document": 1,
    "draw": 4,
    "facts": 7,
    "geometry": 1,
    "installers": 4,
    "kills": 1,
    "layout": 5,
    "links": 2,
    "loops": 20,
    "machine": 10,
    "placement": 12,
    "rehearsal": 19,
    "rules": 11,
    "test_extras.py": 1,
    "twin": 3,
    "vagrant": 2,
}
"""So many are left elsewhere, by folder: texts of errors and of facts that have no code, and variants of hints. Never more."""


def text_of(node: ast.Constant | ast.JoinedStr) -> str:
    """The text; what is filled in breaks the row of its words."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "".join(str(each.value) if isinstance(each, ast.Constant) else " {} " for each in node.values)


def texts(tree: ast.AST) -> Iterator[str]:
    """The strings in some code, those with figures whole, and no docstrings."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            yield text_of(node)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            left += ast.iter_child_nodes(node)


def rows(text: str) -> set[tuple[str, ...]]:
    """All words in a row of a text; options, paths and numbers are no words, and a placeholder ends a row."""
    words = [word.strip("`.,:;()!?'\"") for word in re.sub(r"\{[^{}]*\}", " {} ", text).split()]
    breaks = [-1, *(at for at, word in enumerate(words) if not WORD.fullmatch(word)), len(words)]
    return {
        tuple(word.lower() for word in words[at : at + IN_A_ROW])
        for before, after in pairwise(breaks)
        for at in range(before + 1, after - IN_A_ROW + 1)
    }


def asserted(tree: ast.AST) -> Iterator[str]:
    """The strings that a test compares with: in `assert`s, and in the pattern of `pytest.raises`."""
    for node in ast.walk(tree):
        match node:
            case ast.Assert(test):
                yield from texts(test)
            case ast.Call(ast.Attribute(ast.Name("pytest"), "raises"), _, keywords):
                yield from (text for each in keywords for text in texts(each.value))


def said_by_the_package() -> set[tuple[str, ...]]:
    """The rows of words in its strings."""
    trees = (ast.parse(file.read_text()) for file in PACKAGE.rglob("*.py"))
    return {row for tree in trees for text in texts(tree) for row in rows(text)}


def test_what_a_sentence_is() -> None:
    known = rows("{place} is in use, {use}: raidplan never clears a device in use")
    assert ("raidplan", "never", "clears", "a") in known and (
        "use",
        "raidplan",
        "never",
        "clears",
    ) not in known
    code = "def f():\n    'raidplan never clears a device'\n    assert f'{x}: raidplan never clears a device' in said, 'raidplan never clears'"
    (text,) = asserted(ast.parse(code))
    assert rows(text) & known and not rows("mdadm --grow --size=max /dev/md/a --add c")


def test_sentences_are_asserted_in_one_place() -> None:
    known, found = said_by_the_package(), Counter[str]()
    places: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        name = str(file.relative_to(TESTS))
        if name.startswith(ONE_PLACE):
            continue
        folder = name.partition("/")[0]
        here = [text for text in asserted(ast.parse(file.read_text())) if rows(text) & known]
        found[folder] += len(here)
        places.setdefault(folder, []).extend(f"{name}: {text!r}" for text in here)
    more = {folder: places[folder] for folder, count in found.items() if count > MOST.get(folder, 0)}
    assert more == {}, "compare the record, and leave the words to render/test_said.py"
