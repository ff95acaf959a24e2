"""What bare tools say of a server is the same after every apply of a layout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

import pytest

from raidplan.facts.host import HOLD
from raidplan.plan.places import DEFAULTS, FSTAB, MDADM_CONF, UDEV_RULES
from tests.kills import bare_tools

DUMP = """label: gpt
label-id: 8B1D8D0B-7C54-4F5A-9E61-0E9F5B2B7D10
device: /dev/sda
unit: sectors
first-lba: 2048
last-lba: 1048542
sector-size: 512

/dev/sda1 : start=        2048, size=      675840, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=CCD4, name="a"
/dev/sda2 : start=      677888, size=      196608, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4, uuid=1B4B, name="b"
"""
EXAMINE = """/dev/sda1:
          Magic : a92b4efc
        Version : 1.2
     Array UUID : 2eaed5f9:d0905f58:b49885c7:7e144b7e
           Name : kills:main  (local to host kills)
  Creation Time : Thu Nov 26 01:00:00 2026
     Raid Level : raid1
   Raid Devices : 2

 Avail Dev Size : 673792 sectors (329.00 MiB 344.98 MB)
    Data Offset : 2048 sectors
   Super Offset : 8 sectors
          State : clean
    Device UUID : 5b1d4c11:0e8a1b52:27a5a3a5:22a4a5f7
    Update Time : Thu Nov 26 01:00:00 2026
       Checksum : 1d2c3b4a - correct
         Events : 17
   Device Role : Active device 1
   Array State : AA ('A' == active, '.' == missing, 'R' == replacing)
