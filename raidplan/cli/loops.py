"""`raidplan loops up|down LAYOUT`: loop devices in place of a layout's disks, for test machines."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from raidplan.base.words import counted
from raidplan.cli import OK, REFUSED, STOPPED, UNABLE
from raidplan.cli.output import Unable, talk, talk_findings
from raidplan.document import read_document
from raidplan.review.pipeline import Loaded, load, plan
from raidplan.twin.loops import (
    Down,
    LoopsRefused,
    Stopped,
    TooSmall,
    Up,
    bytes_needed,
    down,
    record_of,
    scale_layout,
    up,
)


def run(arguments: argparse.Namespace) -> int:
    """Makes them or removes them; what was done and what comes next is said on standard error."""
    try:
        return _up(arguments) if arguments.action == "up" else _down(arguments)
    except TooSmall as error:
        talk(f"raidplan: {error}")
        return UNABLE
    except LoopsRefused as error:
        for reason in error.reasons:
            talk(f"refused: {reason}")
        talk("nothing was touched")
        return REFUSED
    except Stopped as error:
        talk(f"stopped: {error}")
        talk(
            "`raidplan loops down` removes what is left" if error.left else "what was begun has been removed"
        )
        return STOPPED if error.left else UNABLE


def _up(arguments: argparse.Namespace) -> int:
    loaded = load(arguments.layout)
    made = None
    if loaded.topology is not None:
        made, loaded = plan(loaded)
    if made is None:
        return _invalid(loaded)
    assert loaded.topology is not None
    topology, text = loaded.topology, ""
    if arguments.scale > 1:
        topology, text = scale_layout(topology.layout, arguments.scale)
    directory = _directory(arguments, topology.host)
    record = record_of(topology, arguments.scale)
    done = up(record, directory, layout=text, needed=bytes_needed(topology), tell=talk)
    talk(_summary(done))
    layout = str(directory / "scaled.yaml") if text else arguments.layout
    talk(
        f"next: raidplan plan {shlex.quote(layout)} --devices {shlex.quote(str(directory / 'devices.json'))}"
    )
    return OK if done.devices else UNABLE


def _invalid(loaded: Loaded) -> int:
    """Prints the findings of the layout on standard error."""
    talk_findings(loaded)
    return UNABLE


def _summary(done: Up) -> str:
    count = len(done.devices)
    if not done.attached:
        return f"all {count} loop devices are there already, as {done.devices_file} says"
    kept = count - len(done.made)
    data = f"; {kept} of them over files that were there, with what is on them" if kept else ""
    return f"{count} loop device{'s stand' if count > 1 else ' stands'} ready, by name in {done.devices_file}{data}"


def _down(arguments: argparse.Namespace) -> int:
    if arguments.scale != 1:
        talk("--scale has no meaning for `down`, which knows what `up` made")
    host = _host(arguments)
    done = down(_directory(arguments, host), host, tell=talk)
    for line in _remove(done):
        talk(line)
    return OK


def _remove(done: Down) -> list[str]:
    if done.folder_removed and not (done.detached or done.removed):
        return [f"{done.folder}: nothing is there any more"]
    counts = (
        f"detached {counted(len(done.detached), 'loop device')}, deleted {counted(len(done.removed), 'file')}"
    )
    return [*done.left, *([f"{counts}; {done.folder} is gone"] if done.folder_removed else [])]


def _host(arguments: argparse.Namespace) -> str:
    """The layout's host; with --directory an empty text will do where the layout cannot be read.

    Raises Unable. The rest of the layout does not matter here: it may be wrong by now.
    """
    document, problems = read_document(arguments.layout)
    plain = document.root.plain() if document else None
    host = plain.get("host") if isinstance(plain, dict) else None
    if isinstance(host, str) and host:
        return host
    if arguments.directory:
        return ""
    why = problems[0][0].message if problems else f"{arguments.layout} names no host"
    raise Unable(f"{why}; give --directory")


def _directory(arguments: argparse.Namespace, host: str) -> Path:
    if arguments.directory:
        return Path(arguments.directory)
    if "/" in host or host in (".", ".."):
        raise Unable(f"'{host}' is no name for a folder; give --directory")
    return Path(f"{host}.loops")
