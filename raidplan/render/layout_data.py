"""A layout to the plain values that a user would write: every quantity as text with its unit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, get_args

from raidplan.base.plain import Plain
from raidplan.base.size import exact
from raidplan.layout.kinds import model
from raidplan.layout.kinds.model import Model, fields


def layout_to_data(layout: Model) -> dict[str, Plain]:
    """The given values, in the contract's order of keys; defaults that nobody wrote are left out."""
    return {
        field.key: _plain(getattr(layout, name), field.hint)
        for name, field in fields(type(layout)).items()
        if name in layout.written
    }


def _plain(value: Any, hint: Any) -> Plain:
    match value:
        case Model():
            return layout_to_data(value)
        case dict():
            return {name: _plain(entry, hint) for name, entry in value.items()}
        case tuple():
            return [_plain(entry, hint) for entry in value]
        case bool() | str() | None:
            return value
        case _:
            return _writer(hint)(value)


def _writer(hint: Any) -> Callable[[Any], Plain]:
    """The function that writes the numbers of a field: by its type, found through unions."""
    known = next((WRITERS[mark] for mark in getattr(hint, "__metadata__", ()) if mark in WRITERS), None)
    if known is not None:
        return known
    inner = (_writer(part) for part in get_args(hint))
    return next((writer for writer in inner if writer is not int), int)


def _rate(value: int) -> str:
    return f"{exact(value)}/s"


def _speed(value: int) -> str:
    return _in_units(Fraction(value), {"Gbps": Fraction(10**9), "Mbps": Fraction(10**6)})


def _clock(value: int) -> str:
    return _in_units(Fraction(value), {"MHz": Fraction(10**6)})


def _duration(value: Fraction) -> str:
    return _in_units(value, {"s": Fraction(1), "ms": Fraction(1, 1000), "min": Fraction(60)})


def _percent(value: Fraction) -> str:
    return f"{_decimal(value)}%"


def _in_units(value: Fraction, units: dict[str, Fraction]) -> str:
    """The number in the first unit that makes it a whole one, else in the one that makes it shortest."""
    texts = [f"{number}{unit}" for unit, scale in units.items() if (number := _decimal(value / scale))]
    return next((text for text in texts if "." not in text), min(texts, key=len))


def _decimal(value: Fraction) -> str:
    """All digits of a number; empty if they never end."""
    digits = next((n for n in range(64) if (value * 10**n).denominator == 1), None)
    if digits is None:
        return ""
    whole = str(int(value * 10**digits)).zfill(digits + 1)
    return f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole


KINDS: tuple[tuple[Any, Callable[[Any], Plain]], ...] = (
    (model.AnySize, exact),
    (model.Size, exact),
    (model.Rate, _rate),
    (model.Speed, _speed),
    (model.Clock, _clock),
    (model.Duration, _duration),
    (model.Percent, _percent),
)
WRITERS = {kind.__metadata__[0]: writer for kind, writer in KINDS}
"""The writers by the mark of each type."""
