"""Diffs of layouts given as text."""

from __future__ import annotations

from collections.abc import Iterable

from raidplan.diff import Change, Diff, LostData, Side, Thing, diff
from raidplan.document.read import parse_document
from raidplan.layout.load import load_layout
from raidplan.placement import place
from raidplan.render.diff_names import lost_name
from raidplan.render.statements import cause_text, statement_text, statement_texts
from raidplan.topology import resolve

DISKS = "  disks: {d<0-9>: {serial: S<1>, size: 3TB, rate: 150MB/s}}\n"


def side(text: str, host: str = "h") -> Side:
    """A layout without its first two lines."""
    document, problems = parse_document(f"version: 1\nhost: {host}\n{text}", "x.yaml")
    assert document is not None and not problems, problems
    layout, findings = load_layout(document)
    assert layout is not None, findings
    topology, findings = resolve(place(layout)[0])
    assert not findings, findings
    return Side(topology)


def compared(old: str, new: str, hosts: tuple[str, str] = ("h", "h")) -> Diff:
    """What differs between two layouts."""
    return diff(side(old, hosts[0]), side(new, hosts[1]))


def fates(made: Diff) -> dict[str, str]:
    """What becomes of each thing, by its path."""
    return {".".join(map(str, thing.path)): thing.fate.value for thing in made.things}


def thing(made: Diff, path: str) -> Thing:
    (found,) = (each for each in made.things if ".".join(map(str, each.path)) == path)
    return found


def ways(made: Diff, path: str) -> dict[str, str | None]:
    """The command for each change of a thing; None where there is none."""
    return {each.key: each.how.command if each.how else None for each in thing(made, path).changes}


def lost(made: Diff) -> list[str]:
    return [lost_name(loss) for loss in made.losses]


def why(loss: LostData) -> str:
    return cause_text(loss.because)


def hint(loss: LostData) -> str:
    return statement_text(loss.hint) if loss.hint else ""


def notes(changes: Iterable[Change]) -> list[str]:
    """The words beside those that are made in place."""
    return [statement_texts(each.how.notes) for each in changes if each.how]
