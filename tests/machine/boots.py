"""Whole servers of the examples, from blank disks to the last boot: what is run, and the records of it.

`python -m tests.machine.boots` prints the records; it fails where one is missing, of another plan than today's, or where a
boot was not as `estimate` had predicted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from raidplan.plan.codec import plan_to_json
from raidplan.plan.step import Plan
from raidplan.review import pipeline
from raidplan.review.pipeline import Loaded
from raidplan.twin.rehearsal.making import TARGET
from raidplan.twin.server.hardware import Firmware
from tests.machine.servers import EXAMPLES

RECORDS = Path(__file__).parents[2] / ".results" / "boots.jsonl"
SIZES = {
    "root-raid1-bios": {"": "10GiB", "swap": "512MiB", "root": "4GiB"},
    "root-raid1-uefi": {"": "6GiB", "swap": "512MiB"},
    "root-raid6-lvm": {"": "6GiB", "boot": "512MiB", "swap": "256MiB"},
    "encrypted-root": {"": "4GiB", "swap": "256MiB"},
}
"""Disks and partitions of each example in the server: an emulated machine has to sync all of it before a disk may go."""
VOLUME = "4GiB"
"""The same for the volume of the root."""


@dataclass(frozen=True)
class Combination:
    """An example on a Debian release, started by a firmware and a boot loader."""

    example: str
    firmware: Firmware
    release: str
    loader: str = "grub"

    def __str__(self) -> str:
        other = "" if self.loader == "grub" else f"-{self.loader}"
        return f"{self.example}-{self.firmware}-{self.release}{other}"


COMBINATIONS = [
    Combination("root-raid1-bios", "bios", "bookworm"),
    Combination("root-raid1-bios", "bios", "trixie"),
    Combination("root-raid1-bios", "uefi", "bookworm"),
    Combination("root-raid1-bios", "uefi", "trixie"),
    Combination("root-raid1-uefi", "uefi", "bookworm"),
    Combination("root-raid1-uefi", "uefi", "trixie"),
    Combination("root-raid1-uefi", "secure", "bookworm"),
    Combination("root-raid1-uefi", "secure", "trixie"),
    Combination("root-raid6-lvm", "bios", "bookworm"),
    Combination("root-raid6-lvm", "bios", "trixie"),
    Combination("root-raid6-lvm", "uefi", "bookworm"),
    Combination("root-raid6-lvm", "uefi", "trixie"),
    Combination("encrypted-root", "bios", "bookworm"),
    Combination("encrypted-root", "bios", "trixie"),
    Combination("root-raid1-uefi", "uefi", "bookworm", "systemd-boot"),
    Combination("root-raid1-uefi", "uefi", "trixie", "systemd-boot"),
]


@dataclass
class Record:
    """What was seen of a combination; `predicted` and `observed` are the mount points that are there without each disk."""

    example: str
    firmware: str
    release: str
    commit: str
    digest: str
    packages: dict[str, str] = field(default_factory=dict)
    seconds: int = 0
    predicted: dict[str, list[str]] = field(default_factory=dict)
    observed: dict[str, list[str]] = field(default_factory=dict)
    loader: str = "grub"
    replaced: bool = False
    """A blank disk took the place of one: `apply` made everything on it anew, and it booted from that alone where predicted."""

    @property
    def agrees(self) -> bool:
        """Every boot was as predicted, also of a disk that came later."""
        return bool(self.observed) and self.predicted == self.observed and self.replaced

    def keep(self) -> None:
        """Adds it to the records."""
        RECORDS.parent.mkdir(exist_ok=True)
        with RECORDS.open("a") as file:
            file.write(json.dumps(asdict(self)) + "\n")


def layout_of(combination: Combination) -> dict[str, Any]:
    """The example as plain values, of the size that is run, with the partitions that the firmware asks for."""
    document = pipeline.check(str(EXAMPLES / f"{combination.example}.yaml")).document
    assert document is not None
    data: dict[str, Any] = _for(combination.firmware, document.root.plain())
    for disk in data["hardware"]["disks"].values():
        for part, size in SIZES[combination.example].items():
            (disk["partitions"][part] if part else disk)["size"] = size
    data["boot"]["loader"] = combination.loader
    data["monitoring"]["mail"] = "root"  # as Debian's mdadm.conf says, for the arrays of others too
    for group in data.get("volume_groups", {}).values():
        group["volumes"]["root"]["size"] = VOLUME
    return data


def _for(firmware: Firmware, data: Any) -> Any:
    """The layout for UEFI in place of a BIOS: an EFI system partition where each disk has a BIOS boot partition."""
    if firmware == "bios" or data["hardware"]["firmware"] == "uefi":
        return data
    data["hardware"]["firmware"] = "uefi"
    esps = []
    for number, (name, disk) in enumerate(data["hardware"]["disks"].items(), 1):
        rest = {part: entry for part, entry in disk["partitions"].items() if part != "bios"}
        disk["partitions"] = {"esp": {"size": "128MiB", "type": "esp"}, **rest}
        esps.append(f"{name}.esp")
        mount = f"/boot/efi{number if number > 1 else ''}"
        data["filesystems"][f"efi{number}"] = {"device": esps[-1], "type": "vfat", "mount": mount}
    data["boot"]["esp"] = esps
    return data


def text_of(data: Mapping[str, Any]) -> str:
    """The layout as YAML."""
    return yaml.safe_dump(dict(data), sort_keys=False)


def planned(text: str, folder: Path) -> tuple[Plan, Loaded]:
    """The plan of a layout below the target."""
    file = folder / "layout.yaml"
    file.write_text(text)
    made, loaded = pipeline.plan(pipeline.check(str(file)), TARGET)
    assert made is not None, loaded.findings
    return made, loaded


def digest(plan: Plan) -> str:
    """The digest of what a plan does, whatever the sentences in it are."""
    data = json.loads(plan_to_json(plan))
    done = {**data, "digest": "", "findings": [], "steps": [{**step, "say": ""} for step in data["steps"]]}
    return f"sha256:{sha256(json.dumps(done, sort_keys=True).encode()).hexdigest()}"


@cache
def digest_of(combination: Combination) -> str:
    """The digest of today's plan."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        return digest(planned(text_of(layout_of(combination)), Path(folder))[0])


