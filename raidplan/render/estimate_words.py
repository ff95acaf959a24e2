"""Estimates in words and numbers, as the forms for people share them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from raidplan.base.groups import by_key
from raidplan.base.size import human
from raidplan.base.words import counted, duration, listed, plural
from raidplan.render.visible import visible

if TYPE_CHECKING:
    from raidplan.estimate.links import Missing
    from raidplan.estimate.machine import Resource
    from raidplan.estimate.result import Estimate, Gain, MachineEstimate

WORTH = 1.02
"""A gain of less is not worth a line."""
NAMES = 8
"""The most names, or ranges of names, that are written out."""
FEW = 3
"""More names than these are ranges, where they can be."""
ADVICE = {
    "bus": "other links for the {disks} behind it",
    "controller": "other controllers for the {disks} behind it",
    "multiplier": "more multipliers, or ports of a controller, for the {disks} behind",
    "expander": "more lanes to it, or other ports for some of the {disks} behind it",
    "port": "faster ports for the {disks}",
    "disk": "faster ones, or more of them",
}
"""The remedy for a bottleneck of each kind."""


def described(thing: Estimate) -> str:
    """`raid6 of 8`, `xfs on s0`."""
    return f"{thing.what} on {thing.on}" if thing.on else thing.what


def alike(group: Sequence[Estimate]) -> tuple[str, str]:
    """The names of things that are alike, and what they are; of one alone also what it is on."""
    first = group[0]
    return named([thing.name for thing in group]), described(first) if len(group) == 1 else first.what


def capacity(thing: Estimate, unknown: str = "size not known") -> str:
    """The size of a thing: `21.0 TB`."""
    return human(thing.capacity) if thing.capacity is not None else unknown


def power(machine: MachineEstimate) -> str:
    """The power while running and the current of the start: `480 W; 66.0 A at 12 V while the disks start`."""
    base = "" if machine.base_watts_known else " for the disks alone (base_watts is not stated)"
    return f"{machine.watts:.0f} W{base}; {machine.spinup_amps_12v:.1f} A at 12 V while the disks start"


def shape(thing: Estimate) -> Hashable:
    """The figures that are shown of an array or its user, without names."""
    rates = (thing.alone.read, thing.alone.write, thing.together.read, thing.together.write)
    shown = tuple(
        (
            mb(rate.bytes_per_second),
            mb(rate.relieved),
            rate.iops,
            tuple((each.kind, mb(each.bytes_per_second)) for each in rate.bottlenecks),
        )
        for rate in rates
    )
    return thing.what, thing.capacity, shown, thing.rebuild.seconds, thing.stripe_cache_bytes, thing.notes


def bottleneck(resources: Sequence[Resource]) -> str:
    """The bottleneck of a rate: `multiplier pm0, 249 MB/s`, `8 disks (d00, d10, d20 and 5 more), 150 MB/s each`."""
    if not resources:
        return "not known"
    first = resources[0]
    if len(resources) == 1:
        return f"{first.kind} {first.component}, {mb(first.bytes_per_second)} MB/s{_assumed(resources)}"
    kinds = {each.kind for each in resources}
    what = plural(first.kind) if len(kinds) == 1 else "components"
    same = len({mb(each.bytes_per_second) for each in resources}) == 1
    rate = f", {mb(first.bytes_per_second)} MB/s each" if same else ""
    return f"{len(resources)} {what} ({named([each.component for each in resources])}){rate}{_assumed(resources)}"


def _assumed(resources: Sequence[Resource]) -> str:
    return ", assumed" if any(each.assumed for each in resources) else ""


def more(array: Estimate) -> Iterator[str]:
    """Further lines on an array beside its rates."""
    read, write = array.alone.read.iops, array.alone.write.iops
    if read is not None and write is not None:
        yield f"random: {read:.0f} small reads or {write:.0f} small writes per second"
    rebuild = array.rebuild
    if rebuild.seconds is not None and rebuild.bytes_per_second is not None:
        yield f"rebuild: {duration(rebuild.seconds)} at {mb(rebuild.bytes_per_second)} MB/s ({rebuild.limit}), idle otherwise"
    if rebuild.read_error_bound:
        desktop, server = map(percent, rebuild.read_error_bound)
        repaired = "; it can be repaired" if (array.fate.losses_always_survived or 0) > 1 else ""
        odds = (
            f"{desktop} at 1 bit in 10^14"
            if desktop == server
            else f"{desktop} at 1 bit in 10^14, {server} at 10^15"
        )
        yield f"unreadable sector in a rebuild: {odds}, the most that data sheets allow for{repaired}"
    if array.stripe_cache_bytes:
        yield f"stripe cache: {human(array.stripe_cache_bytes)} of memory"
    yield from array.notes


def gain_words(gains: Sequence[Gain]) -> Iterator[tuple[str, str]]:
    """Advice that would make all arrays together faster, and the gain; the largest gain first."""
    for gain in gains:
        changes = [
            f"{verb} {mb(then)} MB/s in place of {mb(now)}"
            for verb, now, then in zip(("read", "write"), gain.now, gain.then, strict=True)
            if now is not None and then is not None and then > now * WORTH
        ]
        if changes:
            disks = counted(len(gain.disks), "disk")
            advice = ADVICE[gain.bottlenecks[0].kind].format(disks=disks)
            yield f"{bottleneck(gain.bottlenecks)}: {advice}", ", ".join(changes)


def missing_words(missing: Sequence[Missing]) -> Iterator[str]:
    """The facts that are not stated, each with whose they are."""
    facts = by_key((each.fact, each.of) for each in missing)
    yield from (f"the {fact} of {named(names)}" for fact, names in facts.items())


def named(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    return listed([visible(name) for name in names], most=NAMES, few=FEW)


def mb(rate: float | None) -> str:
    """Bytes per second as MB/s, a dash where it is not known."""
    if rate is None:
        return "-"
    # Slow links and test machines are told apart by their decimals.
    return f"{rate / 1e6:,.0f}" if rate >= 9.95e6 else f"{rate / 1e6:.1f}"


def percent(part: float) -> str:
    """A part of one: `15%`."""
    return "less than 1%" if 0 < part < 0.005 else f"{part:.0%}"
