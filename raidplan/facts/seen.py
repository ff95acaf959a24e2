"""What was looked at, before it is sorted into disks, stacks and contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from raidplan.facts.block import Block
from raidplan.facts.mounts import Mount, SwapArea
from raidplan.facts.signatures import Signature
from raidplan.facts.tables import Table


@dataclass(frozen=True, slots=True)
class Seen:
    """All that disks are described from."""

    root: Path
    blocks: Mapping[str, Block]
    tables: Mapping[str, Table]
    """Kernel name of a disk to the table on it."""
    signatures: Mapping[str, Sequence[Signature]]
    """By node."""
    unreadable: Mapping[str, str]
    """Node to why nothing is known of what is on it."""
    mounts: Sequence[Mount]
    swaps: Sequence[SwapArea]
    ranges: Sequence[tuple[int, int]] = ()
    """(start, size) in bytes of what is to become a partition of some disk."""
    known: frozenset[str] = frozenset()
    """GUIDs of tables whose disks nobody will write over, so that nothing else is looked for on them."""
    written: frozenset[str] = frozenset()
    """Identities of what somebody may write over."""

    def words(self, node: str) -> tuple[str, ...]:
        """The signatures in words; a device that could not be read is never taken for blank."""
        if node in self.unreadable:
            return (f"cannot be read: {self.unreadable[node]}",)
        return tuple(str(signature) for signature in self.signatures.get(node, ()))

    def told(self, block: Block) -> Sequence[Signature] | None:
        """What libblkid says stands on a device; None if it could not."""
        return None if block.node in self.unreadable else self.signatures.get(block.node, ())
