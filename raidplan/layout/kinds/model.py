"""The base of every kind: a frozen model that knows no unknown keys, and the types of its fields.

Every scalar arrives as the text that was typed; the field's type alone decides what it means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, KeysView, Mapping
from fractions import Fraction
from typing import Annotated, Any, NamedTuple, NoReturn, Self, TypeVar, dataclass_transform, get_type_hints

from raidplan.base import size
from raidplan.base.hidden import is_seen
from raidplan.base.identity import DISK, Identity
from raidplan.base.levels import LEVELS, level_named, level_numbers
from raidplan.base.mistake import Mistake
from raidplan.layout.kinds.reference import NAME_PATTERN, REFERENCE_PATTERN, reference


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Model:
    """The base of all kinds: frozen, its fields declared as those of a dataclass.

    A default stays on the class, and an object holds only what was written: so the two can be told apart, and no
    code has to be made when a layout is read.
    """

    def __init__(self, **written: Any) -> None:
        missing = [
            name for name, field in fields(type(self)).items() if field.required and name not in written
        ]
        if missing or not written.keys() <= fields(type(self)).keys():
            raise TypeError(f"{type(self).__name__} lacks {missing} or has no such field: {[*written]}")
        vars(self).update(written)

    @property
    def written(self) -> KeysView[str]:
        """The fields that were written, in their order; the others have their defaults."""
        return vars(self).keys()

    def changed(self, **values: Any) -> Self:
        """The object with other values."""
        return type(self)(**{**vars(self), **values})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
        )


class Field(NamedTuple):
    """A field of a model."""

    name: str
    """In Python."""
    key: str
    """In a layout: the name without the underscore that keeps it from being a keyword."""
    hint: Any
    """The type of the field, with its `Written`."""
    required: bool
    default: Any = None


def fields(model: type[Model]) -> Mapping[str, Field]:
    """A model's fields by their names in Python, in the contract's order."""
    if model not in _FIELDS:
        hints = get_type_hints(model, include_extras=True)
        _FIELDS[model] = {
            name: Field(name, name.rstrip("_"), hint, not hasattr(model, name), getattr(model, name, None))
            for name, hint in hints.items()
        }
    return _FIELDS[model]


_FIELDS: dict[type[Model], Mapping[str, Field]] = {}
"""The fields asked for before: to evaluate the types takes its time."""


class Written:
    """The notation of a field: `parse` reads it from the text that was typed, `schema` is its JSON Schema.

    `parse` raises Mistake.
    Without a schema that of the field's type holds. `sample` is a value as it is written.
    """

    def __init__(
        self, parse: Callable[[str], object], schema: Mapping[str, Any] | None = None, sample: str = ""
    ) -> None:
        self.parse, self.schema, self.sample = parse, schema, sample

    def read(self, value: object) -> object:
        """The value of what was typed. Raises Mistake, also for anything but a scalar."""
        return self.parse(single(value))


class OneOf(Written):
    """A word out of a table: its keys, as they are when a layout is read."""

    def __init__(self, table: Mapping[str, object]) -> None:
        super().__init__(self._word, {"enum": [*table]})
        self._table = table

    @property
    def words(self) -> tuple[str, ...]:
        """The words in the table's order."""
        return tuple(self._table)

    def _word(self, text: str) -> str:
        if text not in self._table:
            raise Mistake(f"'{text}' is none of {', '.join(self._table)}", "choose one of them")
        return text


def single(value: object) -> str:
    """The text of a scalar. Raises ValueError for anything else."""
    if not isinstance(value, str):
        found = "nothing" if value is None else "a mapping" if isinstance(value, dict) else "a list"
        raise Mistake(f"{found} is written here, and a single value is expected", "write key: value")
    return value


Number = TypeVar("Number", int, Fraction)


def _positive(parse: Callable[[str], Number]) -> Callable[[str], Number]:
    """A reader that refuses 0: a rate of nothing is a mistake, and would be divided by."""

    def read(text: str) -> Number:
        value = parse(text)
        if value <= 0:
            raise Mistake(f"'{text}' is not more than 0", "write what it really is, or leave the key out")
        return value

    return read


def size_or(word: str, *, zero: bool = False) -> Written:
    """The notation of a field that takes a word in place of a size: `Annotated[Size | Literal["rest"], size_or("rest")]`.

    With `zero` the size may be 0.
    """
    parse = size.parse_size if zero else _positive(size.parse_size)
    meaning = "" if zero else " for all that is left"
    return _either(
        word, parse, f"neither a size nor '{word}'", f"write a size such as 500GiB, or {word}{meaning}"
    )


def duration_or(word: str) -> Written:
    """The notation of a field that takes a word in place of a duration."""
    return _either(
        word, _positive(size.parse_seconds), f"neither a duration nor '{word}'", f"write 7s or {word}"
    )


def _either(word: str, parse: Callable[[str], int | Fraction], neither: str, hint: str) -> Written:
    """One mistake is one complaint, for both of its halves."""

    def read(text: str) -> int | Fraction | str:
        if text == word:
            return word
        if not re.fullmatch(r"[0-9.]+ ?[A-Za-z]*", text):
            raise Mistake(f"'{text}' is {neither}", hint)
        return parse(text)

    return Written(read)


