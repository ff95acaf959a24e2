"""Estimates by level, nesting, LVM and swap; rebuilds; what is missing."""

from __future__ import annotations

from itertools import product
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.estimate.layouts import MB, array, bound, estimates, mb

WIDE = "hardware: {{buses: {{b: {{type: pcie, generation: 3, lanes: 16}}}}, controllers: {{c: {{behind: b, speed: 6Gbps}}}}, disks: {{{}}}}}\n"


def disks(count: int, rate: int = 100, more: str = "", turning: str = "true") -> str:
    """A machine whose disks are alone in the way: d0, d1, ... on one wide controller."""
    return WIDE.format(
        f"d<0-{count - 1}>: {{behind: c, size: 1TB, rate: {rate}MB/s, rotational: {turning}{more}}}"
    )


def narrow(count: int, link: int, rate: int = 1000) -> str:
    """A machine whose one link of a measured rate is in the way of all its disks."""
    return (
        f"hardware: {{controllers: {{c: {{rate: {link}MB/s, speed: 12Gbps}}}}, disks: {{d<0-{count - 1}>: "
        f"{{behind: c, size: 1TB, rate: {rate}MB/s, rotational: true}}}}}}\n"
    )


@pytest.mark.parametrize(
    ("level", "read", "write"),
    [
        ("level: raid0", 600, 600),
        ("level: raid1", 100, 100),
        ("level: linear", 100, 100),
        ("level: raid4", 500, 500),
        ("level: raid5", 500, 500),
        ("level: raid6", 400, 400),
        ("level: raid10", 300, 300),
        ("level: raid10, layout: f2", 600, 300),
        ("level: raid10, layout: o2", 300, 300),
        ("level: raid10, layout: n3", 200, 200),
        ("level: raid10, layout: n4", 150, 150),
        ("level: raid6, layout: parity-last", 400, 400),
    ],
)
def test_bound_by_platters(level: str, read: float, write: float) -> None:
    found = array(f"{disks(6)}arrays: {{s: {{{level}, members: [d<0-5>]}}}}")
    assert mb(found) == (read, write)
    assert {each.kind for each in found.alone.read.bottlenecks} == {"disk"}


@pytest.mark.parametrize(
    ("level", "read", "write"),
    [
        ("level: raid0", 100, 100),
        ("level: raid1", 100, 16.7),
        ("level: linear", 100, 100),
        ("level: raid5", 100, 83.3),
        ("level: raid6", 100, 66.7),
        ("level: raid10", 100, 50),
        ("level: raid10, layout: o3", 100, 33.3),
    ],
)
def test_bound_by_a_link_parity_and_copies_are_moved_when_written_only(
    level: str, read: float, write: float
) -> None:
    found = array(f"{narrow(6, 100)}arrays: {{s: {{{level}, members: [d<0-5>]}}}}")
    assert mb(found) == (read, write) and bound(found) == ["c"]


def test_a_link_bound_read_scales_with_all_members_and_a_platter_bound_one_with_the_data() -> None:
    bus = (
        "hardware: {{buses: {{b<0-7>: {{type: other, rate: {}MB/s}}}}, disks: {{d<0-7>: {{behind: b<1>, rate: {}MB/s}}}}}}\n"
        "arrays: {{s: {{level: raid6, members: [d<0-7>]}}}}"
    )
    assert mb(array(bus.format(50, 500))) == (8 * 50, 6 * 50)
    assert mb(array(bus.format(500, 50))) == (6 * 50, 6 * 50)


@pytest.mark.parametrize(
    ("level", "read", "write"),
    [
        ("level: raid5", 600, 500),
        ("level: raid6", 600, 400),
        ("level: raid6, layout: parity-last", 400, 400),
        ("level: raid10", 600, 300),
        ("level: raid10, layout: o2", 600, 300),
        ("level: raid1", 100, 100),
    ],
)
def test_without_heads_nothing_is_passed_over(level: str, read: float, write: float) -> None:
    found = array(f"{disks(6, turning='false')}arrays: {{s: {{{level}, members: [d<0-5>]}}}}")
    assert mb(found) == (read, write)


