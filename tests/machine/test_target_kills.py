"""A server made from a rescue system, killed in every program of both runs of `apply --target`; then it boots from its disks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from raidplan.twin.rehearsal.making import TARGET
from raidplan.twin.rehearsal.stages import WHOLE, install
from raidplan.twin.server import Twin
from tests.machine.boots import Combination, layout_of, planned, text_of
from tests.machine.fresh import BOOT_SECONDS, FILE, disks_of_fresh, fill, nothing_to_do, started
from tests.machine.initramfs import quick_initramfs
from tests.machine.kills import install_killer, killed_to_the_end
from tests.machine.look import contents
from tests.machine.servers import decoys, fill_decoys
from tests.twin.service import refit

pytestmark = [pytest.mark.machine, pytest.mark.long]

FIRST = {"sfdisk", "mdadm", "mke2fs", "mkswap"}
"""At least these are killed while the storage is made, wherever they run."""
SECOND = {
    "bios": ["mkinitramfs", "grub-install", "update-grub"],
    "uefi": ["mkinitramfs", "grub-install", "update-grub", "efibootmgr"],
}
"""These are killed while the filled target is finished."""


@pytest.mark.parametrize(
    "combination",
    [
        Combination("root-raid1-bios", "bios", "bookworm"),
        Combination("root-raid1-uefi", "uefi", "trixie"),
    ],
    ids=str,
)
def test_killed_in_every_program_it_boots_all_the_same(
    combination: Combination, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    def say(text: str) -> None:
        print(f"[{combination}] {text}", flush=True)  # noqa: T201  # shown with -s

    text = text_of(layout_of(combination))
    plan, loaded = planned(text, tmp_path)
    assert loaded.layout is not None
    disks = disks_of_fresh(loaded)
    others = decoys(disks[0].size_bytes)
    command = ["apply", FILE, "--target", TARGET, "--confirm", plan.host]
    with started(combination, [*disks, *others], tmp_path / "twin", say) as twin:
        install(twin, loaded.layout)
        install_killer(twin)
        quick_initramfs(twin)
        fill_decoys(twin)
        twin.put(text.encode(), FILE)
        before = contents(twin, [disk.name for disk in others])

        made, first = killed_to_the_end(twin, "first", command)
        say(f"killed in {len(first)} programs: {', '.join(first)}")
        assert set(FIRST) <= {line.split()[0] for line in first}, first
        assert "holds no system yet" in made.stderr

        fill(twin)
        wanted = SECOND[combination.firmware]
        finished, second = killed_to_the_end(twin, "second", command, wanted)
        say(f"killed in {', '.join(second)}")
        assert set(second) == set(wanted), second
        assert WHOLE in finished.stdout + finished.stderr
        record_property("counted: kills in programs of the virtual server", len(first) + len(second))
        assert_no_mounts_are_left(twin)
        assert contents(twin, [disk.name for disk in others]) == before

        twin.shut_down()
        refit(twin, disks)
        twin.start_from_disks(timeout=BOOT_SECONDS)
        nothing_to_do(twin)


def assert_no_mounts_are_left(twin: Twin) -> None:
    """Those under which the programs of the target ran go with them, killed or not."""
    listed = twin.run("findmnt --list --noheadings --output TARGET").stdout.split()
    assert not [each for each in listed if each.startswith(tuple(f"{TARGET}/{name}" for name in ("proc", "sys", "dev", "run")))]  # fmt: skip
