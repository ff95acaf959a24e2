"""Rows of growing and shrinking: more or fewer members, more or less of each member.

Sources: mdadm(8), GROW MODE; `raid5_check_reshape` and `raid10_resize` in drivers/md/raid{5,10}.c of Linux,
`super_1_rdev_size_change` in md.c.
"""

from __future__ import annotations

from raidplan.plan.changes.answer import Before, Reason, by_hand, impossible
from raidplan.plan.changes.row import (
    ADD,
    BITMAP_OFF,
    BITMAP_ON,
    COUNT,
    END,
    FAIL,
    REMOVE,
    Row,
    far,
    reshape,
    uneven,
)

WHOLE = "mdadm --grow --size=max {node}"
FIXED = ("raid0", "linear")
"""Levels whose arrays take as much of each member as when they were made."""
AT_END = frozenset(("0.90", "1.0"))
"""Metadata with the superblock at the end of each member: where that grows, nothing finds it until `WHOLE` has moved it."""

MORE = (
    Row(by_hand("mdadm --grow {node} --add {new}"), ("linear",)),
    Row(by_hand(ADD, COUNT, before=(Before.IDLE,)), ("raid1",)),
    Row(impossible(Reason.UNEVEN), when=uneven),
    Row(reshape(f"{COUNT} --add {{new}}"), ("raid0",)),  # it has no spares: members come with the command
    Row(impossible(Reason.FAR), when=far),
    Row(reshape(ADD, COUNT)),
)
"""More members."""
FEWER = (
    Row(
        by_hand(FAIL, REMOVE, COUNT, "mdadm --zero-superblock {old}", before=(Before.IDLE,)),
        ("raid1",),
    ),
    Row(reshape(END, COUNT, before=(Before.SMALLER,)), ("raid4", "raid5", "raid6")),
    Row(impossible(Reason.FEWER)),
)
"""Fewer members."""
LARGER = (
    Row(impossible(Reason.SIZE), FIXED),
    Row(impossible(Reason.FAR), when=far),
    Row(by_hand(WHOLE, before=(Before.LARGER, Before.IDLE)), when=lambda old, _: old.metadata not in AT_END),
    # The kernel moves no superblock that has a bitmap beside it, and takes no bitmap back while it syncs.
    Row(
        by_hand(
            BITMAP_OFF, WHOLE, BITMAP_ON,
            before=(Before.LARGER, Before.SUPERBLOCK_MOVES, Before.IDLE, Before.ONE_BY_ONE),
        ),
        when=lambda old, _: old.policy == "bitmap",
    ),
    Row(by_hand(WHOLE, before=(Before.LARGER, Before.SUPERBLOCK_MOVES, Before.IDLE))),
)  # fmt: skip
"""More of each member."""
SMALLER = (
    Row(impossible(Reason.SIZE), FIXED),
    Row(impossible(Reason.FAR), when=far),
    Row(impossible(Reason.SUPERBLOCK_AT_END), when=lambda old, _: old.metadata in AT_END),
    Row(by_hand(END, "mdadm --grow --size={component} {node}", before=(Before.SMALLER, Before.IDLE))),
)
"""Less of each member."""
