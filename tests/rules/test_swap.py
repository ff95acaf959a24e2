"""Swap: on how many disks, with what priorities, on which kind of array; and what is quite right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

PARTS = "hardware: {disks: {d<0-3>: {serial: S<1>, partitions: {a: {size: 2GiB}, b: {size: 1TiB}}}}}\n"
MIRROR = "arrays: {s: {level: raid1, members: [d<0-3>.b]}}\n"
ROOT = "filesystems: {root: {device: s, type: ext4, mount: /}}\n"

PRIORITIES = {
    "equal on two disks": ("w<0-1>: {device: d<1>.a, priority: 10}", ["5:warning"]),
    "different": ("w0: {device: d0.a, priority: 10}, w1: {device: d1.a, priority: 9}", []),
    "none, which older kernels make different": ("w<0-1>: {device: d<1>.a}", []),
    "-1 is none": ("w<0-1>: {device: d<1>.a, priority: -1}", []),
    "0 is one": ("w<0-1>: {device: d<1>.a, priority: 0}", ["5:warning"]),
    "two pairs": ("w<0-1>: {device: d<1>.a, priority: 1}, w<2-3>: {device: d<1>.a, priority: 2}", ["5:warning", "5:warning"]),
    "on one disk": ("w0: {device: d0.a, priority: 1}, w1: {device: d0.b, priority: 1}", []),
}  # fmt: skip


@pytest.mark.parametrize(("swap", "expected"), PRIORITIES.values(), ids=PRIORITIES)
def test_equal_swap_priorities(swap: str, expected: list[str], tmp_path: Path) -> None:
    text = PARTS + "arrays: {}\nswap: {" + swap + "}"
    assert found("equal-swap-priorities", text, tmp_path) == expected


def test_equal_priorities_of_mirrors_are_right(tmp_path: Path) -> None:
    text = PARTS + "arrays: {m<0-1>: {level: raid1, members: [d<1:0/2>.a, d<1:1/3>.a]}}\n"
    text += "swap: {w<0-1>: {device: m<1>, priority: 10}}"
    assert found("equal-swap-priorities", text, tmp_path) == []


ON_ARRAY = {
    "raid0": ("z: {level: raid0, members: [d<0-3>.a]}", "swap-on-raid0"),
    "linear": ("z: {level: linear, members: [d<0-3>.a]}", "swap-on-raid0"),
    "raid0 of mirrors": ("m<0-1>: {level: raid1, members: [d<1:0/2>.a, d<1:1/3>.a]}, z: {level: raid0, members: [m0, m1]}", ""),
    "raid1": ("z: {level: raid1, members: [d<0-3>.a]}", ""),
    "raid10": ("z: {level: raid10, members: [d<0-3>.a]}", ""),
    "raid5": ("z: {level: raid5, members: [d<0-3>.a]}", "swap-on-parity"),
    "raid6": ("z: {level: raid6, members: [d<0-3>.a]}", "swap-on-parity"),
}  # fmt: skip


@pytest.mark.parametrize(("arrays", "expected"), ON_ARRAY.values(), ids=ON_ARRAY)
def test_swap_on_an_array(arrays: str, expected: str, tmp_path: Path) -> None:
    """Swap on a raid1 or raid10 is the cure, not slow and not unsafe."""
    text = PARTS + f"arrays: {{{arrays}}}\nswap: {{w: {{device: z}}}}"
    rules = ("swap-on-raid0", "swap-on-parity", "swap-across-members", "equal-swap-priorities", "unmirrored-swap",
             "no-redundancy")  # fmt: skip
    assert [rule for rule in rules if found(rule, text, tmp_path)] == ([expected] if expected else [])


@pytest.mark.parametrize(("level", "operations"), [("raid5", 4), ("raid6", 6)])
def test_what_a_page_costs_on_parity(level: str, operations: int, tmp_path: Path) -> None:
    text = PARTS + f"arrays: {{z: {{level: {level}, members: [d<0-3>.a]}}}}\nswap: {{w: {{device: z}}}}"
    ((message, _),) = said("swap-on-parity", text, tmp_path)
    assert figures(message, "w", "z") == f"w z {level} {operations}"


def test_swap_on_a_volume_of_a_plain_disk_and_a_mirror_blames_no_array(tmp_path: Path) -> None:
    text = PARTS + "arrays: {m: {level: raid1, members: [d<0-1>.a]}}\n"
    text += "volume_groups: {v: {devices: [m, d3.a], volumes: {x: {size: 1GiB}}}}\nswap: {w: {device: v.x}}"
    assert found("swap-on-raid0", text, tmp_path) == []


UNMIRRORED = {
    "beside a mirrored root": (ROOT, "w: {device: d0.a}", ["6:note"]),
    "beside an array, with a root that lies elsewhere": ("filesystems: {srv: {device: s, type: ext4, mount: /srv}}\n", "w: {device: d0.a}", ["6:note"]),
    "beside a root that has no mirror": ("filesystems: {x: {device: d1.a, type: ext4, mount: /}}\n", "w: {device: d0.a}", []),
    "in a file on the mirrored root": (ROOT, "w: {file: /swapfile, size: 1GiB}", []),
    "on two disks of the mirror, which is an error": (ROOT, "w<0-1>: {device: d<1>.a}", []),
}  # fmt: skip


@pytest.mark.parametrize(("root", "swap", "expected"), UNMIRRORED.values(), ids=UNMIRRORED)
def test_unmirrored_swap(root: str, swap: str, expected: list[str], tmp_path: Path) -> None:
    assert found("unmirrored-swap", PARTS + MIRROR + root + f"swap: {{{swap}}}", tmp_path) == expected


APART = {
    "on one disk": ("w: {device: d2.a}", ["6:note"]),
    "on two other disks": ("w2: {device: d2.a, priority: 2}, w3: {device: d3.a, priority: 1}", ["6:warning"]),
    "on a raid0 of two other disks, which has a rule of its own": ("w: {device: z}", []),
}


@pytest.mark.parametrize(("swap", "expected"), APART.values(), ids=APART)
def test_swap_apart_from_the_mirrored_root(swap: str, expected: list[str], tmp_path: Path) -> None:
    text = (
        PARTS + "arrays: {s: {level: raid1, members: [d<0-1>.b]}, z: {level: raid0, members: [d<2-3>.b]}}\n"
    )
    assert found("unmirrored-swap", text + ROOT + f"swap: {{{swap}}}", tmp_path) == expected
    assert found("swap-across-members", text + ROOT + f"swap: {{{swap}}}", tmp_path) == []


def test_all_disks_are_named_that_take_the_machine_down(tmp_path: Path) -> None:
    text = PARTS + MIRROR.replace("0-3", "0-1") + ROOT + "swap: {w<2-3>: {device: d<1>.a}}"
    ((message, _),) = said("unmirrored-swap", text, tmp_path)
    assert figures(message, "root") == "root root d2 d3"


def test_root_on_one_disk_may_have_swap_there_too(tmp_path: Path) -> None:
    text = PARTS + "filesystems: {root: {device: d0.b, type: ext4, mount: /}}\nswap: {w: {device: d0.a}}"
    assert found("unmirrored-swap", text, tmp_path) == []


def test_swap_files_on_plain_disks_are_swap_on_plain_disks(tmp_path: Path) -> None:
    text = PARTS + "arrays: {s: {level: raid1, members: [d<2-3>.b, d1.a]}}\n"
    text += "filesystems: {x<0-1>: {device: d<1>.b, type: ext4, mount: /srv/<1>}}\n"
    text += "swap:\n  w0: {file: /srv/0/swap, size: 1GiB}\n  w1: {file: /srv/1/swap, size: 1GiB}"
    assert found("swap-across-members", text, tmp_path) == ["8:error"]


def test_swap_on_all_four_members_names_the_cure(tmp_path: Path) -> None:
    text = PARTS + MIRROR + "swap: {w<0-3>: {device: d<1>.a}}"
    (message, hint), = said("swap-across-members", text, tmp_path)  # fmt: skip
    assert figures(message, "s") == "4 d0 d1 d2 d3 s"
    assert "such as d0.a and d1.a" in hint


def test_only_the_disks_below_an_array_are_said_to_carry_it(tmp_path: Path) -> None:
    text = (
        PARTS
        + "arrays: {r: {level: raid1, members: [d<0-1>.b]}}\nswap: {w0: {device: d0.a}, w3: {device: d3.a}}"
    )
    ((message, _),) = said("swap-across-members", text, tmp_path)
    assert figures(message, "r") == "2 d0 d3 d0 r"


CURES = {
    "two places": ("{}", "w<0-1>: {device: d<1>.a}", "put swap on a raid1 or raid10 of these places, such as d0.a and d1.a, or else on one disk only"),
    "a volume over two disks": (
        "{v: {devices: [d<0-1>.a], volumes: {x: {size: 1GiB}}}}", "w: {device: v.x}",
        "put swap on a raid1 or raid10 over these disks, or else on one disk only",
    ),
    "a raid0": ("{}", "w: {device: z}", "make z a raid1 or raid10, or put swap on one disk only"),
}  # fmt: skip


@pytest.mark.parametrize(("groups", "swap", "cure"), CURES.values(), ids=CURES)
def test_how_to_mirror_swap(groups: str, swap: str, cure: str, tmp_path: Path) -> None:
    text = (
        PARTS + "arrays: {s: {level: raid10, members: [d<0-3>.b]}, z: {level: raid0, members: [d<2-3>.a]}}\n"
    )
    text += f"volume_groups: {groups}\nswap: {{{swap}}}"
    assert [hint for _, hint in said("swap-across-members", text, tmp_path)] == [cure]
    assert found("swap-on-raid0", text, tmp_path) == []


@pytest.mark.parametrize(("priority", "expected"), [(-2, 1), (-1, 0), (0, 0), (32767, 0), (32768, 1)])
def test_swap_priority_range(priority: int, expected: int, tmp_path: Path) -> None:
    text = PARTS + f"swap: {{w: {{device: d0.a, priority: {priority}}}}}"
    assert found("swap-priority-range", text, tmp_path) == ["4:error"] * expected


def test_scrubbing_a_mirror_with_swap_is_no_alarm(tmp_path: Path) -> None:
    """A mismatch count on such a mirror means nothing, so nothing is said about it."""
    text = PARTS + "arrays: {m: {level: raid1, members: [d<0-1>.a]}}\nswap: {w: {device: m}}\n"
    text += "monitoring: {mail: root@example.org, scrub: monthly}"
    for rule in ("swap-on-parity", "swap-on-raid0", "unmirrored-swap"):
        assert found(rule, text, tmp_path) == []
