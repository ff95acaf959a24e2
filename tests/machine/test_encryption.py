"""An encrypted array in a virtual server: killed in luksFormat and right after it, resumed, booted with its key file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from raidplan.twin.rehearsal import typist
from raidplan.twin.server import Disk, Recipe, Twin, install_raidplan
from raidplan.twin.server.console import PASSPHRASE
from raidplan.twin.server.ssh import Result
from tests.machine.applies import Apply
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import open_steps
from tests.machine.pausing import paused
from tests.twin.service import reboot

pytestmark = [pytest.mark.machine, pytest.mark.long]

DISKS = [
    Disk(f"{name}{leg}", 2**29, f"{host}-{leg}")
    for name, host in (("d", "LOCK"), ("e", "TYPE"))
    for leg in (0, 1)
]
KEY = "/etc/keys/data.key"
LAYOUT = f"""\
version: 1
host: lock
hardware:
  disks:
    d0: {{serial: LOCK-0, size: 512MiB, partitions: {{swap: {{size: 64MiB}}, data: {{size: rest}}}}}}
    d1: {{serial: LOCK-1, size: 512MiB, partitions: {{swap: {{size: 64MiB}}, data: {{size: rest}}}}}}
arrays:
  data: {{level: raid1, members: [d0.data, d1.data], initial_sync: assume-clean}}
  swap: {{level: raid1, members: [d0.swap, d1.swap], initial_sync: assume-clean}}
encryption:
  crypt: {{device: data, key: {{file: {KEY}}}}}
  cryptswap: {{device: swap, key: random}}
volume_groups:
  vg0: {{devices: [crypt], volumes: {{safe: {{size: 100%free}}}}}}
filesystems:
  safe: {{device: vg0.safe, type: ext4, mount: /srv/safe, options: [x-systemd.device-timeout=15min]}}
swap:
  swap: {{device: cryptswap}}
