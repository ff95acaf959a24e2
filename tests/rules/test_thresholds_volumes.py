"""Both sides of every threshold of the rules about LVM; and that LVM itself is never blamed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.size import KIB, MIB
from raidplan.compiler import compile_plan
from raidplan.geometry.lvm import check_extent
from raidplan.plan.step import Run
from raidplan.review import pipeline
from raidplan.rules.volumes import fitting_extent
from tests.rules.stages import HEAD, figures, found, said, stated

DISKS = "hardware: {disks: {d<0-8>: {serial: S<1>, size: 1TB}}}\n"
# 7 x 256 KiB: a stripe of 1792 KiB.
SEVEN = DISKS + "arrays: {s: {level: raid5, members: [d<0-7>], chunk: 256KiB}}\n"
VOLUME = "volume_groups: {v: {devices: [s], volumes: {x: {size: 1TiB%s}}}}\n"

AHEAD = {
    "auto": ("", "", []),
    "128 KiB, as LVM once did": (", read_ahead: 128KiB", "", ["5:warning"]),
    "just below a stripe": (", read_ahead: 1791KiB", "", ["5:warning"]),
    "a stripe": (", read_ahead: 1792KiB", "", ["5:note"]),
    "just below two": (", read_ahead: 3583KiB", "", ["5:note"]),
    "two stripes": (", read_ahead: 3584KiB", "", []),
    "for large files": (", read_ahead: 128KiB", "workload: large-files\n", ["6:warning"]),
    "for a database": (", read_ahead: 128KiB", "workload: database\n", []),
    "for small files": (", read_ahead: 128KiB", "workload: small-files\n", []),
}  # fmt: skip


@pytest.mark.parametrize(("ahead", "workload", "expected"), AHEAD.values(), ids=AHEAD)
def test_read_ahead(ahead: str, workload: str, expected: list[str], tmp_path: Path) -> None:
    assert found("volume-read-ahead-low", workload + SEVEN + VOLUME % ahead, tmp_path) == expected


def test_the_read_ahead_to_write_is_named(tmp_path: Path) -> None:
    text = SEVEN + VOLUME % ", read_ahead: 128KiB"
    ((message, hint),) = said("volume-read-ahead-low", text, tmp_path)
    assert figures(message, "v.x", "s") == "v.x 128KiB s 1792KiB 7"
    assert figures(hint, "auto", "s") == "auto s 3584KiB"


def test_the_widest_array_of_a_group_counts(tmp_path: Path) -> None:
    text = DISKS + "arrays: {a: {level: raid1, members: [d<0-1>]}, s: {level: raid10, members: [d<2-5>]}}\n"
    text += "volume_groups: {v: {devices: [a, s], volumes: {x: {size: 1TiB, read_ahead: 128KiB}}}}"
    assert found("volume-read-ahead-low", text, tmp_path) == ["5:warning"]


@pytest.mark.parametrize("below", ["arrays: {s: {level: raid1, members: [d<0-1>]}}\n", ""])
def test_without_a_stripe_nothing_is_too_low(below: str, tmp_path: Path) -> None:
    volume = VOLUME if below else VOLUME.replace("[s]", "[d0]").replace("1TiB", "100GiB")
    assert found("volume-read-ahead-low", DISKS + below + volume % ", read_ahead: 4KiB", tmp_path) == []


def test_swap_reads_no_stripes(tmp_path: Path) -> None:
    text = SEVEN + VOLUME % ", read_ahead: 128KiB" + "swap: {w: {device: v.x}}"
    assert found("volume-read-ahead-low", text, tmp_path) == []


GROUPS = {
    "one volume over all of it": ("devices: [s], volumes: {x: {size: 100%free}}", ["5:note"]),
    "space left for snapshots": ("devices: [s], volumes: {x: {size: 1TiB}}", []),
    "two volumes": ("devices: [s], volumes: {x: {size: 1TiB}, z: {size: 100%free}}", []),
    "two devices": ("devices: [s, d8], volumes: {x: {size: 100%free}}", []),
    "on a disk": ("devices: [d8], volumes: {x: {size: 100%free}}", []),
    "none yet": ("devices: [s]", []),
}  # fmt: skip


@pytest.mark.parametrize(("group", "expected"), GROUPS.values(), ids=GROUPS)
def test_idle_volume_group(group: str, expected: list[str], tmp_path: Path) -> None:
    assert found("idle-volume-group", SEVEN + f"volume_groups: {{v: {{{group}}}}}", tmp_path) == expected


def test_lvm_itself_is_not_slow(tmp_path: Path) -> None:
    """It was the read-ahead of its time that halved the throughput."""
    text = "workload: large-files\n" + SEVEN + VOLUME % ", read_ahead: auto"
    text += (
        "filesystems: {f: {device: v.x, type: xfs, mount: /srv}}\nmonitoring: {mail: root, scrub: monthly}"
    )
    about = [
        f
        for f in stated(HEAD + text, tmp_path)
        if "volume" in f.rule or "read-ahead" in f.rule or f.line == 6
    ]
    assert about == []


def placed(level: str, members: int, group: str) -> str:
    last = members - 1
    return DISKS + (
        f"arrays: {{s: {{level: {level}, members: [d<0-{last}>]}}}}\n"
        f"volume_groups:\n  v:\n    devices: [s]\n    {group}\n"
    )


# Stripes of raid5 with chunks of 512 KiB: 1.5 MiB on 4 disks, 2 MiB on 5, 3.5 MiB on 8.
TWO = "volumes: {x: {size: 1GiB}, z: {size: 1GiB}}"
PLACES = {
    "a power of two of data disks": (placed("raid5", 5, TWO), []),
    "another number": (placed("raid5", 4, TWO), ["8:note"]),
    "the only volume": (placed("raid5", 4, "volumes: {x: {size: 1GiB}}"), []),
    "an extent that fits": (placed("raid5", 4, f"extent: 6MiB\n    {TWO}"), []),
    "a volume that ends with a stripe": (placed("raid5", 4, "volumes: {x: {size: 1200MiB}, z: {size: 1GiB}}"), []),
    "raid6": (placed("raid6", 8, TWO), ["8:note"]),
    "raid10, which reads nothing first": (placed("raid10", 6, TWO), []),
    "raid0": (placed("raid0", 3, TWO), []),
    "a group of two arrays": (
        placed("raid5", 4, TWO).replace("}\nvol", ", t: {level: raid5, members: [d<4-7>]}}\nvol").replace("[s]", "[s, t]"), ["8:note"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PLACES.values(), ids=PLACES)
def test_volume_off_stripe(text: str, expected: list[str], tmp_path: Path) -> None:
    assert found("volume-off-stripe", text, tmp_path) == expected


def test_the_extent_that_is_advised_cures_it(tmp_path: Path) -> None:
    ((message, hint),) = said("volume-off-stripe", placed("raid5", 8, TWO), tmp_path)
    assert figures(message, "v.z", "s", "MiB").startswith("v.z 2 MiB s 3.5 MiB")
    assert hint == "write extent: 7MiB"
    assert found("volume-off-stripe", placed("raid5", 8, f"extent: 7MiB\n    {TWO}"), tmp_path) == []


@given(st.integers(0, 14).map(lambda power: 4 * KIB << power), st.integers(1, 250))
def test_an_advised_extent_is_one_that_lvm_takes_and_whole_stripes(chunk: int, data_disks: int) -> None:
    extent = fitting_extent(chunk * data_disks)
    check_extent(extent)
    assert extent % (chunk * data_disks) == 0 and extent >= 4 * MIB


def test_the_first_volume_that_begins_off_a_stripe_is_marked(tmp_path: Path) -> None:
    """After 1 GiB, 1 MiB into a stripe of 1.5 MiB; after two of them, 0.5 MiB."""
    three = "volumes: {a: {size: 1GiB}, b: {size: 1GiB}, c: {size: 1GiB}}"
    ((message, _),) = said("volume-off-stripe", placed("raid5", 4, three), tmp_path)
    assert figures(message, "v.b", "s", "MiB").startswith("v.b 1 MiB s 1.5 MiB")


TWO_ARRAYS = (
    "hardware: {disks: {d<0-7>: {serial: S<1>, size: 1TB}}}\n"
    "arrays: {a: {level: raid5, chunk: %s, members: [d<0-3>]}, b: {level: %s, chunk: 512KiB, members: [d<4-7>]}}\n"
    "volume_groups: {v: {devices: [a, b], extent: %s, volumes: {x: {size: 100GiB}, z: {size: 100%%free}}}}\n"
    "filesystems: {x: {device: v.x, type: ext4, mount: /x}, z: {device: v.z, type: xfs, mount: /z}}\n"
)


@pytest.mark.parametrize(
    ("chunk", "level", "extent", "geometry", "rules"),
    [
        ("512KiB", "raid5", "4608KiB", "su=524288,sw=3", []),
        ("512KiB", "raid5", "4MiB", "su=524288,sw=3", ["volume-off-stripe"]),
        ("256KiB", "raid5", "4608KiB", "noalign", ["unlike-stripes-in-group"]),
        ("512KiB", "raid6", "4608KiB", "noalign", ["unlike-stripes-in-group"]),
    ],
)
def test_a_group_of_two_arrays_has_their_stripe_if_it_is_one(
    chunk: str, level: str, extent: str, geometry: str, rules: list[str], tmp_path: Path
) -> None:
    """Two equal arrays were made with noalign, and nothing was said: blk_stack_limits() keeps a stripe that both have."""
    file = tmp_path / "layout.yaml"
    file.write_text(HEAD + TWO_ARRAYS % (chunk, level, extent))
    loaded = pipeline.check(str(file))
    assert loaded.topology is not None, loaded.findings
    ours = ("volume-off-stripe", "unlike-stripes-in-group")
    assert [each.finding.rule for each in loaded.findings if each.finding.rule in ours] == rules
    plan, _ = compile_plan(loaded.topology, loaded.document)
    assert plan is not None
    made = {step.id: " ".join(step.action.argv) for step in plan.steps if isinstance(step.action, Run)}
    xfs, ext = (
        next(argv for argv in made.values() if argv.startswith(name)) for name in ("mkfs.xfs", "mke2fs")
    )
    assert geometry in xfs
    assert ("stride=128,stripe_width=384" in ext) is (geometry != "noalign")


STACKED = """\
hardware: {disks: {d<0-3>: {serial: S<1>, size: 1TB}}}
arrays: {s: {level: raid1, members: [d<0-1>]}%s}
%svolume_groups: {v: {devices: [s], volumes: {x: {size: 100GiB}, z: {size: 100GiB}}}, w: {devices: [%s], volumes: {q: {size: 10GiB}}}}
"""
BELOW = {
    "a volume": ("", "", "v.x", ["5:error"]),
    "a volume beside a disk": ("", "", "d2, v.x", ["5:error"]),
    "a disk": ("", "", "d2", []),
    "an array of volumes, which is no volume": (", m: {level: raid1, members: [v.x, v.z]}", "", "m", []),
    "an encrypted volume, which is none either": ("", "encryption: {c: {device: v.x, key: ask}}\n", "c", []),
}


@pytest.mark.parametrize(("arrays", "encryption", "device", "expected"), BELOW.values(), ids=BELOW)
def test_group_on_volume(
    arrays: str, encryption: str, device: str, expected: list[str], tmp_path: Path
) -> None:
    """`nothing to report`, and then vgcreate ended with `device is an LV`."""
    line = [f"{5 + bool(encryption)}:{each[2:]}" for each in expected]
    assert found("group-on-volume", STACKED % (arrays, encryption, device), tmp_path) == line
