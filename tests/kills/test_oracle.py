"""What `make kills` says of a case that a fake guest plays: who agrees, who needs a person, what differs, what counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatch
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from raidplan.apply.refusal import refusal
from raidplan.facts.host import HOLD
from raidplan.plan.places import DEFAULTS, FSTAB, MDADM_CONF, UDEV_RULES
from raidplan.render import journal_words, refusal_words
from raidplan.render.refusals import refusal_text
from raidplan.review import pipeline
from tests.apply.sentences import advice_text
from tests.kills import bare_tools, in_guest
from tests.kills.adversity import CONVERGED, LOST, OPEN, PERSON, STUCK, Adversity
from tests.kills.family import DISKS, Drawn, draw
from tests.kills.predicted import foreseeable, predicted, targets, users_of
from tests.kills.record import table
from tests.kills.session import Reference, Void, judged, referred

SPARE, REPLACE = "mdadm /dev/md/a --add-spare /dev/b", "mdadm /dev/md/a --replace /dev/c --with /dev/b"
WAITS = "wait before each command until what the one before began has ended"
ADD = "mdadm /dev/md/main --add /dev/disk/by-partuuid/aa"
LIST = """2 things on this machine will be destroyed:
  - ext4, 512 MiB, on k0
  - the array 'older' (/dev/{md})
The digest that says yes to exactly this: --destroy sha256:{digest}
"""
STAIN = "  - data that nothing here recognises, on k0: of the step that was interrupted there, or of somebody else\n"


def said(digest: str, md: str = "md127", more: str = "") -> str:
    text = LIST.format(md=md, digest=digest * 64)
    return text.replace("\nThe", f"\n{more}The")


@pytest.fixture(autouse=True)
def guest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_guest, "names", lambda case: {})
    monkeypatch.setattr(in_guest.time, "sleep", lambda seconds: None)


class Guest:
    """Gives one answer after the other, and keeps what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: tuple[int, str]) -> None:
        self.asked: list[list[str]] = []
        self.shell: list[str] = []
        monkeypatch.setattr(
            in_guest, "start", lambda argv, tty=False: (self.asked.append(argv) or len(self.asked), None)
        )
        monkeypatch.setattr(in_guest, "wait", lambda pid, seconds=900: answers[pid - 1][0])
        monkeypatch.setattr(in_guest, "said", lambda: answers[len(self.asked) - 1][1])
        monkeypatch.setattr(in_guest, "sh", lambda line: self.shell.append(line) or "")


def case(kind: str = "kill all", agreed: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "apply": ["raidplan", "apply", "f", "--confirm", "kills"],
        "agreed": agreed,
        "adversity": {"kind": kind, "disk": 0},
        "host": "h",
    }


DONE = [(0, "done"), (0, "already matches the layout; nothing to do")]


# who agrees


def test_what_ends_by_itself_is_known_by_words_of_refusals() -> None:
    said = [words for cases in refusal_words.SENTENCES.values() for words in cases.values()]
    for each in in_guest.ENDS_BY_ITSELF:
        assert any(each in words for words in said), each
    assert in_guest.HELD in journal_words.JOURNAL["locked"][""]


def test_the_yes_is_to_what_was_on_the_first_list_and_to_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = tuple(sorted(in_guest.listed({}, said("a"))))
    assert len(first) == 2
    guest = Guest(monkeypatch, (4, said("b", md="md126")), *DONE)
    assert in_guest.converge(case(agreed=first), {})["result"] == CONVERGED
    assert guest.asked[1][-2:] == ["--destroy", "sha256:" + "b" * 64]


@pytest.mark.parametrize("agreed", [True, False])
def test_bytes_of_an_interrupted_step_or_of_somebody_else_need_a_person(
    monkeypatch: pytest.MonkeyPatch, agreed: bool
) -> None:
    first = tuple(sorted(in_guest.listed({}, said("a")))) if agreed else ()
    guest = Guest(monkeypatch, (4, said("b", more=STAIN)), *DONE)
    found = in_guest.converge(case(agreed=first), {})
    assert (found["result"], len(guest.asked)) == (PERSON, 3) and "of somebody else" in found["why"]


