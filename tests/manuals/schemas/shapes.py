"""How the Schema of an output is written down: types with a description, objects with their keys in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]


def text(says: str, *words: str) -> Schema:
    """A text; `words` are those that it has today, and more may come."""
    return {"description": says, "type": "string", **({"examples": list(words)} if words else {})}


def whole(says: str) -> Schema:
    """A whole number."""
    return {"description": says, "type": "integer"}


def number(says: str) -> Schema:
    """A number."""
    return {"description": says, "type": "number"}


def flag(says: str) -> Schema:
    """True or false."""
    return {"description": says, "type": "boolean"}


def constant(value: object, says: str) -> Schema:
    """One value."""
    return {"description": says, "const": value}


def or_null(schema: Schema) -> Schema:
    """The same, or null."""
    return {**schema, "type": [schema["type"], "null"]}


def listed(says: str, items: Schema) -> Schema:
    """A list."""
    return {"description": says, "type": "array", "items": items}


def texts(says: str) -> Schema:
    """A list of texts."""
    return listed(says, {"type": "string"})


def by_name(says: str, values: Schema) -> Schema:
    """An object whose keys are names."""
    return {"description": says, "type": "object", "additionalProperties": values}


def record(says: str, keys: Mapping[str, Schema]) -> Schema:
    """An object with these keys; one that ends with `?` may be absent. Others may be added in later versions."""
    return {
        "description": says,
        "type": "object",
        "properties": {name.removesuffix("?"): value for name, value in keys.items()},
        "required": [name for name in keys if not name.endswith("?")],
    }


def ref(name: str) -> Schema:
    """A definition of the same Schema."""
    return {"$ref": f"#/definitions/{name}"}


def maybe(name: str) -> Schema:
    """A definition, or null."""
    return {"anyOf": [ref(name), {"type": "null"}]}


VALUE = {"type": ["string", "integer", "boolean", "null", "array"], "items": {"type": "string"}}
"""A property of a machine."""
