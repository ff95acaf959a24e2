"""A plan as Markdown for a pull request: what is made, what is destroyed, and every step.

Steps that are alike are one row; the commands of all steps come on request, folded away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from raidplan.base.words import and_more, counted
from raidplan.plan.codec import plan_digest
from raidplan.plan.step import Plan, Step
from raidplan.render import overview
from raidplan.render.folded import PlanLine, folded_findings, rows
from raidplan.render.losses import loss_texts
from raidplan.render.markdown import LIMIT, cell, fitting, prose
from raidplan.render.plan_text import action_lines
from raidplan.render.visible import visible


def plan_markdown(plan: Plan, limit: int = LIMIT, *, every: bool = False) -> str:
    """The plan in at most `limit` characters: commands are cut first, then steps, and it is said how many.

    `every`: each step follows with its command, and each finding has a row.
    """
    head = "\n".join(_summary(plan, every)) + "\n"
    foot = "\n".join(_digests(plan)) + "\n"
    room = limit - len(head) - len(foot)
    if room < 400:
        lost = (
            f"**{counted(len(plan.lost), 'thing')} on this machine will be destroyed.** " if plan.lost else ""
        )
        return f"### raidplan: plan for {prose(plan.host)}\n\n{lost}{counted(len(plan.steps), 'step')}, which did not fit here.\n\n{foot}"
    steps = _steps(plan, room)
    commands = _commands(plan, room - len(steps)) if every else _legend(plan)
    return head + steps + commands + foot


def _summary(plan: Plan, every: bool) -> Iterator[str]:
    yield f"### raidplan: plan for {prose(plan.host)}"
    yield ""
    if not plan.steps:
        yield "Nothing to do."
        yield ""
        return
    yield "| | |"
    yield "| --- | --- |"
    rows = {word: cell(text) for word, text in overview.summary(plan).items()}
    if overview.destroys(plan):
        rows["destroy"] = f"**{rows['destroy']}**"
    yield f"| steps | {len(plan.steps)} |"
    yield from (f"| {word} | {text} |" for word, text in rows.items())
    if not plan.machine_digest:
        yield f"| machine | {cell(overview.machine_line(plan))} |"
    yield ""
    if plan.lost:
        yield from _lost(plan)
    if plan.findings:
        yield from _findings(plan, every)


def _lost(plan: Plan, most: int = 100) -> Iterator[str]:
    """The present content of the machine that is destroyed."""
    yield f"**{counted(len(plan.lost), 'thing')} on this machine will be destroyed:**"
    yield ""
    yield from (f"- {cell(words)}" for words in loss_texts(plan.lost[:most]))
    if len(plan.lost) > most:
        yield f"- {and_more(len(plan.lost) - most)}"
    yield ""
    yield f"The digest that says yes to exactly this: `--destroy {plan_digest(plan)}`"
    yield ""


def _listed(names: Sequence[str], room: int = 6000) -> str:
    shown = fitting([cell(name) for name in names], room)
    return ", ".join(shown) + (f" {and_more(len(names) - len(shown))}" if len(shown) < len(names) else "")


def _findings(plan: Plan, every: bool, most: int = 50) -> Iterator[str]:
    yield "| Line | Finding | |"
    yield "| ---: | --- | --- |"
    rows = list(folded_findings(plan, every))
    for severity, rule, lines, said in rows[:most]:
        yield f"| {lines} | {cell(f'{severity}: {rule}')} | {cell(said)} |"
    if len(rows) > most:
        yield f"| | | {and_more(len(rows) - most)} |"
    yield ""


def _steps(plan: Plan, room: int) -> str:
    """A table of the steps, those alike in one row; rows that do not fit are counted."""
    if not plan.steps:
        return ""
    shown = list(rows(plan))
    loss = any(row.losses for row in shown)
    heading = (
        "| # | | Step | Destroys | Line |\n| ---: | --- | --- | --- | ---: |"
        if loss
        else "| # | | Step | Line |\n| ---: | --- | --- | ---: |"
    )
    counts = [len(row.steps) for row in shown]
    kept = fitting([heading, *(_row(row, loss) for row in shown)], room - 200)
    text = "".join(f"{line}\n" for line in kept) + "\n"
    cut = sum(counts[max(len(kept) - 1, 0) :])
    return text + (f"{counted(cut, 'step')} more did not fit here.\n\n" if cut else "")


def _row(row: PlanLine, loss: bool) -> str:
    mark = f"**{row.symbol}**" if row.symbol == "-" else f"`{row.symbol}`"
    destroys = f" {_listed(row.losses)} |" if loss else ""
    return f"| {row.place} | {mark} | {cell(row.says)} |{destroys} {row.lines} |"


def _legend(plan: Plan) -> str:
    """The symbols, and how to see the rest."""
    if not plan.steps:
        return ""
    symbols = ", ".join(f"`{symbol}` {word}" for symbol, word in overview.SYMBOLS)
    return f"{symbols}; `--all-steps` shows each step with its command\n\n"


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
