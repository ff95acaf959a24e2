"""Hover text and completion: the words of the manual at a cursor, and the names that the layout has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from raidplan.cli.lsp.cursor import Cursor
from raidplan.layout.keys import Key, keys, model_at, takes_list, values
from raidplan.layout.model import Hardware, Layout
from raidplan.topology.wiring import SECTIONS

NAMED = {
    "behind": tuple(SECTIONS),
    "feeds": ("disks", "enclosures", *SECTIONS),
    "disks": ("disks",),
}
"""The sections of the hardware that a key takes names of; all others that take a name take devices."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One thing that can be typed."""

    label: str
    detail: str
    insert: str


def key_at(cursor: Cursor, hardware: bool = False) -> Key | None:
    """The key that a cursor is in; in a file of hardware the sections stand at the top."""
    words = [part for part in cursor.path if isinstance(part, str)]
    if not words:
        return None
    model, named = model_at(words[:-1], Hardware if hardware else Layout)
    return None if model is None or named else keys(model).get(words[-1])


def hover(key: Key) -> str:
    """The manual's words about a key, as Markdown."""
    lines = [f"**{key.name}**: {' or '.join(values(key.field.hint))}", key.description]
    lines += [f"Default: `{key.default}`"] if key.default else []
    lines += [f"Example: `{key.name}: {key.example}`"] if key.example else []
    return "\n\n".join([*lines, "Required."] if key.field.required else lines)


def completions(
    cursor: Cursor, layout: Layout | None, hardware: bool = False, there: frozenset[str] = frozenset()
) -> Iterator[Completion]:
    """Words that fit at a cursor: keys that are not `there` yet, words, or names that the layout has."""
    path = [part for part in cursor.path if isinstance(part, str)]
    if not cursor.in_value:
        model, named = model_at(path, Hardware if hardware else Layout)
        if model is not None and not named:
            for known in (each for each in keys(model).values() if each.name not in there):
                yield Completion(known.name, known.description, f"{known.name}: ")
    key = key_at(cursor, hardware)
    if key is None or (not cursor.in_value and (there or not takes_list(key.field.hint))):
        return
    dash = "" if cursor.in_value else "- "
    yield from (Completion(word, key.description, f"{dash}{word}") for word in key.words)
    kinds = " ".join(values(key.field.hint))
    if "name" in kinds and layout is not None:
        yield from (Completion(name, kind, f"{dash}{name}") for name, kind in _names(key.name, layout))


def _names(key: str, layout: Layout) -> Iterator[tuple[str, str]]:
    if key in NAMED:
        for section in NAMED[key]:
            yield from ((name, section) for name in getattr(layout.hardware, section))
        return
    for name, disk in layout.hardware.disks.items():
        yield name, "disk"
        yield from ((f"{name}.{part}", "partition") for part in disk.partitions)
    yield from ((name, "array") for name in layout.arrays)
    for name, group in layout.volume_groups.items():
        yield from ((f"{name}.{volume}", "volume") for volume in group.volumes)
