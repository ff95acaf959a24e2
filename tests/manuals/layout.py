"""The page that describes every key of a layout, made of the models and their docstrings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from raidplan.layout.kinds.model import Field, Model, Written, fields
from raidplan.layout.model import Layout
from raidplan.layout.schema import field_docstrings

HEAD = """\
# The layout file

Made from the models by `pytest tests/test_docs.py --update-golden`; a test keeps it fresh.

Names: `A-Z a-z 0-9 _ -`, not beginning with `-`; a dot joins a disk and its partition (`d00.root`), a group and its
volume (`vg0.home`). Sizes: `KiB MiB GiB TiB`, `kB MB GB TB` or `B`, exact. Rates: `150MB/s`. Link speeds: `6Gbps`.
Everything else is the text that was typed. Anchors, aliases, tags, merge keys, duplicate keys and several documents
are refused: what two readers could understand differently has no place in a file that says which disks are written to.

## Ranges

The compact form. A key with ranges stands for one entry for each combination, the last range counting fastest:

```yaml
disks:
  d<0-7><0-4>: {behind: pm<1>, port: <2>, size: 3TB}
```

is `d00`, `d01` … `d74`. Below such a key `<1>` is the value of its first range, `<1:4-7>` or `<1:a/b>` the value at the
same place of another range. A list item with a range stands for several: `members: [d<0-7>0]`. `<00-11>` keeps its
width, `<a/b/c>` lists words. `{each: [A, B]}` gives one value to each entry, in order. Quoted values are never expanded.
`raidplan show` prints what it all means.
"""


def layout_manual() -> str:
    """The page, as Markdown."""
    return HEAD + "".join(_sections())


def _sections() -> Iterator[str]:
    waiting: list[tuple[str, type[Model]]] = [("The layout", Layout)]
    seen: set[type[Model]] = set()
    while waiting:
        title, model = waiting.pop(0)
        if model in seen:
            continue
        seen.add(model)
        yield f"\n## {title}\n\n{_first_line(model)}\n\n| key | value | |\n| --- | --- | --- |\n"
        docs = field_docstrings(model)
        for name, field in fields(model).items():
            yield f"| `{field.key}` | {' or '.join(_words(field.hint))} | {_cell(docs.get(name, ''))}{_default(field)} |\n"
            waiting += [(_title(title, field.key), inner) for inner in _models(field.hint)]


def _title(title: str, key: str) -> str:
    return key if title == "The layout" else f"{title}.{key}"


def _first_line(model: type[Model]) -> str:
    return (model.__doc__ or "").strip().splitlines()[0]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _default(field: Field) -> str:
    if field.required:
        return " (required)"
    plain = isinstance(field.default, str | int) and not isinstance(field.default, bool)
    return f" Default: `{field.default}`." if plain else ""


def _models(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _words(annotation: Any) -> Iterator[str]:
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is NoneType:
        return
    if origin in (Union, UnionType):
        for each in inner:
            yield from _words(each)
    elif origin is Annotated:
        schema = next((mark.schema for mark in inner if isinstance(mark, Written)), None)
        yield from [_schema_words(schema)] if schema else _words(inner[0])
    elif origin is Literal:
        yield " ".join(f"`{word}`" for word in inner)
    elif origin is tuple:
        yield "list of " + " or ".join(_words(inner[0]))
    elif origin is Mapping:
        yield "mapping of names"
    elif isinstance(annotation, type) and issubclass(annotation, Model):
        yield "mapping"
    else:
        yield "text"


def _schema_words(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " ".join(f"`{word}`" for word in schema["enum"])
    pattern = str(schema.get("pattern", ""))
    known = {
        "KiB": "size",
        "bps": "link speed",
        "MHz": "clock",
        "ms|": "duration",
        "%$": "percentage",
        "@": "mail address",
        "A-Za": "name",
        "^/": "path",
    }
    if pattern.endswith("/s$"):
        return "rate"
    return next(
        (word for part, word in known.items() if part in pattern),
        {"integer": "number", "boolean": "`true` `false`"}.get(str(schema.get("type")), "text"),
    )
