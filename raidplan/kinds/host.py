"""What concerns the whole machine: booting, alarms, and the findings that were accepted."""

from __future__ import annotations

from typing import Literal

from raidplan.kinds.model import Model, Reference, Word


class Boot(Model):
    """How the machine starts."""

    esp: tuple[Reference, ...] = ()
    """The EFI system partitions."""
    degraded: Literal["start", "wait"] = "start"
    """What to do at boot with an array that lacks a member: start it after 30 s, or wait for a person."""


class Monitoring(Model):
    """Who is told, and how often members are read for latent errors."""

    mail: Word | None = None
    """mdadm's MAILADDR, one address."""
    scrub: Literal["monthly", "none"] | None = None


class Allow(Model):
    """An accepted finding."""

    rule: Word
    at: Word
    """The path of the finding: `arrays.s0`."""
    reason: Word
    until: Word | None = None
    """A date, YYYY-MM-DD, after which the finding is back."""
