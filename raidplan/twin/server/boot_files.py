"""The work of a boot loader: kernel and initramfs are taken from the guest's own root file system.

So the initramfs that the guest rebuilt is the one it boots with, and a broken one breaks the boot.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from raidplan.twin.server.failure import BootError
from raidplan.twin.server.tools import run_tool

_FAST_LINK = re.compile(r'^Fast link dest: "(.*)"$', re.MULTILINE)
_LINKS_AT_MOST = 8


def take_boot_files(root: Path, kernel: Path, initrd: Path) -> None:
    """Copies /vmlinuz and /initrd.img, or what these links mean, out of the raw ext4 image `root`.

    The journal is replayed first, since after a power cut the tree without it may be torn. Raises BootError.
    """
    run_tool(["e2fsck", "-E", "journal_only", "-y", str(root)], BootError)
    for link, target in (("/vmlinuz", kernel), ("/initrd.img", initrd)):
        source = _followed(root, link)
        target.unlink(missing_ok=True)
        _debugfs(root, f'dump "{source}" "{target}"')
        if not target.is_file() or not target.stat().st_size:
            raise BootError(f"the guest has no {source}; its boot loader could not start it either")


def _followed(root: Path, path: str) -> str:
    for _ in range(_LINKS_AT_MOST):
        match = _FAST_LINK.search(_debugfs(root, f'stat "{path}"'))
        if not match:
            return path
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
    raise BootError(f"{path}: links without end")


def _debugfs(root: Path, request: str) -> str:
    return run_tool(["debugfs", "-R", request, str(root)], BootError).stdout
