"""Max-min fair sharing: the properties that define it, and a slow model that fills the links drop by drop."""

from __future__ import annotations

from math import inf, isinf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.estimate.fair import share

Needs = dict[int, dict[str, float]]
RESOURCES = "abcdef"
CLOSE = 1e-6


@st.composite
def networks(draw: st.DrawFn) -> tuple[Needs, dict[str, float]]:
    """Some flows, what each takes of some resources, and how much there is of most of them."""
    amounts = st.sampled_from((0.125, 0.25, 0.5, 1.0, 3.0))
    flow = st.dictionaries(st.sampled_from(RESOURCES), amounts, min_size=1)
    needs = dict(enumerate(draw(st.lists(flow, min_size=1, max_size=7))))
    limited = draw(st.sets(st.sampled_from(RESOURCES)))
    capacity = {name: draw(st.integers(1, 1000)) * 1.0 for name in sorted(limited)}
    return needs, capacity


def slowly(needs: Needs, capacity: dict[str, float]) -> dict[int, float]:
    """Progressive filling as the text books have it: raise all, freeze who is stopped, and again."""
    levels, rising = dict.fromkeys(needs, 0.0), set(needs)
    left = dict(capacity)
    while rising:
        total = {
            name: sum(needs[flow].get(name, 0) for flow in rising)
            for name in capacity
            if any(name in needs[flow] for flow in rising)
        }
        step = min((max(left[name], 0) / need for name, need in total.items()), default=inf)
        if isinf(step):
            return {flow: inf if flow in rising else level for flow, level in levels.items()}
        for flow in rising:
            levels[flow] += step
            for name, need in needs[flow].items():
                if name in left:
                    left[name] -= need * step
        full = {name for name in total if left[name] <= CLOSE * capacity[name]}
        rising = {flow for flow in rising if not full & set(needs[flow])}
    return levels


@given(networks())
def test_as_the_slow_model_has_it(network: tuple[Needs, dict[str, float]]) -> None:
    needs, capacity = network
    expected = slowly(needs, capacity)
    assert {flow: each.level for flow, each in share(needs, capacity).items()} == pytest.approx(expected)


@given(networks())
def test_no_resource_gives_more_than_it_has(network: tuple[Needs, dict[str, float]]) -> None:
    needs, capacity = network
    shares = share(needs, capacity)
    for name, most in capacity.items():
        used = sum(need[name] * shares[flow].level for flow, need in needs.items() if name in need)
        assert used <= most * (1 + CLOSE)


@given(networks())
def test_every_flow_has_a_full_resource_where_none_has_more(network: tuple[Needs, dict[str, float]]) -> None:
    needs, capacity = network
    shares = share(needs, capacity)
    for flow, each in shares.items():
        if not capacity.keys() & needs[flow].keys():
            assert each.level == inf and not each.bottlenecks
            continue
        assert each.bottlenecks
        for name in each.bottlenecks:
            users = [other for other, need in needs.items() if name in need]
            used = sum(needs[other][name] * shares[other].level for other in users)
            assert used == pytest.approx(capacity[name])
            assert max(shares[other].level for other in users) <= each.level * (1 + CLOSE)


@given(networks(), st.sampled_from(RESOURCES), st.floats(1, 100))
def test_more_bandwidth_never_lowers_the_least(
    network: tuple[Needs, dict[str, float]], name: str, times: float
) -> None:
    needs, capacity = network
    more = {each: most * (times if each == name else 1) for each, most in capacity.items()}
    before = min(each.level for each in share(needs, capacity).values())
    assert min(each.level for each in share(needs, more).values()) >= before * (1 - CLOSE)


def test_nothing_and_no_capacity() -> None:
    assert share({}, {"a": 1.0}) == {}
    assert share({0: {"a": 1.0}}, {"a": 0.0})[0].level == 0
