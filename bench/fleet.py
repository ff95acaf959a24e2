"""`python -m bench.fleet`: the playbook for a fleet in check mode, for hosts whose machines are recorded ones, on this machine.

Prints the time of the whole playbook (all layouts checked together, a plan for each host), its processor time, the largest memory of
a process, and the ratio of processor times for twice the hosts; and how often each host's share is that of `raidplan plan` alone.
The last line says whether it is linear: twice the hosts, of the largest two counts, take at most LINEAR times the processor time.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.ansible.playbooks import COLLECTION, PROGRAMS, pair, playbook

COUNTS = (25, 50, 100)
LINEAR = 2.2
"""Times, where 2 is exactly linear and 4 the square; the start, which all counts share, makes it less than 2."""


def measure(count: int) -> tuple[float, float, float]:
    """Seconds of the playbook, its processor seconds, and those of `raidplan plan` for one of its hosts."""
    with TemporaryDirectory() as work:
        folder, layouts = Path(work), Path(work, "layouts")
        layouts.mkdir()
        known = {"rolling_layouts": str(layouts), "rolling_become": False, "rolling_executable": str(PROGRAMS / "raidplan")}  # fmt: skip
        hosts = {}
        for host in (f"s{n:03}" for n in range(count)):
            machine = pair(host, layouts).with_suffix(".json")
            hosts[host] = {**known, "rolling_machine": str(machine.rename(folder / machine.name))}
        start, before = time.monotonic(), processor()
        done, told = playbook(COLLECTION / "playbooks" / "rolling.yml", hosts, folder, "--check", "--forks=4")
        seconds, used = time.monotonic() - start, processor() - before
        planned = [each for each in told if each.task == "Plan" and each.values.get("result") == "planned"]
        if done.returncode or len(planned) != count:
            sys.exit(done.stdout + done.stderr)
        argv = [str(PROGRAMS / "raidplan"), "plan", "--machine", str(folder / "s000.json"), str(layouts / "s000.yaml")]  # fmt: skip
        before = processor()
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return seconds, used, processor() - before


def processor() -> float:
    """Processor seconds of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measures and prints."""
    before = grown = 0.0
    for count in COUNTS:
        seconds, used, alone = measure(count)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        ratio = f"  x{used / before:.2f} for twice the hosts" if before else ""
        print(
            f"{count:4} hosts  {seconds:6.1f} s  processor {used:6.1f} s  {used / count / alone:4.1f} x plan alone  {memory:4.0f} MiB{ratio}",
            flush=True,
        )
        grown, before = used / before if before else 0.0, used
    print(f"{'linear' if grown <= LINEAR else 'NOT linear'}: x{grown:.2f} for twice the hosts")


if __name__ == "__main__":
    main()
