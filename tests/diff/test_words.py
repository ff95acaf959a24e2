"""Every quantity of a layout is told with its unit."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from raidplan.layout.keys import models, values
from raidplan.layout.kinds.model import Model, fields
from raidplan.layout.model import Layout
from raidplan.render.statements import value_text

UNITS = {
    "size": "KiB",
    "rate": "KiB/s",
    "link speed": "Gbps",
    "clock": "MHz",
    "duration": "s",
    "percentage": "%",
}


def quantities(model: type[Model]) -> Iterator[tuple[str, str]]:
    """Each key of a model and of those below it that takes a quantity, and its unit here."""
    for key, field in fields(model).items():
        yield from ((key, UNITS[word]) for word in values(field.hint) if word in UNITS)
        for inner in models(field.hint):
            yield from quantities(inner)


@pytest.mark.parametrize(("key", "unit"), sorted(set(quantities(Layout))))
def test_a_quantity_has_its_unit(key: str, unit: str) -> None:
    number = Fraction(3) if unit in ("s", "%") else 3 * {"Gbps": 10**9, "MHz": 10**6}.get(unit, 1024)
    assert value_text(key, number) == f"3{unit}"
