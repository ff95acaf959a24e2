"""The rate that decides between members that are equal in all else is the one that `estimate` gives the array."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidplan.base.levels import losses_survived
from raidplan.document import parse_document
from raidplan.estimate.estimate import estimate
from raidplan.estimate.result import Estimate
from raidplan.layout.load import load_layout
from raidplan.layout.model import Layout
from raidplan.placement import place
from raidplan.topology import Topology, resolve
from tests.placement import brute

pytestmark = pytest.mark.slow

READ = ("raid0", "raid5", "raid6", "raid10, layout: f2", "raid10, layout: o2")
"""Every member reads. Of the others one of several does, and all of them write."""
WRITTEN = ("raid1", "raid4", "raid10")


def loaded(text: str) -> Layout:
    document, problems = parse_document(f"version: 1\nhost: h\n{text}", "x.yaml")
    assert document is not None and not problems
    layout, findings = load_layout(document)
    assert layout is not None, findings
    return layout


def rate(found: Estimate, level: str) -> float:
    """What counts of an array: its sequential read; of mirrors and of parity with a disk of its own, the write."""
    figure = found.alone.read if level in READ else found.alone.write
    return figure.bytes_per_second or 0


def goals(topology: Topology, pool: list[str], members: tuple[str, ...], level: str) -> tuple[object, ...]:
    """The goals before the rate: components that hold too many, evenness, copies together, copies that meet."""
    hardware = topology.layout.hardware
    card = {disk: hardware.disks[disk].behind or "" for disk in pool}
    bus = {disk: hardware.controllers[card[disk]].behind or "" for disk in pool}
    bears = len(members) // 2 if level == "raid10" else losses_survived(level, len(members), None)
    dying, uneven = 0, []
    for on in (card, bus):
        held = Counter(on[disk] for disk in members)
        dying += sum(many > bears > 0 for many in held.values())
        uneven.append(sum(many * many for many in held.values()))
    layout = topology.layout.arrays["s"].effective_layout
    where = [{card[disk], bus[disk]} for disk in members]
    every = set.intersection(*where)
    met = (
        brute.met(layout or "n2", tuple(frozenset(each - every) for each in where))
        if level == "raid10"
        else ()
    )
    return dying, *uneven, met


@pytest.mark.parametrize(
    ("disk", "said"),
    [
        ("size: 4TB, rotational: true", ", d0, has 210 MB/s, assumed"),
        ("size: 12TB", ", d0, has 261 MB/s, assumed"),
        ("size: 1TB, rotational: false", ", d0, has 552 MB/s"),
        ("size: 1TB, rotational: false, link: 3Gbps", ", d0, has 276 MB/s"),
        ("size: 4TB, rate: 150MB/s", ", d0, has 150 MB/s"),
        ("size: 4TB, rate: 550MB/s, link: 1.5Gbps", ", d0, has 138 MB/s"),
    ],
)
def test_the_figure_that_is_said_is_the_one_of_the_estimate(disk: str, said: str) -> None:
    """A hard disk that stated no rate was as fast as its cable."""
    text = f"hardware: {{controllers: {{c: {{speed: 6Gbps}}}}, disks: {{d<0-3>: {{behind: c, {disk}}}}}}}\n"
    pool = "{level: raid5, members: {from: [d<0-3>], count: 3}}"
    layout, placed, _ = place(loaded(f"{text}arrays: {{s: {pool}, t: {{level: raid0, members: [d3]}}}}"))
    assert placed[0].why[-1].endswith(f"slowest member{said}")
    array = estimate(resolve(layout)[0]).arrays[0]
    limit = array.alone.read.bottlenecks[0]
    assert f"{limit.bytes_per_second / 1e6:.0f} MB/s" in said and limit.assumed == ("assumed" in said)


@st.composite
def machines(draw: st.DrawFn) -> tuple[str, int]:
    """Up to seven disks on up to three controllers on one or two buses: links and disks of unlike rates."""
    disks, controllers = draw(st.integers(4, 7)), draw(st.integers(1, 3))
    speeds = st.sampled_from((40, 60, 100, 130, 150, 200, 260, 300, 400))
    wires = ", ".join(f"b{n}: {{type: other, rate: {2 * draw(speeds)}MB/s}}" for n in range(2))
    cards = ", ".join(
        f"c{n}: {{behind: b{draw(st.integers(0, 1))}, speed: {draw(st.sampled_from(('1.5Gbps', '6Gbps')))}, "
        f"rate: {draw(speeds)}MB/s}}"
        for n in range(controllers)
    )
    each = ", ".join(
        f"d{n}: {{behind: c{draw(st.integers(0, controllers - 1))}, size: 1TB, rate: {draw(speeds)}MB/s}}"
        for n in range(disks)
    )
    return f"hardware: {{buses: {{{wires}}}, controllers: {{{cards}}}, disks: {{{each}}}}}\n", disks


@pytest.mark.drawn(3)
@pytest.mark.parametrize("level", (*READ, *WRITTEN))
@settings(max_examples=12, deadline=None)
@given(machine=machines(), data=st.data())
def test_no_members_that_are_as_safe_are_faster(
    level: str, machine: tuple[str, int], data: st.DataObject
) -> None:
    text, disks = machine
    count = data.draw(st.sampled_from((4, 5) if disks > 4 and "raid10" not in level else (4,)))
    pool = [f"d{n}" for n in range(disks)]
    names = ", ".join(pool)
    wanted = f"{{level: {level}, members: {{from: [{names}], count: {count}, spread: controller}}}}"
    layout = place(loaded(f"{text}arrays: {{s: {wanted}}}"))[0]
    chosen = layout.arrays["s"].named_members

    def graded(members: tuple[str, ...]) -> tuple[tuple[object, ...], float]:
        array = layout.arrays["s"].changed(members=members)
        topology = resolve(layout.changed(arrays={"s": array}))[0]
        (found,) = estimate(topology).arrays
        return goals(topology, pool, members, level.partition(",")[0]), rate(found, level)

    safety, speed = graded(chosen)
    for members in combinations(pool, count):
        orders = list(permutations(members))[:: 5 if count == 4 else 40] if "raid10" in level else [members]
        for order in orders:
            other, faster = graded(order)
            assert other >= safety, (chosen, order)
            assert other > safety or faster <= speed * (1 + 1e-9), (chosen, order)
