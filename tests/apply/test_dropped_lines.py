"""A changed layout takes no line away by which the server boots: neither its own mounts, nor what lines of others stand on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.configuration.dropped import needed_at_boot
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.refusal import Refusal
from raidplan.base.identity import md_form
from raidplan.facts import Machine
from raidplan.facts.machine import BlockFact, PartitionFact
from raidplan.plan.places import CLOSE, CRYPTTAB, FSTAB, MDADM_CONF, OPEN
from raidplan.plan.step import Plan, Step, WriteBlock
from tests.apply.new_disk import LAYOUT, TARGET, booted, plan_of
from tests.apply.runs import apply, impatient
from tests.apply.simulated import Simulated

__all__ = ["impatient"]

ROOT = "  root: {device: root, type: ext4, mount: /}\n"
BOOT = "  boot: {device: boot, type: ext4, mount: /boot}\n"
SCRATCH = "  scratch: {device: a1.own, type: ext4, mount: /scratch}\n"
USR = SCRATCH.replace("/scratch", "/usr")
CRYPT, CDATA = "  crypt: {device: root, key: ask}\n", "  cdata: {device: data, key: ask}\n"
ON_CRYPT, ON_CDATA = ROOT.replace("device: root", "device: crypt"), "  data: {device: cdata, type: ext4, mount: /srv}\n"  # fmt: skip
TWO_ENCRYPTIONS = (
    LAYOUT.replace(SCRATCH, "")
    .replace(ROOT, ON_CRYPT)
    .replace("data: {device: data,", "data: {device: cdata,")
    .replace("filesystems:\n", f"encryption:\n{CRYPT}{CDATA}filesystems:\n")
)
NO_ENCRYPTION = TWO_ENCRYPTIONS.replace(f"encryption:\n{CRYPT}{CDATA}", "").replace(ON_CRYPT, "").replace(ON_CDATA, "")  # fmt: skip
UNUSED = TWO_ENCRYPTIONS.replace(ON_CDATA, "")
SYSTEM_DISKS = """\
version: 1
host: fresh
hardware:
  firmware: bios
  disks:
    s<0-1>: {size: 4GiB, serial: SYS-<1>, partitions: {bios: {size: 1MiB, type: bios-boot}, root: {size: rest}}}
    d<0-1>: {size: 4GiB, serial: DATA-<1>, partitions: {sw: {size: 256MiB}, data: {size: rest}}}
boot: {loader: grub}
arrays:
  root: {level: raid1, members: [s<0-1>.root]}
  data: {level: raid1, members: [d<0-1>.data]}
filesystems:
  root: {device: root, type: ext4, mount: /}
  data: {device: data, type: ext4, mount: /srv}
