"""`python -m bench.apply`: 40 disks to five mounted arrays in the virtual server, by raidplan, by hand and by FAI.

Each starts on a server of its own with the same blank disks. raidplan proves every disk blank, keeps a journal and
safety copies, and reads everything back; the script of `bench/by_hand.sh` does none of that. FAI's `setup-storage`
ends with the file systems: configuration, initramfs and mounts are other parts of FAI, and not in its time. So raidplan
is held against it a second time, as far as that.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from raidplan.twin.server import Disk, Recipe, Twin, install_raidplan
from raidplan.twin.server.recipe import PACKAGES

DISKS = [Disk(f"d{number:02}", 3_000_592_982_016, f"BENCH-{number:02}") for number in range(40)]
NODES = "lsblk --nodeps --noheadings --raw --output SERIAL,NAME | sort | sed -n 's/^BENCH-.. //p'"
LAYOUT = """\
version: 1
host: bench
hardware:
  disks: {d<00-39>: {size: 3000592982016B, serial: BENCH-<1>, partitions: {data: {size: rest, type: raid}}}}
arrays:
  s0: {level: raid6, members: [d<00-07>.data], chunk: 512KiB, bitmap: internal}
  s1: {level: raid6, members: [d<08-15>.data], chunk: 512KiB, bitmap: internal}
  s2: {level: raid6, members: [d<16-23>.data], chunk: 512KiB, bitmap: internal}
  s3: {level: raid6, members: [d<24-31>.data], chunk: 512KiB, bitmap: internal}
  s4: {level: raid6, members: [d<32-39>.data], chunk: 512KiB, bitmap: internal}
filesystems:
  s<0-4>: {device: s<1>, type: ext4, mount: /data/s<1>, label: s<1>, inode_ratio: 1MiB, reserved: 1%}
"""
OF_FAI = 'mdcreateopts="--chunk=512 --bitmap=internal --metadata=1.2 --homehost=bench" createopts="-q -i 1048576 -m 1 -L s{}"'
LIMIT = 3600
Seconds = dict[str, float]
"""By what was done."""
FORMATTED = "{} until the file systems"
AIMS = {("raidplan", "by hand"): 1.25, ("raidplan", "FAI"): 0.2}
RATIOS = (*AIMS, (FORMATTED.format("raidplan"), "FAI"), (FORMATTED.format("by hand"), "FAI"))


def fai_layout() -> str:
    """The same layout as FAI writes it."""
    lines = ["disk_config disk1 disklabel:gpt align-at:1M", "primary - 0- - -", ""]
    lines += [f"disk_config disk{number} sameas:disk1" for number in range(2, 41)]
    lines += ["", "disk_config raid fstabkey:uuid"]
    for array in range(5):
        members = ",".join(f"disk{8 * array + number}.1" for number in range(1, 9))
        lines.append(f"raid6 /data/s{array} {members} ext4 rw,nofail {OF_FAI.format(array)}")
    return "\n".join(lines) + "\n"


def by_raidplan(twin: Twin) -> Seconds:
    """`raidplan apply`; prints where its time went."""
    install_raidplan(twin)
    twin.put(LAYOUT.encode(), "/root/layout.yaml")
    began = clock(twin)
    seconds = timed_run(twin, "raidplan apply /root/layout.yaml --confirm bench --events /root/events")
    events = [json.loads(line) for line in twin.get("/root/events").decode().splitlines()]
    done = [event for event in events if event["event"] == "done"]
    formatted = max(
        datetime.fromisoformat(event["time"]) for event in done if event["phase"] == "format"
    ).timestamp()
    spent: dict[str, float] = {}
    for event in done:
        spent[event["phase"]] = spent.get(event["phase"], 0.0) + event["seconds"]
    print("  steps of raidplan by phase, seconds of all steps added up (eight run side by side):")
    for phase, added in spent.items():
        print(f"    {phase:<10} {added:7.1f}")
    return {"raidplan": seconds, FORMATTED.format("raidplan"): formatted - began}


def by_hand(twin: Twin) -> Seconds:
    """The script."""
    twin.put(Path(__file__).with_name("by_hand.sh"), "/root/by_hand.sh", mode=0o755)
    began = clock(twin)
    seconds = timed_run(twin, "/root/by_hand.sh")
    return {"by hand": seconds, FORMATTED.format("by hand"): float(twin.get("/root/formatted")) - began}


def by_fai(twin: Twin) -> Seconds:
    """`setup-storage`."""
    twin.put(fai_layout().encode(), "/root/disk_config")
    settings = f'disklist="$({NODES})" flag_initial=1 do_init_tasks=1 LOGDIR=/tmp/fai'
    return {"FAI": timed_run(twin, f"mkdir -p /tmp/fai; {settings} setup-storage -X -f /root/disk_config")}


def clock(twin: Twin) -> float:
    """The server's, in seconds."""
    return float(twin.run("date +%s.%N").stdout)


def timed_run(twin: Twin, command: str) -> float:
    """Seconds of a command in the server. Raises CommandError if it failed."""
    started = time.monotonic()
    twin.run(command, timeout=LIMIT)
    return time.monotonic() - started


CONTENDERS: dict[str, tuple[Callable[[Twin], Seconds], str]] = {
    "raidplan": (by_raidplan, "ls -d /data/s?/lost+found"),
    "by hand": (by_hand, "ls -d /data/s?/lost+found"),
    "FAI": (by_fai, "blkid --output device --match-token TYPE=ext4 | grep /dev/md"),
}
"""Who does it, and what shows five file systems afterwards."""


def timed(name: str) -> Seconds:
    """One contender on a new server. Raises CommandError if it failed."""
    act, look = CONTENDERS[name]
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        Twin.start(
            DISKS,
            memory_mib=6144,
            directory=Path(folder) / "twin",
            recipe=Recipe(packages=(*PACKAGES, "fai-setup-storage")),
        ) as twin,
    ):
        seconds = act(twin)
        made = twin.run(look).stdout.split()
        if len(made) != 5:
            sys.exit(f"{name} made {made}")
    for what, spent in seconds.items():
        print(f"{what:<34} {spent:7.1f} s", flush=True)
    return seconds


def main() -> None:
    """Prints every time, and the ratios."""
    seconds: Seconds = {}
    for name in sys.argv[1:] or CONTENDERS:
        seconds |= timed(name)
    for ours, other in RATIOS:
        if ours in seconds and other in seconds:
            aim = f" (aim: at most {AIMS[ours, other]})" if (ours, other) in AIMS else ""
            print(f"{ours} / {other}: {seconds[ours] / seconds[other]:.2f}{aim}")


if __name__ == "__main__":
    main()
