"""Both sides of every threshold of the rules about crashes, journals, the initial sync, and starting degraded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

DISKS = "hardware: {disks: {d<0-3>: {serial: S<1>, size: %s}, x<0-1>: {serial: X<1>, size: 1TB, rotational: false}}}\n"
HARD, SOLID = ", rotational: true", ", rotational: false"


def array(text: str, disk: str = "3TB") -> str:
    """An array `s` of four disks, in line 4."""
    return DISKS % disk + f"arrays: {{s: {{members: [d<0-3>], {text}}}}}"


BITMAP = {
    "none": ("3TB", "level: raid5, bitmap: none", ["4:warning"]),
    "resync": ("3TB", "level: raid5, consistency: resync", ["4:warning"]),
    "none on a mirror": ("3TB", "level: raid1, bitmap: none", ["4:warning"]),
    "by default": ("3TB", "level: raid5", []),
    "a partial parity log": ("3TB", "level: raid5, consistency: ppl, bitmap: none", []),
    "a journal": ("3TB", "level: raid5, consistency: journal, journal: x0, bitmap: none", []),
    "nothing to keep": ("3TB", "level: raid0, bitmap: none", []),
}


@pytest.mark.parametrize(("disk", "text", "expected"), BITMAP.values(), ids=BITMAP)
def test_no_bitmap(disk: str, text: str, expected: list[str], tmp_path: Path) -> None:
    assert found("no-bitmap", array(text, disk), tmp_path) == expected


@pytest.mark.parametrize(("size", "expected"), [("102399MiB", []), ("100GiB", ["4:warning"])])
def test_no_bitmap_from_100_gib_on(size: str, expected: list[str], tmp_path: Path) -> None:
    assert found("no-bitmap", array("level: raid5, bitmap: none", size), tmp_path) == expected


def test_the_hours_without_a_bitmap_are_said(tmp_path: Path) -> None:
    text = array("level: raid5, bitmap: none", "3TB, rate: 100MB/s, rotational: false")
    ((message, hint),) = said("no-bitmap", text, tmp_path)
    assert (figures(message, "s"), hint) == ("s 3,000 GB 8.3 h 100 MB/s", "write bitmap: internal")
    unknown = array("level: raid5, bitmap: none", "3TB").replace(", size: 3TB", "")
    assert found("no-bitmap", unknown, tmp_path) == []


HOLE = {
    "raid5": ("level: raid5", ["4:note"]),
    "raid6": ("level: raid6", ["4:note"]),
    "raid4": ("level: raid4", ["4:note"]),
    "without a bitmap": ("level: raid5, bitmap: none", ["4:note"]),
    "a partial parity log": ("level: raid5, consistency: ppl", []),
    "a journal": ("level: raid6, consistency: journal, journal: x0", []),
    "mirrors": ("level: raid10", []),
    "no redundancy": ("level: raid0", []),
}


@pytest.mark.parametrize(("text", "expected"), HOLE.values(), ids=HOLE)
def test_write_hole(text: str, expected: list[str], tmp_path: Path) -> None:
    assert found("write-hole", array(text), tmp_path) == expected


UPS = "have a UPS stop it cleanly"


@pytest.mark.parametrize(
    ("text", "solid", "hint"),
    [
        ("level: raid5", True, f"write consistency: ppl, which costs up to 40 % of the rate of writes, or {UPS}"),
        ("level: raid5, bitmap: internal", True, f"write consistency: ppl and remove 'bitmap', which costs up to 40 % of the rate of writes, or {UPS}"),
        ('level: raid5, metadata: "0.90"', True, f"{UPS}, or make a raid1 for its journal: x0 and x1 are free"),
        ("level: raid6", True, f"{UPS}, or make a raid1 for its journal: x0 and x1 are free"),
        ("level: raid6", False, f"{UPS}, or add a journal on a raid1 of two solid-state disks"),
    ],
)  # fmt: skip
def test_the_way_to_close_the_hole(text: str, solid: bool, hint: str, tmp_path: Path) -> None:
    layout = array(text) if solid else array(text).replace(SOLID, HARD)
    assert [advice for _, advice in said("write-hole", layout, tmp_path)] == [hint]


@pytest.mark.parametrize(("members", "ppl"), [("01-64", True), ("01-65", False)])
def test_a_partial_parity_log_for_64_members(members: str, ppl: bool, tmp_path: Path) -> None:
    text = f"hardware: {{disks: {{d<{members}>: {{serial: S<1>, size: 1TB}}}}}}\narrays: {{s: {{level: raid5, members: [d<{members}>]}}}}"
    ((_, hint),) = said("write-hole", text, tmp_path)
    assert hint.startswith("write consistency: ppl") == ppl


@pytest.mark.parametrize(
    ("workload", "text", "expected"),
    [
        ("workload: database\n", "level: raid5, consistency: ppl", ["5:note"]),
        ("workload: database\n", "level: raid5", []),
        ("workload: mixed\n", "level: raid5, consistency: ppl", []),
        ("workload: small-files\n", "level: raid5, consistency: ppl", []),
        ("", "level: raid5, consistency: ppl", []),
    ],
)
def test_ppl_write_cost(workload: str, text: str, expected: list[str], tmp_path: Path) -> None:
    assert found("ppl-write-cost", workload + array(text), tmp_path) == expected


JOURNAL = "hardware: {{disks: {{d<0-3>: {{serial: S<1>, size: 3TB}}, j<0-2>: {{serial: J<1>, size: 1TB{disk}}}}}}}\narrays:\n"
LOGGED = "  s: {{level: raid6, members: [d<0-3>], consistency: journal, journal: {on}}}\n"
MIRROR = "  log: {{level: {level}, members: [j<0-1>]}}\n"
WHERE = {
    "one disk": ("j0", "", SOLID, ["5:warning"], []),
    "a mirror": ("log", "raid1", SOLID, [], []),
    "a stripe": ("log", "raid0", SOLID, ["6:warning"], []),
    "a hard disk": ("j0", "", HARD, ["5:warning"], ["5:warning"]),
    "a mirror of hard disks": ("log", "raid1", HARD, [], ["6:warning"]),
    "who knows": ("j0", "", "", ["5:warning"], []),
}


@pytest.mark.parametrize(("on", "level", "disk", "exposed", "turning"), WHERE.values(), ids=WHERE)
def test_journals(
    on: str, level: str, disk: str, exposed: list[str], turning: list[str], tmp_path: Path
) -> None:
    text = (JOURNAL + (MIRROR if level else "") + LOGGED).format(on=on, level=level, disk=disk)
    assert found("unmirrored-journal", text, tmp_path) == exposed
    assert found("journal-on-hard-disk", text, tmp_path) == turning


@pytest.mark.parametrize(
    ("disk", "hint"),
    [
        (SOLID, "j1 and j2 are free: make the journal a raid1 of j0 and j1"),
        ("", "make it a raid1 of two solid-state disks with protection against power loss"),
        (HARD, "make it a raid1 of two solid-state disks with protection against power loss"),
    ],
)
def test_a_free_disk_to_mirror_the_journal(disk: str, hint: str, tmp_path: Path) -> None:
    text = (JOURNAL + LOGGED).format(on="j0", disk=disk)
    assert [advice for _, advice in said("unmirrored-journal", text, tmp_path)] == [hint]


@pytest.mark.parametrize(("size", "free"), [("1TB", True), ("999GB", False)])
def test_the_mirror_of_a_journal_is_no_smaller(size: str, free: bool, tmp_path: Path) -> None:
    text = (JOURNAL + LOGGED).format(on="j0", disk=SOLID).replace("j<0-2>: {serial: J<1>", "j0: {serial: J")
    text = text.replace("disks: {d<0-3>", f"disks: {{f: {{serial: F, size: {size}{SOLID}}}, d<0-3>")
    ((_, hint),) = said("unmirrored-journal", text, tmp_path)
    assert hint.startswith("f is free: make the journal a raid1 of j0 and f") is free


def test_hard_disks_below_a_journal_are_named_with_their_rate(tmp_path: Path) -> None:
    text = (JOURNAL + MIRROR + LOGGED).format(on="log", level="raid1", disk=f"{HARD}, rate: 150MB/s")
    through = "all writes of s pass through"
    assert [message for message, _ in said("journal-on-hard-disk", text, tmp_path)] == [
        f"{through} j0 and j1, which are hard disks, 150 MB/s at most"
    ]
    alone = (JOURNAL + LOGGED).format(on="j0", disk=HARD)
    assert [message for message, _ in said("journal-on-hard-disk", alone, tmp_path)] == [
        f"{through} j0, a hard disk"
    ]


CLEAN = "hardware: {disks: {d<0-3>: {serial: S<1>%s}}}\narrays: {s: {level: %s, members: [d<0-3>], initial_sync: %s}}"


@pytest.mark.parametrize(
    ("level", "disk", "sync", "expected"),
    [
        ("raid1", HARD, "assume-clean", ["4:note"]),
        ("raid10", HARD, "assume-clean", ["4:note"]),
        ("raid10", SOLID, "assume-clean", []),
        ("raid10", "", "assume-clean", []),
        ("raid10", HARD, "run", []),
        ("raid6", HARD, "assume-clean", []),  # an error of another rule
        ("raid0", HARD, "assume-clean", []),
    ],
)
def test_assume_clean_on_mirror(
    level: str, disk: str, sync: str, expected: list[str], tmp_path: Path
) -> None:
    assert found("assume-clean-on-mirror", CLEAN % (disk, level, sync), tmp_path) == expected


@pytest.mark.parametrize(
    ("level", "disk", "sync", "expected"),
    [
        ("raid5", HARD, "zero", ["4:note"]),
        ("raid1", HARD, "zero", ["4:note"]),
        ("raid5", SOLID, "zero", []),
        ("raid5", "", "zero", []),
        ("raid5", HARD, "run", []),
        ("raid0", HARD, "zero", []),
    ],
)
def test_zeroing_hard_disks(level: str, disk: str, sync: str, expected: list[str], tmp_path: Path) -> None:
    assert found("zeroing-hard-disks", CLEAN % (disk, level, sync), tmp_path) == expected


def test_the_hours_of_zeroing_are_said(tmp_path: Path) -> None:
    text = CLEAN % (HARD + ", size: 3TB, rate: 150MB/s", "raid5", "zero")
    unsized = CLEAN % (HARD, "raid5", "zero")
    for layout, told in ((text, "4 s 2.7 TiB 5.6 h"), (unsized, "4 s")):
        assert [figures(message, "s") for message, _ in said("zeroing-hard-disks", layout, tmp_path)] == [
            told
        ]


FLAKY = """\
hardware:
  controllers: {c: {ports: 4%s}, e: {ports: 4}}
  multipliers: {m: {behind: c, ports: 5%s}}
  expanders: {x: {behind: c, ports: 5%s}}
  disks: {d<0-1>: {behind: %s, serial: S<1>, size: 1TB}, f<0-1>: {behind: e, serial: F<1>, size: 1TB}}
