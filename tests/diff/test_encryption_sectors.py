"""The sectors of an encryption in two layouts: a default that changes destroys nothing, a size that one of them states may."""

from __future__ import annotations

import pytest

from tests.diff.layouts import compared, fates, lost, thing, ways

LAYOUT = """\
hardware: {disks: {d0: {size: 1TB, serial: S0DISK}}}
encryption: {c: {device: d0, key: askKEY}}
filesystems: {f: {device: c, type: ext4, mount: /f}}
"""
LARGE = ", physical_block: 4096"
SWAP = "hardware: {disks: {d0: {size: 1TB, serial: S0DISK}}}\nencryption: {c: {device: d0, key: random}}\nswap: {s: {device: c}}\n"


def layout(disk: str = "", sector: int = 0) -> str:
    return LAYOUT.replace("DISK", disk).replace("KEY", f", sector_size: {sector}" if sector else "")


@pytest.mark.parametrize(
    ("old", "new", "sizes"),
    [
        (layout(), layout(LARGE), (512, 4096)),
        (layout(LARGE), layout(), (4096, 512)),
        (layout(sector=4096), layout(), (4096, 512)),
    ],
)
def test_a_default_that_changes_leaves_the_sectors(old: str, new: str, sizes: tuple[int, int]) -> None:
    made = compared(old, new)
    assert lost(made) == [] and ways(made, "encryption.c") == {"sector_size": "none"}
    (change,) = thing(made, "encryption.c").changes
    assert (change.old, change.new) == sizes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (layout(), layout(sector=512)),
        (layout(), layout(LARGE, 512)),
        (layout(LARGE), layout(sector=4096)),
        (layout(sector=512), layout()),
    ],
)
def test_the_size_that_the_encryption_has_can_be_stated_or_left_out(old: str, new: str) -> None:
    made = compared(old, new)
    assert lost(made) == [] and "encryption.c" not in fates(made)


@pytest.mark.parametrize(
    ("old", "new"), [(layout(), layout(sector=4096)), (layout(sector=512), layout(LARGE, 4096))]
)
def test_another_size_that_is_stated_is_another_encryption(old: str, new: str) -> None:
    made = compared(old, new)
    assert lost(made) == ["/f"] and ways(made, "encryption.c") == {"sector_size": None}


def test_without_the_sizes_of_disks_a_size_that_is_stated_may_be_another_one() -> None:
    old, new = (each.replace("size: 1TB, ", "") for each in (layout(), layout(sector=512)))
    assert lost(compared(old, new)) == ["/f"]
    assert "encryption.c" not in fates(compared(layout(), old))


def test_what_a_boot_makes_anew_has_other_sectors_then() -> None:
    made = compared(SWAP.replace("DISK", ""), SWAP.replace("DISK", LARGE))
    assert lost(made) == [] and ways(made, "encryption.c") == {"sector_size": "none"}
