"""Nothing is decided by a sentence, by an id or by a part of a name: records have codes and fields for that.

`plan/origin.py` reads ids of earlier plan files and journals, and the virtual server's `apply` tells a rehearsal by its last
words how it ended."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

from raidplan.twin.rehearsal.stages import NOTHING, UNCONFIRMED, WHOLE

PACKAGE = Path(__file__).parents[1] / "raidplan"
PARSING = {
    "startswith", "endswith", "partition", "rpartition", "removeprefix", "removesuffix", "split", "rsplit", "splitlines",
    "find", "index", "count", "replace",
}  # fmt: skip
CUTTING = {"partition", "rpartition", "split", "rsplit"}
SAID = {"id", "say", "what", "says", "message", "place"}
"""Attributes that hold an id of a step, a sentence or a part of one."""


def is_said(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression is an id or a sentence, or one of the names that were given to one."""
    match node:
        case ast.Attribute(attr=attr):
            return attr in SAID
        case ast.Name(name):
            return name in names
        case ast.Call(ast.Name("str"), [ast.Name("error" | "problem")]):
            return True
        case ast.Call(ast.Name(name)):
            return name.endswith(("_text", "_texts"))
        case ast.BinOp(left, ast.Add(), right):
            return is_said(left, names) or is_said(right, names)
    return False


def names_of_sentences(function: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.NamedExpr(ast.Name(name), value) if is_said(value, found):  # fmt: skip
                found.add(name)
    return found


def parsed(tree: ast.AST) -> Iterator[str]:
    """Where an id or a sentence is taken apart, is compared with a word, or is asked for a part of it."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.Lambda | ast.ClassDef | ast.Module):
            names = names_of_sentences(function) if isinstance(function, ast.FunctionDef) else set()
            for node in ast.walk(function):
                if isinstance(node, ast.expr) and takes_apart(node, names):
                    yield ast.unparse(node)


def takes_apart(node: ast.expr, names: set[str]) -> bool:
    match node:
        case ast.Call(ast.Attribute(ast.Name("re")), arguments):
            return any(is_said(each, names) for each in arguments)
        case ast.Call(ast.Attribute(value, method)):
            return method in PARSING and is_said(value, names)
        case ast.Subscript(value, ast.Slice()):
            return is_said(value, names)
        case ast.Compare(left, operators, rights):
            return any(map(asks_for_words(left, names), operators, rights))
    return False


def asks_for_words(left: ast.expr, names: set[str]) -> Callable[[ast.cmpop, ast.expr], bool]:
    def asks(operator: ast.cmpop, right: ast.expr) -> bool:
        match operator, right:
            case ((ast.In() | ast.NotIn()), (ast.Tuple() | ast.List() | ast.Set())):
                return is_said(left, names)
            case ((ast.In() | ast.NotIn()), _):
                return is_said(right, names)
            case ((ast.Eq() | ast.NotEq()), ast.Constant(value)):
                return bool(value) and is_said(left, names)
        return False

    return asks


def names_cut(tree: ast.AST) -> Iterator[str]:
    """Where a part of a name is looked up or compared, or a name is asked for the word before its dot: `a.split(".")[0] in b`,
    `a.startswith("tool.")`."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(ast.Subscript(ast.Call(ast.Attribute(_, method), [ast.Constant(".")]))) if (
                method in CUTTING
            ):
                yield ast.unparse(node)
            case ast.Call(ast.Attribute(_, "startswith"), [ast.Constant(str(start))]) if start[-1:] == ".":
                yield ast.unparse(node)


def found(search: Callable[[ast.AST], Iterator[str]], *folders: str) -> set[str]:
    files = [file for folder in folders for file in (PACKAGE / folder).rglob("*.py")]
    return {
        f"{file.relative_to(PACKAGE)}: {words}"
        for file in files
        for words in search(ast.parse(file.read_text()))
    }


def test_what_is_done_is_not_decided_by_a_part_of_a_name() -> None:
    """What stands on what is in steps and facts. A program's name and a version are no names of ours."""
    example = "one.partition('.')[0] in touched or key.startswith('tool.') or key.rsplit('.')[0] == 'tool'"
    assert len([*names_cut(ast.parse(example))]) == 3
    cut = {each for each in found(names_cut, "apply", "facts", "plan") if "plan/origin.py" not in each}
    assert cut == {
        "facts/run.py: str(sh.__version__).startswith('1.')",
        "plan/validity.py: program.startswith('mkfs.')",
    }


EXAMPLES = """\
step.id.startswith('back.')
'x' in loss.what
str(error).partition('; ')
re.match('array', step.id)
step.id[:5] == 'array'
step.id == 'fstab'
loss.what != 'everything'
step.id in ('fstab', 'crypttab')
refusal_text(refusal).startswith('no')
refusal.place.endswith(' disk')
'no' in refusal_text(refusal) + step.say
"""
NAMED = """\
def decided(step):
    words = step.say
    return words.count('disk')
"""


def test_nothing_is_decided_by_a_part_of_an_id_or_a_sentence() -> None:
    """A word of the command line, a plan's host and the end of a long text that is shown are no such decision."""
    assert all([*parsed(ast.parse(line))] for line in EXAMPLES.splitlines())
    assert [*parsed(ast.parse(NAMED))] == ["words.count('disk')"]
    assert found(parsed, ".") == {
        "cli/discover.py: arguments.what == 'facts'",
        "cli/discover.py: arguments.what != 'facts'",
        "cli/plan.py: text.splitlines()",
        "plan/codec.py: host in ('', '.', '..')",
        "twin/rehearsal/faults.py: str(error)[-SAID:]",
        "twin/rehearsal/stages.py: str(error)[-3000:]",
    }


def test_the_words_that_end_an_apply_are_those_that_a_rehearsal_waits_for() -> None:
    tree = ast.parse((PACKAGE / "cli" / "apply.py").read_text())
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}  # fmt: skip
    for words in (WHOLE, NOTHING, UNCONFIRMED):
        assert len([text for text in texts if text.endswith(words)]) == 1, words
