"""The report of a rehearsal."""

from __future__ import annotations

from raidplan.estimate.survival import Outcome
from raidplan.render.rehearsal.words import CLAIMS
from raidplan.twin.rehearsal.cases import Fault
from tests.manuals.schemas.shapes import (
    Schema,
    by_name,
    constant,
    flag,
    listed,
    maybe,
    number,
    or_null,
    record,
    ref,
    text,
    texts,
    whole,
)

BEGAN, SECONDS = number("after the start of the rehearsal"), number("how long it took")
DEFINITIONS = {
    "stage": record("A stage.", {
        "name": text("of the stage"), "began": BEGAN, "seconds": SECONDS, "passed": flag("it went well; no stage comes after one that did not"),
        "detail": text("the end of what was said, where it did not; else empty"),
    }),
    "case": record("A case, or the control.", {
        "name": text("the component or disks, the array, or the place in a change"),
        "fault": text("what was done", *(fault.value for fault in Fault)),
        "kind": text("`disk`, the kind of a component, `pair`, `control`, `machine`, `array`, `apply`, or of a damaged place `data` or `parity`"),
        "disks": texts("the disks of the layout that take part"), "began": BEGAN, "seconds": SECONDS,
        "as_predicted": flag("everything was observed as predicted, nothing acknowledged was lost, and the way back ended well"),
        "acknowledged": whole("records that were read back"),
        "lost": texts("mount points on which acknowledged data was lost though it was to survive"),
        "returned": text("the way back in words; empty where there was none"),
        "observed": listed("what became of each thing", ref("observation")), "claims": listed("further predictions", ref("claim")),
        "seconds_of": by_name("times that were taken, of which nothing is predicted", {"type": "number"}),
    }),
    "observation": record("A thing after a loss or a boot.", {
        "path": text("in the layout; `machine` is the running system, `boot` its start"),
        "predicted": text("by `estimate`", *(outcome.name.lower() for outcome in Outcome)),
        "survived": flag("it was observed to read and write"), "as_predicted": flag("as predicted"),
        "detail": by_name("the kernel's words", {}),
    }),
    "claim": record("One more prediction.", {
        "path": text("of the thing"), "what": text("what is predicted", *CLAIMS), "predicted": text("in words"), "observed": text("in words"),
        "as_predicted": flag("as predicted"),
        "counts": flag("it is one of the predictions that were counted; else it cannot fail, and is shown alone"),
        "bytes_per_second?": record("where it is a rate", {"predicted": whole("scaled"), "observed": whole("scaled")}),
    }),
}  # fmt: skip


def rehearsal() -> Schema:
    """Of `raidplan rehearse --format json`."""
    keys = {
        "format_version": constant(1, "the form"),
        "host": text("of the layout"),
        "layout_digest": text("of its meaning, as a plan has it"),
        "old_layout_digest": or_null(text("of the layout that a change begins with, or null")),
        "as_predicted": or_null(flag("every stage passed, every case went as predicted, and it is not void; null where no case was tried, so nothing was predicted")),
        "void": flag("cases were tried to the end, and the control did not fail"),
        "predictions": record("how many there were", {"all": whole("held against an observation"), "true": whole("of these")}),
        "stages": listed("in order", ref("stage")),
        "cases": listed("in order", ref("case")),
        "control": maybe("case"),
        "differences": texts("between the twin and the server, in words"),
        "untried": texts("what was left out, in words"),
        "versions": by_name("of the programs that took part, by name", {"type": "string"}),
        "seed": whole("of what was drawn"),
        "command": text("repeats it"),
    }  # fmt: skip
    return {
        **record("What was predicted and observed: `raidplan rehearse --format json`.", keys),
        "definitions": DEFINITIONS,
    }
