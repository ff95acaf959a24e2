"""LVM volume groups and their volumes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal

from raidplan.base.findings import Path
from raidplan.base.size import MIB, SECTOR, align_up, human, human_beside
from raidplan.geometry import lvm
from raidplan.layout.kinds.device import Device, Impossible, Kind, Site, Use
from raidplan.layout.kinds.model import AnySize, Model, Name, Reference, Size, size_or
from raidplan.layout.kinds.naming import identity
from raidplan.plan.loss import everything_on
from raidplan.plan.step import Proof, Run, Step


class Volume(Model):
    """A logical volume; `vg0.home` by name."""

    size: Annotated[Size | Literal["100%free"], size_or("100%free")]
    """Rounded up to whole extents; `100%free` takes what is left."""
    read_ahead: Annotated[AnySize | Literal["auto"], size_or("auto", zero=True)] = "auto"
    """The read-ahead: `4MiB`, or `auto`: the device's."""

    def bytes_ahead(self, parts: Iterable[Device]) -> int | None:
        """The read-ahead where the layout says it, of the volume or alike of all `parts`; None where LVM is to find it.

        LVM takes that of the part on which the volume begins, when it activates the volume (lvm2, `lv_calculate_readahead`).
        An initramfs does that before udev has tuned the array, so the volume gets the number of the array itself.
        """
        if self.read_ahead != "auto":
            return int(self.read_ahead)
        numbers = {part.read_ahead for part in parts}
        return numbers.pop() if len(numbers) == 1 else None