@pytest.mark.parametrize("switching", ["command", "fis"])
def test_command_based_switching_gives_little_more_than_one_disk(switching: str) -> None:
    found = array(
        "hardware: {buses: {b: {type: pcie, generation: 2, lanes: 4}}, controllers: {c: {behind: b, speed: 3Gbps}},"
        f" multipliers: {{pm: {{behind: c, speed: 3Gbps, switching: {switching}}}}},"
        " disks: {d<0-4>: {behind: pm, size: 1TB, rate: 110MB/s}}}\narrays: {s: {level: raid0, members: [d<0-4>]}}"
    )
    assert bound(found) == ["pm"]
    assert mb(found)[0] == (110 if switching == "command" else 249)


def test_a_stripe_runs_at_its_slowest_member() -> None:
    slow = WIDE.format(
        "d<0-3>: {behind: c, size: 1TB, rate: 200MB/s}, e: {behind: c, size: 1TB, rate: 50MB/s}"
    )
    found = array(f"{slow}arrays: {{s: {{level: raid5, members: [d<0-3>, e]}}}}")
    assert (mb(found)[0], bound(found), found.alone.read.relieved) == (200, ["e"], pytest.approx(800 * MB))


NESTED = {
    "raid0 of raid0": (
        "arrays: {a: {level: raid0, members: [d<0-2>]}, b: {level: raid0, members: [d<3-5>]}, s: {level: raid0, members: [a, b]}}",
        "arrays: {s: {level: raid0, members: [d<0-5>]}}",
    ),
    "raid0 of mirrors": (
        "arrays: {m<0-2>: {level: raid1, members: [d<1:0/2/4>, d<1:1/3/5>]}, s: {level: raid0, members: [m<0-2>]}}",
        "arrays: {s: {level: raid10, members: [d<0-5>]}}",
    ),
}


@pytest.mark.parametrize(("nested", "flat"), NESTED.values(), ids=NESTED)
@given(link=st.integers(20, 900), rate=st.integers(20, 400))
def test_nesting_is_worth_its_flat_form(nested: str, flat: str, link: int, rate: int) -> None:
    machine = narrow(6, link, rate)
    assert mb(array(machine + nested)) == mb(array(machine + flat))


def test_what_lies_inside_carries_its_part() -> None:
    found = estimates(
        f"{disks(6)}arrays: {{a: {{level: raid5, members: [d<0-2>]}}, b: {{level: raid5, members: [d<3-5>]}}, s: {{level: raid0, members: [a, b]}}}}"
    )
    by_name = {each.name: each for each in found.arrays}
    assert mb(by_name["s"]) == (400, 400)
    assert mb(by_name["a"]) == mb(by_name["a"], together=True) == (200, 200)


def test_file_systems_and_swap_inherit_through_lvm_and_nesting() -> None:
    found = estimates(
        f"{disks(4)}arrays: {{s: {{level: raid5, members: [d<0-3>]}}}}\n"
        "volume_groups: {vg: {devices: [s], volumes: {a: {size: 1GiB}, w: {size: 1GiB}}}}\n"
        "filesystems: {f: {device: vg.a, type: ext4, mount: /f}}\n"
        "swap: {w: {device: vg.w}, x: {file: /f/swap, size: 1GiB}}"
    )
    for thing in (*found.arrays, *found.filesystems, *found.swap):
        assert mb(thing) == mb(thing, together=True) == (300, 300)
        assert thing.fate.losses_always_survived == 1


def test_a_group_over_two_arrays_has_what_the_slower_one_has() -> None:
    found = estimates(
        f"{disks(6)}arrays: {{s: {{level: raid0, members: [d<0-3>]}}, t: {{level: raid0, members: [d<4-5>]}}}}\n"
        "volume_groups: {vg: {devices: [s, t], volumes: {a: {size: 100%free}}}}\n"
        "filesystems: {f: {device: vg.a, type: xfs, mount: /f}}"
    )
    assert mb(found.filesystems[0]) == mb(found.filesystems[0], together=True) == (200, 200)


