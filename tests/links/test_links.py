"""The links of every disk: rates from the table, rates of the layout's own, and facts that are missing."""

from __future__ import annotations

import pytest

from raidplan.document.read import parse_document
from raidplan.estimate.links import TABLE, Link, Links
from raidplan.layout.load import load_layout
from raidplan.topology.wiring import Wiring


def links(hardware: str) -> Links:
    """The links of a machine whose `hardware:` section is given as one flow mapping."""
    document, problems = parse_document(f"version: 1\nhost: h\nhardware: {hardware}\n", "x.yaml")
    assert document is not None and not problems
    layout, findings = load_layout(document)
    assert layout is not None, findings
    return Links(layout.hardware, Wiring(layout.hardware))


def of(disk: str, hardware: str) -> dict[str, Link]:
    """The links of one disk by kind and name, the nearest first."""
    return {f"{link.kind} {link.name}": link for link in links(hardware).of(disk)}


def line(bus: str) -> float | None:
    """MB/s on the line of a bus."""
    found = of("d", f"{{buses: {{b: {bus}}}, disks: {{d: {{behind: b}}}}}}")["bus b"].line
    return found and found / 1e6


@pytest.mark.parametrize(
    ("bus", "expected"),
    [
        ("{type: pci, width: 32, clock: 33MHz}", 133.3),
        ("{type: pci, width: 64, clock: 66MHz}", 533.3),
        ("{type: pci, width: 64, clock: 133MHz}", 1066.7),
        ("{type: pcie, generation: 1, lanes: 1}", 250),
        ("{type: pcie, generation: 2, lanes: 4}", 2000),
        ("{type: pcie, generation: 3, lanes: 8}", 7877),
        ("{type: pcie, generation: 4, lanes: 1}", 1969),
        ("{type: pcie, generation: 5, lanes: 4}", 15754),
        ("{type: dmi, generation: 1}", 1000),
        ("{type: dmi, generation: 2}", 2000),
        ("{type: dmi, generation: 3}", 3938),
        ("{type: dmi, generation: 3, lanes: 2}", 1969),
        ("{type: dmi, generation: 4, lanes: 8}", 15754),
        ("{type: usb, speed: 480Mbps}", 60),
        ("{type: usb, speed: 5Gbps}", 500),
        ("{type: usb, speed: 10Gbps}", 1212),
        ("{type: usb, speed: 40Gbps}", 4848),
        ("{type: thunderbolt, generation: 1}", 1250),
        ("{type: thunderbolt, generation: 2}", 2500),
        ("{type: thunderbolt, generation: 4}", 5000),
    ],
)
def test_line_rates_of_buses(bus: str, expected: float) -> None:
    assert line(bus) == pytest.approx(expected, rel=0.001)


@pytest.mark.parametrize(
    ("speed", "lanes", "expected"),
    [("3Gbps", 4, 1200), ("6Gbps", 4, 2400), ("12Gbps", 1, 1200), ("22.5Gbps", 4, 9600)],
)
def test_line_rates_of_sas(speed: str, lanes: int, expected: float) -> None:
    hardware = f"{{controllers: {{h: {{behind: b}}}}, expanders: {{x: {{behind: h, speed: {speed}, lanes: {lanes}}}}}, disks: {{d: {{behind: x}}}}}}"
    assert of("d", hardware)["expander x"].line == expected * 1e6


def test_a_usable_share_is_less_than_all_and_has_a_source() -> None:
    for row in TABLE.values():
        assert 0.5 < row.share < 1 and len(row.source) > 30, row


def test_the_path_leads_from_the_disk_to_the_root() -> None:
    found = of(
        "d",
        "{buses: {dmi: {type: dmi, generation: 2}, slot: {type: pcie, generation: 1, lanes: 4, behind: dmi}},"
        " controllers: {sil: {behind: slot, speed: 3Gbps, fis_switching: true}},"
        " multipliers: {pm: {behind: sil, speed: 6Gbps, switching: fis}},"
        " disks: {d: {behind: pm, link: 1.5Gbps}}}",
    )
    assert list(found) == ["port d", "multiplier pm", "bus slot", "bus dmi"]
    assert {name: link.line for name, link in found.items()} == {
        "port d": 150e6,
        "multiplier pm": 300e6,
        "bus slot": 1000e6,
        "bus dmi": 2000e6,
    }
    assert not [link.missing for link in found.values() if link.missing]


