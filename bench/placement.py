"""How placement grows: 125 to 2,000 disks behind multipliers of eight, all of them in arrays of ten from one pool."""

from __future__ import annotations

import statistics
import time

from raidplan.layout.load import layout_of
from raidplan.layout.model import Layout
from raidplan.placement import place

DISKS = (125, 250, 500, 1000, 2000)


def layout(disks: int, kinds_of_disk: int) -> Layout:
    """Arrays of ten over all disks; the kinds of disk differ in their rate, and take turns."""
    names = [f"d{n}" for n in range(disks)]
    multipliers = disks // 8 + 1
    pool = {"from": names, "count": "10", "spread": "multiplier"}
    return layout_of(
        {
            "version": "1",
            "host": "bench",
            "hardware": {
                "controllers": {f"c{n}": {"speed": "3Gbps"} for n in range(multipliers // 5 + 1)},
                "multipliers": {f"p{n}": {"behind": f"c{n // 5}"} for n in range(multipliers)},
                "disks": {
                    name: {
                        "behind": f"p{n // 8}",
                        "size": "3TB",
                        "rate": f"{150 - 20 * (n % kinds_of_disk)}MB/s",
                    }
                    for n, name in enumerate(names)
                },
            },
            "arrays": {f"s{n}": {"level": "raid6", "members": pool} for n in range(disks // 10)},
        }
    )


def main() -> None:
    """Prints the processor's time for placing all arrays, and its growth; every array lists the whole pool."""
    for kinds, said in ((1, "disks of one kind"), (3, "disks of three kinds")):
        print(f"{said:24} {'arrays':>7} {'s':>7} {'growth per doubling':>20}")
        before = 0.0
        for disks in DISKS:
            wanted = layout(disks, kinds)
            seconds = statistics.median(_seconds(wanted) for _ in range(3))
            growth = f"{seconds / before:.2f}" if before else ""
            print(f"{disks:24} {disks // 10:7} {seconds:7.2f} {growth:>20}")
            before = seconds


def _seconds(wanted: Layout) -> float:
    started = time.process_time()
    _, placements, findings = place(wanted)
    assert len(placements) == len(wanted.arrays) and not findings
    return time.process_time() - started