def test_a_bare_partition_shares_its_disk_with_the_arrays() -> None:
    found = estimates(
        WIDE.format(
            "d<0-1>: {behind: c, size: 1TB, rate: 100MB/s, partitions: {a: {size: 1GiB}, z: {size: rest}}}"
        )
        + "arrays: {s: {level: raid1, members: [d0.z, d1.z]}}\nswap: {w: {device: d0.a}}"
    )
    assert mb(found.swap[0]) == (100, 100)
    assert mb(found.swap[0], together=True)[1] == 50
    assert mb(found.arrays[0], together=True) == (100, 100), "the arrays are compared among themselves"


def test_arrays_together_share_by_the_stream() -> None:
    found = estimates(
        f"{narrow(6, 100)}arrays: {{s: {{level: raid0, members: [d<0-3>]}}, t: {{level: raid0, members: [d<4-5>]}}}}"
    )
    shares = {each.name: mb(each, together=True)[0] for each in found.arrays}
    assert shares == {"s": round(100 * 4 / 6, 1), "t": round(100 * 2 / 6, 1)}


def test_what_one_array_leaves_the_other_has() -> None:
    text = (
        "hardware: {controllers: {c: {rate: 300MB/s, speed: 6Gbps}}, disks: {slow: {behind: c, rate: 20MB/s, size: 1TB},"
        " d<0-2>: {behind: c, rate: 500MB/s, size: 1TB}}}\n"
        "arrays: {s: {level: raid0, members: [slow, d0]}, t: {level: raid0, members: [d<1-2>]}}"
    )
    shares = {each.name: mb(each, together=True)[0] for each in estimates(text).arrays}
    assert shares == {"s": 40, "t": 260}


@pytest.mark.parametrize(
    ("level", "read", "write"),
    [
        ("raid0", 400, 400),
        ("raid1", 400, 100),
        ("raid10", 400, 200),
        ("raid5", 400, 100),
        ("raid6", 400, 100),  # one other data block is read, data and two parities are written
    ],
)
def test_small_operations(level: str, read: float, write: float) -> None:
    found = array(f"{disks(4, more=', iops: 100')}arrays: {{s: {{level: {level}, members: [d<0-3>]}}}}").alone
    assert (found.read.iops, found.write.iops) == (pytest.approx(read), pytest.approx(write))


def test_operations_need_every_disk_to_state_its_own() -> None:
    text = (
        WIDE.format("d0: {behind: c, size: 1TB, iops: 100}, d1: {behind: c, size: 1TB}")
        + "arrays: {s: {level: raid1, members: [d<0-1>]}}"
    )
    found = array(text).alone
    assert (found.read.iops, found.write.iops) == (None, None)


def test_the_journal_takes_data_and_parity() -> None:
    text = disks(5) + "arrays: {s: {level: raid5, members: [d<0-3>], consistency: journal, journal: d4}}"
    found = array(text)
    # Four blocks go to the journal for three of data.
    assert mb(found) == (300, 75)
    assert [each.component for each in found.alone.write.bottlenecks] == ["d4"]


def test_a_rebuild_goes_at_the_average_of_the_zones() -> None:
    found = array(f"{disks(4, 160)}arrays: {{s: {{level: raid5, members: [d<0-3>]}}}}")
    assert found.rebuild.bytes_per_second == pytest.approx(0.75 * 160 * MB)
    member = (found.capacity or 0) / 3
    assert found.rebuild.seconds == pytest.approx(member / (120 * MB))
    desktop, server = found.rebuild.read_error_bound or (0, 0)
    assert desktop == pytest.approx(1 - exp(-8 * 3 * member * 1e-14))
    assert server == pytest.approx(1 - exp(-8 * 3 * member * 1e-15))