def test_an_offer_without_a_list_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    Guest(monkeypatch, (4, f"--destroy sha256:{'c' * 64}"), *DONE)
    assert in_guest.converge(case(agreed=("x",)), {})["result"] == PERSON


# what a person does


@pytest.mark.parametrize(
    ("words", "commands"),
    [
        (advice_text("member-missing", {"commands": (ADD,), "before": ()}), [ADD]),
        (advice_text("member-exchanged", {"commands": (SPARE, REPLACE), "before": (WAITS,)}), [SPARE, REPLACE]),
        (advice_text("state", {"state": "readonly", "node": "/dev/md/a"}), ["mdadm --readwrite /dev/md/a"]),
        (advice_text("syncing", {"action": "resync", "node": "/dev/md/a"}), ["mdadm --wait /dev/md/a"]),
        (advice_text("held", {"device": "md127", "node": "/dev/md/a"}), ["echo idle > /sys/block/md127/md/sync_action", "mdadm --wait /dev/md/a"]),
        (advice_text("rebuilt", {"node": "/dev/md/a"}), ["mdadm --detail /dev/md/a", "mdadm --wait /dev/md/a"]),
        (refusal_text(refusal("not-started", "inactive", place="a", there=1, devices=2, node="/dev/md/a", behind=())), ["mdadm --run /dev/md/a"]),
        (refusal_text(refusal("not-started", "volume", place="a", volume="kv/one")), ["lvchange --activate y kv/one"]),
        (refusal_text(refusal("mount-conflict", "point", source="/dev/md/a", now="/mnt", planned="/srv")), ["umount /mnt"]),
        (refusal_text(refusal("gone", place="a", began="then", file="")), []),
        (advice_text("order", {"members": ("b", "a")}), []),
        (advice_text("other-mount", {"commands": ("umount /srv",)}), ["umount /srv"]),
        (advice_text("swap-in-use", {"node": "/dev/sda2"}), ["swapoff /dev/sda2"]),
    ],
)  # fmt: skip
def test_a_person_does_what_the_refusal_names(words: str, commands: list[str]) -> None:
    assert in_guest.named(f"raidplan: refused: {words}\nnothing was written\n") == commands
    assert in_guest.named(words) == []


def test_where_a_refusal_names_no_command_it_has_to_be_done_after_what_a_boot_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = "refused: hardware: list the members in the layout in the order of their slots"
    guest = Guest(monkeypatch, (4, words), *DONE)
    found = in_guest.converge(case("disk pulled"), {})
    assert (found["result"], len(guest.asked)) == (PERSON, 3) and any("--assemble" in line for line in guest.shell)  # fmt: skip
    Guest(monkeypatch, *[(4, words)] * 4)
    assert in_guest.converge(case("disk pulled"), {})["result"] == STUCK
    named = Guest(
        monkeypatch,
        (4, f"refused: {advice_text('member-missing', {'commands': (ADD,), 'before': ()})}"),
        *DONE,
    )
    found = in_guest.converge(case("disk pulled"), {})
    assert found["result"] == PERSON
    assert [line for line in named.shell if "mdadm" in line and not line.startswith(ADD)] == []


# what was planted


