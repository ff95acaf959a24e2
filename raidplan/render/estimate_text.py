"""Estimates for the terminal, on one screen: arrays, what stands on them, survival, and what to change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from raidplan.render.colour import Styles, styles
from raidplan.render.visible import plural, visible
from raidplan.size import human

if TYPE_CHECKING:
    from raidplan.estimate import Estimate, Estimates, Fate, Figures, Gain, MachineEstimate, Rate
    from raidplan.estimate.machine import Resource
    from raidplan.links import Missing

MANY = 8
"""So many rows of a kind are shown."""
WORTH = 1.02
"""A gain of less is not worth a line."""
MOST_LOSSES = 3
"""As many losses of disks as are looked at."""
NAMES = 3
"""So many names are written out."""
WHOLE = {"running": "the running system", "boot": "the next start"}
KINDS = ("bus", "controller", "multiplier", "expander", "enclosure", "power", "disk")
ADVICE = {
    "bus": "other links for the {disks} behind it",
    "controller": "other controllers for the {disks} behind it",
    "multiplier": "more multipliers, or ports of a controller, for the {disks} behind",
    "expander": "more lanes to it, or other ports for some of the {disks} behind it",
    "port": "faster ports for the {disks}",
    "disk": "faster ones, or more of them",
}
"""What relieves a bottleneck of each kind."""

Thing = TypeVar("Thing")


def estimate_text(estimates: Estimates, *, colour: bool = False) -> str:
    """The whole estimate; what is alike is shown once."""
    style = styles(colour)
    lines = [
        f"{style['bold'](visible(estimates.host))}: upper bounds for long sequential work, in MB/s of 10^6 bytes"
    ]
    alike = _alike(estimates.arrays, _shape)
    for group in alike[:MANY]:
        lines += ["", *_array(group, style)]
    if len(alike) > MANY:
        hidden = sum(map(len, alike[MANY:]))
        lines += ["", f"and {plural(hidden, 'array')} more; --format json has them all"]
    for section in (_users(estimates), _survival(estimates), _gains(estimates.gains)):
        lines += ["", *section] if section else []
    lines += ["", *_machine(estimates.machine), *_missing(estimates.missing)]
    return "\n".join(lines) + "\n"


def _alike(things: Iterable[Thing], key: Callable[[Thing], Hashable]) -> list[list[Thing]]:
    groups: dict[Hashable, list[Thing]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return list(groups.values())


def _shape(thing: Estimate) -> Hashable:
    """What is shown of an array or its user, without names."""
    rates = (thing.alone.read, thing.alone.write, thing.together.read, thing.together.write)
    shown = tuple(
        (
            _mb(rate.bytes_per_second),
            _mb(rate.relieved),
            rate.iops,
            tuple((each.kind, _mb(each.bytes_per_second)) for each in rate.bottlenecks),
        )
        for rate in rates
    )
    what = thing.what.partition(" on ")[0]
    return what, thing.capacity, shown, thing.rebuild.seconds, thing.stripe_cache_bytes, thing.notes


def _array(group: Sequence[Estimate], style: Styles) -> Iterator[str]:
    first = group[0]
    size = human(first.capacity) if first.capacity is not None else "size not known"
    each = " each" if len(group) > 1 else ""
    yield f"{style['bold'](_names([thing.name for thing in group]))}: {visible(first.what)}, {size}{each}"
    rows = [
        ("", "MB/s", "bottleneck", "without it"),
        ("read", *_cells(first.alone.read)),
        ("write", *_cells(first.alone.write)),
    ]
    if _rates(first.together) != _rates(first.alone):
        rows.append(("all arrays: read", *_cells(first.together.read)[:2], ""))
        rows.append(("all arrays: write", *_cells(first.together.write)[:2], ""))
    yield from _table(rows, style)
    yield from (f"  {line}" for line in _more(first))


def _rates(figures: Figures) -> tuple[str, str]:
    return _mb(figures.read.bytes_per_second), _mb(figures.write.bytes_per_second)


def _cells(rate: Rate) -> tuple[str, str, str]:
    return _mb(rate.bytes_per_second), _bottleneck(rate.bottlenecks), _mb(rate.relieved)


def _bottleneck(resources: Sequence[Resource]) -> str:
    if not resources:
        return "not known"
    first = resources[0]
    if len(resources) == 1:
        return f"{first.kind} {first.component}, {_mb(first.bytes_per_second)} MB/s"
    kinds = {each.kind for each in resources}
    what = _plural_kind(first.kind) if len(kinds) == 1 else "components"
    same = len({_mb(each.bytes_per_second) for each in resources}) == 1
    rate = f", {_mb(first.bytes_per_second)} MB/s each" if same else ""
    return f"{len(resources)} {what} ({_names([each.component for each in resources])}){rate}"


def _more(array: Estimate) -> Iterator[str]:
    read, write = array.alone.read.iops, array.alone.write.iops
    if read is not None and write is not None:
        yield f"random: {read:.0f} small reads or {write:.0f} small writes per second"
    rebuild = array.rebuild
    if rebuild.seconds is not None and rebuild.bytes_per_second is not None:
        yield f"rebuild: {duration(rebuild.seconds)} at {_mb(rebuild.bytes_per_second)} MB/s ({rebuild.limit}), idle otherwise"
    if rebuild.read_error_bound:
        desktop, server = map(_percent, rebuild.read_error_bound)
        repaired = "; it can be repaired" if (array.fate.losses_always_survived or 0) > 1 else ""
        yield (
            f"unreadable sector in a rebuild: {desktop} at 1 bit in 10^14, {server} at 10^15, "
            f"the most that data sheets allow for{repaired}"
        )
    if array.stripe_cache_bytes:
        yield f"stripe cache: {human(array.stripe_cache_bytes)} of memory"
    yield from array.notes


def _users(estimates: Estimates) -> list[str]:
    groups = _alike((*estimates.filesystems, *estimates.swap), _shape)
    rows: list[Sequence[str]] = [("on them", "", "room", "read", "write", "all: read", "write")]
    for group in groups[:MANY]:
        first = group[0]
        room = human(first.capacity) if first.capacity is not None else "not known"
        what = first.what if len(group) == 1 else first.what.partition(" on ")[0]
        names = _names([thing.name for thing in group])
        rows.append((names, visible(what), room, *_rates(first.alone), *_rates(first.together)))
    if len(groups) > MANY:
        rows.append((f"and {sum(map(len, groups[MANY:]))} more", *[""] * 6))
    return list(_table(rows, styles(False))) if groups else []


def _survival(estimates: Estimates) -> list[str]:
    """A row for each fate: of every kind of component, which losses are not survived."""
    things = [(each.name, each.fate) for each in (*estimates.arrays, *estimates.filesystems, *estimates.swap)]
    things += [(WHOLE[name], fate) for name, fate in estimates.machine.fates.items()]
    things = [(name, fate) for name, fate in things if fate.losses]
    kinds = [kind for kind in KINDS if any(loss.kind == kind for _, fate in things for loss in fate.losses)]
    rows = _alike(things, lambda thing: _fate(thing[1], kinds))
    table: list[Sequence[str]] = [("survives the loss of", *kinds, "any disks")]
    table += [
        (_names(list(dict.fromkeys(name for name, _ in group))), *_fate(group[0][1], kinds))
        for group in rows[:MANY]
    ]
    if len(rows) > MANY:
        table.append((f"and {sum(map(len, rows[MANY:]))} more", *[""] * (len(kinds) + 1)))
    return list(_table(table, styles(False))) if things else []


def _fate(fate: Fate, kinds: Sequence[str]) -> tuple[str, ...]:
    cells = []
    for kind in kinds:
        losses = [loss for loss in fate.losses if loss.kind == kind]
        lost = [loss.component for loss in losses if not loss.survived]
        many = f"none of {len(losses)}" if len(lost) == len(losses) > 1 else f"not {_names(lost)}"
        cells.append(
            "-" if not losses else many if lost else "yes" if len(losses) == 1 else f"all {len(losses)}"
        )
    most = fate.losses_always_survived
    return (*cells, "-" if most is None else f"{most} or more" if most >= MOST_LOSSES else str(most))


def _gains(gains: Sequence[Gain]) -> list[str]:
    """What would make all arrays together faster, the largest gain first."""
    lines: list[str] = []
    for gain in gains:
        changes = [
            f"{verb} {_mb(then)} MB/s in place of {_mb(now)}"
            for verb, now, then in zip(("read", "write"), gain.now, gain.then, strict=True)
            if now is not None and then is not None and then > now * WORTH
        ]
        if changes:
            disks = plural(len(gain.disks), "disk")
            advice = ADVICE[gain.bottlenecks[0].kind].format(disks=disks)
            lines.append(f"  {_bottleneck(gain.bottlenecks)}: {advice}")
            lines.append(f"    {', '.join(changes)}")
    return ["to gain most with all arrays at work:", *lines] if lines else []


def _machine(machine: MachineEstimate) -> Iterator[str]:
    base = "" if machine.base_watts_known else " for the disks alone (base_watts is not stated)"
    yield f"power: {machine.watts:.0f} W{base}; {machine.spinup_amps_12v:.1f} A at 12 V while the disks start"


def _missing(missing: Sequence[Missing]) -> Iterator[str]:
    facts: dict[str, list[str]] = {}
    for each in missing:
        facts.setdefault(each.fact, []).append(each.of)
    if facts:
        yield "not stated, and no limit here:"
    yield from (f"  the {fact} of {_names(names)}" for fact, names in facts.items())


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


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(visible(name) for name in names[:NAMES])
    return shown if len(names) <= NAMES else f"{shown} and {len(names) - NAMES} more"


def _plural_kind(kind: str) -> str:
    return {"bus": "buses", "power": "supplies"}.get(kind, f"{kind}s")


def _mb(rate: float | None) -> str:
    if rate is None:
        return "-"
    # Slow links and test machines are told apart by their decimals.
    return f"{rate / 1e6:.0f}" if rate >= 9.95e6 else f"{rate / 1e6:.1f}"


def _percent(part: float) -> str:
    return "less than 1%" if 0 < part < 0.005 else f"{part:.0%}"


def duration(seconds: float) -> str:
    """`7 h 24 min`, `35 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    known = [f"{count} {unit}" for count, unit in parts if count]
    return " ".join(known[:2]) or "0 s"
