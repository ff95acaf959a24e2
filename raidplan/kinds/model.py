"""What every kind is made of: a frozen model that knows no unknown keys, and the types of its fields.

Every scalar arrives as the text that was typed; the field's type alone decides what it means.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

# No plugin of another package has a say in what a layout means;
# looking for some reads the metadata of every installed package.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "true")

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from raidplan import size
from raidplan.hidden import is_seen
from raidplan.levels import level_named


class Model(BaseModel):
    """The base of all kinds."""

    # Built once, as a part of Layout: each model for itself would double the start time.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def typed(parse: Callable[[str], object], schema: dict[str, Any]) -> tuple[BeforeValidator, WithJsonSchema]:
    """A field that `parse` reads from the text that was typed.

    It raises ValueError with a sentence for the user; what to do about it stands after a semicolon.
    """

    return BeforeValidator(lambda value: parse(single(value))), WithJsonSchema(schema)


def single(value: object) -> str:
    """The text of a scalar. Raises ValueError for anything else."""
    if not isinstance(value, str):
        found = "nothing" if value is None else "a mapping" if isinstance(value, dict) else "a list"
        raise ValueError(f"{found} is written here, and a single value is expected; write key: value")
    return value


def size_or(word: str) -> WrapValidator:
    """For a field that takes a word in place of a size: `Annotated[Size | Literal["rest"], size_or("rest")]`."""
    return _either(word, size.parse_size, f"neither a size nor '{word}'; write 512KiB, 3TB or {word}")


def duration_or(word: str) -> WrapValidator:
    """For a field that takes a word in place of a duration."""
    return _either(word, size.parse_seconds, f"neither a duration nor '{word}'; write 7s or {word}")


def _either(word: str, parse: Callable[[str], int | Fraction], neither: str) -> WrapValidator:
    """One mistake is one complaint; the union alone would complain for each of its halves."""

    def validate(value: object, _: ValidatorFunctionWrapHandler) -> int | Fraction | str:
        if value == word:
            return word
        text = single(value)
        if not re.fullmatch(r"[0-9.]+ ?[A-Za-z]*", text):
            raise ValueError(f"'{text}' is {neither}")
        return parse(text)

    return WrapValidator(validate)


def refused(rule: str, message: str, hint: str) -> PydanticCustomError:
    """A mistake that has a rule of its own; raise it in place of a ValueError."""
    return PydanticCustomError("refused", "{message}", {"rule": rule, "message": message, "hint": hint})


def _integer(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise ValueError(f"'{text}' is not a whole number; write digits alone")
    return int(text)


def _block(text: str) -> int:
    if text not in map(str, BLOCKS):
        raise ValueError(
            f"'{text}' is not a size of blocks in bytes; write 512, 4096 or another power of two"
        )
    return int(text)


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"'{text}' is neither true nor false; write one of the two")
    return text == "true"


def _name(text: str) -> str:
    if not re.fullmatch(NAME_PATTERN, text) or len(text) > 64:
        raise ValueError(f"'{text}' is not a name; use A-Z a-z 0-9 _ -, not beginning with -, at most 64")
    return text


def _reference(text: str) -> str:
    if re.match(KERNEL_DEVICE, text):
        raise refused(
            "unstable-device-name",
            f"'{text}' may be another disk after the next boot",
            "describe the disk under hardware.disks by its serial number, and use its name there",
        )
    if not re.fullmatch(REFERENCE_PATTERN, text) or len(text) > 129:
        raise ValueError(
            f"'{text}' is not the name of a device; write one such as d00, d00.root, s0 or vg0.home"
        )
    return text


def _percent(text: str) -> Fraction:
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)%", text)
    if not match or Fraction(match[1]) > 100:
        raise ValueError(f"'{text}' is not a percentage; write 0% to 100%")
    return Fraction(match[1])


def _word(text: str) -> str:
    if not text.strip() or not is_seen(text):
        raise ValueError("the text is empty or holds line breaks or control characters; write one line")
    return text


def _label(text: str) -> str:
    if text != text.strip():
        raise ValueError(
            f"the label '{text}' begins or ends with a blank, which blkid cuts off; leave it out"
        )
    if text.startswith("{") and text.endswith("}"):
        raise ValueError(
            f"the label '{text}' stands in braces, as only the names of disks do in a plan; leave them out"
        )
    return _word(text)


def _level(text: str) -> str:
    return level_named(text).name


BLOCKS = tuple(2**n for n in range(9, 17))
"""What a disk may have: 512 bytes to 64 KiB."""
NAME_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_-]*"
KERNEL_DEVICE = r"/dev/([shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|loop\d)"
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
Block = Annotated[int, *typed(_block, {"enum": list(BLOCKS)})]
Boolean = Annotated[bool, *typed(_boolean, {"type": "boolean"})]
Percent = Annotated[Fraction, *typed(_percent, {"type": "string", "pattern": r"^\d{1,3}(\.\d+)?%$"})]
Name = Annotated[str, *typed(_name, {"type": "string", "pattern": f"^{NAME_PATTERN}$"})]
Reference = Annotated[str, *typed(_reference, {"type": "string", "pattern": f"^{REFERENCE_PATTERN}$"})]
Word = Annotated[str, *typed(_word, {"type": ["string", "number"]})]
Label = Annotated[str, *typed(_label, {"type": ["string", "number"]})]
LevelName = Annotated[str, *typed(_level, {"enum": ["linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10",
                                                     0, 1, 4, 5, 6, 10]})]  # fmt: skip
