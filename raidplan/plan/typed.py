"""Plain values of JSON with the types that they have to have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def of(kind: type[T], value: object) -> T:
    """The value, if it is of that type; for Python True is a number. Raises TypeError."""
    if type(value) is not kind:
        raise TypeError(f"{value!r:.80} is no {kind.__name__}")
    return value


def typed(data: dict[str, Any], kinds: Mapping[str, type]) -> dict[str, Any]:
    """The values of an object with exactly these keys and types. Raises TypeError, KeyError."""
    if data.keys() - kinds.keys():
        raise TypeError(f"{min(data.keys() - kinds.keys())!r:.80} is no key that is known there")
    return {name: of(kind, data[name]) for name, kind in kinds.items()}
