"""The layout as the twin has it: its own topology, disks that a virtual machine can show, arrays that are in sync."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from raidplan.base.findings import Severity
from raidplan.base.levels import LEVELS
from raidplan.base.size import MIB, human
from raidplan.base.words import counted
from raidplan.document.read import parse_document
from raidplan.geometry.md_shape import STRIPE_CACHE_ENTRIES, stripe_cache_bytes
from raidplan.layout.kinds.boot_options import TIMEOUT, device_timeout
from raidplan.layout.load import layout_of
from raidplan.layout.model import Layout
from raidplan.plan.places import SYSTEM_MOUNTS
from raidplan.plan.step import Plan
from raidplan.render.layout_data import layout_to_data
from raidplan.render.yaml_text import yaml_text
from raidplan.review.pipeline import load, plan
from raidplan.rules.autostart import is_short
from raidplan.topology import Topology, resolve
from raidplan.topology.boot_places import boot_places
from raidplan.twin.loops.scale import scaled
from raidplan.twin.rehearsal.boot_outcomes import boots_itself
from raidplan.twin.rehearsal.kept_disks import without_kept
from raidplan.twin.server.hardware import Disk, Firmware, VirtualMachine, carries, check_machine
from raidplan.twin.server.wiring import disks_of

SYSTEM_MIB = 1536
"""Memory of the guest beside the stripe caches, MiB."""
PATIENCE, PATIENCE_PER_DISK = 120, 6
"""Seconds that a boot waits for a device: in emulation disks take longer to appear than on any server."""


class Unsuited(Exception):
    """This layout cannot be rehearsed; the message says why."""


@dataclass(frozen=True)
class Subject:
    """A layout in the form in which it is rehearsed."""

    topology: Topology
    text: str
    """The layout as a file."""
    memory_mib: int
    differences: tuple[str, ...]
    """The differences between the twin and the server that the layout describes, in sentences for the report."""
    given_up: tuple[str, ...] = ()
    """The file systems that a boot of the server may give up before it has started a degraded array below them; the twin waits."""

    @property
    def host(self) -> str:
        """The layout's host."""
        return self.topology.host

    @property
    def loader(self) -> str:
        """The boot loader that starts a whole server."""
        return self.topology.layout.boot.loader or "grub"

    @property
    def firmware(self) -> Firmware:
        """The firmware that starts it."""
        return "uefi" if self.fresh and self.topology.layout.hardware.firmware == "uefi" else "bios"

    @property
    def fresh(self) -> bool:
        """The layout has the root file system: the server is made from a rescue system, and boots by itself."""
        return boots_itself(self.topology)


