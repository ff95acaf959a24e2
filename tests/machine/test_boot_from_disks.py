"""Whole servers made in a rescue system boot by their own firmware and disks, and again without any one of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.estimate.survival import Outcome, structure
from raidplan.estimate.survival.loss import outcomes
from raidplan.estimate.survival.structure import BOOT
from raidplan.layout.model import Layout
from raidplan.review.pipeline import Loaded
from raidplan.twin.rehearsal.making import TARGET
from raidplan.twin.rehearsal.stages import WHOLE, install
from raidplan.twin.server import Disk, Twin
from raidplan.twin.server.failure import BootError
from tests.machine.boots import COMBINATIONS, Combination, Record, commit, digest, layout_of, planned, text_of
from tests.machine.fresh import BOOT_SECONDS, FILE, apply, disks_of_fresh, fill, nothing_to_do, started
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import contents
from tests.machine.servers import decoys, fill_decoys
from tests.twin.service import refit

pytestmark = [pytest.mark.machine, pytest.mark.long]

OWN = "find /etc /boot /usr/lib/udev /usr/lib/systemd -xdev -type f -print0 | sort -z | xargs -0 sha256sum"
"""What the rescue system is configured by."""
SYNCED = """
echo 200000 > /proc/sys/dev/raid/speed_limit_max
for state in /sys/block/md*/md/array_state; do
    ! grep --quiet read-auto "$state" || echo active > "$state"
