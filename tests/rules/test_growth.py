"""No rule looks at everything once for each thing: twice the machine is at most about twice the work."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType

import pytest

from raidplan.document.read import parse_document
from raidplan.layout.load import load_layout
from raidplan.rules import RULES, Rule
from raidplan.topology import Topology, resolve

MACHINE = """\
version: 1
host: example
workload: database
hardware:
  memory: 16GiB
  buses: {{b<0-{c}>: {{type: pcie, generation: 2, lanes: 1}}}}
  controllers: {{c<0-{c}>: {{behind: b<1>, ports: 9, speed: 3Gbps}}}}
  multipliers: {{pm<00-{n}>: {{behind: c0, ports: 6, speed: 3Gbps}}}}
  enclosures: {{shelf<00-{n}>: {{disks: [d<1><0-4>]}}}}
  power: {{psu<00-{n}>: {{watts: 50, amps_12v: 10, feeds: [d<1><0-4>]}}}}
  disks:
    d<00-{n}><0-4>: {{behind: pm<1>, port: <2>, serial: SERIAL<1><2>, model: M, size: 3TB, rate: 150MB/s,
                     iops: 75, rotational: true{parts}}}
"""
PARTS = ", partitions: {a: {size: 1TB}, b: {size: rest}}"
SHAPES = {
    "an array behind each multiplier, swap everywhere": """\
arrays: {{s<00-{n}>: {{level: raid5, members: [d<1><0-4>.b]}}}}
swap: {{w<00-{n}><0-4>: {{device: d<1><2>.a, priority: 5}}}}
filesystems: {{f<00-{n}>: {{device: s<1>, type: ext4, mount: /srv/<1>}}}}
""",
    "one raid10": """\
arrays: {{s: {{level: raid10, members: [d<00-{n}><0-4>]}}}}
""",
    "one raid6 and spares": """\
arrays: {{s: {{level: raid6, members: [d<00-{n}><0-2>], spares: [d<00-{n}><3-4>]}}}}
""",
    "many free disks": """\
arrays: {{s<00-{n}>: {{level: raid5, members: [d<1><0-2>]}}}}
""",
    "pairs joined": """\
arrays:
  s<00-{n}>: {{level: raid1, members: [d<1><0-1>], spares: [d<1>2]}}
  big: {{level: raid0, members: [s<00-{n}>]}}
""",
    "pairs joined by LVM": """\
arrays: {{s<00-{n}>: {{level: raid1, members: [d<1><0-1>]}}}}
volume_groups: {{vg: {{devices: [s<00-{n}>], volumes: {{v<00-{n}>: {{size: 1GiB}}}}}}}}
filesystems: {{f<00-{n}>: {{device: vg.v<1>, type: xfs, mount: /srv/<1>}}}}
""",
    "two arrays on each disk": """\
arrays:
  s<00-{n}>: {{level: raid5, members: [d<1><0-4>.a]}}
  t<00-{n}>: {{level: raid6, members: [d<1><0-4>.b]}}
""",
}
SMALL, LARGE = 24, 48
MOST_GROWTH, SLACK = 2.3, 400


def machine(shape: str, multipliers: int) -> Topology:
    text, parts = MACHINE + SHAPES[shape], PARTS if ".a" in SHAPES[shape] else ""
    text = text.format(n=f"{multipliers - 1:02}", c=multipliers // 8 - 1, parts=parts)
    document, problems = parse_document(text, "x.yaml")
    assert document is not None and not problems
    layout, findings = load_layout(document)
    assert layout is not None, findings
    return resolve(layout)[0]


def work(topology: Topology) -> Counter[str]:
    """How many functions each rule calls, with each step of a generator counted."""
    return Counter({name: _calls(each, topology) for name, each in RULES.items()})


def _calls(each: Rule, topology: Topology) -> int:
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        for _ in each.search(topology):
            pass
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_machine_is_twice_the_work(shape: str) -> None:
    small, large = work(machine(shape, SMALL)), work(machine(shape, LARGE))
    grown = {name: (small[name], n) for name, n in large.items() if n > MOST_GROWTH * small[name] + SLACK}
    assert grown == {}
