"""Document to layout: every value read as its field's type says, every mistake said at the user's place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from raidplan.base.findings import Finding, Path, error, nearest, shortened
from raidplan.base.mistake import Mistake
from raidplan.document import Document
from raidplan.layout.kinds.model import Field, Model, OneOf, Written, fields
from raidplan.layout.kinds.reference import RuleMistake
from raidplan.layout.model import Hardware, Layout
from raidplan.layout.not_done import NOT_DONE

MANY = 100
"""The number of mistakes for which a near miss is looked for: that takes longer than all the rest."""
LIST = ("a list", "write [a, b]")
KEYS = ("a mapping of keys to values", "write {key: value}")
NAMES = ("a mapping of names to entries", "write name: {...}, or remove the key")


def load_layout(document: Document) -> tuple[Layout | None, list[Finding]]:
    """The layout a document means, or None and every mistake in it."""
    return read_layout(document.root.plain())


def layout_of(values: object) -> Layout:
    """The layout that plain values mean, scalars as text. Raises ValueError with the first mistake."""
    layout, findings = read_layout(values)
    if layout is None:
        raise ValueError(f"{'.'.join(map(str, findings[0].path))}: {findings[0].message}")
    return layout


def read_layout(values: object) -> tuple[Layout | None, list[Finding]]:
    """The layout that plain values mean, scalars as text, or None and every mistake in them."""
    other = _other_version(values) or _hardware_alone(values)
    if other is not None:
        return None, [other]
    reading = _Reading()
    layout = _way(Layout)(reading, values, ())
    return (None if reading.findings else layout), reading.findings


def _other_version(values: object) -> Finding | None:
    """One finding for a layout in another format, of which every second key would be unknown."""
    version = values.get("version", "1") if isinstance(values, dict) else "1"
    if version == "1":
        return None
    word = f"version {shortened(version)}" if isinstance(version, str) else "this version"
    hint = "write version: 1, or use the later raidplan that this was made for"
    return error("invalid-layout", ("version",), f"{word} is not known to this raidplan", hint)


def _hardware_alone(values: object) -> Finding | None:
    """A hardware section that was taken for a layout; one finding says it all."""
    keys = {field.key for field in fields(Hardware).values()}
    if not isinstance(values, dict) or not values or not values.keys() <= keys:
        return None
    message = "this is the hardware section of a layout, and no layout itself"
    return error(
        "invalid-layout",
        (),
        message,
        "let a layout in this folder, or in one above, name it by its hardware: key",
    )


class _Reading:
    """One pass over the plain values of a layout; the mistakes gather in it."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._looked_up = 0

    def model(self, model: type[Model], known: Known, value: object, path: Path) -> Model | None:
        """A model from a mapping of its keys; None if that is impossible, which was said then."""
        if not isinstance(value, dict):
            self._wrong_shape(KEYS, value, path)
            return None
        split = self._split_numbers(value, known, path)
        given = {
            known[key].name: _way(known[key].hint)(self, entry, (*path, key))
            for key, entry in value.items()
            if key in known and key not in split
        }
        meant = {
            self._unknown_key(key, known, path) for key in value if key not in known and key not in split
        }
        missing = [key for key, field in known.items() if field.required and key not in value]
        self.findings += [
            error("missing-key", (*path, key), f"'{key}' is missing", f"add {key}: {'1' if key == 'version' else '…'}")
            for key in missing
            if key not in meant  # the misspelt key beside it is the same mistake
        ]  # fmt: skip
        return None if missing or split else model(**given)

    def _split_numbers(self, value: Mapping[str, object], known: Known, path: Path) -> set[str]:
        """The keys that a comma in a number made, and those before them: `{size: 4,0TB}` has `size` and `0TB`. Says so."""
        split = set[str]()
        for (key, entry), (after, nothing) in pairwise(value.items()) if value.keys() - known.keys() else ():
            number = isinstance(entry, str) and entry.isdigit() and nothing is None
            if number and key in known and re.fullmatch(r"\d+ ?[A-Za-z/%]*", after):
                split |= {key, after}
                message = f"the comma ends this value: {key} is {entry}, and '{shortened(after)}' a key"
                self._say("invalid-value", (*path, key), message, _without_comma(f"{entry},{after}"))
        return split

    def mapping(self, key_hint: Any, hint: Any, value: object, path: Path) -> object:
        """Entries by names that the user chooses."""
        if not isinstance(value, dict):
            self._wrong_shape(NAMES, value, path)
            return None
        name, entry = _way(key_hint), _way(hint)
        for key in value:
            self._on_key(name, key, (*path, key))
        return {key: entry(self, inner, (*path, key)) for key, inner in value.items()}

    def items(self, hint: Any, value: object, path: Path) -> object:
        """A list, as a tuple."""
        if not isinstance(value, list):
            self._wrong_shape(LIST, value, path)
            return None
        item = _way(hint)
        return tuple(item(self, inner, (*path, number)) for number, inner in enumerate(value))

    def word(self, words: tuple[str, ...], value: object, path: Path) -> object:
        """The value, which is to be one of the words."""
        if value in words:
            return value
        listed = ", ".join(words)
        if isinstance(value, str):
            meant = "" if value in NOT_DONE else self._nearest(value, words)
            hint = NOT_DONE.get(value, "choose one of them")
            message = f"'{shortened(value)}' is none of {listed}"
            self.findings.append(error("invalid-value", path, message, hint, meant=meant))
        else:
            self._say("invalid-value", path, "a single word is expected here", f"write one of {listed}")
        return None

    def scalar(self, written: Written, value: object, path: Path) -> object:
        """The findings of the field's own type."""
        try:
            return written.read(value)
        except Mistake as mistake:
            message, hint = mistake.message, mistake.hint
            if isinstance(value, str) and value:
                message = message.replace(value, shortened(value))
            rule = mistake.rule if isinstance(mistake, RuleMistake) else "invalid-value"
            if isinstance(value, str) and re.match(r"\d+,\d", value):
                hint = _without_comma(shortened(value))
            self._say(rule, path, message, hint)
            return None

    def _on_key(self, name: Way, key: str, path: Path) -> None:
        before = len(self.findings)
        name(self, key, path)
        self.findings[before:] = [
            error(said.rule, path, said.message, said.hint, on_key=True) for said in self.findings[before:]
        ]

    def _say(self, rule: str, path: Path, message: str, hint: str) -> None:
        self.findings.append(error(rule, path, message, hint))

    def _wrong_shape(self, wanted: tuple[str, str], value: object, path: Path) -> None:
        what, hint = wanted
        empty = f"nothing is written here, and {what} is expected"
        message = empty if value is None else f"{what} is expected here"
        self._say("invalid-value", path, message, hint)

    def _unknown_key(self, key: str, known: Iterable[str], path: Path) -> str:
        """Says so; gives the key that was meant, or an empty text."""
        near = self._nearest(key, known)
        hint = NOT_DONE.get(key) or f"known here: {', '.join(known)}"
        message = f"unknown key '{shortened(key)}'"
        meant = "" if key in NOT_DONE else near
        self.findings.append(error("unknown-key", (*path, key), message, hint, on_key=True, meant=meant))
        return near

    def _nearest(self, word: str, known: Iterable[str]) -> str:
        self._looked_up += 1
        return nearest(word, list(known)) if self._looked_up <= MANY else ""


