"""The YAML language server that editors have, with the Schema: nothing to say about examples, and mistakes at their places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raidplan.layout.schema import layout_schema
from tests.examples import EXAMPLES
from tests.lsp.editor import Editor
from tests.outside.conftest import program

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.network]
MODELINE = f"# yaml-language-server: $schema={Path('schemas/layout.schema.json').resolve().as_uri()}\n"
TYPOS = {
    "hots: h": "hots",
    "arrays: {a: {level: raid7, members: [x, y]}}": "raid7",
    "arrays: {a: {level: raid6, members: [w, x, y, z], chnk: 64KiB}}": "chnk",
    "hardware: {disks: {d: {sizee: 4TB}}}": "sizee",
    "hardware: {disks: {d: {size: 4T}}}": "4T",
    "filesystems: {f: {device: a, type: xfss}}": "xfss",
}
"""A line, and what in it is marked."""


@pytest.fixture(scope="module")
def server(node_modules: Path) -> Iterator[Editor]:
    """The server; the first line of a file tells it which Schema is for it, as in the examples."""
    start = node_modules / "yaml-language-server" / "bin" / "yaml-language-server"
    editor = Editor([program("node"), str(start), "--stdio"])
    editor.begin()
    yield editor
    editor.end()


def marked(server: Editor, file: Path, text: str) -> list[dict[str, Any]]:
    """The diagnostics of a file."""
    uri = server.open(file, text)
    while True:
        at, found = server.diagnostics()
        if at == uri:
            return found


def test_no_example_has_a_diagnostic(server: Editor, tmp_path: Path) -> None:
    found = {
        file.name: marked(server, tmp_path / file.name, MODELINE + file.read_text().partition("\n")[2])
        for file in EXAMPLES
    }
    assert {name: each for name, each in found.items() if each} == {} and len(found) > 20


@pytest.mark.parametrize("line", TYPOS)
def test_a_mistake_is_marked_where_it_is(line: str, server: Editor, tmp_path: Path) -> None:
    head = MODELINE + "version: 1\n" + ("" if line.startswith("hots") else "host: h\n")
    text = f"{head}{line}\n"
    found = marked(server, tmp_path / f"{abs(hash(line))}.yaml", text)
    lines = text.splitlines()
    places = [
        lines[each["range"]["start"]["line"]][
            each["range"]["start"]["character"] : each["range"]["end"]["character"]
        ]
        for each in found
    ]
    assert TYPOS[line] in places, found


def test_keys_are_explained_and_completed(server: Editor, tmp_path: Path) -> None:
    text = MODELINE + "version: 1\nhost: h\narrays:\n  a:\n    level: raid6\n    \n"
    file = tmp_path / "hover.yaml"
    marked(server, file, text)
    said = server.at("hover", file.as_uri(), 5, 6)["contents"]["value"]
    assert layout_schema()["definitions"]["Array"]["properties"]["level"]["description"] in said.replace(
        "\\", ""
    )
    offered = server.at("completion", file.as_uri(), 6, 4)["items"]
    assert {"chunk", "members", "spares"} <= {each["label"] for each in offered}
