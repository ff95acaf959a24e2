"""The rules and the estimate say the same of a rebuild: one figure in a review, wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidplan.base.levels import LEVELS
from raidplan.estimate.estimate import estimate
from raidplan.review.pipeline import check
from raidplan.rules.rebuild import pace
from raidplan.topology import Topology

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


def both(topology: Topology) -> list[tuple[float, float]]:
    """Bytes per second of each member: the rules' and the estimate's, of arrays where both know it."""
    pairs = []
    for each in estimate(topology).arrays:
        array = topology.layout.arrays[each.name]
        known = pace(topology, each.name, array)
        if known is not None and each.rebuild.bytes_per_second is not None and LEVELS[array.level].redundant:
            pairs.append((known[0], each.rebuild.bytes_per_second))
    return pairs


def test_for_every_example() -> None:
    pairs = []
    for file in EXAMPLES:
        topology = check(str(file)).topology
        assert topology is not None, file
        pairs += both(topology)
    assert len(pairs) > 30
    for rule, estimated in pairs:
        assert rule == pytest.approx(estimated, rel=1e-6)


@settings(max_examples=60)
@given(
    rates=st.lists(st.integers(10, 400), min_size=4, max_size=6),
    link=st.integers(20, 900),
    turning=st.sampled_from(["", ", rotational: true", ", rotational: false"]),
    most=st.sampled_from(["", ", sync_speed_max: 50MB/s"]),
)
def test_for_any_rates(
    rates: list[int], link: int, turning: str, most: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    disks = "\n".join(
        f"    d{n}: {{behind: c0, serial: S{n}, size: 1TB, rate: {rate}MB/s{turning}}}"
        for n, rate in enumerate(rates)
    )
    file = tmp_path_factory.mktemp("any") / "layout.yaml"
    file.write_text(
        f"version: 1\nhost: any\nhardware:\n  controllers: {{c0: {{rate: {link}MB/s}}}}\n  disks:\n{disks}\n"
        f"arrays: {{s0: {{level: raid5, members: [d<0-{len(rates) - 1}>]{most}}}}}\n"
    )
    topology = check(str(file)).topology
    assert topology is not None
    [(rule, estimated)] = both(topology)
    assert rule == pytest.approx(estimated, rel=1e-6)
