"""The sentence of a hint, made of its edits: `write bitmap: internal and remove 'consistency', or ...`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from raidplan.base.findings import Edit, Path
from raidplan.base.plain import flow
from raidplan.base.words import listed
from raidplan.layout.kinds.model import Model
from raidplan.layout.model import Layout

ENTRY = {"hardware": 3, "boot": 1, "monitoring": 1}
"""The length of the path to an entry of a section; two in all others."""


def advice(layout: Layout, at: Path, edits: Sequence[Edit], more: str) -> str:
    """The edits in words, for a finding at a place, and behind them all other advice."""
    subjects: dict[tuple[str, str], list[str]] = {}
    fresh: dict[Path, dict[str, str]] = {}
    for edit in edits:
        entry = _entry(edit.path)
        if len(entry) == 2 < len(edit.path) and value_at(layout, entry) is None:
            fresh.setdefault(entry, {})[str(edit.path[-1])] = str(edit.new)
        else:
            subjects.setdefault(_phrase(layout, edit), []).append(
                "" if at[: len(entry)] == entry else _subject(edit.path)
            )
    phrases = [("add", f"{kind}: {flow({str(name): {**values}})}") for (kind, name), values in fresh.items()]
    phrases += [(verb, f"{text}{_of(at, names)}") for (verb, text), names in subjects.items()]
    joined = [
        f"{verb} {listed([text for _, text in some], last=' and ')}"
        for verb, some in groupby(phrases, key=itemgetter(0))
    ]
    return ", ".join(filter(None, (listed(joined, last=" and "), more)))


def _phrase(layout: Layout, edit: Edit) -> tuple[str, str]:
    """A verb and its object."""
    old, key, new = value_at(layout, edit.path), edit.path[-1], edit.new
    if new is None:
        return "remove", f"'{key if isinstance(key, str) else old}'"
    if isinstance(old, tuple) and isinstance(new, tuple) and _come(old, new):
        added, removed = (listed(names, last=" and ") for names in (_come(old, new), _come(new, old)))
        return "take", f"{added} in place of {removed}"
    if isinstance(key, int):
        return "take", f"{new} in place of {old}"
    written = f"{key}: {flow([*new] if isinstance(new, tuple) else new)}"
    alone = len(_entry(edit.path)) == 1 or edit.path[:-1] == ("hardware",)
    return "write", f"{edit.path[0]}: {{{written}}}" if alone else written


def _come(old: tuple[str, ...], new: tuple[str, ...]) -> list[str]:
    """The names that others make room for; none if that is not all that changes."""
    come = [name for name in new if name not in old]
    return come if len(old) == len(new) and len({*new}) == len(new) else []


def _entry(path: Path) -> Path:
    return path[: ENTRY.get(str(path[0]), 2)]


def _subject(path: Path) -> str:
    """The name of the thing that a key is of; empty for a section that has no names."""
    names = path[len(_entry(path)) - 1 : -1]
    return ".".join(
        str(part) for part in names if part not in ("partitions", "volumes", "boot", "monitoring")
    )


def _of(at: Path, names: Sequence[str]) -> str:
    """`for s0 and s1`; nothing where the finding is about the only one."""
    if not any(names):
        return ""
    return f" for {listed([name or str(_entry(at)[-1]) for name in names], last=' and ')}"


def value_at(layout: Layout, path: Path) -> object:
    """The value that a layout has at a path; None if there is none."""
    here: object = layout
    for part in path:
        match here:
            case Model():
                here = getattr(here, str(part), None)
            case Mapping():
                here = here.get(str(part))
            case tuple() if isinstance(part, int) and part < len(here):
                here = here[part]
            case _:
                return None
    return here
