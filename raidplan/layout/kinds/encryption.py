"""Encryption between two layers: LUKS2 with a passphrase or a key file, or a new random key at each boot for swap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from raidplan.base.filesystems.ext import label_argv
from raidplan.base.findings import Path
from raidplan.base.identity import encryption_uuid
from raidplan.base.size import SECTOR, human
from raidplan.geometry import luks
from raidplan.layout.kinds.device import Device, Impossible, Kind, Line, Site, Use
from raidplan.layout.kinds.filesystem import MountPoint
from raidplan.layout.kinds.model import Block, Boolean, Model, Reference
from raidplan.layout.kinds.naming import identity
from raidplan.plan.loss import everything_on
from raidplan.plan.step import Proof, Run, Step

CIPHER, KEY_BITS = "aes-xts-plain64", 512
"""cryptsetup's default for LUKS2 with the longer of its two keys (cryptsetup-luksFormat(8))."""
MOST = 40
"""Characters of a name: with its UUID it is part of the name of the mapping in the kernel, of at most 128."""


class KeyFile(Model):
    """A file with the key."""

    file: MountPoint
    """Its path: `/etc/keys/data.key`. It has to be there before, and nobody but root may read it."""


class Encryption(Model, Kind):
    """An encrypted device: LUKS2 between any two layers, reached by its name in /dev/mapper."""

    device: Reference
    """The partition, array or volume below it: `d00.root`, `s0`, `vg0.home`."""
    key: Literal["ask", "random"] | KeyFile
    """The key: `ask` for a passphrase at the terminal, `{file: PATH}` for a key file, or `random` for another one at each boot, for swap only."""
    discard: Boolean = False
    """Whether discards of what stands on it reach the device; they show which parts are in use."""
    sector_size: Block | None = None
    """Bytes that are encrypted as one, 512 to 4096: `4096`; by default the `physical_block` of the disks below when made, else 512. It cannot be changed later."""

    @property
    def is_random(self) -> bool:
        """The key is another one at each boot, and so is the content."""
        return self.key == "random"

    @property
    def key_file(self) -> str:
        """The path of the key file; empty without one."""
        return self.key.file if isinstance(self.key, KeyFile) else ""

    def provides(self, name: str) -> Iterator[str]:
        yield name

    def uses(self, name: str, path: Path) -> Iterator[Use]:
        yield Use((*path, "device"), self.device, "linux")

    def _below(self, name: str, path: Path, site: Site) -> Device:
        return site.taken(next(self.uses(name, path)))

    def offset(self, below: Device) -> int:
        """Bytes before the data."""
        return luks.data_offset(below.stripe, luks.LABEL if self.is_random else luks.HEADER)

    def sector(self, below: Device) -> int:
        """Bytes that are encrypted as one, where it is made."""
        return self.sector_size or luks.sector_size(
            below.size, self.offset(below), below.logical_block, below.physical_block
        )

    def uuid(self, name: str, site: Site) -> str:
        """The UUID of the header, or of the label."""
        return encryption_uuid(site.host, name)

    def resolve(self, name: str, path: Path, site: Site) -> Iterator[Device]:
        below = self._below(name, path, site)
        if len(name) > MOST:
            raise Impossible(
                "name-too-long", path, f"{name} has {len(name)} characters", f"use at most {MOST}"
            )
        use = site.used_by.get(name)
        if self.is_random and (use is None or use.role != "swap"):
            raise Impossible(
                "invalid-value",
                (*path, "key"),
                f"the key of {name} is another one at each boot, so nothing but swap can be on it",
                "write key: ask, or let swap be on it",
            )
        sector = self.sector(below)
        if sector < below.logical_block:
            message = f"{below.name} has sectors of {below.logical_block} bytes, and {name} would encrypt {sector} as one"
            raise Impossible(
                "invalid-value",
                (*path, "sector_size"),
                message,
                f"write {below.logical_block}, or leave it out",
            )
        try:
            size = luks.data_bytes(below.size, self.offset(below), sector)
        except ValueError as error:
            key = "sector_size" if self.sector_size else "device"
            hint = "leave it out" if self.sector_size else "choose a larger device"
            raise Impossible("impossible-encryption", (*path, key), str(error), hint) from None
        yield Device(
            name=name,
            kind="mapping",
            path=path,
            node=f"/dev/mapper/{name}",
            size=size,
            made_by=(f"encryption.{name}.open",),
            on=(below.name,),
            uuid=name if self.is_random else self.uuid(name, site),
            # As dm-crypt sets its limits (crypt_io_hints); stripes show through, since the data begin at one.
            logical_block=max(below.logical_block, sector),
            physical_block=max(below.physical_block, sector),
            chunk=below.chunk,
            data_disks=below.data_disks,
            rotational=below.rotational,
            volatile=self.is_random,
            read_ahead=below.read_ahead,  # cryptsetup takes it over when it opens the mapping
        )

    def steps(self, name: str, path: Path, site: Site) -> Iterator[Step]:
        below, because = self._below(name, path, site), ".".join(map(str, path))
        yield (
            self._label(name, because, below, site)
            if self.is_random
            else self._format(name, because, below, site)
        )
        yield self._open(name, because, below, site)
        if self.key_file and site.target:
            yield self._key_below(name, because, site)

    def _format(self, name: str, because: str, below: Device, site: Site) -> Step:
        offset, sector, uuid = self.offset(below), self.sector(below), self.uuid(name, site)
        argv = (
            "cryptsetup", "luksFormat", "--type", "luks2", "--batch-mode", "--uuid", uuid, "--cipher", CIPHER,
            "--key-size", str(KEY_BITS), "--pbkdf", "argon2id", "--sector-size", str(sector),
            "--offset", str(offset // SECTOR), *self._key_words(), below.node,
        )  # fmt: skip
        return Step(
            id=f"encryption.{name}.make",
            phase="volume",
            say=f"encrypt {below.name} as {name}, LUKS2, {self._key_source()}, data from {human(offset)} on",
            action=Run(argv, key=self._passphrase_owner(name)),
            because=because,
            needs=below.made_by,
            targets=(below.name,),
            destroys=(everything_on(below.name),),
            guard=(below.node,),
            awaits=(f"/dev/disk/by-uuid/{uuid}",),
            proof=Proof("encryption", uuid, {
                "type": "luks2", "device": identity(below), "cipher": CIPHER, "sector_size": sector,
                "data_offset": offset, "headers": 2, "keyed": True,
            }, ("sector_size",) if self.sector_size else ()),
        )  # fmt: skip

    def _label(self, name: str, because: str, below: Device, site: Site) -> Step:
        """A label in front of what is encrypted, so that nothing else is ever opened with a key that nobody keeps."""
        uuid = self.uuid(name, site)
        return Step(
            id=f"encryption.{name}.make",
            phase="volume",
            say=f"put a label of {human(luks.LABEL)} in front of {below.name}, by which it is known",
            action=Run(label_argv(below.node, uuid, luks.LABEL)),
            because=because,
            needs=below.made_by,
            targets=(below.name,),
            destroys=(everything_on(below.name),),
            guard=(below.node,),
            awaits=(f"/dev/disk/by-uuid/{uuid}",),
            proof=Proof("encryption", uuid, {"type": "plain", "device": identity(below)}),
        )

    def _open(self, name: str, because: str, below: Device, site: Site) -> Step:
        key = name if self.is_random else self.uuid(name, site)
        discards = ("--allow-discards",) if self.discard else ()
        if self.is_random:
            plain = ("--type", "plain", "--cipher", CIPHER, "--key-size", str(KEY_BITS))
            place = (
                "--sector-size",
                str(self.sector(below)),
                "--offset",
                str(self.offset(below) // SECTOR),
            )
            words = (*plain, *place, *discards, "--key-file", "/dev/urandom")
        else:
            words = ("--type", "luks2", *discards, *self._key_words())
        return Step(
            id=f"encryption.{name}.open",
            phase="volume",
            say=f"open {name}" + (" with a random key" if self.is_random else ""),
            action=Run(("cryptsetup", "open", *words, below.node, name), key=self._passphrase_owner(name)),
            because=because,
            needs=(f"encryption.{name}.make",),
            targets=(name, below.name),
            awaits=(f"/dev/mapper/{name}",),
            proof=Proof(
                "mapping", key, {"name": name, "device": identity(below), "discard": bool(self.discard)}
            ),
        )

    def _passphrase_owner(self, name: str) -> str:
        """The encryption whose passphrase is asked for; empty where none is."""
        return name if self.key == "ask" else ""

    def _key_words(self) -> tuple[str, ...]:
        return ("--key-file", self.key_file) if self.key_file else ("--key-file=-",)

    def _key_source(self) -> str:
        return f"key in {self.key_file}" if self.key_file else "passphrase asked for"

    def _key_below(self, name: str, because: str, site: Site) -> Step:
        return Step(
            id=f"encryption.{name}.key",
            phase="configure",
            say=f"copy the key of {name} to {site.target}{self.key_file}",
            action=Run(("install", "-D", "--mode=0400", self.key_file, site.target + self.key_file)),
            because=because,
            needs=(f"encryption.{name}.open",),
            targets=(self.key_file,),
            proof=Proof("key_file", self.key_file, {"secret": True}),
        )

    def lines(self, name: str, path: Path, site: Site) -> Iterator[Line]:
        below = self._below(name, path, site)
        more = ("discard",) if self.discard else ()
        # What the system itself stands on is waited for; all else must not stop the boot.
        more = (*more, *(() if name in site.system else ("nofail",)))
        if self.is_random:
            place = f"offset={self.offset(below) // SECTOR},sector-size={self.sector(below)}"
            options = ("plain", "swap", f"cipher={CIPHER}", f"size={KEY_BITS}", place, *more)
            key = "/dev/urandom"
        else:
            options, key = ("luks", *more), self.key_file or "none"
        yield Line("crypttab", f"{name} UUID={self.uuid(name, site)} {key} {','.join(options)}")
