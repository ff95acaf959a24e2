"""Arrays of others that `mdadm --assemble --scan` starts as long as mdadm.conf lists no array.

Once it has started a listed one it starts no others (`scan_assemble` in mdadm.c). udev's own way, device by device, does not heed
the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from raidplan.apply.configuration.blocks import our_blocks
from raidplan.apply.configuration.conflicts import further_files, known_arrays
from raidplan.apply.configuration.lines import Line, numbered, statements
from raidplan.apply.journal.past import Past
from raidplan.apply.note import Note, note
from raidplan.base.hidden import escaped
from raidplan.base.identity import md_form
from raidplan.base.magic import MEMBER
from raidplan.facts import Machine
from raidplan.facts.machine import texts
from raidplan.plan.places import MDADM_CONF
from raidplan.plan.step import Plan

PLAIN = re.compile(r"[\w.:+/-]+")
"""Names that mdadm.conf takes as they are."""


def no_longer_scanned(left: Plan, whole: Plan, machine: Machine, past: Past) -> Iterator[Note]:
    """A note on arrays that no line names, where the first line of all is ours; with lines under which they keep their names."""
    known = known_arrays(left, whole, past)
    for action, text in our_blocks(left, machine):
        others = [text.others, text.inside, *(lines for _, lines in further_files(action, machine))]
        if action.file != MDADM_CONF or not _lists(numbered(action.content)) or any(map(_lists, others)):
            continue
        names = {
            uuid: name for uuid, name in _names(left.host, machine) if uuid.replace("-", "") not in known
        }
        lines = (
            " ".join(["ARRAY", *([name] if PLAIN.fullmatch(name) else []), f"UUID={md_form(uuid)}"])
            for uuid, name in names.items()
        )
        if names:
            arrays = tuple(escaped(name) or uuid for uuid, name in names.items())
            yield note("not-scanned", place=MDADM_CONF, arrays=arrays, lines=tuple(lines))


def _lists(lines: Iterable[Line]) -> bool:
    return any(words[:1] == ["ARRAY"] and "<ignore>" not in words for _, words in statements(lines))


def _names(host: str, machine: Machine) -> Iterator[tuple[str, str]]:
    """The UUID of each array, and the name that it has, or that a boot gives to it; empty where nothing tells that. Of one that
    runs, the name comes last."""
    for trace in (trace for disk in machine.disks for trace in disk.traces if trace.type == MEMBER):
        name = trace.label.removeprefix(f"{host}:")
        suffix = "" if ":" in trace.label else "_0"
        yield trace.uuid, f"/dev/md/{name}{suffix}" if name else ""
    for uuid, array in machine.objects.get("array", {}).items():
        links = texts(array.get("links"))
        yield uuid, f"/dev/md/{links[0]}" if links else str(array.get("node", ""))