class VolumeGroup(Model, Kind):
    """An LVM volume group; each of its devices becomes a physical volume."""

    devices: tuple[Reference, ...]
    """Partitions, arrays or disks, each of which becomes a physical volume."""
    extent: Size = 4 * MIB
    """The unit of all sizes in the group: `4MiB`."""
    volumes: Mapping[Name, Volume] = {}
    """Logical volumes, by name, in their order: `{home: {size: 100GiB}}`; `vg0.home` elsewhere."""

    def provides(self, name: str) -> Iterator[str]:
        yield from (f"{name}.{volume}" for volume in self.volumes)

    def uses(self, name: str, path: Path) -> Iterator[Use]:
        for number, device in enumerate(self.devices):
            yield Use((*path, "devices", number), device, "lvm")

    def resolve(self, name: str, path: Path, site: Site) -> Iterator[Device]:
        parts = [site.taken(use) for use in self.uses(name, path)]
        shared = parts[0] if len({(part.chunk, part.data_disks) for part in parts}) == 1 else None
        extents = self._extents(name, path, site)
        for volume, entry in self.volumes.items():
            yield Device(
                name=f"{name}.{volume}",
                kind="volume",
                path=(*path, "volumes", volume),
                node=f"/dev/{name}/{volume}",
                size=extents[volume] * self.extent,
                made_by=(f"volume.{name}.{volume}.create",),
                on=tuple(part.name for part in parts),
                uuid=f"{name}/{volume}",
                logical_block=max(part.logical_block for part in parts),
                physical_block=max(part.physical_block for part in parts),
                # Stripes that are alike show through: blk_stack_limits() takes their least common multiple.
                chunk=shared.chunk if shared else 0,
                data_disks=shared.data_disks if shared else 0,
                rotational=any(part.rotational is not False for part in parts),
                read_ahead=entry.bytes_ahead(parts),
            )

    def _physical(self, part: Device) -> lvm.PhysicalVolume:
        """The physical volume; its data starts at a full stripe, at least 1 MiB in. Raises ValueError."""
        return lvm.physical_volume(part.size, part.stripe or MIB, self.extent)

    def data_start(self, part: Device) -> int:
        """Bytes before the data of a new physical volume. Raises ValueError."""
        return self._physical(part).pe_start_bytes

    def _room(self, name: str, path: Path, site: Site) -> int:
        """Extents in the group."""
        try:
            return sum(self._physical(site.taken(use)).extents for use in self.uses(name, path))
        except ValueError as error:
            hint = "write an extent such as 4MiB, or make the devices larger"
            raise Impossible("impossible-volume-group", path, str(error), hint) from None

    def _extents(self, name: str, path: Path, site: Site) -> dict[str, int]:
        """Extents of each volume."""
        if not self.devices:
            raise Impossible(
                "invalid-value", (*path, "devices"), f"{name} has no devices", "name at least one"
            )
        sectors = {part.logical_block for part in (site.taken(use) for use in self.uses(name, path))}
        if len(sectors) > 1:
            raise Impossible(
                "impossible-volume-group",
                (*path, "devices"),
                f"the devices of {name} have sectors of {' and '.join(map(str, sorted(sectors)))} bytes, "
                "which vgcreate refuses",
                "make a volume group for each size of sector",
            )
        room = self._room(name, path, site)
        fixed = {
            v: align_up(int(e.size), self.extent) // self.extent
            for v, e in self.volumes.items()
            if e.size != "100%free"
        }
        empty = next((volume for volume, count in fixed.items() if not count), None)
        if empty is not None:
            raise Impossible(
                "invalid-value",
                (*path, "volumes", empty, "size"),
                f"{name}.{empty} has no size",
                "write a size such as 20GiB",
            )
        rest = [volume for volume in self.volumes if volume not in fixed]
        left = room - sum(fixed.values())
        if left < len(rest):
            needed, size = (sum(fixed.values()) + len(rest)) * self.extent, room * self.extent
            raise Impossible(
                "volumes-too-large",
                (*path, "volumes"),
                f"the volumes of {name} take {human_beside(needed, size)}, and it holds {human(size)}",
                "make them smaller" if rest else "make them smaller, or give one of them 100%free",
            )
        if len(rest) > 1:
            raise Impossible(
                "volumes-too-large",
                (*path, "volumes", rest[1], "size"),
                f"{len(rest)} volumes of {name} take 100%free",
                "let one do so",
            )
        return {volume: fixed.get(volume, left) for volume in self.volumes}

    def steps(self, name: str, path: Path, site: Site) -> Iterator[Step]:
        uses = list(self.uses(name, path))
        parts = [site.taken(use) for use in uses]
        because = ".".join(map(str, path))
        physical = []
        for part in parts:
            step = self._physical_volume(name, part, because, site)
            physical.append(step.id)
            yield step
        group = f"volume.{name}.create"
        copy = "--autobackup=n" if site.target else "--autobackup=y"
        yield Step(
            id=group,
            phase="volume",
            say=f"create volume group {name} on {', '.join(part.name for part in parts)}",
            action=Run(("vgcreate", copy, f"--physicalextentsize={self.extent}b", "--setautoactivation=y", name, *(part.node for part in parts))),
            because=because,
            needs=tuple(physical),
            targets=(name, *(part.name for part in parts)),
            proof=Proof("volume_group", name, {"extent": self.extent, "devices": sorted(identity(part) for part in parts)}),
        )  # fmt: skip
        extents = self._extents(name, path, site)
        for volume in self.volumes:
            made = site.devices[f"{name}.{volume}"]
            yield self._volume(name, volume, made, extents[volume], path, group, below=bool(site.target))

    def _physical_volume(self, name: str, part: Device, because: str, site: Site) -> Step:
        uuid = lvm.lvm_uuid(f"{site.host}/physical_volume/{name}/{part.name}")
        start = self.data_start(part)
        return Step(
            id=f"volume.{name}.physical.{part.name}",
            phase="volume",
            say=f"create physical volume {part.name}, data from {human(start)} on",
            action=Run(("pvcreate", "--yes", "--quiet", f"--uuid={uuid}", "--norestorefile", f"--dataalignment={part.stripe or MIB}b", part.node)),
            because=because,
            needs=part.made_by,
            targets=(part.name,),
            destroys=(everything_on(part.name),),
            guard=(part.node,),
            proof=Proof("physical_volume", uuid, {"device": identity(part), "data_start": start}),
        )  # fmt: skip

    def _volume(
        self, name: str, volume: str, made: Device, extents: int, path: Path, group: str, *, below: bool
    ) -> Step:
        """`below` a target LVM's copy of the metadata would come into the rescue system's own /etc/lvm."""
        read_ahead = "auto" if made.read_ahead is None else f"{made.read_ahead // SECTOR}s"
        size = extents * self.extent
        no_copy = ("--autobackup=n",) if below else ()
        return Step(
            id=f"volume.{name}.{volume}.create",
            phase="volume",
            say=f"create volume {name}.{volume} of {human(size)}",
            action=Run(("lvcreate", "--yes", "--quiet", *no_copy, "--wipesignatures=n", "--zero=y", f"--extents={extents}", f"--readahead={read_ahead}", f"--name={volume}", name)),
            because=".".join(map(str, (*path, "volumes", volume))),
            needs=(group,),
            # Volumes of one group share its metadata: never two lvcreate at once.
            targets=(f"{name}.{volume}", name),
            awaits=(f"/dev/{name}/{volume}",),
            proof=Proof("volume", f"{name}/{volume}", {"size": size, "read_ahead": "auto" if made.read_ahead is None else made.read_ahead, "active": True}),
        )  # fmt: skip
