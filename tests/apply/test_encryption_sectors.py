"""The sectors of a standing encryption: a default that changes with the disks below leaves them as they are, a size that the layout states does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidplan.apply.change.fixed_properties import as_made
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import read_past
from raidplan.plan.codec import digests_of, plan_digest, plan_from_json, plan_to_json
from raidplan.plan.digest import digest_of_data
from raidplan.plan.step import Plan
from tests.apply.new_disk import lose
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated
from tests.apply.stacks import plan_of

__all__ = ["impatient"]

LAYOUT = """\
hardware: {disks: {d0: {size: 8GiB, serial: S0DISK, partitions: {p: {size: SIZE}}}}}
encryption: {c: {device: d0.p, key: askKEY}}
"""
PLAIN = "filesystems: {f: {device: c, type: ext4, mount: /f}}\n"
ONE = "volume_groups: {vg: {devices: [c], volumes: {v: {size: 300MiB}}}}\nfilesystems: {f: {device: vg.v, type: xfs, mount: /f}}\n"
TWO = ONE.replace("}}}\n", ", w: {size: 300MiB}}}}\n", 1).replace(
    "f: {", "g: {device: vg.w, type: xfs, mount: /g}, f: {"
)
LARGE = ", physical_block: 4096"


def layout(disk: str = "", key: str = "", on: str = PLAIN, size: str = "3GiB") -> str:
    """An encryption; `disk`: more about the disk, `key`: about the encryption."""
    return LAYOUT.replace("DISK", disk).replace("KEY", key).replace("SIZE", size) + on


def planned(text: str, folder: Path) -> Plan:
    return plan_of(f"version: 1\nhost: h\n{text}", folder)


class Stood:
    """A machine on which a layout was applied."""

    def __init__(self, folder: Path, text: str) -> None:
        self.root, self.state = folder, machine(folder)
        assert self.then(text) == "done"

    def then(self, text: str) -> str:
        """What apply of a later layout says."""
        plan = planned(text, self.root)
        return apply(plan, Simulated(plan, self.root, self.state))

    def decided(self, text: str) -> Decision:
        plan = planned(text, self.root)
        past = read_past(self.root / "var/lib/raidplan")
        return decide(plan, Simulated(plan, self.root, self.state).read(plan), past, here=False)

    @property
    def sectors(self) -> object:
        (found,) = self.state.objects["encryption"].values()
        return found["sector_size"]


@pytest.mark.parametrize("wipe", ["", ", wipe: true"])
@pytest.mark.parametrize("size", ["300MiB", "3GiB"])
@pytest.mark.parametrize(("before", "after", "sectors"), [("", LARGE, 512), (LARGE, "", 4096)])
def test_facts_of_disks_leave_what_stands(
    before: str, after: str, sectors: int, size: str, wipe: str, tmp_path: Path
) -> None:
    """With `wipe: true` neither: the header and what is behind it are not in the way."""
    stood = Stood(tmp_path, layout(before, size=size))
    decision = stood.decided(layout(after + wipe, size=size))
    assert (decision.refusals, decision.left.steps, decision.left.lost) == ((), (), ())
    assert stood.then(layout(after, size=size)) == "nothing to do"
    assert stood.sectors == sectors


def test_a_failed_disk_is_exchanged_for_one_of_larger_sectors(tmp_path: Path) -> None:
    mirror = (
        "hardware: {disks: {d0: {size: 8GiB, serial: S0}, d1: {size: 8GiB, serial: S1}}}\n"
        "arrays: {m: {level: raid1, members: [d<0-1>]}}\n"
        "encryption: {c: {device: m, key: ask}}\n"
    ) + PLAIN
    stood = Stood(tmp_path, mirror)
    lose(stood.state, planned(mirror, tmp_path), "d1")
    assert stood.then(mirror.replace("serial: S1", "serial: S2, physical_block: 4096")) == "done"
    (array,) = stood.state.objects["array"].values()
    assert "missing" not in array["members"] and stood.sectors == 512


@pytest.mark.parametrize(("before", "now"), [("", 512), (LARGE, 4096)])
def test_another_size_that_is_stated_is_refused_with_the_one_that_stands(
    before: str, now: int, tmp_path: Path
) -> None:
    stood = Stood(tmp_path, layout(before))
    (refused,) = stood.decided(layout(before, ", sector_size: 1024")).refusals
    assert (refused.code, refused.case, refused.place) == ("differs", "sector-size", "encryption.c")
    assert refused.figures == {"size": now}
    assert stood.then(layout(before, f", sector_size: {now}")) == "nothing to do"


def test_a_file_system_that_is_still_to_be_made_has_to_fit_larger_sectors(tmp_path: Path) -> None:
    """mkfs.xfs refuses sectors smaller than those of its device; larger ones do no harm."""
    stood = Stood(tmp_path, layout(LARGE, on=ONE))
    (refused,) = (each for each in stood.decided(layout(on=TWO)).refusals if each.place == "encryption.c")
    assert (refused.case, refused.figures) == ("sector-size", {"size": 4096})
    assert stood.then(layout(on=ONE)) == "nothing to do"
    assert stood.then(layout("", ", sector_size: 4096", on=TWO)) == "done"
    (tmp_path / "other").mkdir()
    smaller = Stood(tmp_path / "other", layout(on=ONE))
    assert smaller.then(layout(LARGE, on=TWO)) == "done" and smaller.sectors == 512


def test_a_header_with_sectors_of_no_size_that_dm_crypt_knows_is_not_taken_for_one(tmp_path: Path) -> None:
    stood = Stood(tmp_path, layout())
    (found,) = stood.state.objects["encryption"].values()
    found["sector_size"] = 513
    (refused,) = stood.decided(layout()).refusals
    assert refused.case == "other"


def test_an_encryption_that_was_begun_only_is_no_standing_one(tmp_path: Path) -> None:
    stood, plan = Stood(tmp_path, layout()), planned(layout(LARGE), tmp_path)
    seen = Simulated(plan, tmp_path, stood.state).read(plan)
    assert as_made(plan, seen) != plan
    assert as_made(plan, seen, frozenset(["encryption.c.make"])) == plan


def test_a_plan_says_which_sizes_the_layout_states(tmp_path: Path) -> None:
    plain, stated = (planned(layout(key=key), tmp_path) for key in ("", ", sector_size: 512"))
    assert '"stated"' not in plan_to_json(plain)
    again = plan_from_json(plan_to_json(stated))
    assert again.steps == stated.steps and plan_digest(again) == plan_digest(stated)
    (proof,) = (step.proof for step in again.steps if step.proof and step.proof.kind == "encryption")
    assert proof.stated == ("sector_size",)
    data = json.loads(plan_to_json(stated))
    for step in data["steps"]:
        step.get("proof", {}).pop("stated", None)
    assert digest_of_data(data) in digests_of(stated), "a journal of an earlier version knows it so"