def test_a_planted_sector_is_looked_at_when_it_is_refused_and_given_back_by_its_person(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.write_bytes(b"\7" * 2**20)
    note = {"plant": in_guest.planted(str(disk), Random(1), 0, 2**20)}
    assert disk.read_bytes() != b"\7" * 2**20 and not in_guest.overwritten(note)
    Guest(monkeypatch, (4, "refused: not blank"), *DONE)
    assert in_guest.converge(case("foreign sector"), note)["result"] == PERSON
    assert disk.read_bytes() == b"\7" * 2**20
    note = {"plant": in_guest.planted(str(disk), Random(1), 0, 2**20)}
    disk.write_bytes(b"\7" * 2**20)  # as one who refuses, and has written
    Guest(monkeypatch, (4, "refused: not blank"), *DONE)
    assert in_guest.converge(case("foreign sector"), note)["result"] == LOST


@pytest.mark.parametrize(("begun", "ended", "where", "wipe"), [
    (["filesystem.plain.make"], [], "plain", False),
    ([], [], "either", False),
    ([], ["filesystem.plain.make"], "top", False),
    ([], ["filesystem.plain.make", "filesystem.top.make"], "", False),
    (["filesystem.plain.make"], [], "plain", True),
    ([], [], "", True),
])  # fmt: skip
def test_it_is_planted_beside_a_maker_that_was_killed_else_where_none_has_begun(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    begun: list[str],
    ended: list[str],
    where: str,
    wipe: bool,
) -> None:
    nodes = {name: tmp_path / name for name in ("plain", "top")}
    for file in nodes.values():
        file.write_bytes(bytes(2**20))
    monkeypatch.setattr(in_guest, "target_node", lambda case, target, done: str(nodes[target]))
    monkeypatch.setattr(in_guest, "read_only", lambda device: False)
    kinds = [("intent", step) for step in (*begun, *ended)] + [("ended", step) for step in ended]
    monkeypatch.setattr(in_guest, "journal", lambda case: kinds)
    targets = [["filesystem.plain.make", "plain"], ["filesystem.top.make", "top"]]
    asked = {"targets": targets, "consents": wipe}
    seen = set()
    for seed in range(8):
        note: dict[str, Any] = {}
        assert in_guest.plants_midway(asked, note, Random(seed)) == bool(where)
        seen |= {Path(plant["device"]).name for plant in note.values()}
    assert seen == {name for name, file in nodes.items() if any(file.read_bytes())}
    assert seen == ({"plain", "top"} if where == "either" else {where} - {""})


def test_a_partition_of_what_was_there_before_is_no_place_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_guest, "node", lambda case, disk: "/dev/nul")
    monkeypatch.setattr(in_guest.os.path, "exists", lambda path: path == "/dev/nul2")
    assert in_guest.target_node({}, "k1.b", {"disk.k0.partition"}) == ""
    assert in_guest.target_node({}, "k1.b", {"disk.k1.partition"}) == "/dev/nul2"


# what is predicted

LAYOUT = """
arrays: {main: {level: LEVEL, members: [k0.a, k1.a]SPARE}}
filesystems: {top: {device: main, type: ext4, mount: /srv/top}, plain: {device: k2.b, type: ext4, mount: /srv/plain}}
"""
ORDER = ["disk.k0.partition", *(f"other.{n}" for n in range(6)), "array.main.create", "array.main.open", "filesystem.top.make",
         "filesystem.plain.make", "filesystem.top.mount", "filesystem.plain.mount", *(f"more.{n}" for n in range(8))]  # fmt: skip
JOURNAL = [(kind, step) for step in ORDER for kind in ("intent", "ended")]


def _plan(folder: Path, text: str) -> list[str]:
    """The ids of its steps."""
    file = folder / "layout.yaml"
    file.write_text(text)
    plan, _ = pipeline.plan(pipeline.check(str(file)))
    assert plan
    return [step.id for step in plan.steps]


def pulled(
    share: float, disk: int, level: str = "raid1", kind: str = "fresh", spare: str = "", old: str = ""
) -> str:
    text = LAYOUT.replace("LEVEL", level).replace("SPARE", spare)
    return predicted(Drawn(1, kind, text, old=old), Adversity("disk pulled", share, disk=disk), JOURNAL)


def test_whether_a_pulled_disk_needs_a_person_is_said_before_the_run() -> None:
    assert pulled(0.1, 0) == CONVERGED, "nothing is made of it yet"
    assert pulled(0.9, 0) == PERSON, "a member of an array that is in use"
    assert pulled(0.45, 0) == OPEN, "a second decides"
    assert (pulled(12 / 42, 0), pulled(26 / 42, 0)) == (OPEN, OPEN), (
        "steps that run side by side may come in another order"
    )
    assert pulled(0.9, 0, level="raid0") == OPEN, "what is on it may be damaged, and a person has to look"
    assert pulled(0.9, 2, spare=", spares: [k2.a]") == OPEN and pulled(0.9, 2) == OPEN
    assert {pulled(share, 3) for share in (0.1, 0.5, 0.9)} == {CONVERGED}, "of no use to the layout"
    assert pulled(0.1, 0, kind="change") == PERSON, "the array is there from the beginning"
    assert (pulled(0.1, 2, kind="change"), pulled(0.1, 3, kind="change")) == (OPEN, CONVERGED)
    assert (pulled(0.1, 0, old="LVM", kind="wipe"), pulled(0.1, 3, old="LVM", kind="wipe")) == (
        OPEN,
        CONVERGED,
    )


