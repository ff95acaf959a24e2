"""GRUB's own programs take real arrays of every level that the rules say GRUB reads, under the names that raidplan gives them.

Debian 12 has GRUB 2.06, 13 has 2.12, and 14 (forky) 2.14.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from raidplan.review.pipeline import check
from raidplan.twin.server import Disk, Recipe, Twin, install_raidplan
from raidplan.twin.server.recipe import PACKAGES
from tests.machine.initramfs import quick_initramfs

MEMBERS = 4
ARRAYS = {
    "zero": {"level": "raid0"},
    "one": {"level": "raid1"},
    "four": {"level": "raid4"},
    "five": {"level": "raid5"},
    "six": {"level": "raid6"},
    "near": {"level": "raid10"},
    "far": {"level": "raid10", "layout": "f2"},
    "old": {"level": "raid1", "metadata": "0.90"},
    "end": {"level": "raid5", "metadata": "1.0"},
    "front": {"level": "raid6", "metadata": "1.1"},
}
CHUNKED = ("raid0", "raid4", "raid5", "raid6", "raid10")


def layout(boot: str = "") -> str:
    """Every array on a partition of each disk, with ext4 on it; GRUB boots from one of them, if one is named."""
    parts = {"bios": {"size": "8MiB", "type": "bios-boot"}} | {name: {"size": "160MiB"} for name in ARRAYS}
    arrays = {
        name: {
            **words,
            "members": [f"g<0-{MEMBERS - 1}>.{name}"],
            "initial_sync": "freeze-until-reboot",
            **({"chunk": "64KiB"} if words["level"] in CHUNKED else {}),
        }
        for name, words in ARRAYS.items()
    }
    mounts = {name: "/boot" if name == boot else f"/srv/{name}" for name in ARRAYS}
    return yaml.safe_dump(
        {
            "version": 1,
            **({"boot": {"loader": "grub"}} if boot else {}),
            "host": "grub",
            "hardware": {"disks": {f"g<0-{MEMBERS - 1}>": {"size": "2GiB", "serial": "GRUB-<1>", "partitions": parts}}},
            "arrays": arrays,
            "filesystems": {name: {"device": name, "type": "ext4", "mount": mount} for name, mount in mounts.items()},
        },
        sort_keys=False,
    )  # fmt: skip


@pytest.fixture(scope="module", params=["bookworm", "trixie", "forky"])
def twin(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    disks = [Disk(f"grub{n}", 2**31, f"GRUB-{n}") for n in range(MEMBERS)]
    recipe = Recipe(release=request.param, packages=(*PACKAGES, "grub-pc"))
    with Twin.start(disks, directory=tmp_path_factory.mktemp("grub"), recipe=recipe) as machine:
        install_raidplan(machine)
        quick_initramfs(machine)
        machine.put(layout().encode(), "/root/grub.yaml")
        made = machine.run("raidplan apply /root/grub.yaml --confirm grub", check=False, timeout=1800)
        assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-3000:]
        yield machine


@pytest.mark.parametrize("name", ARRAYS)
def test_the_rules_say_that_grub_reads_it(name: str, tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(layout(name))
    rules = {each.finding.rule for each in check(str(file)).findings}
    assert rules and "loader-cannot-read-array" not in rules


def test_of_linear_arrays_they_say_that_it_does_not(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(
        layout("zero")
        .replace("level: raid0\n    chunk: 64KiB", "level: linear")
        .replace("level: raid0", "level: linear")
    )
    assert "loader-cannot-read-array" in {each.finding.rule for each in check(str(file)).findings}


@pytest.mark.machine
@pytest.mark.long
def test_probe_install_and_menu(twin: Twin, record_property: Callable[[str, object], None]) -> None:
    version = twin.run("grub-probe --version").stdout.split()[-1]
    disk = twin.run("readlink -f /dev/disk/by-id/*GRUB-0 | head -n 1").stdout.strip()
    for name, words in ARRAYS.items():
        mount, node = f"/srv/{name}", f"/dev/md/{name}"
        driver = "mdraid09" if words.get("metadata") == "0.90" else "mdraid1x"
        for place in (mount, f"--device {node}"):
            assert twin.run(f"grub-probe --target=fs {place}").stdout == "ext2\n"
            abstraction = twin.run(f"grub-probe --target=abstraction {place}").stdout.split()
            assert driver in abstraction and "diskfilter" in abstraction, (name, abstraction)
            drive = twin.run(f"grub-probe --target=drive {place}").stdout
            assert drive.startswith("(mduuid/"), drive
        installed = twin.run(
            f"grub-install --target=i386-pc --boot-directory={mount} {disk}", check=False, timeout=300
        )
        assert installed.returncode == 0, (name, installed.stderr)
        menu = twin.run(
            f"cp /boot/vmlinuz-* {mount}/ && mount --bind {mount} /boot && update-grub; code=$?; umount /boot; exit $code",
            check=False,
            timeout=300,
        )
        assert menu.returncode == 0, (name, menu.stderr)
        assert "mduuid/" in twin.run(f"cat {mount}/grub/grub.cfg").stdout, name
        print(f"GRUB {version}: {name}, {words}")  # noqa: T201  # shown with -s
    record_property("counted: arrays that GRUB's programs took", len(ARRAYS))
