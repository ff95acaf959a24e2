"""`make demo`: the 40-disk example planned, applied in a virtual server, rebooted, and looked at."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from raidplan.document import read_document
from raidplan.layout.load import load_layout
from raidplan.twin.rehearsal.stages import BOOT_SECONDS
from raidplan.twin.server import Twin, install_raidplan
from raidplan.twin.server.guest import patience
from raidplan.twin.server.wiring import disks_of
from tests.twin.service import reboot

EXAMPLE = Path(__file__).parents[2] / "examples" / "tel-aviv-jbod.yaml"
LOOK = (
    "cat /proc/mdstat",
    "grep . /sys/block/md*/md/stripe_cache_size /sys/block/md*/queue/read_ahead_kb",
    "ls -l /dev/md/",
    "findmnt --real --output TARGET,SOURCE,FSTYPE,SIZE,OPTIONS",
    "swapon --show",
)


def main() -> None:
    """Runs the demonstration; ends with 1 if anything is not as planned."""
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - started:6.1f} s] {text}", flush=True)

    document, _ = read_document(str(EXAMPLE))
    assert document is not None
    layout, _ = load_layout(document)
    assert layout is not None
    disks = disks_of(layout)
    say(f"starting a virtual server with {len(disks)} disks")
    with Twin.start(disks, memory_mib=10240, say=say, boot_timeout=BOOT_SECONDS) as twin:
        say("installing raidplan in it")
        install_raidplan(twin)
        twin.run(patience())
        twin.put(EXAMPLE, "/root/layout.yaml")
        say("raidplan plan layout.yaml")
        print(twin.run("raidplan plan /root/layout.yaml").stdout)
        say("raidplan apply layout.yaml")
        print(twin.run(f"raidplan apply /root/layout.yaml --confirm {layout.host} 2>&1", timeout=1200).stdout)
        say("rebooting")
        reboot(twin, timeout=BOOT_SECONDS)
        say("the server is up again; what the kernel says:")
        for command in LOOK:
            print(f"\n# {command}\n{twin.run(command, check=False).stdout}", flush=True)
        say("raidplan apply layout.yaml once more: there must be nothing to do")
        again = twin.run(f"raidplan apply /root/layout.yaml --confirm {layout.host} 2>&1", check=False)
        print(again.stdout)
    say("done")
    if again.returncode or "nothing to do" not in again.stdout:
        sys.exit(1)


if __name__ == "__main__":
    main()
