"""Rows of changes of the chunk and of the layout of an array.

Sources: mdadm(8), GROW MODE; `raid5_check_reshape` in drivers/md/raid5.c of Linux, `raid10_check_reshape` in raid10.c.
"""

from __future__ import annotations

from raidplan.base.levels import LEVELS, raid10_copies
from raidplan.plan.changes.answer import Before, Reason, impossible
from raidplan.plan.changes.row import Row, far, reshape, uneven
from raidplan.plan.changes.shape import Shape

CHUNKED = "mdadm --grow --chunk={chunk} {node}"


def _other_copies(old: Shape, new: Shape) -> bool:
    return raid10_copies(old.layout or "n2")[1] != raid10_copies(new.layout or "n2")[1]


CHUNK = (
    Row(impossible(Reason.LEVEL), when=lambda _, new: not LEVELS[new.level].chunked),
    Row(impossible(Reason.UNEVEN), when=uneven),
    Row(impossible(Reason.FAR), when=far),
    Row(impossible(Reason.LEVEL), when=lambda old, new: "linear" in (old.level, new.level)),
    Row(reshape(CHUNKED, before=(Before.CHUNK_FITS,)), when=lambda old, new: old.level == new.level),
    Row(reshape(CHUNKED, before=(Before.AFTER_LEVEL, Before.CHUNK_FITS))),
)
"""Another chunk, of the same level or after its change."""
LAYOUT = (
    Row(impossible(Reason.UNEVEN), ("raid0",)),
    Row(impossible(Reason.FAR), when=far),
    Row(impossible(Reason.COPIES), ("raid10",), _other_copies),
    Row(reshape("mdadm --grow --layout={layout} {node}")),
)
"""Another order of data and parity, or of copies."""
