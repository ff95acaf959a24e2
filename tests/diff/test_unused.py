"""What nothing is described on may hold anything: it is lost unless it stays as it is, or apply asks whether it is blank."""

from __future__ import annotations

import pytest

from tests.diff.layouts import compared, hint, lost, why

DISKS = "hardware:\n  disks: {d<0-5>: {serial: S<1>, size: 3TB}}\n"
WIPED = DISKS.replace("3TB", "3TB, wipe: true")
ARRAY = "arrays: {{b: {{level: raid5, members: [d<0-{}>]}}}}\n"
B = ARRAY.format(3)
VOLUME = "volume_groups: {{g: {{devices: [d0], volumes: {{v: {{size: {}}}}}}}}}\n"
ON_B = "filesystems: {f: {device: b, type: xfs}}\n"

DEVICES = {
    "it stays": (DISKS + B, DISKS + B, []),
    "it goes": (DISKS + B, DISKS, ["array b"]),
    "it grows": (DISKS + B, DISKS + ARRAY.format(4), []),
    "it shrinks": (DISKS + B, DISKS + ARRAY.format(2), ["array b"]),
    "it shrinks by another level": (DISKS + B, DISKS + B.replace("raid5", "raid6"), ["array b"]),
    "apply puts something on it": (DISKS + B, DISKS + B + ON_B, []),
    "apply wipes it and puts something on it": (DISKS + B, WIPED + B + ON_B, ["array b"]),
    "it might be wiped if something were put on it": (DISKS + B, WIPED + B, []),
    "swap on it": (DISKS + B, DISKS + B + "swap: {w: {device: b}}\n", []),
    "a volume stays": (DISKS + VOLUME.format("500GiB"), DISKS + VOLUME.format("500GiB"), []),
    "a volume grows": (DISKS + VOLUME.format("500GiB"), DISKS + VOLUME.format("600GiB"), []),
    "a volume shrinks": (DISKS + VOLUME.format("500GiB"), DISKS + VOLUME.format("50GiB"), ["volume g.v"]),
}  # fmt: skip


@pytest.mark.parametrize("name", DEVICES)
def test_an_unused_array_or_volume(name: str) -> None:
    old, new, destroyed = DEVICES[name]
    assert lost(compared(old, new)) == destroyed


SPLIT = "hardware:\n  disks: {d<0-3>: {serial: S<1>, size: 3TB, partitions: {p: {size: 1TiB}}}}\n"
MIRROR = "arrays: {{a: {{level: raid1, members: [d0.p, d1.p{}]{}}}}}\n"
GROUP = "volume_groups: {{g: {{devices: [d0.p{}], volumes: {{}}}}}}\n"
ALL = ["partition d0.p", "partition d1.p", "partition d2.p", "partition d3.p"]

TAKEN = {
    "a spare": (MIRROR.format("", ""), MIRROR.format("", ", spares: [d2.p]"), ["partition d2.p"]),
    "a member": (MIRROR.format("", ""), MIRROR.format(", d2.p", ""), ["partition d2.p"]),
    "a physical volume": (GROUP.format(""), GROUP.format(", d3.p"), ["partition d3.p"]),
    "a member that apply adds to nothing": ("", MIRROR.format(", d2.p", ""), []),
    "a physical volume of a new group": ("", GROUP.format(", d3.p"), []),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_an_unused_partition_that_is_taken(name: str) -> None:
    """A command given by hand does not ask what is on it; apply does."""
    old, new, destroyed = TAKEN[name]
    assert lost(compared(SPLIT + old, SPLIT + new)) == destroyed
    wiped = SPLIT.replace("3TB", "3TB, wipe: true")
    made = ALL[:3] if "nothing" in name else ALL[::3] if "new" in name else destroyed
    assert lost(compared(SPLIT + old, wiped + new)) == made


def test_an_unused_partition_says_why_it_does_not_stay() -> None:
    old = SPLIT.replace("d<0-3>", "d0").replace("S<1>", "S0")
    cases = {
        old.replace("1TiB", "1GiB"): "its size: 1 TiB -> 1 GiB",
        old.replace(", partitions: {p: {size: 1TiB}}", ""): "no partition of d0 begins where it did; nothing in the new layout uses d0",
        old.replace("S0", "S9"): "d0 is not in the new layout",
    }  # fmt: skip
    for new, words in cases.items():
        (loss,) = compared(old, new).losses
        assert why(loss) == words
    (loss,) = compared(old, old, ("h", "k")).losses
    assert why(loss) == "the host h is called k" and "every UUID" in hint(loss)
    (loss,) = compared(SPLIT + MIRROR.format("", ""), SPLIT + MIRROR.format("", ", spares: [d2.p]")).losses
    assert " added to a, " in why(loss) and "mdadm" in why(loss)
