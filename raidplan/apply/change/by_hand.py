"""What would make something else of what stands, arrays aside, for a person to do who has a backup: words only."""

from __future__ import annotations

from raidplan.facts.signatures import plain
from raidplan.plan import Value
from raidplan.plan.partitions import TYPE_CODES

NEW_FILESYSTEM = "make a new file system elsewhere and copy: this one cannot become it"
SMALLER = (
    "it cannot shrink in place: back up, remove it by hand (the top layer first), apply again and restore"
)

HINTS = {
    ("filesystem", "blocks"): "by hand, after a backup, once {node} has its size: resize2fs {node}, or for XFS xfs_growfs at its mount point",
    ("filesystem", "stride"): "by hand, while it is not mounted: tune2fs -E stride={planned} {node}",
    ("filesystem", "stripe_width"): "by hand, while it is not mounted: tune2fs -E stripe_width={planned} {node}",
    ("mount", "source"): "another file system is mounted there: umount it, then apply again",
    ("mount", "type"): "another file system is mounted there: umount it, then apply again",
    ("swap", "size"): "by hand: swapoff {node} and remove the file, then apply again",
    ("table", "partitions"): "by hand, after a backup: sfdisk {node}; what stands on the partitions has to be moved first",
    ("volume", "size"): "by hand, after a backup: lvextend --size={planned}b {node}, then grow what stands on it",
    ("volume_group", "devices"): "by hand: vgextend or vgreduce, after pvmove",
}  # fmt: skip
"""By kind and property of what stands; `{node}` is its device, `{planned}` what the layout asks for."""
SIZES = {("filesystem", "blocks"), ("volume", "size")}
"""What the hints above only make larger."""
KINDS = {"filesystem": NEW_FILESYSTEM}
OTHERS = "move what is on it elsewhere, take it away by hand, then apply again"


def by_hand(kind: str, name: str, node: str, now: Value, planned: Value) -> str:
    """What a person would do about a property that no step changes; for arrays see `array_by_hand`."""
    if (kind, name) in SIZES and isinstance(now, int) and isinstance(planned, int) and planned < now:
        return SMALLER
    if (kind, name) == ("table", "partitions") and _without_type(now) == _without_type(planned):
        return _types(node, now, planned)
    hint = HINTS.get((kind, name), KINDS.get(kind, OTHERS))
    return hint.format(node=node, planned=plain(str(planned)))


def _without_type(rows: Value) -> list[str]:
    return [row.rpartition(" ")[0] for row in _rows(rows)]


def _rows(rows: Value) -> list[str]:
    return list(rows) if isinstance(rows, list) else []


def _types(node: str, now: Value, planned: Value) -> str:
    """Where a layout has a word for what is there, that is the way that changes nothing."""
    words = {code.lower(): word for word, code in TYPE_CODES.items()}
    pairs = zip(_rows(now), _rows(planned), strict=True)
    there = dict.fromkeys(words.get(found.split()[-1], "") for found, wanted in pairs if found != wanted)
    kept = ", ".join(f"`type: {word}`" for word in there) if all(there) else ""
    known = f"write the type that is there ({kept}), or " if kept else ""
    return f"only the types differ: {known}by hand: sfdisk --part-type {node} NUMBER TYPE"
