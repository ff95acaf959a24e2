"""Hints as a program follows them: the edits of a finding made, and everything checked again."""

from __future__ import annotations

import json
import re
from collections import Counter
from copy import deepcopy
from pathlib import Path as FilePath
from typing import Any

from raidplan.base.findings import Edit, Finding, Path, Severity
from raidplan.review.pipeline import Loaded, check
from raidplan.topology import resolve

Layout = dict[str, Any]

EXCHANGE = re.compile(r"take \S+ in place of|change places|\b(is|are) free\b")
"""The words of a hint that name a device for the place of another."""
ADDED = frozenset(("no-spare", "unmirrored-journal", "write-hole", "workloads-share-array"))
"""Rules that name free disks to add or to make something new of: a decision, in which nothing gives way."""
NARROW = frozenset(
    ("oversubscribed-link", "crowded-slot", "crowded-expander", "crowded-chipset", "multipliers-crowd-card")
)
"""Rules of which the first names a link, where one array alone fills it, and the others say the same of all disks behind it."""


def checked(layout: Layout, folder: FilePath) -> Loaded:
    """A layout of plain values after `check`."""
    file = folder / "layout.yaml"
    file.write_text(json.dumps(layout))
    return check(str(file), today="2026-01-01")


def findings(loaded: Loaded) -> list[Finding]:
    return [item.finding for item in loaded.findings]


def edited(layout: Layout, edits: tuple[Edit, ...]) -> Layout:
    """The layout after some edits, whose paths are all those before any of them."""
    made = deepcopy(layout)

    def turn(edit: Edit) -> tuple[int, ...]:
        return edit.new is None, *(-part for part in edit.path if isinstance(part, int))

    for edit in sorted(edits, key=turn):
        here: Any = made
        *above, key = edit.path
        for part in above:
            here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
        if edit.new is None:
            del here[key]
        else:
            here[key] = [*edit.new] if isinstance(edit.new, tuple) else str(edit.new)
    return made


def failed_hints(layout: Layout, folder: FilePath) -> list[str]:
    """The hints after which their finding is still there, or one that is as grave has come, and those that nobody can try."""
    before = checked(layout, folder)
    faults = []
    for finding in findings(before):
        if not finding.edits and finding.rule not in ADDED and EXCHANGE.search(finding.hint):
            faults.append(f"{finding.rule} names an exchange without its edit: {finding.hint}")
        if finding.edits:
            after = checked(edited(layout, finding.edits), folder)
            there = Counter(map(exactly, findings(after)))[exactly(finding)]
            if there >= Counter(map(exactly, findings(before)))[exactly(finding)]:
                faults.append(f"{finding.rule} stays: {finding.hint}")
            come = new_findings(before, after, finding.edits, finding.severity)
            faults += [f"{finding.rule} leads to {each}: {finding.hint}" for each in come]
    return faults


def exactly(finding: Finding) -> tuple[str, Path]:
    """A rule, and a path without the numbers of items, which a removal moves."""
    return finding.rule, tuple(part for part in finding.path if isinstance(part, str))


def entry(path: Path) -> Path:
    """The thing of the layout that a path leads to, whichever of its keys."""
    return path[: {("hardware",): 3, ("volume_groups",): 4}.get(path[:1], 2)]


def new_findings(before: Loaded, after: Loaded, edits: tuple[Edit, ...], severity: Severity) -> list[str]:
    """Those that are at least so grave, and that could have been found before.

    One that says the same at another place is none, nor is one that was graver; and neither is one about a thing that
    could not be built for the sake of another, so that nobody knew its size.
    """
    said = {(each.severity, each.rule, each.message) for each in findings(before)}
    hidden = uncovered(before, after) - {entry(edit.path) for edit in edits}
    return [
        f"{each.rule} at {'.'.join(map(str, each.path))}"
        for each in findings(after)
        if each.severity.rank <= severity.rank
        and like(each, findings(after)) > like(each, findings(before), related=True)
        and (each.severity, each.rule, each.message) not in said
        and each.path[:2] not in hidden
    ]


def like(finding: Finding, among: list[Finding], *, related: bool = False) -> int:
    """How many findings are of its rule, about the same thing, and at least as grave; with `related` also where they name it."""
    rules = NARROW if related and finding.rule in NARROW else {finding.rule}
    return sum(
        each.rule in rules
        and entry(finding.path) in {entry(each.path), *(entry(one.path) for one in each.related if related)}
        and each.severity.rank <= finding.severity.rank
        for each in among
    )


def uncovered(before: Loaded, after: Loaded) -> set[Path]:
    """The things that could not be built before an edit, and those that stand on them."""
    if before.layout is None or after.layout is None:
        return set()
    then, now = (resolve(loaded.layout)[0] for loaded in (before, after) if loaded.layout)
    built = now.devices.keys() - then.devices.keys()
    above = (
        item for item in now.order if any(use.device in built for use in item.kind.uses(item.name, item.path))
    )
    return {item.path for item in above} | {item.path for item in now.order if item not in then.items}
