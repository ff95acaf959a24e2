"""Random problems of placement, and what is chosen for them."""

from __future__ import annotations

from hypothesis import strategies as st

from raidplan.placement.problem import UNKNOWN, Demand, Device, Problem
from raidplan.placement.slots import in_slots
from raidplan.placement.solve import solve

KINDS = ("multiplier", "controller", "bus", "enclosure")


def chosen(problem: Problem) -> list[tuple[int, ...]]:
    return [
        in_slots(problem, demand, members)
        for demand, members in zip(problem.demands, solve(problem), strict=True)
    ]


@st.composite
def problems(draw: st.DrawFn, disks: tuple[int, int], arrays: int) -> Problem:
    """Disks on a random tree with random links, in random enclosures; arrays of all levels and kinds of spread."""
    buses = [f"b{n}" for n in range(draw(st.integers(1, 2)))]
    controllers = {f"c{n}": draw(st.sampled_from(buses)) for n in range(draw(st.integers(1, 3)))}
    multipliers = {f"pm{n}": draw(st.sampled_from([*controllers])) for n in range(draw(st.integers(1, 4)))}
    rates = draw(st.sampled_from([[UNKNOWN], [100.0], [100.0, 60.0], [100.0, 90.0, 80.0, 70.0, 60.0]]))
    devices, component = [], {kind: dict[int, str]() for kind in KINDS}
    for n in range(draw(st.integers(*disks))):
        pm = draw(st.sampled_from([*multipliers, ""]))
        controller = multipliers[pm] if pm else draw(st.sampled_from([*controllers]))
        links = (*([pm] if pm else []), controller, controllers[controller])
        disk = f"d{n - 1 if n and draw(st.integers(0, 9)) == 0 else n}"
        port = draw(st.sampled_from([UNKNOWN, UNKNOWN, UNKNOWN, 65.0]))
        devices.append(Device(f"d{n}.x", disk, draw(st.sampled_from(rates)), links, port))
        names = (pm or f"disk d{n}", controller, controllers[controller], f"e{draw(st.integers(0, 3))}")
        for kind, name in zip(KINDS, names, strict=True):
            component[kind][n] = name
    capacity = {
        link: draw(st.sampled_from([100.0, 120.0, 200.0, 300.0]))
        for link in (*multipliers, *controllers, *buses)
        if draw(st.booleans())
    }
    demands, left = list[Demand](), len(devices)
    for n in range(draw(st.integers(1, arrays))):
        if left < 2:
            break
        level = draw(st.sampled_from(["raid0", "raid1", "raid5", "raid6", "raid10", "raid10"]))
        count = draw(st.integers(min(left, 4 if level == "raid6" else 2), left))
        copies = draw(st.integers(1, min(count, 3)))
        layout = f"{draw(st.sampled_from('nfo'))}{copies}" if level == "raid10" else None
        kind = draw(st.sampled_from(KINDS))
        whole = draw(st.integers(0, 3)) > 0
        pool = sorted(draw(st.sets(st.sampled_from(range(len(devices))), min_size=count)))
        numbers = tuple(range(len(devices))) if whole else tuple(pool)
        demands.append(
            Demand(f"s{n}", level, layout, count, kind, numbers, {d: component[kind][d] for d in numbers})
        )
        left -= count
        if draw(st.booleans()) and left >= count:
            demands.append(demands[-1])
            left -= count
    return Problem(tuple(devices), tuple(demands), capacity)
