"""The rule by which arrays wait for a person, read by udev itself behind mdadm's own rule."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from raidplan.plan.step import WriteFile
from tests.compiler.small_layouts import MIRROR, steps

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(
        os.geteuid() != 0 or not shutil.which("udevadm") or not os.path.exists("/sys/class/block/loop0"),
        reason="needs root, udevadm and a block device",
    ),
]
MDADM = {
    "Debian 12": 'ACTION=="add|change", ENV{MD_STARTED}=="*unsafe*", ENV{MD_FOREIGN}=="no", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@$env{MD_DEVICE}.timer"',
    "Debian 13": 'ACTION!="remove", ENV{MD_STARTED}=="*unsafe*", ENV{MD_FOREIGN}=="no", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@$env{MD_DEVICE}.timer"',
}
"""Of 64-md-raid-assembly.rules, mdadm 4.2-5 and 4.4-11+deb13u1."""
TOLD = 'ENV{ID_FS_TYPE}="linux_raid_member", ENV{ID_FS_UUID}="%s", ENV{MD_STARTED}="unsafe", ENV{MD_FOREIGN}="no", ENV{MD_DEVICE}="md127"'
"""What blkid and `mdadm --incremental --export` tell of a member."""
TEST = """set -e
for each in /run /usr/lib/udev/rules.d /etc/udev/rules.d; do mkdir -p $each; mount -t tmpfs none $each; done
cp "$1" /usr/lib/udev/rules.d/64-md-raid-assembly.rules
cp "$2" /etc/udev/rules.d/65-raidplan-example.rules
number=$(cat /sys/class/block/loop0/dev)
mount -t tmpfs none /dev
mknod /dev/null c 1 3
mknod /dev/loop0 b ${number%:*} ${number#*:}
udevadm test --action=add /sys/class/block/loop0 2>&1
"""
"""In a mount namespace of its own: nothing of it stays."""


def wanted(rules: str, uuid: str, own: str, folder: Path) -> list[str]:
    """The units that udev asks systemd for."""
    theirs, ours = folder / "theirs", folder / "ours"
    theirs.write_text(f"{TOLD % uuid}\n{rules}\n")
    ours.write_text(own)
    words = ["unshare", "--mount", "--propagation=private", "sh", "-c", TEST, "sh", str(theirs), str(ours)]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "ID_FS_TYPE=linux_raid_member" in said, said
    lines = [line for line in said.splitlines() if line.startswith("SYSTEMD_WANTS=")]
    return lines[0].partition("=")[2].split() if lines else []


@pytest.mark.parametrize("release", MDADM)
def test_no_timer_is_wanted_for_our_array_and_all_else_stays(release: str, tmp_path: Path) -> None:
    """In the initramfs the rule is the same, and nobody is there who would heed a wish."""
    made = steps(MIRROR, "boot: {degraded: wait}", tmp_path)
    rules, created = made["config.udev"].action, made["array.s.create"].proof
    assert isinstance(rules, WriteFile) and created
    own, timer = rules.content, "mdadm-last-resort@md127.timer"
    other = "01234567-89ab-cdef-0123-456789abcdef"
    assert wanted(MDADM[release], other, own, tmp_path) == [timer], "of others it is started"
    assert wanted(MDADM[release], created.key, own, tmp_path) == []
    around = (
        f'ENV{{SYSTEMD_WANTS}}="a.service b@x.service"\n{MDADM[release]}\nENV{{SYSTEMD_WANTS}}+="c.service"'
    )
    assert wanted(around, created.key, own, tmp_path) == ["a.service", "b@x.service", "c.service"]
    start = steps(MIRROR, "", tmp_path)
    assert isinstance(start["config.udev"].action, WriteFile)
    assert wanted(MDADM[release], created.key, start["config.udev"].action.content, tmp_path) == [timer]
