"""The rows of "One place for one new thing" about what starts a machine: a throw-away boot loader, and a throw-away firmware of GRUB."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.throw_away import NEW, Copied

SERVER = """\
version: 1
host: started
hardware:
  firmware: {firmware}
  disks: {{d<0-1>: {{serial: S<1>, size: 100GB, partitions: {{start: {{size: 512MiB, type: {type}}}, root: {{size: rest}}}}}}}}
boot: {{loader: {loader}}}
arrays: {{root: {{level: raid1, members: [d<0-1>.root], metadata: "{metadata}"}}}}
filesystems:
{esp}  root: {{device: root, type: ext4, mount: /}}
"""
MOUNTED = """\
  efi0: {device: d0.start, type: vfat, mount: /boot/efi}
  efi1: {device: d1.start, type: vfat, mount: /boot/efi2}
"""
LOADER = '''\
"""The steps that install a throw-away loader."""

from raidplan.plan.boot_loaders import HOOK, install_tiny
from raidplan.plan.step import Proof, Run, Step, WriteFile


def install(topology, places, root, before):
    for place in places:
        yield Step(
            f"boot.tiny.{place.name}", "configure", f"install tiny on {place.name}", Run(install_tiny(place.mount), inside=True), "boot",
            needs=(*before, f"filesystem.{place.filesystem}.mount"), targets=(place.mount,),
            proof=Proof("boot_loader", topology.devices[place.name].uuid, {"loader": "tiny", "current": True}),
        )


def keep(topology, places):
    text = "".join(f"tiny-install {place.mount}\\n" for place in places)
    needs = tuple(f"boot.tiny.{place.name}" for place in places)
    yield Step("config.boot", "configure", "keep it", WriteFile(HOOK, text, 0o755), "boot", needs=needs, targets=(HOOK,))
'''
READ = """
import sys
from pathlib import Path
from raidplan.facts.block import Block
from raidplan.facts.boot_loaders import ESP, read_boot_loaders
from raidplan.facts.mounts import Mount
from raidplan.facts.readings import Readings
from raidplan.facts.tables import Entry, Table
root = Path(sys.argv[1])
table = Table("gpt", "u", (Entry(1, "uuid", ESP, 2**20, 2**20),))
mount, block = Mount("/boot/efi", "/dev/sda1", "vfat", (), "sda1"), Block("sda1", "8:1", 2**20, partition=1, disk="sda")
print(read_boot_loaders(Readings(root, {"sda1": block}, {"sda": table}, {}, {}, (mount,), ()), root))
"""


def plan_of(copy: Copied, file: str) -> Mapping[str, Any]:
    """The steps of a plan below a target by their ids."""
    text = copy.raidplan("plan", "--offline", "--target", "/mnt", file, "--format", "json")
    return {step["id"]: step for step in json.loads(text)["steps"]}


def test_a_boot_loader(tmp_path: Path) -> None:
    copy = Copied(tmp_path, "a boot loader", {
        "compiler/tiny.py": {NEW: LOADER},
        "compiler/boot.py": {
            "import grub, systemd_boot\n": "import grub, systemd_boot, tiny\n",
            "    GRUB: (grub.install": '    "tiny": (tiny.install, tiny.keep, "boot.tiny.{}"),\n    GRUB: (grub.install',
        },
        "plan/boot_loaders.py": {
            'ANSWER: "debconf"}': 'ANSWER: "debconf", "tiny-install": "tiny"}',
            "    SYSTEMD_BOOT: EfiImages(": '    "tiny": EfiImages("/usr/lib/tiny.efi", "/usr/lib/tiny.efi.signed", "tiny", "tiny-signed"),\n'
            "    SYSTEMD_BOOT: EfiImages(",
            '    ("uefi", SYSTEMD_BOOT): (': '    ("uefi", "tiny"): ("tiny", PACKAGES[ENTER]),\n    ("uefi", SYSTEMD_BOOT): (',
            "    words = {word for argv": '    commands = [*commands]\n    if any(argv[0] == "tiny-install" for argv in commands):\n'
            '        return {("tiny", "uefi")}\n    words = {word for argv',
            "def install_systemd_boot(": "def install_tiny(mount):\n    return 'tiny-install', mount\n\n\ndef install_systemd_boot(",
        },
        "facts/boot_loaders.py": {
            "read_systemd_boot(folder, system) or": "read_systemd_boot(folder, system) or _tiny_on(folder) or",
            "def _grub_on(": "def _tiny_on(folder):\n    found = (folder / 'tiny.efi').exists()\n"
            "    return {'loader': 'tiny', 'current': True} if found else None\n\n\ndef _grub_on(",
        },
        "topology/boot_devices.py": {'"syslinux", "systemd-boot")': '"syslinux", "systemd-boot", "tiny")'},
        "layout/kinds/host.py": {'"systemd-boot", "none"]': '"systemd-boot", "tiny", "none"]'},
    })  # fmt: skip
    file = copy.layout(
        "started", SERVER.format(firmware="uefi", type="esp", loader="tiny", esp=MOUNTED, metadata="1.0")
    )
    steps = plan_of(copy, file)
    assert steps["boot.tiny.d1.start"]["argv"] == ["tiny-install", "/boot/efi2"]
    assert "boot.tiny.d0.start" in steps["boot.entry.d0.start"]["needs"]
    # A loader that knows nothing of md cannot read kernels from behind a superblock.
    behind = copy.layout("behind", Path(file).read_text().replace('"1.0"', '"1.2"'))
    found = json.loads(copy.raidplan("check", behind, "--format", "json"))["findings"]
    assert "loader-cannot-read-array" in {each["rule"] for each in found}
    script = copy.raidplan("plan", "--offline", "--target", "/mnt", file, "--format", "shell")
    assert "require_signed /usr/lib/tiny.efi.signed tiny-signed" in script
    (tmp_path / "boot/efi").mkdir(parents=True)
    (tmp_path / "boot/efi/tiny.efi").touch()
    assert "'loader': 'tiny'" in copy.python("-c", READ, str(tmp_path))
    rehearsed = "from raidplan.twin.rehearsal.stages import LOADERS as made; print(made['uefi', 'tiny'])"
    assert copy.python("-c", rehearsed) == "('tiny', 'efibootmgr')\n"
    lacking = "from raidplan.plan.boot_loaders import install_tiny, missing_packages as m; print(m(install_tiny('/x'), (), ()))"
    assert copy.python("-c", lacking) == "('tiny',)\n"


def test_a_firmware_that_grub_runs_on(tmp_path: Path) -> None:
    copy = Copied(tmp_path, "a firmware that GRUB runs on", {
        "layout/model.py": {'Literal["bios", "uefi"]': 'Literal["bios", "uefi", "tiny"]'},
        "plan/boot_loaders.py": {
            'PLATFORMS = {"bios": BIOS,': 'TINY = Platform("tiny-efi", "grub-tiny")\nPLATFORMS = {"tiny": TINY, "bios": BIOS,',
            '    ("bios", GRUB): (': '    ("tiny", GRUB): (TINY.package,),\n    ("bios", GRUB): (',
        },
        "topology/boot_places.py": {'{"bios": _bios_boot,': '{"tiny": _bios_boot, "bios": _bios_boot,'},
        "compiler/grub.py": {
            "import (\n    ANSWER,": "import (\n    TINY,\n    INSTALL,\n    ANSWER,",
            "action=Run(install_bios(disk_word(place.disk)), inside=True)": "action=Run((INSTALL, TINY.option, disk_word(place.disk)), inside=True)",
            '    on = _in_boot_sector if bios else _on_esp': '    on = _on_esp if topology.layout.hardware.firmware == "uefi" else _in_boot_sector',
        },
        "facts/host.py": {'    return "uefi" if (root': '    if (root / "tiny").exists():\n        return "tiny"\n    return "uefi" if (root'},
    })  # fmt: skip
    file = copy.layout(
        "started", SERVER.format(firmware="tiny", type="bios-boot", loader="grub", esp="", metadata="1.2")
    )
    steps = plan_of(copy, file)
    assert steps["boot.grub.d1"]["argv"] == ["grub-install", "--target=tiny-efi", "{d1}"]
    assert not {name for name in steps if name.startswith("boot.entry")}, "only UEFI has variables"
    script = copy.raidplan("plan", "--offline", "--target", "/mnt", file, "--format", "shell")
    assert "require_firmware tiny" in script
    (tmp_path / "tiny").touch()
    asked = "import sys, pathlib; from raidplan.facts.host import firmware; print(firmware(pathlib.Path(sys.argv[1])))"
    assert copy.python("-c", asked, str(tmp_path)) == "tiny\n"
    lacking = "from raidplan.plan.boot_loaders import *; print(missing_packages((INSTALL, TINY.option), (INSTALL,), ()), LOADERS['tiny', GRUB])"
    assert copy.python("-c", lacking) == "('grub-tiny',) ('grub-tiny',)\n"
