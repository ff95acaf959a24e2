"""File systems and where they are mounted."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Literal

from raidplan.base.filesystems import FILESYSTEMS, layout_keys
from raidplan.base.filesystems.type import BadLabel, FilesystemType
from raidplan.base.findings import Path, shortened
from raidplan.base.hidden import is_seen
from raidplan.base.identity import derived_uuid
from raidplan.base.mistake import Mistake
from raidplan.base.mount_flags import flags
from raidplan.base.size import human
from raidplan.layout.kinds.boot_options import BOOT_OPTIONS
from raidplan.layout.kinds.device import Device, Impossible, Kind, Line, Site, Use
from raidplan.layout.kinds.model import (
    Integer,
    Label,
    Model,
    OneOf,
    Percent,
    Positive,
    Reference,
    Size,
    Written,
)
from raidplan.layout.kinds.naming import identity
from raidplan.plan.loss import everything_on
from raidplan.plan.places import SYSTEM_MOUNTS
from raidplan.plan.step import Proof, Run, Step, Value

KERNEL_FOLDERS = ("dev", "proc", "sys")
"""Below which no folder lasts, and no file is on a disk."""


def _mount_point(text: str) -> str:
    parts = text.split("/")
    plain = text == "/" or (text.startswith("/") and "" not in parts[1:] and not {".", ".."} & set(parts))
    if not plain or len(text) > 4096:
        raise Mistake(
            f"'{text}' is not a mount point",
            "write an absolute path such as /srv/data, without . .. // or / at its end",
        )
    if parts[1] in KERNEL_FOLDERS:
        raise Mistake(
            f"'{text}' lies in /{parts[1]}, which the kernel fills", "write a path such as /srv/data"
        )
    if not is_seen(text) or any(len(part.encode()) > 255 for part in parts):
        raise Mistake(
            f"a part of the mount point '{text}' has more than 255 bytes, or holds a control character"
        )
    return text


def _option(text: str) -> str:
    if not text or not text.isascii() or not text.isprintable() or any(c in text for c in " ,\"'\\#"):
        raise Mistake(f"'{text}' is not a mount option", "write one word, without spaces, commas and quotes")
    return text


FormatName = Annotated[str, OneOf(FILESYSTEMS)]
MountPoint = Annotated[str, Written(_mount_point, {"type": "string", "pattern": "^/"}, "/srv/data")]
Option = Annotated[str, Written(_option, {"type": "string", "pattern": r"""^[^ ,"'\\#]+$"""}, "noatime")]


