"""Every reason not to write to a machine: where it is given, in which words, and its module without it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from raidplan.render.failures import FAILURES
from raidplan.render.plan_faults import FAULTS
from raidplan.render.refusal_words import SENTENCES
from raidplan.render.uses import USES

WHERE = (
    "raidplan/apply",
    "raidplan/facts/in_use.py",
    "raidplan/facts/match.py",
    "raidplan/cli/apply.py",
    "raidplan/cli/consent.py",
)
"""What decides before the first write, and again right before each."""
WORDS = {str(case): words for case, words in (*FAULTS.items(), *FAILURES.items())}
GIVEN = ("Iterator[str]", "Iterator[Mismatch]", "Iterator[Refusal]", "Iterator[Use]", "Iterator[Failure]")
"""What functions return that give reasons one by one."""
LISTS = frozenset({"problems", "reasons", "refusals"})
"""What reasons are gathered in."""
NONE_GIVEN = {
    "comparison.py:unproven": "after the last write",
    "aliases.py": "names of what is there",
    "dropped.py:_dropped": "lines, and what they name",
    "dropped.py:_names": "names of devices",
    "dropped.py:_of_others": "lines of others, and what they name",
    "leftovers.py:_table": "partitions",
    "leftovers.py:partitions_on": "partitions",
    "leftovers.py:losses": "what is destroyed, for the list that a person reads",
    "change_contents.py:remount_words": "words of mount",
    "blocks.py:our_blocks": "files and their lines",
    "conflicts.py:_implied_names": "what lines of ours mean",
    "copying.py:_names": "names of files",
    "copying.py:no_way_back": "the steps after which there is none",
    "work.py:_act": "after the write",
    "work.py:_missing": "nodes that have not appeared",
    "guard.py:_base": "names of disks",
    "assembly_hold.py:_lines": "lines of a rule for udev",
    "lines.py": "what lines speak of",
    "losses.py": "what is destroyed, for the list that a person reads",
    "step_fingerprints.py:_identity": "what tells a disk",
    "recheck_target.py:_words": "what a step is on",
    "teardown.py": "nodes and steps; its reasons are those of never_removed.py",
    "zero.py:_forget_partitions": "after the write",
    "zero.py:_prove": "after the write",
    "zero.py:put_back": "after the write",
}
"""Modules and functions whose texts are something else."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One place that can say no; `node` is its number in `ast.walk`."""

    file: Path
    function: str
    why: str
    """What the check is about: the first sentence of its docstring, or of its module's."""
    says: str
    node: int
    lines: frozenset[int]
    around: frozenset[int]
    """The lines of the function."""
    qualified: str = ""
    """The function, after its class if it is a method."""
    source: str = field(default="", repr=False)
    """Of the module, as it was when this was found."""
    in_list: str = ""
    """The list of checks that names it, where it is the entry that is taken away."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is known by when lines have moved."""
        return str(self.file), self.function, self.says

    def without(self) -> ast.Module:
        """The module that never gives this reason."""
        tree = ast.parse(self.source)
        number = {id(node): number for number, node in enumerate(ast.walk(tree))}
        return ast.fix_missing_locations(_Without(number, self.node).visit(tree))


class _Without(ast.NodeTransformer):
    def __init__(self, numbers: dict[int, int], number: int) -> None:
        self.numbers, self.number = numbers, number

    def visit(self, node: ast.AST) -> ast.AST | None:
        if self.numbers.get(id(node)) != self.number:
            kept = self.generic_visit(node)
            assert isinstance(kept, ast.AST)
            return kept
        # A name stands in a list of checks.
        return ast.copy_location(_nothing(node), node) if isinstance(node, ast.stmt) else None


def every_reason(where: Sequence[str] = WHERE) -> list[Reason]:
    """In the order of the code."""
    files = [
        file
        for each in where
        for file in ([Path(each)] if each.endswith(".py") else sorted(Path(each).rglob("*.py")))
    ]
    return [
        reason for file in files for reason in reasons(file, file.read_text()) if file.name not in NONE_GIVEN
    ]


