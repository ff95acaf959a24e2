"""The way to change something while its data stays, or the reason why there is none: an answer as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

VALUE = re.compile(r"(?<!--update)=\S+$")
"""A word whose value differs each time; `--update=metadata` is the name of a mode."""


class Kind(StrEnum):
    """A person or `apply` carries out a change; or nobody can."""

    BY_APPLY = "by apply"
    BY_HAND = "by hand"
    IMPOSSIBLE = "impossible"
    """A new object is made, and the data is copied."""


class Before(StrEnum):
    """A condition or a warning before a change begins; the sentences stand in `render/change_words.py`."""

    IDLE = "idle"
    ROOM = "room"
    LARGER = "larger-members"
    SUPERBLOCK_MOVES = "superblock-moves"
    SMALLER = "contents-smaller"
    WITHOUT_PPL = "without-ppl"
    WITHOUT_JOURNAL = "without-journal"
    ONE_BY_ONE = "one-by-one"
    AFTER_LEVEL = "after-level"
    CHUNK_FITS = "chunk-fits"
    CHUNK_IS_64K = "chunk-is-64k"
    UNUSED = "unused"
    KEEPS_SIZE = "keeps-size"
    STAYS_SMALL = "stays-small"
    UNMOUNTED = "unmounted"
    FILES_FIT = "files-fit"
    CONTENTS_SHRUNK = "contents-shrunk"
    SHRUNK_OR_LOST = "shrunk-or-lost"
    CONTENT_LOST = "content-lost"
    NAMED_ELSEWHERE = "named-elsewhere"
    DEVICE_LATER = "device-later"
    END_MOVED = "end-moved"
    UNUSED_SWAP = "unused-swap"
    SWAP_OFF_FIRST = "swap-off-first"
    IN_FSTAB_FIRST = "in-fstab-first"
    FROM_OUTSIDE = "from-outside"
    GROUPS_FIT = "groups-fit"
    AS_MADE = "as-made"
    AT_BOOT = "at-boot"


class Reason(StrEnum):
    """The reason why no command makes one shape of the other; the sentences stand in `render/change_words.py`."""

    LEVEL = "level"
    HANGS = "hangs"
    UNFINISHED = "unfinished"
    COUNT = "count"
    FEWER = "fewer"
    COPIES = "copies"
    FAR = "far"
    METADATA = "metadata"
    OLD_METADATA = "old-metadata"
    UNEVEN = "uneven"
    POLICY = "policy"
    SIZE = "size"
    NOTHING_TWICE = "nothing-twice"
    SHRINKS_NOT = "shrinks-not"
    TYPE = "type"
    STRIPE = "stripe"
    SIZE_OF_EXTENTS = "size-of-extents"
    OTHER_SLOTS = "other-slots"
    SUPERBLOCK_AT_END = "superblock-at-end"
    NAMED_BY_LVM = "named-by-lvm"


class Answer(NamedTuple):
    """The way to change one property."""

    kind: Kind
    commands: tuple[str, ...] = ()
    """The commands in their order, with placeholders such as {node}; `fill` and `short` make text of them."""
    before: tuple[Before, ...] = ()
    since: str = ""
    """The least version of mdadm that does it well; empty for all that plans are made for."""
    reason: Reason | None = None
    """The reason, if the change is impossible."""
    called: str = ""
    """The programs and their modes, where that is more than `commands` without values."""

    @property
    def possible(self) -> bool:
        """The data stays."""
        return self.kind is not Kind.IMPOSSIBLE


def by_hand(*commands: str, before: tuple[Before, ...] = (), since: str = "", called: str = "") -> Answer:
    """An answer that a person carries out."""
    return Answer(Kind.BY_HAND, commands, before, since, called=called)


def by_apply(*commands: str, before: tuple[Before, ...] = (), called: str = "") -> Answer:
    """An answer that `apply` carries out by itself."""
    return Answer(Kind.BY_APPLY, commands, before, called=called)


def impossible(reason: Reason) -> Answer:
    """An answer that there is no way."""
    return Answer(Kind.IMPOSSIBLE, reason=reason)


class _Values(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key.upper()


def fill(command: str, values: Mapping[str, str]) -> str:
    """A command with its values; one that is not known stands as a word in capitals, `NEW`."""
    return command.format_map(_Values(values))


def argv(answer: Answer, **values: str) -> tuple[str, ...]:
    """The one command of an answer that `apply` carries out by itself."""
    (command,) = answer.commands
    return tuple(word.format_map(values) for word in command.split())


def short(answer: Answer) -> str:
    """The programs and their modes, without values: `mdadm --add, mdadm --grow --raid-devices`."""
    modes = (
        " ".join(VALUE.sub("", word) for word in command.split() if not word.startswith("{"))
        for command in answer.commands
    )
    return answer.called or ", ".join(dict.fromkeys(modes))
