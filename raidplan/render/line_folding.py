"""Lines folded for the eye: sentences that differ in names alone as one, in which the names stand as ranges.

Typography, upon which nothing is decided: it takes a finished sentence by the look of its words, because those of rules,
of steps and of plan.json files are texts. Figures and all other words stay, and no name is lost.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from math import prod

from raidplan.base.names import natural, ranges, ranges_in_order

_NAME = r"\w+(?:[.-]\w+|\[[\w,/-]+\])*"
_PATH = r"(?<![\w.:/])/[\w.+-]+(?:/[\w.+-]+)*"
_LIST = rf"(?<=\()(?:{_NAME}, )+{_NAME}(?=\))|(?:{_NAME}, ){{2,}}{_NAME}(?:(?: and| or) {_NAME})?|(?:{_NAME}, )+{_NAME} and {_NAME}"
"""Names in parentheses, three in a row, or two and another."""
_FIGURE = r"(?<![\w/.<\[\]-])\d+(?:\.\d+)?(?![\w.\]-])"
_WORD = re.compile(rf"(?P<names>{_PATH}|{_LIST})|{_FIGURE}|(?P<name>{_NAME})")
_BETWEEN = re.compile(r", | and | or ")
_OF_EACH = re.compile(r"(\d \w+) \($")
"""The text before a list whose length it says."""
_WHOLE = "kernel module "
"""The text before names that are no row: raid1 and raid456 are not the ends of one."""
FEW = 2
"""So many names of one sentence are written out."""


def one_line(sentences: Sequence[str]) -> str:
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
    return ", ".join(ranges(names) if lists else ranges_in_order(names))


def frame(sentence: str) -> Hashable:
    """A sentence without its names, but with its figures: steps of other figures do something else."""
    frame, names = _cut(sentence)
    return frame, tuple(len(_BETWEEN.findall(listing)) for listing in names)


def _cut(sentence: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of a sentence between its names and lists of names (one more than there are of these), and these."""
    found = [match for match in _WORD.finditer(sentence) if match.lastgroup]
    edges = [0, *(edge for match in found for edge in match.span()), len(sentence)]
    frame = (sentence[start:stop] for start, stop in zip(edges[::2], edges[1::2], strict=True))
    return tuple(frame), tuple(match[0] for match in found)