done
while grep -Eq 'resync|recovery|DELAYED' /proc/mdstat; do sleep 3; done
"""
"""Waits until everything is in sync; an array that nobody wrote to since the boot, as one of swap, would wait for its first write."""
COPIED = {
    "grub": "raidplan-boot-loaders: installed GRUB on",
    "systemd-boot": "raidplan-boot-loaders: systemd-boot and the kernels are on",
}
"""The words of the hook."""
VERSIONS = (
    "dpkg-query",
    "--show",
    "--showformat=${Package} ${Version}\\n",
    "mdadm",
    "linux-image-cloud-amd64",
)
OF_LOADER = {"grub": "grub2-common", "systemd-boot": "systemd-boot-efi"}
"""The packages whose versions are recorded."""
WRITABLE = """
touch /root/fresh.yaml && exit
findmnt --noheadings /; systemctl status --no-pager systemd-remount-fs systemd-fsck-root; dmesg | tail -n 100; journalctl --boot --no-pager | tail -n 200
exit 1
"""
"""Whether the root can be written to; what the server says of it, if not."""
AGAIN = "DEBIAN_FRONTEND=noninteractive dpkg --install /root/packages/*.deb 2>&1"


def mounted(twin: Twin) -> set[str]:
    return set(twin.run("findmnt --real --noheadings --list --output TARGET").stdout.split())


@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
def test_made_booted_updated_and_booted_without_each_disk(
    combination: Combination, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"[{combination} {time.monotonic() - began:5.0f} s] {text}", flush=True)  # noqa: T201  # shown with -s

    text = text_of(layout_of(combination))
    plan, loaded = planned(text, tmp_path)
    assert loaded.layout is not None
    disks = disks_of_fresh(loaded)
    others = decoys(disks[0].size_bytes)
    with started(combination, [*disks, *others], tmp_path / "twin", say) as twin:
        made(twin, text, loaded.layout, others, say)
        say("booting from the disks")
        twin.shut_down()
        refit(twin, disks)
        twin.start_from_disks(timeout=BOOT_SECONDS)
        nothing_to_do(twin)
        say("the packages once more")
        installed = twin.run(["sh", "-c", AGAIN], check=False, timeout=1800)
        assert installed.returncode == 0, installed.stdout[-3000:]
        assert COPIED[combination.loader] in installed.stdout
        nothing_to_do(twin)
        twin.run(SYNCED, timeout=2400)
        listed = twin.run([*VERSIONS, OF_LOADER[combination.loader]]).stdout.splitlines()
        packages = dict(line.split() for line in listed)
        twin.shut_down()
        record = Record(combination.example, combination.firmware, combination.release, commit(), digest(plan), packages, loader=combination.loader)  # fmt: skip
        say("a blank disk in place of the first")
        new = exchanged(twin, disks, text)
        alone = [disk.name for disk in disks[1:]]
        if mounts := predicted(loaded, *alone):
            say(f"from {new.name} alone")
            assert observed(twin, loaded, *alone) == mounts
        record.replaced = True
        for name, disk in zip([each.name for each in disks], [new, *disks[1:]], strict=True):
            say(f"without {disk.name}")
            record.predicted[name] = predicted(loaded, name)
            record.observed[name] = observed(twin, loaded, disk.name)
            say(f"predicted {record.predicted[name]}, observed {record.observed[name]}")
    record.seconds = round(time.monotonic() - began)
    record.keep()
    record_property("counted: boots without a disk", len(record.observed))
    assert record.agrees, record


def made(twin: Twin, text: str, layout: Layout, others: Sequence[Disk], say: Callable[[str], None]) -> None:
    """From blank disks to a filled target; nothing of the rescue system or of other disks is another one."""
    install(twin, layout)
    if not layout.encryption:  # the quick one opens none, and apply leaves no such image
        quick_initramfs(twin)
    fill_decoys(twin)
    twin.put(text.encode(), FILE)
    own, content = twin.run(OWN).stdout, contents(twin, [disk.name for disk in others])
    say("apply to blank disks")
    first = twin.run(apply("--target", TARGET), check=False, timeout=1200)
    assert first.returncode == 0, first.stderr[-3000:]
    say("filling the target")
    fill(twin)
    say("apply to the filled target")
    finished = twin.run(apply("--target", TARGET), check=False, timeout=2400)
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert twin.run(OWN).stdout == own
    assert contents(twin, [disk.name for disk in others]) == content


def exchanged(twin: Twin, disks: Sequence[Disk], text: str) -> Disk:
    """A blank disk with a serial number of its own, in place of the first, once `apply` has made all that was on that one.

    The machine is off before and afterwards. The new disk comes last, because a BIOS may give up at a blank one.
    """
    lost, *rest = disks
    new = replace(lost, name=f"{lost.name}n", serial=f"{lost.serial}n")
    refit(twin, [*rest, new])
    twin.start_from_disks(timeout=BOOT_SECONDS)
    assert lost.serial in text
    written = twin.run(WRITABLE, check=False)
    assert not written.returncode, written.stdout
    twin.put(text.replace(f"serial: {lost.serial}\n", f"serial: {new.serial}\n").encode(), FILE)
    done = twin.run(apply(), check=False, timeout=2400)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "which rebuild" in done.stdout and WHOLE in done.stderr, done.stdout
    nothing_to_do(twin)
    twin.run(SYNCED, timeout=2400)
    nothing_to_do(twin)
    twin.shut_down()
    return new


def predicted(loaded: Loaded, *lost_disks: str) -> list[str]:
    """The mount points that `estimate` says are there without these disks; none if the machine does not boot."""
    assert loaded.topology is not None and loaded.layout is not None
    lost = outcomes(structure(loaded.topology), lost_disks)
    if not lost.get(BOOT, Outcome.INTACT).survives:
        return []
    return sorted(
        entry.mount
        for name, entry in loaded.layout.filesystems.items()
        if entry.mount and lost.get(("filesystems", name), Outcome.INTACT).survives
    )


def observed(twin: Twin, loaded: Loaded, *lost: str) -> list[str]:
    """The mount points of the layout that are there after a boot without these disks; none if it does not boot.

    Every boot begins with what stands now: one without a disk makes that a stale one for the next.
    """
    assert loaded.layout is not None
    try:
        twin.start_over(without=lost, timeout=BOOT_SECONDS)
    except BootError:
        found: set[str] = set()
    else:
        found = mounted(twin)
    twin.power_cut()
    return sorted({entry.mount for entry in loaded.layout.filesystems.values() if entry.mount} & found)
