"""Users of devices, and reasons not to write to a device or a path, as data. The sentences of reasons are in `render/uses.py`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self

from raidplan.base.figures import Figure, Figures

UseKind = Literal[
    "unseen", "unseen-process", "mounted", "exported", "exported-by-nvme", "exported-by-usb", "loop", "open", "written", "mapped", "registered", "busy-ring",
    "claimed", "absent", "exists", "no-device", "other-partition", "other-table", "held", "partition", "busy", "signature", "data",
    "unreadable", "new", "changed", "not-of-layout", "other-disk", "other-array", "link", "leads-out",
    "carries", "table", "group", "stands", "used", "stain",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Use:
    """One reason; `place` is the device or the path, figures are names and numbers as they were read."""

    kind: UseKind
    place: str
    figures: Figures = field(default_factory=dict, hash=False)


def use(kind: UseKind, place: str, **figures: Figure) -> Use:
    """A reason with these figures."""
    return Use(kind, place, figures)


UserKind = Literal["mounted", "swap", "btrfs", "loop", "held", "other"]
_TEXTS: dict[UserKind, str] = {
    "mounted": "mounted at ",
    "btrfs": "part of the mounted btrfs ",
    "loop": "behind /dev/",
    "held": "held by ",
    "swap": "swap",
}
"""The beginnings of the texts: snapshots and the figures of refusals have had them since the first version."""


class User(NamedTuple):
    """A user of a device that the kernel tells of; of plain characters alone.

    `place` is the mount point, the UUID of the btrfs, the name of the loop device, or the name of the device above; empty
    for `swap`. `other` is a text that an earlier version wrote and this one does not know.
    """

    kind: UserKind
    place: str = ""

    def __str__(self) -> str:
        return _TEXTS.get(self.kind, "") + self.place

    @classmethod
    def read(cls, text: str) -> Self:
        """The user in a text of a snapshot."""
        for kind, start in _TEXTS.items():
            if text == start if kind == "swap" else text.startswith(start):
                return cls(kind, text.removeprefix(start))
        return cls("other", text)


def read_users(texts: list[str]) -> tuple[User, ...]:
    """The users in a list of a snapshot. Raises TypeError for anything but a list."""
    if not isinstance(texts, list):
        raise TypeError(f"{texts!r} is no list")
    return tuple(map(User.read, texts))


class NotWritten(ValueError):
    """A device or a path must not be written to, and was not; as text, for a journal, which keeps no sentences."""

    def __init__(self, *uses: Use) -> None:
        super().__init__("; ".join(f"{each.kind} {each.place} {dict(each.figures)}" for each in uses))
        self.uses = uses


def as_text(use: Use) -> str:
    """A reason as a property of an object, which is a text."""
    return json.dumps([use.kind, use.place, dict(use.figures)])


def of_text(text: str) -> Use:
    """The reason in such a text."""
    return Use(*json.loads(text))
