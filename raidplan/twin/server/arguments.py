"""The arguments of QEMU for a machine: a pure function of its hardware and of where its files are."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from raidplan.twin.server.hardware import Disk, Firmware, VirtualMachine, chain, check_machine
from raidplan.twin.server.unflushed import log_of

QEMU = "qemu-system-x86_64"
Properties = dict[str, object]

_EMULATED = "max,-erms,-fsrm"
"""Without the fast string instructions, which emulation carries out byte by byte: Linux then clears and copies pages by words,
and boots with two thirds of the processor time."""

_FIRST_SLOT, _FUNCTIONS = 6, 8
_CACHE: Mapping[str, tuple[bool, bool, bool]] = {
    # mode: the disk has a write cache, past the host's page cache, flushes are ignored
    "unsafe": (True, False, True),
    "writeback": (True, False, False),
    "none": (True, True, False),
    "writethrough": (False, False, False),
    "directsync": (False, True, False),
}
_BOARDS: Mapping[Firmware, str] = {"bios": "pc", "uefi": "pc", "secure": "q35,smm=on"}
KERNEL = "console=ttyS0 net.ifnames=0 panic=-1 mitigations=off tsc=unstable clocksource=hpet no_timer_check norandmaps"
"""The words for the kernel of a guest.

panic=-1: a machine that cannot boot ends at once instead of waiting for somebody at its console.

hpet and not tsc: on a busy host the guest measures the processor's clock wrongly (a quarter of it was seen), and its
time then runs several times too fast.

norandmaps: emulation translates code for each address at which it is found, so with addresses that change, every program that
is started is translated anew (a shell that starts /bin/true took four times as long).
"""
_ROOT = "root=/dev/vda rw random.trust_cpu=on loglevel=5 systemd.show_status=auto"
"""More words, for a kernel that is started from outside."""

OVMF: Mapping[Firmware, tuple[Path, Path]] = {
    "uefi": (Path("/usr/share/OVMF/OVMF_CODE_4M.fd"), Path("/usr/share/OVMF/OVMF_VARS_4M.fd")),
    "secure": (Path("/usr/share/OVMF/OVMF_CODE_4M.ms.fd"), Path("/usr/share/OVMF/OVMF_VARS_4M.ms.fd")),
}
"""The code and the variables of a new machine, of Debian's package ovmf."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The files of one machine."""

    root: Path
    kernel: Path
    initrd: Path
    console: Path
    """The log of the serial console."""
    terminal: Path
    """The socket where what is typed there is taken."""
    monitor: Path
    variables: Path
    """The variables of UEFI firmware, which it keeps while the machine is off."""
    disks: Mapping[str, Path]


def qemu_arguments(machine: VirtualMachine, paths: Paths, ssh_port: int) -> list[str]:
    """The command that starts `machine`; SSH is reachable on `ssh_port` of the loopback address.

    Raises ValueError for hardware that QEMU cannot show as given.
    """
    check_machine(machine)
    if machine.cache not in _CACHE:
        raise ValueError(f"cache {machine.cache!r}: possible are {', '.join(_CACHE)}")
    found = [QEMU, *_board(machine, paths), *_network(machine.online, ssh_port)]
    found += [] if machine.boots_itself else _root_disk(paths.root, machine)
    for index in range(len(machine.hosts)):
        found += _option("device", _host_device(index))
    for group, rate in _throttle_groups(machine):
        found += _option("object", {"qom-type": "throttle-group", "id": group, "x-bps-total": rate})
    for disk in machine.disks:
        for node in _nodes(disk, machine, paths.disks[disk.name]):
            found += _option("blockdev", node)
        if disk.name not in machine.unplugged:
            found += _option("device", disk_device(disk, machine))
    return found


def _host_device(index: int) -> Properties:
    """One SCSI host, as one of eight functions of a PCI slot: the board has fewer slots than servers have hosts."""
    slot, function = _FIRST_SLOT + index // _FUNCTIONS, index % _FUNCTIONS
    return {
        "driver": "virtio-scsi-pci",
        "id": f"scsi{index}",
        "addr": f"{slot:x}.{function}",
        "multifunction": True,
        "num_queues": 1,
    }


