"""The cases of a rehearsal and the judgement of what was observed, without a machine."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from raidplan.cli.parser import parse
from raidplan.estimate.survival import MACHINE, Outcome, survive
from raidplan.render.rehearsal.json import rehearsal_json
from raidplan.render.rehearsal.page import rehearsal_page
from raidplan.render.rehearsal.text import rehearsal_markdown, rehearsal_text
from raidplan.render.rehearsal.words import headline
from raidplan.review.pipeline import load
from raidplan.topology import Topology
from raidplan.twin.rehearsal import witness
from raidplan.twin.rehearsal.cases import Case, Fault, Source, control, goes_on
from raidplan.twin.rehearsal.choices import NoSuchPart, cases_of
from raidplan.twin.rehearsal.observed import acknowledged, lost_bytes, observations
from raidplan.twin.rehearsal.report import Report, Stage, Tried
from raidplan.twin.rehearsal.subject import Unsuited, subject_of
from raidplan.twin.rehearsal.untried import untried
from tests.examples import EXAMPLES
from tests.rehearsal.conftest import ENCRYPTED, GROUP, NESTED, VOLUMES, topology_of

MIXED = """\
version: 1
host: h
hardware:
  controllers: {a: {ports: 4}, b: {ports: 4}}
  disks:
    d<0-3>: {behind: <1:a/a/b/b>, port: <1:0/1/0/1>, size: 4GiB, serial: S<1>, path: "pci-<1>", partitions: {p: {size: 1GiB}, q: {size: rest}}}
arrays:
  safe: {level: raid10, members: [d0.p, d2.p, d1.p, d3.p]}
  fast: {level: raid0, members: [d<0-3>.q]}
filesystems:
  safe: {device: safe, type: ext4, mount: /srv/safe}
  fast: {device: fast, type: xfs, mount: /srv/fast}
