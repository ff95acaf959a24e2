"""What a person does between the applies of a case, which a fake guest plays: who agrees, who takes away what, and what is seen of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from raidplan.apply.refusal import refusal
from raidplan.render import journal_words, refusal_words
from raidplan.render.refusals import refusal_text
from tests.apply.sentences import advice_text
from tests.guest_of_kills import Guest, case
from tests.kills import in_guest
from tests.kills.adversity import CONVERGED, LOST, PERSON, STUCK

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
def guest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(in_guest, "names", lambda case: {})
    monkeypatch.setattr(in_guest, "EVENTS", str(tmp_path / "events"))
    monkeypatch.setattr(in_guest, "refusals", lambda: [{"code": "gone", "remedy": "Look."}])
    monkeypatch.setattr(in_guest.time, "sleep", lambda seconds: None)


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


@pytest.mark.parametrize(("members", "result"), [(3, CONVERGED), (2, STUCK)])
def test_the_yes_to_all_members_is_one_to_their_array_that_udev_starts(
    monkeypatch: pytest.MonkeyPatch, members: int, result: str
) -> None:
    of_array = "a member of the array 'twin:older' (raid5 of 3, metadata 1.2)"
    first = ("ext4, 512 MiB, on k0", *(f"{of_array} on k{n}" for n in range(members)))
    array = "the array 'twin:older' (/dev/md126), raid5 of 3, 1020 MiB"
    more = "".join(f"  - {each}\n" for each in first)
    Guest(monkeypatch, (4, said("b", more=more).replace("the array 'older' (/dev/md127)", array)), *DONE)
    assert in_guest.converge(case(agreed=first), {})["result"] == result


@pytest.mark.parametrize("agreed", [True, False])
@pytest.mark.parametrize("kind", ["kill all", "power cut", "disk pulled"])
def test_an_offer_to_destroy_what_was_not_on_that_list_is_a_defect(
    monkeypatch: pytest.MonkeyPatch, agreed: bool, kind: str
) -> None:
    first = tuple(sorted(in_guest.listed({}, said("a")))) if agreed else ()
    guest = Guest(monkeypatch, (4, said("b", more=STAIN)), *DONE)
    found = in_guest.converge(case(kind, agreed=first), {})
    assert (found["result"], len(guest.asked)) == (STUCK, 1) and "of somebody else" in found["why"]
    assert all("--destroy" not in argv for argv in guest.asked)


def test_an_offer_without_a_list_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    Guest(monkeypatch, (4, f"--destroy sha256:{'c' * 64}"), *DONE)
    assert in_guest.converge(case(agreed=("x",)), {})["result"] == STUCK


@pytest.mark.parametrize(("remedies", "result"), [
    ([], STUCK), ([""], STUCK), (["Wait.", ""], STUCK), (["Wait."], PERSON),
])  # fmt: skip
def test_a_refusal_that_needs_a_person_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, remedies: list[str], result: str
) -> None:
    Guest(monkeypatch, (4, "refused: no"), *DONE)
    events = [{"event": "refused", "code": "gone", "remedy": each} for each in remedies]
    monkeypatch.setattr(in_guest, "refusals", lambda: events)
    assert in_guest.converge(case(), {})["result"] == result


def test_the_refusals_are_those_of_the_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    file = tmp_path / "events"
    assert in_guest.refusals(str(file)) == []
    kinds = [{"event": "step"}, {"event": "refused", "code": "locked"}]
    file.write_text("".join(json.dumps(each) + "\n" for each in kinds))
    assert in_guest.refusals(str(file)) == kinds[1:]


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


@pytest.mark.parametrize("cleared", [False, True])
def test_between_the_ends_of_a_disk_that_was_cleared_nothing_is_planted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cleared: bool
) -> None:
    """On one that the layout wipes, and that was blank, everything is of somebody."""
    device, note = tmp_path / "k1.b", dict[str, Any]()
    device.write_bytes(bytes(2**20))
    monkeypatch.setattr(in_guest, "target_node", lambda case, target, done: str(device))
    monkeypatch.setattr(in_guest, "read_only", lambda device: False)
    monkeypatch.setattr(in_guest, "journal", lambda case: [("ended", "teardown.k1.zero")] * cleared)
    asked = {"targets": [["filesystem.plain.make", "k1.b"]], "consents": True}
    assert in_guest.plants_midway(asked, note, Random(1)) != cleared
    assert any(device.read_bytes()) != cleared


UUID = "a:b:c:d"


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The array of a person."""
    node = tmp_path / "md127"
    node.write_bytes(bytes(2**21))
    monkeypatch.setattr(in_guest, "array_on", lambda part: str(node))
    monkeypatch.setattr(in_guest, "uuid_of", lambda part: UUID)
    yield node


def made(
    monkeypatch: pytest.MonkeyPatch, part: Path, code: int = 0, words: str = "", runs: bool = True
) -> dict[str, Any]:
    done = subprocess.CompletedProcess([], code, "", words)
    monkeypatch.setattr(in_guest.subprocess, "run", lambda *words, **more: done)
    monkeypatch.setattr(in_guest, "runs", lambda pid: runs)
    return in_guest.created(str(part), 1, Random(1))


@pytest.mark.parametrize("harm", ["content", "superblock", "array", ""])
def test_the_array_of_a_person_is_whole_until_that_person_stops_it(
    monkeypatch: pytest.MonkeyPatch, mine: Path, harm: str
) -> None:
    note = made(monkeypatch, mine)
    assert note["won"] and note["mine"]["uuid"] == UUID and any(mine.read_bytes())
    Guest(monkeypatch, (4, "refused: not blank"), *DONE)
    if harm == "content":
        mine.write_bytes(bytes(2**21))
    elif harm == "superblock":
        monkeypatch.setattr(in_guest, "uuid_of", lambda part: "e:f:g:h")
    elif harm == "array":
        mine.unlink()
    assert in_guest.converge(case("person's create"), note)["result"] == (LOST if harm else PERSON)
    assert harm or not any(mine.read_bytes())  # also the sector in it; the superblock is a command of mdadm


def test_a_person_s_command_that_met_no_partition_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mine: Path
) -> None:
    assert "missed" in made(monkeypatch, tmp_path / "none", runs=False)
    assert "missed" in made(monkeypatch, mine, 1, "mdadm: cannot open: No such file or directory")
    busy = made(monkeypatch, mine, 1, "mdadm: Device or resource busy")
    assert "missed" not in busy and not busy["won"]


@pytest.mark.parametrize("runs", [True, False])
def test_a_second_raidplan_counts_where_the_first_one_still_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runs: bool
) -> None:
    def run(argv: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
        assert argv[argv.index("--state") + 1] != "/var/lib/raidplan" and argv[-2:] == ["--confirm", "kills"]
        return subprocess.CompletedProcess(argv, 4, "", "refused")

    monkeypatch.setattr(in_guest.subprocess, "run", run)
    monkeypatch.setattr(in_guest, "runs", lambda pid: runs)
    monkeypatch.setattr(in_guest, "refusals", lambda file: [{"code": "locked"}])
    note = in_guest.second(case(), 1)
    assert ("missed" in note) != runs and note.get("second codes", ["locked"]) == ["locked"]


def test_a_partition_of_what_was_there_before_is_no_place_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_guest, "node", lambda case, disk: "/dev/nul")
    monkeypatch.setattr(in_guest.os.path, "exists", lambda path: path == "/dev/nul2")
    assert in_guest.target_node({}, "k1.b", {"disk.k0.partition"}) == ""
    assert in_guest.target_node({}, "k1.b", {"disk.k1.partition"}) == "/dev/nul2"
