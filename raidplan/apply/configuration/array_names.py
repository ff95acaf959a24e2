"""The names of arrays in the kernel: numbers from md127 down, or `md_NAME` where mdadm.conf says `CREATE names=yes`.

Numbers go down in the order in which a boot finds the arrays. The line counts for all arrays of the machine, and an earlier
version of raidplan wrote it. Where it stands in our block it goes in a step of its own, and it stays as long as a line of
somebody calls an array by such a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from raidplan.apply.configuration.blocks import BrokenBlock, file_text, sections, wanted_text
from raidplan.apply.configuration.lines import (
    Line,
    assignments,
    compared,
    device,
    mdadm_conf,
    numbered,
    rows,
    statements,
)
from raidplan.apply.note import Note, note
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.hidden import escaped
from raidplan.facts import Machine
from raidplan.facts.machine import texts
from raidplan.plan.origin import Origin
from raidplan.plan.places import CMDLINE, CRYPTTAB, FSTAB, MDADM_CONF, MDADM_CONF_PARTS, RESUME_CONF
from raidplan.plan.step import Plan, RenewInitramfs, Step, WriteBlock

NAMES = "create names=yes\n"
WITHOUT_NAMES = (
    "which an earlier version wrote: from the next boot on the kernel calls all arrays by numbers (md127), also those that no "
    "layout names, and not md_NAME; /dev/md/NAME stays"
)
AT_BOOT = ("root", "resume", "RESUME")
"""The words by which the kernel and the initramfs are told of a device."""
BY_NAME, BY_NUMBER = re.compile(r"/dev/md_(?!d\d)."), re.compile(r"/dev/(md\d+)(?:p\d+)?")
"""Nodes of arrays: those that `names=yes` makes, and those with a number; a partition of one counts for it."""


def as_it_stands(plan: Plan, machine: Machine) -> Plan:
    """The plan, with names=yes kept in our block as long as somebody's line needs it."""
    if not _is_needed(machine):
        return plan

    def kept(step: Step) -> Step:
        action = step.action
        return replace(step, action=with_names(action, machine)) if isinstance(action, WriteBlock) else step

    return replace(plan, steps=tuple(map(kept, plan.steps)), whole=tuple(map(kept, plan.whole)))


def with_names(action: WriteBlock, machine: Machine) -> WriteBlock:
    """The block, with names=yes as long as somebody's line needs it; also where it would have nothing else any more."""
    if not _is_needed(machine) or not drops_names(action, machine):
        return action
    return action._replace(content=NAMES + action.content)


def _is_needed(machine: Machine) -> bool:
    return any(BY_NAME.match(node) for _, node in _nodes_in_files(machine))


def in_its_own_step(step: Step, machine: Machine) -> list[Step]:
    """The step that writes our block; before it, or in its place where it would do no more, one that takes names=yes out."""
    action = step.action
    if not isinstance(action, WriteBlock) or not drops_names(action, machine):
        return [step]
    inside = sections(file_text(machine, action.file) or "", action.mark, at_top=True).inside
    left = action._replace(content="".join(f"{line}\n" for line in inside_without_names(inside)))
    first = replace(step, say=f"take names=yes out of {MDADM_CONF}, {WITHOUT_NAMES}", action=left)
    if left == action:
        return [first]
    first = replace(first, id=step.added("numbers"), origin=Origin("change", step.id))
    return [first, replace(step, needs=(*step.needs, first.id))]


def inside_without_names(lines: Iterable[Line]) -> Iterator[str]:
    """The lines but for those that say names=yes and nothing else."""
    yield from (line for _, line in lines if line.lower().split() != NAMES.lower().split())


def kept_for_others(whole: Plan, machine: Machine) -> Iterator[Note]:
    """A note on the line that still needs names=yes in our block."""
    blocks = (
        step.action.content for step in whole.steps if isinstance(step.action, WriteBlock) and _is_conf(step)
    )
    if next(blocks, _present_block(whole.host, machine)).startswith(NAMES):
        lines = (each for each in _nodes_in_files(machine) if BY_NAME.match(each[1]))
        line_at, node = next(lines, ("", ""))
        yield note("names-stay", place=MDADM_CONF, line_at=line_at, node=node)


def _present_block(host: str, machine: Machine) -> str:
    try:
        inside = sections(file_text(machine, MDADM_CONF) or "", host, at_top=True).inside
    except BrokenBlock:
        return ""  # `compare` has said so
    return "".join(f"{line}\n" for _, line in inside)


def numbers_needed(left: Plan, machine: Machine) -> Iterator[Refusal]:
    """Lines that call an array of others by a number which an array that is made could take at the next boot."""
    for name, places in _by_chance(left, machine):
        yield from (refusal("lines-conflict", "number", place=place, node=f"/dev/{name}") for place in places)


