"""`python -m bench.servers`: three virtual servers by the playbook, against three `raidplan apply` by hand, one after the other and at once.

Each way starts with the same three servers, which have raidplan, with blank disks and what /etc was before. Prints seconds, and ratios
to the three by hand one after the other; a quarter of an hour in emulation.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from raidplan.twin.server import install_raidplan
from tests.ansible.servers import Fleet, three_servers

RESET = """\
set -e
umount /srv/data; swapoff -a; vgchange -an; mdadm --stop --scan
for disk in /dev/sd?; do blkdiscard --zeroout $disk; blockdev --rereadpt $disk; done
rm -rf /var/lib/raidplan /etc; cp -a /root/etc /etc
systemctl daemon-reload; udevadm settle
"""
"""In the guest alone, whose every disk /dev/sd? is the benchmark's."""


def by_hand(fleet: Fleet, host: str) -> float:
    """Seconds of one apply over SSH."""
    start = time.monotonic()
    fleet.twins[host].run(f"raidplan apply --confirm={host} /root/{host}.yaml", timeout=1800)
    return time.monotonic() - start


def in_turn(fleet: Fleet) -> None:
    """A person who goes from host to host."""
    for host in fleet.twins:
        print(f"  {host} by hand {by_hand(fleet, host):6.1f} s", flush=True)


def at_once(fleet: Fleet) -> None:
    """Three people."""
    with ThreadPoolExecutor(len(fleet.twins)) as pool:
        list(pool.map(lambda host: by_hand(fleet, host), fleet.twins))


def by_playbook(fleet: Fleet) -> None:
    """The role on all hosts."""
    found = fleet.run()
    results = {host: each.values.get("result") for host, each in found.items()}
    if results != dict.fromkeys(fleet.twins, "applied"):
        sys.exit(f"{results}\n{(fleet.folder / 'said').read_text()[-4000:]}")


def again(fleet: Fleet) -> None:
    """The role on all hosts, where nothing is left to do."""
    found = fleet.run()
    if any(each.values["changed"] for each in found.values()):
        sys.exit("the second run changed something")


WAYS: dict[str, Callable[[Fleet], None]] = {
    "three by hand, one after the other": in_turn,
    "three by hand, at once": at_once,
    "the playbook": by_playbook,
    "the playbook again, nothing to do": again,
}


def reset(fleet: Fleet) -> None:
    """Blank disks again, and the files of before."""
    for twin in fleet.twins.values():
        twin.run(RESET)


def main() -> None:
    """Measures and prints."""
    with TemporaryDirectory() as work, three_servers(Path(work)) as fleet:
        for host, twin in fleet.twins.items():
            install_raidplan(twin)
            twin.put((fleet.folder / "layouts" / f"{host}.yaml").read_bytes(), f"/root/{host}.yaml")
            twin.run("cp -a /etc /root/etc")
        first = 0.0
        for name, way in WAYS.items():
            if first and way is not again:
                reset(fleet)
            start = time.monotonic()
            way(fleet)
            seconds = time.monotonic() - start
            first = first or seconds
            print(f"{name:38}{seconds:6.1f} s  x{seconds / first:.2f}", flush=True)


if __name__ == "__main__":
    main()
