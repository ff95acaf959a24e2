"""A plan for reading: its sum, and its steps, those alike as one line or each with its command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from raidplan.base.groups import groups_by
from raidplan.base.names import ranges_in_order
from raidplan.base.size import drive_size, human
from raidplan.base.words import counted
from raidplan.plan.codec import plan_digest
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.step import Plan, RenewInitramfs, Run, SetAttribute, Step, WriteBlock, WriteFile, Zero
from raidplan.render import overview
from raidplan.render.colour import Styles, styles
from raidplan.render.command import command_text
from raidplan.render.folded import PLACE, folded_findings, rows, shape
from raidplan.render.losses import loss_texts
from raidplan.render.visible import visible

INDENT = " " * 7
FEW = 8
"""So many disks have a line each."""


def render_plan(
    plan: Plan, nodes: Mapping[str, str] | None = None, *, colour: bool = False, every: bool = False
) -> str:
    """The plan as lines: its sum, then steps that are alike as one, or every step with its commands.

    `nodes` are the disks' device nodes on this machine, if they are known.
    """
    style = styles(colour)
    parts = [list(_header(plan, style)), list(_disks(plan, nodes or {}, every))]
    if every:
        parts += [list(_phase(phase, steps, style)) for phase, steps in overview.by_phase(plan)]
    else:
        parts += [list(_rows(plan, style))]
    parts += [list(_findings(plan, style, every))]
    parts += [list(_lost(plan, style))]
    return "\n".join("\n".join(lines) + "\n" for lines in parts if lines)


def _header(plan: Plan, style: Styles) -> Iterator[str]:
    yield style["bold"](f"Plan for {visible(plan.host)}: {counted(len(plan.steps), 'step')}")
    if not plan.steps:
        yield style["good"]("nothing to do")
    else:
        for word, text in overview.summary(plan).items():
            loud = style["destroy"] if word == "destroy" and overview.destroys(plan) else str
            yield loud(f"  {word:7}  {visible(text)}")
    yield style["faint"](f"  layout   {visible(plan.layout_digest)}")
    yield style["faint"](f"  machine  {visible(overview.machine_line(plan))}")


def _disks(plan: Plan, nodes: Mapping[str, str], every: bool) -> Iterator[str]:
    """Each disk, or those of one size together; which device each of them is here is told of all."""
    if every or len(plan.disks) <= FEW:
        sizes = [drive_size(disk.size) for disk in plan.disks]
        widths = [max(map(len, column), default=0) for column in ([disk.name for disk in plan.disks], sizes)]
        for disk, size in zip(plan.disks, sizes, strict=True):
            node = f"  -> {visible(nodes[disk.name])}" if disk.name in nodes else ""
            found = visible(overview.found_by(disk))
            yield f"  {visible(disk.name):{widths[0]}}  {size:>{widths[1]}}  {found}{node}"
        return
    for disks in groups_by(plan.disks, lambda disk: (disk.size, bool(disk.device), disk.keep)):
        names = ", ".join(ranges_in_order([disk.name for disk in disks]))
        found = ", ".join(together_found(disks))
        size = f"{counted(len(disks), 'disk')} of {drive_size(disks[0].size)}"
        yield f"  {visible(names)}  {size}  {visible(found)}{f'; {overview.KEPT}' if disks[0].keep else ''}"
    pairs = [f"{disk.name} -> {nodes[disk.name]}" for disk in plan.disks if disk.name in nodes]
    yield from wrap(visible(", ".join(pairs)), 110, initial_indent="  ", subsequent_indent="  ")


def together_found(disks: Sequence[DiskIdentity]) -> Iterator[str]:
    """The identities of several disks, in the order of these: `serial JBOD-[0-7][0-4]`."""
    for key in ("device", "serial", "wwn", "path", "model"):
        having = [disk for disk in disks if getattr(disk, key)]
        if having:
            values = dict.fromkeys(getattr(disk, key) for disk in having)
            names = ", ".join(ranges_in_order([disk.name for disk in having]))
            of = "" if len(having) == len(disks) else f" of {names}"
            yield f"{key}{of} {', '.join(ranges_in_order(list(values)))}"


def _rows(plan: Plan, style: Styles) -> Iterator[str]:
    phase = ""
    for row in rows(plan):
        name = "" if row.phase == phase else row.phase
        phase = row.phase
        place = style["faint"](f"  line {row.lines}") if row.lines else ""
        mark = _coloured(row.symbol, style)
        yield f"  {name:9} {row.place:>{PLACE}} {mark} {visible(row.says)}{place}"
        for lost in row.losses:
            yield " " * (PLACE + 15) + style["destroy"](f"destroys: {visible(lost)}")
    if phase:
        yield style["faint"](f"  {overview.LEGEND}; --all-steps shows each step with its command")


def _phase(phase: str, steps: list[tuple[int, Step]], style: Styles) -> Iterator[str]:
    """Every step of a phase; the command of one that is like an earlier one is not repeated."""
    yield style["bold"](f"{phase}: {counted(len(steps), 'step')}")
    first: dict[object, int] = {}
    for number, step in steps:
        like = first.setdefault(shape(step), number)
        mark = _coloured(overview.symbol(step), style)
        if like == number:
            yield f"{number:4} {mark} {visible(step.say)}"
            yield from (f"{INDENT}{line}" for line in action_lines(step))
            yield from _destroys(step, style)
            yield style["faint"](f"{INDENT}from {visible(overview.origin(step))}")
        else:
            where = style["faint"](f"(like step {like}; line {step.line})")
            yield f"{number:4} {mark} {visible(step.say)}  {where}"
            yield from _destroys(step, style)


def _coloured(mark: str, style: Styles) -> str:
    return style[{"-": "destroy", "~": "change", "+": "good", ">": "faint"}[mark]](mark)


def _destroys(step: Step, style: Styles) -> Iterator[str]:
    for lost in loss_texts(overview.losses(step)):
        yield INDENT + style["destroy"](f"destroys: {visible(lost)}")


def action_lines(step: Step) -> Iterator[str]:
    """The command or the change, as a person would write it down."""
    match step.action:
        case Run(argv, key=str(key)) if key:
            yield f"$ {command_text(argv)}  # the passphrase of {key} on its standard input"
        case Run(argv, stdin):
            yield "$ " + command_text(argv) + (" <<" if stdin else "")
            yield from _content(stdin)
        case RenewInitramfs(arrays):
            by = step.action.by
            names = f"names {counted(len(arrays), 'array')}" if arrays else "can be read"
            yield "for each KERNEL that has its image in /boot, and modules:"
            yield "$ " + command_text(by.make("KERNEL", by.image.format("KERNEL")))
            yield f"when each of them is proven to hold what it should ({names}), put them in place of the present ones"
            yield f"where there is {by.hooks}, for each KERNEL:"
            yield "$ " + command_text(by.tell("KERNEL", by.image.format("KERNEL")))
        case WriteFile(file, ""):
            yield f"remove {visible(file)}"
        case WriteBlock(file, "", mark):
            yield f"take the block of {visible(mark)} out of {visible(file)}"
        case WriteFile(file, content, mode):
            yield f"write {visible(file)} (mode {mode:04o}):"
            yield from _content(content)
        case WriteBlock(file, content, _, at_top):
            place = "before the first line of" if at_top else "into"
            yield f"put this block {place} {visible(file)}:"
            yield from _content(content)
        case SetAttribute(file, content):
            yield f"set {visible(file)} to {visible(content)}"
        case Zero(device, ranges):
            yield f"write zeroes to {visible(device)}: {', '.join(_range(*one) for one in ranges)}"


def _range(start: int, size: int) -> str:
    return f"{human(size)} at its end" if start == -size else f"{human(size)} from byte {start} on"


def _content(text: str) -> Iterator[str]:
    yield from (f"  | {visible(line)}" for line in text.splitlines())


def _findings(plan: Plan, style: Styles, every: bool) -> Iterator[str]:
    if plan.findings:
        yield style["bold"](f"{counted(len(plan.findings), 'finding')} (raidplan check shows them in full)")
    for severity, rule, lines, said in folded_findings(plan, every):
        head = style[severity](f"{severity}[{visible(rule)}]")
        yield f"  {head} line {lines}: {visible(said)}"


def _lost(plan: Plan, style: Styles) -> Iterator[str]:
    """Everything that a person has to say yes to, and how to say it without a terminal."""
    if not plan.lost:
        return
    yield style["destroy"](f"{counted(len(plan.lost), 'thing')} on this machine will be destroyed:")
    yield from (f"  {style['destroy']('-')} {visible(words)}" for words in loss_texts(plan.lost))
    yield f"The digest that says yes to exactly this: --destroy {plan_digest(plan)}"
