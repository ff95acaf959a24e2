"""Findings, old against new: by rule and thing, wherever their lines have moved."""

from __future__ import annotations

from raidplan.base.findings import Path
from raidplan.diff.result import Side
from raidplan.diff.storage import Storage
from raidplan.review.located import Accepted, Located

Key = tuple[str, str, "Path | str"]


def changed_findings(
    old: Side, new: Side, storage: Storage
) -> tuple[tuple[Located, ...], tuple[Located, ...], tuple[Accepted, ...]]:
    """The findings that only the new layout has, those that only the old one had, and those that only the new one accepts."""
    before = {_key(_today(item.finding.path, storage), item): item for item in reversed(old.findings)}
    after = {_key(item.finding.path, item): item for item in reversed(new.findings)}
    decided = {_key(_today(each.located.finding.path, storage), each.located) for each in old.accepted}
    accepted = {_key(each.located.finding.path, each.located): each for each in reversed(new.accepted)}
    found = tuple(item for key, item in reversed(after.items()) if key not in before)
    resolved = tuple(
        item for key, item in reversed(before.items()) if key not in after and key not in accepted
    )
    return found, resolved, tuple(each for key, each in reversed(accepted.items()) if key not in decided)


def _key(path: Path, item: Located) -> Key:
    """The rule, the severity, and the thing by its name, without the keys below; the message for a thing without a name."""
    rule, severity = item.finding.rule, item.finding.severity.value
    if path[:1] == ("allow",) or not path:
        return rule, severity, item.finding.message
    return rule, severity, path[: 3 if path[0] == "hardware" else 2]


def _today(path: Path, storage: Storage) -> Path:
    """The path with the name that a disk has now."""
    if path[:2] != ("hardware", "disks") or len(path) < 3:
        return path
    return (*path[:2], storage.disks.get(str(path[2]), str(path[2])), *path[3:])
