"""The machine from outside, against the layout alone: what the kernel, udev and systemd say of it over SSH.

Run by the Vagrantfile after `up` and `reload`, or by hand:

    RAIDPLAN_LAYOUT=… RAIDPLAN_SSH_CONFIG=… python -m pytest vagrant/test_machine.py

The SSH configuration names the machine `machine`. Nothing of raidplan runs in it, and no plan is read: names,
levels, chunks, members in slot order, what is mounted and what is swapped to come from the layout.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import testinfra  # type: ignore[import-untyped]
from testinfra.host import Host  # type: ignore[import-untyped]

from raidplan.layout.kinds.device import Use
from raidplan.layout.model import Layout
from raidplan.review import pipeline
from raidplan.topology import Topology

LAYOUT = os.environ.get("RAIDPLAN_LAYOUT", "")
SSH_CONFIG = os.environ.get("RAIDPLAN_SSH_CONFIG", "")
PROVIDER = os.environ.get("RAIDPLAN_PROVIDER", "libvirt")

pytestmark = pytest.mark.skipif(
    not (LAYOUT and SSH_CONFIG), reason="RAIDPLAN_LAYOUT and RAIDPLAN_SSH_CONFIG name a machine"
)


@cache
def _topology() -> Topology | None:
    return pipeline.load(LAYOUT).topology if LAYOUT else None


def _layout() -> Layout:
    topology = _topology()
    assert topology is not None, f"{LAYOUT} cannot be read; raidplan check says why"
    return topology.layout


def _names(section: str) -> list[str]:
    topology = _topology()
    if topology is None:
        return []
    return list(topology.layout.hardware.disks if section == "disks" else getattr(topology.layout, section))


def _mounted() -> list[str]:
    return [name for name in _names("filesystems") if _layout().filesystems[name].mount]


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """The machine, as root, over one connection for all tests: emulation takes seconds for each login."""
    with tempfile.TemporaryDirectory(prefix="ssh-") as folder:
        options = ["-F", SSH_CONFIG, "-o", f"ControlPath={folder}/socket"]
        yield testinfra.get_host(
            "ssh://machine", ssh_config=SSH_CONFIG, sudo=True, timeout=60, controlpath=f"{folder}/socket"
        )
        subprocess.run(["ssh", *options, "-O", "exit", "machine"], capture_output=True)


@dataclass(frozen=True, slots=True)
class Block:
    """A block device as lsblk tells it, with the serial number of the disk it is on."""

    path: str
    kind: str
    serial: str
    entry: dict[str, Any]


@pytest.fixture(scope="module")
def blocks(host: Host) -> dict[str, Block]:
    """By kernel name: sda1, md127."""
    columns = "NAME,KNAME,PATH,TYPE,SERIAL,SIZE,LOG-SEC,PHY-SEC,ROTA,WWN,FSTYPE,LABEL"
    told = json.loads(host.check_output(f"lsblk --json --bytes --output {columns}"))
    return {block.entry["kname"]: block for entry in told["blockdevices"] for block in _flat(entry, "")}


def _flat(entry: dict[str, Any], serial: str) -> Iterator[Block]:
    own = (entry["serial"] or "").strip()
    yield Block(entry["path"], entry["type"], own or serial, entry)
    for child in entry.get("children", ()):
        yield from _flat(child, own or serial)


def _md(host: Host, name: str) -> str:
    """The kernel's name of an array, by the name it has in its superblock."""
    return _kernel_name(host, f"/dev/md/{name}")


def _kernel_name(host: Host, path: str) -> str:
    return str(host.check_output(f"readlink -f {path}")).rpartition("/")[2]


def _attribute(host: Host, md: str, attribute: str) -> str:
    return str(host.check_output(f"cat /sys/block/{md}/md/{attribute}")).strip()


def _slots(host: Host, md: str) -> list[str]:
    """The members' kernel names in slot order; `` for a slot without one."""
    count = int(_attribute(host, md, "raid_disks").split()[0])
    listed = host.check_output(f"for i in /sys/block/{md}/md/rd*; do echo $i $(readlink $i); done")
    found = {m[1]: m[2] for m in re.finditer(r"/rd(\d+) dev-(\S+)$", listed, re.MULTILINE)}
    return [found.get(str(slot), "") for slot in range(count)]


