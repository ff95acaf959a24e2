"""The events of an apply."""

from __future__ import annotations

from raidplan.apply.syncs import WORDS
from raidplan.plan.phases import PHASES
from tests.manuals.schemas.plan import REFUSAL
from tests.manuals.schemas.shapes import (
    Schema,
    constant,
    flag,
    number,
    or_null,
    record,
    ref,
    text,
    texts,
    whole,
)

EVERY = {
    "format_version": constant(1, "the form"),
    "time": text("UTC, as in RFC 3339"),
    "event": text("its kind"),
}
STEP = {"step": text("its id"), "phase": text("its part of the plan", *PHASES), "say": text("for a person"), "seconds": number("since it began"),
    "message": text("the error, where it failed"), "percent?": whole("of its work")}  # fmt: skip
KINDS = {
    "refused": ("A reason to write nothing.", REFUSAL),
    "sync": ("An array at work after the last step.", {
        "array": text("the kernel's name"), "action": text("its work", *dict.fromkeys(WORDS.values())), "say": text("for a person"),
        "percent": number("done"), "bytes_per_second": whole("0 as long as it is not known"), "seconds_left": or_null(whole("or null"))}),
    "ended": ("The last event.", {
        "as_planned": flag("every property was read back and is as planned"), "done": whole("steps"),
        "failed": texts("ids of steps"), "not_begun": texts("ids of steps"), "not_as_planned": texts("in words"),
        "complete?": flag("no step waits for a system below the target, or for more in it"), "waiting?": texts("ids of steps that do"),
        "missing?": texts("what they wait for: `system`, `kernel`, or packages")}),
}  # fmt: skip


def events() -> Schema:
    """Of one line of `raidplan apply --events FILE`."""
    chosen: Schema = ref("step")
    for kind in KINDS:
        chosen = {"if": {"properties": {"event": {"const": kind}}}, "then": ref(kind), "else": chosen}
    step = {**EVERY, "event": text("its kind", "started", "running", "done", "failed"), **STEP}
    others = {
        name: record(says, {**EVERY, "event": constant(name, "its kind"), **keys})
        for name, (says, keys) in KINDS.items()
    }
    return {
        "description": "One line of `raidplan apply --events FILE`.",
        "type": "object",
        "required": ["event"],
        **chosen,
        "definitions": {"step": record("A step.", step), **others},
    }