@pytest.mark.parametrize(
    ("machine", "more", "pace", "limit"),
    [
        (narrow(4, 100), "", 25, "controller c"),
        (disks(4, 1000), "", 204.8, "sync_speed_max"),
        (disks(4, 1000), ", sync_speed_max: 50MB/s", 50, "sync_speed_max"),
        (disks(4, 40), ", sync_speed_max: 500MB/s", 30, "disk d0"),
    ],
)
def test_what_slows_a_rebuild(machine: str, more: str, pace: float, limit: str) -> None:
    found = array(f"{machine}arrays: {{s: {{level: raid5, members: [d<0-3>]{more}}}}}").rebuild
    assert found.limit == limit and found.bytes_per_second == pytest.approx(pace * MB, rel=0.001)


def test_solid_state_disks_have_no_zones_and_no_such_bound() -> None:
    text = WIDE.format("d<0-1>: {behind: c, size: 1TB, rate: 100MB/s, rotational: false}")
    found = array(f"{text}arrays: {{s: {{level: raid1, members: [d<0-1>]}}}}").rebuild
    assert found.bytes_per_second == pytest.approx(100 * MB) and found.read_error_bound is None


def test_no_redundancy_no_rebuild() -> None:
    found = array(f"{disks(2)}arrays: {{s: {{level: raid0, members: [d<0-1>]}}}}")
    assert found.rebuild.seconds is None and found.fate.losses_always_survived == 0


@pytest.mark.parametrize(("entries", "expected"), [("", 256), (", stripe_cache_size: 4096", 4096)])
def test_stripe_cache(entries: str, expected: int) -> None:
    text = f"{disks(4)}arrays: {{s: {{level: raid5, members: [d<0-3>]{entries}}}}}"
    assert array(text).stripe_cache_bytes == expected * 4 * 4096
    assert array(f"{disks(4)}arrays: {{s: {{level: raid0, members: [d<0-3>]}}}}").stripe_cache_bytes == 0


def test_watts_and_amperes() -> None:
    machine = estimates(
        "hardware: {power: {a: {base_watts: 60, feeds: [d<0-2>]}, b: {staggered_spinup: true, feeds: [d<3-5>]}},"
        " disks: {d<0-5>: {rotational: true}, s: {rotational: false}}}"
    ).machine
    assert machine.watts == 60 + 6 * 12 + 5 and machine.base_watts_known
    # Three at once, and one of those that start in turn.
    assert machine.spinup_amps_12v == pytest.approx(60 / 12 + 4 * 2.2)


def test_an_unknown_rate_is_missing_and_the_rest_is_used() -> None:
    text = "hardware: {controllers: {c: {speed: 3Gbps}}, disks: {d<0-1>: {behind: c}}}\narrays: {s: {level: raid0, members: [d<0-1>]}}"
    found = array(text)
    rate = "rate (285 MB/s are assumed, as of the fastest larger hard disk)"
    assert mb(found) == (552, 552) and {each.kind for each in found.alone.read.bottlenecks} == {"port"}
    assert [str(fact) for fact in found.missing] == [
        f"the {rate} of d0",
        "the bus of c",
        f"the {rate} of d1",
        "the size of d0",
        "the size of d1",
    ]
    assert found.capacity is None


UNKNOWN = """hardware:
  buses: {slot: {type: %s}}
  controllers: {a: {behind: slot, ports: 8, speed: 6Gbps}}
  disks: {d<0-3>: {behind: a, port: <1>, serial: S<1>, size: 3TB, rotational: %s}}
arrays: {s: {level: raid5, members: [d<0-3>]}}
"""


def test_hard_disks_of_unknown_rate_are_no_faster_than_hard_disks() -> None:
    """Four of them behind a fast slot were said to read 820 MB/s and to be rebuilt in four hours."""
    found = estimates(UNKNOWN % ("pcie, generation: 3, lanes: 8", "true"))
    (array,) = found.arrays
    assert mb(array) == (630, 630) and {each.kind for each in array.alone.read.bottlenecks} == {"disk"}
    assert all(each.assumed for each in array.alone.read.bottlenecks)
    assert array.rebuild.bytes_per_second == 210e6 * 0.75 and array.rebuild.limit == "disk d0, assumed"
    assert found.gains == ()


