"""`raidplan loops up|down LAYOUT`: loop devices in place of a layout's disks, for test machines."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raidplan.cli.parser import Subparsers
    from raidplan.review.pipeline import Loaded
    from raidplan.twin.loops import Down, Up

DESCRIPTION = """\
up: makes a sparse file and a loop device for every disk that a plan of the layout would touch, and
devices.json, which `plan` and `apply` take with --devices. After a reboot it attaches the files again.
down: unmounts, deactivates and stops what stands on these loop devices, detaches them, and deletes the files
with everything in them. Other loop devices, files and arrays are never touched.
"""


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    parser = subparsers.add_parser(
        "loops", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("up", "down"), metavar="up|down", help="make them, or remove them")
    parser.add_argument("layout", metavar="LAYOUT", help="a layout file; - is standard input")
    parser.add_argument("--directory", metavar="D", help="where the files lie; ./HOST.loops by default")
    parser.add_argument(
        "--scale",
        type=_scale,
        default=1,
        metavar="N",
        help="up: divide every size by N, and write the layout that results to D/scaled.yaml",
    )
    parser.set_defaults(func=run)


def _scale(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:12]) <= 10**9):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Makes them or removes them; what was done and what comes next is said on standard error."""
    from raidplan.cli import REFUSED, STOPPED, UNABLE
    from raidplan.cli.output import talk
    from raidplan.twin.loops import Refused, Stopped, TooSmall

    try:
        return _up(arguments) if arguments.action == "up" else _down(arguments)
    except TooSmall as error:
        talk(f"raidplan: {error}")
        return UNABLE
    except Refused as error:
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
    from raidplan.cli import OK, UNABLE
    from raidplan.cli.output import talk
    from raidplan.review.pipeline import load, plan
    from raidplan.twin.loops import bytes_needed, record_of, scale_layout, up

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
    """What is wrong with the layout, on standard error."""
    from raidplan.cli import UNABLE
    from raidplan.cli.output import talk_findings

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
    from raidplan.cli import OK
    from raidplan.cli.output import talk
    from raidplan.twin.loops import down

    if arguments.scale != 1:
        talk("--scale has no meaning for `down`, which knows what `up` made")
    host = _host(arguments)
    done = down(_directory(arguments, host), host, tell=talk)
    for line in _removed(done):
        talk(line)
    return OK


def _removed(done: Down) -> list[str]:
    if done.gone and not (done.detached or done.removed):
        return [f"{done.folder}: nothing is there any more"]
    counts = f"detached {len(done.detached)} loop devices, deleted {len(done.removed)} files"
    return [*done.left, *([f"{counts}; {done.folder} is gone"] if done.gone else [])]


def _host(arguments: argparse.Namespace) -> str:
    """The layout's host; with --directory an empty text will do where the layout cannot be read.

    Raises Unable. The rest of the layout does not matter here: it may be wrong by now.
    """
    from raidplan.cli.output import Unable
    from raidplan.document import read_document

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
    from raidplan.cli.output import Unable

    if arguments.directory:
        return Path(arguments.directory)
    if "/" in host or host in (".", ".."):
        raise Unable(f"'{host}' is no name for a folder; give --directory")
    return Path(f"{host}.loops")