class Filesystem(Model, Kind):
    """A file system on a partition, an array or a volume."""

    device: Reference
    """The partition, array or volume it is made on: `d00.root`, `s0`, `vg0.home`."""
    type: FormatName
    """The type of file system."""
    mount: MountPoint | None = None
    """The mount point, for which a line goes into fstab; without it the file system is made and not mounted."""
    label: Label | None = None
    """The label, as long as the type allows."""
    options: tuple[Option, ...] = ()
    """Mount options: `noatime`; nofail and a device timeout are added unless `auto`, `nofail` or a timeout is named. With nofail a service
    that needs the mount is started without it, unless a drop-in of it says `RequiresMountsFor=PATH`."""
    workload: Literal["database", "small-files", "mixed", "large-files"] | None = None
    """Its workload, where that is not the machine's."""
    files: Positive | None = None
    """The number of files that it should hold: `40000000`; rules compare it with the inodes."""
    inodes: Integer | None = None
    """ext: how many inodes to make (mke2fs -N): `100000000`."""
    inode_ratio: Size | None = None
    """ext: bytes for each inode (mke2fs -i): `16KiB`."""
    reserved: Percent = Fraction(5)
    """ext: blocks kept for root (mke2fs -m)."""

    @property
    def stops_boot(self) -> bool:
        """The machine does not start without it."""
        if self.mount in ("/", "/usr") or not self.mount:  # mounted by the initramfs, whatever its options
            return bool(self.mount)
        waited_for = self.mount in SYSTEM_MOUNTS or "auto" in self.options
        return waited_for and not {"nofail", "noauto"}.intersection(self.options)

    @property
    def format(self) -> FilesystemType:
        """The record of its type."""
        return FILESYSTEMS[self.type]

    def uses(self, name: str, path: Path) -> Iterator[Use]:
        yield Use((*path, "device"), self.device, "linux")

    def _device(self, name: str, path: Path, site: Site) -> Device:
        return site.taken(next(self.uses(name, path)))

    def resolve(self, name: str, path: Path, site: Site) -> Iterator[Device]:
        device = self._device(name, path, site)
        length, longest = self.format.label_length(self.label or ""), self.format.label_bytes
        if length > longest:
            raise Impossible(
                "label-too-long",
                (*path, "label"),
                f"a label of {self.type} has at most {longest} bytes, "
                f"'{shortened(self.label or '')}' has {length}",
                "shorten it",
            )
        for key in layout_keys():
            if key in self.written and key not in self.format.keys:
                raise Impossible(
                    "invalid-value", (*path, key), f"{self.type} has no '{key}'", "remove it, or choose ext4"
                )
        try:
            self.format.fits(self, device)
        except BadLabel as error:
            raise Impossible("invalid-value", (*path, "label"), *error.args) from None
        except ValueError as error:
            key = next((key for key in layout_keys() if key in self.written), "device")
            hint = "choose a larger device or another type" if key == "device" else f"change '{key}'"
            raise Impossible("impossible-filesystem", (*path, key), str(error), hint) from None
        yield from ()

    def steps(self, name: str, path: Path, site: Site) -> Iterator[Step]:
        device = self._device(name, path, site)
        because = ".".join(map(str, path))
        uuid = self.format.uuid(derived_uuid(site.host, "filesystem", name))
        special = self.format.say(self, device)
        make = Step(
            id=f"filesystem.{name}.make",
            phase="format",
            say=f"format {device.name} as {self.type} {name}, {human(device.size)}" + (f", {special}" if special else ""),
            action=Run(self.format.make(self, device, uuid)),
            because=because,
            needs=device.made_by,
            targets=(device.name,),
            destroys=(everything_on(device.name),),
            guard=(device.node,),
            awaits=(f"/dev/disk/by-uuid/{uuid}",),
            proof=Proof("filesystem", uuid, {"type": self.type, "device": identity(device), "label": self.label or "", **self.format.expect(self, device)}),
        )  # fmt: skip
        yield make
        if self.mount and site.target:
            yield from self._mount_below(site.target, name, because, make, device)
        elif self.mount:
            yield from self._mount_steps(name, because, self.mount, make, device)

    def _mount_steps(self, name: str, because: str, mount: str, make: Step, device: Device) -> Iterator[Step]:
        point = Step(
            id=f"filesystem.{name}.mountpoint",
            phase="activate",
            say=f"create directory {mount}",
            action=Run(("mkdir", "--parents", mount)),
            because=because,
            needs=("config.fstab.reload",),
            targets=(f"{mount}",),
            proof=Proof("directory", mount, {"exists": True}),
        )
        points = () if mount == "/" else (point,)
        yield from points
        yield Step(
            id=f"filesystem.{name}.mount",
            phase="activate",
            say=f"mount {name} at {mount}",
            # Not mount(8): what it mounts before systemd knows the device by the name in fstab, systemd takes back.
            action=Run(("systemctl", "start", mount)),
            because=because,
            needs=(make.id, "config.fstab.reload", *(each.id for each in points)),
            targets=(mount,),
            proof=self._mounted(mount, device),
        )

    def _mount_below(
        self, target: str, name: str, because: str, make: Step, device: Device
    ) -> Iterator[Step]:
        """The options in a rescue system, whose systemd knows nothing of the fstab below the target."""
        mount = self.mount or ""
        folder = target + mount.rstrip("/")
        point = Step(
            id=f"filesystem.{name}.mountpoint",
            phase="activate",
            say=f"create directory {folder}",
            action=Run(("mkdir", "--parents", folder)),
            because=because,
            targets=(mount,),
            proof=Proof("directory", mount, {"exists": True}),
        )
        yield point
        yield Step(
            id=f"filesystem.{name}.mount",
            phase="activate",
            say=f"mount {name} at {folder}",
            action=Run(
                (
                    "mount",
                    "--types",
                    self.type,
                    "--options",
                    ",".join(self.options) or "defaults",
                    device.node,
                    folder,
                )
            ),
            because=because,
            needs=(make.id, point.id),
            targets=(mount,),
            proof=self._mounted(mount, device),
        )

    def _mounted(self, mount: str, device: Device) -> Proof:
        expect: dict[str, Value] = {
            "source": identity(device),
            "type": self.type,
            "flags": [*flags(self.options)],
        }
        return Proof("mount", mount, expect)

    def lines(self, name: str, path: Path, site: Site) -> Iterator[Line]:
        if not self.mount:
            return
        uuid = self.format.uuid(derived_uuid(site.host, "filesystem", name))
        options = ",".join(self.mount_options)
        turn = min(self.format.fsck_pass, 1) if self.mount == "/" else self.format.fsck_pass  # fstab(5)
        yield Line("fstab", f"UUID={uuid} {fstab_field(self.mount)} {self.type} {options} 0 {turn}")

    @property
    def mount_options(self) -> tuple[str, ...]:
        """All options in its line of fstab."""
        return (*(self.options or ("defaults",)), *self._boot_options())

    def _boot_options(self) -> tuple[str, ...]:
        """The options that keep the boot going without this mount; none for a mount that the system itself needs."""
        if self.mount in SYSTEM_MOUNTS or "auto" in self.options:
            return ()
        given = {option.partition("=")[0] for option in self.options}
        return tuple(option for option in BOOT_OPTIONS if option.partition("=")[0] not in given)


def fstab_field(text: str) -> str:
    """A field of fstab with blanks, backslashes and # as octal escapes (fstab(5), getmntent(3))."""
    return "".join(f"\\{ord(c):03o}" if c in " \t\\#" else c for c in text)
