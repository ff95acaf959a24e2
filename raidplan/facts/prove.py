"""Compares the proof of a step with the actual state of the machine, property by property, in words."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.size import human
from raidplan.facts.machine import Machine
from raidplan.facts.signatures import plain
from raidplan.plan.step import Proof, Value

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


def differences(proof: Proof, machine: Machine) -> list[str] | None:
    """The differences: `chunk is 64 KiB, planned 512 KiB`. Empty if proven, None if there is no such object."""
    by_name = differing(proof, machine)
    return None if by_name is None else [words for each in by_name.values() for words in each]


def differing(proof: Proof, machine: Machine) -> dict[str, list[str]] | None:
    """The differences by property; only properties that differ."""
    found = machine.observe(proof.kind, proof.key)
    if found is None:
        return None
    words = {name: [*_differing(name, found.get(name), planned)] for name, planned in proof.expect.items()}
    return {name: each for name, each in words.items() if each}


def _differing(name: str, found: Value, planned: Value) -> Iterator[str]:
    if isinstance(found, list | tuple) and isinstance(planned, list | tuple):
        yield from _lists(name, list(found), list(planned))
    elif type(found) is not type(planned) or found != planned:
        # The type counts, because for Python 1 equals True.
        yield f"{_words(name)} is {_shown(name, found)}, planned {_shown(name, planned)}"


def _lists(name: str, found: list[str], planned: list[str]) -> Iterator[str]:
    one = ONE_OF.get(name, name)
    if len(found) != len(planned):
        yield f"there are {len(found)} {name} ({_listed(found)}), planned {len(planned)} ({_listed(planned)})"
        return
    for number, (is_there, wanted) in enumerate(zip(found, planned, strict=True)):
        if is_there != wanted:
            yield f"{one} {number} is {_name(is_there)}, planned {_name(wanted)}"


def _listed(items: list[str]) -> str:
    return ", ".join(map(_name, items)) or "none"


def _name(text: str) -> str:
    """Text that may name a disk as proofs do: without the braces."""
    return plain(text[1:-1] if text.startswith("{") and text.endswith("}") else text)


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
