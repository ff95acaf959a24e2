"""What QEMU is told for a machine: one SCSI host per controller, one throttle group per shared link."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from raidplan.twin.server import Disk, Link
from raidplan.twin.server.hardware import VirtualMachine, check
from tests.twin.objects import arguments, objects

GB = 10**9 // 4096 * 4096


def devices(machine: VirtualMachine, driver: str) -> list[dict[str, Any]]:
    return [device for device in objects(machine, "device") if device["driver"] == driver]


def test_each_controller_is_a_scsi_host_in_the_order_of_its_first_disk() -> None:
    machine = VirtualMachine(
        (Disk("a", GB, behind="pm1"), Disk("b", GB, behind="pm0"), Disk("c", GB, behind="pm1"))
    )
    assert [host["id"] for host in devices(machine, "virtio-scsi-pci")] == ["scsi0", "scsi1"]
    places = [(disk["id"], disk["bus"], disk["scsi-id"]) for disk in devices(machine, "scsi-hd")]
    assert places == [("disk-a", "scsi0.0", 0), ("disk-b", "scsi1.0", 0), ("disk-c", "scsi0.0", 1)]


def test_for_uefi_each_disk_has_a_scsi_host_of_its_own() -> None:
    """OVMF finds the first disk of a host alone, so a machine with other hosts could not start from its second disk."""
    machine = VirtualMachine(
        (Disk("a", GB, behind="pm1"), Disk("b", GB), Disk("c", GB, behind="pm1")), firmware="uefi"
    )
    assert len(devices(machine, "virtio-scsi-pci")) == 3
    places = [(disk["bus"], disk["scsi-id"]) for disk in devices(machine, "scsi-hd")]
    assert places == [("scsi0.0", 0), ("scsi1.0", 0), ("scsi2.0", 0)]


def test_64_controllers_have_64_addresses() -> None:
    machine = VirtualMachine(tuple(Disk(f"d{n}", GB, behind=f"c{n}") for n in range(64)))
    addresses = [host["addr"] for host in devices(machine, "virtio-scsi-pci")]
    assert len(set(addresses)) == 64
    assert addresses[:2] == ["6.0", "6.1"]
    assert addresses[63] == "d.7"


def test_a_disk_carries_its_identity() -> None:
    wwn, serial = "0x5000c500a0000001", "WD-WCAV51234567"
    (disk,) = devices(VirtualMachine((Disk("a", GB, serial, wwn, "ST3000DM001"),)), "scsi-hd")
    assert (disk["serial"], disk["wwn"], disk["product"]) == (serial, int(wwn, 16), "ST3000DM001")


def test_what_is_not_given_is_left_to_qemu() -> None:
    (disk,) = devices(VirtualMachine((Disk("a", GB),)), "scsi-hd")
    assert not {"serial", "wwn", "product"} & set(disk)


@pytest.mark.parametrize(("rotational", "rate", "trims"), [(True, 7200, False), (False, 1, True)])
def test_only_a_solid_state_disk_offers_trim(rotational: bool, rate: int, trims: bool) -> None:
    (disk,) = devices(VirtualMachine((Disk("a", GB, rotational=rotational),)), "scsi-hd")
    assert disk["rotation_rate"] == rate
    assert (disk.get("discard_granularity") != 0) is trims


def test_a_link_is_one_group_with_one_node_for_each_disk() -> None:
    disks = (Disk("a", GB, behind="pm0"), Disk("b", GB, behind="pm0"), Disk("c", GB, behind="pm1"))
    machine = VirtualMachine(disks, (Link("pm0", 250_000_000),))
    (group,) = objects(machine, "object")
    assert (group["id"], group["x-bps-total"]) == ("link0", 250_000_000)
    nodes = [(node["driver"], node.get("throttle-group")) for node in objects(machine, "blockdev")[1:]]
    assert nodes == [
        *[("file", None), ("throttle", "link0")] * 2,
        ("file", None),
    ]
    assert [disk["drive"] for disk in devices(machine, "scsi-hd")] == ["n0t1", "n1t1", "n2"]


def test_a_disk_passes_every_limit_between_it_and_the_machine() -> None:
    links = (Link("slot", 500), Link("pm0", 300, behind="slot"))
    machine = VirtualMachine((Disk("a", GB, behind="pm0", limit_bytes_per_second=150),), links)
    nodes = objects(machine, "blockdev")[1:]
    assert [node.get("throttle-group") for node in nodes] == [None, "link0", "link1", "limit0"]
    assert [node.get("file") for node in nodes] == [None, "n0", "n0t1", "n0t2"]
    assert [node.get("detect-zeroes") for node in nodes] == [None, None, None, "unmap"]


def test_a_disk_that_was_pulled_out_keeps_its_place_free() -> None:
    disks = (Disk("a", GB), Disk("b", GB))
    (left,) = devices(VirtualMachine(disks, unplugged=frozenset({"a"})), "scsi-hd")
    assert (left["id"], left["scsi-id"]) == ("disk-b", 1)


def test_cache_modes() -> None:
    (disk,) = devices(VirtualMachine((Disk("a", GB),), cache="writethrough"), "scsi-hd")
    assert disk["write-cache"] == "off"
    node = objects(VirtualMachine((Disk("a", GB),), cache="none"), "blockdev")[1]
    assert node["cache"] == {"direct": True, "no-flush": False}
    with pytest.raises(ValueError, match="possible are unsafe"):
        arguments(VirtualMachine((), cache="fast"))


def test_a_comma_in_a_path_is_escaped() -> None:
    words = arguments(VirtualMachine(()), Path("/run/a,b"))
    assert any(
        "path=/run/a,,b/console,server" in each and "file=/run/a,,b/console.log," in each for each in words
    )


@pytest.mark.parametrize("limit", [None, 1000])
def test_a_disk_that_halts_the_machine_counts_its_writes(limit: int | None) -> None:
    told = arguments(VirtualMachine((Disk("a", GB, halts_at_write=3, limit_bytes_per_second=limit),)))
    nodes = [json.loads(word) for flag, word in itertools.pairwise(told) if flag == "-blockdev"]
    counting = next(node for node in nodes if node["driver"] == "blkdebug")
    steps = {(rule["event"], rule["state"], rule["new_state"]) for rule in counting["set-state"]}
    assert steps == {(event, state, state + 1) for event in ("pwritev", "pwritev_zero") for state in (1, 2)}
    assert {(rule["event"], rule["state"]) for rule in counting["inject-error"]} == {
        ("pwritev", 3),
        ("pwritev_zero", 3),
    }
    at_once = next(
        node
        for node in objects(VirtualMachine((Disk("a", GB, halts_at_write=1),)), "blockdev")
        if node["driver"] == "blkdebug"
    )
    assert "set-state" not in at_once  # QEMU takes no empty list
    device = next(json.loads(word) for word in told if '"disk-a"' in word)
    assert device["werror"] == "stop"
    below = {node["node-name"]: node.get("file", node.get("image")) for node in nodes}
    assert counting["node-name"] in (device["drive"], below[device["drive"]])


@pytest.mark.parametrize(("disk", "top"), [(Disk("a", GB, keeps_log=True), "n0l"), (Disk("a", GB, keeps_log=True, halts_at_write=3), "n0lw")])  # fmt: skip
def test_a_log_is_kept_below_what_halts_and_gets_every_flush(disk: Disk, top: str) -> None:
    machine = VirtualMachine((disk,))
    nodes = {node["node-name"]: node for node in objects(machine, "blockdev")}
    (device,) = devices(machine, "scsi-hd")
    assert device["drive"] == top and nodes["n0l"]["file"] == "n0"
    assert nodes["n0l"]["log"]["filename"] == "/run/t/a.log"
    assert not nodes["n0l"]["cache"]["no-flush"] and nodes["n0"]["cache"]["no-flush"]


def test_the_guest_reaches_the_network_only_when_asked() -> None:
    assert any("restrict=on" in word for word in arguments(VirtualMachine(())))
    assert any("restrict=off" in word for word in arguments(VirtualMachine((), online=True)))


@pytest.mark.parametrize(
    ("disk", "words"),
    [
        (Disk("-a", GB), "a name is"),
        (Disk("a/b", GB), "a name is"),
        (Disk("a", GB, serial="S" * 37), "SCSI carries 36"),
        (Disk("a", GB, serial="two  spaces"), "single spaces"),
        (Disk("a", GB, wwn="0x5000C500A0000001"), "small letters"),
        (Disk("a", GB, wwn="5000c500a0000001"), "16 hexadecimal"),
        (Disk("a", GB, wwn="0x0000000000000000"), "not all 0"),
        (Disk("a", GB, model="ST3000DM001-1ER166"), "SCSI carries 16"),
        (Disk("a", GB, model=" ST"), "single spaces"),
        (Disk("a", 1000), "no whole number"),
        (Disk("a", 0), "no whole number"),
        (Disk("a", GB + 512, logical_block=4096, physical_block=4096), "no whole number"),
        (Disk("a", GB, logical_block=4096), "smaller than the logical"),
        (Disk("a", GB, logical_block=520), "possible are"),
        (Disk("a", GB, limit_bytes_per_second=0), "no rate"),
        (Disk("a", GB, halts_at_write=0), "counted from 1"),
    ],
)
def test_what_the_machine_cannot_show_is_refused(disk: Disk, words: str) -> None:
    with pytest.raises(ValueError, match=words) as refusal:
        check([disk])
    assert disk.name in str(refusal.value)


def test_two_of_one_name_and_circles_are_refused() -> None:
    with pytest.raises(ValueError, match="2 disks are named a"):
        check([Disk("a", GB), Disk("a", GB)])
    with pytest.raises(ValueError, match="hangs on itself"):
        check([Disk("a", GB, behind="x")], [Link("x", 1, behind="y"), Link("y", 1, behind="x")])
    with pytest.raises(ValueError, match="255"):
        check([Disk(f"d{n}", GB) for n in range(256)])


def test_uefi_firmware_has_its_variables_and_the_order_of_disks_in_them() -> None:
    disk = Disk("d0", 2**30)
    for firmware in ("uefi", "secure"):
        words = arguments(VirtualMachine((disk,), boots_itself=True, firmware=firmware), Path("/run/t"))
        flash = [word for word in words if word.startswith("if=pflash")]
        assert len(flash) == 2 and "readonly=on" in flash[0] and flash[1].endswith("file=/run/t/variables.fd")
        assert not any("bootindex" in word for word in words)
        assert any("smm=on" in word for word in words) == (firmware == "secure")
    assert any("bootindex" in word for word in arguments(VirtualMachine((disk,), boots_itself=True)))


def test_the_root_disk_is_logged_only_where_it_is_asked_for() -> None:
    """Else each write of a guest would be written twice; the flushes of the guest reach the log."""
    for logs, top in ((False, "root"), (True, "rootl")):
        machine = VirtualMachine((), root_keeps_log=logs)
        (device,) = devices(machine, "virtio-blk-pci")
        nodes = {node["node-name"]: node for node in objects(machine, "blockdev")}
        assert device["drive"] == top and ("rootl" in nodes) == logs
    assert (nodes["rootl"]["file"], nodes["rootl"]["log"]["filename"]) == ("root", "/run/t/root.log")
    assert not nodes["rootl"]["cache"]["no-flush"]
