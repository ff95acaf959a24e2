"""Small changes of a module, each of which a test should notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: the `variant`-th of the node with this number in `ast.walk`."""

    file: Path
    node: int
    variant: int
    what: str
    lines: frozenset[int]
    """Of the node, and where its statement begins."""
    around: tuple[int, int] | None
    """First and last line of the function; None for what runs when the module is imported."""
    names: frozenset[str]
    """What a statement outside of functions defines."""

    def __str__(self) -> str:
        return f"{self.file}:{max(self.lines)}: {self.what}"


def mutants(source: str, file: Path) -> Iterator[Mutant]:
    """Every change of the module."""
    tree = ast.parse(source)
    left_out = {id(each) for top in _left_out(tree) for each in ast.walk(top)}
    places = dict(_places(tree))
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in left_out or id(node) not in places:
            continue
        statement, function, names = places[id(node)]
        if function is None and isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            continue  # the type of something
        if not isinstance(node, ast.expr | ast.stmt):
            continue
        lines = {statement.lineno, *range(node.lineno, (node.end_lineno or node.lineno) + 1)}
        around = (function.lineno, function.end_lineno or function.lineno) if function else None
        for variant, (what, _) in enumerate(_changes(node)):
            yield Mutant(file, number, variant, what, frozenset(lines), around, names)


def mutated(source: str, mutant: Mutant) -> ast.Module:
    """The module with that change."""
    tree = ast.parse(source)
    node = next(node for number, node in enumerate(ast.walk(tree)) if number == mutant.node)
    _, new = _changes(node)[mutant.variant]
    made = _Replaced(node, new).visit(tree)
    assert isinstance(made, ast.Module)
    return ast.fix_missing_locations(made)


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, ast.copy_location(new, old)

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _left_out(tree: ast.AST) -> Iterator[ast.AST]:
    """Types, decorators and the widths of numbers: no work is done there."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef():
                yield from node.decorator_list
                yield from (node.returns,) if node.returns else ()
            case ast.ClassDef():
                yield from node.decorator_list
            case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
                yield annotation
            case ast.FormattedValue(format_spec=ast.expr() as form):
                yield form


Where = tuple[ast.stmt, ast.FunctionDef | None, frozenset[str]]


def _places(
    node: ast.AST, statement: ast.stmt | None = None, function: ast.FunctionDef | None = None, names: frozenset[str] = frozenset()
) -> Iterator[tuple[int, Where]]:  # fmt: skip
    """For each node by its identity: its statement, its outermost function, and what it defines at the top."""
    for child in ast.iter_child_nodes(node):
        inner, defines = statement, names
        if isinstance(child, ast.stmt):
            inner = child
            if isinstance(node, ast.Module):
                defines = frozenset(defined(child))
        if inner is not None:
            yield id(child), (inner, function, defines)
        within = function or (child if isinstance(child, ast.FunctionDef) else None)
        yield from _places(child, inner, within, defines)


def defined(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement gives a meaning; not those within functions."""
    match statement:
        case ast.FunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name, body=body):
            yield name
            for each in body:
                yield from defined(each)
        case _:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id


def _changes(node: ast.AST) -> list[tuple[str, ast.AST]]:
    """What can be made of a node, in words and as a node."""
    match node:
        case ast.Compare():
            return list(_compared(node))
        case ast.BoolOp():
            op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            return [(_words(node.op, op), ast.BoolOp(op, node.values))]
        case ast.BinOp(left, op, right) if type(op) in CALCULATED and not (_is_text(left) or _is_text(right)):
            new = CALCULATED[type(op)]()
            return [(_words(op, new), ast.BinOp(left, new, right))]
        case ast.UnaryOp(ast.Not(), operand):
            return [("no `not`", operand)]
        case ast.Constant(bool() as value):
            return [(f"{value} to {not value}", ast.Constant(not value))]
        case ast.Constant(int() | float() as value):
            return [(f"{value} to {value + by}", ast.Constant(value + by)) for by in (1, -1)]
        case ast.Return(value=ast.expr() as returned) if not _is_none(returned):
            return [("returns None", ast.Return(ast.Constant(None)))]
        case ast.Yield() | ast.YieldFrom():
            return [("yields nothing", ast.YieldFrom(ast.Tuple([], ast.Load())))]
    return []


def _compared(node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    for number, op in enumerate(node.ops):
        new = COMPARED[type(op)]()
        ops = [*node.ops[:number], new, *node.ops[number + 1 :]]
        yield _words(op, new), ast.Compare(node.left, ops, node.comparators)


def _words(old: ast.AST, new: ast.AST) -> str:
    return f"{type(old).__name__} to {type(new).__name__}"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
