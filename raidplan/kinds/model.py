"""What every kind is made of: a frozen model that knows no unknown keys, and the types of its fields.

Every scalar arrives as the text that was typed; the field's type alone decides what it means.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from raidplan import size
from raidplan.levels import level_named


class Model(BaseModel):
    """The base of all kinds."""

    # Built once, as a part of Layout: each model for itself would double the start time.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def typed(parse: Callable[[str], object], schema: dict[str, Any]) -> tuple[BeforeValidator, WithJsonSchema]:
    def validate(value: object) -> object:
        if not isinstance(value, str):
            raise ValueError("a single value is expected here, not a mapping, a list or nothing")
        return parse(value)

    return BeforeValidator(validate), WithJsonSchema(schema)


def _integer(text: str) -> int:
    if not re.fullmatch(r"-?\d{1,18}", text):
        raise ValueError(f"'{text}' is not a whole number")
    return int(text)


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"'{text}' is neither true nor false")
    return text == "true"


def _name(text: str) -> str:
    if not re.fullmatch(NAME_PATTERN, text) or len(text) > 64:
        raise ValueError(f"'{text}' is not a name: use A-Z a-z 0-9 _ -, not beginning with -, at most 64")
    return text


def _reference(text: str) -> str:
    if not re.fullmatch(REFERENCE_PATTERN, text):
        raise ValueError(f"'{text}' is not the name of a device: write d00, d00.root, s0 or vg0.home")
    return text


def _percent(text: str) -> Fraction:
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,3})?)%", text)
    if not match or Fraction(match[1]) > 100:
        raise ValueError(f"'{text}' is not a percentage from 0% to 100%")
    return Fraction(match[1])


def _word(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("text without line breaks and control characters is expected")
    return text


def _level(text: str) -> str:
    return level_named(text).name


NAME_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_-]*"
REFERENCE_PATTERN = rf"{NAME_PATTERN}(\.{NAME_PATTERN})?"
SIZE_PATTERN = r"^\d+(\.\d+)?\s?(B|KiB|MiB|GiB|TiB|kB|MB|GB|TB)$"
RATE_PATTERN = SIZE_PATTERN[:-1] + "/s$"

Size = Annotated[int, *typed(size.parse_size, {"type": "string", "pattern": SIZE_PATTERN})]
Rate = Annotated[int, *typed(size.parse_rate, {"type": "string", "pattern": RATE_PATTERN})]
Speed = Annotated[int, *typed(size.parse_speed, {"type": "string", "pattern": r"^\d+(\.\d+)?[GM]bps$"})]
Clock = Annotated[int, *typed(size.parse_clock, {"type": "string", "pattern": r"^\d+(\.\d+)?MHz$"})]
Duration = Annotated[
    Fraction, *typed(size.parse_seconds, {"type": "string", "pattern": r"^\d+(\.\d+)?(s|ms|min)$"})
]
Integer = Annotated[int, *typed(_integer, {"type": "integer"})]
Boolean = Annotated[bool, *typed(_boolean, {"type": "boolean"})]
Percent = Annotated[Fraction, *typed(_percent, {"type": "string", "pattern": r"^\d{1,3}(\.\d+)?%$"})]
Name = Annotated[str, *typed(_name, {"type": "string", "pattern": f"^{NAME_PATTERN}$"})]
Reference = Annotated[str, *typed(_reference, {"type": "string", "pattern": f"^{REFERENCE_PATTERN}$"})]
Word = Annotated[str, *typed(_word, {"type": ["string", "number"]})]
LevelName = Annotated[str, *typed(_level, {"enum": ["linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10",
                                                     0, 1, 4, 5, 6, 10]})]  # fmt: skip