"""


@pytest.fixture
def mixed(tmp_path: Path) -> Topology:
    return topology_of(MIXED, tmp_path)


def found(*, dead: tuple[str, ...] = (), damaged: tuple[str, ...] = ()) -> dict[str, Any]:
    """What the witness says without a disk where these arrays and all on them are dead, and on these mounts data is damaged."""
    arrays = {
        name: {
            "array_state": "clean",
            "degraded": "1" if name == "safe" else "0",
            "read": "Input/output error" if name in dead else "",
        }
        for name in ("safe", "fast")
    }
    mounts = {
        f"/srv/{name}": {
            "mounted": True,
            "writer": "",
            "write": "Input/output error" if name in dead else "",
            "read": {"acknowledged": 99, "damaged": [3] if f"/srv/{name}" in damaged else []},
        }
        for name in ("safe", "fast")
    }
    return {"arrays": arrays, "mounts": mounts, "swap": {}}


def test_every_disk_component_and_pair_is_a_case(mixed: Topology) -> None:
    source = Source(mixed, 99, 0)
    assert [case.name for case in cases_of(source, "disks")] == ["d0", "d1", "d2", "d3"]
    assert [case.name for case in cases_of(source, "components")] == ["a", "b"]
    pairs = cases_of(source, "pairs")
    assert {case.disks for case in pairs} == {(x, y) for x in ("d0", "d1") for y in ("d2", "d3")}
    assert len(cases_of(Source(mixed, 2, 7), "pairs")) == 2
    assert [case.disks for case in cases_of(Source(mixed, 0), "pairs:d1 and d2")] == [("d1", "d2")]
    assert cases_of(Source(mixed, 2, 7), "pairs") == cases_of(Source(mixed, 2, 7), "pairs")
    assert [case.disks for case in cases_of(source, "b,d1")] == [("d2", "d3"), ("d1",)]
    with pytest.raises(NoSuchPart):
        cases_of(source, "disks,nobody")
    assert [(case.fault, case.name) for case in cases_of(source, "boot:d0,boot:machine")] == [
        (Fault.ABSENT, "d0"), (Fault.BLANK, "d0"), (Fault.MOVED, "all disks"), (Fault.POWER, "the machine"),
    ]  # fmt: skip
    assert cases_of(source, "none") == []
    with pytest.raises(NoSuchPart):
        cases_of(source, "boot:d9")


def test_a_case_goes_as_predicted_or_not(mixed: Topology) -> None:
    survival = survive(mixed)
    (case,) = cases_of(Source(mixed), "d0")
    assert (
        case.outcome(("arrays", "safe")) is Outcome.DEGRADED
        and case.outcome(("arrays", "fast")) is Outcome.LOST
    )
    right = observations(case, survival, mixed, found(dead=("fast",)))
    assert all(one.as_predicted for one in right) and {one.thing for one in right} >= {
        ("filesystems", "safe"),
        MACHINE,
    }
    alive = observations(case, survival, mixed, found())
    assert {one.thing for one in alive if not one.as_predicted} == {
        ("arrays", "fast"),
        ("filesystems", "fast"),
    }
    dead = observations(case, survival, mixed, found(dead=("safe", "fast")))
    assert {one.thing for one in dead if not one.as_predicted} == {
        ("arrays", "safe"),
        ("filesystems", "safe"),
    }
    silent = observations(case, survival, mixed, None)
    assert {one.thing for one in silent if not one.as_predicted} == {
        ("arrays", "safe"),
        ("filesystems", "safe"),
        MACHINE,
    }


def test_an_array_lacks_what_was_pulled_and_no_more(mixed: Topology, tmp_path: Path) -> None:
    def right(case: Case, degraded: int, of: Topology = mixed) -> bool:
        seen = found(dead=("fast",))
        seen["arrays"]["safe"]["degraded"] = str(degraded)
        (one,) = (one for one in observations(case, survive(of), of, seen) if one.thing == ("arrays", "safe"))
        return one.as_predicted

    (pulled,) = cases_of(Source(mixed), "d0")
    assert [right(pulled, number) for number in range(3)] == [False, True, False]
    two = Case("d0 and d1", "pair", ("d0", "d1"), survive(mixed).after(("d0", "d1")))
    assert [right(two, number) for number in range(4)] == [False, False, True, False]
    stale = replace(pulled, fault=Fault.STALE)
    assert [right(stale, number) for number in range(3)] == [True, True, False], "it may be in again"
    (untouched,) = (case for case in cases_of(Source(mixed), "media") if case.fault is Fault.SLOW)
    assert [right(untouched, number) for number in range(2)] == [True, False]
    spare = topology_of(MIXED.replace("d3.p]", "d3.p], spares: [d0.r]").replace("size: rest}", "size: 1GiB}, r: {size: rest}"), tmp_path)  # fmt: skip
    (case,) = cases_of(Source(spare), "d1")
    assert [right(case, number, spare) for number in range(3)] == [True, True, False], "it takes the place"


@pytest.mark.parametrize(
    ("disks", "degraded", "right", "late"),
    [
        (("jossd",), 0, True, False),
        (("jossd",), 1, False, False),
        (("jo3", "jossd"), 0, False, True),
        (("jo3", "jossd"), 1, True, False),
        (("jo3", "jossd"), 2, False, False),
    ],
)
def test_an_array_without_its_journal_is_read_and_lacks_no_other_member(
    disks: tuple[str, ...], degraded: int, right: bool, late: bool
) -> None:
    of = load("examples/raid6-journal.yaml").topology
    assert of is not None
    survival = survive(of)
    case = Case("x", "pair", disks, survival.after(disks))
    array = {"array_state": "clean", "degraded": str(degraded), "read": ""}
    mount: dict[str, Any] = {"mounted": True, "writer": "Input/output error", "write": "Input/output error", "read": "Input/output error"}  # fmt: skip
    seen = {"arrays": {"journaled": array}, "mounts": {"/srv/journaled": mount}, "swap": {}}
    made = observations(case, survival, of, seen)
    (one,) = (one for one in made if one.thing == ("arrays", "journaled"))
    assert (one.as_predicted, one.is_late) == (right, late)
    assert list(lost_bytes(seen, made, of)) == [], "of a file system that was shut down nothing can be read"
    for damaged, lost in (([], []), ([3], ["/srv/journaled"])):
        mount["read"] = {"acknowledged": 99, "damaged": damaged}
        assert list(lost_bytes(seen, made, of)) == lost, "what it gives is what was written"


def test_an_array_of_arrays_lacks_those_that_stop(tmp_path: Path) -> None:
    nested = topology_of(
        MIXED.replace(
            "level: raid10, members: [d0.p, d2.p, d1.p, d3.p]", "level: raid1, members: [one, two]"
        ).replace(
            "arrays:",
            "arrays:\n  one: {level: raid0, members: [d0.p, d1.p]}\n  two: {level: raid0, members: [d2.p, d3.p]}",
        ),
        tmp_path,
    )
    (case,) = cases_of(Source(nested), "d0")
    seen = found(dead=("fast",))
    seen["arrays"] |= dict.fromkeys(("one", "two"), seen["arrays"]["fast"])
    seen["arrays"]["two"] = {**seen["arrays"]["two"], "read": ""}
    assert all(one.as_predicted for one in observations(case, survive(nested), nested, seen))
    assert not any(case.name == "safe" for case in cases_of(Source(nested, 0, 0), "all") if case.fault is Fault.CHANGED), "no disk is named where its blocks lie"  # fmt: skip
    assert any("safe" in each for each in untried(Source(nested), [], "media"))


IDLE = ENCRYPTED.replace("filesystems:\n  safe: {device: safe, type: ext4, mount: /srv/safe}\n", "")


@pytest.mark.parametrize(
    ("text", "faults", "right"),
    [
        (ENCRYPTED, "d0", [False, True, False]),
        (ENCRYPTED, "boot:d0", [False, True, False]),
        (VOLUMES, "d0", [False, True, False]),
        (VOLUMES, "boot:d1", [False, True, False]),
        (NESTED, "d0", [False, True, False]),
        (NESTED, "boot:d3", [False, True, False]),
        (IDLE, "d0", [True, True, False]),
        (IDLE, "boot:d0", [False, True, False]),
    ],
)
def test_an_array_lacks_members_that_stop_with_their_disk(
    text: str, faults: str, right: list[bool], tmp_path: Path
) -> None:
    """Of an idle array that is not made of disks md may not have been told."""
    of = topology_of(text, tmp_path)
    case, *_ = cases_of(Source(of), faults)
    safe = {"array_state": "clean", "read": ""}
    lost = {**safe, "degraded": "0", "read": "Input/output error"}
    mount = {"mounted": True, "writer": "", "write": "", "read": {"acknowledged": 99, "damaged": []}}
    for degraded, as_predicted in enumerate(right):
        arrays = dict.fromkeys(of.layout.arrays, lost) | {"safe": {**safe, "degraded": str(degraded)}}
        seen = {"arrays": arrays, "mounts": {"/srv/safe": mount}, "swap": {}, "swaps": {}}
        made = observations(case, survive(of), of, seen)
        (one,) = (one for one in made if one.thing == ("arrays", "safe"))
        assert (one.survived, one.as_predicted) == (True, as_predicted), degraded


def test_acknowledged_data_that_is_gone_is_a_difference_where_it_was_to_survive(mixed: Topology) -> None:
    survival = survive(mixed)
    (case,) = cases_of(Source(mixed), "d0")
    for mount, expected in (("/srv/safe", ["/srv/safe"]), ("/srv/fast", [])):
        seen = found(dead=("fast",), damaged=(mount,))
        assert list(lost_bytes(seen, observations(case, survival, mixed, seen), mixed)) == expected


def tried(mixed: Topology, name: str, said: dict[str, Any] | None) -> Tried:
    survival = survive(mixed)
    (case,) = cases_of(Source(mixed), name)
    return Tried(case, 3.0, tuple(observations(case, survival, mixed, said)))


def test_without_a_control_that_fails_a_rehearsal_is_void(mixed: Topology) -> None:
    survival = survive(mixed)
    last = control(survival)
    assert last is not None and last.kind == "control"
    assert any(not outcome.survives for outcome in last.predicted.values())
    good = Report(
        "h", "sha256:0", 1, "raidplan rehearse h.yaml", (), tried=(tried(mixed, "d0", found(dead=("fast",))),)
    )
    assert good.void, "there was none"
    unseen = replace(good, control=Tried(last, 1.0, tuple(observations(last, survival, mixed, found()))))
    assert unseen.void and "void" in rehearsal_text(unseen)
    seen = replace(
        good,
        control=Tried(last, 1.0, tuple(observations(last, survival, mixed, found(dead=("safe", "fast"))))),
    )
    assert not seen.void and seen.as_predicted
    other = Tried(last, 1.0, tuple(observations(last, survival, mixed, found(dead=("fast",)))))
    half = replace(good, control=other)
    assert (
        not half.void
        and not half.as_predicted
        and half.predictions[0]
        == half.predictions[1] + len([one for one in other.observed if not one.as_predicted])
    )


def test_the_verdict_says_that_something_went_otherwise_though_all_predictions_were_observed(
    mixed: Topology,
) -> None:
    good = tried(mixed, "d0", found(dead=("fast",)))
    report = Report("h", "sha256:0", 1, "", (), tried=(good, good), control=good)
    assert (
        rehearsal_text(report).startswith("h: ") and "otherwise" not in rehearsal_text(report).splitlines()[0]
    )
    for bad, words in (
        (replace(good, whole_again=False), "1 case went otherwise than predicted; "),
        (replace(good, lost=("/srv/safe",)), "1 case went otherwise than predicted, acknowledged data was lost on /srv/safe; "),
    ):  # fmt: skip
        report = replace(report, tried=(good, bad))
        whole, true = report.predictions
        assert whole == true and not report.as_predicted
        for text in (rehearsal_text(report), rehearsal_markdown(report), rehearsal_page(report)):
            assert f"h: {words}{true} of {whole} " in text


def test_what_differs_is_said_in_words_and_a_failure_in_lines(mixed: Topology) -> None:
    seen = found(dead=("fast",), damaged=("/srv/safe",))
    seen["mounts"]["/srv/safe"]["mounted"] = False
    stage = Stage("boot", 1.0, False, "one\n\x1b[31m<two>")
    report = Report("h", "sha256:0", 1, "", (), stages=(stage,), tried=(tried(mixed, "d0", seen),))
    for text in (rehearsal_text(report), rehearsal_markdown(report), rehearsal_page(report)):
        assert ": not mounted, records 3 of 99 " in text
    assert "<pre>one\n\\x1b[31m&lt;two&gt;\n</pre>" in rehearsal_page(report)


def test_of_a_layout_without_anything_to_break_there_is_no_control(tmp_path: Path) -> None:
    bare = topology_of("version: 1\nhost: h\nhardware: {disks: {a: {size: 1GiB, serial: A}}}\n", tmp_path)
    assert control(survive(bare)) is None
    (case,) = cases_of(Source(bare), "a")
    report = Report("h", "sha256:0", 1, "", (), tried=(Tried(case, 1.0, ()),))
    assert report.void and headline(report) != headline(replace(report, control=Tried(case, 1.0, ())))


def test_what_hangs_on_where_volumes_lie_is_not_predicted(tmp_path: Path) -> None:
    """While the system runs; at the next start no volume is there."""
    source = Source(topology_of(GROUP, tmp_path))
    for name in ("d0", "d2"):
        pulled, absent = cases_of(source, f"{name},boot:{name}")[:2]
        assert {*pulled.unpredicted} == {
            ("volume_groups", "vg"),
            ("filesystems", "f"),
            ("swap", "s"),
            MACHINE,
        }
        assert not absent.unpredicted and absent.outcome(("filesystems", "f")) is Outcome.LOST
        assert not goes_on(pulled) and not observations(pulled, source.survival, source.topology, None)
    last = control(source.survival)
    assert last is not None and last.disks == ("d0", "d2") and not last.unpredicted
    (whole,) = (case for case in cases_of(Source(source.topology, 1), "pairs") if case.disks == ("d0", "d2"))
    assert whole.outcome(("filesystems", "f")) is Outcome.LOST and not whole.unpredicted


def test_an_array_of_volumes_may_lack_those_of_which_nothing_is_predicted(tmp_path: Path) -> None:
    text = (
        VOLUMES.replace("d<0-1>", "d<0-2>")
        .replace("volume_groups: {", "volume_groups: {v0: {devices: [d0, d2], volumes: {a: {size: 1GiB}}}, ")
        .replace("v<0-1>", "v<1-1>")
    )
    of = topology_of(text, tmp_path)
    (case,) = cases_of(Source(of), "d0")
    assert case.unpredicted == (("volume_groups", "v0"),)
    for degraded, right in enumerate((True, True, False)):
        safe = {"array_state": "clean", "read": "", "degraded": str(degraded)}
        mount = {"mounted": True, "writer": "", "write": "", "read": {"acknowledged": 99, "damaged": []}}
        seen = {"arrays": {"safe": safe}, "mounts": {"/srv/safe": mount}, "swap": {}, "swaps": {}}
        made = {one.thing: one for one in observations(case, survive(of), of, seen)}
        assert made["arrays", "safe"].as_predicted == right


def test_a_running_system_outlives_a_key_file(tmp_path: Path) -> None:
    text = ENCRYPTED.replace("file: /etc/keys/k", "file: /srv/keys/k").replace(
        "d<0-2>: {behind: <1:a/a/b>, port: <1:0/1/0>", "d<0-3>: {behind: <1:a/a/b/b>, port: <1:0/1/0/1>"
    )
    of = topology_of(text + "  keys: {device: d3, type: ext4, mount: /srv/keys}\n", tmp_path)
    pulled, absent = cases_of(Source(of), "d3,boot:d3")
    assert pulled.outcome(("arrays", "safe")) is Outcome.INTACT
    assert absent.outcome(("arrays", "safe")) is Outcome.LOST


def test_each_form_names_what_differs(mixed: Topology) -> None:
    report = Report(
        "h", "sha256:0", 1, "raidplan rehearse h.yaml --seed 1", ("sizes are divided by 4",), {"kernel": "6.1"},
        (Stage("apply", 61.0, True),), (tried(mixed, "d0", found()), tried(mixed, "d1", found(dead=("fast",)))),
    )  # fmt: skip
    assert not report.as_predicted
    data = json.loads(rehearsal_json(report))
    assert [case["as_predicted"] for case in data["cases"]] == [False, True]
    assert data["predictions"]["all"] - data["predictions"]["true"] == 2
    for text in (rehearsal_text(report), rehearsal_markdown(report), rehearsal_page(report)):
        assert "filesystems.fast goes on" in text and "--seed 1" in text and "kernel 6.1" in text


def test_a_stage_that_fails_is_named(mixed: Topology) -> None:
    report = Report(
        "h", "sha256:0", 1, "", (), stages=(Stage("boot", 9.0, False, "the guest gave up booting"),)
    )
    assert report.stopped and not report.as_predicted and not report.void
    assert "stopped at the stage boot" in rehearsal_text(report) and "gave up booting" in rehearsal_text(
        report
    )


def test_the_subject_keeps_wiring_and_says_what_differs(mixed: Topology) -> None:
    subject = subject_of(mixed, 2)
    disks = subject.topology.layout.hardware.disks
    assert {disk.behind for disk in disks.values()} == {"a", "b"} and all(
        disk.path is None for disk in disks.values()
    )
    assert disks["d0"].size == 2 * 2**30
    arrays = subject.topology.layout.arrays
    assert arrays["safe"].initial_sync == "assume-clean" and arrays["fast"].initial_sync != "assume-clean"
    assert len(subject.differences) == 3


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("mount: /srv/fast", "mount: /var", "not its root file system"),
        ("size: 4GiB, ", "size: 4GiB, keep: true, ", "no disks"),
        ("p: {size: 1GiB}", "p: {size: 1GiB, keep: true}", "`keep: true`"),
        ("mount: /srv/fast", "mount: /", "installs no boot loader"),
    ],
)
def test_what_cannot_be_rehearsed_is_said(was: str, now: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    assert was in MIXED
    file.write_text(MIXED.replace(was, now))
    topology = load(str(file)).topology
    assert topology is not None
    with pytest.raises(Unsuited, match=words):
        subject_of(topology)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_has_a_subject(example: Path) -> None:
    loaded = load(str(example))
    assert loaded.topology is not None
    subject = subject_of(loaded.topology)
    cases = cases_of(Source(subject.topology, 3, 1), "all")
    assert len(cases) >= len(subject.topology.layout.hardware.disks)


def test_the_witness_finds_each_damaged_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "HOME", tmp_path)
    monkeypatch.setattr(witness, "MOST", 6)
    mount = tmp_path / "mount"
    mount.mkdir()
    witness.write("five", str(mount), 0)
    assert witness.damaged("five", str(mount), 0, 6, 0, 0) == {"acknowledged": 6, "damaged": []}
    with (mount / "rehearsal.0").open("r+b") as file:
        file.seek(4 * witness.RECORD + 77)
        file.write(b"x")
    assert witness.damaged("five", str(mount), 0, 6, 0, 0)["damaged"] == [4]
    monkeypatch.setattr(witness, "MOUNTS", tmp_path / "mounts")
    witness.MOUNTS.write_text(f"30 1 8:1 / {mount} rw - ext4 /dev/sda1 rw\n")
    assert witness.writes(str(mount), 0) == ""


def test_below_a_mount_point_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "MOUNTS", tmp_path / "mounts")
    mount = tmp_path / "with a space"
    mount.mkdir()
    escaped = str(mount).replace(" ", "\\040")
    witness.MOUNTS.write_text(
        f"30 1 8:1 / {escaped} rw - ext4 /dev/sda1 rw\n31 1 8:2 / /srv rw - xfs /dev/sdb rw\n"
    )
    assert witness.mounted(str(mount)) and not witness.mounted(str(tmp_path))
    assert witness.writes(str(tmp_path), 0) == "not mounted" and not (tmp_path / "rehearsal.0.now").exists()


def test_an_array_is_looked_at_though_udev_took_its_link_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where mdadm cannot stop an array that lost too much, it tells udev that the array has gone."""
    for name in ("BLOCKS", "HOME", "SWAPS", "MOUNTS", "CACHES"):
        monkeypatch.setattr(witness, name, tmp_path / name)
    for file in (witness.SWAPS, witness.MOUNTS):
        file.write_text("head\n" * (file is witness.SWAPS))
    md, link = witness.BLOCKS / "md0/md", tmp_path / "five"
    md.mkdir(parents=True)
    for name, value in {
        "level": "raid5",
        "array_state": "clean",
        "raid_disks": "2",
        "chunk_size": "4096",
    }.items():
        (md / name).write_text(value)
    link.symlink_to(tmp_path / "md0")
    given: dict[str, Any] = {"arrays": {"five": str(link)}, "mounts": {}, "swaps": {}}
    witness.start(given)
    link.unlink()
    assert witness.look(given)["arrays"]["five"]["array_state"] == "clean"
    (witness.HOME / "nodes.json").unlink()
    assert witness.look(given)["arrays"]["five"] == {"missing": "No such file or directory"}, "after a boot"


