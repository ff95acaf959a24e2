"""Random problems of placement, and what is chosen for them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from raidplan.placement.deal import deal
from raidplan.placement.problem import UNKNOWN, Choice, Demand, Device, Part, Picked, Problem
from raidplan.placement.slots import in_slots
from raidplan.placement.solve import solve


def chosen(problem: Problem) -> Choice:
    return tuple(
        Picked(in_slots(problem, demand, picked.members), picked.spares)
        for demand, picked in zip(problem.demands, solve(problem, deal(problem)[0]), strict=True)
    )


def short(problem: Problem) -> bool:
    return bool(deal(problem)[1])


def problem(draw: Random, disks: tuple[int, int], arrays: int) -> Problem:
    """Disks on a random tree with random links, in enclosures, on supplies; arrays of all levels and kinds of spread."""
    buses = [f"b{n}" for n in range(draw.randint(1, 2))]
    above = {f"c{n}": draw.choice(buses) for n in range(draw.randint(1, 3))}
    above |= {f"pm{n}": draw.choice([c for c in above if c[0] == "c"]) for n in range(draw.randint(0, 4))}
    root = draw.random() < 0.2  # a bus behind the buses
    parts = [
        Part(name, {"b": "bus", "c": "controller", "p": "multiplier"}[name[0]]) for name in (*buses, *above)
    ]
    parts += [Part("root", "bus")] * root
    parts += [Part(f"e{n}", "enclosure") for n in range(draw.choice([0, 2, 3]))]
    parts += [Part(f"psu{n}", "power") for n in range(draw.choice([0, 0, 2]))]
    rates = draw.choice([[UNKNOWN], [100.0], [100.0, 60.0], [100.0, 90.0, 80.0, 70.0, 60.0]])
    sizes = draw.choice([[1000], [1000], [1000, 4000], [1000, 2000, 3000, 4000]])
    media = draw.choice([[None], [True], [True, False], [True, False, None]])
    sectors = draw.choice([[512], [512], [512, 4096]])
    devices = list[Device]()
    for n in range(draw.randint(*disks)):
        twin = devices[-1] if n and draw.random() < 0.1 else None
        link = draw.choice(list(above))
        links = (link, above[link]) if link[0] == "c" else (link, above[link], above[above[link]])
        where = {*links, *(["root"] if root else [])}
        for kind, share in (("enclosure", 0.9), ("power", 1.0)):
            names = [part.name for part in parts if part.kind == kind]
            where |= {draw.choice(names)} if names and draw.random() < share else set()
        numbers = frozenset(number for number, part in enumerate(parts) if part.name in where)
        disk, numbers, links = (twin.disk, twin.parts, twin.links) if twin else (f"d{n}", numbers, links)
        devices.append(
            Device(
                *(f"d{n}.x", disk, numbers, draw.choice(sizes), draw.choice(media), draw.choice(sectors)),
                *(draw.choice(rates), links, draw.choice([UNKNOWN, UNKNOWN, UNKNOWN, 65.0])),
            )
        )
    capacity = {
        name: draw.choice([100.0, 120.0, 200.0, 300.0]) for name in (*buses, *above) if draw.random() < 0.5
    }
    kinds = [*dict.fromkeys(part.kind for part in parts), None, "expander"]
    demands, left = list[Demand](), len(devices)
    for n in range(draw.randint(1, arrays)):
        if left < 2:
            break
        level = draw.choice(["raid0", "raid1", "raid5", "raid6", "raid10", "raid10"])
        count = draw.randint(min(left, 4 if level == "raid6" else 2), min(left, 6))
        layout = f"{draw.choice('nfo')}{draw.randint(1, min(count, 3))}" if level == "raid10" else None
        spares = min(left - count, draw.choice([0, 0, 0, 1, 1, 2])) if level != "raid0" else 0
        pool = tuple(range(len(devices)))
        if draw.random() < 0.25:
            pool = tuple(sorted(draw.sample(pool, draw.randint(count + spares, len(pool)))))
        kind = draw.choice(kinds)
        for twin_number in range(draw.choice([1, 1, 2])):
            if left >= count + spares:
                demands.append(Demand(f"s{n}{twin_number}", level, layout, count, kind, pool, spares))
                left -= count + spares
    if draw.random() < 0.4:  # sets of supplies, of which one is enough
        sets = [f"set{n}" for n in range(draw.randint(1, 3))]
        parts += [Part(name, "power", (f"{name}a", f"{name}b")) for name in sets]
        for n, device in enumerate(devices):
            own = {len(parts) - 1 - draw.randrange(len(sets)) for _ in range(draw.choice([0, 1, 1, 1, 2]))}
            devices[n] = replace(device, parts=device.parts | own)
    return Problem(tuple(devices), tuple(demands), tuple(parts), capacity)
