"""Prints `kvm` if KVM runs a boot sector of nine bytes within two seconds, else `qemu`.

/dev/kvm alone says little: in a virtual machine it may be there and hang, or be slower than emulation, which
takes a quarter of a second for this. The answer is kept until the next boot in the file that is named.

    accelerator.py [FILE]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 2
EXIT_CODE = 33
"""QEMU's isa-debug-exit ends with twice the byte that was written, plus one."""
BOOT_SECTOR = bytes.fromhex("baf400 b010 ee f4 ebfd").ljust(510, b"\0") + b"\x55\xaa"
"""mov dx, 0xf4; mov al, 16; out dx, al; hlt; and the signature."""
QEMU = "qemu-system-x86_64"


def main(words: list[str]) -> int:
    """Prints the accelerator, from the file if this boot has asked before."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    now = boot.read_text().strip() if boot.exists() else ""
    kept = Path(words[0]) if words else None
    if kept and kept.exists():
        when, _, what = kept.read_text().strip().partition(" ")
        if when == now:
            print(what)
            return 0
    found = "kvm" if _kvm_runs() else "qemu"
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(f"{now} {found}\n")
    print(found)
    return 0


def _kvm_runs() -> bool:
    if not os.access("/dev/kvm", os.R_OK | os.W_OK) or shutil.which(QEMU) is None:
        return False
    with tempfile.NamedTemporaryFile(suffix=".img") as disk:
        disk.write(BOOT_SECTOR)
        disk.truncate(1 << 20)
        disk.flush()
        argv = [QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-machine", "pc", "-accel", "kvm"]
        argv += ["-m", "32", "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
        argv += ["-drive", f"if=ide,format=raw,snapshot=on,file={disk.name}"]
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == EXIT_CODE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