def numbers_free(left: Plan, machine: Machine) -> Iterator[Note]:
    """A note on arrays of others that may get other numbers at the next boot, where no line names those numbers."""
    if names := tuple(name for name, places in _by_chance(left, machine) if not places):
        yield note("numbers-free", arrays=names)


def named_by_the_image(left: Plan, whole: Plan, machine: Machine) -> Iterator[Refusal]:
    """Arrays of others that the present initramfs names and the next one would not: where mdadm.conf has no line ARRAY, Debian's
    hook adds lines for all arrays, and with the first line of the layout it does not (hooks/mdadm of Debian's mdadm)."""
    if not any(isinstance(step.action, RenewInitramfs) for step in left.steps):
        return
    ours = {step.proof.key for step in whole.steps if step.proof and step.proof.kind == "array"}
    traces = {trace.uuid for disk in machine.disks for trace in disk.traces}
    there = {_digits(uuid) for uuid in {*machine.objects.get("array", {}), *traces} - ours}
    written = {value for _, keys in mdadm_conf(_conf(machine)) for kind, value in keys if kind == "array"}
    image = texts((machine.observe("initramfs", "current") or {}).get("array_lines"))
    lines = tuple(
        line
        for line in image
        for _, keys in mdadm_conf([(1, line)])
        if {value for kind, value in keys if kind == "array"} & (there - written)
    )
    if lines:
        yield refusal("lines-conflict", "image", place=MDADM_CONF, lines=lines)


def _digits(uuid: str) -> str:
    return uuid.replace("-", "").lower()


def _by_chance(left: Plan, machine: Machine) -> Iterator[tuple[str, list[str]]]:
    """Arrays of others whose number is given at each boot, and the lines that name it; a line `ARRAY /dev/md127` in
    mdadm.conf would fix the number."""
    made = {
        step.proof.key for step in left.steps if step.creates and step.proof and step.proof.kind == "array"
    }
    if not made:
        return
    held = {compared(key) for _, keys in mdadm_conf(_conf(machine)) for key in keys if key[0] == "node"}
    for uuid, found in machine.objects.get("array", {}).items():
        name = str(found.get("device", ""))
        if uuid in made or not BY_NUMBER.fullmatch(f"/dev/{name}") or compared(("name", name)) in held:
            continue
        yield name, [place for place, node in _nodes_in_files(machine) if _number(node) == name]


def _number(node: str) -> str:
    found = BY_NUMBER.fullmatch(node)
    return found[1] if found else ""


def _is_conf(step: Step) -> bool:
    return isinstance(step.action, WriteBlock) and step.action.file == MDADM_CONF


def drops_names(action: WriteBlock, machine: Machine) -> bool:
    """Whether names=yes comes only from our present block, and the new block no longer has it."""
    if action.file != MDADM_CONF or _has_names(numbered(action.content)):
        return False
    try:
        without = wanted_text(action._replace(content=""), file_text(machine, action.file)) or ""
    except BrokenBlock:
        return False  # `compare` has said so
    return _has_names(_conf(machine)) and not _has_names([*numbered(without), *_parts(machine)])


def _has_names(lines: Iterable[Line]) -> bool:
    """Whether arrays get names: mdadm heeds the last of several words (`createline` in its config.c)."""
    options = [
        word.lower() for _, (keyword, *words) in statements(lines) if keyword == "CREATE" for word in words
    ]
    return next((word == "names=yes" for word in reversed(options) if word.startswith("names=")), False)


def _conf(machine: Machine) -> list[Line]:
    try:
        return [*numbered(file_text(machine, MDADM_CONF) or ""), *_parts(machine)]
    except BrokenBlock:
        return []


def _parts(machine: Machine) -> list[Line]:
    files = machine.objects.get("file", {}).items()
    texts = (
        str(found.get("content", "")) for file, found in files if file.rpartition("/")[0] in MDADM_CONF_PARTS
    )
    return [line for text in texts for line in numbered(text)]


def _nodes_in_files(machine: Machine) -> Iterator[tuple[str, str]]:
    """The nodes that fstab, crypttab, units, the kernel's command line and RESUME= name, and where."""
    for file, column in ((FSTAB, 0), (CRYPTTAB, 1)):
        text = str((machine.observe("file", file) or {}).get("content", ""))
        for number, row in rows(numbered(text)):
            if len(row) > column:
                yield f"{file} line {number}", device(row[column])[1]
    for file, found in machine.objects.get("unit_file", {}).items():
        yield escaped(file), device(str(found.get("what", "")))[1]
    for file, found in machine.objects.get("file", {}).items():
        if file == CMDLINE or file in RESUME_CONF or file.rpartition("/")[0] in RESUME_CONF:
            for number, name, value in assignments(numbered(str(found.get("content", "")))):
                if name in AT_BOOT:
                    yield f"{escaped(file)} line {number}", device(value)[1]