def disk_device(disk: Disk, machine: VirtualMachine) -> Properties:
    """The disk as QEMU's device, for its arguments and for plugging it in later."""
    write_cache, _, _ = _CACHE[machine.cache]
    host = machine.host_of(disk)
    siblings = [other.name for other in machine.disks if machine.host_of(other) == host]
    device: Properties = {
        "driver": "scsi-hd",
        "id": disk_id(disk.name),
        "bus": f"scsi{machine.hosts.index(host)}.0",
        "scsi-id": siblings.index(disk.name),
        "lun": 0,
        "drive": _top_node(disk, machine),
        "logical_block_size": disk.logical_block,
        "physical_block_size": disk.physical_block,
        "rotation_rate": 7200 if disk.rotational else 1,
        "write-cache": "on" if write_cache else "off",
    }
    if disk.halts_at_write:
        device["werror"] = "stop"
    if machine.snapshots:
        device["share-rw"] = True  # its content can be changed behind the guest's back
    if disk.rotational:
        device["discard_granularity"] = 0  # no TRIM: a spinning disk offers none
    if machine.boots_itself and machine.firmware == "bios":  # OVMF goes by its own variables
        device["bootindex"] = machine.disks.index(disk) + 1
    if disk.serial:
        device["serial"] = disk.serial
    if disk.wwn:
        device["wwn"] = int(disk.wwn, 16)
    if disk.model:
        device["product"] = disk.model
    return device


def content_node(name: str, machine: VirtualMachine) -> str:
    """QEMU's name of the block node that is the content of a disk, below all throttles."""
    return f"n{[disk.name for disk in machine.disks].index(name)}"


def state_nodes(machine: VirtualMachine) -> list[str]:
    """QEMU's names of the nodes that keep a state of the whole machine; the first keeps its memory."""
    disks = [content_node(disk.name, machine) for disk in machine.disks]
    return disks if machine.boots_itself else ["root", *disks]


def disk_nodes(name: str, machine: VirtualMachine, path: Path) -> list[Properties]:
    """The block nodes of a disk, from its content in the file up to what its device reads."""
    return list(_nodes(next(disk for disk in machine.disks if disk.name == name), machine, path))


def disk_id(name: str) -> str:
    """QEMU's name of the device of a disk."""
    return f"disk-{name}"


def _board(machine: VirtualMachine, paths: Paths) -> list[str]:
    console = f"socket,id=console,path={_comma(paths.terminal)},server=on,wait=off"
    return [
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *(
            "-machine",
            f"{_BOARDS[machine.firmware]},graphics=off,usb=off,vmport=off,dump-guest-core=off",
            "-accel",
            machine.accelerator,
        ),
        *("-cpu", "host" if machine.accelerator.startswith("kvm") else _EMULATED),
        *("-smp", str(machine.cpus), "-m", f"{machine.memory_mib}M"),
        *(
            "-chardev",
            f"{console},logfile={_comma(paths.console)},logappend=on",
            "-serial",
            "chardev:console",
        ),
        *("-qmp", f"unix:{_comma(paths.monitor)},server=on,wait=off"),
        *_firmware(machine, paths),
        *([] if machine.boots_itself else _kernel(machine, paths)),
        *("-device", "virtio-rng-pci"),
    ]


def _firmware(machine: VirtualMachine, paths: Paths) -> list[str]:
    if machine.firmware == "bios":
        return []
    code, _ = OVMF[machine.firmware]
    # Only code in system management mode may change the variables that Secure Boot goes by.
    only = ["-global", "driver=cfi.pflash01,property=secure,value=on"] if machine.firmware == "secure" else []
    kept = "qcow2" if machine.snapshots else "raw"
    drives = [(code, "raw", "on", 0), (paths.variables, kept, "off", 1)]
    return only + [
        word
        for path, form, is_fixed, unit in drives
        for word in ("-drive", f"if=pflash,format={form},unit={unit},readonly={is_fixed},file={_comma(path)}")
    ]


def _kernel(machine: VirtualMachine, paths: Paths) -> list[str]:
    files = ["-kernel", str(paths.kernel), "-initrd", str(paths.initrd)]
    return [*files, "-append", f"{KERNEL} {_ROOT} {machine.kernel_arguments}".strip()]


def _network(online: bool, port: int) -> list[str]:
    restrict = "off" if online else "on"
    user = f"user,id=net,restrict={restrict},hostfwd=tcp:127.0.0.1:{port}-:22"
    return ["-netdev", user, "-device", "virtio-net-pci,netdev=net,romfile="]


