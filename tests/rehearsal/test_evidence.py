"""What a rehearsal takes for seen: a rig that breaks, a fault that was not there, records that vanish are no proof of anything."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from raidplan.cli import FINDINGS, OK, VOID
from raidplan.twin.rehearsal import places
from raidplan.twin.rehearsal.boots import CUTS
from raidplan.twin.rehearsal.faults import CHECK, IDLE_LOOKS, LOOKS, WHOLE
from raidplan.twin.rehearsal.rig import GIVEN, READY, Rig
from tests.rehearsal.conftest import LAYOUT, SERVER, Rehearsal
from tests.rehearsal.stand_in import Faulty

pytestmark = pytest.mark.in_turn(32)

MIRROR = LAYOUT.replace("swap: {mirror: {device: mirror}}", "  mirror: {device: mirror, type: ext4, mount: /srv/mirror}")  # fmt: skip
SWAP = Path("examples/rio-swap-mistake.yaml").read_text()
"""Whose machine dies with a disk."""


def claims(report: dict[str, Any], fault: str) -> dict[str, dict[str, Any]]:
    (case,) = (case for case in report["cases"] if case["fault"] == fault)
    return {claim["what"]: claim for claim in case["claims"]}


@pytest.mark.parametrize("fault", ["power", "moved", "stale"])
def test_records_that_are_gone_after_a_boot_are_lost(rehearsed: Rehearsal, fault: str) -> None:
    report = rehearsed(Faulty(vanishes=True), "--faults", "boot", code=FINDINGS)
    (case,) = (case for case in report["cases"] if case["fault"] == fault)
    assert case["lost"] == ["/srv/five"] and not case["as_predicted"] and case["acknowledged"] == 0


def test_what_was_written_without_a_disk_is_asked_for_once_it_is_stale(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(forgets_stale=True), "--faults", "boot", code=FINDINGS)
    assert [case["fault"] for case in report["cases"] if case["lost"]] == ["stale"]


@pytest.mark.parametrize("text", [LAYOUT, SWAP], ids=["lives", "dies with a disk"])
def test_a_witness_that_fails_is_no_guest_that_does_not_answer(rehearsed: Rehearsal, text: str) -> None:
    report = rehearsed(Faulty(crashes=True), "--faults", "disks", text=text, code=FINDINGS)
    assert not report["cases"] and "Traceback" in report["stages"][-1]["detail"]


def test_a_guest_that_cannot_read_its_programs_does_not_answer(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(rootless=True), "--faults", "a", text=SERVER)
    (case,) = report["cases"]
    assert {one["path"]: one["survived"] for one in case["observed"]} == {"machine": False}


def test_silence_alone_is_no_failed_control(rehearsed: Rehearsal) -> None:
    (rehearsed.folder / "console.log").write_text("INFO: task blocked for more than 120 seconds")
    report = rehearsed(Faulty(hangs=True), "--faults", "disks", code=VOID)
    assert report["void"]
    for case in (*report["cases"], report["control"]):
        (machine,) = (one for one in case["observed"] if one["path"] == "machine")
        assert not machine["as_predicted"] and "task blocked" in machine["detail"]["console"]
        assert "no record was read back" in case["returned"]


def test_a_machine_that_is_to_die_is_looked_at_before(rehearsed: Rehearsal) -> None:
    rehearsed(Faulty(hangs=True), "--faults", "rs0", text=SWAP)
    looks = [call for call in rehearsed.twin.calls if "witness.py look" in call]
    assert len(looks) == 4, "before and after, in the case and in the control"


@pytest.mark.parametrize("choice", ["rs0", "boot:rs0"], ids=["case", "control"])
def test_a_machine_that_had_stopped_paging_before_is_no_proof_of_a_loss(
    rehearsed: Rehearsal, choice: str
) -> None:
    """It is to die of what is in swap; that it does not page afterwards says nothing where it did not before."""
    report = rehearsed(Faulty(pages=False), "--faults", choice, text=SWAP, code=FINDINGS)
    last = report["stages"][-1]
    assert last["name"] == ("faults" if choice == "rs0" else "control") and not report["cases"]
    assert last["detail"].startswith("before anything was pulled this did not work: the running system")


def test_a_writer_that_failed_is_seen_where_later_writes_go_well(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(stumbles=True), "--faults", "d1", code=FINDINGS)
    differs = {one["path"] for one in report["cases"][0]["observed"] if not one["as_predicted"]}
    assert differs == {"filesystems.five"}


@pytest.mark.parametrize(
    ("faulty", "words"),
    [
        (Faulty(stumbles=True), "filesystems.five"),
        (Faulty(damaged=True), "filesystems.five, /srv/five"),
        (Faulty(differs=True), "arrays.five: mismatches"),
        (Faulty(stays=True), ""),
    ],
)
def test_what_went_otherwise_is_said_at_once(rehearsed: Rehearsal, faulty: Faulty, words: str) -> None:
    """Who interrupts a rehearsal of hours has no report."""
    rehearsed(faulty, "--faults", "d1", code=FINDINGS if words else OK)
    assert (
        f"1 of 1: pulled disk d1: {f'NOT as predicted ({words})' if words else 'as predicted'}, "
        in rehearsed.said()
    )


def test_a_boot_that_comes_up_and_hangs_is_no_boot_that_stops(rehearsed: Rehearsal) -> None:
    report = rehearsed(
        Faulty(hangs=True, boots_always=True), "--faults", "boot:a", text=SERVER, code=FINDINGS
    )
    (case,) = report["cases"]
    assert [(one["path"], one["predicted"], one["survived"]) for one in case["observed"]] == [
        ("boot", "lost", True)
    ]
    assert case["observed"][0]["detail"]["guest"] == "does not answer"


def test_swap_in_which_nothing_lies_is_not_seen_to_go_on(rehearsed: Rehearsal) -> None:
    """Nor is the machine, which would not miss it."""
    (case,) = rehearsed(Faulty(), "--faults", "d1")["cases"]
    assert any(one["path"] == "swap.mirror" for one in case["observed"])
    report = rehearsed(Faulty(swapless=True), "--faults", "d1", code=FINDINGS)
    last = report["stages"][-1]
    assert last["name"] == "prepare" and "/dev/md126" in last["detail"]


def test_swap_is_seen_to_be_lost_though_none_of_it_is_used_any_more(rehearsed: Rehearsal) -> None:
    """The kernel frees it with the process that died of it."""
    striped = LAYOUT.replace("mirror: {level: raid1", "mirror: {level: raid0").replace(
        "[d0.p, d2.p], bitmap: internal}", "[d0.p, d2.p]}"
    )
    (case,) = rehearsed(Faulty(), "--faults", "d0", text=striped)["cases"]
    seen = {one["path"]: one["survived"] for one in case["observed"]}
    assert seen["machine"] is False and seen["swap.mirror"] is False


def test_an_array_that_nothing_was_to_touch_has_all_its_members(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(gives_up=True), "--faults", "d1", code=FINDINGS)
    (case,) = report["cases"]
    differs = {one["path"]: one["predicted"] for one in case["observed"] if not one["as_predicted"]}
    assert differs == {"arrays.mirror": "intact", "arrays.five": "degraded"}, "one more than was pulled"


@pytest.mark.parametrize(("looks", "code"), [(LOOKS - 1, OK), (2 * LOOKS, FINDINGS)])
def test_an_array_that_was_not_told_of_a_loss_did_not_survive_it(
    rehearsed: Rehearsal, looks: int, code: int
) -> None:
    report = rehearsed(Faulty(slow_to_tell=looks + 1), "--faults", "d1", code=code)
    (case,) = report["cases"]
    differs = {one["path"] for one in case["observed"] if not one["as_predicted"]}
    assert differs == (set() if code == OK else {"arrays.five"})


def test_a_boot_that_stops_had_twice_the_time_of_one_that_did_not(rehearsed: Rehearsal) -> None:
    rehearsed(Faulty(), "--faults", "boot:d0")
    assert {*rehearsed.twin.limits} == {600}
    rehearsed(Faulty(boots_in=500), "--faults", "boot:d0")
    assert {*rehearsed.twin.limits} == {1000}


def test_records_that_were_acknowledged_before_a_power_cut_are_asked_for_after_it(
    rehearsed: Rehearsal,
) -> None:
    rehearsed(Faulty(), "--faults", "boot:machine")
    assert json.loads(rehearsed.twin.files[GIVEN])["acknowledged"] == {"five": 5}


def test_an_answer_of_the_guest_that_cannot_be_read_ends_the_stage_and_not_the_report(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rig, "witness", lambda *_: "{")
    report = rehearsed(Faulty(), "--faults", "d0", code=FINDINGS)
    assert "gave no JSON" in report["stages"][-1]["detail"]


def test_what_md_still_has_of_a_stripe_is_forgotten_before_disks_are_pulled(rehearsed: Rehearsal) -> None:
    rehearsed(Faulty(), "--faults", "d0")
    calls = [call for call in rehearsed.twin.calls if "forget" in call]
    assert len(calls) == 2 and calls[0].endswith("places.py forget /dev/md/five"), (
        "case and control, no mirror"
    )


@pytest.mark.parametrize(("entries", "shrunk"), [(4096, True), (256, False)])
def test_large_caches_of_stripes_are_small_before_the_snapshot_and_the_report_says_so(
    rehearsed: Rehearsal, entries: int, shrunk: bool
) -> None:
    text = LAYOUT.replace("level: raid5,", f"level: raid5, stripe_cache_size: {entries},")
    assert text != LAYOUT
    report = rehearsed(Faulty(), "--faults", "d0", text=text)
    calls = rehearsed.twin.calls
    small = [
        number
        for number, call in enumerate(calls)
        if call.startswith("echo 256 >") and "/dev/md/five)" in call
    ]
    assert len(small) == shrunk and all(number < calls.index(f"saved {READY}") for number in small)
    assert any("256 entries" in each for each in report["differences"]) is shrunk


def test_without_room_a_boot_that_was_never_tried_is_not_as_predicted(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(room=False), "--faults", "boot:a", text=SERVER, code=FINDINGS)
    assert not report["cases"] and "No space left" in report["stages"][-1]["detail"]


def test_a_boot_that_fails_is_shown_with_the_end_of_its_console(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(boots_without=False), "--faults", "boot:d0", code=FINDINGS)
    (case,) = (case for case in report["cases"] if case["fault"] == "absent")
    assert "gave up booting" in case["observed"][0]["detail"]["console"]
    (rehearsed.folder / "console.log").write_text("INFO: task blocked for more than 120 seconds")
    report = rehearsed(Faulty(hangs=True), "--faults", "boot:d1", code=VOID)
    assert "task blocked" in report["cases"][0]["observed"][0]["detail"]["console"], "which boots, and hangs"


@pytest.mark.parametrize(
    ("faulty", "choice", "fault", "what"),
    [
        (Faulty(checks=False), "replaced:d1", "replaced", "mismatches"),
        (Faulty(checks=False), "media", "changed", "mismatches"),
        (Faulty(checks=False), "media", "changed", "mismatches after repair"),
        (Faulty(checks=False), "media", "unreadable", "corrected"),
        (Faulty(differs=True), "d1", "pulled", "mismatches"),
        (Faulty(differs=True), "boot:d1", "absent", "mismatches"),
        (Faulty(checks=False), "d1", "pulled", "mismatches"),
        (Faulty(limps=False), "media", "slow", "limps"),
        (Faulty(moves=False), "boot", "moved", "moved"),
        (Faulty(stays=True), "boot", "stale", "went on without it"),
        (Faulty(flushes=True), "boot:machine", "power", "unflushed writes lost"),
    ],
)
def test_a_fault_or_a_check_that_was_not_there_is_found(
    rehearsed: Rehearsal, faulty: Faulty, choice: str, fault: str, what: str
) -> None:
    report = rehearsed(faulty, "--faults", choice, code=FINDINGS)
    cases = [case for case in report["cases"] if case["fault"] == fault]
    found = [claim for case in cases for claim in case["claims"] if claim["what"] == what]
    assert found and not any(claim["as_predicted"] for claim in found)
    good = rehearsed(Faulty(), "--faults", choice)
    assert sum(claim["what"] == what for case in good["cases"] for claim in case["claims"]) >= len(found)


def test_while_a_disk_limps_requests_are_measured_on_what_lies_on_it(rehearsed: Rehearsal) -> None:
    text = LAYOUT.replace("filesystems:", "  apart: {level: raid1, members: [d2.r, d3.r]}\nfilesystems:")
    text = text.replace(
        "filesystems:", "filesystems:\n  apart: {device: apart, type: ext4, mount: /srv/apart}"
    )
    report = rehearsed(Faulty(), "--faults", "media:d0", text=text)
    (limping,) = report["cases"]
    assert limping["seconds_of"] == {
        "longest request on /srv/five": 0.01,
        "longest request on /srv/five while it limps": 1.5,
    }


def test_how_many_writes_the_power_cut_lost_is_in_the_report(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(), "--faults", "boot:machine")
    assert claims(report, "power")["unflushed writes lost"]["observed"] == "3"
    assert sum("witness.py press" in call for call in rehearsed.twin.calls) == 1


def test_where_nothing_is_mounted_one_power_cut_is_enough(rehearsed: Rehearsal) -> None:
    text = LAYOUT.replace(", mount: /srv/five", "")
    rehearsed(Faulty(flushes=True), "--faults", "boot:machine", text=text)
    assert sum("witness.py press" in call for call in rehearsed.twin.calls) == 1


@pytest.mark.parametrize(("late", "code", "lost"), [(CUTS - 1, OK, "3"), (CUTS, FINDINGS, "0")])
def test_a_power_cut_that_comes_right_after_a_flush_is_made_anew(
    rehearsed: Rehearsal, late: int, code: int, lost: str
) -> None:
    report = rehearsed(Faulty(late_cuts=late), "--faults", "boot:machine", code=code)
    assert claims(report, "power")["unflushed writes lost"]["observed"] == lost
    assert sum("witness.py press" in call for call in rehearsed.twin.calls) == CUTS


@pytest.mark.parametrize(("choice", "stage"), [("boot:machine", "prepare"), ("d1", "prepare")])
def test_a_writer_that_writes_nothing_ends_it(rehearsed: Rehearsal, choice: str, stage: str) -> None:
    report = rehearsed(Faulty(idle=True), "--faults", choice, code=FINDINGS)
    last = report["stages"][-1]
    assert last["name"] == stage and "five" in last["detail"]


@pytest.mark.parametrize("content", ["right", "wrong"])
def test_what_a_mirror_gives_is_shown_and_not_counted(rehearsed: Rehearsal, content: str) -> None:
    report = rehearsed(Faulty(repaired_to=content), "--faults", "media", text=MIRROR)
    changed = [case for case in report["cases"] if case["fault"] == "changed"]
    judged = sum(len(case["claims"]) + len(case["observed"]) for case in report["cases"]) + len(report["control"]["observed"])  # fmt: skip
    assert [case["name"] for case in changed] == ["five", "five", "mirror"]
    assert report["predictions"]["all"] == judged - 2, "what a reader gets before and after a repair"
    last = changed[2]["claims"][-1]
    assert last["observed"] == content and last["counts"] is False
    counted = [claim["counts"] for case in report["cases"] for claim in case["claims"]]
    assert counted.count(False) == 2
    for form in ("text", "markdown", "html"):
        file = rehearsed.folder / f"said.{form}"
        rehearsed(Faulty(repaired_to=content), "--faults", "media", "-o", str(file), "--format", form, text=MIRROR)  # fmt: skip
        assert f"after a repair a reader gets data that are: {content} (not counted)" in file.read_text()


def test_a_blank_disk_is_found_by_a_serial_number_with_a_blank(rehearsed: Rehearsal) -> None:
    text = LAYOUT.replace("serial: L<1>", "serial: L <1>")
    rehearsed(Faulty(), "--faults", "replaced:d1", text=text, code=OK)
    assert "sfdisk --dump /dev/sdb >/root/table 2>/dev/null || : >/root/table" in rehearsed.twin.calls


def test_disks_are_where_the_kernel_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "pci0000:00/0000:00:06.1/virtio3/host2/target2:0:1/2:0:1:0"
    (place / "block/sdb").mkdir(parents=True)
    (place / "vpd_pg80").write_bytes(b"\x00\x80\x00\x03S 1")
    (place / "block/sdb/device").symlink_to("../..")
    (tmp_path / "block").mkdir()
    (tmp_path / "block/sdb").symlink_to(place / "block/sdb")
    monkeypatch.setattr(places, "SYSTEM", tmp_path / "block")
    assert places.disks() == {"S 1": {"node": "/dev/sdb", "place": "0000:00:06.1 0:1"}}


@pytest.mark.parametrize(
    ("action", "last", "said"),
    [("file", "check", "0"), ("file", "recover", ""), ("folder", "check", "")],
    ids=["it ran", "another one ran", "it could not begin"],
)
def test_the_count_of_an_earlier_check_is_not_taken(
    action: str, last: str, said: str, tmp_path: Path
) -> None:
    md = tmp_path / "five/md"
    md.mkdir(parents=True)
    (md / "mismatch_cnt").write_text("0")
    (md / "last_sync_action").write_text(last)
    (md / "sync_action").mkdir() if action == "folder" else (md / "sync_action").touch()
    cat = tmp_path / "cat"
    cat.write_text('#!/bin/sh\ncase $1 in */sync_action) echo idle ;; *) exec /bin/cat "$1" ;; esac\n')
    cat.chmod(0o755)
    script = CHECK.format(array="/dev/five").replace("/sys/block", str(tmp_path))
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, timeout=20)
    assert done.stdout == said


@pytest.mark.parametrize("begins", [True, False])
def test_a_rebuild_that_has_yet_to_begin_is_waited_for(begins: bool, tmp_path: Path) -> None:
    """After a member was added the kernel says `idle` for a while; an array for which nothing is done stays short."""
    md = tmp_path / "five/md"
    md.mkdir(parents=True)
    (md / "degraded").write_text("1")
    (md / "sync_action").write_text("idle")
    begin = f"[ $count != 3 ] || echo recover >{md}/sync_action; [ $count != 60 ] || echo 0 >{md}/degraded"
    programs = {
        "sleep": f"echo x >>{tmp_path}/slept; count=$(wc -l <{tmp_path}/slept); {begin if begins else ':'}",
        "mdadm": f"cat {md}/degraded >{tmp_path}/waited",
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    script = WHOLE.format(array="/dev/five").replace("/sys/block", str(tmp_path))
    subprocess.run(["sh", "-c", script], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=True, timeout=60)
    assert (tmp_path / "waited").read_text().strip() == ("0" if begins else "1")
    assert len((tmp_path / "slept").read_text().split()) == (60 if begins else IDLE_LOOKS)


def test_a_blank_disk_that_no_array_took_was_not_rebuilt(rehearsed: Rehearsal) -> None:
    """A disk that kept its content comes back by itself, and every array is whole."""
    report = rehearsed(Faulty(rejoins=True), "--faults", "replaced:d1", code=FINDINGS)
    assert report["cases"][0]["returned"].startswith("no blank disk was taken")


@pytest.mark.parametrize(
    ("at", "last", "in_time"), [(1024, "check", True), (1024, "resync", False), (128, "check", False)]
)
def test_a_scrub_that_did_not_come_to_its_end_says_so(
    at: int, last: str, in_time: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "forget", lambda *_: None)
    monkeypatch.setattr(places, "SCRUB_SECONDS", 0.5)
    state = {
        "level": "raid1", "chunk_size": "0", "component_size": "1048576", "mismatch_cnt": "0", "degraded": "0",
        "sync_action": "idle", "last_sync_action": last, "sync_completed": f"{at} / 2097152",
    }  # fmt: skip
    for name, text in state.items():
        (tmp_path / name).write_text(text)
    assert places.scrub(tmp_path, "check", 0, 1024)["in_time"] == in_time
    assert (tmp_path / "sync_action").read_text() == "idle"
    assert (tmp_path / "sync_max").read_text() == "max"


@pytest.mark.parametrize(
    ("level", "begin", "low"), [("raid5", 512 << 20, 2**18), ("raid1", 0, 0), ("raid10", 512 << 20, 2**20)]
)
def test_what_is_compared_begins_a_little_before_the_file(
    level: str, begin: int, low: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members of 2 GiB, of which four hold data, one, two."""
    monkeypatch.setattr(places, "on_array", lambda _: begin)
    md = tmp_path / "md"
    md.mkdir()
    data = {"raid5": 4, "raid1": 1, "raid10": 2}[level]
    (tmp_path / "size").write_text(str(data * 2**22))
    for name, text in {"level": level, "chunk_size": "65536", "component_size": str(2**21)}.items():
        (md / name).write_text(text)
    chunk, share = 128, 2 if level == "raid10" else 1
    assert places.from_file(md, "file") == (max(0, low - 2 * chunk), max(0, low - 2 * chunk) + share * 2**15)
