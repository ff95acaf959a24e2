"""Both sides of every threshold of the rules about stripe caches, threads, read-ahead and the pace of a sync."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

DISKS = "hardware: {%sdisks: {d<00-39>: {serial: S<1>, size: 3TB}}}\n"


def caches(memory: str, *arrays: tuple[int, int | None]) -> str:
    """raid6 arrays of so many members with so many entries each, `a`, `b` and so on; `a` is in line 5."""
    text, first = DISKS % (f"memory: {memory}, " if memory else "") + "arrays:\n", 0
    for name, (members, entries) in zip("abcde", arrays, strict=False):
        given = f", stripe_cache_size: {entries}" if entries is not None else ""
        text += f"  {name}: {{level: raid6, members: [d<{first:02}-{first + members - 1:02}>]{given}}}\n"
        first += members
    return text


MEMORY = {
    "5 of 16 GiB": ("16GiB", [(8, 32768)] * 5, ["5:warning"]),
    "10 %": ("10GiB", [(8, 32768)], []),
    "just above 10 %": ("10239MiB", [(8, 32768)], ["5:warning"]),
    "half": ("2GiB", [(8, 32768)], ["5:warning"]),
    "just above half": ("2047MiB", [(8, 32768)], ["5:error"]),
    "1 GiB for one array of a machine with 1 GiB": ("1GiB", [(8, 32768)], ["5:error"]),
    "the kernel's own size is not the layout's": ("64MiB", [(8, None)], []),
    "but it counts beside others: 8 + 8 of 160 MiB": ("160MiB", [(8, 256), (8, None)], []),
    "8 + 8 of 159 MiB": ("159MiB", [(8, 256), (8, None)], ["5:warning"]),
    "a value that the kernel refuses": ("16GiB", [(8, 32786)], []),
    "the least that the kernel takes: 544 of 5120 KiB": ("5MiB", [(8, 17)], ["5:warning"]),
    "memory unknown, 1 GiB": ("", [(8, 32768)], ["5:note"]),
    "memory unknown, less": ("", [(8, 32767)], []),
    "memory unknown, asked once": ("", [(8, 32768)] * 5, ["5:note"]),
}


@pytest.mark.parametrize(("memory", "arrays", "expected"), MEMORY.values(), ids=MEMORY)
def test_stripe_cache_memory(
    memory: str, arrays: list[tuple[int, int | None]], expected: list[str], tmp_path: Path
) -> None:
    assert found("stripe-cache-memory", caches(memory, *arrays), tmp_path) == expected


def test_the_memory_is_said_with_its_figures(tmp_path: Path) -> None:
    ((message, hint),) = said("stripe-cache-memory", caches("16GiB", *[(8, 32768)] * 5), tmp_path)
    assert figures(message, *"abcde") == "a b c d e 5 GiB 32768 8 4 a 31% 16 GiB"
    assert figures(hint, *"abcde") == "8192 a b c d e 1.2 GiB"


@pytest.mark.parametrize(
    ("memory", "hint"),
    [
        ("2GiB", "write stripe_cache_size: 4096, which takes 128 MiB, and measure whether more helps"),
        (
            "100MiB",
            "remove 'stripe_cache_size', for the kernel's 256 entries take 8 MiB, and grow when needed",
        ),
    ],
)
def test_the_size_to_write_fits_the_memory(memory: str, hint: str, tmp_path: Path) -> None:
    assert [advice for _, advice in said("stripe-cache-memory", caches(memory, (8, 32768)), tmp_path)] == [
        hint
    ]


@pytest.mark.parametrize(
    ("entries", "memory", "expected"),
    [
        (8192, "64GiB", []),
        (8193, "64GiB", ["5:note"]),
        (32768, "", ["5:note"]),
        (32768, "10GiB", ["5:note"]),
        (32768, "10239MiB", []),  # its memory is the finding
        (32769, "64GiB", []),  # refused, which is the finding
    ],
)
def test_large_stripe_cache(entries: int, memory: str, expected: list[str], tmp_path: Path) -> None:
    assert found("large-stripe-cache", caches(memory, (8, entries)), tmp_path) == expected


def test_the_range_of_the_stripe_cache(tmp_path: Path) -> None:
    """32786, as an account of a machine has it in its text; 32768 is in its command."""
    for entries, expected in ((16, 1), (17, 0), (32768, 0), (32769, 1), (32786, 1)):
        assert len(found("stripe-cache-range", caches("", (8, entries)), tmp_path)) == expected
    ((message, hint),) = said("stripe-cache-range", caches("", (8, 32786)), tmp_path)
    assert (figures(message, "a"), figures(hint)) == ("a 32786 17 32768", "17 32768")


SOLID = (
    "hardware: {disks: {d<0-3>: {serial: S<1>, size: 2TB%s}}}\narrays: {s: {level: %s, members: [d<0-3>]%s}}"
)
THREADS = {
    "solid state": (", rotational: false", "raid5", "", ["4:note"]),
    "solid state, one thread by word": (
        ", rotational: false",
        "raid6",
        ", group_thread_count: 0",
        ["4:note"],
    ),
    "solid state, a worker": (", rotational: false", "raid6", ", group_thread_count: 1", []),
    "hard disks": (", rotational: true", "raid6", "", []),
    "who knows": ("", "raid6", "", []),
    "no parity": (", rotational: false", "raid10", "", []),
}


@pytest.mark.parametrize(("disk", "level", "more", "expected"), THREADS.values(), ids=THREADS)
def test_single_parity_thread(disk: str, level: str, more: str, expected: list[str], tmp_path: Path) -> None:
    assert found("single-parity-thread", SOLID % (disk, level, more), tmp_path) == expected


# 7 x 256 KiB: a stripe of 1792 KiB.
SEVEN = "hardware: {disks: {d<0-7>: {serial: S<1>%s}}}\narrays: {s: {level: %s, members: [d<0-7>]%s}}\n"
STRIPE = ", chunk: 256KiB, read_ahead: "
AHEAD = {
    "128 KiB over 1.75 MiB": ("raid5", STRIPE + "128KiB", ["4:warning"]),
    "none at all": ("raid5", STRIPE + "0B", ["4:warning"]),
    "just below a stripe": ("raid5", STRIPE + "1788KiB", ["4:warning"]),
    "a stripe": ("raid5", STRIPE + "1792KiB", ["4:note"]),
    "just below two": ("raid5", STRIPE + "3580KiB", ["4:note"]),
    "two stripes": ("raid5", STRIPE + "3584KiB", []),
    "md's own": ("raid5", ", chunk: 256KiB", []),
    "six data disks": ("raid6", STRIPE + "3MiB", []),
    "near copies, four data disks": ("raid10", STRIPE + "2MiB", []),
    "far copies, eight of them": ("raid10", ", layout: f2" + STRIPE + "2MiB", ["4:note"]),
    "a mirror has no stripe": ("raid1", ", read_ahead: 4KiB", []),
    "linear has none": ("linear", ", read_ahead: 4KiB", []),
}


@pytest.mark.parametrize("size", ["", ", size: 1TB"])
@pytest.mark.parametrize(("level", "more", "expected"), AHEAD.values(), ids=AHEAD)
def test_read_ahead_below_stripe(
    level: str, more: str, expected: list[str], size: str, tmp_path: Path
) -> None:
    assert found("read-ahead-below-stripe", SEVEN % (size, level, more), tmp_path) == expected


def test_the_read_ahead_to_write_is_named(tmp_path: Path) -> None:
    text = SEVEN % (", size: 1TB", "raid5", STRIPE + "128KiB")
    ((message, hint),) = said("read-ahead-below-stripe", text, tmp_path)
    assert (figures(message, "s"), figures(hint)) == ("s 128KiB 1792KiB 7 256KiB", "3584KiB")


READER = {
    "large files": ("workload: large-files\n", "", ["5:warning"]),
    "a database": ("workload: database\n", "", []),
    "small files": ("workload: small-files\n", "", []),
    "a file system": ("", "filesystems: {f: {device: s, type: xfs}}", ["4:warning"]),
    "swap": ("", "swap: {w: {device: s}}", []),
    "a volume that takes it over": ("", "volume_groups: {v: {devices: [s], volumes: {x: {size: 1TiB}}}}", ["4:warning"]),
    "a volume with its own": (
        "", "volume_groups: {v: {devices: [s], volumes: {x: {size: 1TiB, read_ahead: 4MiB}}}}", [],
    ),
    "one of two volumes takes it over": (
        "", "volume_groups: {v: {devices: [s], volumes: {x: {size: 1TiB, read_ahead: 4MiB}, z: {size: 1TiB}}}}", ["4:warning"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("workload", "reader", "expected"), READER.values(), ids=READER)
def test_who_reads_an_array(workload: str, reader: str, expected: list[str], tmp_path: Path) -> None:
    text = workload + SEVEN % (", size: 1TB", "raid5", STRIPE + "128KiB") + reader
    assert found("read-ahead-below-stripe", text, tmp_path) == expected


def test_the_second_device_of_a_group_passes_nothing_on(tmp_path: Path) -> None:
    text = "hardware: {disks: {d<0-7>: {serial: S<1>, size: 1TB}}}\narrays:\n"
    text += "  a: {level: raid10, members: [d<0-3>], read_ahead: 128KiB}\n  b: {level: raid10, members: [d<4-7>], read_ahead: 128KiB}\n"
    text += "volume_groups: {v: {devices: [a, b], volumes: {x: {size: 1TiB}}}}"
    assert found("read-ahead-below-stripe", text, tmp_path) == ["5:warning"]


def test_an_array_below_another_is_not_read_itself(tmp_path: Path) -> None:
    text = "hardware: {disks: {d<0-7>: {serial: S<1>, size: 1TB}}}\narrays:\n"
    text += "  a<0-1>: {level: raid5, members: [d<1:0/4>, d<1:1/5>, d<1:2/6>], read_ahead: 128KiB}\n"
    text += "  s: {level: raid0, members: [a0, a1], read_ahead: %s}\n"
    assert found("read-ahead-below-stripe", text % "2MiB", tmp_path) == []
    assert found("read-ahead-below-stripe", text % "2044KiB", tmp_path) == ["6:note"]


WIDE = "hardware: {disks: {d<00-39>: {serial: S<1>, size: 1TB}}}\narrays: {s: {level: raid6, members: [d<00-39>], chunk: 1MiB%s}}"
LARGE = {
    "32 MiB": (SEVEN % (", size: 1TB", "raid5", STRIPE + "32MiB"), []),
    "a page more": (SEVEN % (", size: 1TB", "raid5", STRIPE + "32772KiB"), ["4:note"]),
    "two stripes of 38 MiB": (WIDE % ", read_ahead: 76MiB", []),
    "more than two of them": (WIDE % ", read_ahead: 77MiB", ["4:note"]),
    "a mirror": (SEVEN % (", size: 1TB", "raid1", ", read_ahead: 64MiB"), ["4:note"]),
    "a volume": (
        SEVEN % (", size: 1TB", "raid5", "")
        + "volume_groups: {v: {devices: [s], volumes: {x: {size: 1TiB, read_ahead: 32772KiB}}}}", ["5:note"],
    ),
    "a volume of two stripes of 38 MiB": (
        WIDE % "" + "\nvolume_groups: {v: {devices: [s], volumes: {x: {size: 1TiB, read_ahead: 76MiB}}}}", [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LARGE.values(), ids=LARGE)
def test_large_read_ahead(text: str, expected: list[str], tmp_path: Path) -> None:
    assert found("large-read-ahead", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("ahead", "hints"),
    [
        ("4KiB", []),
        ("0B", []),
        ("6KiB", ["write read_ahead: 8KiB, or 4KiB"]),
        ("512B", ["write read_ahead: 4KiB"]),
        ("2MB", ["write read_ahead: 1956KiB, or 1952KiB"]),
    ],
)
def test_read_ahead_is_counted_in_pages(ahead: str, hints: list[str], tmp_path: Path) -> None:
    text = SEVEN % ("", "raid1", f", read_ahead: {ahead}")
    assert [hint for _, hint in said("read-ahead-off-page", text, tmp_path)] == hints
    volume = SEVEN % (", size: 1TB", "raid1", "")
    volume += f"volume_groups: {{v: {{devices: [s], volumes: {{x: {{size: 1GiB, read_ahead: {ahead}}}}}}}}}"
    assert [hint for _, hint in said("read-ahead-off-page", volume, tmp_path)] == hints


FAST = (
    "hardware: {disks: {d<0-3>: {serial: S<1>, size: 4TB, rotational: false%s}}}\n"
    "arrays: {s: {level: %s, members: [d<0-3>]%s}}"
)
PACE = {
    "solid state": (", rate: 500MB/s", "raid5", "", ["4:note"]),
    "200,000 KiB/s": (", rate: 204800kB/s", "raid5", "", []),
    "just above": (", rate: 204801kB/s", "raid5", "", ["4:note"]),
    "a limit of its own": (", rate: 500MB/s", "raid5", ", sync_speed_max: 300MB/s", []),
    "a rate that is not known": ("", "raid5", "", []),
    "nothing to sync": (", rate: 500MB/s", "raid0", "", []),
    "a mirror": (", rate: 500MB/s", "raid1", "", ["4:note"]),
}


@pytest.mark.parametrize(("rate", "level", "more", "expected"), PACE.values(), ids=PACE)
def test_default_sync_speed(rate: str, level: str, more: str, expected: list[str], tmp_path: Path) -> None:
    assert found("default-sync-speed", FAST % (rate, level, more), tmp_path) == expected


def test_the_hours_of_a_limited_rebuild_are_said(tmp_path: Path) -> None:
    ((message, hint),) = said("default-sync-speed", FAST % (", rate: 500MB/s", "raid5", ""), tmp_path)
    assert (figures(message, "s"), hint) == (
        "s 500 MB/s 205 MB/s 5.4 h 2.2 h",
        "write sync_speed_max: 500MB/s",
    )


@pytest.mark.parametrize(("size", "expected"), [("737279MB", []), ("737280MB", ["4:note"])])
def test_only_what_takes_an_hour_is_worth_a_line(size: str, expected: list[str], tmp_path: Path) -> None:
    """At 204.8 MB/s an hour is 737.28 GB."""
    text = FAST.replace("4TB", size) % (", rate: 500MB/s", "raid1", "")
    assert found("default-sync-speed", text, tmp_path) == expected


@pytest.mark.parametrize(("swap", "data"), [("16GiB", "rest"), ("20GiB", "20GiB")])
def test_the_member_counts_and_not_its_disk(swap: str, data: str, tmp_path: Path) -> None:
    """84 s for 16 GiB of 960 GB."""
    parts = f", rate: 500MB/s, partitions: {{s: {{size: {swap}}}, d: {{size: {data}}}}}"
    text = FAST.replace("4TB", "960GB").replace("members: [d<0-3>]", "members: [d<0-3>.%s]")
    assert found("default-sync-speed", text % (parts, "raid1", "s", ""), tmp_path) == []
    assert found("default-sync-speed", text % (parts, "raid1", "d", ""), tmp_path) == ["4:note"] * (
        data == "rest"
    )


@pytest.mark.parametrize(("rate", "expected"), [(273, []), (274, ["4:note"])])
def test_a_hard_disk_counts_from_end_to_end(rate: int, expected: list[str], tmp_path: Path) -> None:
    """Three quarters of the rate at the outer tracks, which only the hint goes by."""
    text = FAST.replace("rotational: false", "rotational: true") % (f", rate: {rate}MB/s", "raid5", "")
    assert found("default-sync-speed", text, tmp_path) == expected
    assert all(
        hint == f"write sync_speed_max: {rate}MB/s" for _, hint in said("default-sync-speed", text, tmp_path)
    )


def test_a_narrow_link_is_the_limit_itself(tmp_path: Path) -> None:
    """Four disks of 500 MB/s on 410: a higher limit changes nothing."""
    text = "hardware: {buses: {b: {type: pcie, generation: 2, lanes: 1}}, controllers: {c: {behind: b, ports: 4, speed: 6Gbps}}, "
    text += "disks: {d<0-3>: {behind: c, serial: S<1>, size: 4TB, rate: 500MB/s}}}\narrays: {s: {level: raid5, members: [d<0-3>]%s}}"
    assert found("default-sync-speed", text % "", tmp_path) == []
    assert found("sync-starves-users", text % ", sync_speed_min: 100MB/s", tmp_path) == ["4:warning"]


@pytest.mark.parametrize(
    ("least", "level", "rate", "expected"),
    [
        ("120MB/s", "raid5", ", rate: 150MB/s", []),
        ("121MB/s", "raid5", ", rate: 150MB/s", ["4:warning"]),
        ("121MB/s", "raid5", "", []),
        ("121MB/s", "raid0", ", rate: 150MB/s", []),
    ],
)
def test_sync_starves_users(least: str, level: str, rate: str, expected: list[str], tmp_path: Path) -> None:
    text = FAST % (rate, level, f", sync_speed_min: {least}")
    assert found("sync-starves-users", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("least", "most", "expected"),
    [("50MB/s", "50MB/s", []), ("51MB/s", "50MB/s", ["4:warning"]), ("50MB/s", "51MB/s", [])],
)
def test_sync_speed_order(least: str, most: str, expected: list[str], tmp_path: Path) -> None:
    text = FAST % ("", "raid5", f", sync_speed_min: {least}, sync_speed_max: {most}")
    assert found("sync-speed-order", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("rate", "expected"), [("1023B/s", 1), ("1024B/s", 0), ("2199023255551B/s", 0), ("2199023255552B/s", 1)]
)
def test_sync_speed_range(rate: str, expected: int, tmp_path: Path) -> None:
    for key in ("sync_speed_min", "sync_speed_max"):
        text = FAST % ("", "raid5", f", {key}: {rate}")
        assert len(found("sync-speed-range", text, tmp_path)) == expected


@pytest.mark.parametrize(("threads", "expected"), [(0, 0), (8192, 0), (8193, 1), (-1, 1)])
def test_thread_count_range(threads: int, expected: int, tmp_path: Path) -> None:
    text = FAST % ("", "raid5", f", group_thread_count: {threads}")
    assert len(found("thread-count-range", text, tmp_path)) == expected
