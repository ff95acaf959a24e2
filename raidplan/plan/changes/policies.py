"""Rows of changes of the consistency policy: the bitmap, the partial parity log, the journal.

Sources: mdadm(8), GROW MODE and MANAGE MODE; `Grow_consistency_policy` in Grow.c of mdadm 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from raidplan.plan.changes.answer import Answer, Before, by_apply, by_hand
from raidplan.plan.changes.row import BITMAP_OFF, BITMAP_ON, FAIL, REMOVE

RESYNC, PPL = (f"mdadm --grow --consistency-policy={policy} {{node}}" for policy in ("resync", "ppl"))
READ_ONLY, WRITABLE = "mdadm --readonly {node}", "mdadm --readwrite {node}"
WITHOUT_JOURNAL = "echo resync > {attributes}md/consistency_policy"
LOG = (READ_ONLY, "mdadm {node} --add-journal {journal}", WRITABLE)
"""mdadm adds a journal to an array that is read-only, and to no other."""


class Policy(NamedTuple):
    """A consistency policy: how an array is given it, and how it is taken away."""

    put_on: tuple[str, ...] = ()
    taken_off: tuple[str, ...] = ()
    before: tuple[Before, ...] = ()
    """The conditions of both."""
    without: tuple[Before, ...] = ()
    """The condition of every other change that needs an array in sync: that it is taken off."""
    levels: tuple[str, ...] = ()
    """The levels that both shapes may have; empty for all with a stripe cache."""
    metadata: tuple[str, ...] = ()
    """The metadata of an array that is given it; empty for all but 0.90."""


SWITCHED: Mapping[tuple[str, str], Answer] = {
    ("resync", "bitmap"): by_apply(BITMAP_ON, before=(Before.IDLE,)),
    ("bitmap", "resync"): by_apply(BITMAP_OFF, before=(Before.IDLE,)),
}
"""Changes of arrays of any level and metadata."""
POLICIES: Mapping[str, Policy] = {
    "resync": Policy(),
    "bitmap": Policy((BITMAP_ON,), (BITMAP_OFF,)),
    "journal": Policy(
        LOG,
        (FAIL, REMOVE, WITHOUT_JOURNAL, WRITABLE),
        (Before.UNUSED,),
        (Before.WITHOUT_JOURNAL,),
        metadata=("1.1", "1.2"),
    ),
    "ppl": Policy((PPL,), (RESYNC,), (Before.KEEPS_SIZE,), (Before.WITHOUT_PPL,), levels=("raid5",)),
}
"""All other changes: the old one is taken off, then the new one put on."""

JOURNAL_ADDED = by_hand(*LOG, before=(Before.UNUSED,))
JOURNAL_EXCHANGED = by_hand(FAIL, REMOVE, *LOG, before=(Before.UNUSED,))