arrays: {s: {level: %s, members: [d<0-1>, f<0-1>]}}
"""
DROPS = ", drops_disks: true"
START = {
    "a controller": ((DROPS, "", "", "c", "raid5"), "", ["4:warning"]),
    "the controller of a multiplier": ((DROPS, "", "", "m", "raid5"), "", ["4:warning"]),
    "a multiplier": (("", DROPS, "", "m", "raid5"), "", ["5:warning"]),
    "an expander": (("", "", DROPS, "x", "raid5"), "", ["6:warning"]),
    "told to start": ((DROPS, "", "", "c", "raid5"), "boot: {degraded: start}", ["4:warning"]),
    "told to wait": ((DROPS, "", "", "c", "raid5"), "boot: {degraded: wait}", []),
    "nothing behind it": (("", DROPS, "", "c", "raid5"), "", []),
    "not known to": (("", "", "", "c", "raid5"), "", []),
    "known not to": ((", drops_disks: false", "", "", "c", "raid5"), "", []),
    "never starts degraded": ((DROPS, "", "", "c", "raid0"), "", []),
}


@pytest.mark.parametrize(("hardware", "boot", "expected"), START.values(), ids=START)
def test_degraded_autostart(
    hardware: tuple[str, ...], boot: str, expected: list[str], tmp_path: Path
) -> None:
    assert found("degraded-autostart", FLAKY % hardware + boot, tmp_path) == expected


def test_what_a_degraded_start_costs(tmp_path: Path) -> None:
    text = FLAKY % (DROPS, "", "", "c", "raid5")
    fact = "c is known to lose disks (d0, d1), and s would start without them after 30 s"
    hint = "write boot: {degraded: wait}, and look for the cause: cable, port, firmware"
    assert said("degraded-autostart", text, tmp_path) == [(fact, hint)]
    bare = text.replace("f<0-1>]}", "f<0-1>], bitmap: none}")
    assert said("degraded-autostart", bare, tmp_path) == [
        (f"{fact}; without a bitmap, s must then be rebuilt whole", hint)
    ]