def _root_disk(path: Path, machine: VirtualMachine) -> list[str]:
    common: Properties = {"cache": {"direct": False, "no-flush": True}, "discard": "unmap"}
    nodes = [_file(path, common, snapshots=machine.snapshots) | {"node-name": "root"}]
    if machine.root_keeps_log:
        nodes.append({**_logging(log_of(path), direct=False), "node-name": "rootl", "file": "root"})
    device: Properties = {"driver": "virtio-blk-pci", "id": "root-disk", "drive": nodes[-1]["node-name"], "serial": "twin-root"}  # fmt: skip
    return [word for node in nodes for word in _option("blockdev", node)] + _option("device", device)


def _throttle_groups(machine: VirtualMachine) -> Iterable[tuple[str, int]]:
    for index, link in enumerate(machine.links):
        yield f"link{index}", link.bytes_per_second
    for index, disk in enumerate(machine.disks):
        if disk.limit_bytes_per_second is not None:
            yield f"limit{index}", disk.limit_bytes_per_second


def _groups(disk: Disk, machine: VirtualMachine) -> list[str]:
    """The throttle groups that a disk is in, the nearest to the machine first (nodes are made bottom up)."""
    linked = [f"link{machine.links.index(link)}" for link in reversed(chain(disk, machine.links))]
    own = [] if disk.limit_bytes_per_second is None else [f"limit{machine.disks.index(disk)}"]
    return linked + own


def _file(path: Path, common: Properties, *, snapshots: bool) -> Properties:
    file: Properties = {"driver": "file", "filename": str(path), **common}
    return {"driver": "qcow2", "file": file, **common} if snapshots else file


def _nodes(disk: Disk, machine: VirtualMachine, path: Path) -> Iterable[Properties]:
    _, direct, no_flush = _CACHE[machine.cache]
    common: Properties = {"cache": {"direct": direct, "no-flush": no_flush}, "discard": "unmap"}
    below = f"n{machine.disks.index(disk)}"
    nodes = [_file(path, common, snapshots=machine.snapshots) | {"node-name": below}]
    if disk.keeps_log:
        nodes.append({**_logging(log_of(path), direct=direct), "node-name": f"{below}l", "file": below})
        below += "l"
    if disk.halts_at_write:
        nodes.append({**_counting(disk.halts_at_write), "node-name": f"{below}w", "image": below, **common})
        below += "w"
    for depth, group in enumerate(_groups(disk, machine), 1):
        node = f"n{machine.disks.index(disk)}t{depth}"
        nodes.append(
            {"driver": "throttle", "node-name": node, "throttle-group": group, "file": below, **common}
        )
        below = node
    nodes[-1]["detect-zeroes"] = "unmap"  # zeros that the guest writes take no room in the sparse file
    return nodes


def _counting(last: int) -> Properties:
    """QEMU's blkdebug as a counter: each write takes it to its next state, and in the last one a write fails."""
    events = ("pwritev", "pwritev_zero")
    counted = [
        {"event": event, "state": number, "new_state": number + 1}
        for event in events
        for number in range(1, last)
    ]
    return {
        "driver": "blkdebug",
        **({"set-state": counted} if counted else {}),  # QEMU takes no empty list
        "inject-error": [
            {"event": event, "state": last, "iotype": kind, "errno": errno.EIO, "once": True}
            for event, kind in zip(events, ("write", "write-zeroes"), strict=True)
        ],
    }


def _logging(log: Path, *, direct: bool) -> Properties:
    """QEMU's blklogwrites: the flushes of the guest must reach it, whatever becomes of them below."""
    return {
        "driver": "blklogwrites",
        "log": {"driver": "file", "filename": str(log)},
        "log-super-update-interval": 1,
        "cache": {"direct": direct, "no-flush": False},
        "discard": "unmap",
    }


def _top_node(disk: Disk, machine: VirtualMachine) -> str:
    depth = len(_groups(disk, machine))
    log, halts = "l" if disk.keeps_log else "", "w" if disk.halts_at_write else ""
    return f"n{machine.disks.index(disk)}" + (f"t{depth}" if depth else log + halts)


def _option(name: str, properties: Mapping[str, object]) -> list[str]:
    return [f"-{name}", json.dumps(properties)]


def _comma(path: Path) -> str:
    return str(path).replace(",", ",,")
