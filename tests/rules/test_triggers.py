"""The edges of rules: what they must say nothing about, and what decides how grave a case is."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.base.findings import Severity
from tests.rules.stages import figures, stated

H = "version: 1\nhost: example\n"


def found(rule: str, text: str, folder: Path) -> list[str]:
    """`line:severity` of each finding of a rule."""
    return [f"{f.line}:{f.severity}" for f in stated(H + text, folder) if f.rule == rule]


PARTS = "hardware: {disks: {d<0-3>: {serial: S<1>, partitions: {a: {size: 2GiB}, b: {size: 1TiB}}}}}\n"
THREE = "hardware: {disks: {d<0-1>: {partitions: {a: {size: 1GiB}, b: {size: 1GiB}, c: {size: rest}}}}}\n"
RAID = "arrays: {s: {level: raid10, members: [d<0-3>.b]}}\n"

SWAP = {
    "on all four": (PARTS + RAID + "swap: {w<0-3>: {device: d<1>.a}}", ["5:error"]),
    "on one only, which another rule may mention": (PARTS + RAID + "swap: {w0: {device: d0.a}}", []),
    "two areas on one disk": (
        THREE + "arrays: {s: {level: raid1, members: [d<0-1>.c]}}\nswap: {w0: {device: d0.a}, w1: {device: d0.b}}",
        [],
    ),
    "on a mirror": (PARTS + "arrays: {s: {level: raid1, members: [d<0-1>.b]}, m: {level: raid1, members: [d<0-1>.a]}}\n"
                    "swap: {w: {device: m}}", []),
    "beside a raid0": (PARTS + "arrays: {s: {level: raid0, members: [d<0-3>.b]}}\nswap: {w<0-3>: {device: d<1>.a}}", []),
    "on other disks": (
        PARTS + "arrays: {s: {level: raid1, members: [d<2-3>.b]}}\nswap: {w<0-1>: {device: d<1>.a}}", [],
    ),
    "on two disks, one of them in the array": (
        PARTS + "arrays: {s: {level: raid1, members: [d<2-3>.b]}}\nswap:\n  w1: {device: d1.a}\n  w2: {device: d2.a}",
        ["7:error"],
    ),
    "on a raid0 of the members' disks": (
        PARTS + "arrays: {s: {level: raid1, members: [d<0-1>.b]}, z: {level: raid0, members: [d<0-1>.a]}}\n"
        "swap: {w: {device: z}}", ["5:error"],
    ),
    "on a raid0 of other disks, which has a rule of its own": (
        PARTS + "arrays: {s: {level: raid1, members: [d<0-1>.b]}, z: {level: raid0, members: [d<2-3>.a]}}\n"
        "swap: {w: {device: z}}", [],
    ),
    "on a raid0 of mirrors": (
        PARTS + "arrays: {s: {level: raid1, members: [d<0-3>.b]}, m<0-1>: {level: raid1, members: [d<1:0/2>.a, d<1:1/3>.a]}, "
        "z: {level: raid0, members: [m0, m1]}}\nswap: {w: {device: z}}", [],
    ),
    "on volumes on plain partitions": (
        PARTS + RAID + "volume_groups: {v: {devices: [d<0-1>.a], volumes: {x: {size: 1GiB}}}}\nswap: {w: {device: v.x}}",
        ["6:error"],
    ),
    "below an array of arrays": (
        PARTS + "arrays: {m<0-1>: {level: raid1, members: [d<1:0/2>.b, d<1:1/3>.b]}, s: {level: raid0, members: [m0, m1]}}\n"
        "swap: {w<0-3>: {device: d<1>.a}}", ["5:error"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SWAP.values(), ids=SWAP)
def test_swap_across_members(text: str, expected: list[str], tmp_path: Path) -> None:
    assert found("swap-across-members", text, tmp_path) == expected


BOARD = "hardware:\n  controllers: {c0: {ports: %s}, c1: {ports: %s}}\n  disks: {d<0-7>: {behind: %s, serial: S<1>}, x: {behind: c1}}\n"

CONTROLLER = {
    "a mirror, and a free port elsewhere": ((8, 2, "c0"), "raid1", 2, ["6:warning"]),
    "a mirror, and none": ((8, 1, "c0"), "raid1", 2, ["6:note"]),
    "raid6 of four, two free": ((8, 3, "c0"), "raid6", 4, ["6:warning"]),
    "raid6 of four, one free": ((8, 2, "c0"), "raid6", 4, ["6:note"]),
    "raid6 of eight needs four controllers": ((8, 9, "c0"), "raid6", 8, ["6:note"]),
    "raid10 can be halved": ((8, 5, "c0"), "raid10", 8, ["6:warning"]),
    "raid10 of five cannot": ((8, 3, "c0"), "raid10", 5, ["6:note"]),
    "raid0 is lost with any disk": ((8, 9, "c0"), "raid0", 4, []),
    "behind nothing": ((8, 9, "c9"), "raid1", 2, []),
}


@pytest.mark.parametrize(("board", "level", "count", "expected"), CONTROLLER.values(), ids=CONTROLLER)
def test_array_behind_one_controller(
    board: tuple[int, int, str], level: str, count: int, expected: list[str], tmp_path: Path
) -> None:
    text = BOARD % board + f"arrays: {{s: {{level: {level}, members: [d<0-{count - 1}>]}}}}"
    assert found("array-behind-one-controller", text, tmp_path) == expected


def test_one_controller_alone_is_no_choice(tmp_path: Path) -> None:
    text = "hardware: {controllers: {c0: {ports: 4}}, disks: {d<0-1>: {behind: c0}}}\n"
    text += "arrays: {s: {level: raid1, members: [d<0-1>]}}"
    assert found("array-behind-one-controller", text, tmp_path) == []


def test_ports_of_a_multiplier_are_free_ports_of_its_controller(tmp_path: Path) -> None:
    text = (
        "hardware:\n  controllers: {c0: {ports: 2}, c1: {ports: 1}}\n  multipliers: {pm0: {behind: c1, ports: 5}}\n"
        "  disks: {d<0-1>: {behind: c0}}\narrays: {s: {level: raid1, members: [d<0-1>]}}"
    )
    assert found("array-behind-one-controller", text, tmp_path) == ["7:warning"]


MULTIPLIERS = "hardware:\n  controllers: {c0: {}}\n  multipliers: {pm<0-1>: {behind: c0}}\n  disks: {d<0-1><0-3>: {behind: pm<1>}}\n"
MULTIPLIER = {
    "all behind one": ("s: {level: raid0, members: [d0<0-3>]}", ["7:warning"]),
    "behind two": ("s: {level: raid0, members: [d<0-1><0-1>]}", []),
    "a mirror": ("s: {level: raid1, members: [d00, d01]}", ["7:warning"]),
    "with a member nobody knows": ("s: {level: raid5, members: [d0<0-3>, x]}", []),
    "arrays of arrays behind two": (
        "a: {level: raid1, members: [d00, d10]}, b: {level: raid1, members: [d01, d11]}, s: {level: raid0, members: [a, b]}", [],
    ),
    "arrays of arrays behind one, said of the inner ones": (
        "a: {level: raid1, members: [d00, d01]}, b: {level: raid1, members: [d02, d03]}, s: {level: raid0, members: [a, b]}",
        ["7:warning", "7:warning"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("array", "expected"), MULTIPLIER.values(), ids=MULTIPLIER)
def test_array_behind_one_multiplier(array: str, expected: list[str], tmp_path: Path) -> None:
    text = MULTIPLIERS + f"arrays: {{{array}}}"
    assert found("array-behind-one-multiplier", text, tmp_path) == expected
    assert found("array-behind-one-controller", text, tmp_path) == []


def test_the_share_of_the_uplink_is_told(tmp_path: Path) -> None:
    text = (
        MULTIPLIERS.replace("behind: c0}", "behind: c0, speed: 3Gbps}")
        + "arrays: {s: {level: raid0, members: [d0<0-3>]}}"
    )
    (finding,) = [f for f in stated(H + text, tmp_path) if f.rule == "array-behind-one-multiplier"]
    assert figures(finding.message, "s") == "4 s pm0 62 MB/s"


FOUR = "hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}, e: {serial: E, size: 3TB}}}\n"
ALLOWED = {
    "the defaults": "{level: raid5, members: [d<0-3>]}",
    "a bitmap by name": "{level: raid5, members: [d<0-3>], consistency: bitmap, bitmap: internal}",
    "no bitmap": "{level: raid5, members: [d<0-3>], consistency: resync, bitmap: none}",
    "no bitmap, unsaid": "{level: raid5, members: [d<0-3>], bitmap: none}",
    "PPL": "{level: raid5, members: [d<0-3>], consistency: ppl, bitmap: none}",
    "a journal": "{level: raid6, members: [d<0-3>], consistency: journal, journal: e}",
    "a journal alone": "{level: raid4, members: [d<0-3>], journal: e, bitmap: none}",
    "raid0 without a bitmap": "{level: raid0, members: [d<0-3>], bitmap: none}",
    "raid10 of an odd number": "{level: raid10, members: [d<0-2>], layout: n2}",
    "three copies of three": "{level: raid10, members: [d<0-2>], layout: f3}",
    "the least and the most": "{level: raid5, members: [d<0-3>], stripe_cache_size: 17, group_thread_count: 8192}",
    "the other ends": "{level: raid5, members: [d<0-3>], stripe_cache_size: 32768, group_thread_count: 0}",
    "raid5 of two": "{level: raid5, members: [d<0-1>]}",
    "raid4 of two": "{level: raid4, members: [d<0-1>]}",
    "the smallest chunk": "{level: raid6, members: [d<0-3>], chunk: 4KiB}",
    "equal speeds": "{level: raid6, members: [d<0-3>], sync_speed_min: 50MB/s, sync_speed_max: 50MB/s}",
    "assume-clean on a mirror": "{level: raid1, members: [d<0-3>], initial_sync: assume-clean}",
    "zeroes under parity": "{level: raid6, members: [d<0-3>], initial_sync: zero}",
    "old metadata": '{level: raid6, members: [d<0-3>], metadata: "0.90"}',
}


@pytest.mark.parametrize("array", ALLOWED.values(), ids=ALLOWED)
def test_nothing_forbids(array: str, tmp_path: Path) -> None:
    findings = stated(H + FOUR + f"arrays: {{s: {array}}}", tmp_path)
    assert [str(f) for f in findings if f.severity is Severity.ERROR] == []


@pytest.mark.parametrize(
    ("level", "most"), [("raid1", 1920), ("raid6", 256), ("raid5", 1920), ('raid1, metadata: "0.90"', 27)]
)
def test_most_devices(level: str, most: int, tmp_path: Path) -> None:
    for count, expected in ((most, []), (most + 1, ["4:error"])):
        text = f"hardware: {{disks: {{d<0001-{count:04}>: {{}}}}}}\narrays: {{s: {{level: {level}, members: [d<0001-{count:04}>]}}}}"
        assert found("metadata-limits", text, tmp_path) == expected


@pytest.mark.parametrize(("consistency", "most"), [("ppl", 64), ("journal, journal: e", 203)])
def test_most_members_of_a_log(consistency: str, most: int, tmp_path: Path) -> None:
    for count, expected in ((most, []), (most + 1, ["4:error"])):
        text = f"hardware: {{disks: {{d<001-{count}>: {{}}, e: {{}}}}}}\n"
        text += f"arrays: {{s: {{level: raid5, members: [d<001-{count}>], consistency: {consistency}}}}}"
        assert (
            found("metadata-limits", text.replace(f"<001-{count}>", f"<001-{count:03}>"), tmp_path)
            == expected
        )


@pytest.mark.parametrize(
    ("host", "name", "expected"),
    [
        ("h", "a" * 28, []),
        ("h", "a" * 29, ["5:error"]),
        ("h" * 20, "a" * 10, []),
        ("h" * 20, "a" * 11, ["5:note"]),
        ("h" * 40, "md0", ["5:note"]),
    ],
)
def test_length_of_a_name(host: str, name: str, expected: list[str], tmp_path: Path) -> None:
    text = f"version: 1\nhost: {host}\nhardware: {{disks: {{d<0-1>: {{}}}}}}\narrays:\n  {name}: {{level: raid1, members: [d<0-1>]}}"
    assert [f"{f.line}:{f.severity}" for f in stated(text, tmp_path) if f.rule == "name-too-long"] == expected


@pytest.mark.parametrize(
    ("host", "hint"), [(26, "shorten the name to 4 characters"), (27, "shorten the host's name")]
)
def test_a_name_is_shortened_to_four_characters_at_least(host: int, hint: str, tmp_path: Path) -> None:
    text = f"version: 1\nhost: {'h' * host}\nhardware: {{disks: {{d<0-1>: {{}}}}}}\narrays: {{array: {{level: raid1, members: [d<0-1>]}}}}"
    assert [f.hint for f in stated(text, tmp_path) if f.rule == "name-too-long"] == [hint]


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/dev/sda", "unstable-device-name"),
        ("sdab", "unstable-device-name"),
        ("/dev/nvme0n1p2", "unstable-device-name"),
        ("/dev/disk/by-path/pci-0000:00:1f.2-ata-1", "device-node-as-path"),
        ("/dev/mapper/x", "device-node-as-path"),
        ("pci-0000:00:1f.2-ata-1", None),
        ("platform-soc", None),
    ],
)
def test_paths(path: str, rule: str | None, tmp_path: Path) -> None:
    findings = stated(H + f'hardware: {{disks: {{d0: {{path: "{path}"}}}}}}', tmp_path)
    assert [f.rule for f in findings] == ([rule] if rule else [])


@pytest.mark.parametrize("key", ["serial", "wwn"])
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("/dev/sdb", "unstable-device-name"),
        ("nvme0n1", "unstable-device-name"),
        ("/dev/disk/by-id/ata-WDC_WD30EFRX_WD-WCC4N1", "device-node-as-path"),
        ("WD-WCC4N1", None),
        ("sd1234", None),
        ("0x50014ee2b1234567", None),
        ("eui.0025385b71b0d1a2", None),
    ],
)
def test_marks_of_a_disk(key: str, text: str, rule: str | None, tmp_path: Path) -> None:
    findings = stated(H + f'hardware: {{disks: {{d0: {{{key}: "{text}"}}}}}}', tmp_path)
    assert [f.rule for f in findings] == ([rule] if rule else [])


def test_a_disk_that_nothing_is_written_to_needs_no_identity(tmp_path: Path) -> None:
    assert stated(H + "hardware: {disks: {d<0-3>: {size: 3TB}}}", tmp_path) == []


def test_disks_without_identity_are_one_finding(tmp_path: Path) -> None:
    text = H + "hardware: {disks: {d<0-39>: {size: 3TB}}}\narrays: {s: {level: raid6, members: [d<0-39>]}}"
    (finding,) = [f for f in stated(text, tmp_path) if f.rule == "disk-without-identity"]
    assert figures(finding.message, "serial", "wwn", "path") == "40 serial wwn path 0-39"
