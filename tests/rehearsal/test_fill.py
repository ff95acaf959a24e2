"""The records that are compared after every loss: enough that each member holds some, and each known by its content."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from raidplan.estimate.survival import survive
from raidplan.review.pipeline import load
from raidplan.twin.rehearsal import witness
from raidplan.twin.rehearsal.fill import MOST, is_smaller
from raidplan.twin.rehearsal.rig import GIVEN, Rig
from raidplan.twin.rehearsal.subject import subject_of
from raidplan.twin.server import Twin
from tests.rehearsal.conftest import LAYOUT, Rehearsal
from tests.rehearsal.stand_in import Faulty


def test_more_records_are_written_and_read_where_they_are_wanted(tmp_path: Path) -> None:
    given = {"mounts": {"five": str(tmp_path)}, "fills": {"five": witness.FILL + 9}}
    witness.fill(given)
    read = partial(witness.damaged, "five", str(tmp_path), 0, 0, 1, witness.FILL + 9)
    assert read() == {"acknowledged": witness.FILL + 9, "damaged": []}
    with (tmp_path / "rehearsal.fill0").open("r+b") as file:
        file.seek((witness.FILL + 3) * witness.RECORD + 5000)
        file.write(b"x")
    assert read()["damaged"] == [witness.FILL + 3]


def test_after_a_boot_a_writer_had_as_many_records_as_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness, "HOME", tmp_path)
    (tmp_path / "0.acknowledged").write_text(f"{7:12}")
    (tmp_path / "1.acknowledged").write_text("")  # a writer that has not come to a record yet
    given = {"mounts": dict.fromkeys("abc", "/srv"), "acknowledged": {"a": 3, "c": 4}}
    assert witness.acknowledged(given) == {"a": 7, "b": 0, "c": 4}


def test_no_two_kib_of_records_are_the_same() -> None:
    """So that a block is found by its content, and a stale or moved one is known."""
    records = [witness.record(name, number) for name in ("a", "b") for number in range(40)]
    parts = {each[at : at + 1024] for each in records for at in range(0, witness.RECORD, 1024)}
    assert {len(each) for each in records} == {witness.RECORD}
    assert len(parts) == len(records) * witness.RECORD // 1024


def members_reached(level: str, members: int, chunks: int, begin: int) -> set[int]:
    """The members that hold data of so many chunks from one on, as raid5.c lays them out (left-symmetric), and raid0.c."""
    parity = {"raid0": 0, "raid5": 1, "raid6": 2}[level]
    data, reached = members - parity, set()
    for chunk in range(begin, begin + chunks):
        stripe, place = divmod(chunk, data)
        first = members - 1 - stripe % members if parity else -parity
        reached.add((first + parity + place) % members)
    return reached


@pytest.mark.parametrize(
    "level, members", [("raid0", 5), ("raid5", 3), ("raid5", 9), ("raid6", 4), ("raid6", 8)]
)
def test_the_fill_reaches_every_member_wherever_it_begins(level: str, members: int, tmp_path: Path) -> None:
    """What is pulled holds records that must be read without it."""
    file = tmp_path / "layout.yaml"
    file.write_text(
        f"version: 1\nhost: wide\nhardware: {{disks: {{d<0-{members - 1}>: {{size: 4GiB, serial: W<1>}}}}}}\n"
        f"arrays: {{wide: {{level: {level}, members: [d<0-{members - 1}>], chunk: 512KiB}}}}\n"
        "filesystems: {wide: {device: wide, type: ext4, mount: /srv/wide}}\n"
    )
    topology = load(str(file)).topology
    assert topology is not None
    subject = subject_of(topology)
    records = Rig(Twin, subject, survive(subject.topology), {}, {}).fills["wide"]  # type: ignore[arg-type]
    assert not is_smaller(topology, topology.layout.filesystems["wide"])
    chunks = records * witness.RECORD // (512 * 1024)
    for begin in range(members * members):
        assert members_reached(level, members, chunks, begin) == {*range(members)}, begin


def test_a_fill_that_may_miss_a_member_is_said_so(rehearsed: Rehearsal) -> None:
    """Twelve megabytes for each stripe of five are more than a file has."""
    text = LAYOUT.replace("chunk: 64KiB", "chunk: 4MiB")
    report = rehearsed(Faulty(), "--faults", "d1", text=text)
    fills = json.loads(rehearsed.twin.files[GIVEN])["fills"]
    assert fills["five"] * witness.RECORD == MOST
    assert any("may miss a member" in each and "five" in each for each in report["untried"])
    good = rehearsed(Faulty(), "--faults", "d1")
    assert not any("may miss a member" in each for each in good["untried"])
