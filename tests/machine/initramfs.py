"""An initramfs in a moment: the one that is there, with the mdadm.conf of the day in front of it.

To make one takes more than a minute of emulation. What stays the same is therefore packed here, outside of it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from raidplan.twin.server import Twin

LEFT_OUT = re.compile(rb"(\./)?(etc/mdadm/mdadm\.conf|.*/65-raidplan-[^/]*\.rules)")
"""In the last archive that holds it a file counts, and this one comes after what is of the day."""
MAGIC, TRAILER = b"070701", b"TRAILER!!!"
REST = "/root/rest.lz4"
MAKE = f"""set -e
mv /usr/sbin/mkinitramfs /usr/sbin/really-mkinitramfs
cat > /usr/sbin/mkinitramfs <<'END'
#!/bin/sh
set -e
[ "$1" = -o ] || exec really-mkinitramfs "$@"  # Debian 13's package of a kernel asks for its --version
cd /
{{
    printf '%s\\n' etc etc/mdadm etc/mdadm/mdadm.conf | cpio --create --format=newc --quiet
    cat {REST}
}} > "$2"
END
chmod 755 /usr/sbin/mkinitramfs
"""


def quick_initramfs(twin: Twin) -> None:
    """From now on mkinitramfs in the guest does that; `really-mkinitramfs` still makes a whole one."""
    image = (twin.directory / "initrd.img").read_bytes()
    plain = [
        *_files(image)
    ]  # Debian 13 has the modules, which are packed already, in an archive of their own before the rest
    end = len(image) - len(image[sum(len(file) for _, file in plain) :].lstrip(b"\0"))
    whole = subprocess.run(["lz4", "-dcq"], input=image[end:], check=True, capture_output=True).stdout
    kept = b"".join(file for name, file in [*plain, *_files(whole)] if not LEFT_OUT.fullmatch(name))
    packed = subprocess.run(["lz4", "-lq1"], input=kept, check=True, capture_output=True).stdout
    rest = Path(twin.directory / "rest.lz4")
    rest.write_bytes(packed)
    twin.put(rest, REST)
    twin.run(["sh", "-c", MAKE])


def _files(archive: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The name of each file of a cpio archive (newc), and all that it takes there; none of what begins otherwise.

    See `facts/initramfs.py`.
    """
    start, name = 0, b""
    while name != TRAILER and archive[start : start + len(MAGIC)] == MAGIC:
        size, length = int(archive[start + 54 : start + 62], 16), int(archive[start + 94 : start + 102], 16)
        body = start + 110 + length + -(110 + length) % 4
        end = body + size + -size % 4
        name = archive[start + 110 : start + 110 + length].rstrip(b"\0")
        yield name, archive[start:end]
        start = end
