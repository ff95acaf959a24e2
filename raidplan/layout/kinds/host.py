"""Settings of the whole machine: booting, alarms, and the findings that were accepted."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from raidplan.base.mistake import Mistake
from raidplan.layout.kinds.model import Boolean, Model, Reference, Word, Written


def parse_date(text: str) -> str:
    """A day of the calendar, YYYY-MM-DD. Raises Mistake."""
    from datetime import date  # slow to load, and few layouts hold a date

    try:
        if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise Mistake(f"'{text}' is not a date", "write YYYY-MM-DD")


Date = Annotated[
    str, Written(parse_date, {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}, "2027-06-30")
]


ADDRESS = {"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._%+=-]*(@[A-Za-z0-9][A-Za-z0-9.-]*)?$"}


def _address(text: str) -> str:
    # What mdadm.conf would read as a comment, a quotation or a second word is no part of it.
    if not re.fullmatch(ADDRESS["pattern"], text):
        raise Mistake(f"'{text}' is not one mail address", "write root or root@example.org")
    return text


Address = Annotated[str, Written(_address, ADDRESS, "root@example.org")]


class Boot(Model):
    """The boot of the machine."""

    esp: tuple[Reference, ...] = ()
    """The EFI system partitions, `[a.esp, b.esp]`, where they are not mounted; a `loader` wants each mounted, as `/boot/efi` and
    `/boot/efi2`."""
    loader: Literal["grub", "grub-legacy", "lilo", "syslinux", "systemd-boot", "none"] | None = None
    """The boot loader. `grub`, and for UEFI `systemd-boot` with every kernel, is installed on every disk that has a place for it, if
    `firmware` is written; any other, and where nothing is written, none is. `none`: you install one yourself."""
    degraded: Literal["start", "wait"] = "start"
    """The treatment, at boot, of an array that lacks a member: start it after 30 s, or wait for a person.

    Where what the root file system stands on lacks one, the initramfs starts all arrays.
    """


class Monitoring(Model):
    """The address of alarms, and how often members are read for latent errors."""

    mail: Address | None = None
    """mdadm's MAILADDR, one address for all arrays of the machine; mdadm sends through the host's sendmail."""
    scrub: Literal["monthly", "none"] | None = None
    """monthly: on the first Sunday, 6 h a night until done; none: not even what the distribution does by itself."""
    smart: Boolean | None = None
    """Whether smartd, or its like, watches the disks and has them test themselves; raidplan does not set it up."""


class Allow(Model):
    """An accepted finding."""

    rule: Word
    """The rule that found it: `no-spare`."""
    at: Word
    """The path of the finding, or of what it lies in: `arrays.s0`."""
    reason: Word
    """Why it is accepted, in words: `a cold spare lies on the shelf`."""
    until: Date | None = None
    """The last day on which it is accepted, YYYY-MM-DD."""
