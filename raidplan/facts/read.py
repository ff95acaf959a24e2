"""One reading of the whole machine, with few processes; changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from raidplan.base.identity import Identity
from raidplan.base.magic import PHYSICAL_VOLUME
from raidplan.facts import arrays, contents, host, lvm
from raidplan.facts.block import Block, Names, read_at, read_blocks
from raidplan.facts.block_devices import read_block_devices
from raidplan.facts.boot_loaders import read_answers, read_boot_loaders, read_boot_menu
from raidplan.facts.carriers import superblock_objects
from raidplan.facts.disks import SETTLE, entry_of, lsblk, read_disks
from raidplan.facts.efi import read_boot_entries, read_secure_boot
from raidplan.facts.luks import encryption_objects, mapping_objects
from raidplan.facts.machine import Machine, Properties
from raidplan.facts.mounts import mount_objects, of_system, read_mounts, read_swaps
from raidplan.facts.problem import Problem
from raidplan.facts.readings import Readings
from raidplan.facts.run import Result, run
from raidplan.facts.signatures import Ask, read_signatures
from raidplan.facts.tables import Table, read_table

READING_TIME = 120.0
"""Seconds after which a program that only reads is given up: a failing disk can hold it for minutes."""


def read_only(argv: Sequence[str]) -> Result:
    """Ask a program that changes nothing."""
    return run(argv, timeout=READING_TIME)


def read_machine(
    paths: Iterable[str] = (),
    units: Iterable[str] = (),
    ranges: Iterable[tuple[int, int]] = (),
    known: Iterable[str] = (),
    written: Iterable[str] = (),
    *,
    keys: Iterable[str] = (),
    swap_files: Iterable[str] = (),
    target: str = "",
    tools: Mapping[str, Properties] | None = None,
    root: Path = Path("/"),
    ask: Ask = read_only,
) -> Machine:
    """Everything that proofs and preflight ask about.

    `paths` are further files and folders to look at, `units` are systemd units, `ranges` (start, size in
    bytes) are where partitions are to be, `known` the GUIDs of tables whose disks are as they should be:
    the rest of those is not read, but what is `written` over (by identity), `keys` are key files, `swap_files` are named from the
    root of the system that runs. Configuration, images of kernels, units and mounts are those below `target`, of a system that
    does not run. `tools` are the programs with their versions, where they were asked before. `root` and `ask` stand in for the
    machine in tests.
    """
    swap_files, units, kernel = tuple(swap_files), tuple(units), os.uname().release
    system = root / target.lstrip("/")
    failed: list[Problem] = []
    must = _noting(failed, ask)
    # Side by side: on a slow machine each process takes a tenth of a second.
    with ThreadPoolExecutor(max_workers=4) as pool:
        asked: dict[str, Future[Mapping[str, Properties]]] = {
            "module": pool.submit(host.read_modules, root, kernel, ask),
            "tool": pool.submit(_tools, tools, ask),
            "unit": pool.submit(host.read_units, units, ask, target),
            "initramfs": pool.submit(host.read_initramfs, system, kernel),
        }
        # Before their identifiers: who swaps a disk in between is found out by its instance.
        blocks = read_blocks(root)
        listing = pool.submit(partial(lsblk, must, udev=(root / "run/udev/control").exists()))
        readings, md, names, problems = _look(root, blocks, ask)
        readings = replace(readings, ranges=tuple(ranges), known=frozenset(known), written=frozenset(written))
        objects = _contents(readings, md, names, swap_files, must)
        objects |= _files(root, target, paths, swap_files, keys)
        objects |= {kind: answer.result() for kind, answer in asked.items()}
        objects |= _of_system(readings, names, root, target)
    return Machine(
        disks=read_disks(readings, listing.result()),
        objects=objects,
        blocks=read_block_devices(readings, names, md),
        memory_bytes=host.memory_bytes(root),
        firmware=host.firmware(root),
        host=os.uname().nodename,
        machine_id=host.machine_id(root),
        is_root=os.geteuid() == 0,
        kernel=kernel,
        problems=(*problems, *failed),
    )


def _tools(known: Mapping[str, Properties] | None, ask: Ask) -> Mapping[str, Properties]:
    """The programs with their versions, asked only if they are not known."""
    return host.read_tools(ask) if known is None else known


def _noting(failed: list[Problem], ask: Ask) -> Ask:
    """Asks as `ask` does, and notes what failed."""

    def must(argv: Sequence[str]) -> Result:
        answer = ask(argv)
        if not answer.ok:
            words = answer.stderr.strip()[-200:] or str(answer.returncode)
            failed.append(Problem("unsettled" if argv == SETTLE else "program", argv[0], words))
        return answer

    return must


def _look(
    root: Path, blocks: Mapping[str, Block], ask: Ask
) -> tuple[Readings, list[arrays.Array], Names, list[Problem]]:
    """The block devices with their tables, identities, signatures, mounts and swap areas."""
    tables, closed = _tables(root, blocks)
    md, problems = arrays.read_arrays(root, blocks, ask)
    names = _names(root, blocks, tables, md)
    signatures, unreadable = read_signatures(
        [b.node for name, b in blocks.items() if name not in closed], ask
    )
    unreadable |= {blocks[name].node: why for name, why in closed.items()}
    mounts, swaps = read_mounts(root, names), read_swaps(root, names)
    return Readings(root, blocks, tables, signatures, unreadable, mounts, swaps), md, names, problems


def _contents(
    readings: Readings, md: Sequence[arrays.Array], names: Names, swap_files: Sequence[str], ask: Ask
) -> dict[str, Mapping[str, Properties]]:
    """The objects on the block devices."""
    links = arrays.read_links(readings.root)
    has_lvm = any(one.type == PHYSICAL_VOLUME for found in readings.signatures.values() for one in found)
    return {
        "content": contents.content_objects(readings, names),
        "superblock": superblock_objects(readings, names),
        "table": contents.table_objects(readings),
        "array": {array.uuid: arrays.properties(array, names, links) for array in md},
        "tuning": {array.uuid: arrays.tuning(array) for array in md},
        **(lvm.read_lvm(names, ask) if has_lvm else {}),
        "encryption": encryption_objects(readings, names),
        "mapping": mapping_objects(readings.blocks, names, ask),
        "filesystem": contents.filesystem_objects(readings, names),
        "swap": contents.swap_objects(readings, names, swap_files),
    }


def _files(
    root: Path, target: str, paths: Iterable[str], swap_files: Iterable[str], keys: Iterable[str]
) -> dict[str, Mapping[str, Properties]]:
    """Files and folders of the system below `target`, and swap files of the one that runs."""
    system = root / target.lstrip("/")
    found = host.read_paths(system, paths)
    return {
        **found,
        "file": {**found["file"], **host.read_files(root, swap_files)},
        "key_file": host.read_key_files(system, keys, root if target else None),
    }


def _of_system(
    readings: Readings, names: Names, root: Path, target: str
) -> dict[str, Mapping[str, Properties]]:
    """The objects by which the system below `target` starts (kernels, boot loaders, the firmware and its entries), and its mounts."""
    system = root / target.lstrip("/")
    return {
        "kernel": host.read_kernels(system),
        "boot_loader": read_boot_loaders(readings, system),
        "boot_menu": read_boot_menu(system),
        "boot_entry": read_boot_entries(root),
        "answer": read_answers(system),
        "firmware": {"uefi": {"secure_boot": read_secure_boot(root)}},
        "mount": mount_objects(of_system(readings.mounts, target), names),
        **({"system": host.read_system(system)} if target else {}),
    }


def _tables(root: Path, blocks: Mapping[str, Block]) -> tuple[dict[str, Table], dict[str, str]]:
    """(kernel name to the table on it, kernel name to the reason why it cannot be read)."""

    def look(block: Block) -> Table | str | None:
        try:
            return read_table(partial(read_at, root / "dev" / block.name), block.logical)
        except OSError as error:
            return error.strerror or "cannot be opened"

    # Side by side: a sleeping disk takes ten seconds to answer.
    with ThreadPoolExecutor(max_workers=16) as pool:
        found = dict(zip(blocks, pool.map(look, blocks.values()), strict=True))
    tables = {name: it for name, it in found.items() if isinstance(it, Table) and not blocks[name].partition}
    return tables, {name: it for name, it in found.items() if isinstance(it, str)}


def _names(
    root: Path, blocks: Mapping[str, Block], tables: Mapping[str, Table], md: Sequence[arrays.Array]
) -> Names:
    """The identity of each block device."""
    uuids = {array.block.name: array.uuid for array in md}
    identities: dict[str, str] = {}
    for name, block in blocks.items():
        if name in uuids:
            identities[name] = str(Identity("array", uuids[name]))
        elif block.volume:
            identities[name] = str(Identity("volume", block.volume))
        elif block.mapping:
            identities[name] = str(Identity("mapping", block.mapping))
        else:
            uuid = _partition_uuid(block, tables.get(block.disk))
            identities[name] = str(Identity("partition", uuid)) if uuid else block.node
    return Names(identities, {block.number: name for name, block in blocks.items()}, root / "dev")


def _partition_uuid(block: Block, table: Table | None) -> str:
    entries = table.entries if table and block.partition else ()
    entry = entry_of(next((entry for entry in entries if entry.number == block.partition), None), block)
    return entry.uuid if entry else ""