"""
LOCK = Apply("/root/lock.yaml", "lock")
SECRET = "the-key-that-must-stand-nowhere-but-in-its-file"
ELSEWHERE = f"grep -rlF -- {SECRET} /etc /var /run /root /tmp 2>/dev/null | grep -v '^{KEY}$'; dmesg | grep -F -- {SECRET}"


@dataclass(frozen=True)
class Applied:
    """An apply that was killed twice and resumed, and what could be seen in between."""

    twin: Twin
    readable: Result
    """With a key file that others may read."""
    killed: Result
    in_format: list[str]
    """The steps that the journal knows the begin of only, after the kill in luksFormat."""
    cut: list[str]
    """The same after the power went between luksFormat and the journal."""
    slots: str
    resumed: Result
    again: Result


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def applied(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Applied]:
    recipe = Recipe(request.param)
    with Twin.start(DISKS, directory=tmp_path_factory.mktemp("encryption"), recipe=recipe) as twin:
        install_raidplan(twin)
        quick_initramfs(twin)
        for name in ("killer.py", "pauser.py"):
            twin.put(Path(__file__).with_name(name), f"/root/{name}")
        twin.put(LAYOUT.encode(), LOCK.file)
        twin.run(f"umask 077; mkdir -p /etc/keys; printf %s {SECRET} >{KEY}; chmod 0644 {KEY}")
        readable = LOCK.run(twin)
        twin.run(f"chmod 0400 {KEY}")
        killer = "env KILLED_IN=cryptsetup python3 -I /root/killer.py /root/seen 1 " + " ".join(
            LOCK.words[1:]
        )
        killed = twin.run(killer, check=False, timeout=900)
        assert killed.returncode not in (0, 3, 4), killed.stderr[-3000:]
        in_format = open_steps(twin, "lock")
        header = twin.run(
            "raidplan plan --offline /root/lock.yaml --format json | python3 -c 'import json, sys; "
            'print(next(s["proof"]["key"] for s in json.load(sys.stdin)["steps"] if s["id"] == "encryption.crypt.make"))\''
        ).stdout.strip()
        with paused(twin, "lock", f"/var/lib/raidplan/lock/headers/{header}.luks"):
            twin.run("sync")
            slots = twin.run("cryptsetup luksDump /dev/md/data | grep -A2 Keyslots:").stdout
            twin.power_cut()
        twin.start_again()
        yield Applied(
            twin, readable, killed, in_format, open_steps(twin, "lock"), slots, LOCK.run(twin), LOCK.run(twin)
        )


def test_a_key_file_that_others_may_read_is_refused(applied: Applied) -> None:
    assert applied.readable.returncode == 4
    assert f"the key file {KEY} can be read by others than root (mode 0644)" in applied.readable.stderr
    assert "nothing was written" in applied.readable.stderr


def test_killed_in_luks_format_and_right_after_it_is_resumed(applied: Applied) -> None:
    assert applied.killed.returncode not in (0, 3, 4)
    assert "encryption.crypt.make" in applied.in_format
    assert "0: luks2" in applied.slots, "luksFormat had ended"
    assert "encryption.crypt.make" in applied.cut, "and the journal did not know"
    assert applied.resumed.returncode == 0, applied.resumed.stderr[-3000:]
    assert applied.again.returncode == 0 and "nothing to do" in applied.again.stderr, applied.again.stderr


def test_what_was_made_is_as_computed_and_has_a_copy_of_its_header(applied: Applied) -> None:
    twin = applied.twin
    dump = twin.run("cryptsetup luksDump /dev/md/data").stdout
    assert "offset: 16777216 [bytes]" in dump and "cipher: aes-xts-plain64" in dump
    copy = twin.run("ls /var/lib/raidplan/lock/headers/*.luks").stdout.strip()
    assert twin.run(f"stat -c %a {copy}").stdout.strip() == "600"
    twin.run(f"cryptsetup open --test-passphrase --key-file {KEY} --header {copy} /dev/md/data")
    size = int(twin.run("blockdev --getsize64 /dev/mapper/crypt").stdout)
    assert size == int(twin.run("blockdev --getsize64 /dev/md/data").stdout) - 16 * 2**20


def test_the_key_stands_nowhere_else(applied: Applied) -> None:
    found = applied.twin.run(ELSEWHERE, check=False).stdout
    assert not found


def test_the_server_boots_with_its_key_file_and_nothing_is_left_to_do(applied: Applied) -> None:
    twin = applied.twin
    twin.run("echo kept >/srv/safe/kept; sync")
    reboot(twin)
    twin.run(
        "for n in $(seq 300); do findmnt /srv/safe && swapon --show | grep -q dm- && break; sleep 1; done",
        timeout=900,
    )
    assert twin.get("/srv/safe/kept").decode() == "kept\n"
    assert twin.run("cryptsetup status cryptswap | grep -c 'type: *PLAIN'").stdout.strip() == "1"
    LOCK.nothing_to_do(twin)


def test_what_is_closed_is_not_written_over(applied: Applied) -> None:
    twin = applied.twin
    twin.run("umount /srv/safe && vgchange -an vg0 && cryptsetup close crypt")
    reasons = LOCK.refusals(twin)
    assert any("the encryption is not open" in each for each in reasons), reasons
    twin.run(
        f"cryptsetup open --key-file {KEY} /dev/md/data crypt && vgchange -ay vg0 && systemctl start srv-safe.mount"
    )
    LOCK.nothing_to_do(twin)


def test_a_damaged_header_is_reported_and_nothing_is_lost(applied: Applied) -> None:
    twin = applied.twin
    twin.run("dd if=/dev/zero of=/dev/md/data bs=512 count=1 conv=fsync status=none")
    reasons = LOCK.refusals(twin)
    assert any("cryptsetup repair" in each for each in reasons), reasons
    assert twin.get("/srv/safe/kept").decode() == "kept\n"
    twin.run("umount /srv/safe && vgchange -an vg0 && cryptsetup close crypt")
    copy = twin.run("ls /var/lib/raidplan/lock/headers/*.luks").stdout.strip()
    twin.run(f"cryptsetup luksHeaderRestore --batch-mode --header-backup-file {copy} /dev/md/data")
    twin.run(
        f"cryptsetup open --key-file {KEY} /dev/md/data crypt && vgchange -ay vg0 && systemctl start srv-safe.mount"
    )
    assert twin.get("/srv/safe/kept").decode() == "kept\n"


TYPED = """\
version: 1
host: typed
hardware: {disks: {e0: {serial: TYPE-0, size: 512MiB}, e1: {serial: TYPE-1, size: 512MiB}}}
arrays: {typed_data: {level: raid1, members: [e0, e1], initial_sync: assume-clean}}
encryption: {typed: {device: typed_data, key: ask}}
filesystems: {typed: {device: typed, type: ext4, mount: /srv/typed}}
"""
WATCHED = """\
for n in $(seq 3000); do
	cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -aF -f /root/passphrase && touch /run/leaked
	[ ! -e /run/stop ] || break
	sleep 0.2
done
"""
"""What any process has in its environment or among its arguments, as long as nobody says stop."""


def test_a_typed_passphrase_stands_nowhere(applied: Applied) -> None:
    """Not in an event, a journal, a log or another file, and in no process's environment or arguments while it is made."""
    twin = applied.twin
    twin.put(Path(typist.__file__), "/root/typist.py")
    twin.put(PASSPHRASE.encode(), str(typist.PASSPHRASE), mode=0o600)
    twin.put(TYPED.encode(), "/root/typed.yaml")
    twin.put(WATCHED.encode(), "/root/watch.sh")
    twin.run("setsid nohup sh /root/watch.sh >/dev/null 2>&1 </dev/null &")
    command = "python3 -I /root/typist.py raidplan apply /root/typed.yaml --confirm typed --events /root/typed.events"
    done = twin.run(command, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    twin.run(f"cryptsetup open --test-passphrase --key-file {typist.PASSPHRASE} /dev/md/typed_data")
    assert '"event": "ended"' in twin.run("cat /root/typed.events").stdout
    files = "grep -rlF -f /root/passphrase /etc /var /run /root /tmp /usr/local 2>/dev/null"
    assert twin.run(files, check=False).stdout.split() == [str(typist.PASSPHRASE)]
    assert not twin.run("dmesg | grep -F -f /root/passphrase", check=False).stdout
    assert not twin.run("ls /run/leaked", check=False).ok
    twin.run('env LEAKED="$(cat /root/passphrase)" sleep 3; touch /run/stop; ls /run/leaked')
