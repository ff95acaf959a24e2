"""Prints `{"host", "devices": {disk: node}}` for `raidplan apply --devices`: disks found by serial number alone.

    devices.py DISKS.json       # what disks.py printed; runs in the machine

For providers that cannot show all that a layout finds its disks by.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def main(words: list[str]) -> int:
    """Prints the mapping; 1 if a disk is missing or two answer to one serial number."""
    told = json.loads(Path(words[0]).read_text(encoding="utf-8"))
    argv = ["lsblk", "--json", "--nodeps", "--output", "PATH,SERIAL"]
    seen = json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)["blockdevices"]
    devices = {}
    for disk in told["disks"]:
        fitting = [entry["path"] for entry in seen if (entry["serial"] or "").strip() == disk["serial"]]
        if len(fitting) != 1:
            print(
                f"{disk['name']}: serial {disk['serial']} fits {fitting or 'no disk'}; lsblk shows {seen}",
                file=sys.stderr,
            )
            return 1
        devices[disk["name"]] = fitting[0]
    print(json.dumps({"host": told["host"], "devices": devices}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
