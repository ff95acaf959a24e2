"""pydantic reads layouts as a second opinion: it takes and refuses what the reader takes and refuses, and finds the same values."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from raidplan.document.read import parse_document, read_text
from raidplan.layout.as_pydantic import as_pydantic
from raidplan.layout.kinds.model import Model, fields
from raidplan.layout.load import read_layout
from raidplan.layout.model import Layout
from tests.examples import EXAMPLES

JUNK: list[object] = [None, "", "x", "1", "7", "-1", "3TB", "512KiB", "rest", "true", "/dev/sda", "d00", "raid5", "150MB/s", [], ["d00"], [None], {}, {"a b": {}},
    {"from": ["d00"], "count": "2", "spread": "bus"}]  # fmt: skip
KEYS = ["size", "sizes", "members", "level", "device", "from", "type", "a b", "version", "d00"]


def plain(file: str) -> Any:
    text, _ = read_text(file)
    assert text is not None
    document, _ = parse_document(text, file)
    assert document is not None
    return document.root.plain()


LAYOUTS = [plain(str(file)) for file in EXAMPLES]


def places(values: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in the tree but the whole."""
    inside = (
        values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    )
    return [found for key, value in inside for found in [(*path, key), *places(value, (*path, key))]]


PLACES = [places(layout) for layout in LAYOUTS]


def same(ours: Any, theirs: Any) -> bool:
    """The same values, model by model."""
    if isinstance(ours, Model):
        assert isinstance(theirs, BaseModel)
        return ours.written == theirs.model_fields_set and all(
            same(getattr(ours, name), getattr(theirs, name)) for name in fields(type(ours))
        )
    if isinstance(ours, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and bool(ours == theirs)


def compare(values: Any) -> None:
    layout, findings = read_layout(values)
    try:
        second = as_pydantic(Layout).model_validate(values)
    except ValidationError as problems:
        assert layout is None, problems
        # A wrong shape in a union is said there for each half, here once; a misspelt key is not missing as well.
        assert len(findings) <= problems.error_count()
    else:
        assert layout is not None and same(layout, second), findings


@pytest.mark.parametrize("values", LAYOUTS, ids=[file.stem for file in EXAMPLES])
def test_the_examples(values: Any) -> None:
    compare(values)


@given(st.data())
def test_layouts_with_something_wrong(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(LAYOUTS) - 1))
    values = copy.deepcopy(LAYOUTS[number])
    for path in data.draw(st.lists(st.sampled_from(PLACES[number]), min_size=1, max_size=3, unique=True)):
        change(values, path, data)
    if isinstance(values, dict) and values.get("version", "1") == "1":
        compare(values)


def change(values: Any, path: tuple[str | int, ...], data: st.DataObject) -> None:
    """Puts something else there, adds a key beside it, or takes it away; nothing if it is gone already."""
    for part in path[:-1]:
        if not isinstance(values, dict | list) or (
            part not in values
            if isinstance(values, dict)
            else not isinstance(part, int) or part >= len(values)
        ):
            return
        values = values[part]
    how = data.draw(st.sampled_from(["replace", "add", "remove"]))
    if isinstance(values, dict):
        if how == "add":
            values[data.draw(st.sampled_from(KEYS))] = data.draw(st.sampled_from(JUNK))
        elif path[-1] in values:
            del values[path[-1]]
            if how == "replace":
                values[path[-1]] = data.draw(st.sampled_from(JUNK))
    elif isinstance(values, list) and isinstance(path[-1], int) and path[-1] < len(values):
        values[path[-1]] = data.draw(st.sampled_from(JUNK))