@pytest.mark.parametrize(
    ("share", "disk", "kind", "old", "instead"),
    [
        (0.1, 0, "fresh", "", (0.1, 0, CONVERGED)),
        (0.45, 0, "fresh", "", (0.72, 0, PERSON)),
        (0.45, 2, "fresh", "", (0.32, 2, CONVERGED)),
        (0.1, 2, "change", "", (0.1, 0, PERSON)),
        (0.1, 2, "wipe", "partitions", (0.1, 2, CONVERGED)),
        (0.1, 0, "wipe", "LVM", (0.72, 0, PERSON)),
    ],
)
def test_a_pull_whose_end_a_second_decides_is_another_one(
    share: float, disk: int, kind: str, old: str, instead: tuple[float, int, str]
) -> None:
    drawn = Drawn(1, kind, LAYOUT.replace("LEVEL", "raid1").replace("SPARE", ""), old=old)
    found = foreseeable(drawn, Adversity("disk pulled", share, disk=disk), JOURNAL)
    assert (found.share, found.disk, predicted(drawn, found, JOURNAL)) == instead


def test_a_storm_is_in_place_of_a_pull_of_which_nothing_can_be_said() -> None:
    pull = Adversity("disk pulled", 0.5)
    text = LAYOUT.replace("LEVEL", "raid0").replace("SPARE", "")
    drawn = Drawn(1, "change", text)
    assert foreseeable(drawn, pull, JOURNAL) == replace(pull, disk=3)
    everywhere = replace(drawn, text=text.replace("k1.a", "k1.a, k2.a, k3.a"))
    assert foreseeable(everywhere, pull, JOURNAL) == replace(pull, kind="udev storm")


def test_the_end_of_every_random_pull_is_said_before_the_run(tmp_path: Path) -> None:
    """With a journal that has the steps in the order of the plan, as that of an apply has them but for what runs side by side."""
    for drawn in map(draw, range(40)):
        steps = [
            step
            for step in _plan(tmp_path, drawn.text)
            if drawn.kind != "change" or step.startswith("config")
        ]
        journal = [(kind, step) for step in steps for kind in ("intent", "ended")]
        for disk in range(DISKS):
            adversity = foreseeable(drawn, Adversity("disk pulled", 0.5, disk=disk), journal)
            assert predicted(drawn, adversity, journal) != OPEN, drawn.text


def test_a_held_sync_meets_no_change_of_the_bitmap() -> None:
    """apply refuses that, rightly: it is no case."""
    changed = [drawn for drawn in map(draw, range(300)) if drawn.kind == "change"]
    bitmaps = {True: 0, False: 0}
    for drawn in changed:
        before, after = (yaml.safe_load(text)["arrays"] for text in (drawn.before, drawn.text))
        for name, array in before.items():
            other = array.get("bitmap") != after[name].get("bitmap")
            bitmaps[other] += 1
            assert not (other and array["initial_sync"] != "run")
    assert all(bitmaps.values())


def test_a_run_that_ended_before_is_not_the_end_of_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(in_guest, "closed", lambda case: True)
    monkeypatch.setattr(in_guest, "OVER", str(tmp_path / "over"))
    found = {}
    for records in (12, 13):
        monkeypatch.setattr(in_guest, "progress", lambda case, records=records: records)
        found[records] = in_guest.over({"first": 12})
    assert found == {12: False, 13: True}
    (tmp_path / "over").touch()
    monkeypatch.setattr(in_guest, "closed", lambda case: False)
    assert in_guest.over({"first": 13}), "it ended without success"


def test_a_pull_at_the_last_record_meets_arrays_in_use() -> None:
    """Then only the machine is read again, whatever the order of the steps was."""
    last = [*JOURNAL[: JOURNAL.index(("ended", "filesystem.top.mount")) + 1], ("close", "")]
    drawn = Drawn(1, "fresh", LAYOUT.replace("LEVEL", "raid1").replace("SPARE", ""))
    found = foreseeable(drawn, Adversity("disk pulled", 0.7), last)
    assert ceil(found.share * len(last)) == len(last) - 1 and predicted(drawn, found, last) == PERSON