def commit() -> str:
    """The commit that is checked out, with a + where code or examples differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "raidplan", "tests", "examples")
    return git("rev-parse", "--short=12", "HEAD") + "+" * bool(changed)


def records() -> dict[Combination, Record]:
    """The newest record of each combination."""
    found = {}
    for line in RECORDS.read_text().splitlines() if RECORDS.exists() else ():
        record = Record(**json.loads(line))
        found[Combination(record.example, record.firmware, record.release, record.loader)] = record  # type: ignore[arg-type]
    return found


def table(found: Mapping[Combination, Record]) -> Iterable[tuple[Combination, str, bool]]:
    """Each combination, what its record says, and whether it counts."""
    for each in COMBINATIONS:
        record = found.get(each)
        if record is None:
            yield each, "no record", False
        elif record.digest != digest_of(each):
            yield each, f"of another plan ({record.digest}, today's is {digest_of(each)})", False
        else:
            equal = sum(record.observed.get(disk) == mounts for disk, mounts in record.predicted.items())
            versions = " ".join(f"{name} {version}" for name, version in record.packages.items())
            new = "a new disk" if record.replaced else "no new disk"
            words = f"{equal} of {len(record.predicted)} boots without a disk as predicted, {new}, {record.seconds} s, {record.commit}, {versions}"
            yield each, words, record.agrees


def main() -> int:
    """Prints the table; 1 where a record does not count."""
    rows = [*table(records())]
    width = max(len(str(each)) for each in COMBINATIONS)
    for each, words, counts in rows:
        print(f"{'ok  ' if counts else 'FAIL'} {each!s:{width}}  {words}")  # noqa: T201
    print(f"{sum(counts for *_, counts in rows)} of {len(rows)} combinations")  # noqa: T201
    return 0 if all(counts for *_, counts in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