def test_a_writer_that_cannot_write_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(witness, "HOME", tmp_path)
    assert witness.kept_text("0.error") == ""
    monkeypatch.setattr(os, "fdatasync", broken)
    witness.write("five", str(tmp_path), 0)
    assert witness.kept_text("0.error") == "Input/output error" and witness.kept_text("1.error") == ""


def test_records_read_back_where_the_file_system_is_mounted_elsewhere(tmp_path: Path) -> None:
    was, now = tmp_path / "was", tmp_path / "now"
    was.mkdir()
    witness.fill({"mounts": {"five": str(was)}, "fills": {"five": 8}})
    was.rename(now)
    assert witness.damaged("five", str(now), 0, 0, 1, 8) == {"acknowledged": 8, "damaged": []}
    assert witness.damaged("six", str(now), 0, 0, 1, 8)["damaged"] == [*range(8)], "those of another one"


def test_a_file_of_records_that_is_gone_is_not_overlooked(tmp_path: Path) -> None:
    given = {"mounts": {"five": str(tmp_path)}, "fills": {"five": 8}}
    for number in (0, 1):
        witness.fill(given, number)
    read = partial(witness.damaged, "five", str(tmp_path), 0, 0, 2, 8)
    assert witness.within(9, read) == {"acknowledged": 2 * 8, "damaged": []}
    (tmp_path / "rehearsal.fill1").unlink()
    assert witness.within(9, read) == "No such file or directory"