def test_a_measured_rate_takes_the_place_of_the_table() -> None:
    found = of(
        "d",
        "{buses: {pci: {type: pci, width: 32, clock: 33MHz, rate: 95MB/s}},"
        " controllers: {c: {behind: pci, speed: 3Gbps, rate: 90MB/s}},"
        " multipliers: {pm: {behind: c, switching: fis, rate: 85MB/s}}, disks: {d: {behind: pm}}}",
    )
    del found["port d"]
    assert [link.bytes_per_second for link in found.values()] == [85e6, 90e6, 95e6]
    assert {link.source for link in found.values()} == {"the layout's own rate"}


def test_an_expander_is_as_wide_as_the_narrower_end() -> None:
    found = of(
        "d",
        "{controllers: {h: {behind: b, speed: 3Gbps, lanes: 2}},"
        " expanders: {e0: {behind: h, speed: 6Gbps, lanes: 4}, e1: {behind: e0, lanes: 4}}, disks: {d: {behind: e1}}}",
    )
    assert found["expander e0"].line == 2 * 300e6
    assert found["expander e1"].line == 4 * 600e6


PM = "{{controllers: {{c: {{behind: b, speed: 3Gbps{}}}}}, multipliers: {{pm: {{behind: c{}}}}}, disks: {{d: {{behind: pm, rate: 90MB/s}}, e: {{behind: pm}}}}}}"


@pytest.mark.parametrize(
    ("controller", "multiplier"),
    [
        ("", ", switching: command"),
        (", fis_switching: false", ""),
        (", fis_switching: false", ", switching: fis"),
    ],
)
def test_command_based_switching_is_worth_one_disk(controller: str, multiplier: str) -> None:
    link = of("d", PM.format(controller, multiplier))["multiplier pm"]
    assert link.one_at_a_time and link.bytes_per_second == 90e6 and link.line == 300e6


def test_switching_that_is_not_stated_is_said_to_be_assumed() -> None:
    link = of("d", PM.format("", ""))["multiplier pm"]
    assert not link.one_at_a_time
    assert str(link.missing) == "the kind of switching (FIS is assumed) of pm"
    assert not of("d", PM.format(", fis_switching: true", ""))["multiplier pm"].missing


@pytest.mark.parametrize(
    ("hardware", "missing"),
    [
        ("{disks: {d: {}}}", {"the place (behind) of d"}),
        ("{controllers: {c: {}}, disks: {d: {behind: c}}}", {"the port speed of c", "the bus of c"}),
        ("{buses: {b: {type: pci, width: 32}}, disks: {d: {behind: b}}}", {"the width or clock of b"}),
        (
            "{buses: {b: {type: pcie, generation: 7, lanes: 4}}, disks: {d: {behind: b}}}",
            {"the generation or number of lanes of b"},
        ),
        (
            "{buses: {b: {type: dmi, generation: 4}}, disks: {d: {behind: b}}}",
            {"the generation or number of lanes of b"},
        ),
        ("{buses: {b: {type: usb}}, disks: {d: {behind: b}}}", {"the speed of b"}),
        ("{buses: {b: {type: thunderbolt, generation: 9}}, disks: {d: {behind: b}}}", {"the generation of b"}),
        ("{buses: {b: {type: other, speed: 3Gbps}}, disks: {d: {behind: b}}}", {"the rate of b"}),
        (
            "{controllers: {h: {behind: b, speed: 3Gbps}}, expanders: {x: {behind: h}}, disks: {d: {behind: x}}}",
            {"the port speed of x", "the lanes of the uplink of x"},
        ),
        (
            "{controllers: {c: {fis_switching: true, behind: b}}, multipliers: {pm: {behind: c}}, disks: {d: {behind: pm, link: 3Gbps}}}",
            {"the uplink speed of pm"},
        ),
    ],
)  # fmt: skip
def test_what_is_not_stated_is_named_and_no_number_invented(hardware: str, missing: set[str]) -> None:
    found = [link for link in links(hardware).of("d") if link.missing]
    assert {str(link.missing) for link in found} == missing
    assert {link.bytes_per_second for link in found} == {None}


def test_a_circle_and_an_unknown_name_end_the_path() -> None:
    circle = "{buses: {a: {type: usb, behind: b}, b: {type: usb, behind: a}}, disks: {d: {behind: a}}}"
    assert list(of("d", circle)) == ["bus a", "bus b"]
    assert of("d", "{disks: {d: {behind: nowhere}}}") == {}
    assert of("e", "{disks: {d: {}}}") == {}
