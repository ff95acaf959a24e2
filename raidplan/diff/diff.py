"""Two layouts to everything that differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from raidplan.base.findings import Path
from raidplan.diff.found import changed_findings
from raidplan.diff.judge import judge
from raidplan.diff.losses import losses, shrinks
from raidplan.diff.machine import machine_things
from raidplan.diff.measures import measure
from raidplan.diff.result import Diff, Fate, Side, Thing
from raidplan.diff.storage import Storage
from raidplan.layout.model import Layout

BUILT = ("arrays", "encryption", "volume_groups", "filesystems", "swap")


def diff(old: Side, new: Side) -> Diff:
    """The meaning of the new layout for a machine that is as the old one says. Both can be built; no machine is looked at."""
    storage = judge(old.topology, new.topology)
    tolerance, figures = measure(storage)
    found, resolved, accepted = changed_findings(old, new, storage)
    return Diff(
        hosts=(old.topology.host, new.topology.host),
        losses=tuple(losses(storage)),
        things=(*_built(storage), *machine_things(storage)),
        tolerance=tolerance,
        figures=figures,
        found=found,
        resolved=resolved,
        accepted=accepted,
        shrinks=tuple(shrinks(storage)),
    )


def forgotten(old: Side) -> Diff:
    """The things of a layout whose file is gone; that destroys nothing, since nothing can be applied."""
    host = old.topology.host
    storage = judge(old.topology, nothing(host).topology)
    things = (*_built(storage), *machine_things(storage))
    left = (replace(thing, fate=Fate.FORGOTTEN) for thing in things if thing.fate is Fate.DESTROYED)
    return Diff((host, host), (), tuple(left), (), (), (), ())


def nothing(host: str) -> Side:
    """A layout that describes nothing: one whose file is not there."""
    from raidplan.layout.model import Layout
    from raidplan.topology import Topology

    return Side(Topology(Layout(version=1, host=host)))


def _built(storage: Storage) -> Iterator[Thing]:
    """Arrays, groups, volumes, file systems and swap areas, in the layouts' order of sections."""
    for section in BUILT:
        for path, verdict in storage.verdicts.items():
            if path[0] == section and verdict.fate is not Fate.KEPT:
                layout = storage.old.layout if verdict.fate is Fate.DESTROYED else storage.new.layout
                yield Thing(path, verdict.fate, what(path, layout), verdict.changes, on=_on(path, layout))


def what(path: Path, layout: Layout) -> str:
    """A thing in a few words."""
    section, name = str(path[0]), str(path[1])
    if section == "arrays":
        array = layout.arrays[name]
        return f"{array.level} of {len(array.named_members)}"
    if section == "encryption":
        return f"on {layout.encryption[name].device}"
    if section == "filesystems":
        return layout.filesystems[name].type
    if section == "swap":
        return f"on {layout.swap[name].device or layout.swap[name].file}"
    if len(path) > 2:
        return "volume"
    return f"of {', '.join(layout.volume_groups[name].devices)}"


def _on(path: Path, layout: Layout) -> str:
    """The device of a file system, and its mount point."""
    if path[0] != "filesystems":
        return ""
    entry = layout.filesystems[str(path[1])]
    return f"{entry.device}, {entry.mount}" if entry.mount else entry.device
