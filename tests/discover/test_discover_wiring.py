"""Controllers found in device trees made like those of real machines."""

from pathlib import Path

import pytest

from raidplan.discover.wiring import Wire, read_wires

PCI = "devices/pci0000:00"
TREES = {
    "ahci": (f"{PCI}/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0", "sda", {f"{PCI}/0000:00:1f.2": "ahci"},
             Wire("pci-0000:00:1f.2", "ahci", "ata3/host2/target2:0:0/2:0:0:0/sda")),
    "multiplier": (f"{PCI}/0000:00:1c.0/0000:03:00.0/ata7/host6/target6:4:0/6:4:0:0", "sdk",
                   {f"{PCI}/0000:00:1c.0": "pcieport", f"{PCI}/0000:00:1c.0/0000:03:00.0": "sata_sil24"},
                   Wire("pci-0000:03:00.0", "sata_sil24", "ata7/host6/target6:4:0/6:4:0:0/sdk")),
    "sas expander": (f"{PCI}/0000:00:02.2/0000:05:00.0/host0/port-0:0/expander-0:0/port-0:0:11/end_device-0:0:11/target0:0:11/0:0:11:0",
                     "sdl", {f"{PCI}/0000:00:02.2/0000:05:00.0": "mpt3sas"},
                     Wire("pci-0000:05:00.0", "mpt3sas", "host0/port-0:0/expander-0:0/port-0:0:11/end_device-0:0:11/target0:0:11/0:0:11:0/sdl")),
    "nvme": (f"{PCI}/0000:00:1d.0/0000:01:00.0/nvme/nvme0", "nvme0n1", {f"{PCI}/0000:00:1d.0/0000:01:00.0": "nvme"},
             Wire("pci-0000:01:00.0", "nvme", "nvme/nvme0/nvme0n1")),
    "vmd": ("devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0/10000:e1:00.0/nvme/nvme1", "nvme1n1",
            {"devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0/10000:e1:00.0": "nvme"},
            Wire("pci-10000:e1:00.0", "nvme", "nvme/nvme1/nvme1n1")),
    "virtio-scsi": (f"{PCI}/0000:00:04.0/virtio1/host2/target2:0:3/2:0:3:0", "sdd",
                    {f"{PCI}/0000:00:04.0": "virtio-pci", f"{PCI}/0000:00:04.0/virtio1": "virtio_scsi"},
                    Wire("pci-0000:00:04.0", "virtio_scsi", "virtio1/host2/target2:0:3/2:0:3:0/sdd")),
    "virtio-blk": (f"{PCI}/0000:00:05.0/virtio2", "vdb",
                   {f"{PCI}/0000:00:05.0": "virtio-pci", f"{PCI}/0000:00:05.0/virtio2": "virtio_blk"},
                   Wire("pci-0000:00:05.0", "virtio_blk", "virtio2/vdb")),
    "virtio-mmio": ("devices/platform/a003e00.virtio_mmio/virtio0", "vda",
                    {"devices/platform/a003e00.virtio_mmio": "virtio-mmio", "devices/platform/a003e00.virtio_mmio/virtio0": "virtio_blk"},
                    Wire("platform-a003e00.virtio_mmio", "virtio_blk", "virtio0/vda")),
    "usb": (f"{PCI}/0000:00:14.0/usb2/2-1/2-1:1.0/host7/target7:0:0/7:0:0:0", "sde", {f"{PCI}/0000:00:14.0": "xhci_hcd"},
            Wire("pci-0000:00:14.0", "xhci_hcd", "usb2/2-1/2-1:1.0/host7/target7:0:0/7:0:0:0/sde")),
    "sata of an arm board": ("devices/platform/soc/fc400000.sata/ata1/host0/target0:0:0/0:0:0:0", "sda",
                             {"devices/platform/soc/fc400000.sata": "ahci-dwc"},
                             Wire("platform-fc400000.sata", "ahci-dwc", "ata1/host0/target0:0:0/0:0:0:0/sda")),
    "pci of an arm board": ("devices/platform/soc/fd500000.pcie/pci0000:00/0000:00:00.0/0000:01:00.0/ata1/host0/target0:0:0/0:0:0:0",
                            "sdb", {}, Wire("pci-0000:01:00.0", "", "ata1/host0/target0:0:0/0:0:0:0/sdb")),
    "mmc": (f"{PCI}/0000:00:1a.0/mmc_host/mmc0/mmc0:0001", "mmcblk0", {f"{PCI}/0000:00:1a.0": "sdhci-pci"},
            Wire("pci-0000:00:1a.0", "sdhci-pci", "mmc_host/mmc0/mmc0:0001/mmcblk0")),
    "smart array": (f"{PCI}/0000:00:03.0/0000:04:00.0/cciss0/c0d0", "cciss/c0d0", {f"{PCI}/0000:00:03.0/0000:04:00.0": "cciss"},
                    Wire("pci-0000:04:00.0", "cciss", "cciss0/c0d0/cciss/c0d0")),
    "iscsi": ("devices/platform/host3/session1/target3:0:0/3:0:0:0", "sdz", {}, Wire()),
    "xen": ("devices/vbd-51712", "xvda", {}, Wire()),
    "scsi_debug": ("devices/pseudo_0/adapter0/host4/target4:0:0/4:0:0:0", "sdy", {}, Wire()),
}  # fmt: skip


