"""The script's own way to prove an initramfs: with a stand-in for unmkinitramfs, which is a copy."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from tests.render.scripts import SHELLS, Bench

UUID = "73f3d392:1aeb5c4e:9d1260fa:8fcc4553"
SHELL = files("raidplan.render").joinpath("initramfs.sh").read_text("utf-8")
UNPACK = '#!/bin/sh\nmkdir -p "$2/main/etc/mdadm"\ncp "$1" "$2/main/etc/mdadm/mdadm.conf"\n'


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("made", "code"),
    [(f"ARRAY /dev/md/s0 UUID={UUID}", 0), (f"ARRAY x UUID={UUID}0", 3), (f"#ARRAY x UUID={UUID}", 3), ("no", 3)],
)  # fmt: skip
def test_proven_or_put_back(made: str, code: int, shell: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, [])
    boot = tmp_path / "boot"
    boot.mkdir()
    for kernel in ("6.1", "6.2"):
        (boot / f"vmlinuz-{kernel}").touch()
        (boot / f"initrd.img-{kernel}").write_text("old\n")
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
    assert len(list(boot.iterdir())) == 5 and (boot / "initrd.img-5.10").read_text() == "of no kernel\n"
    if not code:
        told = [f"--arg={kernel} --arg={boot}/initrd.img-{kernel} {hooks}" for kernel in ("6.1", "6.2")]
        assert (tmp_path / "heard").read_text().splitlines() == told


def test_a_full_boot_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [])
    boot = tmp_path / "boot"
    boot.mkdir()
    bench.tool("df", "#!/bin/sh\necho head\necho x 1 1 99 1 /boot\n")
    (boot / "vmlinuz-6.1").touch()
    missing = bench.functions(f"{SHELL}\nrequire_room_for_initramfs {boot}")
    (boot / "initrd.img-6.1").write_bytes(bytes(100 * 1024))
    full = bench.functions(f"{SHELL}\nrequire_room_for_initramfs {boot}")
    assert (missing.returncode, full.returncode) == (4, 4)
    assert "there is no initramfs" in missing.stderr
    assert "has 99 KiB free, and an initramfs made anew beside each present one takes 121 KiB" in full.stderr
