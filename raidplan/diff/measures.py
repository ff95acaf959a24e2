"""The abilities of the layouts, before and after: survival, rates, capacity, inodes, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isclose

from raidplan.base.findings import Path
from raidplan.base.groups import sum_if_known
from raidplan.diff.filesystems import inodes, inodes_after
from raidplan.diff.result import Figure, Measure, Tolerance
from raidplan.diff.storage import Storage
from raidplan.estimate.estimate import estimate
from raidplan.estimate.result import Estimate, Estimates, Fate, Rate
from raidplan.topology import Topology

SAME = 1e-3
"""Figures that differ by less are the same: estimates are no more exact."""
SYSTEM = ("running", "boot")


def measure(storage: Storage) -> tuple[tuple[Tolerance, ...], tuple[Figure, ...]]:
    """The changes in survival, and the figures that differ."""
    old, made = estimate(storage.old), estimate(storage.new)
    new = replace(made, filesystems=tuple(_with_own_tables(each, storage) for each in made.filesystems))
    figures = (*_figures(old, new, storage), *_totals(old, new))
    return tuple(_tolerance(old, new, storage)), tuple(each for each in figures if _differs(each))


def _with_own_tables(made: Estimate, storage: Storage) -> Estimate:
    """A file system that stays as large keeps its log and its tables, whatever stripe the device has now."""
    path = ("filesystems", made.name)
    old, new = storage.old.layout.filesystems.get(made.name), storage.new.layout.filesystems[made.name]
    if old is None or storage.fate(path).loses:
        return made
    use = next(old.uses(made.name, path))
    before, after = storage.old_place(use).size, storage.new_place(next(new.uses(made.name, path))).size
    if use.device not in storage.old.devices or before != after:
        return made
    return replace(made, capacity=new.format.room(new, storage.old.taken(use)))


def _differs(figure: Figure) -> bool:
    one, other = figure.before, figure.after
    if one is None or other is None:
        return one is not other
    return one != other if figure.unit in ("inodes", "bytes") else not isclose(one, other, rel_tol=SAME)


def _tolerance(old: Estimates, new: Estimates, storage: Storage) -> Iterator[Tolerance]:
    for path, one, other in _fates(old, new, storage):
        before = {
            (loss.kind, _today(loss.component, loss.kind, storage)): loss.survived for loss in one.losses
        }
        after = {(loss.kind, loss.component): loss.survived for loss in other.losses}
        lost = [each for each, survived in after.items() if not survived and before.get(each, True)]
        gained = [each for each, survived in before.items() if not survived and after.get(each, True)]
        always = (one.losses_always_survived, other.losses_always_survived)
        if lost or gained or always[0] != always[1]:
            yield Tolerance(path, _mount(path, storage), tuple(lost), tuple(gained), always)


def _today(component: str, kind: str, storage: Storage) -> str:
    """A disk by the name that it has now."""
    return storage.disks.get(component, component) if kind == "disk" else component


def _fates(old: Estimates, new: Estimates, storage: Storage) -> Iterator[tuple[Path, Fate, Fate]]:
    """(path, before, after) of what is in both: the system, file systems by name or mount point, arrays, swap."""
    for key in SYSTEM:
        before, after = (made.machine.fates.get(key) for made in (old, new))
        # Where nothing of the system is in a layout, it stands on nothing there, which is no loss.
        if before and after and None not in (before.losses_always_survived, after.losses_always_survived):
            yield (key,), before, after
    for one, other in _filesystems(old, new, storage):
        yield ("filesystems", other.name), one.fate, other.fate
    for section, pairs in (("arrays", _pairs(old.arrays, new.arrays)), ("swap", _pairs(old.swap, new.swap))):
        yield from (((section, one.name), one.fate, other.fate) for one, other in pairs)


def _mount(path: Path, storage: Storage) -> str:
    """The mount point in the new layout; empty for all but file systems that have one."""
    return (storage.new.layout.filesystems[str(path[1])].mount or "") if path[0] == "filesystems" else ""


def _pairs(old: tuple[Estimate, ...], new: tuple[Estimate, ...]) -> list[tuple[Estimate, Estimate]]:
    named = {each.name: each for each in new}
    return [(each, named[each.name]) for each in old if each.name in named]


def _filesystems(old: Estimates, new: Estimates, storage: Storage) -> list[tuple[Estimate, Estimate]]:
    """The pairs by name; those whose name is gone, by their mount point, since programs use files by that."""
    pairs = _pairs(old.filesystems, new.filesystems)
    named = {one.name for one, _ in pairs}
    before, after = (_by_mount(side, all_, named) for side, all_ in ((storage.old, old), (storage.new, new)))
    return pairs + [(before[mount], after[mount]) for mount in before if mount in after]


def _by_mount(topology: Topology, made: Estimates, without: set[str]) -> dict[str, Estimate]:
    entries = topology.layout.filesystems
    mounts = ((entries[each.name].mount, each) for each in made.filesystems if each.name not in without)
    return {mount: each for mount, each in mounts if mount}


def _figures(old: Estimates, new: Estimates, storage: Storage) -> Iterator[Figure]:
    for one, other in _pairs(old.arrays, new.arrays):
        path: Path = ("arrays", one.name)
        yield Figure(path, "", "capacity", "bytes", one.capacity, other.capacity)
        yield from _rates(path, "", one, other)
        yield Figure(path, "", "rebuild", "seconds", one.rebuild.seconds, other.rebuild.seconds)
        yield Figure(path, "", "stripe-cache", "bytes", one.stripe_cache_bytes, other.stripe_cache_bytes)
    for one, other in _filesystems(old, new, storage):
        path = ("filesystems", other.name)
        mount = _mount(path, storage)
        yield Figure(path, mount, "capacity", "bytes", one.capacity, other.capacity)
        count = _resized(other.name, storage) or _inodes(other.name, storage.new)
        yield Figure(path, mount, "inodes", "inodes", _inodes(one.name, storage.old), count)
        yield from _rates(path, mount, one, other)


def _rates(path: Path, mount: str, one: Estimate, other: Estimate) -> Iterator[Figure]:
    rates: tuple[tuple[Measure, Rate, Rate], ...] = (
        ("read", one.alone.read, other.alone.read),
        ("write", one.alone.write, other.alone.write),
        ("read-together", one.together.read, other.together.read),
        ("write-together", one.together.write, other.together.write),
    )
    for what, before, after in rates:
        yield Figure(path, mount, what, "bytes/s", before.bytes_per_second, after.bytes_per_second)


def _inodes(name: str, topology: Topology) -> int | None:
    entry = topology.layout.filesystems[name]
    return inodes(entry, next(entry.uses(name, ("filesystems", name))), topology)


def _resized(name: str, storage: Storage) -> int | None:
    """The inodes of an ext file system that stays and gets another size; None for all others."""
    path = ("filesystems", name)
    entry = storage.old.layout.filesystems.get(name)
    if entry is None or storage.fate(path).loses:
        return None
    use = next(entry.uses(name, path))
    now = storage.new_place(next(storage.new.layout.filesystems[name].uses(name, path)))
    if now.size is None or now.size == storage.old_place(use).size:
        return None
    return inodes_after(entry, use, now.size, storage.old)


def _totals(old: Estimates, new: Estimates) -> Iterator[Figure]:
    """The machine as a whole, where there is something to add up on either side."""
    one, other = _total(old), _total(new)
    for what, unit in UNITS.items():
        yield Figure(("hardware",), "", what, unit, one[what], other[what])


UNITS: Mapping[Measure, str] = {
    "capacity": "bytes",
    "read-together": "bytes/s",
    "write-together": "bytes/s",
    "stripe-caches": "bytes",
    "power": "watts",
}


def _total(made: Estimates) -> Mapping[Measure, float | None]:
    tops = made.filesystems
    return {
        "capacity": sum_if_known([each.capacity for each in tops]),
        "read-together": sum_if_known([each.together.read.bytes_per_second for each in tops]),
        "write-together": sum_if_known([each.together.write.bytes_per_second for each in tops]),
        "stripe-caches": sum(each.stripe_cache_bytes for each in made.arrays),
        "power": made.machine.watts,
    }