def plant(sysfs: Path, device: str, name: str, drivers: dict[str, str]) -> None:
    """A disk in a fake sysfs, with the links that the kernel makes."""
    entry = name.replace("/", "!")
    block = sysfs / device / "block" / entry
    block.mkdir(parents=True)
    (block / "device").symlink_to(sysfs / device)
    (sysfs / "block").mkdir(exist_ok=True)
    (sysfs / "block" / entry).symlink_to(block)
    for path, driver in drivers.items():
        (sysfs / "bus/drivers" / driver).mkdir(parents=True, exist_ok=True)
        if not (sysfs / path / "driver").exists():
            (sysfs / path / "driver").symlink_to(sysfs / "bus/drivers" / driver)


@pytest.mark.parametrize("tree", TREES)
def test_one_disk(tmp_path, tree):
    device, name, drivers, wire = TREES[tree]
    plant(tmp_path, device, name, drivers)
    assert read_wires([name], tmp_path) == {name: wire}


def test_nvme_with_native_multipath(tmp_path):
    controller = tmp_path / PCI / "0000:00:1d.0/0000:01:00.0/nvme/nvme0"
    controller.mkdir(parents=True)
    (tmp_path / "bus/drivers/nvme").mkdir(parents=True)
    (controller.parents[1] / "driver").symlink_to(tmp_path / "bus/drivers/nvme")
    subsystem = tmp_path / "devices/virtual/nvme-subsystem/nvme-subsys0"
    disk = subsystem / "nvme0n1"
    disk.mkdir(parents=True)
    (subsystem / "nvme0").symlink_to(controller)
    (disk / "device").symlink_to(subsystem)
    (tmp_path / "block").mkdir()
    (tmp_path / "block/nvme0n1").symlink_to(disk)
    assert read_wires(["nvme0n1"], tmp_path)["nvme0n1"] == Wire(
        "pci-0000:01:00.0", "nvme", "nvme/nvme0/nvme0n1"
    )


def test_a_disk_without_a_device(tmp_path):
    (tmp_path / "devices/virtual/block/xyz0").mkdir(parents=True)
    (tmp_path / "block").mkdir()
    (tmp_path / "block/xyz0").symlink_to(tmp_path / "devices/virtual/block/xyz0")
    assert read_wires(["xyz0", "gone"], tmp_path) == {"xyz0": Wire(), "gone": Wire()}


def test_the_running_machine():
    names = [entry.name for entry in Path("/sys/block").iterdir()]
    assert set(read_wires(names)) == set(names)
