"""An array, old against new: its shape, its members, its spares, its tunables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.base.findings import Path
from raidplan.base.levels import LEVELS
from raidplan.diff.changes import ARRAY, Way, array_setting, noted, way
from raidplan.diff.members import Members
from raidplan.diff.places import Place
from raidplan.diff.result import Change
from raidplan.diff.sizes import Trend, members_trend
from raidplan.diff.statement import statement
from raidplan.diff.storage import Storage
from raidplan.layout.kinds.array import Array
from raidplan.plan.changes import JOURNAL_EXCHANGED, SPARE_ADDED, SPARE_REMOVED, Shape, changes, resize
from raidplan.topology import Topology

SPARE_USED = Way("none", (statement("spare-used"),))


def array_changes(path: Path, old: Array, new: Array, storage: Storage) -> Iterator[Change]:
    """The differences; one that no command changes in place has no way."""
    name = str(path[1])
    places = storage.members(0, name), storage.members(1, name)
    # Made anew, an array of the same members may be a little larger or smaller: with a PPL, for one.
    other_sizes = [place.size for place in places[0]] != [place.size for place in places[1]]
    before = _shape(name, old, places[0], storage.old, sized=other_sizes)
    after = _shape(name, new, places[1], storage.new, sized=other_sizes)
    members = Members(name, *places, before, after, storage)
    for each in changes(before, after):
        how = way(each.answer)
        if each.key == "raid-devices":
            how = noted(how, members.order) if all(map(storage.free, members.joining)) else None
        yield Change(each.key, each.old, each.new, how)
    if before.size is None or after.size is None:
        yield from _unsized(name, before, storage)
    yield from members.changes()
    yield from _spares(storage.spares(0, name), storage.spares(1, name), places[1], storage)
    logs = storage.journal(0, name), storage.journal(1, name)
    if logs[0] and logs[1] and not storage.same(logs[0], logs[1]):
        yield Change("journal", logs[0].device, logs[1].device, way(JOURNAL_EXCHANGED))
    for key in ARRAY:
        now, planned = getattr(old, key), getattr(new, key)
        if now != planned:
            yield Change(key, now, planned, array_setting(key, planned))


def _unsized(name: str, before: Shape, storage: Storage) -> Iterator[Change]:
    """Members that are larger or smaller than they were, by how much no layout says."""
    found = members_trend(name, name, storage)
    if found is not Trend.SAME:
        yield Change(
            "size",
            statement("not-stated"),
            statement("trend", trend=found.value),
            way(resize(before, smaller=not found.holds)),
        )


def _shape(name: str, array: Array, members: Sequence[Place], topology: Topology, *, sized: bool) -> Shape:
    """The shape of an array; its size if that is known and may differ."""
    device = topology.devices.get(name) if sized else None
    chunk = array.effective_chunk
    # A zone ends with a whole chunk; what is less than that on some members does not count.
    even = len({place.size // (chunk or 1) for place in members if place.size is not None}) < 2
    return Shape(
        array.level,
        len(members),
        chunk,
        None if LEVELS[array.level].zoned and even else array.effective_layout,
        array.metadata,
        array.policy,
        device.size if device else None,
        even,
    )


def _spares(
    old: Sequence[Place], new: Sequence[Place], members: Sequence[Place], storage: Storage
) -> Iterator[Change]:
    """The spares that leave, and then those that come, each time beside all that there are."""
    stay = [place for place in old if any(storage.same(place, other) for other in new)]
    left = list(old)
    for place in old:
        if place not in stay:
            used = any(storage.same(place, other) for other in members)
            before, left = left, [other for other in left if other is not place]
            yield _named_spares(before, left, SPARE_USED if used else way(SPARE_REMOVED))
    came = [place for place in new if not any(storage.same(other, place) for other in old)]
    now = [place for place in new if place not in came]
    for place in came:
        before, now = now, [*now, place]
        yield _named_spares(before, now, way(SPARE_ADDED))


def _named_spares(old: Sequence[Place], new: Sequence[Place], how: Way | None) -> Change:
    one, other = (tuple(place.device for place in places) for places in (old, new))
    return Change("spares", one, other, how)