def reasons(file: Path, source: str) -> Iterator[Reason]:
    """Of one module: its places in lists of checks, then its sentences; the same words in one function are counted."""
    tree = ast.parse(source)
    numbers = {id(node): number for number, node in enumerate(ast.walk(tree))}
    functions = dict(_functions(tree))
    for name, entry in _listed(tree):
        check = functions[entry.id]
        why = _first_sentence(ast.get_docstring(check) or "")
        said = f"`{name}` names it"
        ran = _lines(check)
        yield Reason(file, entry.id, why, said, numbers[id(entry)], ran, ran, "", source, name)
    for qualified, function in functions.items():
        if f"{file.name}:{function.name}" in NONE_GIVEN:
            continue
        why = _first_sentence(ast.get_docstring(function) or ast.get_docstring(tree) or "")
        times = Counter[str]()
        for statement, condition in _statements(function.body, "otherwise"):
            if not _gives(statement, function):
                continue
            says = _words(statement, condition)
            times[says] += 1
            says += f" ({times[says]})" if times[says] > 1 else ""
            number = numbers[id(statement)]
            yield Reason(
                file, function.name, why, says, number, _lines(statement), _lines(function), qualified, source
            )


def _lines(node: ast.stmt) -> frozenset[int]:
    return frozenset(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _listed(tree: ast.Module) -> Iterator[tuple[str, ast.Name]]:
    """The entries of the lists of checks."""
    for node in tree.body:
        match node:
            case ast.AnnAssign(ast.Name(name), ast.expr() as kind, ast.Tuple(entries)) if (
                "Check" in ast.unparse(kind)
            ):
                yield from ((name, entry) for entry in entries if isinstance(entry, ast.Name))


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """By name, after the class for methods."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from (
                (f"{node.name}.{each.name}", each) for each in node.body if isinstance(each, ast.FunctionDef)
            )


def _statements(body: Sequence[ast.stmt], condition: str) -> Iterator[tuple[ast.stmt, str]]:
    """Each statement with the condition that it stands under."""
    for statement in body:
        yield statement, condition
        inner = f"if {ast.unparse(statement.test)}" if isinstance(statement, ast.If) else condition
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []), inner)
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(
                handler.body, f"except {ast.unparse(handler.type)}" if handler.type else condition
            )
        for case in getattr(statement, "cases", ()):
            yield from _statements(case.body, condition)


def _gives(statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """It hands out a reason."""
    returns = ast.unparse(function.returns) if function.returns else ""
    match statement:
        case ast.Expr(ast.Yield(ast.expr() as value)):
            return returns in GIVEN and bool(
                _texts(value) or [*_cases(value), *_uses(value), *_faults(value)]
            )
        case ast.Expr(ast.YieldFrom()):
            return returns in GIVEN
        case ast.Return(ast.List([]) | None):
            return False
        case ast.Return(ast.Name("REFUSED") | ast.Call(ast.Name("_refuse"))):
            return True
        case ast.Return(ast.Constant(False)):
            return returns == "bool" and function.name in ("ask_consent", "_exactly", "_may_be_typed")
        case ast.Return(ast.expr() as value):
            return returns in ("list[str]", "list[Refusal]", "list[Use]", "list[Failure]")
        case ast.Raise(ast.Call(args=[_, *_]) | ast.Attribute(attr="by_hand")):
            return True
        case ast.AugAssign(ast.Name(name) | ast.Attribute(attr=name), ast.Add()):
            return name in LISTS
        case ast.Assign([ast.Name(name)], ast.ListComp() | ast.List([_, *_])):
            return name in LISTS
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name) | ast.Attribute(attr=name), "append"))):
            return name in LISTS
    return False


def _nothing(statement: ast.stmt) -> ast.stmt:
    """What stands there instead."""
    match statement:
        case ast.Expr(ast.Yield() | ast.YieldFrom()):
            return ast.Expr(ast.YieldFrom(ast.Tuple([], ast.Load())))  # it stays a generator
        case ast.Assign(targets):
            return ast.Assign(targets, ast.List([], ast.Load()))
        case ast.Return(ast.Constant(False)):
            return ast.Return(ast.Constant(True))
        case ast.Return(ast.List() | ast.ListComp()):
            return ast.Return(ast.List([], ast.Load()))
        case ast.Return(ast.Name("REFUSED") | ast.Call(ast.Name("_refuse"))):
            return ast.Pass()
        case ast.Return(value) if value is not None:
            empty: ast.expr = ast.Constant("") if _texts(value) else ast.List([], ast.Load())
            return ast.Return(empty)
    return ast.Pass()


def _words(statement: ast.stmt, condition: str) -> str:
    """The sentence, with `…` for what is filled in; or where the sentence comes from."""
    templates = [SENTENCES[code][case] for code, case in _cases(statement)]
    templates += [USES[kind] for kind in _uses(statement) if kind in USES]
    templates += [WORDS[case] for case in _faults(statement)]
    found = [re.sub(r"\{[^}]*\}", "…", words) for words in templates] or _texts(statement)
    if found:
        return found[0]
    match statement:
        case ast.Return(ast.Name() | ast.Constant() | ast.Call(ast.Name("_refuse"))):
            return f"`{condition}`"
        case ast.Expr(ast.YieldFrom(value)) | ast.Expr(ast.Yield(ast.expr() as value)):
            return f"`{ast.unparse(value)}`"
        case ast.AugAssign(value=value) | ast.Assign(value=value) | ast.Return(ast.expr() as value):
            return f"`{ast.unparse(value)}`"
    return f"`{ast.unparse(statement)}`"


def _cases(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The codes and cases of the refusals that are made in it."""
    for each in ast.walk(node):
        match each:
            case ast.Call(
                ast.Name("refusal" | "Refusal"), [ast.Constant(str(code)), ast.Constant(str(case)), *_]
            ):
                yield code, case
            case ast.Call(ast.Name("refusal" | "Refusal"), [ast.Constant(str(code))]):
                yield code, ""
            case ast.Call(
                ast.Name("refusal"), [ast.Name("CHANGED" | "FINAL" as name), ast.Constant(str(case))]
            ):
                yield {"CHANGED": "changed-since", "FINAL": "not-undoable"}[name], case
            case ast.Call(ast.Name("reason"), [ast.Constant(str(case))]):
                yield "changed-since", case
            case ast.Call(ast.Name("Mismatch"), [_, ast.Constant(str(case)), *_]):
                yield "disk-unmatched", case
            case ast.Call(ast.Name("NotInPlace"), [ast.Constant(str(case)), *_]):
                yield "differs", case
            case ast.Call(ast.Name("BrokenJournal" | "DamagedJournal"), [ast.Constant(str(case)), *_]):
                yield "journal-unusable", case


def _faults(node: ast.AST) -> Iterator[str]:
    """The cases of the faults of a plan file, and of what failed, that are made in it."""
    for each in ast.walk(node):
        match each:
            case ast.Call(ast.Name("fault" | "failure"), [ast.Constant(str(case)), *_]):
                yield case


def _uses(node: ast.AST) -> Iterator[str]:
    """The kinds of the uses that are made in it; a name where the kind is not known before."""
    for each in ast.walk(node):
        match each:
            case ast.Call(ast.Name("use") | ast.Attribute(attr="use"), [ast.Constant(str(kind)), *_]):
                yield kind
            case ast.Call(ast.Attribute(attr="use"), [ast.Name(kind), *_]):
                yield f"`{kind}`"


def _texts(node: ast.AST) -> list[str]:
    """The sentences in it: texts of more than one word."""
    found = []
    inside = {
        id(part)
        for each in ast.walk(node)
        if isinstance(each, ast.JoinedStr)
        for part in ast.walk(each)
        if part is not each
    }
    for each in ast.walk(node):
        if id(each) in inside:
            continue
        text = ""
        if isinstance(each, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in each.values)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            text = each.value
        if " " in text.strip():
            found.append(" ".join(text.split()))
    return found


def _first_sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())
