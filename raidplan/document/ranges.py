"""The compact form that people write: ranges in names expanded, so that forty disks take one line and still mean one thing.

    d<0-7><0-4>: {behind: pm<1>, port: <2>, serial: {each: [A, B, ...]}}

A key with ranges stands for one entry per combination, the last range counting fastest. Below it `<1>`
is the value of the first range, `<1:4-7>` the value at the same place of another range. A list item with
a range stands for several items. `{each: [...]}` gives one value to each entry, in order. Quoted text is
never expanded. Expanded nodes keep the place of what they came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod

from raidplan.base.findings import Finding, error, shortened
from raidplan.document.node import Node, NotALayout, Span

VALUES = r"[0-9]+-[0-9]+|[A-Za-z0-9_]+(?:/[A-Za-z0-9_]+)+"
RANGE = re.compile(rf"<({VALUES})>")
REFERENCE = re.compile(rf"<([0-9]+)(?::({VALUES}))?>")
MAX_ENTRIES = 250_000
MAX_DIGITS = 9

Choice = tuple[str, int]
"""A range's value and its place in the range."""
Place = tuple[int, int]
"""The number of an entry, and the number of entries, of the nearest range above."""


def expand(root: Node) -> tuple[Node, list[tuple[Finding, Span]]]:
    """The tree with every range written out, or the tree as it was and one finding."""
    try:
        return _Expansion().node(root, (), (0, 1)), []
    except NotALayout as problem:
        return root, [(error("invalid-range", (), problem.message, problem.hint), problem.span)]


def _values(text: str, span: Span) -> list[str]:
    """The values of one range, without its angle brackets; `00-11` keeps its width."""
    if "/" in text:
        return text.split("/")
    first, last = text.split("-")
    if max(len(first), len(last)) > MAX_DIGITS:
        raise NotALayout(
            f"the numbers of <{shortened(text)}> have more than {MAX_DIGITS} digits", span, "shorten them"
        )
    if int(last) < int(first):
        raise NotALayout(f"the range <{text}> counts backwards", span, f"write <{last}-{first}>")
    if int(last) - int(first) >= MAX_ENTRIES:
        raise NotALayout(f"the range <{text}> has more than {MAX_ENTRIES} values", span, "describe fewer")
    width = len(first) if first.startswith("0") else 0
    return [str(number).zfill(width) for number in range(int(first), int(last) + 1)]


def _combinations(text: str, span: Span) -> Iterator[tuple[str, tuple[Choice, ...]]]:
    """Each name a text with ranges stands for, with the choice made for every range."""
    pieces = RANGE.split(text)
    ranges: list[list[tuple[int, str]]] = []
    for piece in pieces[1::2]:
        ranges.append(list(enumerate(_values(piece, span))))
        # Before any is made: two ranges of 100,000 would fill the memory.
        if prod(map(len, ranges)) > MAX_ENTRIES:
            raise NotALayout(
                f"the ranges of {shortened(text)} make more than {MAX_ENTRIES} entries",
                span,
                "describe fewer",
            )
    for choice in product(*ranges):
        name = pieces[0] + "".join(
            value + tail for (_, value), tail in zip(choice, pieces[2::2], strict=True)
        )
        yield name, tuple((value, place) for place, value in choice)


class _Expansion:
    """Walks the tree; `chosen` are the values of the ranges above, `place` which of its entries this is."""

    def __init__(self) -> None:
        self.made = 0

    def node(self, node: Node, chosen: tuple[Choice, ...], place: Place) -> Node:
        match node.content:
            case {"each": Node(content=list() as items), **more} if chosen and not more:
                return self.one_of(items, node, place, chosen)
            case dict() as entries:
                return self.mapping(node, entries, chosen, place)
            case list() as items:
                return replace(
                    node, content=[new for item in items for new in self.item(item, chosen, place)]
                )
            case str() as text if "<" in text and not node.quoted:
                return replace(node, content=self.substitute(text, chosen, node.span, no_ranges=True))
            case _:
                return node

    def one_of(self, items: list[Node], node: Node, place: Place, chosen: tuple[Choice, ...]) -> Node:
        number, count = place
        if len(items) != count:
            raise NotALayout(
                f"'each' has {len(items)} values for {count} entries",
                node.span,
                "give one value for each entry of the range above",
            )
        return self.node(items[number], chosen, place)

    def mapping(self, node: Node, entries: dict[str, Node], chosen: tuple[Choice, ...], place: Place) -> Node:
        content: dict[str, Node] = {}
        keys: dict[str, Span] = {}
        for key, value in entries.items():
            span = node.keys[key]
            text = self.substitute(key, chosen, span)
            names = list(_combinations(text, span)) if "<" in text else [(text, ())]
            if chosen or names[0][1]:
                self.count(len(names), span)
            for number, (name, choices) in enumerate(names):
                if name in content:
                    raise NotALayout(
                        f"duplicate name '{shortened(name)}', first at line {keys[name].line}",
                        span,
                        "let the ranges not overlap",
                    )
                content[name] = self.node(
                    value, (*chosen, *choices), (number, len(names)) if choices else place
                )
                keys[name] = span
        return replace(node, content=content, keys=keys)

    def item(self, item: Node, chosen: tuple[Choice, ...], place: Place) -> Iterator[Node]:
        text = item.content
        if not isinstance(text, str) or item.quoted or "<" not in text:
            if chosen:
                self.count(1, item.span)
            yield self.node(item, chosen, place)
            return
        for name, _ in _combinations(self.substitute(text, chosen, item.span), item.span):
            self.count(1, item.span)
            yield replace(item, content=name)

    def substitute(
        self, text: str, chosen: tuple[Choice, ...], span: Span, *, no_ranges: bool = False
    ) -> str:
        if "<" not in text:
            return text

        def value(match: re.Match[str]) -> str:
            number = int(match[1]) if len(match[1]) <= MAX_DIGITS else 0
            if not 1 <= number <= len(chosen):
                raise NotALayout(
                    f"{shortened(match[0])} stands for a range above it, and there are {len(chosen)}",
                    span,
                    "<1> is the first range of the keys above; quote the text if it is meant literally",
                )
            chosen_value, place = chosen[number - 1]
            if match[2] is None:
                return chosen_value
            others = _values(match[2], span)
            if place >= len(others):
                raise NotALayout(
                    f"{shortened(match[0])} has {len(others)} values, fewer than the range it follows",
                    span,
                    "give it one value for each of that range",
                )
            return others[place]

        done = REFERENCE.sub(value, text)
        if no_ranges and RANGE.search(done):
            raise NotALayout(
                f"a range cannot stand here: {shortened(text)}",
                span,
                "ranges stand in keys and in list items; quote the text if it is meant literally",
            )
        return done

    def count(self, more: int, span: Span) -> None:
        self.made += more
        if self.made > MAX_ENTRIES:
            raise NotALayout(f"ranges make more than {MAX_ENTRIES} entries", span, "describe fewer")
