"""The language server: findings as diagnostics, hover text, completion and quick fixes, over standard input and output."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from raidplan import __version__
from raidplan.base.findings import Severity
from raidplan.base.groups import by_key
from raidplan.cli.lsp.beside import keys_beside
from raidplan.cli.lsp.cursor import Cursor, cursor
from raidplan.cli.lsp.fixes import fixes_of, replacements
from raidplan.cli.lsp.hover import completions, hover, key_at
from raidplan.document import Reader, Span, in_place_of, read_text
from raidplan.layout.files import looks_like_layout_text, to_check
from raidplan.layout.model import Layout
from raidplan.review.located import Located
from raidplan.review.pipeline import Loaded
from raidplan.review.pipeline import check as check_layout
from raidplan.review.settings import DEFAULT, InvalidSettings, Settings, read_settings

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}


@dataclass
class Workspace:
    """The files that are open, and what was found in each layout."""

    texts: dict[str, str] = field(default_factory=dict)
    loaded: dict[str, Loaded] = field(default_factory=dict)
    """The layouts as they were read, by file; a hardware file is checked with the layout that names it."""
    layouts: dict[str, Layout] = field(default_factory=dict)
    """The last one that could be read, which knows the names."""
    shown: dict[str, set[str]] = field(default_factory=dict)
    """The files that have diagnostics, by layout."""
    uris: dict[str, str] = field(default_factory=dict)
    """The names that the editor has for files: one that was never saved is `untitled:…`."""

    def file_of(self, uri: str) -> str:
        """The file, which answers are about under the name that the editor has for it."""
        file = to_fs_path(uri) if uri.startswith("file:") else uri
        self.uris[file or uri] = uri
        return file or uri

    def uri_of(self, file: str) -> str:
        """The editor's name for a file."""
        return self.uris.get(file) or from_fs_path(file) or file

    def reader(self, layout: str) -> Reader:
        """The texts as they are in the editor, else on the disk."""
        disk = in_place_of(layout, self.text(layout))
        return lambda name: (self.texts[name], "") if name in self.texts else disk(name)

    def text(self, file: str) -> str:
        """A file as it is in the editor, else on the disk."""
        return self.texts[file] if file in self.texts else read_text(file)[0] or ""

    def check(self, file: str) -> Iterator[Loaded]:
        """Checks the layouts that a file belongs to."""
        if not looks_like_layout_text(self.text(file)):
            return
        for layout in to_check([file]):
            loaded = check_layout(layout, _settings(layout), reader=self.reader(layout))
            self.loaded[layout] = loaded
            if loaded.layout is not None:
                self.layouts[layout] = loaded.layout
            yield loaded

    def place(self, uri: str, at: types.Position) -> tuple[Cursor | None, bool, Layout | None]:
        """The cursor, whether it is in a file of hardware, and the layout that it belongs to."""
        file = self.file_of(uri)
        text = self.text(file)
        lines = text.splitlines()
        line = lines[at.line] if at.line < len(lines) else ""
        column = len(line.encode("utf-16-le")[: at.character * 2].decode("utf-16-le", "ignore"))
        owners = [name for name, each in self.loaded.items() if file in each.sources]
        hardware = file not in owners and bool(owners)
        return cursor(text, at.line, column), hardware, self.layouts.get(owners[0] if owners else file)


def _settings(layout: str) -> Settings:
    try:
        return read_settings(layout)
    except InvalidSettings:
        return DEFAULT


def serve() -> None:
    """Serves until the editor closes the connection."""
    server = LanguageServer("raidplan", __version__)
    register(server, Workspace())
    server.start_io()


def register(server: LanguageServer, workspace: Workspace) -> None:
    """The features of the server."""
    _follow_files(server, workspace)
    _answer_at_cursor(server, workspace)


@dataclass
class Board:
    """The findings as the editor shows them."""

    server: LanguageServer
    workspace: Workspace

    def show(self, uri: str) -> None:
        """Checks the layouts that a file belongs to, and shows what was found."""
        shown = self.workspace.shown
        checked = set()
        for loaded in self.workspace.check(self.workspace.file_of(uri)):
            checked.add(loaded.file)
            found: dict[str, list[types.Diagnostic]] = {file: [] for file in loaded.sources}
            found |= {file: [] for file in shown.get(loaded.file, ())}
            for item in loaded.findings:
                found.setdefault(item.span.file, []).append(_diagnostic(item, self.workspace))
            for file, diagnostics in found.items():
                self._publish(file, diagnostics)
            shown[loaded.file] = {file for file, diagnostics in found.items() if diagnostics}
        if not checked:  # it is no layout any more
            self.forget(self.workspace.file_of(uri))

    def forget(self, layout: str) -> None:
        """Shows nothing of a layout any more."""
        self.workspace.loaded.pop(layout, None)
        for file in self.workspace.shown.pop(layout, ()):
            self._publish(file, [])

    def _publish(self, file: str, diagnostics: list[types.Diagnostic]) -> None:
        self.server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(self.workspace.uri_of(file), diagnostics)
        )


