"""The language server over standard input and output, as an editor starts it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.editor import Editor

pytestmark = pytest.mark.in_turn(5)

LAYOUT = """\
version: 1
host: box  # é
hardware:
  disks:
    left:  {serial: WD-A1, size: 4TB, partitions: {data: {size: rest}}}
    right: {serial: WD-B2, size: 4TB, partitions: {data: {size: rest}}}
arrays:
  data: {level: raid1, members: [left.data, right.data], chunk: 64KiB}
filesystems:
  data:
    device: data
    type: xfs
    mount: /srv/data
"""


@pytest.fixture
def editor() -> Iterator[Editor]:
    made = Editor([sys.executable, "-m", "raidplan", "lsp"])
    made.begin()
    yield made
    made.end()


def test_findings_are_diagnostics_and_hints_are_quick_fixes(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "box.yaml", LAYOUT)
    at, found = editor.diagnostics()
    assert at == uri
    (chunk,) = [each for each in found if each["code"] == "chunk-on-raid1"]
    assert chunk["severity"] == 1 and chunk["source"] == "raidplan" and "hint: " in chunk["message"]
    assert chunk["range"]["start"]["line"] == 7
    asked = {"textDocument": {"uri": uri}, "range": chunk["range"], "context": {"diagnostics": [chunk]}}
    actions = editor.ask("textDocument/codeAction", asked)
    (fix,) = [each for each in actions if each["diagnostics"][0]["code"] == "chunk-on-raid1"]
    (edit,) = fix["edit"]["changes"][uri]
    lines = LAYOUT.splitlines(keepends=True)
    begin, end = edit["range"]["start"], edit["range"]["end"]
    assert begin["line"] == end["line"] == 7
    lines[7] = lines[7][: begin["character"]] + edit["newText"] + lines[7][end["character"] :]
    assert lines[7] == "  data: {level: raid1, members: [left.data, right.data]}\n"
    changed = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "".join(lines)}]}
    editor.send("textDocument/didChange", changed)
    _, found = editor.diagnostics()
    assert "chunk-on-raid1" not in {each["code"] for each in found}


def test_keys_are_explained_and_completed(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "box.yaml", LAYOUT)
    editor.diagnostics()
    said = editor.at("hover", uri, 11, 6)["contents"]["value"]
    assert said.startswith("**type**: `ext2`") and "The type of file system." in said
    assert editor.at("hover", uri, 7, 26)["contents"]["value"].startswith("**members**")
    assert editor.at("hover", uri, 1, 12) is None
    offered = labels(editor.at("completion", uri, 4, 12))
    assert "behind" in offered and "serial" not in offered, "that is there"
    text = LAYOUT + "    o\nswap:\n  s: {device: \n"
    editor.send(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": text}]},
    )
    assert {"options", "inodes"} <= labels(editor.at("completion", uri, 13, 5))
    assert {"left.data", "data", "right"} <= labels(editor.at("completion", uri, 15, 14))
    assert labels(editor.at("completion", uri, 11, 10)) == {"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat"}  # fmt: skip


def test_below_a_brace_that_is_still_open_there_is_help(editor: Editor, tmp_path: Path) -> None:
    text = LAYOUT.replace(
        "  data: {level: raid1, members: [left.data, right.data], chunk: 64KiB}", "  data: {level: raid1, "
    )
    uri = editor.open(tmp_path / "box.yaml", text + "    \n")
    _, found = editor.diagnostics()
    assert [each["range"]["start"]["line"] for each in found if each["severity"] == 1]
    assert editor.at("hover", uri, 11, 6)["contents"]["value"].startswith("**type**")
    assert "members" in labels(editor.at("completion", uri, 7, 23))
    offered = labels(editor.at("completion", uri, 13, 4))
    assert "inodes" in offered and "mount" not in offered


def labels(items: list[dict[str, Any]]) -> set[str]:
    return {each["label"] for each in items}


def test_a_file_of_hardware_is_checked_with_its_layout(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "box.yaml").write_text(
        "version: 1\nhost: box\nhardware: h.hardware.yaml\narrays: {a: {level: raid1, members: [left, right]}}\n"
    )
    uri = editor.open(
        tmp_path / "h.hardware.yaml",
        "disks:\n  left: {serial: A, size: 4TB}\n  right: {serial: A, size: 4TB}\n",
    )
    found = dict([editor.diagnostics(), editor.diagnostics()])
    assert "duplicate-serial" in {each["code"] for each in found[uri]}


def test_other_files_are_left_alone(editor: Editor, tmp_path: Path) -> None:
    other = editor.open(tmp_path / "port.yaml", "services:\n  web: {image: nginx}\n")
    assert editor.at("hover", other, 0, 2) is None
    assert not editor.waiting


@pytest.mark.parametrize("text", ["", "foo: 1\n"], ids=["empty", "of others"])
def test_what_is_no_layout_any_more_has_no_diagnostics(editor: Editor, tmp_path: Path, text: str) -> None:
    uri = editor.open(tmp_path / "box.yaml", LAYOUT)
    assert editor.diagnostics()[1]
    changed = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": text}]}
    editor.send("textDocument/didChange", changed)
    assert editor.diagnostics() == (uri, [])


def test_a_closed_file_is_as_on_the_disk_or_forgotten(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "box.yaml", LAYOUT)
    assert editor.diagnostics()[1]
    (tmp_path / "box.yaml").unlink()
    editor.send("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert editor.diagnostics() == (uri, [])


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "vscode-vfs://github/x/y.yaml"])
def test_answers_have_the_name_that_the_editor_knows(editor: Editor, uri: str) -> None:
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": LAYOUT}
    editor.send("textDocument/didOpen", {"textDocument": document})
    at, found = editor.diagnostics()
    assert at == uri
    (chunk,) = [each for each in found if each["code"] == "chunk-on-raid1"]
    asked = {"textDocument": {"uri": uri}, "range": chunk["range"], "context": {"diagnostics": [chunk]}}
    actions = editor.ask("textDocument/codeAction", asked)
    assert [uri] in [list(each["edit"]["changes"]) for each in actions]
    editor.send("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert editor.diagnostics() == (uri, [])
