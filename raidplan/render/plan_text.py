"""A plan for reading: every step with its sentence, its command, what it destroys and where it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from raidplan.base.size import human
from raidplan.base.words import counted
from raidplan.plan import (
    Plan,
    RenewInitramfs,
    Run,
    SetAttribute,
    Step,
    WriteBlock,
    WriteFile,
    Zero,
    plan_digest,
)
from raidplan.render import overview
from raidplan.render.colour import Styles, styles
from raidplan.render.command import command_text
from raidplan.render.losses import loss_texts
from raidplan.render.visible import visible

INDENT = " " * 7


def render_plan(plan: Plan, nodes: Mapping[str, str] | None = None, *, colour: bool = False) -> str:
    """The plan as lines; `nodes` are the disks' device nodes on this machine, if they are known."""
    style = styles(colour)
    parts = [list(_header(plan, nodes or {}, style))]
    parts += [list(_phase(phase, steps, style)) for phase, steps in overview.by_phase(plan)]
    parts += [list(_findings(plan, style))] if plan.findings else []
    parts += [list(_lost(plan, style))] if plan.lost else []
    parts += [list(_summary(plan, style))]
    return "\n".join("\n".join(lines) + "\n" for lines in parts)


def _header(plan: Plan, nodes: Mapping[str, str], style: Styles) -> Iterator[str]:
    yield style["bold"](f"Plan for {visible(plan.host)}")
    yield f"layout   {visible(plan.layout_digest)}"
    yield f"machine  {visible(plan.machine_digest) or 'none was looked at: all of its disks are taken as blank'}"
    if plan.target:
        yield f"target   {visible(plan.target)}: every file named below lies there, and programs for it run in it"
    if plan.disks:
        yield ""
        yield f"{counted(len(plan.disks), 'disk')}, each found by all that is said of it:"
    width = max((len(disk.name) for disk in plan.disks), default=0)
    for disk in plan.disks:
        node = f"  -> {visible(nodes[disk.name])}" if disk.name in nodes else ""
        size = f"{human(disk.size):>10}"
        yield f"  {visible(disk.name):{width}}  {size}  {visible(overview.found_by(disk))}{node}"
    if plan.steps:
        yield ""
        yield overview.LEGEND


def _phase(phase: str, steps: list[tuple[int, Step]], style: Styles) -> Iterator[str]:
    """Every step of a phase; the command of one that is like an earlier one is not repeated."""
    yield style["bold"](f"{phase}: {counted(len(steps), 'step')}")
    first: dict[object, int] = {}
    for number, step in steps:
        like = first.setdefault(shape(step), number)
        if like == number:
            yield f"{number:4} {_symbol(step, style)} {visible(step.say)}"
            yield from (f"{INDENT}{line}" for line in action_lines(step))
            yield from _destroys(step, style)
            yield style["faint"](f"{INDENT}because {visible(overview.origin(step))}")
        else:
            where = style["faint"](f"(like step {like}; line {step.line})")
            yield f"{number:4} {_symbol(step, style)} {visible(step.say)}  {where}"
            yield from _destroys(step, style)


def _symbol(step: Step, style: Styles) -> str:
    mark = overview.symbol(step)
    return style[{"!": "destroy", "~": "change", ">": "good"}[mark]](mark)


def _destroys(step: Step, style: Styles) -> Iterator[str]:
    for lost in loss_texts(step.destroys):
        yield INDENT + style["destroy"](f"destroys: {visible(lost)}")


_WORD = re.compile(r"[A-Za-z0-9_-]+")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9a-f]{8}(:[0-9a-f]{8}){3}")


def shape(step: Step) -> object:
    """The action of a step without its UUIDs and the words that its own sentence says.

    Steps of one shape differ in nothing else, so that the sentence of each says all about it.
    """
    if isinstance(step.action, Zero):
        return Zero, step.action.device, step.action.ranges  # no sentence stands for the device
    if not isinstance(step.action, Run):
        return step.id
    said = set(_WORD.findall(f"{step.say} {step.because}"))

    def without(text: str) -> str:
        return _WORD.sub(lambda match: "" if match[0] in said else match[0], _UUID.sub("", text))

    return tuple(without(word) for word in step.action.argv), without(step.action.stdin)


def action_lines(step: Step) -> Iterator[str]:
    """The command or the change, as a person would write it down."""
    match step.action:
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


def _findings(plan: Plan, style: Styles) -> Iterator[str]:
    yield style["bold"](f"{counted(len(plan.findings), 'finding')} (raidplan check shows them in full)")
    for finding in plan.findings:
        severity = str(finding["severity"])
        head = style[severity](f"{severity}[{visible(str(finding['rule']))}]")
        yield f"  {head} line {finding['line']}: {visible(str(finding['message']))}"


def _lost(plan: Plan, style: Styles) -> Iterator[str]:
    """Everything that a person has to say yes to, and how to say it without a terminal."""
    yield style["destroy"](f"{counted(len(plan.lost), 'thing')} on this machine will be destroyed:")
    yield from (f"  {style['destroy']('!')} {visible(words)}" for words in loss_texts(plan.lost))
    yield f"The digest that says yes to exactly this: --destroy {plan_digest(plan)}"


def _summary(plan: Plan, style: Styles) -> Iterator[str]:
    if not plan.steps:
        yield style["good"]("nothing to do")
        return
    disks, others, files = (
        overview.written_disks(plan),
        overview.written_others(plan),
        overview.changed_files(plan),
    )
    parts = [counted(len(plan.steps), "step")]
    parts += [f"writes over {counted(len(disks), 'disk')}: {', '.join(disks)}"] if disks else []
    parts += [f"writes over or makes: {', '.join(others)}"] if others else []
    parts += [f"makes {', '.join(overview.created(plan))}"] if overview.created(plan) else []
    parts += [f"changes {', '.join(files)}"] if files else []
    yield style["bold"](visible("; ".join(parts)))
