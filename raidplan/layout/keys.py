"""The keys of a layout: the one source of the words of the Schema, the manual and editors.

A description is the text below the field in the model's source; the example is the first word in backticks there
that the field takes, else the sample of its type.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from raidplan.base.mistake import Mistake
from raidplan.base.size import MIB
from raidplan.layout.kinds.model import Field, Model, Written, fields
from raidplan.layout.model import Layout


@dataclass(frozen=True, slots=True)
class Key:
    """One key of one model."""

    field: Field
    description: str
    words: tuple[str, ...]
    """The values that can be typed where those are few."""
    example: str
    """A value as it is written."""
    default: str
    """The default as it is written; empty where there is none, or the description tells it."""

    @property
    def name(self) -> str:
        """The key as it is written."""
        return self.field.key


def keys(model: type[Model]) -> Mapping[str, Key]:
    """The keys of a model, in the contract's order."""
    if model not in _KEYS:
        docstrings = _docstrings(model)
        _KEYS[model] = {
            field.key: _key(field, docstrings.get(name, "")) for name, field in fields(model).items()
        }
    return _KEYS[model]


_KEYS: dict[type[Model], Mapping[str, Key]] = {}
"""The keys asked for before."""


def _key(field: Field, said: str) -> Key:
    words = tuple(_words(field.hint))
    return Key(field, said, words, _example(field, said, words), _default(field))


def model_at(path: Sequence[str | int], top: type[Model] = Layout) -> tuple[type[Model] | None, bool]:
    """The model at a path of the layout, and whether its entries have names of their own; None where a value stands."""
    model: type[Model] | None = top
    named = False
    for part in path:
        if named:
            named = False
        elif isinstance(part, int):
            continue
        elif model is None or part not in keys(model):
            return None, False
        else:
            hint = keys(model)[part].field.hint
            model = next(models(hint), None)
            named = model is not None and _maps(hint)
    return model, named


def models(hint: Any) -> Iterator[type[Model]]:
    """The models in the type of a field."""
    if isinstance(hint, type) and issubclass(hint, Model):
        yield hint
    for inner in get_args(hint):
        yield from models(inner)


def takes_list(hint: Any) -> bool:
    """True if the value of a field can be a list."""
    return get_origin(hint) is tuple or (
        get_origin(hint) is not Mapping and any(takes_list(inner) for inner in get_args(hint))
    )


def _maps(hint: Any) -> bool:
    return get_origin(hint) is Mapping


def _marks(hint: Any) -> Iterator[Written]:
    """The notations of a field, the outermost first."""
    if get_origin(hint) is Annotated:
        yield from (mark for mark in get_args(hint) if isinstance(mark, Written))
    for inner in get_args(hint):
        yield from _marks(inner)


def _words(hint: Any) -> Iterator[str]:
    """The words among the values of a field."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        yield from map(str, inner)
    elif origin is Mapping or (isinstance(hint, type) and issubclass(hint, Model)):
        return
    elif origin is Annotated:
        schemas = [mark.schema for mark in inner if isinstance(mark, Written) and mark.schema]
        yield from (str(word) for schema in schemas for word in _of_schema(schema))
        yield from () if schemas else _words(inner[0])
    else:
        for each in inner:
            yield from _words(each)


def _of_schema(schema: Mapping[str, Any]) -> Sequence[object]:
    return ("true", "false") if schema.get("type") == "boolean" else schema.get("enum", ())


def _example(field: Field, said: str, words: Sequence[str]) -> str:
    hint = field.hint
    if any(models(hint)) and not words:
        whole = re.search(r"`([{[][^`]+[]}])`", said)
        if any(get_origin(each) is tuple for each in get_args(hint)):
            return "[d00, d01]"
        return whole[1] if whole else ""
    quoted = [word for word in re.findall(r"`([^`]+)`", said) if _takes(hint, word, words)]
    sample = next((mark.sample for mark in _marks(hint) if mark.sample), "")
    found = next(iter([*quoted, *words, sample]), "")
    many = get_origin(hint) is tuple and not found.startswith("[")
    return f"[{found}]" if many else found


def _takes(hint: Any, word: str, words: Sequence[str]) -> bool:
    marks = list(_marks(hint))
    try:
        return word in words or (bool(marks) and marks[0].read(word) is not None)
    except Mistake:
        return word.startswith("[") and get_origin(hint) is tuple


def _default(field: Field) -> str:
    match field.default:
        case bool() as switch:
            return str(switch).lower()
        case str() as text:
            return text
        case Fraction() as share:
            return f"{share}%"
        case int() as number:
            return f"{number // MIB}MiB" if number >= MIB else str(number)
        case _:
            return ""


def values(hint: Any) -> Iterator[str]:
    """The kinds of values that a field takes, in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is NoneType:
        return
    if origin in (Union, UnionType):
        for each in inner:
            yield from values(each)
    elif origin is Annotated:
        schema = next((mark.schema for mark in inner if isinstance(mark, Written)), None)
        yield from [_schema_words(schema)] if schema else values(inner[0])
    elif origin is Literal:
        yield " ".join(f"`{word}`" for word in inner)
    elif origin is tuple:
        yield "list of " + " or ".join(values(inner[0]))
    elif origin is Mapping:
        yield "mapping of names"
    elif isinstance(hint, type) and issubclass(hint, Model):
        yield "mapping"
    else:
        yield "text"


def _schema_words(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " ".join(f"`{word}`" for word in schema["enum"])
    pattern = str(schema.get("pattern", ""))
    known = {
        "/s$": "rate",
        "KiB": "size",
        "bps": "link speed",
        "MHz": "clock",
        "ms|": "duration",
        "%$": "percentage",
        "@": "mail address",
        "A-Za": "name",
        "^/": "path",
    }
    return next(
        (word for part, word in known.items() if part in pattern),
        {"integer": "number", "boolean": "`true` `false`"}.get(str(schema.get("type")), "text"),
    )


def _docstrings(model: type[Model]) -> dict[str, str]:
    """The text below each field in the model's source, by field; read here only, since it takes its time."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(model)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found = {}
    for field, text in pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                found[name] = " ".join(inspect.cleandoc(said).split())
    return found
