"""A file, or standard input, to a `Document`; a hardware section in a file of its own is joined here."""

from __future__ import annotations

import gc
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath

from raidplan.base.findings import Finding, error
from raidplan.document.node import Document, Node, Span
from raidplan.document.parse import MAX_BYTES, parse
from raidplan.document.ranges import expand

Located = tuple[Finding, Span]
Reader = Callable[[str], tuple[str | None, str]]
"""The text of a file by its name, or None and what is wrong with it."""
READABLE = "name a file of UTF-8 text that is there and can be read"


def read_document(file: str) -> tuple[Document | None, list[Located]]:
    """The layout in `file` (`-` is standard input), with ranges expanded.

    Findings here carry their span with them, since there may be no document to look it up in.
    """
    text, problems = read_text(file)
    return (None, problems) if text is None else parse_document(text, file)


def read_text(file: str, reader: Reader | None = None) -> tuple[str | None, list[Located]]:
    """The text of `file` (`-` is standard input), or what is wrong with it; `reader` has it in place of the disk."""
    text, problem = (reader or _text)(file)
    return text, [] if text is not None else _nowhere(file, problem)


def parse_document(
    text: str, file: str, reader: Reader | None = None
) -> tuple[Document | None, list[Located]]:
    """The document in `text`; `file` names it in findings and is where relative references start.

    `reader` has the file of the hardware, if that is not on the disk.
    """
    with _uncollected():
        return _document(text, file, reader)


@contextmanager
def _uncollected() -> Iterator[None]:
    """The garbage collector would scan the growing tree again and again for nothing: half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _document(text: str, file: str, reader: Reader | None) -> tuple[Document | None, list[Located]]:
    root, findings = parse(text, file)
    if root is None:
        return None, findings
    if not isinstance(root.content, dict):
        return None, [
            (
                error(
                    "invalid-layout", (), "a layout is a mapping of keys to values", "begin with 'version: 1'"
                ),
                root.span,
            )
        ]
    sources = {file: text}
    root, findings = _join_hardware(root, file, sources, reader)
    if findings:
        return Document(root, sources), findings
    root, findings = expand(root)
    return Document(root, sources), findings


def _nowhere(file: str, problem: str) -> list[Located]:
    return [(error("unreadable-layout", (), problem, READABLE), Span(file, 1, 1, 1, 1))]


def _text(file: str) -> tuple[str | None, str]:
    """The text of a file, or None and what is wrong with it."""
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1) if file == "-" else _regular_file(file)
    except OSError as error:
        return None, f"cannot read {file}: {error.strerror}"
    if len(data) > MAX_BYTES:
        return None, f"{file} is larger than {MAX_BYTES // 1024 // 1024} MiB, the limit for a layout"
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return None, f"{file} is not UTF-8 text: byte 0x{data[error.start]:02x} in line {line}"


def _regular_file(file: str) -> bytes:
    # Without O_NONBLOCK a FIFO with no writer would block here for ever.
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(0, "it is a directory" if stat.S_ISDIR(mode) else "it is not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as opened:
            return opened.read(MAX_BYTES + 1)
    finally:
        os.close(descriptor)


def in_place_of(file: str, text: str) -> Reader:
    """Reads a text in place of a file on the disk; the file of its hardware may lie at or below its folder only."""

    def read(name: str) -> tuple[str | None, str]:
        if name == file:
            return text, ""
        if not _below(name, FilePath(file).parent):
            return None, f"{name} is a link that leads out of the layout's folder"
        return _text(name)

    return read


def _below(target: str, folder: FilePath) -> bool:
    """The file that is meant lies in the folder, after all links."""
    inside = os.path.join(os.path.realpath(folder), "")
    return os.path.join(os.path.realpath(target), "").startswith(inside)


def _join_hardware(
    root: Node, file: str, sources: dict[str, str], reader: Reader | None
) -> tuple[Node, list[Located]]:
    """Replaces `hardware: NAME.yaml` by that file's content; it must lie at or below the layout's folder."""
    entries = root.content
    assert isinstance(entries, dict)
    reference = entries.get("hardware")
    if reference is None or not isinstance(reference.content, str):
        return root, []
    path = FilePath(reference.content)
    if path.is_absolute() or ".." in path.parts:
        finding = error(
            "invalid-layout",
            ("hardware",),
            f"{reference.content} is outside the layout's folder",
            "name a file beside the layout",
        )
        return root, [(finding, reference.span)]
    target = str(FilePath(file).parent / path) if file != "-" else str(path)
    if reader is None and not _below(target, FilePath(file).parent if file != "-" else FilePath()):
        # A link from a fork's pull request could show any file of the machine that checks it.
        finding = error(
            "invalid-layout",
            ("hardware",),
            f"{reference.content} is a link that leads out of the layout's folder",
            "put the file itself beside the layout",
        )
        return root, [(finding, reference.span)]
    text, problem = (reader or _text)(target)
    if text is None:
        return root, [(error("unreadable-layout", ("hardware",), problem, READABLE), reference.span)]
    sources[target] = text
    hardware, findings = parse(text, target)
    if hardware is None:
        return root, findings
    return Node({**entries, "hardware": hardware}, root.span, keys=root.keys), []
