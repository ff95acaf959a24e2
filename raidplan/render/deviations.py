"""Properties that are not as planned, in words: `chunk is 64 KiB, planned 512 KiB`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from raidplan.base.hidden import escaped
from raidplan.base.identity import DISK, Identity
from raidplan.base.size import human
from raidplan.base.words import counted
from raidplan.facts.prove import Deviation
from raidplan.plan.partitions import TYPE_CODES, PartitionRow, partition_rows
from raidplan.plan.step import Value
from raidplan.render.statements import SIZES

BYTES = frozenset((*SIZES, "block", "component", "inode_size"))
"""Properties that are sizes in bytes."""

DEVICES = ("partition", "array", "volume", "mapping")
"""Kinds of devices that a proof names by kind and key."""


CALLED = {
    "extents": "number of extents",
    "su": "stripe unit (su)",
    "sw": "number of data disks in a stripe (sw)",
}
"""Words for properties whose names only their programs have."""


def deviation_text(deviation: Deviation) -> str:
    """A deviation as a sentence's part."""
    name, found, planned, names = deviation.name, deviation.found, deviation.planned, deviation.names
    one = "option" if name == "flags" else name.removesuffix("s")
    if deviation.number >= 0 and name == "partitions":
        return _partition(deviation.number + 1, *partition_rows([found, planned]))
    if deviation.number >= 0:
        return f"{one} {deviation.number} is {_name(str(found), names)}, planned {_name(str(planned), names)}"
    if isinstance(found, list) and isinstance(planned, list):
        there = f"there {'is' if len(found) == 1 else 'are'} {counted(len(found), one)}"
        if name == "partitions":
            return f"{there}, planned {len(planned)}"
        return f"{there} ({_listed(found, names)}), planned {len(planned)} ({_listed(planned, names)})"
    return f"{CALLED.get(name, _words(name))} is {_shown(deviation, found)}, planned {_shown(deviation, planned)}"


def _partition(number: int, found: PartitionRow, planned: PartitionRow) -> str:
    """The fields that differ of a partition; sfdisk counts from 1."""
    types = {code.lower(): word for word, code in TYPE_CODES.items()}
    words = (
        ("UUID", found.uuid, planned.uuid),
        ("start", f"byte {found.start}", f"byte {planned.start}"),
        ("size", _size(found.size), _size(planned.size)),
        ("type", types.get(found.type, found.type), types.get(planned.type, planned.type)),
    )
    differ = (
        f"the {key} of partition {number} is {now}, planned {then}" for key, now, then in words if now != then
    )
    return escaped(", ".join(differ))


def deviation_texts(deviations: Sequence[Deviation]) -> tuple[str, ...]:
    """The texts of several deviations."""
    return tuple(map(deviation_text, deviations))


def _listed(items: list[str], names: Mapping[str, str]) -> str:
    return ", ".join(_name(each, names) for each in items) or "none"


def _name(text: str, names: Mapping[str, str]) -> str:
    """Text that may name a device as proofs do: the layout's name, or what it is without the signs between."""
    kind, key = Identity.read(text)
    return escaped(names.get(text) or (f"{kind} {key}" if kind in DEVICES else key if kind == DISK else text))


def _words(name: str) -> str:
    return name.rpartition("/")[2].replace("_", " ")


def _shown(deviation: Deviation, value: Value) -> str:
    name = deviation.name
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
            return _name(str(value), deviation.names)


def _size(size: int) -> str:
    text = human(size)
    return text if "." not in text else f"{text} ({size} bytes)"