def _expected(name: str, host: Host) -> str:
    """A device as the machine ought to show it: `serial`, `serial/partition number`, or the kernel name of what stands on others."""
    topology = _topology()
    assert topology is not None
    use = topology.used_by[name]
    device = topology.taken(use)
    if device.kind == "array":
        return _md(host, device.name)
    if device.kind == "volume":
        return _kernel_name(host, f"/dev/{device.name.replace('.', '/', 1)}")
    if device.kind == "mapping":
        return _kernel_name(host, f"/dev/mapper/{device.name}")
    (disk,) = topology.disks_below(use.device)
    serial = topology.layout.hardware.disks[disk].serial or disk
    return f"{serial}/{_number(disk, device.name, use)}" if device.kind == "partition" else serial


def _number(disk: str, partition: str, use: Use) -> int:
    """Partitions are numbered as the layout lists them; the one made for a bare disk is the first."""
    listed = list(_layout().hardware.disks[disk].partitions)
    return 1 if use.device == disk else listed.index(partition.removeprefix(f"{disk}.")) + 1


def _seen(kernel_name: str, blocks: dict[str, Block]) -> str:
    """The same form, from what lsblk tells."""
    if kernel_name not in blocks:
        return f"missing: {kernel_name or 'no device in this slot'}"
    block = blocks[kernel_name]
    match = re.search(r"(\d+)$", kernel_name) if block.kind == "part" else None
    if kernel_name.startswith(("md", "dm-")):
        return kernel_name
    return f"{block.serial}/{match[1]}" if match else block.serial


@pytest.mark.parametrize("name", _names("disks"))
def test_a_disk_has_its_serial_number_and_size(name: str, blocks: dict[str, Block]) -> None:
    disk = _layout().hardware.disks[name]
    fitting = [b for b in blocks.values() if b.kind == "disk" and b.serial == (disk.serial or name)]
    serial = disk.serial or name
    assert fitting, f"disk {name} is not there: no device has the serial number {serial}"
    assert len(fitting) == 1, f"disk {name}: {len(fitting)} devices have the serial number {serial}"
    assert fitting[0].entry["size"] == (disk.size or 0) // 512 * 512
    if disk.logical_block:
        assert fitting[0].entry["log-sec"] == disk.logical_block
    if PROVIDER == "libvirt":  # VirtualBox has sectors of 512 bytes, and no WWN
        physical = disk.physical_block or disk.logical_block or 512
        assert fitting[0].entry["phy-sec"] == physical
        assert not disk.wwn or fitting[0].entry["wwn"] == disk.wwn
    assert fitting[0].entry["rota"] == (disk.rotational is not False)


@pytest.mark.parametrize("name", [name for name in _names("disks") if _layout().hardware.disks[name].model])
def test_a_disk_has_its_model(name: str, host: Host, blocks: dict[str, Block]) -> None:
    disk = _layout().hardware.disks[name]
    path = next(b.path for b in blocks.values() if b.kind == "disk" and b.serial == (disk.serial or name))
    assert host.check_output(f"lsblk --nodeps --noheadings --output MODEL {path}").strip() == disk.model


@pytest.mark.parametrize("name", _names("arrays"))
def test_an_array_has_its_name(name: str, host: Host) -> None:
    assert re.fullmatch(r"md\d+", _md(host, name)), "there is its link, to a number"


@pytest.mark.parametrize("name", _names("arrays"))
def test_an_array_has_its_level_and_chunk(name: str, host: Host) -> None:
    array, md = _layout().arrays[name], _md(host, name)
    assert _attribute(host, md, "level") == array.level
    assert int(_attribute(host, md, "chunk_size")) == (array.effective_chunk or 0)
    if array.metadata != "1.2":
        assert _attribute(host, md, "metadata_version") == array.metadata
    if array.policy:
        assert _attribute(host, md, "consistency_policy") == array.policy


@pytest.mark.parametrize("name", _names("arrays"))
def test_an_array_has_its_members_in_slot_order(name: str, host: Host, blocks: dict[str, Block]) -> None:
    array, md = _layout().arrays[name], _md(host, name)
    seen = [_seen(member, blocks) for member in _slots(host, md)]
    expected = [_expected(member, host) for member in array.named_members]
    pairs = zip(array.named_members, expected, seen, strict=False)
    wrong = [f"{member} ({serial}): {found}" for member, serial, found in pairs if serial != found]
    assert not wrong, f"array {name} has other members than the layout: {'; '.join(wrong)}"
    assert len(seen) == len(expected)


@pytest.mark.parametrize("name", _names("arrays"))
def test_an_array_is_whole_and_writable(name: str, host: Host) -> None:
    md = _md(host, name)
    assert _attribute(host, md, "array_state") in {
        "clean",
        "active",
        "write-pending",
        "active-idle",
        "read-auto",
    }
    if _layout().arrays[name].policy:
        assert int(_attribute(host, md, "degraded")) == 0, f"array {name} is degraded"


