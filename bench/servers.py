"""`python -m bench.servers`: three virtual servers by the playbook, against three `raidplan apply` by hand, one after the other and at once.

Each way starts with three blank servers that have raidplan. Prints seconds, and ratios to the three by hand one after the other;
20 minutes in emulation.
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


def measure(*ways: Callable[[Fleet], None]) -> list[float]:
    """Seconds of each way, one after the other on the same servers."""
    with TemporaryDirectory() as work, three_servers(Path(work)) as fleet:
        for host, twin in fleet.twins.items():
            install_raidplan(twin)
            twin.put((fleet.folder / "layouts" / f"{host}.yaml").read_bytes(), f"/root/{host}.yaml")
        found = []
        for way in ways:
            start = time.monotonic()
            way(fleet)
            found.append(time.monotonic() - start)
        return found


def main() -> None:
    """Measures and prints."""
    (hand,) = measure(in_turn)
    print(f"three by hand, one after the other  {hand:6.1f} s")
    (together,) = measure(at_once)
    print(f"three by hand, at once              {together:6.1f} s  x{together / hand:.2f}")
    playbook, second = measure(by_playbook, again)
    print(f"the playbook                        {playbook:6.1f} s  x{playbook / hand:.2f}")
    print(f"the playbook again, nothing to do   {second:6.1f} s  x{second / hand:.2f}")


if __name__ == "__main__":
    main()
