"""What would make something else of what stands, for a person to do who has a backup: words only."""

from __future__ import annotations

from raidplan.base.levels import LEVELS, LEVELS_CHANGED, raid10_moves
from raidplan.base.size import KIB
from raidplan.facts.signatures import plain
from raidplan.plan import Value
from raidplan.plan.identities import PARTITION
from raidplan.plan.partitions import TYPE_CODES

NEW_FILESYSTEM = "make a new file system elsewhere and copy: this one cannot become it"
NEW_ARRAY = "make a new array of other disks and copy: this one cannot become it"
SMALLER = (
    "it cannot shrink in place: back up, remove it by hand (the top layer first), apply again and restore"
)
FOLLOWS = "it comes with the level"

HINTS = {
    ("array", "layout"): "by hand, after a backup: mdadm --grow --layout={planned} --backup-file=FILE {node}",
    ("array", "metadata"): NEW_ARRAY,
    ("array", "name"): "by hand, while it is stopped: mdadm --assemble --update=name --name={planned} {node} MEMBERS",
    ("array", "size"): "by hand, after a backup: mdadm --grow --size=max {node}, if its members are larger now",
    ("array", "component"): "by hand, after a backup: mdadm --grow --size=max {node}, if its members are larger now",
    ("array", "consistency"): "by hand: mdadm --grow --consistency-policy={planned} {node}, after mdadm --grow --bitmap=none; it "
    "keeps its size, which is another one than that of an array made with {planned}, so that this layout fits a new array only",
    ("array", "journal"): "make the array anew with the journal that is wanted, and copy",
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
SIZES = {("array", "size"), ("array", "component"), ("filesystem", "blocks"), ("volume", "size")}
"""What the hints above only make larger."""
KINDS = {"filesystem": NEW_FILESYSTEM, "array": NEW_ARRAY}
PARTITIONED = (
    "a new disk is partitioned before, by the command for it in `raidplan plan --offline --format shell`"
)
OTHERS = "move what is on it elsewhere, take it away by hand, then apply again"


def by_hand(kind: str, name: str, node: str, now: Value, planned: Value) -> str:
    """What a person would do about a property that no step changes."""
    if (kind, name) == ("array", "members"):
        return _members(node, now, planned)
    if (kind, name) in SIZES and isinstance(now, int) and isinstance(planned, int) and planned < now:
        return SMALLER
    if (kind, name) == ("table", "partitions") and _without_type(now) == _without_type(planned):
        return _types(node, now, planned)
    if (kind, name) == ("array", "level"):
        return _level(node, str(now), str(planned))
    if kind == "array" and name in ("chunk", "layout") and now is None:
        return FOLLOWS
    if (kind, name) == ("array", "layout") and not _layout(str(now), str(planned)):
        return NEW_ARRAY
    if (kind, name) == ("array", "chunk"):
        return f"by hand, after a backup: mdadm --grow --chunk={int(str(planned)) // KIB}K --backup-file=FILE {node}"
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


def _level(node: str, now: str, planned: str) -> str:
    """mdadm takes `--level` for few pairs (sources in levels.py); elsewhere its command would fail."""
    both = frozenset((now, planned))
    if both == {"raid0", "raid10"}:
        how = f"{node}, if the raid10 is n2 and has twice the members of the raid0"
    elif both == {"raid1", "raid5"}:
        how = f"{node}, if it has two members"
    elif both in LEVELS_CHANGED:
        parity = LEVELS[planned].parity - LEVELS[now].parity
        members = {1: ", with a member more", -1: ", with a member fewer"}.get(parity, "")
        how = f"--backup-file=FILE {node}{members}"
    else:
        return NEW_ARRAY
    return f"by hand, after a backup: mdadm --grow --level={planned} {how}"


def _layout(now: str, planned: str) -> bool:
    """One can be made of the other; what is none of RAID10's is one of parity."""
    try:
        return raid10_moves(now, planned)
    except ValueError:
        return True


def _members(node: str, now: Value, planned: Value) -> str:
    found, wanted = map(_rows, (now, planned))
    new = " ".join(_node(each) for each in wanted if each not in found) or "NEW"
    if "missing" in found:
        return f"it runs without a member: by hand, mdadm {node} --add {new}, and wait for the rebuild; {PARTITIONED}"
    if len(wanted) > len(found):
        return f"by hand, after a backup: mdadm {node} --add {new}, then mdadm --grow --raid-devices={len(wanted)} {node}"
    if len(wanted) < len(found):
        return NEW_ARRAY
    if sorted(found) == sorted(wanted):
        return "write the members in the order of the slots that they have"
    return f"by hand: mdadm {node} --add-spare {new}, then mdadm {node} --replace OLD --with {new}, and wait for it; {PARTITIONED}"


def _node(identity: str) -> str:
    """How a command calls what proofs call so."""
    partition = identity.removeprefix("partition:")
    return plain(identity) if partition == identity else f"{PARTITION}{plain(partition)}"