def test_the_steps_of_the_prediction_are_those_of_the_plan(tmp_path: Path) -> None:
    """Else each case of a pulled disk were predicted to converge."""
    for drawn in map(draw, range(12)):
        ids, layout = {*_plan(tmp_path, drawn.text)}, yaml.safe_load(drawn.text)
        used = [
            step for name in layout["arrays"] for step in (f"array.{name}.create", *users_of(layout, name))
        ]
        assert {step for step, _ in targets(layout)} | {*used} <= ids


# what counts


def to(journal: Any = JOURNAL) -> Reference:
    text = LAYOUT.replace("LEVEL", "raid1").replace("SPARE", "")
    return Reference(Drawn(1, "fresh", text), [], journal, {"lvs": ["a"]}, {}, {})


def outcome(result: str, **more: Any) -> dict[str, Any]:
    return {
        "result": result,
        "look": {"lvs": ["a"]},
        "decoys": {},
        "files": {},
        "note": {"interrupted": True},
        **more,
    }


def test_what_nothing_predicted_is_counted_as_neither() -> None:
    pull = Adversity("disk pulled", 0.45)
    for ended, result in ((CONVERGED, OPEN), (PERSON, OPEN), (STUCK, STUCK)):
        record = judged(outcome(ended), to(), pull)
        assert (record["expected"], record["result"], record["ended"]) == (OPEN, result, ended)
    assert judged(outcome(CONVERGED, files={"x": "other"}), to(), pull)["result"] == LOST
    known = judged(outcome(CONVERGED), to(), replace(pull, share=0.9))
    assert (known["expected"], known["result"]) == (PERSON, CONVERGED)
    by_hand = judged(outcome(PERSON, look={}), to(), replace(pull, share=0.9))
    assert by_hand["result"] == STUCK, "what a person brought up is whole, or the case is no success"
    row = table(
        [{**judged(outcome(PERSON), to(), pull), "digest": "d", "generator": "g", "command": "c"}], "d", ["g"]
    )
    assert (
        "| disk pulled | 1 | 0 | 0 | 1 | 0 | 0 | 0 |" in row
        and "not predicted: c (disk pulled, fresh) ended as needed a person" in row
    )


def test_a_case_that_was_not_cut_off_is_none() -> None:
    late = judged(outcome(CONVERGED, note={"interrupted": False}), to(), Adversity("disk pulled", 0.9))
    assert (late["expected"], late["interrupted"]) == (CONVERGED, False)
    said = table([{**late, "digest": "d", "generator": "g", "command": "c"}], "d", ["g"])
    assert "0 cases; 1 that were not cut off" in said and "| all | 0 |" in said


@pytest.mark.parametrize(("beside", "code", "result"), [
    (True, 0, STUCK), (True, 3, STUCK), (True, 4, CONVERGED), (False, 0, CONVERGED),
])  # fmt: skip
def test_a_second_raidplan_is_refused_while_the_first_one_runs(beside: bool, code: int, result: str) -> None:
    note = {"interrupted": True, "ran beside": beside, "second": code}
    record = judged(outcome(CONVERGED, note=note), to(), Adversity("second raidplan", 0.4))
    assert record["result"] == result and ("not refused" in record["why"]) == (result == STUCK)


@pytest.mark.parametrize(("missed", "interrupted"), [("no process but raidplan itself", False), ("", True)])
def test_a_kill_that_finds_nothing_to_kill_is_no_case(
    monkeypatch: pytest.MonkeyPatch, missed: str, interrupted: bool
) -> None:
    Guest(monkeypatch, (0, "done"))
    monkeypatch.setattr(in_guest, "until", lambda *words: None)
    monkeypatch.setattr(in_guest, "open_steps", lambda case: [])
    monkeypatch.setattr(in_guest, "killed", lambda *words: missed)
    asked = case("kill one")
    asked["adversity"] = Adversity("kill one", 0.5).to_data()
    assert in_guest.interrupt(asked)["interrupted"] is interrupted


