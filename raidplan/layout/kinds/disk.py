"""Disks and their partitions: the identity a disk is found by, and the table written to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from raidplan.base.findings import Path
from raidplan.base.identity import derived_uuid, disk_word
from raidplan.base.size import MIB, align_up, human
from raidplan.geometry import gpt
from raidplan.layout.kinds.device import Device, Impossible, Kind, Role, Site, Use
from raidplan.layout.kinds.model import (
    Block,
    Boolean,
    Duration,
    Integer,
    Model,
    Name,
    Positive,
    Rate,
    Size,
    Speed,
    Uuid,
    Word,
    duration_or,
    size_or,
)
from raidplan.plan.disk_identity import KeptPartition
from raidplan.plan.loss import Loss
from raidplan.plan.partitions import TYPE_CODES, PartitionRow
from raidplan.plan.step import Proof, Run, Step


class Partition(Model):
    """A GPT partition of a disk; `d00.root` by name."""

    size: Annotated[Size | Literal["rest"], size_or("rest")]
    """Rounded up to 1 MiB; `rest` takes what is left, less the slack for a replacement disk."""
    type: Role | None = None
    """The GPT type; by default what the partition is used for."""
    keep: Boolean = False
    """Described only; the partition table stays."""
    uuid: Uuid | None = None
    """The UUID of one beside a kept one: `lsblk -o PARTUUID`."""


class Disk(Model, Kind):
    """A disk; on the host it is found by all of serial, wwn, path and model that are given."""

    behind: Name | None = None
    """The controller, multiplier, expander or bus it hangs on: `pm0`."""
    port: Integer | None = None
    """The port there, from 0 on."""
    serial: Word | None = None
    """The serial number, such as `WD-WCAV51234567`, as `lsblk -o SERIAL` prints it."""
    wwn: Word | None = None
    """The World Wide Name: `0x5000c500a0000000`."""
    path: Word | None = None
    """udev's ID_PATH: `pci-0000:00:1f.2-ata-1`."""
    model: Word | None = None
    """The model, such as `ST4000VN008`, as `lsblk -o MODEL` prints it."""
    size: Size | None = None
    """At least this large; the plan uses this size, so that a replacement of this size fits."""
    logical_block: Block | None = None
    """The size of a logical sector in bytes; 512 by default."""
    physical_block: Positive | None = None
    """The bytes that the disk writes as one: `4096` on most of today, as `lsblk -o PHY-SEC` shows. XFS and LUKS are made for it, for
    good; without it for 512, whatever the machine's disk says: `apply` compares it with nothing."""
    rotational: Boolean | None = None
    """true: a hard disk; false: a solid-state disk."""
    rate: Rate | None = None
    """Sequential rate at the outer tracks."""
    iops: Positive | None = None
    """Random reads a second: `120`."""
    link: Speed | None = None
    """The line rate of the disk's own port: `6Gbps`."""
    recording: Literal["cmr", "dm-smr", "ha-smr", "zoned"] | None = None
    """Conventional; shingled and managed by the drive, or aware of the host; zoned: managed by the host."""
    error_recovery: Annotated[Duration | Literal["none"], duration_or("none")] | None = None
    """After how long the disk gives up on a bad sector (SCT ERC), as it is set by others at every boot; `none`: without a limit."""
    command_timeout: Duration | None = None
    """The time that the kernel waits for the disk, where others set another than 30 s at every boot."""
    head_parking: Annotated[Duration | Literal["none"], duration_or("none")] | None = None
    """After how long without work the disk parks its heads; `none` if that is switched off."""
    power_loss_protection: Boolean | None = None
    """Whether a solid-state disk holds its cache over a power cut."""
    temperature: Integer | None = None
    """Degrees Celsius at work, as SMART tells it: `38`."""
    partitions: Mapping[Name, Partition] = {}
    """GPT partitions, by name, in their order: `{root: {size: 50GiB}, data: {size: rest}}`; `d00.root` elsewhere."""
    wipe: Boolean = False
    """Its content may be destroyed; `apply` lists it first, and asks for the host's name or the plan's digest."""
    keep: Boolean = False
    """Described only, with what stands on it: proven, never made, changed or wiped."""

    def provides(self, name: str) -> Iterator[str]:
        yield name
        yield from (f"{name}.{part}" for part in self.partitions)

    def resolve(self, name: str, path: Path, site: Site) -> Iterator[Device]:
        """The disk, and its partitions: those it lists, or the one that a user of the bare disk gets.

        A disk without a size gives no devices; only `plan` needs them.
        """
        if self.size is None:
            return
        sector = self.logical_block or 512
        physical = max(sector, self.physical_block or 512)
        disk = Device(
            name,
            "disk",
            path,
            disk_word(name),
            self.size,
            logical_block=sector,
            physical_block=physical,
            rotational=self.rotational,
        )
        use = site.used_by.get(name)
        if use and self.partitions:
            raise Impossible(
                "device-used-twice",
                use.path,
                f"{name} has partitions, so it cannot be used as a whole",
                f"name one of them, such as {name}.{next(iter(self.partitions))}",
            )
        yield disk
        for (part, _, _), size in zip(self._table(name, site), self._sizes(name, path, site), strict=True):
            uuid = self._uuid(part, site)
            node = f"/dev/disk/by-partuuid/{uuid}"
            made = () if self.table_stays else (f"disk.{name}.partition",)
            yield Device(
                part,
                "partition",
                path,
                node,
                size,
                made,
                (name,),
                uuid,
                sector,
                physical,
                rotational=self.rotational,
            )

    @property
    def table_stays(self) -> bool:
        """The partition table is there already, and stays: the disk is kept, or one of its partitions."""
        return self.keep or any(entry.keep for entry in self.partitions.values())

    def _uuid(self, part: str, site: Site) -> str:
        """The UUID of a partition: its own, if it is there already, or the one that it is made with."""
        entry = self.partitions.get(part.rpartition(".")[2])
        return (entry.uuid if entry else None) or derived_uuid(site.host, "partition", part)

    def _table(self, name: str, site: Site) -> list[tuple[str, int | None, Role]]:
        """(device name, size in bytes or None for the rest, role) of each partition."""
        use = site.used_by.get(name)
        if use and not use.whole_disk:
            return [(partition_for(name, use), None, use.role)]
        return [
            (
                f"{name}.{part}",
                None if entry.size == "rest" else int(entry.size),
                self.role(f"{name}.{part}", entry, site),
            )
            for part, entry in self.partitions.items()
        ]

    def role(self, part: str, entry: Partition, site: Site) -> Role:
        """The type of a partition: what is written, or what it is used for."""
        if entry.type:
            return entry.type
        if part in site.esps:
            return "esp"
        use = site.used_by.get(part)
        return use.role if use else "linux"

    def _sizes(self, name: str, path: Path, site: Site) -> list[int]:
        """The bytes of each partition; those of a table that stays are where somebody else has put them."""
        if not self.table_stays:
            return [placed.size_bytes for placed in self._placed(name, path, site)]
        sizes = [size for _, size, _ in self._table(name, site)]
        rest = max(0, gpt.usable_bytes(self.size or 0, 0) - sum(size or 0 for size in sizes))
        return [rest if size is None else size for size in sizes]

    def described(self, name: str) -> tuple[KeptPartition, ...]:
        """The partitions of a table that stays, to be compared; type, size and UUID count where they are written."""
        return tuple(
            KeptPartition(
                number,
                f"{name}.{part}",
                0 if entry.size == "rest" else int(entry.size),
                TYPE_CODES[entry.type].lower() if entry.type else "",
                uuid=entry.uuid or "",
                keep=self.keep or entry.keep,
            )
            for number, (part, entry) in enumerate(self.partitions.items(), 1)
        )

    def _placed(self, name: str, path: Path, site: Site) -> tuple[gpt.Partition, ...]:
        table = self._table(name, site)
        if not table or self.size is None:
            return ()
        try:
            return gpt.place(
                self.size, [size for _, size, _ in table], sector_bytes=self.logical_block or 512
            )
        except ValueError as error:
            rests = sum(size is None for _, size, _ in table)
            if rests > 1:
                raise Impossible(
                    "partitions-too-large",
                    (*path, "partitions"),
                    f"{rests} partitions of {name} take the rest",
                    "let one do so",
                ) from None
            if not self.partitions:
                raise Impossible(
                    "partitions-too-large",
                    (*path, "size"),
                    f"{name} has {human(self.size)}, which is too little for a partition table",
                    "correct its size",
                ) from None
            raise self._too_large(name, path, [size for _, size, _ in table], str(error)) from None

    def _too_large(self, name: str, path: Path, sizes: Sequence[int | None], problem: str) -> Impossible:
        """Each size in whole MiB, as it is made; a rest needs one."""
        room = gpt.usable_bytes(self.size or 0)
        taken = [align_up(size or MIB, MIB) for size in sizes]
        over, last = sum(taken) - room, [*self.partitions][-1]
        if over <= 0:
            return Impossible("partitions-too-large", (*path, "partitions"), problem)
        most = taken[-1] - over
        fits = f"write size: {most // MIB}MiB for {last}{'' if None in sizes else ', or size: rest'}"
        advice = fits if most > 0 and sizes[-1] else "make them smaller"
        return Impossible(
            "partitions-too-large",
            (*path, "partitions"),
            f"the partitions of {name} take {over // MIB:,} MiB more than the {room // MIB:,} MiB that it has room for",
            f"{advice}; 1 MiB at the front and {gpt.slack_bytes(self.size or 0) // MIB} MiB at the end stay free",
        )

    def steps(self, name: str, path: Path, site: Site) -> Iterator[Step]:
        """One step writes the whole table."""
        table = self._table(name, site)
        if not table or self.table_stays:
            return
        placed = self._placed(name, path, site)
        disk = derived_uuid(site.host, "disk", name)
        parts = [
            (part, place, TYPE_CODES[role], derived_uuid(site.host, "partition", part))
            for (part, _, role), place in zip(table, placed, strict=True)
        ]
        sizes = ", ".join(f"{part} of {human(place.size_bytes)}" for part, place, _, _ in parts)
        yield Step(
            id=f"disk.{name}.partition",
            phase="partition",
            say=f"partition {name}: {sizes}",
            action=Run(
                ("sfdisk", "--quiet", "--lock=yes", "--wipe=never", "--wipe-partitions=never", disk_word(name)),
                _sfdisk_script(disk, self.logical_block or 512, parts),
            ),
            because=".".join(map(str, path)),
            targets=(name,),
            destroys=(Loss("disk", name),),
            guard=(disk_word(name),),
            awaits=tuple(f"/dev/disk/by-partuuid/{uuid}" for *_, uuid in parts),
            proof=Proof("table", disk, {"disk": disk_word(name), "partitions": [
                str(PartitionRow(uuid, place.start_bytes, place.size_bytes, code.lower())) for _, place, code, uuid in parts
            ]}),
        )  # fmt: skip


def partition_for(disk: str, use: Use) -> str:
    """The name of the partition that a user of a bare disk gets: `d00.s0`."""
    return f"{disk}.{use.path[1]}"


def _sfdisk_script(disk: str, sector: int, parts: list[tuple[str, gpt.Partition, str, str]]) -> str:
    """The whole table as sfdisk(8) reads it; start and size in logical sectors."""
    head = ["label: gpt", f"label-id: {disk.upper()}", "unit: sectors", f"sector-size: {sector}"]
    rows = [
        f"start={place.first_sector}, size={place.last_sector - place.first_sector + 1}, "
        f'type={code}, uuid={uuid.upper()}, name="{part.rpartition(".")[2]}"'
        for part, place, code, uuid in parts
    ]
    return "\n".join([*head, *rows]) + "\n"
