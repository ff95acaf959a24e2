"""The sentences of refusals about the journal and plans in files, as templates of `render/sentences.py`."""

from __future__ import annotations

from collections.abc import Mapping

PLAN_AGAIN = "create the plan again with `raidplan plan`"
OF_OTHERS = "that belongs to this user and that nobody else can write to: find out who changed that before you trust its content"

JOURNAL: Mapping[str, Mapping[str, str]] = {
    "undo-interrupted": {"": "an undo of the last apply was interrupted: finish it with `raidplan undo`"},
    "interrupted-elsewhere": {
        "": "the apply of {began} was interrupted in {steps:5}, which this plan lacks: finish it with `raidplan apply` of "
        "{files: and } beside its journal; if that is impossible, as after the death of a disk, run `raidplan adopt` with this layout"
    },
    "machine-changed": {
        "": f"{{place}} was {{planned}} when the plan was made, and is {{now}}: {PLAN_AGAIN}",
        "meanwhile": "the machine changed after the list above had been made: run the command again, and read the new list",
    },
    "not-in-plan": {
        "": f"the plan file lacks the step that is due now: {{step}} ({{place}}); {PLAN_AGAIN}",
        "otherwise": f"{{step}} ({{place}}) would now be done in another way than the step {{id}} of the plan file says: {PLAN_AGAIN}",
    },
    "journal-hidden": {
        "": "the mount at {point} would hide the journal in {place}: name another folder with --state"
    },
    "assembly-held-off": {
        "": "{place} of an interrupted apply still prevents automatic assembly: the next apply that is not refused removes it"
    },
    "journal-unusable": {
        "no-folder": "the journal's folder {place} cannot be made: {error}",
        "folder-of-others": f"{{place}} is not a folder {OF_OTHERS}",
        "file-of-others": f"{{place}} is not a file {OF_OTHERS}",
        "unopened": "{place} cannot be opened: {error}",
        "large": "{place} is larger than {most} MiB: it is no journal of raidplan",
        "line": "{place} line {number} does not follow the line before it: the journal was changed or damaged. `raidplan adopt` looks at "
        "what stands and begins a new one",
        "later": "{place} line {number} was written by a later raidplan: use that one",
        "end": "the last line of {place} was cut off, and cannot be removed: {error}",
        "kept-before": "the damaged journal would be kept as {place}, which exists already: move that away first",
        "not-kept": "{place} cannot be kept as {kept}: {error}",
        "no-record": "the journal {place} takes no record: {error}",
        "other-plan": "{place} is not the plan of the apply of which the journal speaks last, which was killed before its first step: apply "
        "that one again, then undo it",
        "copy-changed": "{place} is not the copy that the journal speaks of: it was removed or changed",
        "copy-unread": "{place} was written by another version of raidplan: undo it with that one",
    },
    "locked": {
        "": "another raidplan, or a program that one started before it was killed, holds {place}: wait until that has ended (lsof {place} shows it)",
        "unopened": "the lock {place} cannot be opened, and without it two runs of raidplan could write at once: {error}",
    },
    "no-room": {
        "folder": "the journal and the copies in {place} cannot be kept: {error}; name another folder with --state",
        "copies": "the safety copies of what is written over take more than {most:size}: name another folder with --state, or clear the "
        "disks by hand",
    },
}
"""By code and case."""
