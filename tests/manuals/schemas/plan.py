"""A plan, and what stands in its place."""

from __future__ import annotations

from typing import get_args

from raidplan.facts.uses import UseKind
from raidplan.plan.loss import IN_LAYOUTS, LossKind
from raidplan.plan.origin import Kind
from raidplan.plan.phases import PHASES
from tests.manuals.schemas.findings import FINDING, FINDINGS, OF_FINDINGS
from tests.manuals.schemas.shapes import (
    VALUE,
    Schema,
    by_name,
    constant,
    flag,
    listed,
    record,
    ref,
    text,
    texts,
    whole,
)

REFUSAL = {
    "code": text("stable; docs/refusals.md lists them"),
    "message": text("the fact"),
    "case?": text("tells the reasons of one code apart"),
    "place?": text("the disk, device, object or file"),
    "line?": whole("of the layout"),
    "figures?": by_name("what the message is made of", {}),
    "differences?": listed("how what stands differs from the layout", record("A property.", {
        "property": text("its name"), "found": {"description": "what stands", **VALUE}, "planned": {"description": "what the layout says", **VALUE}})),
    "uses?": listed("who uses a device, and what is on it", record("One of them.", {
        "kind": text("what it is", *get_args(UseKind)), "place": text("the device"), "figures": by_name("names and numbers", {})})),
    "remedy": text("for this code"),
}  # fmt: skip
KINDS = [kind for kind in get_args(LossKind) if kind not in (*IN_LAYOUTS, "sentence")]
LOSS = record("Something that a step destroys.", {
    "what": text("in words"),
    "where?": text("the device"),
    "uuid?": text("of what is destroyed"),
    "own?": flag("the layout made it"),
    "kind?": text("what it is; absent: everything on the device", *KINDS),
    "figures?": by_name("what the words are made of", {}),
})  # fmt: skip
STEP = record("One change. Its action is `argv`, `initramfs`, `zero` or `file` with what stands beside that.", {
    "id": text("unique in the plan"),
    "phase": text("its part of the plan", *PHASES),
    "say": text("for a person"),
    "argv?": texts("a command; `{d00}` stands for the device of the disk d00"),
    "stdin?": text("its input"),
    "inside?": flag("a program of the system below the target"),
    "key?": text("the encryption whose passphrase the command gets as its input; no plan holds it"),
    "initramfs?": texts("UUIDs of the arrays that the initramfs must hold"),
    "encrypted?": texts("UUIDs of the encryptions that it must open"),
    "volumes?": flag("it must activate the LVM volume of / or /usr"),
    "generator?": text("the program that makes it, where it is not initramfs-tools"),
    "zero?": text("a device that is written over with zeroes, in `ranges`"),
    "ranges?": listed("start and size in bytes; a negative start counts from the end", {"type": "array", "items": {"type": "integer"}}),
    "found?": {"description": "signatures that may be there, or null", "type": ["array", "null"], "items": {"type": "string"}},
    "file?": text("a file that is written"),
    "content?": text("the whole of it; empty removes it"),
    "block?": text("a block in it between two marks"),
    "mark?": text("the name of the block"),
    "at_top?": flag("the block stands before the first line"),
    "mode?": text("octal"),
    "attribute?": text("the value, for a file of sysfs"),
    "needs": texts("ids of steps that come before"),
    "follows": texts("ids after which it is due again"),
    "targets": texts("what it works on; steps that share none run side by side"),
    "destroys": listed("what is lost", ref("loss")),
    "guard": texts("devices that must be blank right before"),
    "awaits": texts("device nodes that must appear"),
    "clears": texts("devices that it makes blank"),
    "because": text("the key in the layout"),
    "line": whole("of the layout"),
    "proof?": record("the property of the machine that shows that it happened", {
        "kind": text("of an object"), "key": text("of the object"), "expect": by_name("property and value", VALUE),
        "stated?": texts("properties that the layout states, where what stands would keep its own against a default")}),
    "origin?": record("why it is there, where that is not the layout", {
        "kind": text("the cause", *get_args(Kind)[1:]),
        "step?": text("the id of the step that it was added for")}),
})  # fmt: skip
DISK_OF_PLAN = record("A disk of the layout; empty texts are not compared.", {
    "name": text("in the layout"), "size": whole("bytes, the least"), "logical_block": whole("bytes"), "serial": text(""),
    "wwn": text(""), "path": text("udev's ID_PATH"), "model": text(""), "device": text("from `--devices`"),
    "wipe": flag("its content may be destroyed"),
    "keep?": flag("it is described, and never written to"),
    "partitions?": listed("what is described on a kept disk", record("A partition; what is empty or 0 is not compared.", {
        "number": whole("in the table"), "name": text("in the layout"), "size": whole("bytes"), "type": text("of GPT"),
        "holds": text("by libblkid's word"), "mount": text("where it is mounted")})),
})  # fmt: skip
PLAN = record("A plan.", {
    "format_version": constant(2, "the form; 1 without a plan"),
    "host": text("of the layout"),
    "layout_digest": text("of its meaning"),
    "machine_digest": text("of `machine`; empty offline"),
    "machine": by_name("the machine that it was made for", VALUE),
    "disks": listed("how each is found", ref("disk")),
    "modules": texts("kernel modules"),
    "target?": text("the folder of `--target`"),
    "steps": listed("in order", ref("step")),
    "findings": listed("of `check`", ref("finding")),
    "whole?": listed("the steps as for a blank machine", ref("step")),
    "digest": text("of all but the findings, and the words of a loss that has a kind; `apply` takes no plan without it"),
})  # fmt: skip
REFUSED = record("In place of a plan that is refused: exit code 4.", {
    "format_version": constant(1, "the form"), "host": text("of the layout"), "steps": listed("empty", {}),
    "refusals": listed("every reason", ref("refusal")),
})  # fmt: skip
NO_PLAN = record("In place of a plan of a layout with errors: exit code 1 or 2.", {
    "format_version": constant(1, "the form"), "steps": listed("empty", {}), **FINDINGS})  # fmt: skip


def plan() -> Schema:
    """The Schema of a plan, or of what stands in its place; which it is, a key tells."""
    of_plan = {name: schema for name, schema in OF_FINDINGS.items() if name != "edit"}
    return {
        "description": "`raidplan plan --format json`: a plan, or why there is none.",
        "type": "object",
        "if": {"required": ["disks"]},
        "then": ref("plan"),
        "else": {"if": {"required": ["refusals"]}, "then": ref("refused"), "else": ref("no_plan")},
        "definitions": {"plan": PLAN, "step": STEP, "loss": LOSS, "disk": DISK_OF_PLAN, "refused": REFUSED,
            "refusal": record("A reason to write nothing.", REFUSAL), "no_plan": NO_PLAN, **of_plan,
            "finding": record("A finding; `edits` where there is no plan.", {**FINDING, "edits?": listed("what a program can do of the hint", ref("edit"))}),
            "edit": OF_FINDINGS["edit"]},
    }  # fmt: skip
