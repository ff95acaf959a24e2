"""The page that describes every key of a layout, made of the models and their docstrings."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.layout.keys import Key, keys, models, values
from raidplan.layout.kinds.model import Model
from raidplan.layout.model import Layout

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
        yield f"\n## {title}\n\n{_first_line(model)}\n\n| key | value | | example |\n| --- | --- | --- | --- |\n"
        for key in keys(model).values():
            anchor = f'<a id="{anchor_of(title, key.name)}"></a>'
            example = f"`{key.example}`" if key.example and not key.words else ""
            yield f"| {anchor}`{key.name}` | {' or '.join(values(key.field.hint))} | {_cell(_without_example(key))}{_default(key)} | {example} |\n"
            waiting += [(_title(title, key.name), inner) for inner in models(key.field.hint)]


def _without_example(key: Key) -> str:
    """The description; the example of a section stands in a column of its own."""
    return (
        key.description.replace(f": `{key.example}`", "") if any(models(key.field.hint)) else key.description
    )


def anchor_of(title: str, key: str) -> str:
    """The anchor of a key: its path, with dots."""
    return key if title == "The layout" else f"{title}.{key}"


def _title(title: str, key: str) -> str:
    return key if title == "The layout" else f"{title}.{key}"


def _first_line(model: type[Model]) -> str:
    return (model.__doc__ or "").strip().splitlines()[0]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _default(key: Key) -> str:
    if key.field.required:
        return " (required)"
    return f" Default: `{key.default}`." if key.default else ""
