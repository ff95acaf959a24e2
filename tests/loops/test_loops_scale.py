"""Scaled layouts: what is divided, what stays, and that what could be built can still be built."""

import copy
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from raidplan.base.findings import has_errors
from raidplan.base.size import GIB, MIB, parse_size
from raidplan.document.read import parse_document
from raidplan.layout.load import layout_of
from raidplan.review.pipeline import load
from raidplan.topology import resolve
from raidplan.twin.loops import TooSmall, bytes_needed, record_of, scale_layout, scaled
from raidplan.twin.loops.scale import shares

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


def layout(disks, **sections):
    return {"version": "1", "host": "h", "hardware": {"disks": disks}, **sections}


def resolved(data):
    topology, findings = resolve(layout_of(data))
    return topology, [finding for finding in findings if has_errors([finding])]


PAIR = {"d0": {"size": "100GiB"}, "d1": {"size": "100GiB"}}
MIRROR = {"s0": {"level": "raid1", "members": ["d0", "d1"]}}


def test_scale_one_is_the_layout_itself():
    data = layout(PAIR, arrays=MIRROR)
    assert scaled(data, 1) == data


def test_the_argument_stays_as_it_is():
    data = layout(
        PAIR, arrays=MIRROR, filesystems={"f": {"device": "s0", "type": "ext4", "inodes": "1000000"}}
    )
    before = copy.deepcopy(data)
    scaled(data, 10)
    assert data == before


