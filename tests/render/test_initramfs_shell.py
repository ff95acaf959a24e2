"""The script's own way to prove an initramfs: with a stand-in for unmkinitramfs, which is a copy."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from tests.render.scripts import SHELLS, Bench

UUID = "73f3d392:1aeb5c4e:9d1260fa:8fcc4553"
SHELL = files("raidplan.render").joinpath("initramfs.sh").read_text("utf-8")
UNPACK = '#!/bin/sh\nmkdir -p "$2/main/etc/mdadm"\ncp "$1" "$2/main/etc/mdadm/mdadm.conf"\n'


def made_by_initramfs_tools(root: Path) -> Path:
    """The folder of the images, of two kernels with modules."""
    (root / "boot").mkdir()
    for kernel in ("6.1", "6.2"):
        (root / "lib/modules" / kernel).mkdir(parents=True)
    (root / "usr/sbin").mkdir(parents=True)
    (root / "usr/sbin/update-initramfs").write_text("mkinitramfs\n")
    return root / "boot"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("made", "code"),
    [(f"ARRAY /dev/md/s0 UUID={UUID}", 0), (f"ARRAY x UUID={UUID}0", 3), (f"#ARRAY x UUID={UUID}", 3), ("no", 3)],
)  # fmt: skip
def test_proven_or_not_put_in_place(made: str, code: int, shell: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, [])
    boot = made_by_initramfs_tools(tmp_path)
    for kernel in ("6.1", "6.2"):
        (boot / f"vmlinuz-{kernel}").touch()
        (boot / f"initrd.img-{kernel}").write_text("old\n")
    (boot / "vmlinux-6.1").touch()
    (boot / "vmlinuz-5.10").touch()
    (boot / "initrd.img-6.1").chmod(0o600)
    (boot / "initrd.img-5.10").write_text("of no kernel\n")
    bench.tool("unmkinitramfs", UNPACK)
    no = "exit 1" if made == "no" else ""
    aside = f"{boot}/raidplan.new/initrd.img-"
    bench.tool(
        "mkinitramfs", f'#!/bin/sh\n[ "$1 $2" = "-o {aside}$3" ] || exit 2\n{no}\necho "{made}" >"$2"\n'
    )
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    bench.tool("run-parts", f'#!/bin/sh\necho "$*" >>{tmp_path}/heard\n')
    result = bench.functions(
        f"{SHELL}\nrequire_room_for_initramfs {boot}\nbegun=yes\nrenew_initramfs {boot} '{UUID}' {hooks}",
        shell,
    )
    assert result.returncode == code, result.stderr
    wanted = {"old\n"} if code else {f"{made}\n"}
    assert {file.read_text() for file in boot.glob("initrd.img-6.?")} == wanted
    assert (boot / "initrd.img-6.1").stat().st_mode & 0o777 == 0o600
    kept = {file.name: file.read_text() for file in (boot / "raidplan.old").iterdir()}
    assert kept == {f"initrd.img-{kernel}": "old\n" for kernel in ("6.1", "6.2")}
    assert len(list(boot.glob("[iv]*"))) == 7 and (boot / "initrd.img-5.10").read_text() == "of no kernel\n"
    assert not (boot / "raidplan.new").exists()
    if not code:
        told = [f"--arg={kernel} --arg={boot}/initrd.img-{kernel} {hooks}" for kernel in ("6.1", "6.2")]
        assert (tmp_path / "heard").read_text().splitlines() == told


def test_a_full_boot_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [])
    boot = made_by_initramfs_tools(tmp_path)
    bench.tool("df", "#!/bin/sh\necho head\necho x 1 1 99 1 /boot\n")
    (boot / "vmlinuz-6.1").touch()
    missing = bench.functions(f"{SHELL}\nrequire_room_for_initramfs {boot}")
    (boot / "initrd.img-6.1").write_bytes(bytes(100 * 1024))
    full = bench.functions(f"{SHELL}\nrequire_room_for_initramfs {boot}")
    assert (missing.returncode, full.returncode) == (4, 4)
    assert "there is no initramfs" in missing.stderr
    assert "has 99 KiB free, and an initramfs made anew beside each present one takes 121 KiB" in full.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_an_image_that_cannot_be_unpacked_is_not_put_in_place(shell: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, [])
    boot = made_by_initramfs_tools(tmp_path)
    (boot / "vmlinuz-6.1").touch()
    (boot / "initrd.img-6.1").write_text("old\n")
    bench.tool("unmkinitramfs", "#!/bin/sh\nexit 1\n")
    bench.tool("mkinitramfs", '#!/bin/sh\necho broken >"$2"\n')
    result = bench.functions(f"{SHELL}\nbegun=yes\nrenew_initramfs {boot} '' /none", shell)
    assert result.returncode == 3 and "cannot be unpacked" in result.stderr
    assert (boot / "initrd.img-6.1").read_text() == "old\n"


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("etc/initramfs-tools/update-initramfs.conf", "update_initramfs='no'\n", "says update_initramfs=no"),
        ("usr/sbin/update-initramfs", "dracut\n", "with initramfs-tools"),
    ],
)
def test_a_machine_that_makes_its_images_otherwise_is_refused(
    file: str, text: str, words: str, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, [])
    boot = made_by_initramfs_tools(tmp_path)
    (boot / "vmlinuz-6.1").touch()
    (boot / "initrd.img-6.1").write_text("old\n")
    assert bench.functions(f"{SHELL}\nrequire_room_for_initramfs {boot}").returncode == 0
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    refused = bench.functions(f"{SHELL}\nrequire_room_for_initramfs {boot}")
    assert refused.returncode == 4 and words in refused.stderr


@pytest.mark.parametrize(
    ("crypttab", "program", "words"),
    [
        (f"root UUID={UUID} none luks", True, ""),
        ("root UUID=another none luks", True, f"does not open the encryption {UUID}"),
        (f"root UUID={UUID} none luks", False, "activates no LVM volume"),
    ],
)
def test_an_image_that_does_not_find_the_root_is_not_put_in_place(
    crypttab: str, program: bool, words: str, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, [])
    boot = made_by_initramfs_tools(tmp_path)
    (boot / "vmlinuz-6.1").touch()
    (boot / "initrd.img-6.1").write_text("old\n")
    lvm = 'mkdir -p "$2/main/usr/sbin" && touch "$2/main/usr/sbin/lvm"\n' if program else ""
    bench.tool(
        "unmkinitramfs",
        f'#!/bin/sh\nmkdir -p "$2/main/cryptroot"\necho "{crypttab}" >"$2/main/cryptroot/crypttab"\n{lvm}',
    )
    bench.tool("mkinitramfs", '#!/bin/sh\necho new >"$2"\n')
    result = bench.functions(f"{SHELL}\nbegun=yes\nrenew_initramfs {boot} '' /none '{UUID}' yes")
    assert result.returncode == (3 if words else 0) and words in result.stderr, result.stderr
    assert (boot / "initrd.img-6.1").read_text() == ("old\n" if words else "new\n")
