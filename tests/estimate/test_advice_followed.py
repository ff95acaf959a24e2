"""Estimates' advice done in the layout: what comes of it is what was promised."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidplan.estimate.result import Estimate, Estimates
from tests.estimate.layouts import MB, array, estimates

BEYOND = 99_000
"""MB/s of a part that is in nobody's way."""
ARRAYS = {
    "a mirror": "t: {level: raid1, members: [d0, d1]}",
    "a mirror of three, and one of two": "s: {level: raid1, members: [d0, d1, d2]}, t: {level: raid1, members: [d3, d4]}",
    "a stripe of mirrors": "s: {level: raid1, members: [d0, d1]}, t: {level: raid1, members: [d2, d3]}, o: {level: raid0, members: [s, t]}",
    "a mirror of stripes": "s: {level: raid0, members: [d0, d1]}, t: {level: raid0, members: [d2, d3]}, o: {level: raid1, members: [s, t]}",
    "raid10 beside raid5": "s: {level: raid10, members: [d0, d1, d2, d3]}, t: {level: raid5, members: [d4, d5, d6]}",
    "three copies beside a chain": "s: {level: raid10, layout: n3, members: [d0, d1, d2, d3, d4, d5]}, t: {level: linear, members: [d6, d7]}",
    "raid6 and a pair": "s: {level: raid6, members: [d0, d1, d2, d3, d4]}, t: {level: raid1, members: [d5, d6]}",
}


@dataclass(frozen=True)
class Drawn:
    """A machine of eight disks on three cards of two buses: the rate of each part, and the arrays."""

    rates: dict[str, int]
    arrays: str

    def estimated(self) -> Estimates:
        def rated(name: str, more: str) -> str:
            return f"{name}: {{{more}, rate: {self.rates[name]}MB/s}}"

        buses = ", ".join(rated(f"b{n}", "type: other") for n in range(2))
        cards = ", ".join(rated(f"c{n}", f"behind: b{n % 2}") for n in range(3))
        disks = ", ".join(rated(f"d{n}", f"behind: c{n % 3}") for n in range(8))
        return estimates(
            f"hardware: {{buses: {{{buses}}}, controllers: {{{cards}}}, disks: {{{disks}}}}}\narrays: {{{self.arrays}}}"
        )

    def improved(self, names: list[str]) -> Drawn:
        return replace(self, rates={**self.rates, **dict.fromkeys(names, BEYOND)})


machines = st.builds(
    Drawn,
    st.fixed_dictionaries(
        {name: st.sampled_from((80, 100, 250, 400)) for name in ("b0", "b1", "c0", "c1", "c2")}
        | {f"d{n}": st.sampled_from((60, 100, 100, 200)) for n in range(8)}
    ),
    st.sampled_from(sorted(ARRAYS.values())),
)


def outermost(found: Estimates) -> list[Estimate]:
    return [each for each in found.arrays if each.name == "o"] or [*found.arrays]


@settings(max_examples=25)
@given(machines)
def test_an_improvement_gives_the_promised_rates(drawn: Drawn) -> None:
    """`read 552 in place of 100` was promised of one member of a mirror, whose other member reads 200."""
    for gain in drawn.estimated().gains:
        after = drawn.improved([each.component for each in gain.bottlenecks]).estimated()
        together = [each.together for each in outermost(after)]
        read = sum(each.read.bytes_per_second or 0 for each in together)
        write = sum(each.write.bytes_per_second or 0 for each in together)
        assert (read, write) == pytest.approx(gain.then)


@settings(max_examples=25)
@given(machines)
def test_without_its_bottleneck_an_array_is_as_fast_as_it_says(drawn: Drawn) -> None:
    for number, each in enumerate(drawn.estimated().arrays):
        for way in ("read", "write"):
            rate = getattr(each.alone, way)
            after = drawn.improved([one.component for one in rate.bottlenecks]).estimated().arrays[number]
            # Of bottlenecks that are all that it needs, nothing else is left to bound it.
            left = min(getattr(after.alone, way).bytes_per_second, BEYOND * MB)
            assert left == pytest.approx(rate.relieved or BEYOND * MB)


CARDS = "hardware: {controllers: {c<0-1>: {ports: 8, speed: 6Gbps}}, disks: {a<0-3>: {behind: c0, rate: %sMB/s}, b<0-3>: {behind: c1, rate: 200MB/s}}}\narrays: {%s}"
PAIR, STRIPE = "s: {level: raid1, members: [a0, b0]}", "s: {level: raid0, members: [m<0-3>]}"
BY_HAND = {
    "the slower member": (CARDS % (100, PAIR), ["a0"], 100, 200),
    "members alike are both in the way; then each has its port": (CARDS % (200, PAIR), ["a0", "b0"], 200, 552),
    "four slow halves of a stripe of mirrors": (
        CARDS % (100, f"m<0-3>: {{level: raid1, members: [a<1>, b<1>]}}, {STRIPE}"),
        ["a0", "a1", "a2", "a3"],
        400,
        800,
    ),
    "the slow half of a mirror of stripes": (
        CARDS % (100, "l: {level: raid0, members: [a0, a1]}, r: {level: raid0, members: [b0, b1]}, s: {level: raid1, members: [l, r]}"),
        ["a0", "a1"],
        200,
        400,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "names", "read", "then"), BY_HAND.values(), ids=BY_HAND)
def test_the_read_of_a_mirror_by_hand(text: str, names: list[str], read: int, then: int) -> None:
    rate = array(text).alone.read
    assert [each.component for each in rate.bottlenecks] == names
    assert (rate.bytes_per_second, rate.relieved) == pytest.approx((read * MB, then * MB))