def _without_comma(number: str) -> str:
    """The hint for `4,0TB`; a comma before three digits may stand between thousands too."""
    whole = (
        f" or {number.replace(',', '')}, whichever you mean"
        if re.match(r"\d+(,\d{3})+(?!\d)", number)
        else ""
    )
    return (
        f"write {number.replace(',', '.')}{whole}"
        if number.count(",") == 1
        else f"write {number.replace(',', '')}"
    )


Known = Mapping[str, Field]
"""The fields of a model by key."""
Way = Callable[[_Reading, object, Path], Any]
"""The reader of a value of one type."""


@cache
def _way(hint: Any) -> Way:
    """The reader for the type of a field; kinds that a layout does not have are never looked at."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        written = next(mark for mark in inside[1:] if isinstance(mark, Written))
        if isinstance(written, OneOf):
            return lambda reading, value, path: reading.word(written.words, value, path)
        return lambda reading, value, path: reading.scalar(written, value, path)
    if origin is Literal:
        return lambda reading, value, path: reading.word(inside, value, path)
    if origin is tuple:
        return lambda reading, value, path: reading.items(inside[0], value, path)
    if origin is Mapping:
        name, entry = inside
        return lambda reading, value, path: reading.mapping(name, entry, value, path)
    if origin in (Union, UnionType):
        return _one_of([_way(each) for each in inside if each is not NoneType], optional=NoneType in inside)
    known = {field.key: field for field in fields(hint).values()}
    return lambda reading, value, path: reading.model(hint, known, value, path)


def _one_of(ways: list[Way], *, optional: bool) -> Way:
    """A list or, as the second way, a mapping; each alone may be optional."""

    def way(reading: _Reading, value: object, path: Path) -> Any:
        if optional and value is None:
            return None
        if isinstance(value, dict):
            return ways[-1](reading, value, path)
        return ways[0](reading, value, path)

    return way