def test_a_link_that_is_stated_still_bounds_disks_of_unknown_rate_and_gives_no_advice() -> None:
    found = estimates(UNKNOWN % ("pci, width: 32, clock: 33MHz, rate: 95MB/s", "true"))
    assert mb(found.arrays[0]) == (95, 71.2) and bound(found.arrays[0]) == ["slot"]
    assert found.gains == ()


@pytest.mark.parametrize(
    ("disk", "read"),
    [
        ("size: 300GB, rotational: true", 210), ("size: 4TB", 210), ("size: 8TB", 249), ("size: 16TB", 261),
        ("size: 20TB", 285), ("size: 1TB, rotational: false", 560),
        ("size: 1TB, rate: 90MB/s", 90),
    ],
)  # fmt: skip
def test_the_class_of_a_disk_by_its_size_and_medium(disk: str, read: float) -> None:
    wide = "hardware: {controllers: {c: {speed: 12Gbps}}, disks: {d<0-1>: {behind: c, %s}}}\n"
    assert mb(array(f"{wide % disk}arrays: {{s: {{level: raid1, members: [d<0-1>]}}}}"))[0] == read


@pytest.mark.parametrize(("generation", "read"), [(2, 1640), (3, 3229.5), (4, 6459.1), (5, 12400)])
def test_the_class_of_an_nvme_disk_by_the_generation_of_its_bus(generation: int, read: float) -> None:
    lanes = 8 if generation == 5 else 4
    text = (
        f"hardware: {{buses: {{b<0-1>: {{type: pcie, generation: {generation}, lanes: {lanes}}}}}, "
        "disks: {d<0-1>: {behind: b<1>, size: 1TB, rotational: false}}}\n"
        "arrays: {s: {level: raid1, members: [d<0-1>]}}"
    )
    assert mb(array(text))[0] == read


def test_swap_on_a_mirror_takes_nothing_from_the_other_arrays() -> None:
    """A mirror for swap beside the database halved its rate, and the cure looked like a regression."""
    parts = "hardware: {disks: {d<0-1>: {size: 1TB, rate: 100MB/s, partitions: {a: {size: 9GiB}, b: {size: 9GiB}}}}}\n"
    arrays = "arrays: {s: {level: raid1, members: [d<0-1>.a]}, w: {level: raid1, members: [d<0-1>.b]}}\n"
    swap = estimates(f"{parts}{arrays}swap: {{w: {{device: w}}}}")
    by_name = {each.name: each for each in swap.arrays}
    assert mb(by_name["s"], together=True) == (100, 100)
    # Beside the array at work, swap has its share.
    assert mb(by_name["w"], together=True) == mb(swap.swap[0], together=True) == (50, 50)
    both = estimates(
        f"{parts}{arrays}swap: {{w: {{device: w}}}}\nfilesystems: {{f: {{device: s, type: xfs, mount: /f}}}}"
    )
    assert mb(both.filesystems[0], together=True) == (100, 100)
    data = estimates(f"{parts}{arrays}filesystems: {{f: {{device: w, type: xfs, mount: /f}}}}")
    assert {mb(each, together=True) for each in data.arrays} == {(50, 50)}


@pytest.mark.parametrize(
    ("rate", "threads", "said"), [(60, "", 0), (200, "", 1), (200, ", group_thread_count: 4", 1)]
)
def test_fast_parity_says_that_the_processor_is_not_counted(rate: int, threads: str, said: int) -> None:
    found = array(f"{disks(6, rate)}arrays: {{s: {{level: raid5, members: [d<0-5>]{threads}}}}}")
    notes = [each for each in found.notes if "processor" in each]
    assert len(notes) == said and all(("one thread" in each) is not bool(threads) for each in notes)


def test_nothing_known_is_no_number() -> None:
    found = estimates(
        "hardware: {disks: {d<0-1>: {}}}\narrays: {s: {level: raid1, members: [d<0-1>]}}\n"
        "filesystems: {f: {device: s, type: xfs, mount: /f}}"
    )
    for thing in (found.arrays[0], found.filesystems[0]):
        assert mb(thing) == mb(thing, together=True) == (285, 285)
        assert thing.alone.read.bottlenecks[0].assumed and thing.capacity is None and thing.missing
    assert found.arrays[0].rebuild.seconds is None
    assert found.gains == ()


