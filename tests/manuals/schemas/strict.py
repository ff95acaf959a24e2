"""Real outputs held against their Schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

from jsonschema import Draft7Validator

from tests.manuals.schemas import schema


@cache
def closed(name: str) -> Draft7Validator:
    """The Schema without its room for later versions: no other key, no other word."""
    strict = deepcopy(schema(name))
    for part in _parts(strict):
        if "properties" in part and "required" in part and "if" not in part:
            part["additionalProperties"] = False
        if "examples" in part:
            part["enum"] = [*part.pop("examples"), *(["", None] if isinstance(part["type"], list) else [""])]
    return Draft7Validator(strict)


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _parts(part)


def problems(name: str, text: str) -> list[str]:
    """Everything in an output that its Schema does not have."""
    return [f"{'.'.join(map(str, error.path))}: {error.message:.300}" for error in closed(name).iter_errors(json.loads(text))]  # fmt: skip
