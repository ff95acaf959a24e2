"""Rows of changes in the superblock alone: the version of the metadata, the name.

Sources: mdadm(8), ASSEMBLE MODE, `--update`.
"""

from __future__ import annotations

from raidplan.plan.changes.answer import Before, Reason, by_hand, impossible
from raidplan.plan.changes.row import Row

METADATA = (
    Row(
        by_hand(
            "mdadm --stop {node}",
            "mdadm --assemble --update=metadata {node} {devices}",
            before=(Before.UNUSED,),
        ),
        when=lambda old, new: (old.metadata, new.metadata) == ("0.90", "1.0") and old.policy != "bitmap",
    ),
    Row(impossible(Reason.METADATA)),
)
"""Another version of the metadata."""
RENAMED = by_hand(
    "mdadm --stop {node}",
    "mdadm --assemble --update=name --name={name} {node} {devices}",
    before=(Before.UNUSED,),
)