def _integer(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise Mistake(f"'{text}' is not a whole number", "write digits alone")
    return int(text)


def _count(text: str) -> int:
    if (number := _integer(text)) < 0:
        raise Mistake(f"'{text}' is less than 0", "write 0 or more")
    return number


def _block(text: str) -> int:
    if text not in map(str, BLOCKS):
        raise Mistake(f"'{text}' is not a size of blocks in bytes", "write 512, 4096 or another power of two")
    return int(text)


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise Mistake(f"'{text}' is neither true nor false", "write one of the two")
    return text == "true"


def _name(text: str) -> str:
    if not re.fullmatch(NAME_PATTERN, text) or len(text) > 64:
        raise Mistake(f"'{text}' is not a name", "use A-Z a-z 0-9 _ -, not beginning with -, at most 64")
    return text


def _host(text: str) -> str:
    short, dot, _ = text.partition(".")
    if dot and re.fullmatch(NAME_PATTERN, short):
        raise Mistake(f"'{text}' has a domain, and the name of a host is meant without it", f"write {short}")
    return _name(text)


def _percent(text: str) -> Fraction:
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)%", text)
    if not match or Fraction(match[1]) > 100:
        raise Mistake(f"'{text}' is not a percentage", "write 0% to 100%")
    return Fraction(match[1])


def _word(text: str) -> str:
    if not text.strip() or not is_seen(text):
        raise Mistake("the text is empty or holds line breaks or control characters", "write one line")
    return text


def _uuid(text: str) -> str:
    if not re.fullmatch(UUID_PATTERN, text):
        raise Mistake(f"'{text}' is no UUID", "write it as lsblk -o PARTUUID prints it")
    return text.lower()


def _label(text: str) -> str:
    if text != text.strip():
        raise Mistake(f"the label '{text}' begins or ends with a blank, which blkid cuts off", "leave it out")
    if Identity.read(text).kind == DISK:
        raise Mistake(
            f"the label '{text}' stands in braces, as only the names of disks do in a plan", "leave them out"
        )
    return _word(text)


def _level(text: str) -> str:
    return level_named(text).name


BLOCKS = tuple(2**n for n in range(9, 17))
"""The possible sector sizes of a disk: 512 bytes to 64 KiB."""
UUID_PATTERN = r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
UNIT_PATTERN = r"\s?(B|KiB|MiB|GiB|TiB|kB|MB|GB|TB)"
NUMBER_PATTERN = r"\d+(\.\d+)?"
ABOVE_0 = r"(?=.*[1-9])" + NUMBER_PATTERN


def _text(parse: Callable[[str], object], pattern: str, sample: str) -> Written:
    return Written(parse, {"type": "string", "pattern": f"^{pattern}$"}, sample)


AnySize = Annotated[int, _text(size.parse_size, NUMBER_PATTERN + UNIT_PATTERN, "1MiB")]
"""0B is one: no read-ahead."""
Size = Annotated[int, _text(_positive(size.parse_size), ABOVE_0 + UNIT_PATTERN, "3TB")]
Rate = Annotated[int, _text(_positive(size.parse_rate), ABOVE_0 + UNIT_PATTERN + "/s", "150MB/s")]
Speed = Annotated[int, _text(_positive(size.parse_speed), ABOVE_0 + "[GM]bps", "6Gbps")]
Clock = Annotated[int, _text(_positive(size.parse_clock), ABOVE_0 + "MHz", "33MHz")]
Duration = Annotated[Fraction, _text(_positive(size.parse_seconds), ABOVE_0 + "(s|ms|min)", "7s")]
Integer = Annotated[int, Written(_integer, {"type": "integer"}, "0")]
Count = Annotated[int, Written(_count, {"type": "integer", "minimum": 0}, "100")]
Positive = Annotated[int, Written(_positive(_integer), {"type": "integer", "minimum": 1}, "4")]
Block = Annotated[int, Written(_block, {"enum": list(BLOCKS)})]
Boolean = Annotated[bool, Written(_boolean, {"type": "boolean"})]
Percent = Annotated[Fraction, Written(_percent, {"type": "string", "pattern": r"^\d{1,3}(\.\d+)?%$"}, "1%")]
Name = Annotated[str, Written(_name, {"type": "string", "pattern": f"^{NAME_PATTERN}$"}, "d00")]
HostName = Annotated[str, Written(_host, {"type": "string", "pattern": f"^{NAME_PATTERN}$"}, "d00")]
Reference = Annotated[str, Written(reference, {"type": "string", "pattern": f"^{REFERENCE_PATTERN}$"}, "d00")]
Word = Annotated[str, Written(_word, {"type": ["string", "number"]}, "text")]
Uuid = Annotated[
    str,
    Written(
        _uuid,
        {"type": "string", "pattern": f"^{UUID_PATTERN}$"},
        "5b1f2d3c-0b7e-4d7a-9c54-3f6f0a1b2c3d",
    ),
]
Label = Annotated[str, Written(_label, {"type": ["string", "number"]}, "data")]
LevelName = Annotated[str, Written(_level, {"enum": [*LEVELS, *level_numbers()]})]
