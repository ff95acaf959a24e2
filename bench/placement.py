"""`python -m bench.placement`: how placement grows, 125 to 2,000 disks behind multipliers of eight, all of them in arrays of ten from one pool."""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass
from random import Random

from raidplan.layout.load import layout_of
from raidplan.layout.model import Layout
from raidplan.placement import place

DISKS = (125, 250, 500, 1000, 2000)


@dataclass(frozen=True)
class Series:
    """A kind of machine; every array lists all disks."""

    name: str
    mixed: bool = False
    """Disks of three sizes, three rates and two media take turns; else all are alike."""
    cages: str = ""
    """Enclosures: `across` ones of ten disks of as many multipliers, `anyhow` ten disks each, `few` twelve in all."""
    controllers: int = 0
    """How many; 0: one for five multipliers."""
    level: str = "raid6"
    spread: str | None = "multiplier"
    spares: int = 0
    supplies: int = 0
    """Pairs of supplies of which one is enough; they feed the cages in turn."""


SERIES = (
    Series("disks of one kind"),
    Series("disks of many kinds", mixed=True),
    Series("cages across multipliers", cages="across"),
    Series("and disks of many kinds", cages="across", mixed=True),
    Series("cages anyhow, many kinds", cages="anyhow", mixed=True),
    Series("no spread, many kinds", cages="across", mixed=True, spread=None),
    Series("twelve large cages", cages="few", mixed=True),
    Series("and eight controllers", cages="few", mixed=True, controllers=8, spread="controller"),
    Series("mirrors in cages", cages="across", mixed=True, level="raid10"),
    Series("a spare for each array", cages="across", mixed=True, spares=1),
    Series("pairs of supplies", cages="few", mixed=True, supplies=4),
    Series("mirrors, pairs of supplies", cages="few", mixed=True, level="raid10", supplies=4),
)


def layout(disks: int, series: Series) -> Layout:
    """Arrays of ten devices over all disks."""
    names = [f"d{n}" for n in range(disks)]
    multipliers = disks // 8 + 1
    controllers = series.controllers or multipliers // 5 + 1
    pool = {"from": names, "count": str(10 - series.spares), "spares": str(series.spares)}
    cages = _cages(names, series.cages)
    hardware = {
        "controllers": {f"c{n}": {"speed": "3Gbps"} for n in range(controllers)},
        "multipliers": {f"p{n}": {"behind": f"c{n % controllers}"} for n in range(multipliers)},
        "enclosures": {name: {"disks": held} for name, held in cages.items()},
        "power": {
            f"pair{n}{of}": {"feeds": [*cages][n :: series.supplies]}
            for n in range(series.supplies)
            for of in "ab"
        },
        "disks": {
            name: {"behind": f"p{n // 8}", **_kind(n if series.mixed else 0)} for n, name in enumerate(names)
        },
    }
    members = pool | ({"spread": series.spread} if series.spread else {})
    arrays = {f"s{n}": {"level": series.level, "members": members} for n in range(disks // 10)}
    return layout_of({"version": "1", "host": "bench", "hardware": hardware, "arrays": arrays})


def _cages(names: list[str], how: str) -> dict[str, list[str]]:
    if not how:
        return {}
    if how == "anyhow":
        names = Random(1).sample(names, len(names))
    cages = 12 if how == "few" else -(-len(names) // 10)
    return {f"e{n}": names[n::cages] for n in range(cages)}


def _kind(number: int) -> dict[str, str]:
    return {
        "size": ("3TB", "4TB", "2TB")[number % 3],
        "rate": f"{150 - 20 * (number // 2 % 3)}MB/s",
        "rotational": "false" if number // 3 % 4 == 1 else "true",
    }


def main() -> None:
    """Prints the processor's time for placing all arrays, and its growth."""
    for series in SERIES:
        print(f"{series.name:26} {'arrays':>7} {'s':>7} {'growth per doubling':>20}")
        before = 0.0
        for disks in DISKS:
            wanted = layout(disks, series)
            seconds = statistics.median(_seconds(wanted) for _ in range(3))
            growth = f"{seconds / before:.2f}" if before else ""
            print(f"{disks:26} {disks // 10:7} {seconds:7.2f} {growth:>20}", flush=True)
            before = seconds


def _seconds(wanted: Layout) -> float:
    gc.collect()
    started = time.process_time()
    _, placements, findings = place(wanted)
    assert len(placements) == len(wanted.arrays) and not findings
    return time.process_time() - started


if __name__ == "__main__":
    main()
