"""GRUB's own programs take real arrays of every level that the rules say GRUB reads, under the names that raidplan gives them.

Debian 12 has GRUB 2.06, 13 has 2.12, and 14 (forky) 2.14.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from raidplan.cli import REFUSED
from raidplan.review.pipeline import check
from raidplan.twin.server import Disk, Recipe, Twin, install_raidplan
from raidplan.twin.server.recipe import PACKAGES
from tests.machine.consent import applied_over, giving_up_own
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import NODE

ARRAYS: dict[str, dict[str, str]] = {
    "zero": {"level": "raid0", "chunk": "64KiB"},
    "one": {"level": "raid1"},
    "four": {"level": "raid4", "chunk": "64KiB"},
    "five": {"level": "raid5", "chunk": "64KiB"},
    "six": {"level": "raid6", "chunk": "64KiB"},
    "near": {"level": "raid10", "chunk": "64KiB"},
    "far": {"level": "raid10", "layout": "f2", "chunk": "64KiB"},
    "old": {"level": "raid1", "metadata": "0.90"},
}
COMMAND = ["raidplan", "apply", "/root/grub.yaml", "--confirm", "grub"]


def layout(name: str, *, boot: bool = False, **changed: str) -> str:
    """One array on a partition of each of four disks, with ext4 on it, in the place of the one before; GRUB boots from it on request.

    grub-probe looks through every partition of the machine, and takes seconds for each.
    """
    parts = {"bios": {"size": "8MiB", "type": "bios-boot"}, "data": {"size": "160MiB"}}
    disks = {"g<0-3>": {"size": "512MiB", "serial": "GRUB-<1>", "wipe": True, "partitions": parts}}
    array = {**ARRAYS[name], **changed, "members": ["g<0-3>.data"], "initial_sync": "freeze-until-reboot"}
    return yaml.safe_dump(
        {
            "version": 1,
            "host": "grub",
            **({"boot": {"loader": "grub"}} if boot else {}),
            "hardware": {"disks": disks},
            "arrays": {name: {key: value for key, value in array.items() if value}},
            "filesystems": {name: {"device": name, "type": "ext4", "mount": "/boot" if boot else f"/srv/{name}"}},
        },
        sort_keys=False,
    )  # fmt: skip


@pytest.fixture(scope="module", params=["bookworm", "trixie", "forky"])
def twin(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    disks = [Disk(f"grub{n}", 2**29, f"GRUB-{n}") for n in range(4)]
    recipe = Recipe(
        release=request.param, packages=(*PACKAGES, "grub-pc", "cpio")
    )  # forky's initramfs-tools does without cpio
    with Twin.start(disks, directory=tmp_path_factory.mktemp("grub"), recipe=recipe) as machine:
        install_raidplan(machine)
        quick_initramfs(machine)
        yield machine


def made(twin: Twin, name: str) -> None:
    """The array, where the one before stood, which the layout of the same host has made and which is given up by its digest."""
    twin.put(layout(name).encode(), "/root/grub.yaml")
    done = applied_over(twin, COMMAND)
    if done.returncode == REFUSED:
        done = twin.run(giving_up_own(COMMAND, done.stderr), check=False, timeout=900)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]


@pytest.mark.parametrize("name", ARRAYS)
def test_the_rules_say_that_grub_reads_it(name: str, tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(layout(name, boot=True))
    rules = {each.finding.rule for each in check(str(file)).findings}
    assert rules and "loader-cannot-read-array" not in rules


def test_of_linear_arrays_they_say_that_it_does_not(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(layout("zero", boot=True, level="linear", chunk=""))
    assert "loader-cannot-read-array" in {each.finding.rule for each in check(str(file)).findings}


@pytest.mark.machine
@pytest.mark.long
def test_probe_install_and_menu(twin: Twin, record_property: Callable[[str, object], None]) -> None:
    version = twin.run("grub-probe --version").stdout.split()[-1]
    for name, words in ARRAYS.items():
        made(twin, name)
        disk = twin.run(f"{NODE}\nd GRUB-0", check=False).stdout.strip()
        mount, node = f"/srv/{name}", f"/dev/md/{name}"
        driver = "mdraid09" if words.get("metadata") == "0.90" else "mdraid1x"
        for place in (mount, f"--device {node}"):
            assert twin.run(f"grub-probe --target=fs {place}").stdout == "ext2\n"
            abstraction = twin.run(f"grub-probe --target=abstraction {place}").stdout.split()
            assert driver in abstraction and "diskfilter" in abstraction, (name, abstraction)
            drive = twin.run(f"grub-probe --target=drive {place}").stdout
            assert drive.startswith("(mduuid/"), drive
        installed = twin.run(
            f"grub-install --target=i386-pc --boot-directory={mount} {disk}", check=False, timeout=900
        )
        assert installed.returncode == 0, (name, installed.stderr)
        menu = twin.run(
            f"cp /boot/vmlinuz-* {mount}/ && mount --bind {mount} /boot && update-grub; code=$?; umount /boot; exit $code",
            check=False,
            timeout=900,
        )
        assert menu.returncode == 0, (name, menu.stderr)
        assert "mduuid/" in twin.run(f"cat {mount}/grub/grub.cfg").stdout, name
        print(f"GRUB {version}: {name}, {words}")  # noqa: T201  # shown with -s
    record_property("counted: arrays that GRUB's programs took", len(ARRAYS))
