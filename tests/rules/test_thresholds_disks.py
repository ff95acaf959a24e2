"""Both sides of every threshold of the rules about what disks are like, and where they say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.review.pipeline import load, plan
from raidplan.rules import CATALOGUE
from tests.rules.stages import HEAD, figures, found, said

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
    ((message, hint),) = said("smr-member", text, tmp_path)
    assert (figures(message, "s"), "recording: cmr" in hint) == ("0-4 s", False)
    ((message, hint),) = said(
        "smr-member", machine("", "model: WD60EFAX") + RAID6.replace("d<0-4>", "d<0-3>, e"), tmp_path
    )
    assert figures(message, "e", "s", "model").startswith("e s model")
    assert hint.endswith("recording: cmr")


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
    assert figures(message, "e", "s") == "e s 60 s 30 s"


PARKING = {
    "nothing is known": ("", []),
    "a green disk": ("model: WDC WD10EACS-00ZJB0", ["4:note"]),
    "another green disk": ("model: wdc_wd20ears-00mvwb0", ["4:note"]),
    "a green disk that was told": ("model: WDC WD10EADS-65L5B1, head_parking: none", []),
    "a green disk that was told a time": ("model: WDC WD10EADS-65L5B1, head_parking: 5min", []),
    "a red disk": ("model: WDC WD40EFRX-68N32N0", []),
    "after 30 s": ("head_parking: 30s", ["4:note"]),
    "after 30.1 s": ("head_parking: 30.1s", []),
}


@pytest.mark.parametrize(("keys", "expected"), PARKING.values(), ids=PARKING)
def test_head_parking(keys: str, expected: list[str], tmp_path: Path) -> None:
    assert found("head-parking", machine(keys) + RAID6, tmp_path) == expected


def test_parking_is_said_of_arrays_of_disks_alone(tmp_path: Path) -> None:
    nested = "arrays: {m: {level: raid1, members: [d<0-1>]}, o: {level: raid1, members: [d<2-3>]}, s: {level: raid0, members: [m, o]}}"
    assert found("head-parking", machine("head_parking: 8s") + nested, tmp_path) == ["4:note", "4:note"]
    assert found("head-parking", machine("head_parking: 8s"), tmp_path) == []


@pytest.mark.parametrize(
    ("degrees", "expected"), [("", []), ("temperature: 45", []), ("temperature: 46", ["3:note"])]
)
def test_hot_disks(degrees: str, expected: list[str], tmp_path: Path) -> None:
    assert found("hot-disks", machine("", degrees), tmp_path) == expected


def test_hot_disks_are_listed_with_the_highest_temperature(tmp_path: Path) -> None:
    ((message, _),) = said("hot-disks", machine("temperature: 47", "temperature: 51"), tmp_path)
    assert message == "d[0-4] and e run at up to 51 degrees"


@pytest.mark.parametrize(
    ("monitoring", "arrays", "expected"),
    [
        ("smart: false", RAID6, ["5:note"]),
        ("smart: true", RAID6, []),
        ("mail: root", RAID6, []),
        ("smart: false", "arrays: {}", []),
    ],
)
def test_disks_not_watched(monitoring: str, arrays: str, expected: list[str], tmp_path: Path) -> None:
    text = machine("") + f"{arrays}\nmonitoring: {{{monitoring}}}"
    assert found("disks-not-watched", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("common", "other", "workload", "expected"),
    [
        ("", "power_loss_protection: false", "mixed", ["5:warning"]),
        ("", "power_loss_protection: true", "mixed", []),
        ("", "", "mixed", []),
        ("power_loss_protection: false", "", "mixed", []),
        ("power_loss_protection: false", "", "database", ["5:warning"]),
        ("", "", "database", []),
    ],
)
def test_power_loss_protection(
    common: str, other: str, workload: str, expected: list[str], tmp_path: Path
) -> None:
    text = f"workload: {workload}\n" + machine(common, other)
    text += "arrays: {s: {level: raid5, members: [d<0-2>], consistency: journal, journal: e}}"
    assert found("no-power-loss-protection", text, tmp_path) == expected


CARD = "hardware: {controllers: {c: {ports: 4%s}}, disks: {d<0-1>: {behind: c, serial: S<1>, size: 1TB}}}\n"


@pytest.mark.parametrize(
    ("mode", "more", "expected"),
    [
        (", mode: raid", "arrays: {s: {level: raid1, members: [d<0-1>]}}", ["3:warning"]),
        (", mode: hba", "arrays: {s: {level: raid1, members: [d<0-1>]}}", []),
        ("", "arrays: {s: {level: raid1, members: [d<0-1>]}}", []),
        (", mode: raid", "filesystems: {a: {device: d0, type: xfs, mount: /a}}", []),
    ],
)
def test_raid_card_format(mode: str, more: str, expected: list[str], tmp_path: Path) -> None:
    assert found("raid-card-format", CARD % mode + more, tmp_path) == expected


NETWORK = (
    "hardware: {%sdisks: {d<0-3>: {serial: S<1>, size: 1TB%s}}}\narrays: {s: {level: %s, members: [d<0-3>]}}"
)
SLOWER = {
    "not named": ("", "150MB/s", "raid5", []),
    "a rate that is not known": ("1Gbps", "", "raid5", []),
    "three data disks, just carried": ("1Gbps", "39MB/s", "raid5", []),
    "three data disks, just not": ("1Gbps", "39.2MB/s", "raid5", ["3:note"]),
    "two of raid6, just carried": ("1Gbps", "58.7MB/s", "raid6", []),
    "two of raid6, just not": ("1Gbps", "58.8MB/s", "raid6", ["3:note"]),
    "half of raid10, just carried": ("1Gbps", "58.7MB/s", "raid10", []),
    "half of raid10, just not": ("1Gbps", "58.8MB/s", "raid10", ["3:note"]),
    "one of raid1, just carried": ("1Gbps", "117MB/s", "raid1", []),
    "one of raid1, just not": ("1Gbps", "118MB/s", "raid1", ["3:note"]),
    "four of raid0": ("1Gbps", "29.4MB/s", "raid0", ["3:note"]),
    "ten gigabit": ("10Gbps", "150MB/s", "raid5", []),
}


@pytest.mark.parametrize(("network", "rate", "level", "expected"), SLOWER.values(), ids=SLOWER)
def test_network_slower_than_array(
    network: str, rate: str, level: str, expected: list[str], tmp_path: Path
) -> None:
    text = NETWORK % (network and f"network: {network}, ", rate and f", rate: {rate}", level)
    assert found("network-slower-than-array", text, tmp_path) == expected


READ_BY_CLIENTS = {
    "swap": ("swap: {w: {device: s}}", []),
    "the root": ("filesystems: {f: {device: s, type: ext4, mount: /}}", []),
    "the boot loader": ("filesystems: {f: {device: s, type: vfat, mount: /boot/efi}}", []),
    "a database": ("filesystems: {f: {device: s, type: xfs, mount: /srv, workload: database}}", []),
    "files": ("filesystems: {f: {device: s, type: xfs, mount: /srv}}", ["3:note"]),
    "files and a database": (
        "volume_groups: {g: {devices: [s], volumes: {a: {size: 1GiB}, b: {size: 1GiB}}}}\nfilesystems: {f: {device: g.a,type: xfs,workload: database},g: {device: g.b, type: xfs}}",
        ["3:note"],
    ),
    "a journal": (
        "swap: {w: {file: /srv/w, size: 1GiB}}\nfilesystems: {f: {device: t, type: xfs, mount: /var}}",
        [],
    ),
}


@pytest.mark.parametrize(("more", "expected"), READ_BY_CLIENTS.values(), ids=READ_BY_CLIENTS)
def test_clients_read_no_swap_system_or_journal(more: str, expected: list[str], tmp_path: Path) -> None:
    text = "hardware: {network: 1Gbps, disks: {d<0-5>: {serial: S<1>, size: 1TB, rate: 500MB/s}}}\narrays:\n  s: {level: raid1, members: [d<0-1>]}\n"
    if "device: t" in more:
        text += "  t: {level: raid5, members: [d<2-4>], journal: s}\n"
    assert found("network-slower-than-array", text + more, tmp_path) == expected


def test_what_the_layout_says_of_error_recovery_is_no_step_and_the_page_says_so(tmp_path: Path) -> None:
    """Defect D19 of the trial is a stated limit: others set both values, by the udev rules that the page shows."""
    steps = []
    for keys in ("error_recovery: none", "error_recovery: 7s", "command_timeout: 180s"):
        file = tmp_path / "layout.yaml"
        disks = f"hardware: {{disks: {{d<0-1>: {{serial: S<1>, size: 1TB, {keys}}}}}}}\n"
        file.write_text(f"{HEAD}{disks}arrays: {{s: {{level: raid1, members: [d<0-1>]}}}}\n")
        made, _ = plan(load(str(file)))
        assert made is not None
        steps.append(made.steps)
    assert steps[0] == steps[1] == steps[2]
    page = CATALOGUE["no-error-recovery-limit"].page
    assert "raidplan sets neither value" in page
    assert (
        'RUN+="/usr/sbin/smartctl -q silent -l scterc,70,70 $devnode"' in page
        and 'ATTR{device/timeout}="180"' in page
    )
