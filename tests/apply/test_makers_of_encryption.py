"""luksFormat, killed at its writes: what it leaves is its own, and a sector of somebody else behind its header is not.

A few writes are drawn; with `--long` it is all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.decide import recheck
from raidplan.base.size import KIB, MIB, SECTOR
from raidplan.facts.luks import header_on, names_it
from raidplan.facts.ranges import FRONT
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.step import Run, Zero
from tests.apply.makers import ENDED, LAYOUT, Cut, Maker, drawn, holds, step_of
from tests.images import image
from tests.luks_images import FAST

pytestmark = pytest.mark.in_turn(3)

TEXT = "encryption: {c: {device: d.p, key: {file: /etc/keys/k}}}\nswap: {f: {device: c}}"
SIZE = 32 * MIB
CUTS, TORN, FILLING = 2, 2, 16
"""So many writes are drawn every day; so many end with a header of which no copy is whole, so many with random key slots before."""


@pytest.fixture
def made(memory: Path, tmp_path: Path) -> Maker:
    """luksFormat with a key file of its own, and with no time taken by guesses."""
    step = step_of(LAYOUT.format(size=SIZE // MIB, sector=SECTOR) + TEXT, tmp_path, "volume")
    key = tmp_path / "k"
    key.write_bytes(b"a key of somebody\n")
    assert isinstance(step.action, Run)
    words = [str(key) if word == "/etc/keys/k" else word for word in step.action.argv]
    at = words.index("--pbkdf")
    words[at : at + 2] = FAST
    return Maker(
        replace(step, action=step.action._replace(argv=tuple(words))),
        SIZE, image(memory, SIZE), tmp_path,
    )  # fmt: skip


def front(made: Maker) -> int:
    """Bytes in front of the data."""
    return int(str(made.proof.expect["data_offset"]))


def named(made: Maker, cuts: list[Cut]) -> int:
    """The number of the first cut that leaves our UUID in a header."""

    def is_named(cut: Cut) -> bool:
        made.cut(cut)
        return names_it(made.read, made.proof.key)

    return bisect_left(cuts, True, key=is_named)


def test_killed_where_its_header_is_named_it_goes_on_and_keeps_what_is_of_others(
    made: Maker, dice: Random | None, record_property: Callable[[str, object], None]
) -> None:
    """Also between the first write of a header and the one that makes it whole: libblkid knows it by then."""
    cuts, chance, torn, planted = made.cuts(), dice or Random(1), 0, 0
    first = named(made, cuts)
    for cut in [*cuts[first : first + TORN], *drawn(cuts[first + TORN : -1], dice, CUTS), ENDED]:
        made.cut(cut)
        torn += header_on(made.read) is None
        assert made.own, cut
        for at in (front(made), chance.randrange(front(made), SIZE) // SECTOR * SECTOR, SIZE - SECTOR):
            with made.planted(at, chance.randbytes(SECTOR)):
                assert not made.own, (cut, at)
                planted += 1
    assert torn == TORN
    record_property("counted: sectors of others beside what a maker left", planted)


def test_killed_while_it_fills_the_key_slots_it_goes_on_where_they_were_blank(
    made: Maker, tmp_path: Path, dice: Random | None
) -> None:
    """The journal shows it. Random bytes of somebody else there look like any; all others do not."""
    cuts, chance = made.cuts(), dice or Random(1)
    made.fill()
    made.begun(tmp_path)
    first = named(made, cuts)
    filling = cuts[first - FILLING : first]
    for cut in [filling[0], *drawn(filling[1:-1], dice, 1), filling[-1]]:
        made.cut(cut)
        assert made.own and holds(made.read(0, front(made))), cut
        with made.planted(chance.randrange(64, 128) * SECTOR, chance.randbytes(SECTOR)):
            assert made.own, "it cannot be told"
        for at in (31 * KIB, front(made)):
            with made.planted(at, chance.randbytes(SECTOR)):
                assert not made.own, (cut, at)
        for at in (32 * KIB, chance.randrange(65, front(made) // SECTOR) * SECTOR):
            for data in (
                b"a text of somebody ".ljust(SECTOR, b"x"),
                chance.randbytes(SECTOR // 2) + bytes(SECTOR // 2),
            ):
                with made.planted(at, data):
                    assert not made.own, (cut, at)


def test_killed_while_it_fills_the_key_slots_it_needs_a_person_where_they_may_not_have_been_blank(
    made: Maker, tmp_path: Path
) -> None:
    cuts = made.cuts()
    last = cuts[named(made, cuts) - 1]
    made.cut(last)
    assert not made.own, "the journal does not show it"
    for at in (0, front(made) - SECTOR):
        made.before = {at: b"old"}
        made.fill()
        made.begun(tmp_path)
        made.before = {}
        made.cut(last)
        assert not made.own, at
    made.fill()
    made.begun(tmp_path)
    made.cut(last)
    (clear, again) = made.redone()
    assert isinstance(clear.action, Zero) and again.id == made.step.id
    assert (0, front(made)) == clear.action.ranges[0], "so that the journal has it blank once more"


def test_old_bytes_of_a_disk_to_wipe_in_front_of_the_data_are_known(
    made: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind the end that is cleared, and in front of the data, which begins later: they are as they were, and what came since is not."""
    cuts = made.cuts()
    last = cuts[named(made, cuts) - 1]
    monkeypatch.setattr(recheck, "with_old_bytes", lambda *_: frozenset({"d"}))
    made.disks = (DiskIdentity("d", made.size, wipe=True),)
    made.before = {FRONT: b"old" * 9000, front(made) - 8 * SECTOR: b"old"}
    made.fill()
    made.begun(tmp_path)
    for cut in (cuts[0], last):
        made.cut(cut)
        assert made.own, cut
        for at in (31 * KIB, front(made), front(made) - 20 * SECTOR, FRONT + SECTOR):
            with made.planted(at, b"new".ljust(SECTOR)):
                assert not made.own, (cut, at)
        (clear, again) = made.redone()
        assert isinstance(clear.action, Zero) and again.id == made.step.id
        assert (0, front(made)) == clear.action.ranges[0]
    monkeypatch.undo()
    assert not made.own, "nobody gave up what the disk had"


def test_the_torn_header_of_somebody_else_is_none_of_ours(made: Maker) -> None:
    cuts = made.cuts()
    made.cut(cuts[named(made, cuts)])
    assert made.own
    with made.planted(168, b"11111111-2222-4333-8444-555555555555"):
        assert not made.own
