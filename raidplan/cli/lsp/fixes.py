"""The edits of a finding as changes of the text: a fix is offered only if the layout is then what the edits say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from raidplan.base.findings import Edit, Finding, Path
from raidplan.base.plain import Plain, flow
from raidplan.document import Document, Node, Reader, Span, parse_document


@dataclass(frozen=True, slots=True)
class Replacement:
    """A part of a file and the text in its place."""

    span: Span
    text: str


def fixes_of(finding: Finding) -> tuple[Edit, ...]:
    """The edits of a finding, else the word that was meant in place of the one that is there."""
    return finding.edits or ((Edit(finding.path, finding.meant, finding.on_key),) if finding.meant else ())


def replacements(document: Document, edits: Sequence[Edit], reader: Reader) -> list[Replacement]:
    """The changes of the text; none if they would change anything else, as below a range."""
    try:
        made = [*_changed(document, edits), *_inserted(document, edits)]
    except (KeyError, IndexError, TypeError, ValueError):
        return []  # a shape of the text that is left to a person
    texts = {file: replaced(text, made, file) for file, text in document.sources.items()}

    def read(name: str) -> tuple[str | None, str]:
        return (texts[name], "") if name in texts else reader(name)

    after, problems = parse_document(texts[document.name], document.name, read)
    if after is None or problems or after.root.plain() != _edited(document.root.plain(), edits):
        return []
    return made


def replaced(text: str, made: Sequence[Replacement], file: str) -> str:
    """A text with the changes that are about its file."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for each in sorted(made, key=lambda each: (each.span.line, each.span.column), reverse=True):
        if each.span.file == file:
            begin = starts[each.span.line - 1] + each.span.column - 1
            end = starts[each.span.end_line - 1] + each.span.end_column - 1
            text = text[:begin] + each.text + text[end:]
    return text


def _edited(root: object, edits: Sequence[Edit]) -> object:
    """The plain tree after the edits, whose paths are those before any of them."""
    for edit in sorted(edits, key=lambda edit: [-part if isinstance(part, int) else 0 for part in edit.path]):
        place = root
        for part in edit.path[:-1]:
            place = place.setdefault(part, {}) if isinstance(place, dict) else place[part]  # type: ignore[index]
        assert isinstance(place, dict | list)
        if edit.on_key and isinstance(place, dict):
            place[str(edit.new)] = place.pop(edit.path[-1])
        elif edit.new is None:
            del place[edit.path[-1]]  # type: ignore[arg-type]
        else:
            place[edit.path[-1]] = _plain(edit.new)  # type: ignore[index]
    return root


def _plain(new: str | int | tuple[str, ...]) -> object:
    return [*new] if isinstance(new, tuple) else str(new)


def _written(new: object) -> str:
    return flow([*new] if isinstance(new, tuple) else new)  # type: ignore[arg-type]


def _changed(document: Document, edits: Sequence[Edit]) -> Iterator[Replacement]:
    for edit in edits:
        node = document.at(edit.path)
        if node is None:
            continue
        if edit.on_key:
            parent = document.at(edit.path[:-1])
            assert parent is not None
            yield Replacement(parent.keys[str(edit.path[-1])], _written(edit.new))
        elif edit.new is not None:
            yield Replacement(node.span, _written(edit.new))
        else:
            yield _removal(document, edit.path)


def _removal(document: Document, path: Path) -> Replacement:
    """A key or an item, with the comma or the line that it has."""
    parent = document.at(path[:-1])
    assert parent is not None
    places = [*parent.children()]
    number = [key for key, _ in places].index(path[-1])
    spans = [parent.keys[str(key)] if parent.keys else node.span for key, node in places]
    node = places[number][1]
    begin, end = spans[number], node.span
    if not _is_flow(document, parent):
        return Replacement(Span(begin.file, begin.line, 1, end.end_line + 1, 1), "")
    if number + 1 < len(spans):
        after = spans[number + 1]
        return Replacement(Span(begin.file, begin.line, begin.column, after.line, after.column), "")
    if number:
        before = places[number - 1][1].span
        return Replacement(
            Span(begin.file, before.end_line, before.end_column, end.end_line, end.end_column), ""
        )
    return Replacement(Span(begin.file, begin.line, begin.column, end.end_line, end.end_column), "")


def _inserted(document: Document, edits: Sequence[Edit]) -> Iterator[Replacement]:
    """Keys that are new, gathered below the deepest mapping that is."""
    new = [edit for edit in edits if edit.new is not None and document.at(edit.path) is None]

    def home(edit: Edit) -> Path:
        path = edit.path[:-1]
        while document.at(path) is None:
            path = path[:-1]
        return path

    for path, group in groupby(sorted(new, key=lambda edit: str(home(edit))), key=home):
        parent = document.at(path)
        assert parent is not None and isinstance(parent.content, dict)
        tree: dict[str, Plain] = {}
        for edit in group:
            place = tree
            for part in edit.path[len(path) : -1]:
                place = place.setdefault(str(part), {})  # type: ignore[assignment]
            place[str(edit.path[-1])] = [*edit.new] if isinstance(edit.new, tuple) else edit.new
        yield _insertion(document, parent, tree)


def _insertion(document: Document, parent: Node, tree: Mapping[str, Plain]) -> Replacement:
    """Keys at the end of a mapping in braces, or on lines of their own before its first key."""
    lines = [f"{key}: {flow(value)}" for key, value in tree.items()]
    span = parent.span
    if _is_flow(document, parent):
        place = Span(span.file, span.end_line, span.end_column - 1, span.end_line, span.end_column - 1)
        return Replacement(place, (", " if parent.content else "") + ", ".join(lines))
    first = min(parent.keys.values(), key=lambda key: (key.line, key.column))
    if parent is document.root:  # behind the rest, where it stands by itself
        last = len(document.sources[document.name].splitlines())
        ended = document.sources[document.name].endswith("\n")
        place = Span(document.name, last + 1, 1, last + 1, 1) if ended else first
        if ended:
            return Replacement(place, "".join(f"{line}\n" for line in lines))
    place = Span(first.file, first.line, first.column, first.line, first.column)
    return Replacement(place, "".join(f"{line}\n{' ' * (first.column - 1)}" for line in lines))


def _is_flow(document: Document, node: Node) -> bool:
    line = document.sources[node.span.file].splitlines()[node.span.line - 1]
    return line[node.span.column - 1 : node.span.column] in ("{", "[")
