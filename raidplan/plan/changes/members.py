"""Rows of changes of single members and spares: added, removed, exchanged.

Sources: mdadm(8), MANAGE MODE.
"""

from __future__ import annotations

from raidplan.plan.changes.answer import Before, by_apply, by_hand
from raidplan.plan.changes.row import ADD, FAIL, REMOVE

SPARE_ADDED = by_apply("mdadm --manage {node} --add-spare {new}")
"""A spare."""
SPARE_REMOVED = by_apply("mdadm --manage {node} --remove {old}")
"""A spare, which then forgets the array."""
EXCHANGED = by_hand("mdadm {node} --add-spare {added}", "mdadm {node} --replace {old} --with {new}")
"""The old member stays in the array until the new one is full; `added` are those of the new ones that are no spare of it yet."""
REBUILT = by_hand(FAIL, REMOVE, ADD, before=(Before.ONE_BY_ONE,))
REORDERED = by_hand(called="none")
"""Members of a mirror in another order: one that is added again gets the only empty slot, which is its own."""
MISSING_FILLED = by_hand(ADD)
MEMBER_ADDED = by_apply(ADD)
"""Devices of the layout, in place of those that left, where nothing is on them yet."""
SPARE_AGAIN = ("mdadm {node} --remove {old}", "mdadm {node} --add-spare {old}")
"""A spare that had taken a member's place, once that place is given back."""
FAILED_REMOVED = "mdadm {node} --remove failed"
"""A failed member belongs to the array until it is removed; `failed` is mdadm's word for all that are."""