def test_a_file_system_or_an_array_that_is_not_whole_is_no_reference_and_no_success() -> None:
    found = {
        "code": 0,
        "again": 0,
        "said": "",
        "journal": [["intent", "a"]],
        "agreed": [],
        "decoys": {},
        "files": {},
    }
    whole = {**found, "look": {"checks": ["top ext4 0"]}}
    assert referred(draw(1), whole).journal == [("intent", "a")]
    for said in ("top ext4 4", "main: 8 sectors differ"):
        with pytest.raises(Void, match="not whole"):
            referred(draw(1), {**found, "look": {"checks": [said]}})
        case = outcome(CONVERGED, look={"lvs": ["a"], "checks": [said]})
        wanted = replace(to(), look={"lvs": ["a"], "checks": ["top ext4 0"]})
        assert judged(case, wanted, Adversity("kill all", 0.5))["result"] == STUCK


# what bare tools say

DUMP = """label: gpt
label-id: 8B1D8D0B-7C54-4F5A-9E61-0E9F5B2B7D10
device: /dev/sda
unit: sectors
first-lba: 2048
last-lba: 1048542
sector-size: 512

/dev/sda1 : start=        2048, size=      675840, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=CCD4, name="a"
/dev/sda2 : start=      677888, size=      196608, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4, uuid=1B4B, name="b"
"""
EXAMINE = """/dev/sda1:
          Magic : a92b4efc
        Version : 1.2
     Array UUID : 2eaed5f9:d0905f58:b49885c7:7e144b7e
           Name : kills:main  (local to host kills)
  Creation Time : Thu Nov 26 01:00:00 2026
     Raid Level : raid1
   Raid Devices : 2

 Avail Dev Size : 673792 sectors (329.00 MiB 344.98 MB)
    Data Offset : 2048 sectors
   Super Offset : 8 sectors
          State : clean
    Device UUID : 5b1d4c11:0e8a1b52:27a5a3a5:22a4a5f7
    Update Time : Thu Nov 26 01:00:00 2026
       Checksum : 1d2c3b4a - correct
         Events : 17
   Device Role : Active device 1
   Array State : AA ('A' == active, '.' == missing, 'R' == replacing)
"""


def test_partitions_and_the_data_of_members_have_their_places() -> None:
    rows = ["1 from 2048 on, 675840", "2 from 677888 on, 196608"]
    assert bare_tools.places(DUMP) == [
        "label: gpt",
        "first-lba: 2048",
        "last-lba: 1048542",
        "sector-size: 512",
        *rows,
    ]
    assert bare_tools.places(DUMP.replace("677888", "679936"))[-1] == "2 from 679936 on, 196608"
    seen = bare_tools.examined(EXAMINE)
    assert seen == ["Version : 1.2", "Raid Level : raid1", "Raid Devices : 2", "Avail Dev Size : 673792 sectors (329.00 MiB 344.98 MB)",
                    "Data Offset : 2048 sectors", "Super Offset : 8 sectors", "Device Role : Active device 1"]  # fmt: skip


