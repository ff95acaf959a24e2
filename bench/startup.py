"""How long the short commands take, in starts of a bare Python."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.timing import in_turn, median_seconds

EXAMPLE = Path(__file__).parents[1] / "examples" / "tel-aviv-jbod.yaml"
RAIDPLAN = (sys.executable, "-m", "raidplan")
COMMANDS = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "raidplan --help": (*RAIDPLAN, "--help"),
    "raidplan check (40 disks)": (*RAIDPLAN, "check", str(EXAMPLE)),
    "raidplan plan --offline (40 disks)": (*RAIDPLAN, "plan", "--offline", str(EXAMPLE)),
}
AIMS = {"raidplan --help": 3.0, "raidplan check (40 disks)": 12.0}


def main() -> None:
    """Prints the ratios."""
    columns = in_turn(list(COMMANDS.values()), 15)
    bare = median_seconds(columns[0])
    print(f"{'command':38} {'ms':>7} {'x bare':>7} {'aim':>5} {'MiB':>6}")
    for name, runs in zip(COMMANDS, columns, strict=True):
        seconds = median_seconds(runs)
        aim = f"{AIMS[name]:g}" if name in AIMS else ""
        print(
            f"{name:38} {seconds * 1000:7.1f} {seconds / bare:7.1f} {aim:>5} {max(r.peak_mib for r in runs):6.0f}"
        )
