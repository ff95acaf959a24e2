"""A system that mmdebstrap installs below the target, of the packages that the first run names and no others."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from raidplan.layout.model import Layout
from raidplan.plan.boot_loaders import LOADERS
from raidplan.twin.rehearsal.making import CONSOLE, TARGET
from raidplan.twin.rehearsal.stages import RAIDPLAN, install
from raidplan.twin.server import Recipe, Twin
from raidplan.twin.server.guest import patience
from raidplan.twin.server.image import find_or_build
from raidplan.twin.server.install import FOLDER, PROGRAM
from raidplan.twin.server.recipe import LIBRARIES, PACKAGES
from raidplan.twin.server.sources import apt_options, debian_sources
from tests.machine.boots import Combination, layout_of, planned, text_of
from tests.machine.fresh import BOOT_SECONDS, FILE, apply, disks_of_fresh, nothing_to_do
from tests.machine.servers import SIDE_BY_SIDE
from tests.twin.service import refit

pytestmark = [pytest.mark.machine, pytest.mark.long]

COMBINATIONS = [
    Combination("root-raid1-uefi", "uefi", "trixie"),
    Combination("root-raid6-lvm", "bios", "bookworm"),
]
REACHED = ("openssh-server", "python3", *LIBRARIES)
"""What a test and raidplan need of any system."""
PLAIN = 'rm "$1/etc/fstab" "$1/etc/initramfs-tools/conf.d/twin" "$1/usr/share/initramfs-tools/modules.d/twin"'
"""The initramfs is made as Debian's settings say."""
COPIED = f"tar --directory=/ --create {FOLDER} {PROGRAM} {RAIDPLAN[2]} /root/passphrase etc/ssh /root/.ssh {FILE} | tar --directory={TARGET} --extract"
BY_SERIAL = f"""\
set -e
mkdir -p {TARGET}/etc/default/grub.d
cat > {TARGET}/etc/default/grub.d/twin.cfg
{patience(TARGET)}
{COPIED}
sync
"""


def installed(packages: list[str], release: str, folder: Path) -> bytes:
    """The system as README's step 4 makes it, as an archive; with the cloud kernel, whose initramfs an emulated machine can pay for."""
    chosen = ["linux-image-cloud-amd64" if each == "linux-image-amd64" else each for each in packages]
    sources, archive, overlay = (folder / each for each in ("debian.sources", "system.tar", "overlay.tar"))
    sources.write_text(debian_sources(release))
    image = find_or_build(Recipe(release=release))
    overlay.write_bytes(
        Recipe(release=release, authorized_key=image.identity.with_suffix(".pub").read_text()).overlay()
    )
    options = [f"--aptopt={line}" for line in apt_options()] + [
        f"--customize-hook=tar-in {overlay} /",
        f"--customize-hook={PLAIN}",
    ]
    options += ["--skip=check/empty", f"--include={','.join((*chosen, *REACHED))}", "--mode=root"]
    mirror = [str(sources)] if sources.stat().st_size else []
    subprocess.run(["mmdebstrap", *options, release, str(archive), *mirror], check=True)
    return archive.read_bytes()


def system(twin: Twin, layout: Layout, text: str) -> list[str]:
    """The first run; the packages that it names at its end."""
    install(twin, layout)
    twin.put(text.encode(), FILE)
    first = twin.run(apply("--target", TARGET), check=False, timeout=1200)
    assert first.returncode == 0, first.stderr[-3000:]
    (named,) = re.findall(r"mmdebstrap --skip=check/empty --include=(\S+) trixie /mnt", first.stderr)
    return str(named).split(",")


@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
def test_the_packages_that_the_first_run_names_make_a_server_that_boots(
    combination: Combination, tmp_path: Path
) -> None:
    text = text_of(layout_of(combination))
    _, loaded = planned(text, tmp_path)
    assert loaded.layout is not None
    recipe = Recipe(release=combination.release, packages=(*PACKAGES, *LOADERS[combination.firmware, "grub"]))
    disks = disks_of_fresh(loaded)
    with Twin.start(
        disks,
        cpus=SIDE_BY_SIDE,
        directory=tmp_path / "twin",
        recipe=recipe,
        firmware=combination.firmware,
        boot_timeout=BOOT_SECONDS,
    ) as twin:
        packages = system(twin, loaded.layout, text)
        archive = installed(packages, combination.release, tmp_path)
        twin.run(["tar", f"--directory={TARGET}", "--extract"], stdin=archive, timeout=1800)
        twin.run(["sh", "-c", BY_SERIAL], stdin=CONSOLE.encode(), timeout=600)
        finished = twin.run(apply("--target", TARGET), check=False, timeout=3600)
        assert finished.returncode == 0, finished.stderr[-3000:]
        twin.shut_down(timeout=BOOT_SECONDS)
        refit(twin, disks)
        twin.start_from_disks(timeout=BOOT_SECONDS)
        nothing_to_do(twin)
        if combination.firmware == "uefi":
            started_by_an_entry_and_without(twin, loaded.layout)


def started_by_an_entry_and_without(twin: Twin, layout: Layout) -> None:
    """The firmware has started one of raidplan's entries; without them it finds the loader too, and `apply` enters it again."""
    labels = {f"{layout.host} {disk}" for disk in layout.hardware.disks}
    found, current = entries_of(twin)
    assert {*found.values()} >= labels and found[current] in labels, found
    for number in (number for number, label in found.items() if label in labels):
        twin.run(["efibootmgr", "--quiet", "--bootnum", number, "--delete-bootnum"])
    twin.shut_down(timeout=BOOT_SECONDS)
    twin.start_from_disks(timeout=BOOT_SECONDS)
    assert not labels & {*entries_of(twin)[0].values()}
    again = twin.run(apply(), check=False, timeout=600)
    assert again.returncode == 0 and {*entries_of(twin)[0].values()} >= labels, again.stderr


def entries_of(twin: Twin) -> tuple[dict[str, str], str]:
    """The labels of the firmware's entries by their numbers, and the number of the one that has started the machine."""
    shown = twin.run(["efibootmgr"]).stdout
    (current,) = re.findall(r"^BootCurrent: (\w+)$", shown, re.MULTILINE)
    entries = re.findall(r"^Boot([0-9A-F]{4})\*? ([^\t\n]*)", shown, re.MULTILINE)
    return {number: label.strip() for number, label in entries}, current
