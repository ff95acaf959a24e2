"""The folder that holds the files behind the loop devices, and the record of what was made in it.

The record is written before anything is made, so that whatever is interrupted can be found and removed.
Everything goes through one descriptor of the folder: a link put in its place leads nowhere.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from raidplan.twin.loops.record import DiskFile, Record, as_json, from_text, to_text
from raidplan.twin.loops.refused import LoopsRefused

RECORD = "loops.json"
DEVICES = "devices.json"
LAYOUT = "scaled.yaml"
NEW = ".new"
"""The suffix of a file until it is complete."""
OURS = tuple(name + end for name in (DEVICES, LAYOUT, RECORD) for end in (NEW, ""))
"""The texts we write; the record goes last."""


class Folder:
    """An open, locked folder; leaves `path` to messages and to losetup. Use it as a context manager."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor

    @classmethod
    def open(cls, path: Path) -> Folder:
        """The folder at `path`, locked. Raises FileNotFoundError, and LoopsRefused if it cannot be trusted."""
        path = Path.cwd() / path
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise LoopsRefused([f"{path} is not a folder of our own: {error.strerror}"]) from None
        folder = cls(path, descriptor)
        try:
            folder._check_and_lock()
        except BaseException:
            folder.close()
            raise
        return folder

    def _check_and_lock(self) -> None:
        found = os.fstat(self._descriptor)
        if found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise LoopsRefused([f"others may write to {self.path}: take a folder that belongs to you alone"])
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LoopsRefused([f"another raidplan is at work in {self.path}"]) from None

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the folder and its lock."""
        os.close(self._descriptor)

    def place(self) -> str:
        """The path of the folder, in the kernel's words, with all links resolved."""
        return str(Path(f"/proc/self/fd/{self._descriptor}").readlink())

    def names(self) -> list[str]:
        """The names in the folder."""
        return sorted(os.listdir(self._descriptor))

    def free_bytes(self) -> int:
        """Space that root can still use on its file system."""
        found = os.fstatvfs(self._descriptor)
        return found.f_bfree * found.f_frsize

    def stat(self, name: str) -> os.stat_result | None:
        """The entry itself, never what a link leads to; None if there is none."""
        try:
            return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def make(self, file: DiskFile) -> int:
        """An all-sparse new file; its inode. Raises OSError."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(file.name, flags, 0o600, dir_fd=self._descriptor)
        try:
            os.ftruncate(descriptor, file.size)
            return os.fstat(descriptor).st_ino
        finally:
            os.close(descriptor)

    def write(self, name: str, text: str) -> None:
        """Writes a text whole or not at all. Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self.remove(name + NEW)
        descriptor = os.open(name + NEW, flags, 0o644, dir_fd=self._descriptor)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(descriptor)
        os.rename(name + NEW, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        os.fsync(self._descriptor)

    def remove(self, name: str) -> None:
        """Removes an entry, a link as such; none is fine."""
        try:
            os.unlink(name, dir_fd=self._descriptor)
        except FileNotFoundError:
            return

    def read(self, name: str) -> str | None:
        """The text of a regular file of ours; None if there is none. Raises OSError, ValueError."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(name, flags, dir_fd=self._descriptor)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, encoding="utf-8") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ValueError(f"{name} is not a regular file")
            return opened.read()

    def device(self) -> int:
        """`st_dev` of the files in it: the record's, since that of a folder may differ (overlayfs)."""
        found = self.stat(RECORD)
        return found.st_dev if found else -1

    def record(self) -> Record | None:
        """The record of the folder; None where there is none. Raises LoopsRefused if it is damaged."""
        try:
            text = self.read(RECORD)
            return None if text is None else from_text(text)
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise LoopsRefused(
                [f"{self.path / RECORD} cannot be read as a record of ours: {error}"]
            ) from None

    def write_record(self, record: Record) -> None:
        """Writes the record. Raises OSError."""
        self.write(RECORD, to_text(record))

    def write_devices(self, host: str, devices: Mapping[str, str]) -> None:
        """The mapping that `plan` and `apply` take with --devices. Raises OSError."""
        self.write(DEVICES, as_json({"host": host, "devices": dict(devices)}))

    def devices(self) -> dict[str, str]:
        """The mapping as it was written last; empty where there is none to be read."""
        try:
            found = json.loads(self.read(DEVICES) or "{}").get("devices", {})
            return {str(disk): str(node) for disk, node in found.items()}
        except (OSError, ValueError, AttributeError):
            return {}


def is_blank(names: Sequence[str]) -> bool:
    """The folder is empty, but for the leftover of an interrupted first write of the record."""
    return set(names) <= {RECORD + NEW}