def test_a_member_that_the_kernel_takes_away_meanwhile_is_not_in_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its attributes give ENODEV then, and ENOENT here; the array is there."""
    monkeypatch.setattr(witness, "BLOCKS", tmp_path)
    node, md = tmp_path / "md0", tmp_path / "md0/md"
    state = {
        "level": "raid5",
        "array_state": "clean",
        "raid_disks": "2",
        "chunk_size": "4096",
        "degraded": "1",
    }
    (md / "dev-gone").mkdir(parents=True)
    for name, value in {**state, "dev-sda/state": "in_sync,want_replacement"}.items():
        (md / name).parent.mkdir(exist_ok=True)
        (md / name).write_text(f"{value}\n")
    seen = witness.array(str(node))
    assert seen.pop("read") and seen == {**state, "in_sync": 1}
    assert "missing" in witness.array(str(tmp_path / "md1"))


def test_damaged_records_are_none_that_were_read_back(mixed: Topology) -> None:
    seen = found(dead=("fast",), damaged=("/srv/safe",))
    assert acknowledged(seen) == acknowledged(found(dead=("fast",))) - 1


def test_what_is_written_without_a_flush_goes_past_the_page_cache(tmp_path: Path) -> None:
    writer = witness.spawn(lambda: witness.press(str(tmp_path), 0))
    end, file = time.monotonic() + 20, tmp_path / "rehearsal.0.unflushed"
    try:
        while not (file.exists() and file.stat().st_size == witness.FILL * witness.RECORD):
            assert time.monotonic() < end and witness.alive(writer)
            time.sleep(0.05)
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)


def test_the_witness_does_not_hang() -> None:
    assert witness.within(0.3, lambda: time.sleep(60)) == "hangs"
    assert witness.within(5, lambda: "fine") == "fine"

    def failing() -> str:
        raise OSError(5, "Input/output error")

    assert witness.within(5, failing) == "Input/output error"


def test_how_much_lies_in_each_swap_area_is_what_the_kernel_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness, "SWAPS", tmp_path / "swaps")
    head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
    witness.SWAPS.write_text(
        f"{head}/dev/md126 partition\t262140\t\t2056\t\t-2\n/dev/sda3 partition\t4\t\t0\t\t7\n"
    )
    assert witness.areas() == {"/dev/md126": 2056, "/dev/sda3": 0}


def test_on_a_busy_host_the_witness_waits_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "HOME", tmp_path)
    assert witness.patience() == witness.MOST_PATIENT, "not measured"
    for longest, seconds in ((0.01, 25), (2.5, 75), (60, 120)):
        (tmp_path / "longest").write_text(str(longest))
        assert witness.patience() == seconds


@pytest.mark.parametrize(
    "line",
    [
        line
        for line in Path("docs/rehearse.md").read_text().splitlines()
        if line.startswith("raidplan rehearse")
    ],
)
def test_the_page_shows_commands_that_exist(line: str) -> None:
    words = line.split()[2:]
    assert parse("rehearse", words).layout


def test_no_text_of_a_layout_becomes_a_part_of_the_page(mixed: Topology) -> None:
    (case,) = cases_of(Source(mixed), "d0")
    hostile = Tried(
        replace(case, name="<img onerror=x>"), 3.0, tuple(observations(case, survive(mixed), mixed, found()))
    )
    report = Report("<script>x</script>", "sha256:0", 1, "`rm`", (), tried=(hostile,))
    assert "<img" not in rehearsal_page(report) and "<script" not in rehearsal_page(report)
