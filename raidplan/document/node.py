"""The layout file as a tree of plain values that know where they were written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from raidplan.base.findings import Path


class Span(NamedTuple):
    """A place in a file; lines and columns count from 1, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class NotALayout(Exception):
    """The text is no layout: what is wrong, where, and what to write instead."""

    def __init__(self, message: str, span: Span, hint: str = "") -> None:
        self.message, self.span, self.hint = message, span, hint


Content = str | None | dict[str, "Node"] | list["Node"]


@dataclass(frozen=True, slots=True)
class Node:
    """A scalar (always text, or None where nothing was written), a mapping or a sequence, with its place."""

    content: Content
    span: Span
    quoted: bool = False
    keys: dict[str, Span] = field(default_factory=dict)
    """The place of each key of a mapping."""

    def plain(self) -> object:
        """The tree as dictionaries, lists, texts and None."""
        match self.content:
            case dict() as entries:
                return {key: node.plain() for key, node in entries.items()}
            case list() as items:
                return [node.plain() for node in items]
            case scalar:
                return scalar

    def children(self) -> Iterator[tuple[str | int, Node]]:
        """The entries of a mapping or the items of a sequence."""
        match self.content:
            case dict() as entries:
                yield from entries.items()
            case list() as items:
                yield from enumerate(items)
            case _:
                return


class Document(NamedTuple):
    """A layout as it was written: the tree, and the text of every file it came from."""

    root: Node
    sources: dict[str, str]
    """The text by file name; the layout itself comes first."""

    @property
    def name(self) -> str:
        """The layout file's name as the user gave it."""
        return next(iter(self.sources))

    def at(self, path: Path) -> Node | None:
        """The node at a path; None if nothing is written there."""
        node: Node | None = self.root
        for part in path:
            node = dict(node.children()).get(part) if node is not None else None
        return node

    def locate(self, path: Path, *, on_key: bool = False) -> Span:
        """The span of the deepest thing that exists on the path.

        A complaint about a missing key lands on the key of the mapping that should hold it, since a
        mapping's own end lies lines away.
        """
        node, span, whole = self.root, Span(self.name, 1, 1, 1, 1), True
        for part in path:
            entries = node.content
            if isinstance(entries, dict) and part in entries:
                key_span = node.keys[str(part)]
                node = entries[str(part)]
                span = key_span if isinstance(node.content, dict | list) else node.span
                last_key = key_span
            elif isinstance(entries, list) and isinstance(part, int) and part < len(entries):
                node = entries[part]
                span = last_key = node.span
            else:
                whole = False
                break
        return last_key if path and whole and on_key else span
