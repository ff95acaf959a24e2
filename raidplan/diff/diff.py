"""Two layouts to everything that differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from raidplan.base.figures import Figures
from raidplan.base.findings import Path
from raidplan.diff.findings import changed_findings
from raidplan.diff.judge import judge
from raidplan.diff.losses import losses, shrinks
from raidplan.diff.machine import machine_things
from raidplan.diff.measures import measure
from raidplan.diff.result import Diff, Fate, Side, Thing
from raidplan.diff.storage import Storage
from raidplan.layout.model import BUILT, Layout


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


def forget_layout(old: Side) -> Diff:
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
                yield Thing(path, verdict.fate, verdict.changes, _figures(path, layout))


def _figures(path: Path, layout: Layout) -> Figures:
    """The figures that tell things of a section apart; a volume has none."""
    name = str(path[1])
    match path:
        case ("arrays", _):
            array = layout.arrays[name]
            return {"level": array.level, "members": len(array.named_members)}
        case ("encryption", _):
            return {"device": layout.encryption[name].device}
        case ("filesystems", _):
            entry = layout.filesystems[name]
            return {"type": entry.type, "device": entry.device, "mount": entry.mount or ""}
        case ("swap", _):
            return {"device": layout.swap[name].device or layout.swap[name].file or ""}
        case ("volume_groups", _):
            return {"devices": layout.volume_groups[name].devices}
    return {}
