"""Advice, in words only, for a person with a backup: how existing objects other than arrays become what the layout asks for."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.facts.machine import Properties
from raidplan.facts.signatures import plain
from raidplan.plan import Value
from raidplan.plan.changes import Answer, Reason, contents, fill, known_before, short
from raidplan.plan.partitions import TYPE_CODES

NEW_FILESYSTEM = "make a new file system elsewhere and copy: this one cannot become it"
SMALLER = (
    "it cannot shrink in place: back up, remove it by hand (the top layer first), apply again and restore"
)

HINTS = {
    ("mount", "source"): "another file system is mounted there: umount it, then apply again",
    ("mount", "type"): "another file system is mounted there: umount it, then apply again",
    ("swap", "size"): "by hand: swapoff {node} and remove the file, then apply again",
    ("table", "partitions"): "by hand, after a backup: sfdisk {node}; what stands on the partitions has to be moved first",
    ("volume_group", "devices"): f"by hand: {short(contents.GROUP_EXTENDED)}, or {short(contents.GROUP_REDUCED)}",
}  # fmt: skip
"""By kind and property of the object; `{node}` is its device, `{planned}` the planned value."""
MORE = {
    ("filesystem", "blocks"): "{}, once its device has its size",
    ("volume", "size"): "{}, then grow what stands on it",
}
ELSEWHERE = (
    "this system runs from another file system: in a rescue system, name the folder below which the machine is made: "
    "--target /mnt"
)
OTHERS = "move what is on it elsewhere, take it away by hand, then apply again"


def by_hand(kind: str, name: str, node: str, found: Properties, expect: Mapping[str, Value]) -> str:
    """Advice about a property that no step changes; for arrays see `array_by_hand`."""
    now, planned = found.get(name), expect[name]
    if (kind, name) == ("table", "partitions") and _without_type(now) == _without_type(planned):
        return _types(node, now, planned)
    if (kind, node) == ("mount", "/"):
        return ELSEWHERE
    smaller = isinstance(now, int) and isinstance(planned, int) and planned < now
    answer = _answer(kind, name, found, expect, smaller=smaller)
    if answer is None:
        hint = HINTS.get((kind, name), NEW_FILESYSTEM if kind == "filesystem" else OTHERS)
        return hint.format(node=node, planned=plain(str(planned)))
    if not answer.possible:
        return SMALLER if answer.reason is Reason.SHRINKS_NOT else NEW_FILESYSTEM
    size = plain(str(planned))
    words = said(answer, {"node": node, "planned": size, "size": size, "blocks": size})
    return words if smaller or (kind, name) not in MORE else MORE[kind, name].format(words)


def _answer(
    kind: str, name: str, found: Properties, expect: Mapping[str, Value], *, smaller: bool
) -> Answer | None:
    """The answer of `plan/changes/` or of the type of the file system; None where they have none."""
    if (kind, name) == ("volume", "size"):
        return contents.VOLUME_SHRUNK if smaller else contents.VOLUME_GROWN
    known = FILESYSTEMS.get(str(found.get("type"))) if kind == "filesystem" else None
    if known is None:
        return None
    becomes = known.becomes(str(expect.get("type", known.name)))
    if name == "type" or (expect.get("type", known.name) != known.name and not becomes.possible):
        return becomes
    return known.resized(smaller=smaller) if name == "blocks" else known.changed.get(name)


def said(answer: Answer, values: Mapping[str, str]) -> str:
    """The commands of an answer, and what has to hold before."""
    commands = ", then ".join(fill(command, values) for command in answer.commands)
    known = "; ".join(known_before(answer))
    return f"by hand, after a backup: {commands or short(answer)}" + (f" (before: {known})" if known else "")


def _without_type(rows: Value) -> list[str]:
    return [row.rpartition(" ")[0] for row in _rows(rows)]


def _rows(rows: Value) -> list[str]:
    return list(rows) if isinstance(rows, list) else []


def _types(node: str, now: Value, planned: Value) -> str:
    """Advice about partition types; keeping the present type, where a layout has a word for it, changes nothing."""
    words = {code.lower(): word for word, code in TYPE_CODES.items()}
    pairs = zip(_rows(now), _rows(planned), strict=True)
    there = dict.fromkeys(words.get(found.split()[-1], "") for found, wanted in pairs if found != wanted)
    kept = ", ".join(f"`type: {word}`" for word in there) if all(there) else ""
    known = f"write the type that is there ({kept}), or " if kept else ""
    return f"only the types differ: {known}by hand: sfdisk --part-type {node} NUMBER TYPE"
