"""Prints `kvm` if KVM runs a boot sector within two seconds, else `qemu`.

/dev/kvm alone says little: in a virtual machine it may be there and hang, or be slower than emulation, which
takes a tenth of a second for this. The answer is kept until the next boot in the file that is named.

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
BOOT_SECTOR = (
    bytes.fromhex(
        "fa31c0 8ed8 8ec0 8ed0"  # cli; no segments
        "bf0010 b90018 f3ab"  # 12 KiB of empty page tables at 0x1000
        "66c7060010 03200000 66c7060020 03300000 66c7060030 83000000"  # one page of 2 MiB
        "66b8a0000000 0f22e0 66b800100000 0f22d8"  # cr4: PAE and PGE; cr3
        "66b9800000c0 0f32 660d00010000 0f30"  # EFER: long mode
        "660f0116b07c 0f20c0 660d01000080 0f22c0"  # lgdt; cr0: protection and paging
        "66ea687c00000800"  # jump to 64-bit code
        "b970170000 0f20d8 0f22d8 bf00000100 ba00020000 488917 83c708 ffca 75f6 ffc9 75e2"  # 6000 times: cr3 anew, 4 KiB written
        "66baf400 b010 ee f4"  # out 0xf4, 16; hlt
        "8d74260090 0000000000000000 00000000009a2000 0000000000920000 1700987c"  # the table of segments
    ).ljust(510, b"\0")
    + b"\x55\xaa"
)
"""To 64-bit code with page tables, which it loads again and again, as a kernel does. Where KVM has to stand in for the
processor's own page tables, in a virtual machine, this took 5.4 s, and emulation 0.07 s; Linux did not come to its first line."""
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