def test_disks_are_rounded_down_to_a_mebibyte():
    data = layout({"d0": {"size": "3000592982016B"}, "d1": {"size": "3TB"}}, arrays=MIRROR)
    sizes = [parse_size(disk["size"]) for disk in scaled(data, 7)["hardware"]["disks"].values()]
    assert sizes == [3000592982016 // 7 // MIB * MIB, 3 * 10**12 // 7 // MIB * MIB]


def test_partitions_volumes_swap_inodes_and_files_are_divided():
    data = layout(
        {"d0": {"size": "100GiB", "partitions": {"root": {"size": "20GiB"}, "data": {"size": "rest"}}}},
        volume_groups={
            "vg": {"devices": ["d0.data"], "volumes": {"a": {"size": "40GiB"}, "b": {"size": "100%free"}}}
        },
        filesystems={
            "root": {"device": "d0.root", "type": "ext4", "inodes": "100000", "files": "50000"},
            "a": {"device": "vg.a", "type": "xfs"},
        },
        swap={"s": {"file": "/swap", "size": "4GiB"}},
    )
    small = scaled(data, 10)
    parts = small["hardware"]["disks"]["d0"]["partitions"]
    assert parts == {"root": {"size": "2GiB"}, "data": {"size": "rest"}}
    assert small["volume_groups"]["vg"]["volumes"] == {"a": {"size": "4GiB"}, "b": {"size": "100%free"}}
    assert parse_size(small["swap"]["s"]["size"]) == 4 * GIB // 10 // MIB * MIB
    assert small["filesystems"]["root"] == {
        "device": "d0.root",
        "type": "ext4",
        "inodes": "10000",
        "files": "5000",
    }


def test_what_is_a_granularity_or_a_speed_stays():
    array = {
        "level": "raid5",
        "members": ["d0", "d1", "d2"],
        "chunk": "64KiB",
        "read_ahead": "6MiB",
        "sync_speed_min": "50MB/s",
    }
    data = layout({**PAIR, "d2": {"size": "100GiB", "rate": "150MB/s"}}, arrays={"s0": array},
                  filesystems={"f": {"device": "s0", "type": "ext4", "inode_ratio": "64KiB", "reserved": "1%"}})  # fmt: skip
    small = scaled(data, 10)
    assert small["arrays"] == data["arrays"] and small["filesystems"] == data["filesystems"]
    assert small["hardware"]["disks"]["d2"]["rate"] == "150MB/s"


def test_what_the_firmware_reads_keeps_its_size():
    parts = {
        "esp": {"size": "512MiB"},
        "bios": {"size": "1MiB", "type": "bios-boot"},
        "root": {"size": "rest"},
    }
    data = layout({"d0": {"size": "500GiB", "partitions": parts}}, boot={"esp": ["d0.esp"]},
                  filesystems={"esp": {"device": "d0.esp", "type": "vfat"}, "root": {"device": "d0.root", "type": "ext4"}})  # fmt: skip
    assert scaled(data, 100)["hardware"]["disks"]["d0"]["partitions"] == parts


def test_partitions_that_fill_a_disk_still_fit():
    room = (100 * GIB - 103 * MIB - MIB) // 2 // MIB
    parts = {"a": {"size": f"{room}MiB"}, "b": {"size": f"{room}MiB"}}
    data = layout({"d0": {"size": "100GiB", "partitions": parts}})
    assert not resolved(scaled(data, 100))[1]


def test_volumes_that_fill_a_group_still_fit():
    free = layout(
        PAIR, arrays=MIRROR, volume_groups={"vg": {"devices": ["s0"], "volumes": {"a": {"size": "100%free"}}}}
    )
    room = resolved(free)[0].devices["vg.a"].size
    full = copy.deepcopy(free)
    full["volume_groups"]["vg"]["volumes"] = {
        name: {"size": f"{room // 16 // MIB * 4}MiB"} for name in "abcd"
    }
    assert not resolved(full)[1]
    small = scaled(full, 37)
    topology, wrong = resolved(small)
    assert not wrong
    sizes = [topology.devices[f"vg.{name}"].size for name in "abcd"]
    assert len(set(sizes)) == 1 and sum(sizes) > room / 37 * 0.9


def test_a_group_on_the_volume_of_another_group():
    data = layout(
        {"d0": {"size": "100GiB"}},
        volume_groups={
            "top": {"devices": ["low.a"], "volumes": {"x": {"size": "20GiB"}, "y": {"size": "100%free"}}},
            "low": {"devices": ["d0"], "volumes": {"a": {"size": "50GiB"}, "b": {"size": "100%free"}}},
        },
    )
    small = scaled(data, 13)
    assert not resolved(small)[1]
    assert parse_size(small["volume_groups"]["top"]["volumes"]["x"]["size"]) <= 20 * GIB // 13


def test_too_small_says_what_and_which_scale_works():
    data = layout(PAIR, arrays=MIRROR, filesystems={"home": {"device": "s0", "type": "xfs"}})
    with pytest.raises(TooSmall) as no:
        scaled(data, 1000)
    assert no.value.path[:2] == ("filesystems", "home")
    assert "XFS needs" in str(no.value) and f"--scale {no.value.works} works" in str(no.value)
    assert not resolved(scaled(data, no.value.works))[1]
    with pytest.raises(TooSmall):
        scaled(data, no.value.works + 1)


def test_a_disk_of_nothing_is_named():
    with pytest.raises(
        TooSmall, match=r"hardware\.disks\.d0\.size gets too small at --scale 1000000: a disk needs 3 MiB"
    ):
        scaled(layout(PAIR, arrays=MIRROR), 1_000_000)


@pytest.mark.parametrize("n", [0, -1])
def test_a_scale_below_one_is_refused(n):
    with pytest.raises(ValueError, match="from 1 on"):
        scaled(layout(PAIR), n)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("n", [2, 30, 300])
def test_examples(file, n):
    loaded = load(str(file))
    if loaded.topology is None:
        pytest.skip("not a layout that can be built")
    try:
        topology, text = scale_layout(loaded.topology.layout, n)
    except TooSmall as error:
        n = error.works
        topology, text = scale_layout(loaded.topology.layout, n)
    document, findings = parse_document(text, "scaled.yaml")
    assert not findings
    assert layout_of(document.root.plain()) == topology.layout
    assert [file.disk for file in record_of(topology).files] == [
        file.disk for file in record_of(loaded.topology).files
    ]
    assert 0 < bytes_needed(topology) <= bytes_needed(loaded.topology) + GIB


SIZES = st.integers(100, 4_000_000).map(lambda mebibytes: f"{mebibytes * MIB + 512 * (mebibytes % 2048)}B")
SHARES = st.lists(st.integers(1, 400), min_size=1, max_size=4)


@st.composite
def layouts(draw):
    """Layouts of every shape that sizes run through, many of them filled to the last extent."""
    names = [f"d{number}" for number in range(draw(st.integers(2, 6)))]
    disks = {name: {"size": draw(SIZES)} for name in names}
    level = draw(st.sampled_from(["linear", "raid0", "raid1", "raid5", "raid6", "raid10"]))
    data = layout(disks, arrays={"s0": {"level": level, "members": names}})
    total = parse_size(draw(SIZES))
    parts = draw(SHARES)
    disks["os"] = {
        "size": f"{total}B",
        "partitions": {f"p{i}": {"size": f"{total * part // 1200}B"} for i, part in enumerate(parts)},
    }
    if draw(st.booleans()):
        disks["os"]["partitions"]["last"] = {"size": "rest"}
    data["filesystems"] = {
        "root": {"device": "os.p0", "type": "ext4", "inodes": str(draw(st.integers(16, 10**7)))}
    }
    if draw(st.booleans()):
        extent = draw(st.sampled_from([MIB, 4 * MIB, 64 * MIB]))
        data["volume_groups"] = {
            "vg": {"devices": ["s0"], "extent": f"{extent}B", "volumes": {"all": {"size": "100%free"}}}
        }
        device = resolved(data)[0].devices.get("vg.all")
        assume(device is not None)
        volumes = {
            f"v{i}": {"size": f"{max(extent, device.size * part // 1200)}B"}
            for i, part in enumerate(draw(SHARES))
        }
        data["volume_groups"]["vg"]["volumes"] = volumes | (
            {"rest": {"size": "100%free"}} if draw(st.booleans()) else {}
        )
    else:
        data["filesystems"]["big"] = {
            "device": "s0",
            "type": draw(st.sampled_from(["xfs", "ext4", "btrfs"])),
            "files": "1000",
        }
    return data


@given(layouts(), st.integers(2, 5000))
def test_what_could_be_built_can_be_built_at_scale(data, n):
    assume(not resolved(data)[1])
    try:
        small = scaled(data, n)
    except TooSmall as error:
        assert 1 <= error.works < n
        small = scaled(data, error.works)
        n = error.works
    assert not resolved(small)[1]
    for name, disk in small["hardware"]["disks"].items():
        if n > 1:
            assert (
                parse_size(disk["size"])
                == parse_size(data["hardware"]["disks"][name]["size"]) // n // MIB * MIB
            )


@given(st.lists(st.integers(4 * MIB + 1, 10**12), min_size=1), st.integers(0, 100), st.data())
def test_shares_fit_where_they_fitted(sizes, slack, data):
    step = 4 * MIB
    held = sum(-(-size // step) for size in sizes)
    before = (held + slack) * step
    n = data.draw(st.integers(2, min(1000, -(-min(sizes) // step))), "else the smallest has no step left")
    after = data.draw(st.integers(1, max(1, before // n // step))) * step
    assume(all(-(-size // step) * after // before >= 1 for size in sizes))
    rest = step if slack else 0
    got = shares(sizes, n, (before, after), step, rest)
    assert all(size % step == 0 and size >= step for size in got)
    if all(-(-size // step) * step * after // before >= step for size in sizes):
        assert sum(got) + rest <= after