def test_with_one_known_disk_the_figure_is_a_bound_and_says_what_is_missing() -> None:
    text = WIDE.format("d0: {behind: c, rate: 100MB/s, size: 1TB}, d1: {behind: c, size: 1TB}")
    found = array(f"{text}arrays: {{s: {{level: raid0, members: [d<0-1>]}}}}")
    assert mb(found) == (200, 200)
    assert any(str(fact).startswith("the rate (210 MB/s are assumed") for fact in found.missing)


def test_a_bare_layout_has_an_estimate() -> None:
    assert estimates("hardware: {}").arrays == ()


@given(st.data())
def test_faster_parts_never_slow_the_slowest_array(data: st.DataObject) -> None:
    """Whatever the wiring: a better link or a faster disk does not lower the pace of the slowest array."""
    rates = {name: data.draw(st.integers(10, 300), label=name) for name in ("b0", "b1", "c0", "c1", "c2")} | {
        f"d{n}": data.draw(st.integers(10, 300)) for n in range(6)
    }
    levels = [data.draw(st.sampled_from(("raid0", "raid1", "raid5"))) for _ in range(2)]
    better = {**rates, (changed := data.draw(st.sampled_from(sorted(rates)))): rates[changed] * 2}

    def paces(speeds: dict[str, int]) -> list[float]:
        wires = ", ".join(f"b{n}: {{type: other, rate: {speeds[f'b{n}']}MB/s}}" for n in range(2))
        cards = ", ".join(
            f"c{n}: {{behind: b{n % 2}, speed: 6Gbps, rate: {speeds[f'c{n}']}MB/s}}" for n in range(3)
        )
        each = ", ".join(f"d{n}: {{behind: c{n % 3}, rate: {speeds[f'd{n}']}MB/s}}" for n in range(6))
        found = estimates(
            f"hardware: {{buses: {{{wires}}}, controllers: {{{cards}}}, disks: {{{each}}}}}\n"
            f"arrays: {{s: {{level: {levels[0]}, members: [d0, d1, d2]}}, t: {{level: {levels[1]}, members: [d3, d4, d5]}}}}"
        )
        members = {"raid0": 3, "raid1": 1, "raid5": 2}
        return [
            (thing.together.write.bytes_per_second or 0) / members[level]
            for thing, level in zip(found.arrays, levels, strict=True)
        ]

    assert min(paces(better)) >= min(paces(rates)) * (1 - 1e-9)


def test_every_level_and_direction_of_two_disks() -> None:
    for level, link in product(("raid0", "raid1", "linear"), (30, 3000)):
        found = array(f"{narrow(2, link, 100)}arrays: {{s: {{level: {level}, members: [d<0-1>]}}}}")
        read, write = mb(found)
        assert read is not None and write is not None and 0 < write <= read <= min(200, link)


def test_the_file_system_of_a_key_file_is_no_part_of_what_the_key_opens() -> None:
    """Its slow disks bounded the encrypted ones, although the key is read once at the boot."""
    slow = "s<0-1>: {behind: c, size: 1TB, rate: 50MB/s, rotational: true}, d<0-1>: {behind: c, size: 1TB, rate: 200MB/s, rotational: true}"
    found = estimates(
        f"{WIDE.format(slow)}arrays: {{os: {{level: raid1, members: [s<0-1>]}}, s: {{level: raid1, members: [d<0-1>]}}}}\n"
        "encryption: {c: {device: s, key: {file: /etc/k}}}\n"
        "filesystems: {r: {device: os, type: ext4, mount: /}, f: {device: c, type: ext4, mount: /f}}"
    )
    assert [(each.name, *mb(each)) for each in found.filesystems] == [("r", 50, 50), ("f", 200, 200)]
    assert [mb(each, together=True) for each in found.filesystems] == [(50, 50), (200, 200)]