"""


def test_partitions_and_the_data_of_members_have_their_places() -> None:
    rows = ["1 from 2048 on, 675840", "2 from 677888 on, 196608"]
    assert bare_tools.places(DUMP) == [
        "label: gpt",
        "first-lba: 2048",
        "last-lba: 1048542",
        "sector-size: 512",
        *rows,
    ]
    assert bare_tools.places(DUMP.replace("677888", "679936"))[-1] == "2 from 679936 on, 196608"
    seen = bare_tools.examined(EXAMINE)
    assert seen == ["Version : 1.2", "Raid Level : raid1", "Raid Devices : 2", "Avail Dev Size : 673792 sectors (329.00 MiB 344.98 MB)",
                    "Data Offset : 2048 sectors", "Super Offset : 8 sectors", "Device Role : Active device 1"]  # fmt: skip


def newc(**files: bytes) -> bytes:
    def entry(name: bytes, data: bytes) -> bytes:
        numbers = [0, 0o100644, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08x" % number for number in numbers) + name + b"\0"
        return b"".join(part + b"\0" * (-len(part) % 4) for part in (head, data))

    named = [(name.replace("_", "/").encode(), data) for name, data in files.items()]
    whole = b"".join(entry(name, data) for name, data in (*named, (b"TRAILER!!!", b"")))
    return whole + b"\0" * (-len(whole) % 512)


def test_the_whole_initramfs_counts_and_a_serial_of_the_server_does_not(tmp_path: Path) -> None:
    image, conf = tmp_path / "initrd", "etc/mdadm/mdadm.conf"

    def put(**files: bytes) -> bytes:
        return newc(**files).replace(b"etc/mdadm/mdadm/conf\0", b"etc/mdadm/mdadm.conf\0")

    image.write_bytes(put(etc_mdadm_mdadm_conf=b"ARRAY K-0\n") + b"\x02!L\x18rest")
    first = bare_tools.in_initramfs(str(image), "K")
    assert [line.split()[0] for line in first] == [conf, "1"]
    image.write_bytes(put(etc_mdadm_mdadm_conf=b"ARRAY P7-0\n") + b"\x02!L\x18rest")
    assert bare_tools.in_initramfs(str(image), "P7") == first
    image.write_bytes(put(etc_mdadm_mdadm_conf=b"ARRAY K-0\n") + b"\x02!L\x18lost")
    assert [a == b for a, b in zip(bare_tools.in_initramfs(str(image), "K"), first, strict=True)] == [
        True,
        False,
    ]


def test_an_initramfs_that_is_packed_as_a_whole_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, made = tmp_path / "initrd", {"etc/mdadm/mdadm.conf": b"ARRAY P7-0\n", "usr/bin/mdadm": b"1"}
    image.write_bytes(b"\x02!L\x18packed")

    def unpack(line: str) -> str:
        for name, data in made.items():
            file = Path(line.split()[2]) / name
            file.parent.mkdir(parents=True)
            file.write_bytes(data)
        return "" if made else "unmkinitramfs: no"

    monkeypatch.setattr(bare_tools, "sh", unpack)
    seen = bare_tools.in_initramfs(str(image), "P7")
    assert seen == bare_tools.listed({**made, "etc/mdadm/mdadm.conf": b"ARRAY K-0\n"}, b"", "K")
    made["usr/bin/mdadm"] = b"2"
    assert bare_tools.in_initramfs(str(image), "P7") != seen
    made.clear()
    assert bare_tools.in_initramfs(str(image), "P7")[0] == "no mdadm.conf (unmkinitramfs: no)"


def test_what_its_own_tool_unpacks_counts_but_for_what_ldconfig_and_lvm_draw() -> None:
    drawn = {
        "var/cache/ldconfig/aux-cache": b"1",
        "etc/lvm/backup/kv": b"1",
        "etc/lvm/archive/kv_00000-17.vg": b"1",
    }
    first = bare_tools.listed(
        {"etc/fstab": b"K-1", "etc/lvm/lvm.conf": b"", "usr/bin/sh": b"a"} | drawn, b"", "K"
    )
    again = {
        "var/cache/ldconfig/aux-cache": b"2",
        "etc/lvm/backup/kv": b"2",
        "etc/lvm/archive/kv_00000-4.vg": b"2",
        "etc/lvm/archive/kv_00001-5.vg": b"3",
    }
    same = {"etc/fstab": b"Q-1", "etc/lvm/lvm.conf": b"", "usr/bin/sh": b"a"} | again
    assert bare_tools.listed(same, b"", "Q") == first
    for name in ("etc/fstab", "etc/lvm/lvm.conf", "usr/bin/sh"):
        assert bare_tools.listed({**same, name: b"other"}, b"", "Q") != first


@contextmanager
def array(folder: Path, **more: str) -> Iterator[Path]:
    values = {
        "sync_action": "idle",
        "resync_start": "none",
        "degraded": "0",
        "mismatch_cnt": "0",
        "sync_completed": f"{bare_tools.FIRST} / 673792",
    }
    for key, text in {**values, **more}.items():
        (folder / key).write_text(f"{text}\n")
    yield folder


@pytest.mark.parametrize(("more", "found", "asked"), [
    ({}, [], True),
    ({"mismatch_cnt": "128"}, ["main: 128 sectors differ"], True),
    ({"mismatch_cnt": "128", "sync_action": "frozen"}, [], False),
    ({"mismatch_cnt": "128", "resync_start": "2048"}, [], False),
    ({"mismatch_cnt": "128", "degraded": "1"}, [], False),
])  # fmt: skip
def test_copies_and_parity_of_what_is_in_sync_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, str], found: list[str], asked: bool
) -> None:
    written, write = [], Path.write_text
    with array(tmp_path, **more) as folder:
        monkeypatch.setattr(
            Path, "write_text", lambda file, text: written.append((file.name, text)) or write(file, text)
        )
        assert bare_tools.mismatched("main", str(folder)) == found
    first = [("sync_min", "0"), ("sync_max", str(bare_tools.FIRST)), ("sync_action", "check")]
    assert written == ([*first, ("sync_action", "idle"), ("sync_max", "max")] if asked else [])


def test_all_that_an_apply_configures_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the rule that holds off udev, which is to be gone."""
    there = (*(each.format(host="kills") for each in (FSTAB, MDADM_CONF, DEFAULTS, UDEV_RULES)), HOLD)
    monkeypatch.setattr(
        bare_tools.glob, "glob", lambda pattern: [each for each in there if fnmatch(each, pattern)]
    )
    assert {*bare_tools.configured()} == {*there}


def test_an_array_of_a_decoy_that_a_boot_started_is_no_trace_of_an_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = []
    for link, kernel in (("top", "md126"), ("lab:foreign", "md127")):
        (tmp_path / kernel).touch()
        (tmp_path / link).symlink_to(tmp_path / kernel)
        links.append(str(tmp_path / link))
    monkeypatch.setattr(bare_tools.glob, "glob", lambda pattern: links)
    assert bare_tools.arrays_of_others() == {"md127"}
