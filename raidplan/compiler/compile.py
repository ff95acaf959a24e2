"""Topology to plan: every step, in order, with its needs and its line in the layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.findings import Finding, Path, error
from raidplan.base.levels import LEVELS
from raidplan.base.magic import MEMBER, PHYSICAL_VOLUME
from raidplan.compiler.boot import boot_steps
from raidplan.compiler.config import config_steps
from raidplan.document import Document
from raidplan.plan.digest import digest
from raidplan.plan.disk_identity import DiskIdentity, KeptPartition
from raidplan.plan.order import ordered
from raidplan.plan.phases import PHASES, PHASES_BELOW
from raidplan.plan.step import Plan, Proof, Run, Step
from raidplan.topology import Topology
from raidplan.topology.kept import kept


def compile_plan(
    topology: Topology, document: Document, target: str = ""
) -> tuple[Plan | None, list[Finding]]:
    """The whole plan, as for a blank machine, below `target` in a rescue system. None if a size that it needs is missing."""
    topology = replace(topology, target=target)
    missing = _missing_sizes(topology)
    if missing:
        return None, missing
    items = [item for item in topology.items if item.path not in kept(topology)]
    steps = [step for item in items for step in item.kind.steps(item.name, item.path, topology)]
    steps += config_steps(topology)
    boot = [*boot_steps(topology)]
    known = {step.id for step in (*steps, *boot)}
    steps += [step.among(known) for step in boot]
    if target:
        steps = _after_mounts(steps)
    modules = _modules(topology)
    loads = [_load(module) for module in modules]
    steps = [*(_after(step, loads) for step in steps), *loads]
    plan = Plan(
        host=topology.host,
        layout_digest=digest(document.root.plain()),
        machine_digest="",
        disks=tuple(identities(topology)),
        steps=tuple(
            replace(step, line=document.locate(_path(step.because)).line)
            for step in ordered(steps, PHASES_BELOW if target else PHASES)
        ),
        modules=modules,
        target=target,
    )
    return plan, []


CONTENT = {"raid": MEMBER, "lvm": PHYSICAL_VOLUME, "swap": "swap"}
"""libblkid's word for what a user of a partition makes of it."""


def _path(dotted: str) -> Path:
    return tuple(dotted.split("."))


def _missing_sizes(topology: Topology) -> list[Finding]:
    built = {item.path for item in topology.items}
    disks = topology.layout.hardware.disks
    needed = [
        name
        for name, disk in disks.items()
        if disk.size is None and (disk.partitions or name in topology.used_by)
    ]
    if needed:
        return [
            error("disk-size-unknown", ("hardware", "disks", name), f"{name} has no size, and the plan needs one",
                  "write size: 3TB, or the exact bytes that `raidplan discover hardware` prints", on_key=True)
            for name in needed
        ]  # fmt: skip
    assert all(("arrays", name) in built for name in topology.layout.arrays)
    return []


def identities(topology: Topology, *, every: bool = False) -> Iterator[DiskIdentity]:
    """The disks that steps touch, or all that may be touched, with their identities on the machine."""
    for name, disk in topology.layout.hardware.disks.items():
        if every or disk.keep or disk.partitions or name in topology.used_by:
            yield DiskIdentity(
                name=name,
                size=disk.size or 0,
                logical_block=disk.logical_block or 512,
                serial=disk.serial or "",
                wwn=disk.wwn or "",
                path=disk.path or "",
                model=disk.model or "",
                wipe=bool(disk.wipe),
                keep=bool(disk.keep),
                partitions=tuple(
                    _with_content(part, topology) for part in disk.described(name) if disk.table_stays
                ),
            )


def _with_content(part: KeptPartition, topology: Topology) -> KeptPartition:
    """A kept partition with what stands on it; on one that is used, nothing stands yet."""
    use = topology.used_by.get(part.name)
    if use is None or not part.keep:
        return part
    filesystem = topology.layout.filesystems.get(str(use.path[1])) if use.path[0] == "filesystems" else None
    holds = filesystem.type if filesystem else CONTENT.get(use.role, "")
    return replace(part, holds=holds, mount=(filesystem.mount or "") if filesystem else "")


def _modules(topology: Topology) -> tuple[str, ...]:
    layout, made = topology.layout, {item.path for item in topology.items} - kept(topology)
    levels = {array.level for name, array in layout.arrays.items() if ("arrays", name) in made}
    md = ("md_mod", *sorted({LEVELS[level].module for level in levels})) if levels else ()
    types = {each.format.module for name, each in layout.filesystems.items() if ("filesystems", name) in made}
    encrypted = any(("encryption", name) in made for name in layout.encryption)
    mapped = encrypted or any(("volume_groups", name) in made for name in layout.volume_groups)
    crypt = ("dm_crypt",) if encrypted else ()
    return (*md, *(("dm_mod",) if mapped else ()), *crypt, *sorted(types - {""}))


def _after(step: Step, loads: Sequence[Step]) -> Step:
    """The step; if it writes over a device, after the kernel has shown that it can run every array."""
    return replace(step, needs=(*step.needs, *(load.id for load in loads))) if step.guard else step


def _after_mounts(steps: Sequence[Step]) -> list[Step]:
    """The files below a target lie on what is mounted there, and a sync would slow down the file systems' making."""
    mounts = tuple(step.id for step in steps if step.proof is not None and step.proof.kind == "mount")
    return [
        replace(step, needs=(*step.needs, *mounts)) if step.phase in ("configure", "sync") else step
        for step in steps
    ]


def _load(module: str) -> Step:
    sections = {"dm_mod": "volume_groups", "dm_crypt": "encryption"} | {
        each.module: "filesystems" for each in FILESYSTEMS.values()
    }
    return Step(
        id=f"prepare.{module}",
        phase="prepare",
        say=f"load the kernel module {module}",
        # md_mod by name, because mdadm 4.5 fails to create an array before it is loaded.
        action=Run(("modprobe", module)),
        because=sections.get(module, "arrays"),
        targets=(module,),
        proof=Proof("module", module, {"loaded": True}),
    )
