"""The JSON Schema of a layout file, made from the models, for editors and other programs.

Draft 7, which the YAML language server knows. It is a little wider than the models: a value may be a text
with a range or a reference, or `{each: [...]}`, where the compact form allows it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from pydantic.json_schema import GenerateJsonSchema

from raidplan.layout.as_pydantic import as_pydantic
from raidplan.layout.keys import keys
from raidplan.layout.kinds.model import Model
from raidplan.layout.model import Layout

Schema = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
IDENTIFIER = "urn:raidplan:layout:1"
TITLE = "raidplan layout"

KEY = "^[A-Za-z0-9_<][A-Za-z0-9_<>:/-]*$"
"""The name of an entry, or one with ranges and references for many."""
RANGED, EACH = {"$ref": "#/definitions/ranged"}, {"$ref": "#/definitions/each"}
SHARED = {
    "ranged": {
        "description": "Text with a range `<0-7>` or `<a/b>`, or a reference `<1>` to one further up.",
        "type": "string",
        "pattern": "<[^<>]+>",
    },
    "each": {
        "description": "One value for each entry that the range above makes, in order.",
        "type": "object",
        "properties": {
            "each": {
                "description": "The values, in the order of the names.",
                "type": "array",
                "minItems": 1,
                "examples": [["WD-A1", "WD-B2"]],
            }
        },
        "required": ["each"],
        "additionalProperties": False,
    },
}


class _Draft7(GenerateJsonSchema):
    schema_dialect = DRAFT


def layout_schema() -> Schema:
    """The schema as plain values."""
    made = as_pydantic(Layout).model_json_schema(
        schema_generator=_Draft7, ref_template="#/definitions/{model}"
    )
    definitions: Schema = made.pop("$defs")
    repeated = _repeated(made, definitions)
    models = {model.__name__: model for model in Model.__subclasses__()}
    definitions = {
        name: _object(schema, models[name], name in repeated) for name, schema in sorted(definitions.items())
    }
    root = _object(made, Layout, False)
    properties = root["properties"]
    properties["version"] = {"description": "The version of this format.", "const": 1, "examples": [1]}
    # Not anyOf: an editor would say only that none of the two fits.
    properties["hardware"] = {
        "description": "The machine, or the name of a file beside this one that holds these keys.",
        "if": {"type": "string"},
        "else": {"$ref": "#/definitions/Hardware"},
        "default": {},
        "examples": ["box.hardware.yaml", {"disks": {"d00": {"serial": "WD-A1", "size": "4TB"}}}],
    }
    return {
        "$schema": DRAFT,
        "$id": IDENTIFIER,
        "title": TITLE,
        **root,
        "definitions": {**SHARED, **definitions},
    }


def _repeated(root: Schema, definitions: Schema) -> set[str]:
    """The models below a key that may have ranges: there, values may refer to them."""
    found: set[str] = set()
    todo = [
        name for schema in (root, *definitions.values()) for name in _references(schema, below_names=True)
    ]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += _references(definitions[name])
    return found


def _references(schema: Any, *, below_names: bool = False) -> Iterator[str]:
    """The names of the definitions a schema refers to; `below_names`: only as entries with free names."""
    if isinstance(schema, list):
        for item in schema:
            yield from _references(item, below_names=below_names)
    elif isinstance(schema, dict):
        if "$ref" in schema and not below_names:
            yield str(schema["$ref"]).rpartition("/")[2]
        for key, value in schema.items():
            yield from _references(value, below_names=below_names and key != "patternProperties")


def _object(schema: Schema, model: type[Model], repeated: bool) -> Schema:
    """A model's schema with its descriptions, its fields widened by the compact form."""
    properties = {}
    for key in keys(model).values():
        value = _field(schema["properties"][key.name], repeated)
        default = key.field.default if isinstance(key.field.default, bool) else key.default
        value |= {"default": default} if key.default else {}
        value |= {"default": _empty(key.field.default)} if key.field.default in ({}, ()) else {}
        value |= {"examples": [_plain(key.example, value)]} if key.example else {}
        properties[key.name] = {"description": key.description, **value}
    return {
        "description": inspect.cleandoc(model.__doc__ or ""),
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": schema["required"]} if "required" in schema else {}),
    }


def _empty(default: object) -> object:
    return {} if isinstance(default, Mapping) else []


def _plain(example: str, schema: Schema) -> object:
    """An example as an editor reads it."""
    read = yaml.load(example, yaml.BaseLoader)
    typed = any(
        each.get("type") in ("integer", "boolean") or 512 in each.get("enum", ())
        for each in schema.get("anyOf", [schema])
    )
    return yaml.safe_load(example) if typed or example[0] in "{[" else read


def _field(schema: Schema, repeated: bool) -> Schema:
    """A field's schema; in a model that ranges repeat, each value may be one of the compact forms."""
    variants = [_value(variant) for variant in schema.get("anyOf", [schema])]
    return _any_of([*variants, RANGED, EACH] if repeated else variants)


def _any_of(variants: list[Schema]) -> Schema:
    if len(variants) > 1:
        return {"anyOf": variants}
    # Draft 7 ignores what stands beside a $ref, such as a description.
    return {"allOf": variants} if "$ref" in variants[0] else variants[0]


def _value(schema: Schema) -> Schema:
    """One variant: lists and entries take ranges, texts that look like numbers may be typed without quotes."""
    if "items" in schema:
        return {"type": "array", "items": _any_of([_value(schema["items"]), RANGED, EACH])}
    if "patternProperties" in schema:
        (entry,) = schema["patternProperties"].values()
        return {"type": "object", "patternProperties": {KEY: _value(entry)}, "additionalProperties": False}
    if "enum" in schema:
        return {"enum": [*schema["enum"], *_numbers(schema["enum"])]}
    return {key: value for key, value in schema.items() if key not in ("title", "default", "description")}


def _numbers(words: list[Any]) -> Iterator[float]:
    for word in words:
        if isinstance(word, str) and word.replace(".", "", 1).isdigit():
            yield float(word)
