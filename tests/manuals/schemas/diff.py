"""A diff of two layouts."""

from __future__ import annotations

from typing import get_args

from raidplan.diff import Fate
from raidplan.diff.statement import Code
from raidplan.plan.changes import Before, Reason
from raidplan.plan.phases import PHASES
from tests.manuals.schemas.findings import FINDING, OF_FINDINGS
from tests.manuals.schemas.shapes import (
    Schema,
    by_name,
    constant,
    flag,
    listed,
    number,
    or_null,
    record,
    ref,
    text,
    texts,
    whole,
)

LOSS = record("Data that would be destroyed.", {
    "path": text("in the new layout, or the old"), "name": text("the mount point, or the thing in words"), "what": text("its kind"),
    "capacity_bytes": or_null(whole("of its device, or null")), "device": text("its device"), "disks": texts("below it"),
    "because": text("the reason"), "hint": text("the remedy; may be empty"),
    "reasons": listed("`because` as codes", ref("statement")), "remedies": listed("`hint` as codes", ref("statement")),
})  # fmt: skip
SHRINK = record("A file system that gets smaller.", {
    "path": text("in the new layout"), "name": text("the mount point, or the thing in words"), "device": text("its device"),
    "before_bytes": or_null(whole("or null")), "after_bytes": or_null(whole("or null")),
})  # fmt: skip
STATEMENT = record("What a sentence is made of.", {
    "code": text("the reason, the remedy or the note", *get_args(Code), *Before, *Reason), "figures": by_name("names and numbers", {}),
})  # fmt: skip
CHANGE = record("A property that differs.", {
    "key": text("its name"), "old": or_null(text("or null")), "new": or_null(text("or null")),
    "in_place": flag("a command changes it, and the data stays"), "command": or_null(text("the program, or null")), "note": text("may be empty"),
    "notes": listed("`note` as codes", ref("statement")),
})  # fmt: skip
THING = record("A thing that is not what it was.", {
    "path": text("in the new layout; in the old one if it is destroyed"), "fate": text("what becomes of it", *Fate), "what": text("its kind"),
    "was": or_null(text("its old name, or null")), "changes": listed("its properties", ref("change")), "note": text("may be empty"),
    "notes": listed("`note` as codes", ref("statement")),
})  # fmt: skip
TOLERANCE = record("Fault tolerance that changes.", {
    "name": text("of the thing"), "lost": texts("components whose loss it no longer survives"),
    "gained": texts("components whose loss it survives now"),
    "losses_always_survived": record("disks, whichever they are; 3 is three or more", {
        "before": or_null(whole("or null")), "after": or_null(whole("or null"))}),
})  # fmt: skip
FIGURE = record("A figure that changes.", {
    "name": text("of the thing"), "what": text("what is measured"), "unit": text("its unit", "bytes", "bytes/s", "inodes", "seconds", "watts"),
    "before": or_null(number("or null")), "after": or_null(number("or null")),
})  # fmt: skip
STEP = record("A step of the change.", {
    "id": text("unique"), "phase": text("its part of the plan", *PHASES), "say": text("for a person"), "because": text("the key in the layout"),
})  # fmt: skip


def diff() -> Schema:
    """Of `raidplan diff --format json`."""
    keys = {
        "format_version": constant(1, "the form"),
        "old_host": text("of the old layout"),
        "new_host": text("of the new one"),
        "destroys": flag("`destroyed_data` is not empty"),
        "shrinks": flag("`lost_room` is not empty"),
        "destroyed_data": listed("data that would be lost", ref("loss")),
        "lost_room": listed("file systems that get smaller", ref("shrink")),
        "things": listed("everything that is not what it was", ref("thing")),
        "tolerance": listed("fault tolerance that changes", ref("tolerance")),
        "plan?": listed("the steps, with `--plan`", ref("step")),
        "figures": listed("figures that change", ref("figure")),
        "findings": record("of the new layout, against the old", {
            "new": listed("that the old one did not have", ref("finding")),
            "gone": listed("that the new one does not have", ref("finding")),
            "accepted": listed("that the new one accepts", ref("accepted")),
        }),
    }  # fmt: skip
    definitions = {"loss": LOSS, "shrink": SHRINK, "thing": THING, "change": CHANGE, "tolerance": TOLERANCE, "figure": FIGURE, "step": STEP, "statement": STATEMENT,
        "finding": record("A finding.", FINDING), "accepted": OF_FINDINGS["accepted"], "related": OF_FINDINGS["related"]}  # fmt: skip
    return {
        **record("What a change of a layout means: `raidplan diff --format json`.", keys),
        "definitions": definitions,
    }
