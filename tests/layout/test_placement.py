"""Pools: which members the planner picks, in which order, and why it cannot."""

from __future__ import annotations

from collections import Counter

import pytest

from raidplan.base.findings import Finding
from raidplan.document.read import parse_document
from raidplan.layout.load import load_layout
from raidplan.layout.model import Layout
from raidplan.placement import place
from tests.rules.stages import figures

H = "version: 1\nhost: jbod\n"
JBOD = (
    "hardware:\n  buses: {b<0-1>: {type: pcie}}\n"
    "  controllers: {c<0-3>: {behind: b<1:0/0/1/1>}}\n"
    "  multipliers: {pm<0-7>: {behind: c<1:0/0/1/1/2/2/3/3>}}\n"
    "  enclosures: {cage<0-1>: {disks: [d<1:0-1><0-4>]}}\n"
    "  disks: {d<0-7><0-4>: {behind: pm<1>, size: 3TB}}\n"
)


def layout(text: str) -> Layout:
    document, problems = parse_document(H + text, "x.yaml")
    assert document is not None and not problems
    made, findings = load_layout(document)
    assert made is not None, findings
    return made


def members(text: str) -> dict[str, tuple[str, ...]]:
    placed, _, findings = place(layout(text))
    assert not findings
    return {name: array.named_members for name, array in placed.arrays.items()}


def problems(text: str) -> list[Finding]:
    return place(layout(text))[2]


def pool(devices: str, count: int, spread: str = "multiplier", more: str = "") -> str:
    return f"{{level: raid6, members: {{from: [{devices}], count: {count}, spread: {spread}}}{more}}}"


def test_a_layout_without_pools_comes_back_as_it_is() -> None:
    given = layout(JBOD + "arrays: {s0: {level: raid1, members: [d00, d10]}}")
    assert place(given) == (given, (), [])


def test_forty_disks_behind_eight_multipliers() -> None:
    placed = members(JBOD + f"arrays: {{s<0-4>: {pool('d<0-7><0-4>', 8)}}}")
    assert placed == {f"s{k}": tuple(f"d{pm}{k}" for pm in range(8)) for k in range(5)}


def test_the_same_every_time() -> None:
    text = JBOD + f"arrays: {{s<0-3>: {pool('d<0-7><0-4>', 9, 'controller')}}}"
    assert members(text) == members(text)


@pytest.mark.parametrize(
    ("spread", "component"),
    [
        ("multiplier", lambda disk: disk[1]),
        ("controller", lambda disk: int(disk[1]) // 2),
        ("bus", lambda disk: int(disk[1]) // 4),
    ],
)
def test_spread_evenly(spread: str, component: object) -> None:
    assert callable(component)
    for chosen in members(JBOD + f"arrays: {{s<0-4>: {pool('d<0-7><0-4>', 8, spread)}}}").values():
        counts = Counter(component(disk) for disk in chosen).values()
        assert max(counts) - min(counts) == 0


def test_enclosures() -> None:
    chosen = members(JBOD + f"arrays: {{s: {pool('d<0-1><0-4>', 4, 'enclosure')}}}")["s"]
    assert chosen == ("d00", "d10", "d01", "d11")


def test_a_disk_that_shares_nothing_is_a_component_of_its_own() -> None:
    text = "hardware:\n  controllers: {c: {}}\n  multipliers: {pm: {behind: c}}\n"
    text += "  disks: {a<0-2>: {behind: pm}, b<0-2>: {behind: c}}\n"
    assert members(text + f"arrays: {{s: {pool('a<0-2>, b<0-2>', 4)}}}")["s"] == ("a0", "b0", "b1", "b2")


def test_what_is_used_elsewhere_is_not_taken() -> None:
    text = JBOD + f"arrays: {{s: {pool('d0<0-4>', 4)}}}\nswap: {{w: {{device: d01}}}}"
    assert members(text)["s"] == ("d00", "d02", "d03", "d04")


def test_explicit_members_and_spares_of_later_arrays_are_not_taken() -> None:
    text = (
        JBOD + f"arrays: {{s: {pool('d0<0-4>', 2)}, t: {{level: raid1, members: [d00, d10], spares: [d02]}}}}"
    )
    assert members(text)["s"] == ("d01", "d03")


def test_a_disk_with_partitions_is_not_free_as_a_whole() -> None:
    text = "hardware: {disks: {a: {partitions: {x: {size: 1GiB}}}, b: {}, c: {}}}\n"
    assert members(text + f"arrays: {{s: {pool('a, b, c', 2)}}}")["s"] == ("b", "c")


def test_two_partitions_of_a_disk_come_last() -> None:
    text = "hardware: {disks: {d<0-2>: {partitions: {x: {size: 1GiB}, z: {size: 1GiB}}}}}\n"
    chosen = members(text + f"arrays: {{s: {pool('d0.x, d0.z, d1.x, d1.z, d2.x', 4)}}}")["s"]
    assert chosen == ("d0.x", "d1.x", "d2.x", "d0.z")


def test_of_equal_devices_those_listed_first() -> None:
    text = JBOD + f"arrays: {{a: {{level: raid1, members: [d00, d01]}}, s: {pool('d0<2-4>, d1<0-2>', 2)}}}"
    assert members(text)["s"] == ("d02", "d10")
    # On four multipliers that hang on four controllers, two on each bus and in each cage that there is.
    assert members(JBOD + f"arrays: {{s: {pool('d<0-7><0-4>', 4)}}}")["s"] == ("d00", "d20", "d40", "d60")


def test_too_few_are_free() -> None:
    text = JBOD + f"arrays: {{a: {{level: raid1, members: [d00, d01]}}, s: {pool('d0<0-4>', 4)}}}"
    (finding,) = problems(text)
    assert (finding.rule, finding.path) == ("pool-too-small", ("arrays", "s", "members", "count"))
    assert figures(finding.message, "s") == "s 4 3 5" and figures(finding.hint, "arrays.a") == "arrays.a"


def test_an_unknown_device() -> None:
    (finding,) = problems(JBOD + f"arrays: {{s: {pool('d00, d000', 2)}}}")
    assert (finding.rule, finding.path) == ("unknown-device", ("arrays", "s", "members", "from", 1))
    assert "'d000'" in finding.message and finding.hint.startswith("did you mean 'd")


def test_no_members() -> None:
    (finding,) = problems(JBOD + f"arrays: {{s: {pool('d00', 0)}}}")
    assert (finding.rule, finding.path) == ("invalid-value", ("arrays", "s", "members", "count"))


def test_a_pool_of_arrays() -> None:
    text = (
        JBOD + "arrays: {" + ", ".join(f"m{n}: {{level: raid1, members: [d{n}0, d{n}1]}}" for n in range(4))
    )
    assert members(text + f", s: {pool('m<0-3>', 4)}}}")["s"] == ("m0", "m1", "m2", "m3")
