"""The devices that the parts of a layout offer each other, and the uses of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, Protocol

from raidplan.base.findings import Path
from raidplan.plan.step import Step

Role = Literal["linux", "raid", "lvm", "swap", "esp", "bios-boot"]
"""The purpose of a device; the words are those of a partition's `type`."""


class Use(NamedTuple):
    """Something at `path` takes the device `device` for itself."""

    path: Path
    device: str
    role: Role
    whole_disk: bool = False
    """A disk is wanted as it is, without a partition."""


class Device(NamedTuple):
    """A block device as it will be: a disk, a partition, an array, a volume, an opened encryption."""

    name: str
    """In the layout: `d00`, `d00.root`, `s0`, `vg0.home`."""
    kind: str
    path: Path
    """The path in the layout."""
    node: str
    """The name in commands: `{d00}` for a disk, else a path under /dev that exists once it is made."""
    size: int
    """Bytes."""
    made_by: tuple[str, ...] = ()
    """The steps that must be done before it can be used."""
    on: tuple[str, ...] = ()
    """The devices it stands on, by name."""
    uuid: str = ""
    logical_block: int = 512
    physical_block: int = 512
    chunk: int = 0
    """Bytes written to one member before the next; 0 without striping."""
    data_disks: int = 0
    """Members' worth of data in a stripe; 0 without striping."""
    rotational: bool | None = None
    volatile: bool = False
    """Its content is lost with each boot."""
    read_ahead: int | None = None
    """Bytes, where the layout says how many."""

    @property
    def stripe(self) -> int:
        """Bytes in a full stripe of data."""
        return self.chunk * self.data_disks


class Group(NamedTuple):
    """Devices that a thing stands on together: with more than `may_lose` of them gone, it stops."""

    devices: tuple[str, ...]
    may_lose: int = 0
    then: Literal["lost", "read-only"] = "lost"
    """The state of the thing without them."""


class Impossible(Exception):
    """Inside resolution only: this part of the layout cannot be built; carries the finding's text."""

    def __init__(self, rule: str, path: Path, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.rule, self.path, self.message, self.hint = rule, path, message, hint


class Line(NamedTuple):
    """A line for a configuration file of the host: `fstab`, `crypttab`, `mdadm.conf` or `udev`."""

    file: Literal[
        "fstab",
        "crypttab",
        "mdadm.conf",
        "udev",
        "udev where degraded arrays start",
        "udev where degraded arrays wait",
    ]
    text: str


class Site(Protocol):
    """The rest of the layout, as far as a kind may know it."""

    @property
    def host(self) -> str:
        """The host's name."""

    @property
    def devices(self) -> Mapping[str, Device]:
        """The devices known so far, by name."""

    @property
    def used_by(self) -> Mapping[str, Use]:
        """The one use of each device."""

    def taken(self, use: Use) -> Device:
        """The device a use gets: of a bare disk, the partition made for it."""

    @property
    def target(self) -> str:
        """The folder below which the host's files lie, in a rescue system; empty on the host itself."""

    @property
    def system(self) -> frozenset[str]:
        """The devices below file systems without which the machine does not start."""

    @property
    def esps(self) -> frozenset[str]:
        """The EFI system partitions."""


class Kind:
    """The life of a thing in a layout; each kind overrides what it has."""

    def provides(self, name: str) -> Iterator[str]:
        """The names of the devices it offers."""
        yield from ()

    def uses(self, name: str, path: Path) -> Iterator[Use]:
        """The devices it takes."""
        yield from ()

    def stands_on(self, name: str, path: Path) -> Iterator[Group]:
        """The devices that it cannot do without; by default all that it takes."""
        yield Group(tuple(use.device for use in self.uses(name, path)))

    def resolve(self, name: str, path: Path, site: Site) -> Iterator[Device]:
        """The devices it offers, once those it uses are known. Raises Impossible."""
        yield from ()

    def steps(self, name: str, path: Path, site: Site) -> Iterator[Step]:
        """The steps that make it."""
        yield from ()

    def lines(self, name: str, path: Path, site: Site) -> Iterator[Line]:
        """The lines of the thing in the host's configuration files."""
        yield from ()
