"""Identifiers: the UUIDs that follow from the layout, so that files can name what does not exist yet, and identities.

Every created thing has a UUID derived from the host and the thing's name: the same layout gives the same
plan on any machine, and what is found half made is known as ours.
"""

from __future__ import annotations

import uuid
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Self

NAMESPACE = uuid.UUID("5c5b1c0e-6b0b-5c0f-9d0a-7261696470ff")


def derived_uuid(host: str, kind: str, name: str) -> str:
    """The UUID (version 5) of a thing: `derived_uuid("jbod", "array", "s0")`."""
    return str(uuid.uuid5(NAMESPACE, f"{host}/{kind}/{name}"))


def encryption_uuid(host: str, name: str) -> str:
    """The UUID of the header, or of the label, of an encryption."""
    return derived_uuid(host, "encryption", name)


DISK, NODE = "disk", "node"


class Identity(NamedTuple):
    """A device or another object by what it is; plans, snapshots and journals have it as a text, made and read here alone.

    Of kind `disk` a disk of the layout (`{d00}`), of kind `node` whatever has no more than a node (`/dev/sda`); of all
    others kind and key (`partition:<uuid>`, `volume:vg0/home`, `file:/swapfile`).
    """

    kind: str
    key: str

    def __str__(self) -> str:
        return {DISK: f"{{{self.key}}}", NODE: self.key}.get(self.kind, f"{self.kind}:{self.key}")

    @classmethod
    @lru_cache(2**14)  # of each word of a plan it is asked for hundreds of times
    def read(cls, text: str) -> Self:
        """The identity in a text: of any text, and what was read gives the same text again."""
        if text[:1] + text[-1:] == "{}":
            return cls(DISK, text[1:-1])
        kind, colon, key = text.partition(":")
        return cls(kind, key) if colon and kind not in (DISK, NODE) and "/" not in kind else cls(NODE, text)

    @property
    def disk(self) -> str:
        """The name of a disk of the layout; empty for anything else."""
        return self.key if self.kind == DISK else ""


def disk_word(name: str) -> str:
    """The word `{d00}` that stands for the disk d00 in commands, guards and proofs."""
    return str(Identity(DISK, name))


def group_of(volume: str) -> str:
    """The group of a logical volume, by its key `group/volume`."""
    return volume.rpartition("/")[0]


def mapper_node(volume: str) -> str:
    """The node of a logical volume, by its key; device-mapper doubles the hyphens of each part."""
    return "/dev/mapper/" + "-".join(part.replace("-", "--") for part in volume.split("/"))


def md_form(text: str) -> str:
    """A UUID as mdadm writes it: four groups of eight, joined by colons."""
    digits = text.replace("-", "")
    return ":".join(digits[i : i + 8] for i in range(0, 32, 8))


def fat_form(text: str) -> str:
    """The first eight digits as a FAT volume id: `1A2B-3C4D`."""
    digits = text.replace("-", "")[:8].upper()
    return f"{digits[:4]}-{digits[4:]}"


def lvm_form(digits: str) -> str:
    """A UUID of LVM as it prints it, from the 32 characters that the disk and device-mapper keep."""
    return "-".join(digits[start:end] for start, end in pairwise((0, 6, 10, 14, 18, 22, 26, 32)))
