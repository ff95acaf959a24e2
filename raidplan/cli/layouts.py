"""`raidplan layouts PATH...`: which of these files are layouts, for scripts that review what changed."""

from __future__ import annotations

import argparse
import os

from raidplan.cli import OK
from raidplan.cli.output import Unable, emit, emit_bytes
from raidplan.cli.settings import within
from raidplan.document import Reader
from raidplan.layout.files import Sketch, layouts_among
from raidplan.render.files import relative
from raidplan.render.markdown import heading
from raidplan.render.visible import visible
from raidplan.review.revision import NoRevision, revisions


def run(arguments: argparse.Namespace) -> int:
    """Prints the list."""
    files = [
        file
        for path in arguments.paths
        for file in (within(path) if not arguments.git and os.path.isdir(path) else [path])
    ]
    try:
        found = layouts_among(files, _reader(arguments.git) if arguments.git and files else None)
    except NoRevision as error:
        raise Unable(str(error)) from None
    if arguments.changed is not None:
        names = _names(arguments.changed)
        found = [each for each in found if _touched(each, names)]
    if arguments.null:
        emit_bytes(b"".join(os.fsencode(each.file) + b"\0" for each in found))
    elif arguments.format == "markdown":
        emit("".join(f"{heading(each.host, relative(each.file))}\n" for each in found))
    else:
        emit("".join(f"{visible(each.file)}\n" for each in found))
    return OK


def _touched(sketch: Sketch, names: set[str]) -> bool:
    return os.path.normpath(sketch.file) in names or sketch.hardware in names


def _names(file: str) -> set[str]:
    """The names in a list. Raises Unable."""
    try:
        with open(file, "rb") as opened:
            data = opened.read()
    except OSError as error:
        raise Unable(f"cannot read {file}: {error.strerror}") from None
    return {os.path.normpath(os.fsdecode(name)) for name in data.split(b"\0") if name}


def _reader(name: str) -> Reader:
    """Reads files of the repository that the working directory is in. Raises NoRevision."""
    (revision,) = revisions([name], os.path.join(os.curdir, "any"))

    def read(file: str) -> tuple[str | None, str]:
        try:
            return revision.read(file)
        except NoRevision as error:  # a link stands now where its folder was
            return None, str(error)

    return read
