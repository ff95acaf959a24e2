"""Where diff tells of no loss, every block of the old arrays can be read from the disks that stay."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from raidplan.diff.judge import judge
from raidplan.diff.losses import losses
from tests.diff.blocks import array, readable
from tests.diff.layouts import compared, fates, lost, side

LEAST = {"raid0": 2, "raid1": 2, "raid4": 3, "raid5": 3, "raid6": 4, "raid10": 4}
EXT = "filesystems: {f: {device: a, type: ext4, mount: /srv}}\n"


def text(level: str, members: list[str], serials: list[str], layout: str = "") -> str:
    disks = ", ".join(f"d{n}: {{serial: {serial}, size: 3TB}}" for n, serial in enumerate(serials))
    more = f", layout: {layout}" if layout else ""
    return f"hardware:\n  disks: {{{disks}}}\narrays:\n  a: {{level: {level}, members: [{', '.join(members)}]{more}}}\n{EXT}"


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, str, int, list[str], list[str]]:
    """(level, layout, members before, serials of the new disks, new members): any number may be other disks."""
    level = draw(st.sampled_from(sorted(LEAST)))
    layout = draw(st.sampled_from(["n2", "f2", "o2"])) if level == "raid10" else ""
    count = draw(st.integers(LEAST[level], 6))
    serials = [f"N{n}" if draw(st.integers(0, 3)) == 0 else f"S{n}" for n in range(8)]
    there = draw(st.integers(LEAST[level], 8))
    names = [f"d{n}" for n in range(there)]
    if level == "raid1":
        names = draw(st.permutations(names))
    return level, layout, count, serials[:there], names[: draw(st.integers(LEAST[level], there))]


@given(changes())
@example(("raid1", "", 3, ["N0", "N1"], ["d0", "d1"]))
@example(("raid1", "", 3, ["S0", "S1", "S2"], ["d0", "d2"]))
@example(("raid5", "", 5, ["N0", "S1", "S2", "S3"], ["d0", "d1", "d2", "d3"]))
def test_no_loss_is_told_only_where_all_can_be_read(
    change: tuple[str, str, int, list[str], list[str]],
) -> None:
    level, layout, count, serials, members = change
    old = text(level, [f"d{n}" for n in range(count)], [f"S{n}" for n in range(8)], layout)
    storage = judge(side(old).topology, side(text(level, members, serials, layout)).topology)
    left = {int(serial[1:]) for serial in serials if serial[0] == "S"}
    held = array(level, count, layout or "n2")
    whole = readable(disk for n, disk in enumerate(held) if n in left) == readable(held)
    if not list(losses(storage)):
        assert whole
    elif level == "raid1" or (LEAST[level] > 2 and level != "raid10" and len(members) == count):
        assert not whole, "the tools do this in place"


CHUNKS = {"raid0": 2, "raid10": 4}


@pytest.mark.parametrize(("before", "after"), [("raid10", "raid0"), ("raid0", "raid10")])
def test_stripes_and_mirrored_stripes_turn_into_each_other(before: str, after: str) -> None:
    """Each member must hold, where it goes, what stands there in the other level; the others are filled by a sync."""
    disks, old = [f"S{n}" for n in range(4)], [f"d{n}" for n in range(CHUNKS[before])]
    held, wanted = array(before, CHUNKS[before]), array(after, CHUNKS[after])
    told = []
    for members in permutations([f"d{n}" for n in range(4)], CHUNKS[after]):
        made = compared(text(before, old, disks), text(after, list(members), disks))
        slots = {slot: old.index(name) for slot, name in enumerate(members) if name in old}
        fits = all(
            wanted[slot][row][:4] == block[:4] for slot, n in slots.items() for row, block in held[n].items() if row in wanted[slot]
        ) and len(slots) == 2  # fmt: skip
        if lost(made) == []:
            assert fits and fates(made)["arrays.a"] == "reshaped"
            told.append(members)
    expected = {
        "raid0": [("d0", "d2"), ("d0", "d3"), ("d1", "d2"), ("d1", "d3")],
        "raid10": [("d0", "d2", "d1", "d3"), ("d0", "d3", "d1", "d2")],
    }
    assert told == expected[after]


@settings(max_examples=80)
@given(changes(), st.sampled_from(sorted(LEAST)), st.randoms())
def test_nor_where_the_level_changes_too(
    change: tuple[str, str, int, list[str], list[str]], after: str, any_order: Random
) -> None:
    level, layout, count, serials, members = change
    names = [f"d{n}" for n in range(len(serials))]
    if any_order.random() < 0.3:
        any_order.shuffle(names)
    members = names[: max(len(members), LEAST[after])]
    if len(members) < LEAST[after]:
        return
    old = text(level, [f"d{n}" for n in range(count)], [f"S{n}" for n in range(8)], layout)
    storage = judge(side(old).topology, side(text(after, members, serials)).topology)
    left = {int(serial[1:]) for serial in serials if serial[0] == "S"}
    held = array(level, count, layout or "n2")
    if not list(losses(storage)):
        assert readable(disk for n, disk in enumerate(held) if n in left) == readable(held)
