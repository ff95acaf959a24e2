"""A plan as Markdown for a pull request: what is made, what is destroyed, every step, the commands folded away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from raidplan.base.words import counted
from raidplan.plan import Plan, Step, plan_digest
from raidplan.render import overview
from raidplan.render.losses import loss_texts
from raidplan.render.markdown import LIMIT, cell, fitting, prose
from raidplan.render.plan_text import action_lines
from raidplan.render.visible import visible


def plan_markdown(plan: Plan, limit: int = LIMIT) -> str:
    """The plan in at most `limit` characters: commands are cut first, then steps, and it is said how many."""
    head = "\n".join(_summary(plan)) + "\n"
    foot = "\n".join(_digests(plan)) + "\n"
    room = limit - len(head) - len(foot)
    if room < 400:
        lost = (
            f"**{counted(len(plan.lost), 'thing')} on this machine will be destroyed.** " if plan.lost else ""
        )
        return f"### raidplan: plan for {prose(plan.host)}\n\n{lost}{counted(len(plan.steps), 'step')}, which did not fit here.\n\n{foot}"
    steps = _steps(plan, room)
    commands = _commands(plan, room - len(steps))
    return head + steps + commands + foot


def _summary(plan: Plan) -> Iterator[str]:
    yield f"### raidplan: plan for {prose(plan.host)}"
    yield ""
    if not plan.steps:
        yield "Nothing to do."
        yield ""
        return
    yield "| | |"
    yield "| --- | --- |"
    disks, others, files = (
        overview.written_disks(plan),
        overview.written_others(plan),
        overview.changed_files(plan),
    )
    rows = {
        "Steps": str(len(plan.steps)),
        "**Destroyed**": _counted("everything on", disks, "disk") if disks else "",
        "Written over or made": _listed(others),
        "Created": ", ".join(overview.created(plan)),
        "Changed files": _listed(files),
        "Machine": "" if plan.machine_digest else "none was looked at: all of its disks are taken as blank",
    }
    yield from (f"| {name} | {value} |" for name, value in rows.items() if value)
    yield ""
    if plan.lost:
        yield from _lost(plan)
    if plan.findings:
        yield from _findings(plan.findings)


def _lost(plan: Plan, most: int = 100) -> Iterator[str]:
    """The present content of the machine that is destroyed."""
    yield f"**{counted(len(plan.lost), 'thing')} on this machine will be destroyed:**"
    yield ""
    yield from (f"- {cell(words)}" for words in loss_texts(plan.lost[:most]))
    if len(plan.lost) > most:
        yield f"- and {len(plan.lost) - most} more"
    yield ""
    yield f"The digest that says yes to exactly this: `--destroy {plan_digest(plan)}`"
    yield ""


def _counted(verb: str, names: Sequence[str], noun: str) -> str:
    return f"{verb} {counted(len(names), noun)}: {_listed(names)}"


def _listed(names: Sequence[str], room: int = 6000) -> str:
    shown = fitting([cell(name) for name in names], room)
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(shown) < len(names) else "")


def _findings(findings: Sequence[Mapping[str, object]], most: int = 50) -> Iterator[str]:
    yield "| Line | Finding | |"
    yield "| ---: | --- | --- |"
    for finding in findings[:most]:
        name = f"{finding['severity']}: {finding['rule']}"
        yield f"| {finding['line']} | {cell(name)} | {cell(str(finding['message']))} |"
    if len(findings) > most:
        yield f"| | | and {len(findings) - most} more |"
    yield ""


def _steps(plan: Plan, room: int) -> str:
    """A table for each phase; rows that do not fit are counted."""
    lines: list[str] = []
    for phase, steps in overview.by_phase(plan):
        heading = f"**{phase}**: {counted(len(steps), 'step')}"
        lines += [heading, "", "| # | | Step | Destroys | Layout line |", "| ---: | --- | --- | --- | ---: |"]
        lines += [_row(number, step) for number, step in steps]
        lines += [""]
    kept = fitting(lines, room - 200)
    if len(kept) == len(lines):
        return "".join(f"{line}\n" for line in kept)
    rows = sum(line.startswith("| ") and line[2].isdigit() for line in lines[len(kept) :])
    return "".join(f"{line}\n" for line in kept) + f"\n{counted(rows, 'step')} more did not fit here.\n\n"


def _row(number: int, step: Step) -> str:
    mark = "**!**" if overview.symbol(step) == "!" else ""
    return f"| {number} | {mark} | {cell(step.say)} | {_listed(loss_texts(step.destroys))} | {step.line} |"


def _commands(plan: Plan, room: int) -> str:
    """The commands in a folded block; the last ones are left out if they do not fit."""
    if not plan.steps:
        return ""
    blocks = [_command(number, step) for number, step in enumerate(plan.steps, start=1)]
    fence = "`" * max(3, _longest_run("\n".join(blocks)) + 1)
    opening = f"<details>\n<summary>Commands</summary>\n\n{fence}text\n"
    closing = f"{fence}\n\n</details>\n\n"
    kept = fitting(blocks, room - len(opening) - len(closing) - 200)
    cut = len(blocks) - len(kept)
    note = f"... {counted(cut, 'step')} more did not fit here\n" if cut else ""
    if not kept:
        return f"The commands of {counted(cut, 'step')} did not fit here.\n\n"
    return opening + "".join(f"{block}\n" for block in kept) + note + closing


def _command(number: int, step: Step) -> str:
    return "\n".join([f"# {number} {visible(step.say)}", *action_lines(step)])


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _digests(plan: Plan) -> Iterator[str]:
    yield f"layout `{visible(plan.layout_digest)}`" + (
        f", machine `{visible(plan.machine_digest)}`" if plan.machine_digest else ""
    )
