"""What is free in a machine, held against counting it the long way."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from raidplan.rules.lib.free_devices import (
    fitting,
    free_disks,
    free_ports,
    own_ports,
    room_elsewhere,
    roomiest,
    with_ports,
)
from tests.rules.machines import machine


@st.composite
def cards(draw: st.DrawFn) -> tuple[str, list[int], list[int]]:
    """A machine of up to five cards with some members on each, the free ports of each, and the members."""
    members = draw(st.lists(st.integers(0, 3), min_size=2, max_size=5).filter(any))
    spare = [draw(st.integers(0, 4)) for _ in members]
    lines = [
        f"c{n}: {{{f'ports: {count + more}' if count + more else ''}}}"
        for n, (count, more) in enumerate(zip(members, spare, strict=True))
    ]
    disks = [(f"d{n}{k}", n) for n, count in enumerate(members) for k in range(count)]
    text = f"hardware:\n  controllers: {{{', '.join(lines)}}}\n  disks: {{"
    text += ", ".join(f"{disk}: {{behind: c{n}, size: 1TB}}" for disk, n in disks) + "}\n"
    return (
        text + f"arrays: {{s: {{level: raid1, members: [{', '.join(disk for disk, _ in disks)}]}}}}",
        spare,
        members,
    )


@settings(max_examples=60, deadline=None)
@given(cards(), st.integers(0, 4), st.data())
def test_room_elsewhere_is_what_counting_gives(
    card: tuple[str, list[int], list[int]], keeps: int, data: st.DataObject
) -> None:
    text, spare, members = card
    made = machine(text)
    assert list(made.once(free_ports).values()) == list(made.once(own_ports).values()) == spare
    crowded = data.draw(st.integers(0, len(spare) - 1))
    room = sum(min(free, max(0, keeps - members[n])) for n, free in enumerate(spare) if n != crowded)
    assert room_elsewhere(made, "s", f"c{crowded}", keeps) == room


MIXED = """\
hardware:
  buses: {u: {type: usb}}
  controllers: {a: {ports: 3}, b: {ports: 9}, c: {behind: u, ports: 40}, none: {}}
  multipliers: {pm: {behind: a, ports: 5}}
  disks:
    d<0-1>: {behind: a, size: 2TB, rotational: true}
    big: {size: 3TB, rotational: true}
    same: {size: 2TB, rotational: true}
    small: {size: 1999GB, rotational: true}
    solid: {size: 4TB, rotational: false}
    parted: {size: 4TB, rotational: true, partitions: {x: {size: 1GB}}}
    unknown: {rotational: true}
arrays: {s: {level: raid1, members: [d<0-1>]}}
"""


def test_free_disks_that_fit() -> None:
    made = machine(MIXED)
    assert made.once(free_disks) == ["small", "same", "big", "solid"]
    array = made.layout.arrays["s"]
    assert fitting(made, array, made.once(free_disks)) == ["same", "big"]
    assert fitting(made, array, made.once(free_disks), 1) == ["same"]
    assert fitting(made, array, []) == []


def test_free_ports_of_controllers() -> None:
    made = machine(MIXED)
    assert made.once(own_ports) == {"a": 0, "b": 9, "c": 40, "none": 0}
    assert made.once(free_ports) == {"a": 5, "b": 9, "c": 40, "none": 0}
    assert with_ports(made, lambda name: True) == "b has 9 free ports"
    assert with_ports(made, lambda name: True, ports=roomiest) == "b has 9 free ports, a 5 behind it"
    assert with_ports(made, lambda name: name == "c") == ""
