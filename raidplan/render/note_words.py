"""The sentences of notes, by code, as templates of `render/sentences.py`."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.apply.note import Note
from raidplan.render.key_words import AT
from raidplan.render.sentences import filled
from raidplan.render.syncs import NO_RESTART

READS = f"{AT}: {{what}}, as {{program}} writes it here, can be read by"
UNTIL_ADOPTED = "`apply` refuses what stands until `raidplan adopt` has looked at it"

SENTENCES: Mapping[str, str] = {
    "host-name-differs": "this machine calls itself {name}, and the layout is for {host}: whatever names the host here (arrays, the "
    "journal, the blocks in configuration files) will say the latter; if another machine is meant, stop here",
    "program-newer": "{program} {version} is newer than {newest}, the last version that raidplan was made for",
    "kernel-cannot-read": f"{READS} Linux {{since}} or later, and this machine has {{version}}",
    "kernel-unknown": f"{READS} Linux {{since}} or later, and no kernel is installed here: the one that will boot must be at least that",
    "loader-cannot-read": f"{READS} GRUB {{since}} or later{{version:?, and this machine has %}}",
    "devices-limited": "{place} lets mdadm look at {devices: } only: no array with members elsewhere is assembled at boot",
    "rebuilds": f"{AT}: md rebuilds a member, and its redundancy is whole again only then (mdadm --wait {{node}})"
    f"{{boots:?; {NO_RESTART}}}",
    "alarms-overridden": "{place} will be overridden: alarms go to {ours}, not to {theirs: }",
    "alarms-of-others": "alarms of {arrays} go to {ours} as well: mdadm takes one address for all arrays",
    "names-stay": "names=yes stays in {place}, which gives all arrays of the machine such names: {line_at:|a line}{node:? (%)} needs it; "
    "write UUID= there, and the next `apply` shows the step that takes it out",
    "numbers-free": "the arrays {arrays} are not of this layout, and nothing holds their numbers: from the next boot on they may have "
    "others, as the new arrays take numbers too; their links below /dev/md and /dev/disk stay",
    "others-unchecked": f"{AT}: nothing reads the members of {{arrays}} once a month either, which are not of this layout: mdadm and "
    "Debian have one switch for all arrays; without `scrub: none` the distribution checks them again",
    "journal-in-memory": f"the journal in {{place}} lies in memory: if this machine is booted before all is done, {UNTIL_ADOPTED}; name a "
    "folder on a disk with --state",
    "journal-below-rescue": "the journal lies in {place} of this rescue system until the system in {target} gets it: if it is booted "
    f"before, {UNTIL_ADOPTED}; --state names another folder",
}  # fmt: skip


def note_text(note: Note) -> str:
    """The sentence of one note."""
    return filled(SENTENCES[note.code], {**note.figures, "place": note.place, "line": note.line})
