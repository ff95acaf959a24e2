"""The guard of a step: its devices must be blank, asked of each device itself right before the step writes over it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from raidplan.base.reader import Reader
from raidplan.base.size import SECTOR
from raidplan.facts import block
from raidplan.facts.block import SYS_BLOCK, kernel_name, number_of, partitions_in, read_at
from raidplan.facts.in_use import written_by_others
from raidplan.facts.run import run
from raidplan.facts.tables import read_table
from raidplan.facts.traces import words
from raidplan.facts.unrecognised import unrecognised
from raidplan.facts.uses import Use, use
from raidplan.facts.written import reader_of
from raidplan.plan.identities import partition_of


def not_blank(*targets: str, everywhere: bool) -> list[Use]:
    """Reasons not to write over `targets`; empty if they are proven blank.

    `everywhere`: not only libblkid's answer, but their bytes too, and no program has one open for writing: every process is read
    once for all of them. A device that was made a moment ago may show a part of earlier content, which counts for nothing.
    A path that is no device (a swap file) must not exist at all.
    """
    found = {target: _at_sight(target) for target in targets}
    silent = [target for target in targets if not found[target] and target.startswith("/dev/")]
    unseen = _beyond_sight(silent) if everywhere and silent else []
    return [*(each for uses in found.values() for each in uses), *unseen]


def _at_sight(target: str) -> list[Use]:
    """Reasons not to write over one, as the kernel and libblkid tell them."""
    try:
        mode = os.stat(target)
    except FileNotFoundError:
        return [use("absent", target)] if target.startswith("/dev/") else []
    except OSError as error:
        return [use("unseen", target, error=error.strerror or "")]
    if not target.startswith("/dev/"):
        return [use("exists", target)]
    if not stat.S_ISBLK(mode.st_mode):
        return [use("no-device", target)]
    other = other_partition(target, mode.st_rdev)
    return [other] if other else [*_in_use(target, mode.st_rdev), *_signatures(target)]


def _beyond_sight(targets: list[str]) -> list[Use]:
    """Reasons that only the processes and the bytes tell."""
    return [*written_by_others(*targets)] or [each for target in targets for each in _unrecognised(target)]


def state_of_file(path: str) -> tuple[int, ...]:
    """By this a file is known from another one, and from itself before any write; empty where there is none. Raises OSError."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns


def instance_of(node: str) -> tuple[str, int]:
    """The instance of the disk behind a node now (`facts.block.instance_of`), and its size in bytes. Raises OSError where there is none."""
    number = os.stat(node).st_rdev
    sys = SYS_BLOCK / f"{os.major(number)}:{os.minor(number)}"
    size = int((sys / "size").read_text()) * SECTOR
    return block.instance_of(sys), size


def written_on(target: str) -> tuple[Reader, int]:
    """The function that reads what was written to a device, and the size of that in bytes. Raises OSError."""
    number = os.stat(target).st_rdev
    sys = (SYS_BLOCK / f"{os.major(number)}:{os.minor(number)}").resolve()
    read: Reader = partial(read_at, target)
    if (sys / "dm").exists() or (sys / "md").exists():
        read = reader_of(Path("/"), sys.name, block.read_blocks(Path("/")))
    return read, number_of(sys / "size") * SECTOR


def other_partition(target: str, number: int) -> Use | None:
    """The wrong partition that a by-partuuid link leads to, if it does: udev may be late, and any rule can make links.

    The table on the disk decides. `number` is that of the device that the link leads to, or that was opened by the link.
    """
    if not (uuid := partition_of(target)):
        return None
    sys = (SYS_BLOCK / f"{os.major(number)}:{os.minor(number)}").resolve()
    try:
        partition = int((sys / "partition").read_text())
        sectors = int((sys.parent / "queue/logical_block_size").read_text())
        table = read_table(partial(read_at, f"/dev/{kernel_name(sys.parent)}"), sectors)
    except (OSError, ValueError):
        return use("other-table", target, partition=sys.name)
    uuids = [entry.uuid for entry in table.entries if entry.number == partition] if table else []
    return None if uuids == [uuid] else use("other-partition", target, partition=sys.name)


def disks_below(node: str) -> frozenset[str]:
    """The whole disks below a device, by kernel name; a disk that has left an array is not among them. Raises OSError."""
    number = os.stat(node).st_rdev
    return frozenset(_base((SYS_BLOCK / f"{os.major(number)}:{os.minor(number)}").resolve()))


def _base(sys: Path) -> Iterator[str]:
    if (sys / "partition").exists():
        yield from _base(sys.parent)
    elif below := [*(sys / "slaves").glob("*")]:
        yield from (name for each in below if each.exists() for name in _base(each.resolve()))
    else:
        yield kernel_name(sys)


def _in_use(target: str, number: int) -> list[Use]:
    sys = SYS_BLOCK / f"{os.major(number)}:{os.minor(number)}"
    holders = sorted(entry.name for entry in (sys / "holders").glob("*"))
    uses = [use("held", target, holder=name) for name in holders]
    uses += [use("partition", target, partition=kernel_name(part)) for part in partitions_in(sys)]
    if uses:
        return uses
    try:
        # The kernel refuses an exclusive open of whatever is mounted, swapped on or claimed.
        os.close(os.open(target, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return [use("busy", target, error=error.strerror or "")]
    return []


def _unrecognised(target: str) -> list[Use]:
    number = os.stat(target).st_rdev
    sys = (SYS_BLOCK / f"{os.major(number)}:{os.minor(number)}").resolve()
    whole = sys.parent if (sys / "partition").exists() else sys
    (read, size), sector = written_on(target), number_of(whole / "queue/logical_block_size")
    found = unrecognised(read, size, sector, joined=any((sys / "slaves").glob("*")))
    return [use("data", target, found=words(trace)) for trace in found]


def _signatures(target: str) -> list[Use]:
    found = run(["wipefs", "--no-act", "--parsable", target])
    if found.returncode:
        return [use("unreadable", target, error=found.stderr.strip() or "wipefs failed")]
    rows = [line.split(",") for line in found.stdout.splitlines() if line and not line.startswith("#")]
    return [use("signature", target, type=row[-1], offset=row[0]) for row in rows]