swap: {swap: {device: d0.sw}}
monitoring: {scrub: monthly}
"""
ENCRYPTED_DISKS = (
    SYSTEM_DISKS.replace("root: {size: rest}", "boot: {size: 500MiB}, root: {size: rest}")
    .replace("arrays:\n", "arrays:\n  boot: {level: raid1, members: [s<0-1>.boot]}\n")
    .replace("filesystems:\n", f"encryption:\n{CRYPT}{CDATA}filesystems:\n{BOOT}")
    .replace("root: {device: root, type", "root: {device: crypt, type")
    .replace("data: {device: data, type", "data: {device: cdata, type")
)


def kept(text: str, disks: str) -> str:
    """The layout with these of its disks described only."""
    return text.replace(f"{disks}<0-1>: {{size", f"{disks}<0-1>: {{keep: true, size")


class WithDevices(Simulated):
    """The machine in memory, with opened encryptions and the partitions of kept disks as the kernel and libblkid show them."""

    def read(self, plan: Plan) -> Machine:
        machine = super().read(plan)
        tables = {str(found["disk"]): found["partitions"] for found in self.state.objects["table"].values()}

        def parts(name: str) -> tuple[PartitionFact, ...]:
            rows = [row.split() for row in tables.get(f"{{{name}}}", ())]
            return tuple(
                PartitionFact(f"/dev/{name}p{number}", uuid, type, int(start), int(size), holds=tuple(
                    each.split()[0] for each in self.state.content.get(f"partition:{uuid}", ())
                ))
                for number, (uuid, start, size, type) in enumerate(rows, 1)
            )  # fmt: skip

        described = {disk.name for disk in plan.disks if disk.keep}
        disks = tuple(
            replace(disk, partitions=parts(disk.kernel_name)) if disk.kernel_name in described else disk
            for disk in machine.disks
        )
        opened = tuple(
            BlockFact(f"dm-{number}", f"mapping:{uuid}", f"/dev/mapper/{found['name']}", "mapping", 2**30)
            for number, (uuid, found) in enumerate(self.state.objects.get("mapping", {}).items())
        )
        return replace(machine, disks=disks, blocks=(*machine.blocks, *opened))


def refused(plan: Plan, world: Simulated) -> list[Refusal]:
    """The reasons that name a line which the next boot needs."""
    past = read_past(world.root / "var/lib/raidplan")
    found = decide(plan, world.read(plan), past, here=False).refusals
    return [each for each in found if each.code == "needed-at-boot"]


def moved_out(file: Path, number: int) -> None:
    """The line of this number stands above our block now, as the refusal advises."""
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines.pop(number - 1), *lines]))


BEFORE_AND_AFTER = {
    "root": (LAYOUT, LAYOUT.replace(ROOT, ""), "/"),
    "root without mount": (LAYOUT, LAYOUT.replace(ROOT, ROOT.replace(", mount: /", "")), "/"),
    "usr": (LAYOUT.replace(SCRATCH, USR), LAYOUT.replace(SCRATCH, ""), "/usr"),
    "boot": (LAYOUT, LAYOUT.replace(BOOT, ""), "/boot"),
    "disks of the system are kept": (SYSTEM_DISKS, kept(SYSTEM_DISKS, "s"), "/"),
    "all disks are kept": (SYSTEM_DISKS, kept(kept(SYSTEM_DISKS, "s"), "d"), "/"),
}


@pytest.mark.parametrize("how", BEFORE_AND_AFTER)
def test_the_mounts_of_the_running_system_keep_their_lines(how: str, tmp_path: Path) -> None:
    before, after, point = BEFORE_AND_AFTER[how]
    root, state = booted(tmp_path, before)
    fstab, plan = root / "etc/fstab", plan_of(after)
    text, world = fstab.read_text(), WithDevices(plan, root, state)
    (reason,) = refused(plan, world)
    assert (reason.case, reason.place, reason.figures["word"]) == ("dropped-mount", FSTAB, point)
    assert apply(plan, world) not in ("done", "nothing to do") and world.effects == []
    assert fstab.read_text() == text
    number = reason.figures["number"]
    assert isinstance(number, int) and text.splitlines()[number - 1].split()[1] == point
    moved_out(fstab, number)
    assert apply(plan, WithDevices(plan, root, state)) in ("done", "nothing to do")
    words = [line.split() for line in fstab.read_text().splitlines()]
    assert [row[1] for row in words].count(point) == 1 and words[0][1] == point
    assert apply(plan, WithDevices(plan, root, state)) == "nothing to do"


def test_a_mount_of_data_that_leaves_the_layout_takes_its_line_with_it(tmp_path: Path) -> None:
    root, state = booted(tmp_path, LAYOUT)
    plan = plan_of(LAYOUT.replace(SCRATCH, ""))
    assert apply(plan, Simulated(plan, root, state)) == "done"
    assert "/scratch" not in (root / "etc/fstab").read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TWO_ENCRYPTIONS, TWO_ENCRYPTIONS.replace(ON_CRYPT, "").replace(CRYPT, "")),
        (TWO_ENCRYPTIONS, NO_ENCRYPTION),
        (ENCRYPTED_DISKS, kept(ENCRYPTED_DISKS, "s")),
    ],
    ids=["no longer named", "nor any other", "on disks that are kept"],
)
def test_the_encryption_below_the_root_keeps_its_line(before: str, after: str, tmp_path: Path) -> None:
    root, state = booted(tmp_path, before)
    plan = plan_of(after)
    world = WithDevices(plan, root, state)
    found = {(each.case, each.place): each for each in refused(plan, world)}
    reason = found["dropped-device", CRYPTTAB]
    assert (reason.figures["word"], reason.figures["point"]) == ("crypt", "/")
    assert ("dropped-mount", FSTAB) in found
    assert apply(plan, world) not in ("done", "nothing to do") and world.effects == []


UUID = "5d1c6e0a-0000-4000-8000-000000000001"
MD = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
OPENED = BlockFact("dm-0", f"mapping:{UUID}", "/dev/mapper/c", "mapping", 2**30)
VOLUME = BlockFact("dm-1", "volume:vg/v", "/dev/vg/v", "volume", 2**30, below=("dm-0",))
ARRAY = BlockFact("md127", f"array:{MD}", "/dev/md/x", "array", 2**30)
IN_BLOCK = {
    CRYPTTAB: f"c UUID={UUID} none luks\n",
    MDADM_CONF: f"ARRAY /dev/md/x metadata=1.2 name=pair:x UUID={md_form(MD)}\n",
}


def found_with(
    file: str, *others: str, mounts: dict[str, str] | None = None, target: str = "", content: str = ""
) -> list[tuple[str, str, object]]:
    """The reasons against `content` in the place of the line of our block in a file, beside lines of others in fstab."""
    step = Step(id="write", phase="configure", say="", action=WriteBlock(file, content, "pair"), because="")
    plan = replace(plan_of(LAYOUT), host="pair", target=target, steps=(step,), whole=())
    block = f"{OPEN.format(mark='pair')}\n{IN_BLOCK[file]}{CLOSE.format(mark='pair')}\n"
    texts = {file: block, FSTAB: "".join(f"{line}\n" for line in others)}
    machine = Machine(
        blocks=(OPENED, VOLUME, ARRAY),
        objects={
            "file": {name: {"content": text} for name, text in texts.items()},
            "mount": {point: {"source": source} for point, source in (mounts or {}).items()},
            "array": {MD: {"name": "pair:x"}},
            "filesystem": {"F-1": {"device": VOLUME.identity, "label": "big"}},
        },
    )
    return [(each.case, each.place, each.figures["number"]) for each in needed_at_boot(plan, machine)]


@pytest.mark.parametrize("point", ["/", "/usr", "/var", "/srv/data"])
@pytest.mark.parametrize("source", [OPENED.identity, VOLUME.identity])
@pytest.mark.parametrize("target", ["", "/mnt"])
def test_an_encryption_below_a_mount_of_the_system_is_needed(point: str, source: str, target: str) -> None:
    needed = [] if point == "/srv/data" else [("dropped-device", CRYPTTAB, 2)]
    assert found_with(CRYPTTAB, mounts={point: source}, target=target) == needed
    assert found_with(CRYPTTAB, mounts={point: source}, target=target, content=IN_BLOCK[CRYPTTAB]) == []


@pytest.mark.parametrize(
    "line", ["/dev/mapper/c", "/dev/vg/v", "LABEL=big", "UUID=f-1", "/dev/disk/by-label/big"]
)
def test_an_encryption_that_a_line_of_others_stands_on_is_needed(line: str) -> None:
    assert found_with(CRYPTTAB, "# mine", f"{line} /srv/own ext4 defaults 0 2") == [
        ("dropped-name", FSTAB, 2)
    ]
    assert found_with(CRYPTTAB, "/dev/mapper/d /srv/own ext4 defaults 0 2") == []


@pytest.mark.parametrize("line", ["/dev/md/x", "/dev/md_x"])
def test_the_name_of_an_array_that_a_line_of_others_has_is_needed(line: str) -> None:
    assert found_with(MDADM_CONF, f"{line} /srv/own ext4 defaults 0 2") == [("dropped-name", FSTAB, 1)]


@pytest.mark.parametrize(
    "line", ["UUID=f-1", "/dev/disk/by-id/md-name-pair:x", f"/dev/disk/by-id/md-uuid-{md_form(MD)}"]
)
def test_a_name_that_an_array_has_without_its_line_needs_none(line: str) -> None:
    """By its content, and by links that udev makes of its superblocks (63-md-raid-arrays.rules)."""
    assert found_with(MDADM_CONF, f"{line} /srv/own ext4 defaults 0 2") == []


def test_an_encryption_that_a_line_of_others_mounts_keeps_its_line(tmp_path: Path) -> None:
    """Such a line may stand beside the layout with the encryption, and needs it at the next boot."""
    root, state = booted(tmp_path, UNUSED)
    with (root / "etc/fstab").open("a") as file:
        file.write("/dev/mapper/cdata /srv/own ext4 defaults 0 2\n")
    here = plan_of(UNUSED)
    assert apply(here, Simulated(here, root, state)) == "nothing to do"
    after = plan_of(UNUSED.replace(CDATA, ""))
    (reason,) = refused(after, Simulated(after, root, state))
    last = len((root / "etc/fstab").read_text().splitlines())
    assert (reason.case, reason.place, reason.figures["number"]) == ("dropped-name", FSTAB, last)
    assert reason.figures["file"] == CRYPTTAB


BELOW_VAR = LAYOUT.replace(SCRATCH, SCRATCH.replace("/scratch", "/var"))
OF_SYSTEM = {
    "/var": (BELOW_VAR, LAYOUT.replace(SCRATCH, "")),
    "/usr": (LAYOUT.replace(SCRATCH, USR), LAYOUT.replace(SCRATCH, "")),
    "/boot": (LAYOUT, LAYOUT.replace(BOOT, "")),
}


@pytest.mark.parametrize("point", OF_SYSTEM)
@pytest.mark.parametrize("mounted", [True, False])
def test_in_a_rescue_system_the_lines_of_the_system_stay(mounted: bool, point: str, tmp_path: Path) -> None:
    """What has left the layout need not be mounted there."""
    before, after = OF_SYSTEM[point]
    root, state = booted(tmp_path, before)
    if not mounted:
        del state.objects["mount"][point]
    plan = plan_of(after, TARGET)
    world = WithDevices(plan, tmp_path, state)
    found = decide(plan, world.read(plan), read_past(root / "var/lib/raidplan"), here=False).refusals
    assert [each.figures["word"] for each in found if each.case == "dropped-mount"] == [point]


def test_a_line_in_a_further_file_of_mdadm_is_there_for_a_device_of_others(tmp_path: Path) -> None:
    root, state = booted(tmp_path, LAYOUT)
    conf = root / "etc/mdadm/mdadm.conf"
    line = next(each for each in conf.read_text().splitlines() if "/dev/md/data" in each)
    with (root / "etc/fstab").open("a") as file:
        file.write("/dev/md/data /srv ext4 defaults,nofail 0 2\n")
    plan = plan_of(
        LAYOUT.replace("  data: {level: raid5, members: [a<0-2>.data], bitmap: none}\n", "").replace(
            "  data: {device: data, type: ext4, mount: /srv}\n", ""
        )
    )
    world = WithDevices(plan, root, state)
    assert [each.case for each in refused(plan, world)] == ["dropped-name"]
    (root / "etc/mdadm/mdadm.conf.d").mkdir()
    (root / "etc/mdadm/mdadm.conf.d/own.conf").write_text(f"{line}\n")
    assert refused(plan, world) == []
