"""Raw readings of one pass over the machine, before they are sorted into disks, devices and contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from raidplan.facts.block import Block
from raidplan.facts.mounts import Mount, SwapArea
from raidplan.facts.signatures import Signature
from raidplan.facts.tables import Table


@dataclass(frozen=True, slots=True)
class Readings:
    """All block devices with their tables, signatures, mounts and swap areas."""

    root: Path
    blocks: Mapping[str, Block]
    tables: Mapping[str, Table]
    """Kernel name of a disk to the table on it."""
    signatures: Mapping[str, Sequence[Signature]]
    """The signatures by node."""
    unreadable: Mapping[str, str]
    """Node to the reason why its content could not be read."""
    mounts: Sequence[Mount]
    swaps: Sequence[SwapArea]
    ranges: Sequence[tuple[int, int]] = ()
    """(start, size) in bytes of the partitions that the plan will create on any disk."""
    known: frozenset[str] = frozenset()
    """GUIDs of tables whose disks are not written over, so that no search for other content is needed."""
    written: frozenset[str] = frozenset()
    """Identities of the devices that a step may write over."""

    def words(self, node: str) -> tuple[str, ...]:
        """The signatures in words; a device that could not be read is never taken for blank."""
        if node in self.unreadable:
            return (f"cannot be read: {self.unreadable[node]}",)
        return tuple(str(signature) for signature in self.signatures.get(node, ()))

    def types(self, node: str) -> tuple[str, ...]:
        """The types of the signatures, each once."""
        return tuple(sorted({signature.type for signature in self.signatures.get(node, ())}))

    def found_on(self, block: Block) -> Sequence[Signature] | None:
        """The signatures that libblkid finds on a device; None if the device could not be read."""
        return None if block.node in self.unreadable else self.signatures.get(block.node, ())
