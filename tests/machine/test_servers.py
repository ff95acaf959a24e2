"""From outside, over SSH, after a reboot: what stands is what the layout says."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from raidplan.cli import OK, run
from raidplan.geometry import ext as ext_geometry
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.layout.model import Layout
from raidplan.plan.step import Plan, Proof, Run
from raidplan.twin.rehearsal import run as rehearsal
from raidplan.twin.rehearsal.rig import Rig
from raidplan.twin.rehearsal.stages import Run as Stages
from raidplan.twin.server import Twin
from tests.machine.everyday import NAME, PROGRAMS, Everyday
from tests.machine.look import Arrays, details, ext, xfs
from tests.machine.reports import count_predictions
from tests.machine.servers import Running

pytestmark = pytest.mark.machine
EVERY_DAY = pytest.mark.parametrize("server", [NAME], indirect=True)

LAYOUT_NUMBERS = {"left-symmetric": "2", "n2": "258", "f2": "513", "o2": "66050", "original": "-1"}
"""The numbers that the kernel shows for layouts (drivers/md/raid5.h, raid10.c, raid0.h); every RAID0 of these servers has members of one
size, and with one zone there is no layout.
"""


def layout_of(server: Running) -> Layout:
    assert server.loaded.layout is not None
    return server.loaded.layout


def layout_arrays(server: Running) -> dict[str, Array]:
    return dict(layout_of(server).arrays)


def filesystems(server: Running) -> dict[str, Filesystem]:
    return dict(layout_of(server).filesystems)


def proof(server: Running, step: str) -> Proof:
    found = next(s.proof for s in server.plan.steps if s.id == step)
    assert found is not None
    return found


def test_the_second_apply_found_nothing_to_do(server: Running) -> None:
    assert server.second_code == 0
    assert "nothing to do" in server.second


def test_it_still_finds_nothing_to_do_after_the_reboot(server: Running) -> None:
    again = server.host.run(f"{server.command} --confirm wrong-on-purpose")
    assert "nothing to do" in again.stdout, again.stdout[-2000:]
    assert again.rc == 0


def test_exactly_the_arrays_of_the_layout_run_and_under_their_names(server: Running, seen: Arrays) -> None:
    assert set(seen.attributes) == set(layout_arrays(server)), (
        "no other, none without its link, none with another"
    )
    assert set(server.host.check_output("ls /dev/md").split()) == set(layout_arrays(server))
    numbers = re.findall(r"^(md\S+) :", server.host.check_output("cat /proc/mdstat"), re.MULTILINE)
    assert all(re.fullmatch(r"md\d+", name) for name in numbers), "which GRUB takes"


def test_level_chunk_and_layout(server: Running, seen: Arrays) -> None:
    for name, array in layout_arrays(server).items():
        shown = seen.attributes[name]
        assert shown["level"] == array.level, name
        if array.effective_chunk and array.level != "linear":
            assert int(shown["chunk_size"]) == array.effective_chunk, name
        if array.effective_layout:
            assert shown["layout"] == LAYOUT_NUMBERS[array.effective_layout], name


def test_members_by_serial_in_the_stated_order(
    server: Running, seen: Arrays, disk_serials: dict[str, str]
) -> None:
    assert server.loaded.layout is not None
    disks = server.loaded.layout.hardware.disks
    for name, array in layout_arrays(server).items():
        slots = seen.slots[name]
        by_slot = [
            device for device, _ in sorted(slots.items(), key=lambda item: item[1]) if slots[device].isdigit()
        ]
        wanted = [disks[member.partition(".")[0]].serial if member.partition(".")[0] in disks else member
                  for member in array.named_members]  # fmt: skip
        found = [
            disk_serials.get(device, device)
            for device in by_slot
            if not (array.journal and "journal" in slots[device])
        ]
        assert found == wanted, name


def test_spares_and_journals(server: Running, seen: Arrays, disk_serials: dict[str, str]) -> None:
    assert server.loaded.layout is not None
    disks = server.loaded.layout.hardware.disks
    for name, array in layout_arrays(server).items():
        others = {device: state for device, state in seen.slots[name].items() if not state.isdigit()}
        spares = sorted(disk_serials[device] for device, state in others.items() if "spare" in state)
        journals = [disk_serials[device] for device, state in others.items() if "journal" in state]
        assert spares == sorted(disks[spare.partition(".")[0]].serial or "" for spare in array.spares), name
        assert journals == ([disks[array.journal.partition(".")[0]].serial] if array.journal else []), name


def test_component_size_and_array_size_are_the_planned_ones(server: Running, seen: Arrays) -> None:
    for name in layout_arrays(server):
        expect = proof(server, f"array.{name}.create").expect
        shown = seen.attributes[name]
        assert int(shown["size"]) * 512 == expect["size"], name
        if "component" in expect:
            assert int(shown["component_size"]) * 1024 == expect["component"], name


def test_consistency_policy_name_and_uuid(server: Running, seen: Arrays) -> None:
    for name, array in layout_arrays(server).items():
        made = proof(server, f"array.{name}.create")
        shown = details(server.host, f"/dev/md/{name}")
        assert shown["UUID"].replace(":", "") == made.key.replace("-", ""), name
        assert shown["Name"].split()[0] == made.expect["name"], name
        assert shown["Version"] == array.metadata, name
        if array.policy:
            assert seen.attributes[name]["consistency_policy"] == array.policy, name


def test_tunables_outlive_the_reboot(server: Running, seen: Arrays) -> None:
    for name, array in layout_arrays(server).items():
        shown = seen.attributes[name]
        if array.stripe_cache_size:
            assert int(shown["stripe_cache_size"]) == array.stripe_cache_size, name
        if array.group_thread_count is not None:
            assert int(shown["group_thread_cnt"]) == array.group_thread_count, name
        if array.read_ahead:
            assert int(shown["read_ahead_kb"]) == array.read_ahead // 1024, name
        if array.sync_speed_max:
            assert int(shown["sync_speed_max"].split()[0]) == array.sync_speed_max // 1024, name
        if array.sync_speed_min:
            assert int(shown["sync_speed_min"].split()[0]) == array.sync_speed_min // 1024, name


def test_volumes_read_ahead_as_planned(server: Running) -> None:
    """Also those whose array has the number: an initramfs activates volumes before udev has tuned the array."""
    for name, group in layout_of(server).volume_groups.items():
        for volume in group.volumes:
            planned = proof(server, f"volume.{name}.{volume}.create").expect["read_ahead"]
            asked = f"lvs --noheadings --nosuffix --units=b --options=lv_kernel_read_ahead {name}/{volume}"
            if planned != "auto":
                assert int(server.host.check_output(asked)) == planned, f"{name}.{volume}"


def test_file_systems_have_the_planned_blocks_and_inodes(server: Running) -> None:
    for name, wanted in filesystems(server).items():
        made = proof(server, f"filesystem.{name}.make")
        if wanted.type in ext_geometry.FSTYPES:
            shown = ext(server.host, made.key)
            assert int(shown["Inode count"]) == made.expect["inodes"], name
            assert int(shown["Block count"]) == made.expect["blocks"], name
            if wanted.inodes:
                assert int(shown["Inode count"]) >= wanted.inodes, name


def test_file_systems_know_the_stripe(server: Running) -> None:
    for name, wanted in filesystems(server).items():
        expect = proof(server, f"filesystem.{name}.make").expect
        if wanted.type in ext_geometry.FSTYPES:
            shown = ext(server.host, proof(server, f"filesystem.{name}.make").key)
            assert int(shown.get("RAID stride", "0")) == expect["stride"], name
            assert int(shown.get("RAID stripe width", "0")) == expect["stripe_width"], name
        if wanted.type == "xfs" and wanted.mount:
            info = xfs(server.host, wanted.mount)
            assert info["sunit"] * 4096 == expect["su"], name
            assert info["swidth"] * 4096 == int(str(expect["su"])) * int(str(expect["sw"])), name
            assert info["blocks"] == expect["blocks"], name


def test_everything_is_mounted_by_fstab(server: Running) -> None:
    for name, wanted in filesystems(server).items():
        if wanted.mount:
            mount = server.host.mount_point(wanted.mount)
            assert mount.exists and mount.filesystem == wanted.type, name
            assert set(wanted.options) - {"defaults", "nofail"} <= set(mount.options) | {
                o for o in wanted.options if o.startswith(("x-", "nobarrier"))
            }, name  # fmt: skip
            assert wanted.mount in server.host.file("/etc/fstab").content_string


def test_swap_is_on_with_its_priority(server: Running) -> None:
    assert server.loaded.layout is not None
    shown = server.host.check_output("swapon --show=NAME,PRIO --noheadings --raw").splitlines()
    priorities = sorted(int(line.split()[1]) for line in shown)
    wanted = sorted(swap.priority for swap in server.loaded.layout.swap.values() if swap.priority is not None)
    assert priorities == wanted


def test_nothing_failed_at_boot(server: Running) -> None:
    """A busy host needs more than 30 seconds for the members of an array: Debian's timer then starts it too early.

    It fails while too few of them are there, and that does no harm if the array is whole in the end.
    """
    failed = server.host.check_output("systemctl --failed --no-legend --plain").splitlines()
    early = re.compile(r"mdadm-last-resort@(md\d+)\.service ")
    arrays = {line: match[1] for line in failed if (match := early.match(line))}
    assert [line for line in failed if line not in arrays] == []
    for name in arrays.values():
        assert server.host.check_output(f"cat /sys/block/{name}/md/degraded") == "0", failed


def test_the_lines_of_others_are_untouched(server: Running) -> None:
    for file, before in server.before.items():
        now = server.host.file(file).content_string
        head, _, rest = now.partition(f"# >>> raidplan {server.plan.host}\n")
        _, _, tail = rest.partition(f"# <<< raidplan {server.plan.host}\n")
        assert head + tail == before, file


@EVERY_DAY
def test_it_went_on_after_two_kills(server: Everyday, record_property: Callable[[str, object], None]) -> None:
    record_property("counted: kills in programs of the virtual server", len(server.kills))
    assert sorted(server.kills) == sorted(server.drawn) and len(server.kills) == 2


@EVERY_DAY
def test_what_is_killed_are_the_programs_of_the_plan_that_write_to_a_disk(server: Everyday) -> None:
    programs = {step.action.argv[0] for step in server.plan.steps if isinstance(step.action, Run)}
    assert programs - {"mkdir", "modprobe", "systemctl", "udevadm", "update-initramfs"} == set(PROGRAMS)


@EVERY_DAY
def test_it_went_on_after_the_power_went_at_a_drawn_write(
    server: Everyday, record_property: Callable[[str, object], None]
) -> None:
    record_property("counted: power cuts at a write", int(server.halted))
    assert server.halted


@EVERY_DAY
def test_disks_of_others_are_untouched(server: Everyday) -> None:
    """An array, a file system, and a blank disk."""
    assert len(set(server.others.values())) == 4, "all differ: the legs of a mirror have numbers"
    assert server.others_now == server.others


@EVERY_DAY
def test_a_disk_is_pulled_as_predicted_and_the_control_fails(
    server: Everyday,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    """The rehearsal of a drawn disk on a twin that has the layout and has booted. It comes last: its writers go on."""
    disk = Random(f"{request.config.getoption('seed')} rehearsal").choice([*layout_of(server).hardware.disks])

    @contextmanager
    def begun(*_: object) -> Iterator[Twin]:
        yield server.twin

    def make(rig: Rig, plan: Plan, _: Stages) -> None:
        """The plan that was applied before the boot, and of which nothing was left to do after it, is that of the rehearsal."""
        assert plan == server.plan
        rig.put_programs()  # the records are of before the power cut

    monkeypatch.setattr(rehearsal, "start_twin", begun)
    monkeypatch.setattr(rehearsal, "make", make)
    out = tmp_path / "report.json"
    began = time.monotonic()
    code = run(["rehearse", str(server.file), "--faults", disk, "-o", str(out)])
    record_property("counted: seconds of a rehearsal", round(time.monotonic() - began))
    report = json.loads(out.read_text()) if out.exists() else {}
    assert code == OK, (disk, report)
    record_property("counted: predictions of a rehearsal", count_predictions(report))
