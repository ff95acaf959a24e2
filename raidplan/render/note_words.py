"""The sentences of notes, by code, as templates of `render/sentences.py`."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.apply.note import Note
from raidplan.render.key_words import AT
from raidplan.render.sentences import filled
from raidplan.render.syncs import NO_RESTART

READS = f"{AT}: {{what}}, as {{program}} writes it here, can only be read by"
UNTIL_ADOPTED = "`apply` refuses existing objects until `raidplan adopt` has checked them"

SENTENCES: Mapping[str, str] = {
    "host-name-differs": "this machine is called {name}, but the layout is for {host}: arrays, the journal and the blocks in "
    "configuration files will be named after {host}; stop here if another machine is meant",
    "program-newer": "{program} {version} is newer than {newest}, the last version that raidplan was made for",
    "kernel-cannot-read": f"{READS} Linux {{since}} or later, and this machine has {{version}}",
    "kernel-unknown": f"{READS} Linux {{since}} or later, and no kernel is installed here: install that version or a later one",
    "loader-cannot-read": f"{READS} GRUB {{since}} or later{{version:?, and this machine has %}}",
    "devices-limited": "{place} lets mdadm look at {devices: } only: no array with members elsewhere is assembled at boot",
    "rebuilds": f"{AT}: md rebuilds a member, and the array is fully redundant only after that (`mdadm --wait {{node}}`)"
    f"{{boots:?; {NO_RESTART}}}",
    "inodes-stay": f"{AT}: this file system keeps its {{count}} inodes, since their number for each group is fixed when it is made; a new "
    "one of this layout would have {planned}",
    "alarms-overridden": "{place} will be overridden: alarms go to {ours}, not to {theirs: }",
    "alarms-of-others": "alarms of {arrays} go to {ours} as well: mdadm takes one address for all arrays",
    "names-stay": "names=yes stays in {place} and names all arrays of the machine so, because {line_at:|a line}{node:? (%)} needs it: "
    "write UUID= there, and the next `apply` has the step that removes names=yes",
    "numbers-free": "the arrays {arrays} are not in this layout and may get other numbers at the next boot, because the new arrays take "
    "numbers too; their links below /dev/md and /dev/disk stay",
    "not-scanned": "{place} lists no array yet, and `mdadm --assemble --scan` starts only listed ones once it has started one of this layout; "
    "udev still starts {arrays}; for a script that scans, write: {lines:; }",
    "others-unchecked": f"{AT}: arrays that are not in this layout ({{arrays}}) have no monthly check either, because mdadm "
    "and Debian have one switch for all arrays; without `scrub: none` the distribution checks them again",
    "journal-in-memory": f"the journal in {{place}} lies in memory: if this machine reboots before all steps are done, {UNTIL_ADOPTED}; name a "
    "folder on a disk with --state",
    "journal-below-rescue": "the journal lies in {place} of this rescue system until the system in {target} gets it: if the rescue system reboots "
    f"before, {UNTIL_ADOPTED}; --state names another folder",
}  # fmt: skip


def note_text(note: Note) -> str:
    """The sentence of one note."""
    return filled(SENTENCES[note.code], {**note.figures, "place": note.place, "line": note.line})