def _follow_files(server: LanguageServer, workspace: Workspace) -> None:
    """Files that are opened, changed and closed."""
    board = Board(server, workspace)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def open_file(params: types.DidOpenTextDocumentParams) -> None:
        workspace.texts[workspace.file_of(params.text_document.uri)] = params.text_document.text
        board.show(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def change_file(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        workspace.texts[workspace.file_of(uri)] = server.workspace.get_text_document(uri).source
        board.show(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def close_file(params: types.DidCloseTextDocumentParams) -> None:
        file = workspace.file_of(params.text_document.uri)
        workspace.texts.pop(file, None)
        if os.path.exists(file):  # shown as it is on the disk, for a layout that names it is open perhaps
            board.show(params.text_document.uri)
        else:
            board.forget(file)


def _answer_at_cursor(server: LanguageServer, workspace: Workspace) -> None:
    """Answers about a place in a file: its key, the words that can be written there, fixes."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def show_key(params: types.HoverParams) -> types.Hover | None:
        place, hardware, _ = workspace.place(params.text_document.uri, _behind_key(params, workspace))
        known = looks_like_layout_text(workspace.text(workspace.file_of(params.text_document.uri)))
        key = key_at(place, hardware) if known and place else None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, hover(key))) if key else None

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[" ", "{", "[", "."])
    )
    def complete(params: types.CompletionParams) -> list[types.CompletionItem]:
        return list(_completions(params, workspace))

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def offer_fixes(params: types.CodeActionParams) -> list[types.CodeAction]:
        return list(_actions(params, workspace))


def _completions(params: types.CompletionParams, workspace: Workspace) -> Iterator[types.CompletionItem]:
    """The words that can be written at the cursor, beside the keys that are there."""
    at, uri = params.position, params.text_document.uri
    place, hardware, layout = workspace.place(uri, at)
    if place is None:
        return
    there = keys_beside(workspace.text(workspace.file_of(uri)), at.line, at.character)
    begin = types.Position(at.line, at.character - len(place.word))
    for each in completions(place, layout, hardware, there):
        edit = types.TextEdit(types.Range(begin, at), each.insert)
        yield types.CompletionItem(each.label, documentation=each.detail, text_edit=edit)


def _behind_key(params: types.HoverParams, workspace: Workspace) -> types.Position:
    """The position behind the key that is pointed at."""
    lines = workspace.text(workspace.file_of(params.text_document.uri)).splitlines()
    at = params.position
    line = lines[at.line] if at.line < len(lines) else ""
    end = at.character
    while end < len(line) and (line[end].isalnum() or line[end] in "_-"):
        end += 1
    if line[end : end + 1] == ":":
        end += 1
    return types.Position(at.line, end)


def _actions(params: types.CodeActionParams, workspace: Workspace) -> Iterator[types.CodeAction]:
    """The hints of the findings in a range that a program can follow."""
    file = workspace.file_of(params.text_document.uri)
    for loaded in workspace.loaded.values():
        if loaded.document is None:
            continue
        for item in loaded.findings:
            inside = (
                params.range.start.line + 1 <= item.span.end_line
                and item.span.line <= params.range.end.line + 1
            )
            if item.span.file != file or not inside:
                continue
            made = replacements(loaded.document, fixes_of(item.finding), workspace.reader(loaded.file))
            edits = by_key(
                (workspace.uri_of(each.span.file), types.TextEdit(_range(each.span, workspace), each.text))
                for each in made
            )
            if made:
                yield types.CodeAction(
                    f"raidplan: {item.finding.hint}",
                    types.CodeActionKind.QuickFix,
                    [_diagnostic(item, workspace)],
                    edit=types.WorkspaceEdit(edits),
                )


def _diagnostic(item: Located, workspace: Workspace) -> types.Diagnostic:
    finding = item.finding
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(workspace.uri_of(span.file), _range(span, workspace)), place.message
        )
        for place, span in zip(finding.related, item.related, strict=True)
    ]
    hint = f"\nhint: {finding.hint}" if finding.hint else ""
    return types.Diagnostic(
        _range(item.span, workspace),
        finding.message + hint,
        SEVERITIES[finding.severity],
        finding.rule,
        source="raidplan",
        related_information=related,
    )


def _range(span: Span, workspace: Workspace) -> types.Range:
    """A span as the protocol counts: from 0 on, in units of UTF-16."""
    lines = workspace.text(span.file).splitlines()

    def position(line: int, column: int) -> types.Position:
        text = lines[line - 1] if line <= len(lines) else ""
        return types.Position(line - 1, len(text[: column - 1].encode("utf-16-le")) // 2)

    return types.Range(position(span.line, span.column), position(span.end_line, span.end_column))
