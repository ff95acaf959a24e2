"""How planning grows: 40 to 4,000 disks, in time and memory for each doubling."""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

from bench.timing import in_turn, median_seconds

DISKS = (40, 400, 800, 1600, 4000)
COMMANDS = (("check",), ("plan", "--offline", "--format", "json"), ("estimate", "--format", "json"))


def layout(disks: int) -> str:
    """A layout of RAID6 arrays of eight, with an XFS each,."""
    arrays = disks // 8
    return f"""version: 1
host: grown
hardware:
  buses:
    b<0-7>: {{type: pcie, generation: 3, lanes: 8}}
  multipliers:
    pm<0-7>: {{behind: c<1>, port: 0, speed: 6Gbps, switching: fis}}
  controllers:
    c<0-7>: {{behind: b<1>, ports: 4}}
  disks:
    d<0-7>_<0-{arrays - 1}>: {{behind: pm<1>, serial: S<1>-<2>, size: 3000592982016B, rate: 150MB/s, rotational: true}}
arrays:
  a<0-{arrays - 1}>: {{level: raid6, members: [d<0-7>_<1>]}}
filesystems:
  f<0-{arrays - 1}>: {{device: a<1>, type: xfs, mount: /data/<1>}}
"""


def main() -> None:
    """Prints time, growth per doubling and peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for disks in DISKS:
            file = Path(folder) / f"{disks}.yaml"
            file.write_text(layout(disks))
            files.append(file)
        for words in COMMANDS:
            print(f"raidplan {' '.join(words)}")
            _print([(sys.executable, "-m", "raidplan", *words, str(file)) for file in files])


def _print(commands: list[tuple[str, ...]]) -> None:
    columns = in_turn(commands, 3)
    print(f"{'disks':>7} {'s':>7} {'growth per doubling':>20} {'MiB':>6}")
    before: tuple[int, float] | None = None
    for disks, runs in zip(DISKS, columns, strict=True):
        seconds = median_seconds(runs)
        growth = ""
        if before:
            growth = f"{(seconds / before[1]) ** (1 / math.log2(disks / before[0])):.2f}"
        print(f"{disks:7} {seconds:7.2f} {growth:>20} {max(r.peak_mib for r in runs):6.0f}")
        before = disks, seconds
