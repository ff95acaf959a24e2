"""Swap areas: a partition, an array, a volume, or a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from raidplan.base.findings import Path, shortened
from raidplan.base.identity import Identity, derived_uuid
from raidplan.base.size import MIB, human
from raidplan.layout.kinds.device import Device, Impossible, Kind, Line, Site, Use
from raidplan.layout.kinds.filesystem import MountPoint, fstab_field
from raidplan.layout.kinds.model import Integer, Label, Model, Reference, Size
from raidplan.layout.kinds.naming import identity
from raidplan.plan.loss import everything_on
from raidplan.plan.step import Proof, Run, Step

LABEL_BYTES = 15


class Swap(Model, Kind):
    """A swap area; either `device`, or `file` with its `size`."""

    device: Reference | None = None
    """The partition, array or volume it lies on: `os.swap`."""
    file: MountPoint | None = None
    """The file it lies in: `/swapfile`."""
    size: Size | None = None
    """The size of a file, `4GiB`; rounded up to 1 MiB."""
    priority: Integer | None = None
    """-1 to 32767, such as `10`; areas of equal priority are used in turn, as a stripe."""
    label: Label | None = None
    """The label, of at most 15 bytes."""

    def uses(self, name: str, path: Path) -> Iterator[Use]:
        if self.device:
            yield Use((*path, "device"), self.device, "swap")

    def resolve(self, name: str, path: Path, site: Site) -> Iterator[Device]:
        if not self.device and not self.file:
            raise Impossible(
                "missing-key", path, f"{name} has neither 'device' nor 'file'", "add one of the two"
            )
        if self.device and self.file:
            raise Impossible(
                "invalid-value",
                (*path, "file"),
                f"{name} has both 'device' and 'file'",
                "remove one of the two",
            )
        if self.file and not self.size:
            raise Impossible("missing-key", path, f"the file of {name} has no size", "add size: 4GiB")
        if self.device and self.size is not None:
            raise Impossible(
                "invalid-value",
                (*path, "size"),
                f"{name} lies on a device, which has its size",
                "remove 'size'",
            )
        length = len((self.label or "").encode())
        if length > LABEL_BYTES:
            message = f"a label of swap has at most {LABEL_BYTES} bytes, '{shortened(self.label or '')}' has {length}"
            raise Impossible("label-too-long", (*path, "label"), message, "shorten it")
        yield from ()

    def steps(self, name: str, path: Path, site: Site) -> Iterator[Step]:
        because = ".".join(map(str, path))
        uuid = derived_uuid(site.host, "swap", name)
        if self.file:
            yield from self._file_steps(name, because, self.file, uuid, site)
        else:
            yield from self._device_steps(name, because, uuid, site.taken(next(self.uses(name, path))), site)

    def _make_argv(self, uuid: str, target: str) -> tuple[str, ...]:
        return ("mkswap", "--quiet", "--uuid", uuid, *(("--label", self.label) if self.label else ()), target)

    def _on_argv(self, target: str) -> tuple[str, ...]:
        return (
            "swapon",
            *(("--priority", str(self.own_priority)) if self.own_priority is not None else ()),
            target,
        )

    def _device_steps(self, name: str, because: str, uuid: str, device: Device, site: Site) -> Iterator[Step]:
        key = identity(device) if device.volatile else uuid
        make = Step(
            id=f"swap.{name}.make",
            phase="format",
            say=f"format {device.name} as the swap area {name}, {human(device.size)}",
            action=Run(self._make_argv(uuid, device.node)),
            because=because,
            needs=device.made_by,
            targets=(device.name,),
            destroys=(everything_on(device.name),),
            guard=(device.node,),
            awaits=(f"/dev/disk/by-uuid/{uuid}",),
            proof=Proof("swap", key, {"device": identity(device), "label": self.label or ""}),
        )
        if (
            device.volatile
        ):  # the boot makes it again, with another UUID and no label; nobody can miss what is on it
            proof = Proof("swap", key, {"device": identity(device)})
            make = replace(make, destroys=(), guard=(), awaits=(device.node,), proof=proof)
        yield make
        if site.target:
            return  # A rescue system does not swap on the disks of the machine that it makes.
        yield Step(
            id=f"swap.{name}.on",
            phase="activate",
            say=f"enable the swap area {name}",
            action=Run(self._on_argv(device.node)),
            because=because,
            needs=(f"swap.{name}.make", "config.fstab.reload"),
            targets=(device.name,),
            proof=Proof("swap", key, {"active": True, **self._priority()}),
        )

    def _file_steps(self, name: str, because: str, point: str, uuid: str, site: Site) -> Iterator[Step]:
        file = site.target + point
        size = -(-(self.size or 0) // MIB)
        area = Proof("swap", str(Identity("file", file)), {"size": size * MIB})
        used = Proof("swap", area.key, {"active": True, **self._priority()})
        on = (("on", f"enable the swap area {name}", self._on_argv(file), used),)
        # Written, not allocated: the kernel refuses swap files with holes (swapon(8)).
        make = Step(
            id=f"swap.{name}.file",
            phase="activate",
            say=f"create the swap file {file}, {human(size * MIB)}",
            action=Run(
                (
                    "dd",
                    "if=/dev/zero",
                    f"of={file}",
                    "bs=1MiB",
                    f"count={size}",
                    "conv=excl,fsync",
                    "status=none",
                )
            ),
            because=because,
            needs=("config.fstab.reload",),
            targets=(point,),
            guard=(file,),
            proof=area,
        )
        yield make
        last = make.id
        for verb, say, argv, proof in (
            ("mode", f"let only root read {file}", ("chmod", "0600", file), area),
            ("make", f"format {file} as the swap area {name}", self._make_argv(uuid, file), area),
            *(() if site.target else on),
        ):
            step = Step(
                id=f"swap.{name}.{verb}",
                phase="activate",
                say=say,
                action=Run(argv),
                because=because,
                needs=(last,),
                follows=(last,),
                targets=(point,),
                proof=proof,
            )
            yield step
            last = step.id

    @property
    def own_priority(self) -> int | None:
        """The priority, if it has one: of a negative one the kernel draws another (swapon(2))."""
        return self.priority if self.priority is not None and self.priority >= 0 else None

    def _priority(self) -> dict[str, int]:
        return {} if self.own_priority is None else {"priority": self.own_priority}

    def lines(self, name: str, path: Path, site: Site) -> Iterator[Line]:
        source = fstab_field(self.file) if self.file else f"UUID={derived_uuid(site.host, 'swap', name)}"
        if self.device and (device := site.taken(next(self.uses(name, path)))).volatile:
            source = device.node
        priority = f",pri={self.own_priority}" if self.own_priority is not None else ""
        yield Line("fstab", f"{source} none swap sw,nofail{priority} 0 0")
