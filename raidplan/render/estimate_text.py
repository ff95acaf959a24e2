"""Estimates for the terminal, on one screen: arrays, what stands on them, survival, and what to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from raidplan.base.groups import groups_by
from raidplan.base.words import and_more, counted, plural
from raidplan.estimate.result import Estimate, Estimates, Fate, Figures, Rate
from raidplan.estimate.survival import Sets
from raidplan.estimate.survival.smallest import MOST_LOSSES
from raidplan.render.colour import Styles, styles
from raidplan.render.estimate_words import (
    alike,
    bottleneck,
    capacity,
    described,
    gain_words,
    mb,
    missing_words,
    more,
    named,
    power,
    shape,
)
from raidplan.render.sets_words import sets_shape, sets_words
from raidplan.render.visible import visible

MANY = 8
"""The most rows of a kind that are shown."""
WHOLE = {"running": "the running system", "boot": "the next start"}
KINDS = ("bus", "controller", "multiplier", "expander", "enclosure", "power", "disk")
WIDE = 120
"""Columns of a line of words."""


def estimate_text(estimates: Estimates, *, colour: bool = False) -> str:
    """The whole estimate; what is alike is shown once."""
    style = styles(colour)
    lines = [
        f"{style['bold'](visible(estimates.host))}: upper bounds for long sequential work, in MB/s of 10^6 bytes"
    ]
    groups = groups_by(estimates.arrays, shape)
    for group in groups[:MANY]:
        lines += ["", *_array(group, style)]
    if len(groups) > MANY:
        hidden = sum(map(len, groups[MANY:]))
        lines += ["", f"{and_more(hidden, 'array')}; --format json has them all"]
    for section in (
        _users(estimates),
        [*_survival(estimates), *_stopped(estimates), *_boots(estimates)],
        _gains(estimates),
    ):
        lines += ["", *section] if section else []
    lines += ["", f"power: {power(estimates.machine)}", *_missing(estimates)]
    return "\n".join(lines) + "\n"


def _array(group: Sequence[Estimate], style: Styles) -> Iterator[str]:
    first = group[0]
    each = " each" if len(group) > 1 else ""
    yield f"{style['bold'](named([thing.name for thing in group]))}: {visible(described(first))}, {capacity(first)}{each}"
    rows = [
        ("", "MB/s", "bottleneck", "without it"),
        ("read", *_cells(first.alone.read)),
        ("write", *_cells(first.alone.write)),
    ]
    if _rates(first.together) != _rates(first.alone):
        rows.append(("full load: read", *_cells(first.together.read)[:2], ""))
        rows.append(("full load: write", *_cells(first.together.write)[:2], ""))
    yield from _table(rows, style)
    yield from (f"  {line}" for line in more(first))


def _rates(figures: Figures) -> tuple[str, str]:
    return mb(figures.read.bytes_per_second), mb(figures.write.bytes_per_second)


def _cells(rate: Rate) -> tuple[str, str, str]:
    return mb(rate.bytes_per_second), bottleneck(rate.bottlenecks), mb(rate.relieved)


def _users(estimates: Estimates) -> list[str]:
    groups = groups_by((*estimates.filesystems, *estimates.swap), shape)
    rows: list[Sequence[str]] = [("on them", "", "capacity", "read", "write", "full load: read", "write")]
    for group in groups[:MANY]:
        first = group[0]
        names, what = alike(group)
        room = capacity(first, "not known")
        rows.append((names, visible(what), room, *_rates(first.alone), *_rates(first.together)))
    if len(groups) > MANY:
        rows.append((and_more(sum(map(len, groups[MANY:]))), *[""] * 6))
    return list(_table(rows, styles(False))) if groups else []


def _survival(estimates: Estimates) -> list[str]:
    """A row for each fate: of every kind of component, which losses are not survived."""
    things = _fates(estimates)
    kinds = [kind for kind in KINDS if any(loss.kind == kind for _, fate in things for loss in fate.losses)]
    rows = groups_by(things, lambda thing: _fate(thing[1], kinds))
    table: list[Sequence[str]] = [("survives the loss of", *kinds, "any disks at once")]
    table += [
        (named(list(dict.fromkeys(name for name, _ in group))), *_fate(group[0][1], kinds))
        for group in rows[:MANY]
    ]
    if len(rows) > MANY:
        table.append((and_more(sum(map(len, rows[MANY:]))), *[""] * (len(kinds) + 1)))
    return list(_table(table, styles(False))) if things else []


def _fates(estimates: Estimates) -> list[tuple[str, Fate]]:
    things = [(each.name, each.fate) for each in (*estimates.arrays, *estimates.filesystems, *estimates.swap)]
    things += [(WHOLE[name], fate) for name, fate in estimates.machine.fates.items()]
    return [(name, fate) for name, fate in things if fate.losses]


def _stopped(estimates: Estimates) -> list[str]:
    """The smallest sets that stop each thing; nothing where one component does, which stands above, or no three do."""
    things = [
        (name, fate)
        for name, fate in _fates(estimates)
        if max(_losses(fate.sets), _losses(fate.disk_sets)) > 1
    ]
    rows = groups_by(things, lambda each: (sets_shape(each[1].sets), sets_shape(each[1].disk_sets)))
    lines = []
    for group in rows[:MANY]:
        whose = named(list(dict.fromkeys(name for name, _ in group)))
        said = f"{whose} stopped by the loss of: {sets_words(group[0][1].sets, group[0][1].disk_sets)}"
        lines += wrap(said, WIDE, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    if len(rows) > MANY:
        lines.append(f"  and of {sum(map(len, rows[MANY:]))} more by others")
    return lines


def _boots(estimates: Estimates) -> Iterator[str]:
    """The components without which the machine boots, as far as the layout has a part in its boot."""
    fate = estimates.machine.fates.get("boot")
    if not fate or not fate.losses:
        return
    kept, lost = list[str](), list[str]()
    for kind in KINDS:
        losses = [loss for loss in fate.losses if loss.kind == kind]
        most = fate.losses_always_survived or 1 if kind == "disk" else 1
        kept += _of_kind(kind, [loss.component for loss in losses if loss.survived], len(losses), most)
        lost += _of_kind(kind, [loss.component for loss in losses if not loss.survived], len(losses), 1)
    yield f"  boots without: {', '.join(kept) or 'none of them'}" + (
        f"; not without: {', '.join(lost)}" if lost else ""
    )
    if estimates.machine.boot_loader_installed is False:
        yield "    if there is a boot loader on what is left: the layout installs none"


def _of_kind(kind: str, names: Sequence[str], among: int, at_once: int) -> list[str]:
    if len(names) > 1 and len(names) == among:
        return [f"any {at_once if at_once > 1 else 'one'} of {counted(among, kind)}"]
    return (
        [f"{kind} {named(names)}" if len(names) == 1 else f"{plural(kind)} {named(names)}"] if names else []
    )


def _losses(sets: Sets) -> int:
    return sets.losses or 0


def _fate(fate: Fate, kinds: Sequence[str]) -> tuple[str, ...]:
    cells = []
    for kind in kinds:
        losses = [loss for loss in fate.losses if loss.kind == kind]
        lost = [loss.component for loss in losses if not loss.survived]
        many = f"none of {len(losses)}" if len(lost) == len(losses) > 1 else f"not {named(lost)}"
        cells.append(
            "-" if not losses else many if lost else "yes" if len(losses) == 1 else f"any of {len(losses)}"
        )
    most = fate.losses_always_survived
    return (*cells, "-" if most is None else f"{most} or more" if most >= MOST_LOSSES else str(most))


def _gains(estimates: Estimates) -> list[str]:
    lines = [
        line for advice, change in gain_words(estimates.gains) for line in (f"  {advice}", f"    {change}")
    ]
    return ["biggest improvements under full load:", *lines] if lines else []


def _missing(estimates: Estimates) -> list[str]:
    lines = [f"  {words}" for words in missing_words(estimates.missing)]
    return ["not stated, and no limit here where nothing is assumed:", *lines] if lines else []


def _table(rows: Sequence[Sequence[str]], style: Styles) -> Iterator[str]:
    """Rows in columns, the first one as their heads; columns of numbers to the right."""
    head = rows[0]
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    right = [
        all(cell.replace(".", "", 1).isdigit() or cell in ("", "-") for cell in column[1:])
        for column in columns
    ]
    for row in rows:
        cells = (
            cell.rjust(width) if to_the_right else cell.ljust(width)
            for cell, width, to_the_right in zip(row, widths, right, strict=True)
        )
        line = "  " + "  ".join(cells).rstrip()
        yield style["faint"](line) if row is head else line
