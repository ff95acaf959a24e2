"""YAML text to a tree of `Node`, strictly: what two readers could understand differently is refused.

PyYAML's event stream is used rather than its composer, so that nothing recurses and every limit acts
before memory is spent. All scalars stay the text that was typed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import yaml

from raidplan.base.findings import Finding, error, shortened
from raidplan.base.hidden import INVISIBLE
from raidplan.base.size import MIB
from raidplan.document.node import Node, NotALayout, Span

MAX_BYTES = 4 * MIB
MAX_NODES = 250_000
MAX_DEPTH = 32

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

FORBIDDEN_KEYS = {"on", "off", "yes", "no", "y", "n", "true", "false", "null", "~"}
"""Words that YAML 1.1 reads as something else than text (https://yaml.org/type/bool.html)."""


def parse(text: str, file: str) -> tuple[Node | None, list[tuple[Finding, Span]]]:
    """The tree of one YAML document, or one finding with its place."""
    hidden = INVISIBLE.search(text)
    if hidden:
        # In the whole text, since a comment can mislead a reader as well.
        message, hint = _invisible(hidden[0])
        return None, [(error("invalid-yaml", (), message, hint), _place(text, hidden.start(), file))]
    found = _read(text, file, LOADER)
    if isinstance(found, yaml.YAMLError) and LOADER is not yaml.SafeLoader:
        # libyaml has other words for a mistake than PyYAML's own reader, which every machine has.
        again = _read(text, file, yaml.SafeLoader)
        found = found if isinstance(again, Node) else again
    if isinstance(found, Node):
        return found, []
    if isinstance(found, NotALayout):
        return None, [(error("invalid-yaml", (), found.message, found.hint), found.span)]
    message, span = _yaml_problem(found, text, file)
    return None, [(error("invalid-yaml", (), message, _advice(message, text, span)), span)]


def _read(text: str, file: str, loader: Any) -> Node | NotALayout | yaml.YAMLError:
    """The tree, or the reason why there is none."""
    try:
        return _Builder(file).build(yaml.parse(text, Loader=loader))
    except (NotALayout, yaml.YAMLError) as problem:
        return problem


def _invisible(character: str) -> tuple[str, str]:
    name = unicodedata.name(character, "a control character").lower()
    return f"the invisible character U+{ord(character):04X} ({name}) is not allowed", "remove it"


def _place(text: str, position: int, file: str) -> Span:
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    return Span(file, line, column, line, column + 1)


def _yaml_problem(problem: yaml.YAMLError, text: str, file: str) -> tuple[str, Span]:
    mark, opened = getattr(problem, "problem_mark", None), getattr(problem, "context_mark", None)
    # What is never closed is missed at the end of the file, and wanted where it was opened.
    whole = text.rstrip()
    end = whole.count("\n"), len(whole) - whole.rfind("\n") - 1
    if opened is not None and (mark is None or (mark.line, mark.column) >= end):
        mark = opened
    what = getattr(problem, "problem", None) or getattr(problem, "reason", None) or str(problem)
    if mark is not None:
        line, column = mark.line + 1, mark.column + 1
        span = Span(file, line, column, line, column + 1)
    else:
        span = _place(text, int(getattr(problem, "position", 0) or 0), file)
    context = getattr(problem, "context", None)
    return f"not valid YAML: {what}" + (f" ({context})" if context else ""), span


ADVICE = {
    "mapping values are not allowed": "quote text that holds ': ', or check the indentation",
    "end of stream": "a quote or bracket that was opened is not closed",
    "',' or": "close the bracket, or quote text that holds one",
    "cannot start any token": "quote text that begins with @ % ` or |",
    "block end": "indent this line as those above it, or end their value first",
    "document start": "one file holds one layout; remove what follows '...'",
    "maximum nesting depth": "a layout has seven levels",
    "escape": "use single quotes, in which a backslash is only that",
}
"""The advice, by a part of the parser's message."""


def _advice(message: str, text: str, span: Span) -> str:
    lines = text.splitlines()
    line = lines[span.line - 1] if span.line <= len(lines) else ""
    if "\t" in line[: span.column]:
        return "indent with spaces; YAML does not allow tabs"
    found = (advice for part, advice in ADVICE.items() if part in message)
    return next(found, "check the indentation, brackets and quotes up to here")


class _Builder:
    """Builds the tree from events with a stack of its own."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.stack: list[_Open] = []
        self.nodes = 0
        self.documents = 0
        self.root: Node | None = None

    def build(self, events: Iterator[yaml.Event]) -> Node:
        for event in events:
            match event:
                case yaml.DocumentStartEvent():
                    self.start_document(event)
                case yaml.AliasEvent():
                    raise NotALayout(
                        "aliases are not allowed",
                        self.span(event),
                        "write the value again, or use a range such as d<0-7>",
                    )
                case yaml.ScalarEvent():
                    self.check(event)
                    self.add(self.scalar(event))
                case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                    self.check(event)
                    self.open(event)
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    self.add(self.stack.pop().node(self.span(event)))
                case _:
                    pass
        if self.root is None:
            raise NotALayout(
                "the file has no content", Span(self.file, 1, 1, 1, 1), "a layout begins with 'version: 1'"
            )
        return self.root

    def span(self, event: yaml.Event) -> Span:
        a, b = event.start_mark, event.end_mark
        assert a is not None and b is not None
        return Span(self.file, a.line + 1, a.column + 1, b.line + 1, b.column + 1)

    def start_document(self, event: yaml.DocumentStartEvent) -> None:
        self.documents += 1
        if self.documents > 1:
            raise NotALayout(
                "a second document begins here",
                self.span(event),
                "one file holds one layout; remove the '---'",
            )
        if event.version or event.tags:
            raise NotALayout(
                "YAML directives are not allowed", self.span(event), "remove the line that begins with '%'"
            )

    def check(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise NotALayout(f"more than {MAX_NODES} values", self.span(event), "use ranges such as d<0-7>")
        if event.anchor:
            raise NotALayout(
                f"anchors are not allowed: &{shortened(event.anchor)}",
                self.span(event),
                "write the value where it is needed, or use a range such as d<0-7>",
            )
        if event.tag and event.tag != "!":
            raise NotALayout(
                f"tags are not allowed: {shortened(event.tag)}", self.span(event), "write the plain value"
            )

    def open(self, event: yaml.CollectionStartEvent) -> None:
        if self.stack and self.stack[-1].wants_key():
            raise NotALayout("a key must be text", self.span(event), "write key: value")
        if len(self.stack) >= MAX_DEPTH:
            raise NotALayout(
                f"nested more than {MAX_DEPTH} levels deep", self.span(event), "a layout has seven"
            )
        self.stack.append(_Open(isinstance(event, yaml.MappingStartEvent), self.span(event)))

    def scalar(self, event: yaml.ScalarEvent) -> Node:
        span = self.span(event)
        hidden = INVISIBLE.search(event.value)
        if hidden:
            message, hint = _invisible(hidden[0])
            raise NotALayout(message, span, hint)
        quoted = not event.implicit[0]
        nothing = not quoted and event.value in ("", "~", "null")
        return Node(None if nothing else event.value, span, quoted)

    def add(self, node: Node) -> None:
        if not self.stack:
            self.root = node
            return
        top = self.stack[-1]
        if top.wants_key():
            self.check_key(node, top)
        top.add(node)

    def check_key(self, node: Node, top: _Open) -> None:
        key = node.content
        if key is None or not isinstance(key, str):
            raise NotALayout("a key must be text", node.span, "give the entry a name")
        if key == "<<":
            raise NotALayout(
                "merge keys are not allowed", node.span, "write the keys out, or use a range such as d<0-7>"
            )
        if key.lower() in FORBIDDEN_KEYS:
            raise NotALayout(
                f"the key '{key}' means a boolean to some YAML readers", node.span, "choose another name"
            )
        if key in top.keys:
            first = top.keys[key]
            raise NotALayout(
                f"duplicate key '{shortened(key)}', first at line {first.line}",
                node.span,
                "remove one of the two",
            )


class _Open:
    """A mapping or sequence whose end has not been read yet."""

    def __init__(self, is_mapping: bool, span: Span) -> None:
        self.is_mapping, self.start = is_mapping, span
        self.entries: dict[str, Node] = {}
        self.items: list[Node] = []
        self.keys: dict[str, Span] = {}
        self.key: str | None = None

    def wants_key(self) -> bool:
        return self.is_mapping and self.key is None

    def add(self, node: Node) -> None:
        if not self.is_mapping:
            self.items.append(node)
        elif self.key is None:
            self.key = str(node.content)
            self.keys[self.key] = node.span
        else:
            self.entries[self.key] = node
            self.key = None

    def node(self, end: Span) -> Node:
        span = Span(self.start.file, self.start.line, self.start.column, end.end_line, end.end_column)
        return Node(self.entries if self.is_mapping else self.items, span, keys=self.keys)