def subject_of(topology: Topology, scale: int = 1, serials: Mapping[str, str] | None = None) -> Subject:
    """The subject of a rehearsal at a scale by which sizes are divided; its disks have these serial numbers, where some are given.

    Raises Unsuited, TooSmall.
    """
    # Of a change the other layout says what is on a disk that this one keeps.
    topology, stands_in = (topology, "") if serials else without_kept(topology)
    for words in _unsuited(topology.layout):
        raise Unsuited(words)
    if boots_itself(topology) and not boot_places(topology):
        raise Unsuited(
            "the layout makes the root file system, and installs no boot loader that starts it (`check` says why)"
        )
    # Through its text, as `scaled` takes it: every scalar as it would be written.
    document, _ = parse_document(yaml_text(layout_to_data(topology.layout)), "")
    data: Any = document.root.plain() if document else None
    assert isinstance(data, dict)
    given_up = _given_up(topology)
    differences = [stands_in] if stands_in else []
    differences += [*_shown(data, serials), *_synced(data), *_written(data), *_waiting(data, given_up)]
    data = scaled(data, scale)
    if scale > 1:
        differences.append(
            f"sizes are divided by {scale}; members, chunks and wiring are those of the layout"
        )
    found, findings = resolve(layout_of(data))
    errors = [finding.message for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        raise Unsuited(f"its twin cannot be built: {errors[0]}")
    subject = Subject(found, yaml_text(data), _memory(found), tuple(differences), given_up)
    check_disks(disks_of(found.layout), subject)
    return subject


def plan_of(subject: Subject, target: str = "") -> Plan:
    """The plan of the twin's own layout, below `target` if one is named; no rule keeps it from being made. Raises Unsuited."""
    made, loaded = plan(load("the twin's layout", lambda _: (subject.text, "")), target)
    if made is None:
        raise Unsuited(f"the twin's layout has an error: {loaded.findings[0].finding.message}")
    return made


def check_disks(disks: Iterable[Disk], subject: Subject) -> None:
    """Raises Unsuited for disks that the virtual machine of a subject cannot show."""
    try:
        check_machine(VirtualMachine(tuple(disks), memory_mib=subject.memory_mib, firmware=subject.firmware))
    except ValueError as error:
        raise Unsuited(f"a virtual machine cannot have these disks: {error}") from None


def _unsuited(layout: Layout) -> Iterator[str]:
    """Why no twin can be made of a layout."""
    if not layout.hardware.disks:
        yield "the layout has no disks, so there is nothing to rehearse; describe them below `hardware:`"
    if unsized := [name for name, disk in layout.hardware.disks.items() if disk.size is None]:
        yield f"{', '.join(unsized)}: a disk without a size cannot be made; state `size:`"
    if kept := [name for name, disk in layout.hardware.disks.items() if disk.table_stays]:
        yield f"{', '.join(kept)}: what is on a disk with `keep: true`, or on such a partition, is not in the layout, so the twin cannot have what needs it and other disks"
    system = {entry.mount: name for name, entry in layout.filesystems.items() if entry.mount in SYSTEM_MOUNTS}
    if system and "/" not in system:
        yield f"{', '.join(system.values())}: the layout has {', '.join(map(str, system))} of a system, and not its root file system, so nothing can boot"


def _shown(data: dict[str, Any], serials: Mapping[str, str] | None) -> Iterator[str]:
    """Takes out what a virtual disk cannot show, and gives each disk something to be found by."""
    disks = data["hardware"].get("disks", {})
    for key, why in (
        ("path", "virtual disks have other paths, so disks are found by their other identifiers"),
        ("wipe", "the disks of the twin are blank"),
    ):
        if [disk.pop(key) for disk in disks.values() if key in disk]:
            yield f"`{key}` is left out: {why}"
    for key in ("model", "serial", "wwn"):
        unlike = [disk for disk in disks.values() if key in disk and not carries(key, str(disk[key]))]
        for disk in unlike:
            del disk[key]
        if unlike:
            yield f"{counted(len(unlike), 'disk')}: `{key}` is left out, since a virtual SCSI disk cannot show it"
    for number, (name, disk) in enumerate(disks.items()):
        if serials:
            disk["serial"] = serials[name]
        elif not disk.keys() & {"serial", "wwn"}:
            disk["serial"] = name if carries("serial", name) else f"disk-{number}"


def _synced(data: dict[str, Any]) -> Iterator[str]:
    """Arrays of blank virtual disks are in sync as they are made: their parity of zeroes is zero, their copies are equal."""
    held = [
        entry
        for entry in data.get("arrays", {}).values()
        if LEVELS[entry["level"]].redundant and entry.get("initial_sync", "run") != "assume-clean"
    ]
    for entry in held:
        entry["initial_sync"] = "assume-clean"
    if held:
        yield "arrays are made without an initial sync: on blank virtual disks every copy and every parity is zero already"


def _written(data: dict[str, Any]) -> Iterator[str]:
    """Takes out what keeps a file system from being mounted at boot and written to; no boot waits for it that did not."""
    for option, instead, done in (("noauto", ["nofail"], "mounted at boot"), ("ro", [], "written to")):
        found = {
            name: entry
            for name, entry in data.get("filesystems", {}).items()
            if option in entry.get("options", ())
        }
        for entry in found.values():
            entry["options"] = [*(each for each in entry["options"] if each != option), *instead]
        if found:
            yield f"`{option}` is left out of {', '.join(found)}: of what is not {done} nothing could be seen"


def _given_up(topology: Topology) -> tuple[str, ...]:
    """The initramfs mounts `/` and `/usr`, whatever their options."""
    return tuple(
        name
        for name, entry in topology.layout.filesystems.items()
        if entry.mount and entry.mount not in ("/", "/usr") and is_short(topology, entry)
    )


def _waiting(data: dict[str, Any], given_up: Collection[str]) -> Iterator[str]:
    """Lets each mount wait for its device as long as disks may take in emulation; a longer wait of the layout's own stays."""
    seconds = PATIENCE + PATIENCE_PER_DISK * len(data["hardware"].get("disks", {}))
    replaced = []
    for name, entry in data.get("filesystems", {}).items():
        options = entry.get("options", [])
        if not entry.get("mount") or (device_timeout(options) or 0) >= seconds:
            continue
        if any(option.partition("=")[0] == TIMEOUT for option in options):
            replaced.append(name)
        entry["options"] = [*options, f"{TIMEOUT}={seconds}s"]  # systemd takes the last one
    if replaced:
        yield f"`{TIMEOUT}` of {', '.join(replaced)} is {seconds} s, for in emulation disks take longer to appear"
    if given_up:
        yield f"at a boot without a member the server may give up {', '.join(given_up)} before it has started the array below, and the twin waits: that it goes on is not predicted"


def _memory(topology: Topology) -> int:
    caches = sum(
        stripe_cache_bytes(array.stripe_cache_size or STRIPE_CACHE_ENTRIES, len(array.named_members))
        for array in topology.layout.arrays.values()
    )
    return SYSTEM_MIB + caches // MIB


def described(subject: Subject) -> str:
    """The twin in one sentence: disks, arrays, memory."""
    layout = subject.topology.layout
    parts = (
        counted(len(layout.hardware.disks), "disk"),
        counted(len(layout.arrays), "array"),
        counted(len(layout.filesystems), "file system"),
    )
    return f"{', '.join(parts)}, {human(subject.memory_mib * MIB)} of memory"
