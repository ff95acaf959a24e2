"""Many names folded into ranges for messages, as cluster tools write them: `d[0-7][0-4]` for d00, d01, …, d74.

Every second one of d0 to d22 is `d[0-22/2]`, as cron writes steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

from raidplan.base.groups import groups_by

_DIGITS = re.compile(r"([0-9]+)")
_PADDED = re.compile(r"0[0-9]")
"""Where one of the numbers at a place is padded with zeroes, only those of one length fold: d0 is not d00."""
_STEPS = 4
"""So many single numbers at one distance are written with it."""
_LETTER = re.compile(r"(?<![A-Za-z])(?P<front>sd|vd|xvd|hd)(?P<letter>[a-z])$")


def folded(names: Iterable[str]) -> str:
    """The names in their natural order; each range stands for nothing but names that are given."""
    return ", ".join(ranges(names))


def ranges(names: Iterable[str]) -> list[str]:
    """The names in their natural order, those alike in all but numbers (or the letter of sda) as one range."""
    return [text for text, _ in counted_ranges(names)]


def counted_ranges(names: Iterable[str]) -> list[tuple[str, int]]:
    """The ranges of `ranges`, each with the number of names that it stands for."""
    cut = [_parts(name) for name in sorted(dict.fromkeys(names), key=natural)]
    padded = {
        (_frame(parts), place)
        for parts in cut
        for place in range(1, len(parts), 2)
        if _PADDED.match(parts[place])
    }

    def form(parts: list[str]) -> object:
        frame = _frame(parts)
        return frame, tuple(len(part) if (frame, place) in padded else 0 for place, part in enumerate(parts))

    return [each for alike in groups_by(cut, form) for each in _folded(alike)]


def ranges_in_order(names: Sequence[str]) -> list[str]:
    """Ranges that keep the order of the names, so that the names beside them are those at the same place."""
    rising: list[list[str]] = []
    for name in names:
        after = rising and natural(rising[-1][-1]) < natural(name)
        if after and _DIGITS.sub("", rising[-1][-1]) == _DIGITS.sub("", name):
            rising[-1].append(name)
        else:
            rising.append([name])
    return [text for run in rising for text in ranges(run)]


def natural(name: str) -> list[tuple[int, str]]:
    """A key to sort by: d2 stands before d10."""
    return [(int(part), part) if number % 2 else (0, part) for number, part in enumerate(_DIGITS.split(name))]


def _parts(name: str) -> list[str]:
    """Text, number, text, …; the letter of sda counts as a number."""
    found = _LETTER.search(name)
    if found:
        return [name[: found.start("letter")], found["letter"], ""]
    return _DIGITS.split(name)


def _frame(parts: Sequence[str]) -> tuple[str, ...]:
    """The text around the numbers; a letter is no number."""
    kinds = ["letter" if part.isalpha() else "number" for part in parts[1::2]]
    return (*parts[::2], *kinds)


def _folded(alike: Sequence[list[str]]) -> Iterator[tuple[str, int]]:
    """All in one where the numbers are a full grid; else one for each first number that differs."""
    if len(alike) == 1:
        yield "".join(alike[0]), 1
        return
    columns = [list(dict.fromkeys(column)) for column in zip(*alike, strict=True)]
    count = 1
    for column in columns:
        count *= len(column)
    if count == len(alike):
        yield "".join(_range(column) for column in columns), count
        return
    place = next(number for number, column in enumerate(columns) if len(column) > 1)
    for rest in groups_by(alike, lambda parts: parts[place]):
        yield from _folded(rest)


def _range(values: Sequence[str]) -> str:
    """`7`, `[0-7]`, `[0-7][0-4]`, `[0-3,7]`, `[0-22/2]` for one column."""
    if len(values) == 1:
        return values[0]
    runs = _runs(values)
    width = len(values[0])
    if len(runs) > 1 and width > 1 and all(len(value) == width for value in values):
        digits = [sorted({value[place] for value in values}) for place in range(width)]
        if ["".join(each) for each in product(*digits)] == sorted(values):
            return "".join(_range(each) for each in digits)
    distances = {_number(after) - _number(value) for value, after in pairwise(values)}
    if len(values) == len(runs) >= _STEPS and len(distances) == 1:
        return f"[{values[0]}-{values[-1]}/{distances.pop()}]"
    return f"[{','.join(run[0] if len(run) == 1 else f'{run[0]}-{run[-1]}' for run in runs)}]"


def _runs(values: Sequence[str]) -> list[list[str]]:
    """The values in runs of neighbours."""
    runs: list[list[str]] = []
    for value in values:
        if runs and _number(value) == _number(runs[-1][-1]) + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return runs


def _number(value: str) -> int:
    return ord(value) if value.isalpha() else int(value)


def number_ranges(numbers: Iterable[int]) -> str:
    """Numbers in ascending order, three and more that follow one another as a range: `5-204, 206`."""
    runs: list[list[int]] = []
    for number in sorted({*numbers}):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
