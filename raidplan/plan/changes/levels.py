"""Rows of changes of the level: which level another one turns into while the data stays, and which not.

Sources: `analyse_change` and `remove_disks_for_takeover` in Grow.c of mdadm 4.4; `takeover` in drivers/md/raid{0,1,5,10}.c of Linux.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from raidplan.plan.changes.answer import Before, Reason

LEVEL = "mdadm --grow --level={level} "
"""The words before the number of members, where that changes, and the array."""


class Takeover(NamedTuple):
    """A level that another one turns into while the data stays."""

    members: int
    """So many more than before."""
    before: tuple[Before, ...] = ()
    moves: bool = False
    """Data is moved, by a reshape."""


TAKEOVERS: Mapping[tuple[str, str], Takeover] = {
    ("raid1", "raid5"): Takeover(0, (Before.CHUNK_IS_64K,)),
    ("raid5", "raid6"): Takeover(1, moves=True),
    ("raid4", "raid5"): Takeover(0, moves=True),
    ("raid0", "raid4"): Takeover(1, moves=True),
    ("raid0", "raid5"): Takeover(1, moves=True),
}
"""RAID0 and RAID10 turn into each other too, under conditions."""
REFUSED: Mapping[tuple[str, str], Reason] = {
    ("raid5", "raid1"): Reason.HANGS,
    ("raid6", "raid5"): Reason.UNFINISHED,
    ("raid6", "raid0"): Reason.UNFINISHED,
    ("raid5", "raid0"): Reason.UNFINISHED,
    ("raid5", "raid4"): Reason.UNFINISHED,
    ("raid4", "raid0"): Reason.UNFINISHED,
}
"""Changes that mdadm offers and nobody should rely on with data."""
