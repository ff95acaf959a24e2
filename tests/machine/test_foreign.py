"""Arrays that no layout names: a boot before raidplan's first apply and one after it, link by link and unit by unit."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from raidplan.twin.server import Disk, Twin, install_raidplan
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import NODE
from tests.twin.service import reboot

pytestmark = [pytest.mark.machine, pytest.mark.long]

MIB = 2**20
PATIENCE = 900.0
"""Seconds for a boot beside other emulated machines."""
THEIRS = [Disk(f"f{n}", 32 * MIB, f"FOREIGN-{n}") for n in range(11)]
OURS = [Disk(f"o{n}", 256 * MIB, f"OURS-{n}") for n in range(3)]
MAKE = f"""set -e; udevadm settle
{NODE}
n() {{ for each in "$@"; do d FOREIGN-$each; done; }}
c() {{ mdadm --create "$1" --run --quiet --assume-clean $2; }}
c /dev/md/store "--homehost=nas --name=store --level=1 --metadata=1.2 --bitmap=none --raid-devices=2 $(n 0 1 | tr '\\n' ' ')"
c /dev/md/home "--homehost=twin --name=home --level=5 --metadata=1.2 --bitmap=none --raid-devices=3 $(n 2 3 4 | tr '\\n' ' ')"
c /dev/md9 "--level=1 --metadata=0.90 --raid-devices=2 $(n 5 6 | tr '\\n' ' ')"
c /dev/md/parts "--homehost=other --name=parts --level=1 --metadata=1.0 --bitmap=none --raid-devices=2 $(n 7 8 | tr '\\n' ' ')"
c /dev/md5 "--homehost=any --name=five --level=0 --chunk=64 --raid-devices=2 $(n 9 10 | tr '\\n' ' ')"
printf 'label: gpt\\nsize=10MiB\\n' | sfdisk -q /dev/md/parts
mke2fs -q -L theirs /dev/md5
echo 'LABEL=theirs /mnt ext4 nofail 0 2' >> /etc/fstab
really-mkinitramfs -o /boot/initrd.img-$(uname -r) $(uname -r)
echo 700 > /sys/block/$(basename $(readlink -f /dev/md/home))/md/stripe_cache_size
sync
"""
LAYOUT = """\
version: "1"
host: foreign
hardware: {disks: {o<0-2>: {size: 256MiB, serial: OURS-<1>}}}
arrays: {data: {level: raid5, members: [o<0-2>], stripe_cache_size: 1024, read_ahead: 4MiB, sync_speed_max: 100MB/s, initial_sync: freeze-until-reboot}}
filesystems: {data: {device: data, type: ext4, mount: /srv/data}}
monitoring: {scrub: monthly}
"""
LOOK = """
for a in /sys/block/md*/md; do
  b=${a%/md}; m=/dev/${b##*/}; MD_NAME=; eval "$(mdadm --detail --export $m | grep -E '^MD_(UUID|NAME|LEVEL)=')"
  case "$MD_NAME" in foreign:data) continue;; esac
  echo "$MD_UUID name $MD_NAME level $MD_LEVEL state $(cat $a/array_state) ro $(cat $b/ro)"
  for f in $a/stripe_cache_size $a/sync_speed_min $a/sync_speed_max $b/queue/read_ahead_kb $a/consistency_policy; do
    [ -e $f ] && echo "$MD_UUID ${f#$b/} $(cat $f)"
  done
  for l in $(udevadm info --query=symlink $m); do case $l in md/[0-9]*|disk/by-diskseq/*) ;; *) echo "$MD_UUID link $l";; esac; done
  for p in ${b}/${b##*/}p*; do [ -e $p ] && echo "$MD_UUID partition $(udevadm info --query=symlink /dev/${p##*/} | tr ' ' '\\n' | grep by-part | tr '\\n' ' ')"; done
  udevadm info --query=property $m | grep -E '^(SYSTEMD_WANTS|SYSTEMD_READY|MD_MON|UDISKS|ID_FS)' | sed "s/^/$MD_UUID /" | sed 's/md[0-9][0-9]*/mdN/g'
done | sort
ls -d /dev/md5 /dev/md5*
findmnt -no UUID,OPTIONS /mnt
for u in mdmonitor.service mdcheck_start.timer mdcheck_continue.timer mdmonitor-oneshot.timer mdadm-last-resort@.timer; do
  echo "$u $(systemctl is-enabled $u 2>&1) $(systemctl is-active $u)"; done
pgrep -a mdadm | cut -d' ' -f2-
grep -v '^#' /etc/mdadm/mdadm.conf | grep -vE 'raidplan|^ARRAY'
"""
"""What is compared after both boots. The number in /dev/mdN is left out everywhere, since udev deals it by the order in which
disks appear: four boots without raidplan gave the same array three different numbers."""
LINE = re.compile("ARRAY /dev/[^;\n]+")
"""As apply asks for them: without a line ARRAY in mdadm.conf, Debian's hook had given the first boot those of all arrays."""


@pytest.fixture(scope="module")
def boots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """What is seen after a boot without raidplan, after one with its layout, and what apply said."""
    with Twin.start(
        [*THEIRS, *OURS], directory=tmp_path_factory.mktemp("foreign"), boot_timeout=PATIENCE
    ) as twin:
        quick_initramfs(twin)
        twin.run(["sh", "-c", MAKE])
        reboot(twin, timeout=PATIENCE)
        before = twin.run(LOOK, check=False).stdout
        install_raidplan(twin)
        twin.put(LAYOUT.encode(), "/root/layout.yaml")
        first = twin.run("raidplan apply /root/layout.yaml --confirm foreign 2>&1", check=False)
        lines = LINE.findall(first.stdout)
        assert (first.returncode, len(lines)) == (4, 5), first.stdout[-3000:]
        twin.run("cat >> /etc/mdadm/mdadm.conf", stdin="".join(f"{line}\n" for line in lines).encode())
        done = twin.run("raidplan apply /root/layout.yaml --confirm foreign 2>&1", check=False)
        assert done.returncode == 0, done.stdout[-3000:]
        reboot(twin, timeout=PATIENCE)
        assert twin.run("findmnt -n /srv/data").ok
        yield before, twin.run(LOOK, check=False).stdout, done.stdout


def lines(text: str) -> set[str]:
    return {line for line in text.splitlines() if not line.startswith("mdcheck")}


def test_arrays_of_others_are_named_assembled_and_tuned_as_before(boots: tuple[str, str, str]) -> None:
    before, after, _ = boots
    assert sum(" name " in line for line in before.splitlines()) == 5, before
    assert lines(before) - lines(after) == set(), f"{before}\n---\n{after}"
    assert lines(after) - lines(before) == set()


def test_the_check_that_the_layout_asks_for_is_all_that_is_new(boots: tuple[str, str, str]) -> None:
    """mdadm has one timer for the arrays of the whole machine, and apply says so."""
    before, after, said = boots
    changed = {line for line in after.splitlines() if line.startswith("mdcheck")} - {*before.splitlines()}
    assert all(" enabled " in line for line in changed), (changed, said)
