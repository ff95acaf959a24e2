"""Both sides of every threshold of the rules about what disks are like, and where they say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import found, said

DISKS = "hardware: {disks: {d<0-4>: {serial: S<1>, size: 4TB%s}, e: {serial: E, size: 4TB%s}}}\n"
RAID6 = "arrays: {s: {level: raid6, members: [d<0-4>]}}"


def machine(common: str, other: str = "") -> str:
    """Five disks d and another one, with more keys each."""
    return DISKS % (common and f", {common}", other and f", {other}")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", []),
        ("recording: cmr", []),
        ("recording: dm-smr", ["4:warning"]),
        ("recording: ha-smr", ["4:warning"]),
        ("recording: zoned", []),
        ("model: WDC WD40EFAX-68JH4N0", ["4:warning"]),
        ("model: wdc_wd40efax-68jh4n0", ["4:warning"]),
        ("model: WDC WD40EFAX-68JH4N0, recording: cmr", []),
        ("model: ST8000DM004-2CX188", ["4:warning"]),
        ("model: WDC WD40EFRX-68N32N0", []),
        ("model: WDC WD80EFAX-68LHPN0", []),
        ("model: ST8000VN004-2M2101", []),
    ],
)
def test_shingled_members(keys: str, expected: list[str], tmp_path: Path) -> None:
    assert found("smr-member", machine(keys) + RAID6, tmp_path) == expected


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ("s: {level: raid6, members: [d<0-3>], spares: [e]}", ["4:warning"]),
        ("s: {level: raid0, members: [d0, e]}", []),
        ("s: {level: linear, members: [d0, e]}", []),
        ("m: {level: raid1, members: [d0, e]}, o: {level: raid1, members: [d<1-2>]}, s: {level: raid0, members: [m, o]}",
         ["4:warning"]),
        ("m: {level: raid1, members: [d0, e]}, o: {level: raid1, members: [d<1-2>]}, s: {level: raid1, members: [m, o]}",
         ["4:warning"]),
        ("m: {level: raid0, members: [d0, e]}, o: {level: raid0, members: [d<1-2>]}, s: {level: raid1, members: [m, o]}",
         ["4:warning"]),
    ],
)  # fmt: skip
def test_a_shingled_disk_is_said_once(arrays: str, expected: list[str], tmp_path: Path) -> None:
    text = machine("recording: cmr", "recording: dm-smr") + f"arrays: {{{arrays}}}"
    assert found("smr-member", text, tmp_path) == expected


def test_a_conventional_disk_that_is_free_is_named(tmp_path: Path) -> None:
    text = machine("recording: dm-smr", "recording: cmr") + RAID6
    assert said("smr-member", text, tmp_path) == [
        ("d0, d1, d2, d3 and 1 more of s record in shingles: during a rebuild their writes stall for seconds to minutes",
         "take conventional disks (CMR): e is free")
    ]  # fmt: skip
    ((message, hint),) = said(
        "smr-member", machine("", "model: WD60EFAX") + RAID6.replace("d<0-4>", "d<0-3>, e"), tmp_path
    )
    assert message.startswith("e of s records in shingles by the model:")
    assert hint == "take conventional disks (CMR); if the model tells wrong, write recording: cmr"


@pytest.mark.parametrize(
    ("recording", "arrays", "expected"),
    [
        ("zoned", "s: {level: raid0, members: [d0, e]}", ["4:error"]),
        ("zoned", "s: {level: raid1, members: [d<0-1>], spares: [e]}", ["4:error"]),
        ("zoned", "m: {level: raid0, members: [d0, e]}, s: {level: raid1, members: [m, d1]}", ["4:error"]),
        ("zoned", "s: {level: raid1, members: [d<0-1>]}", []),
        ("ha-smr", "s: {level: raid0, members: [d0, e]}", []),
        ("dm-smr", "s: {level: raid0, members: [d0, e]}", []),
    ],
)
def test_zoned_members(recording: str, arrays: str, expected: list[str], tmp_path: Path) -> None:
    text = machine("", f"recording: {recording}") + f"arrays: {{{arrays}}}"
    assert found("zoned-member", text, tmp_path) == expected


LIMITS = {
    "not known": ("", []),
    "seven seconds": ("error_recovery: 7s", []),
    "just in time": ("error_recovery: 29.9s", []),
    "too late": ("error_recovery: 30s", ["4:warning"]),
    "no limit": ("error_recovery: none", ["4:warning"]),
    "no limit, a kernel with more patience": ("error_recovery: none, command_timeout: 180s", []),
    "no limit, a kernel with too little": ("error_recovery: none, command_timeout: 179s", ["4:warning"]),
    "a minute of two": ("error_recovery: 60s, command_timeout: 2min", []),
    "a kernel in a hurry": ("error_recovery: 7s, command_timeout: 7s", ["4:warning"]),
    "a kernel in less of a hurry": ("error_recovery: 7s, command_timeout: 7.1s", []),
    "a timeout alone": ("command_timeout: 5s", []),
}


@pytest.mark.parametrize(("keys", "expected"), LIMITS.values(), ids=LIMITS)
def test_error_recovery(keys: str, expected: list[str], tmp_path: Path) -> None:
    assert found("no-error-recovery-limit", machine(keys) + RAID6, tmp_path) == expected


@pytest.mark.parametrize(
    ("keys", "array", "expected"),
    [
        ("rotational: true", "{level: raid6, members: [d<0-4>]}", ["4:warning"]),
        ("rotational: true", "{level: raid5, members: [d<0-4>]}", ["4:error"]),
        ("rotational: false", "{level: raid5, members: [d<0-4>]}", ["4:warning"]),
        ("iops: 80", "{level: raid5, members: [d<0-4>]}", ["4:warning"]),
        ("rotational: true", "{level: raid1, members: [d<0-1>]}", ["4:error"]),
        ("rotational: true", "{level: raid1, members: [d<0-2>]}", ["4:warning"]),
        ("rotational: true", "{level: raid0, members: [d<0-4>]}", []),
    ],
)
def test_how_grave_a_disk_without_a_limit_is(
    keys: str, array: str, expected: list[str], tmp_path: Path
) -> None:
    text = machine(f"error_recovery: none, {keys}") + f"arrays: {{s: {array}}}"
    assert found("no-error-recovery-limit", text, tmp_path) == expected


def test_the_times_are_named(tmp_path: Path) -> None:
    text = machine("error_recovery: 7s", "error_recovery: 60s")
    ((message, _),) = said("no-error-recovery-limit", text + RAID6.replace("d<0-4>", "d<0-3>, e"), tmp_path)
    assert (
        message
        == "e of s retries a bad sector for 60 s, and the kernel waits 30 s: one bad sector makes md drop the disk"
    )
