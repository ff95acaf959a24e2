"""Properties that are not as planned, in words: `chunk is 64 KiB, planned 512 KiB`."""

from __future__ import annotations

from collections.abc import Sequence

from raidplan.base.hidden import escaped
from raidplan.base.identity import Identity
from raidplan.base.size import human
from raidplan.facts.prove import Deviation
from raidplan.plan.step import Value

BYTES = frozenset(
    {
        "block",
        "chunk",
        "component",
        "data_offset",
        "data_start",
        "extent",
        "inode_size",
        "read_ahead",
        "size",
        "su",
    }
)
"""Properties that are sizes in bytes."""

ONE_OF = {
    "members": "member",
    "spares": "spare",
    "partitions": "partition",
    "devices": "device",
    "options": "option",
    "flags": "option",
}


def deviation_text(deviation: Deviation) -> str:
    """A deviation as a sentence's part."""
    name, found, planned = deviation.name, deviation.found, deviation.planned
    if deviation.number >= 0:
        return f"{ONE_OF.get(name, name)} {deviation.number} is {_name(str(found))}, planned {_name(str(planned))}"
    if isinstance(found, list) and isinstance(planned, list):
        return (
            f"there are {len(found)} {name} ({_listed(found)}), planned {len(planned)} ({_listed(planned)})"
        )
    return f"{_words(name)} is {_shown(name, found)}, planned {_shown(name, planned)}"


def deviation_texts(deviations: Sequence[Deviation]) -> tuple[str, ...]:
    """The texts of several deviations."""
    return tuple(map(deviation_text, deviations))


def _listed(items: list[str]) -> str:
    return ", ".join(map(_name, items)) or "none"


def _name(text: str) -> str:
    """Text that may name a disk as proofs do: without the braces."""
    return escaped(Identity.read(text).disk or text)


def _words(name: str) -> str:
    return name.rpartition("/")[2].replace("_", " ")


def _shown(name: str, value: Value) -> str:
    match value:
        case None:
            return "not there"
        case bool():
            return "yes" if value else "no"
        case int() if name in BYTES:
            return _size(value)
        case "":
            return "empty"
        case _:
            return _name(str(value))


def _size(size: int) -> str:
    text = human(size)
    return text if "." not in text else f"{text} ({size} bytes)"