@pytest.mark.parametrize("name", _names("arrays"))
def test_an_array_is_tuned(name: str, host: Host) -> None:
    array, md = _layout().arrays[name], _md(host, name)
    if array.stripe_cache_size:
        assert int(_attribute(host, md, "stripe_cache_size")) == array.stripe_cache_size
    if array.group_thread_count is not None:
        assert int(_attribute(host, md, "group_thread_cnt")) == array.group_thread_count
    if array.read_ahead:
        shown = int(host.check_output(f"cat /sys/block/{md}/queue/read_ahead_kb"))
        assert shown * 1024 == array.read_ahead
    for key in ("sync_speed_min", "sync_speed_max"):
        if rate := getattr(array, key):
            assert int(_attribute(host, md, key).split()[0]) == rate // 1024


@pytest.mark.parametrize("name", _names("volume_groups"))
def test_a_volume_group_has_its_volumes(name: str, host: Host) -> None:
    listed = host.check_output(f"lvs --noheadings --options lv_name {name}").split()
    assert sorted(listed) == sorted(_layout().volume_groups[name].volumes)


@pytest.mark.parametrize("name", _mounted())
def test_a_file_system_is_mounted(name: str, host: Host, blocks: dict[str, Block]) -> None:
    filesystem = _layout().filesystems[name]
    mount = host.mount_point(filesystem.mount or "")
    assert mount.exists
    assert mount.filesystem == filesystem.type
    kernel_name = _kernel_name(host, mount.device)
    assert _is(kernel_name, filesystem.device, host, blocks)
    assert (blocks[kernel_name].entry["label"] or "") == (filesystem.label or "")


@pytest.mark.parametrize("name", _mounted())
def test_a_file_system_takes_a_file(name: str, host: Host) -> None:
    path = f"{_layout().filesystems[name].mount}/raidplan-was-here"
    host.check_output(f"echo {name} > {path} && sync {path}")
    assert host.file(path).content_string == f"{name}\n"


@pytest.mark.parametrize("name", _names("swap"))
def test_swap_is_on(name: str, host: Host, blocks: dict[str, Block]) -> None:
    swap = _layout().swap[name]
    told = host.check_output("swapon --show=NAME,PRIO --noheadings --raw")
    areas = {line.split()[0]: int(line.split()[1]) for line in told.splitlines()}
    if swap.file:
        fitting = [path for path in areas if path == swap.file]
    else:
        kernel_names = {path: _kernel_name(host, path) for path in areas}
        fitting = [
            path for path, kernel in kernel_names.items() if _is(kernel, swap.device or "", host, blocks)
        ]
    assert len(fitting) == 1, f"swapon shows {areas}"
    if swap.priority is not None:
        assert areas[fitting[0]] == swap.priority


def _is(kernel_name: str, name: str, host: Host, blocks: dict[str, Block]) -> bool:
    """Whether a kernel's device is the one that the layout calls `name`."""
    return _seen(kernel_name, blocks) == _expected(name, host)


def test_no_other_array_is_there(host: Host) -> None:
    known = {_md(host, name) for name in _names("arrays")}
    assert set(re.findall(r"^(md\S+) :", host.file("/proc/mdstat").content_string, re.MULTILINE)) == known


def test_what_lasts_is_written_down(host: Host) -> None:
    arrays = re.findall(r"^ARRAY \S*?([^/:\s]+) ", host.file("/etc/mdadm/mdadm.conf").content_string, re.M)
    assert sorted(arrays) == sorted(_names("arrays"))
    fstab = [
        line.split()
        for line in host.file("/etc/fstab").content_string.splitlines()
        if line.strip() and not line.startswith("#")
    ]
    for name in _mounted():
        assert [line[2] for line in fstab if line[1] == _layout().filesystems[name].mount] == [
            _layout().filesystems[name].type
        ]
    assert sum(line[2] == "swap" for line in fstab) == len(_names("swap"))


@pytest.mark.parametrize("name", _names("encryption"))
def test_what_is_encrypted_is_opened_at_the_next_start(name: str, host: Host) -> None:
    assert _kernel_name(host, f"/dev/mapper/{name}").startswith("dm-"), "it is open"
    lines = [line.split() for line in host.file("/etc/crypttab").content_string.splitlines()]
    lasting = [line for line in lines if line and line[0] == name]
    assert len(lasting) == 1, f"crypttab: {lasting}"
    expected = _layout().encryption[name]
    assert lasting[0][2] == (expected.key_file or "/dev/urandom")


def test_no_unit_failed(host: Host) -> None:
    assert host.check_output("systemctl list-units --failed --plain --no-legend --no-pager") == ""
