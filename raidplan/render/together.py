"""Sentences that differ in names alone as one sentence, in which those stand as ranges."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from math import prod

from raidplan.base.names import natural, ranges

_FIGURE = re.compile(r"(?<![\w/.<\[\]-])\d+(?:\.\d+)?(?![\w.\]-])")
_NAME = r"\w+(?:[.-]\w+|\[[\w,/-]+\])*"
_PATH = r"(?<![\w.:/])/[\w.+-]+(?:/[\w.+-]+)*"
_ONE = re.compile(rf"{_PATH}|{_NAME}")
_LIST = re.compile(
    rf"(?<=\()(?:{_NAME}, )+{_NAME}(?=\))|(?:{_NAME}, ){{2,}}{_NAME}(?:(?: and| or) {_NAME})?|(?:{_NAME}, )+{_NAME} and {_NAME}"
)
"""Names in parentheses, three in a row, or two and another."""
_BETWEEN = re.compile(r", | and | or ")
_OF_EACH = re.compile(r"(\d \w+) \($")
"""The text before a list whose length it says."""
_WHOLE = "kernel module "
"""The text before names that are no row: raid1 and raid456 are not the ends of one."""
_DIGITS = re.compile(r"\d+")
FEW = 2
"""So many names of one sentence are written out."""


def together(sentences: Sequence[str]) -> str:
    """One sentence for several of one frame: what is another in each stands as a range, or as a list in one order."""
    frame = _cut(sentences[0])[0]
    rows = [_cut(sentence)[1] for sentence in sentences]
    varying = [place for place, column in enumerate(zip(*rows, strict=True)) if len(set(column)) > 1]
    if varying:
        rows.sort(key=lambda row: natural(row[varying[0]]))
    text = ""
    for part, column in zip(frame, zip(*rows, strict=True), strict=False):
        text += part
        if len(set(column)) == 1:
            text += _same(column[0])
        else:
            text = _OF_EACH.sub(r"\1 each (", text)
            text += _differing(column, text)
    return text + frame[-1]


def _same(listing: str) -> str:
    """A name as it is; a list as ranges, where that keeps its order."""
    names = _BETWEEN.split(listing)
    short = ranges(names) if len(names) > FEW else names
    return ", ".join(short) if len(short) < len(names) and sorted(names, key=natural) == names else listing


def _differing(listings: Sequence[str], before: str) -> str:
    """The names of several sentences; single ones in their order, so that those beside them are at the same place."""
    names = list(dict.fromkeys(name for listing in listings for name in _BETWEEN.split(listing)))
    if before.endswith(_WHOLE) or any("[" in name for name in names):
        return ", ".join(names)
    parts = [name.split(".") for name in names]
    if "/" not in names[0] and len({len(each) for each in parts}) == 1 < len(parts[0]):
        columns = [list(dict.fromkeys(column)) for column in zip(*parts, strict=True)]
        short = [ranges(column) for column in columns]
        crossed = prod(map(len, columns)) == len(names) and sum(len(column) > 1 for column in columns) > 1
        if crossed or all(len(column) == 1 for column in short):
            return ".".join(
                column[0] if len(column) == 1 else f"{{{','.join(each)}}}"
                for column, each in zip(short, columns, strict=True)
            )
    lists = len(listings) < len(names)
    return ", ".join(ranges(names) if lists else in_order(names))


def in_order(names: Sequence[str]) -> list[str]:
    """Ranges that keep the order of the names, so that the names beside them are those at the same place."""
    rising: list[list[str]] = []
    for name in names:
        after = rising and natural(rising[-1][-1]) < natural(name)
        if after and _DIGITS.sub("", rising[-1][-1]) == _DIGITS.sub("", name):
            rising[-1].append(name)
        else:
            rising.append([name])
    return [text for run in rising for text in ranges(run)]


def frame(sentence: str) -> Hashable:
    """A sentence without its names, but with its figures: steps of other figures do something else."""
    frame, names = _cut(sentence)
    return frame, tuple(len(_BETWEEN.findall(listing)) for listing in names)


def _cut(sentence: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of a sentence between its names and lists of names (one more than there are of these), and these."""
    figures = [match.span() for match in _FIGURE.finditer(sentence)]
    lists = [match.span() for match in _LIST.finditer(sentence)]
    singles = [
        match.span()
        for match in _ONE.finditer(sentence)
        if not any(start <= match.start() < stop for start, stop in (*figures, *lists))
    ]
    frame, names, end = [], [], 0
    for start, stop in sorted(lists + singles):
        frame.append(sentence[end:start])
        names.append(sentence[start:stop])
        end = stop
    return (*frame, sentence[end:]), tuple(names)
