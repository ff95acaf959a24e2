"""The course of a rehearsal with a stand-in for the virtual machine: its stages, its cases, its verdict and exit code."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from raidplan.cli import FINDINGS, VOID
from raidplan.twin.rehearsal.faults import RETURNED
from tests.rehearsal.conftest import ENCRYPTED, GROUP, LAYOUT, NESTED, VOLUMES, Rehearsal
from tests.rehearsal.stand_in import Faulty


def test_a_guest_that_does_as_predicted_passes_in_every_case(
    rehearsed: Rehearsal, capsys: pytest.CaptureFixture[str]
) -> None:
    report = rehearsed(Faulty())
    said = capsys.readouterr().err
    assert "then 29 cases and the control" in said and "29 of 29: power machine" in said
    assert report["as_predicted"] and not report["void"]
    assert report["predictions"]["all"] == report["predictions"]["true"] > 60
    faults = [case["fault"] for case in report["cases"]]
    assert faults.count("pulled") == 4 + 2 + 4 and faults.count("replaced") == 4
    assert faults.count("absent") == 4 + 2 and {"moved", "blank", "stale", "power"} <= {*faults}
    assert faults.count("changed") == faults.count("unreadable") == 2 and faults.count("slow") == 1
    assert [stage["name"] for stage in report["stages"]] == [
        "build", "boot", "install", "preflight", "apply", "apply again", "fill", "reboot", "read back", "prepare", "faults", "control",
        "boots",
    ]  # fmt: skip
    returned = {case["fault"]: case["returned"] for case in report["cases"] if case["kind"] == "disk"}
    assert returned["pulled"] == "re-added" and returned["replaced"] == "rebuilt"
    assert rehearsed.twin.calls[-1] == "ended"


@pytest.mark.parametrize("boot", ["start", "wait"])
def test_with_wait_an_array_that_lacks_a_member_is_not_started_at_boot(
    rehearsed: Rehearsal, boot: str
) -> None:
    report = rehearsed(Faulty(), "--faults", "boot", boot=boot)
    (case,) = (c for c in report["cases"] if c["fault"] == "absent" and c["name"] == "d1")
    predicted = {one["path"]: one["predicted"] for one in case["observed"]}
    assert predicted["arrays.five"] == predicted["filesystems.five"] == ("degraded" if boot == "start" else "lost")  # fmt: skip
    assert predicted["boot"] == "intact" and predicted["arrays.mirror"] == "intact"


@pytest.mark.parametrize("text", [ENCRYPTED, VOLUMES, NESTED], ids=["encrypted", "volumes", "nested"])
def test_arrays_of_what_is_no_disk_pass_in_every_case(rehearsed: Rehearsal, text: str) -> None:
    report = rehearsed(Faulty(), "--faults", "disks,boot", text=text)
    assert report["as_predicted"] and not report["void"]
    degraded = {
        (case["fault"], case["name"]): one["detail"]["degraded"]
        for case in report["cases"]
        for one in case["observed"]
        if one["path"] == "arrays.safe"
    }
    assert degraded["pulled", "d1"] == degraded["absent", "d1"] == "1"


def test_a_group_that_lacks_a_disk_goes_on_while_the_system_runs(rehearsed: Rehearsal) -> None:
    """With what lies on the others, which no layout says; the control takes them all."""
    report = rehearsed(Faulty(), "--faults", "disks,boot", text=GROUP)
    assert report["as_predicted"] and not report["void"]
    seen = {
        (case["fault"], case["name"]): {one["path"]: one["predicted"] for one in case["observed"]}
        for case in report["cases"]
    }
    assert seen["pulled", "d0"] == seen["pulled", "d2"] == {}
    assert seen["absent", "d0"]["filesystems.f"] == seen["absent", "d2"]["filesystems.f"] == "lost"
    assert report["control"]["name"] == "d0 and d2"
    assert "Of volume_groups.vg, filesystems.f, swap.s, the running system nothing is predicted" in "\n".join(report["untried"])  # fmt: skip
    rehearsed(Faulty(), "--faults", "disks", "-o", str(rehearsed.folder / "report.txt"), text=GROUP)
    assert "filesystems.f not predicted" in (rehearsed.folder / "report.txt").read_text()


@pytest.mark.parametrize(
    ("faulty", "fault"),
    [
        (Faulty(damaged=True), "pulled"),
        (Faulty(boots_without=False), "absent"),
        (Faulty(scrubs=False), "changed"),
    ],
    ids=["loses data", "does not boot", "does not scrub"],
)
def test_what_goes_otherwise_is_found(rehearsed: Rehearsal, faulty: Faulty, fault: str) -> None:
    choice = {"absent": "boot", "changed": "media"}.get(fault, "disks")
    report = rehearsed(faulty, "--faults", choice, code=FINDINGS)
    assert not report["as_predicted"] and not report["void"]
    assert any(not case["as_predicted"] for case in report["cases"] if case["fault"] == fault)


def test_what_is_not_mounted_when_the_disk_is_back_is_found(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(unmounted=True), "--faults", "d1,boot:d1", boot="wait", code=FINDINGS)
    (case,) = (each for each in report["cases"] if each["fault"] == "absent")
    assert "/srv/five" in case["returned"] and not case["as_predicted"]


@pytest.mark.parametrize("content", ["right", "wrong"])
def test_a_repaired_mirror_has_the_content_of_either_copy(rehearsed: Rehearsal, content: str) -> None:
    text = LAYOUT.replace(
        "swap: {mirror: {device: mirror}}", "  mirror: {device: mirror, type: ext4, mount: /srv/mirror}"
    )
    report = rehearsed(Faulty(repaired_to=content), "--faults", "media", text=text)
    (case,) = (each for each in report["cases"] if each["fault"] == "changed" and each["name"] == "mirror")
    said = {claim["what"]: claim for claim in case["claims"]}
    assert said["reader after repair"]["observed"] == content and case["as_predicted"]


@pytest.mark.parametrize(
    ("whole", "added", "said"), [(True, True, ""), (False, True, "returned"), (False, False, "added")]
)
def test_a_member_is_added_only_where_it_did_not_come_back_by_itself(
    tmp_path: Path, whole: bool, added: bool, said: str
) -> None:
    mdadm = tmp_path / "mdadm"
    state = "active sync   /dev/nodeX" if whole else "removed"
    mdadm.write_text(
        f'#!/bin/sh\ncase "$1$3" in --detail*) echo "{state}" ;; *--re-add) exit {int(not added)} ;; esac\n'
    )
    mdadm.chmod(0o755)
    script = RETURNED.format(array="/dev/md/a", node="/dev/nodeX")
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == said


def test_a_guest_in_which_nothing_fails_makes_it_void(rehearsed: Rehearsal) -> None:
    assert rehearsed(Faulty(survives_all=True), "--faults", "d1", code=VOID)["void"]


@pytest.mark.parametrize(
    ("faulty", "stage", "words"),
    [
        (Faulty(boots=False), "boot", "Kernel panic"),
        (Faulty(refuses=True), "preflight", "refused: d1"),
        (Faulty(applies=False), "apply", "failed: mdadm"),
        (Faulty(settles=False), "apply again", "1 step"),
    ],
    ids=["no boot", "refused", "no apply", "something to do"],
)
def test_a_stage_that_fails_ends_it_with_what_was_said(
    rehearsed: Rehearsal, faulty: Faulty, stage: str, words: str
) -> None:
    report = rehearsed(faulty, code=FINDINGS)
    last = report["stages"][-1]
    assert last["name"] == stage and not last["passed"] and words in last["detail"]
    assert not report["cases"]


def test_each_form_has_words_for_each_fault(rehearsed: Rehearsal) -> None:
    rehearsed.folder.joinpath("report.json").write_text("{}")
    for form in ("text", "markdown", "html"):
        rehearsed(Faulty(scrubs=False), "-o", str(rehearsed.folder / f"report.{form}"), "--format", form, code=FINDINGS)  # fmt: skip
        text = (rehearsed.folder / f"report.{form}").read_text()
        for words in ("replaced by a blank one", "boot without disk d0", "power cut", "unreadable sector under parity", "longest request"):  # fmt: skip
            assert words in text, (form, words)