def newc(**files: bytes) -> bytes:
    def entry(name: bytes, data: bytes) -> bytes:
        numbers = [0, 0o100644, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08x" % number for number in numbers) + name + b"\0"
        return b"".join(part + b"\0" * (-len(part) % 4) for part in (head, data))

    named = [(name.replace("_", "/").encode(), data) for name, data in files.items()]
    whole = b"".join(entry(name, data) for name, data in (*named, (b"TRAILER!!!", b"")))
    return whole + b"\0" * (-len(whole) % 512)


def test_the_whole_initramfs_counts_and_a_serial_of_the_server_does_not(tmp_path: Path) -> None:
    image, conf = tmp_path / "initrd", "etc/mdadm/mdadm.conf"

    def put(**files: bytes) -> bytes:
        return newc(**files).replace(b"etc/mdadm/mdadm/conf\0", b"etc/mdadm/mdadm.conf\0")

    image.write_bytes(put(etc_mdadm_mdadm_conf=b"ARRAY K-0\n") + b"\x02!L\x18rest")
    first = bare_tools.in_initramfs(str(image), "K")
    assert [line.split()[0] for line in first] == [conf, "1"]
    image.write_bytes(put(etc_mdadm_mdadm_conf=b"ARRAY P7-0\n") + b"\x02!L\x18rest")
    assert bare_tools.in_initramfs(str(image), "P7") == first
    image.write_bytes(put(etc_mdadm_mdadm_conf=b"ARRAY K-0\n") + b"\x02!L\x18lost")
    assert [a == b for a, b in zip(bare_tools.in_initramfs(str(image), "K"), first, strict=True)] == [
        True,
        False,
    ]


def test_an_initramfs_that_is_packed_as_a_whole_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, made = tmp_path / "initrd", {"etc/mdadm/mdadm.conf": b"ARRAY P7-0\n", "usr/bin/mdadm": b"1"}
    image.write_bytes(b"\x02!L\x18packed")

    def unpack(line: str) -> str:
        for name, data in made.items():
            file = Path(line.split()[2]) / name
            file.parent.mkdir(parents=True)
            file.write_bytes(data)
        return "" if made else "unmkinitramfs: no"

    monkeypatch.setattr(bare_tools, "sh", unpack)
    seen = bare_tools.in_initramfs(str(image), "P7")
    assert seen == bare_tools.listed({**made, "etc/mdadm/mdadm.conf": b"ARRAY K-0\n"}, b"", "K")
    made["usr/bin/mdadm"] = b"2"
    assert bare_tools.in_initramfs(str(image), "P7") != seen
    made.clear()
    assert bare_tools.in_initramfs(str(image), "P7")[0] == "no mdadm.conf (unmkinitramfs: no)"


def test_what_its_own_tool_unpacks_counts_but_for_what_ldconfig_draws() -> None:
    first = bare_tools.listed(
        {"etc/fstab": b"K-1", "usr/bin/sh": b"a", "var/cache/ldconfig/aux-cache": b"1"}, b"", "K"
    )
    same = {"etc/fstab": b"Q-1", "usr/bin/sh": b"a", "var/cache/ldconfig/aux-cache": b"2"}
    assert bare_tools.listed(same, b"", "Q") == first
    for name in ("etc/fstab", "usr/bin/sh"):
        assert bare_tools.listed({**same, name: b"other"}, b"", "Q") != first


@contextmanager
def array(folder: Path, **more: str) -> Iterator[Path]:
    values = {
        "sync_action": "idle",
        "resync_start": "none",
        "degraded": "0",
        "mismatch_cnt": "0",
        "sync_completed": f"{bare_tools.FIRST} / 673792",
    }
    for key, text in {**values, **more}.items():
        (folder / key).write_text(f"{text}\n")
    yield folder


@pytest.mark.parametrize(("more", "found", "asked"), [
    ({}, [], True),
    ({"mismatch_cnt": "128"}, ["main: 128 sectors differ"], True),
    ({"mismatch_cnt": "128", "sync_action": "frozen"}, [], False),
    ({"mismatch_cnt": "128", "resync_start": "2048"}, [], False),
    ({"mismatch_cnt": "128", "degraded": "1"}, [], False),
])  # fmt: skip
def test_copies_and_parity_of_what_is_in_sync_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, str], found: list[str], asked: bool
) -> None:
    written, write = [], Path.write_text
    with array(tmp_path, **more) as folder:
        monkeypatch.setattr(
            Path, "write_text", lambda file, text: written.append((file.name, text)) or write(file, text)
        )
        assert bare_tools.mismatched("main", str(folder)) == found
    first = [("sync_min", "0"), ("sync_max", str(bare_tools.FIRST)), ("sync_action", "check")]
    assert written == ([*first, ("sync_action", "idle"), ("sync_max", "max")] if asked else [])


def test_all_that_an_apply_configures_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the rule that holds off udev, which is to be gone."""
    there = (*(each.format(host="kills") for each in (FSTAB, MDADM_CONF, DEFAULTS, UDEV_RULES)), HOLD)
    monkeypatch.setattr(
        bare_tools.glob, "glob", lambda pattern: [each for each in there if fnmatch(each, pattern)]
    )
    assert {*bare_tools.configured()} == {*there}


def test_an_array_of_a_decoy_that_a_boot_started_is_no_trace_of_an_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = []
    for link, kernel in (("top", "md126"), ("lab:foreign", "md127")):
        (tmp_path / kernel).touch()
        (tmp_path / link).symlink_to(tmp_path / kernel)
        links.append(str(tmp_path / link))
    monkeypatch.setattr(bare_tools.glob, "glob", lambda pattern: links)
    assert bare_tools.arrays_of_others() == {"md127"}
