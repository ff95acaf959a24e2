"""The members of an array, slot by slot: which stay, which are exchanged, and whether its data stays whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from raidplan.base.levels import redundancy
from raidplan.diff.changes import Way, noted, way
from raidplan.diff.places import Place
from raidplan.diff.result import Change, Value
from raidplan.diff.sizes import readable, sizes, stays, trend
from raidplan.diff.statement import Statement, statement
from raidplan.diff.storage import Storage
from raidplan.plan.changes import REORDERED, Pairing, Shape, pair, resize


@dataclass(frozen=True)
class Members:
    """The members of one array in both layouts, in slot order."""

    array: str
    old: list[Place]
    new: list[Place]
    before: Shape
    after: Shape
    storage: Storage

    @cached_property
    def unreadable(self) -> frozenset[int]:
        """The old slots whose bytes nobody can read: the disk has left, or the new members lie on them."""
        return frozenset(
            slot
            for slot, place in enumerate(self.old)
            if not readable(place, [new for new in self.new if not self._keeps(place, new)], self.storage)
        )

    @cached_property
    def whole(self) -> bool:
        """All data can be read from, or computed of, the old members that are still there."""
        groups = redundancy(self.before.level, len(self.old), self.before.layout)
        return all(len(self.unreadable.intersection(group)) <= may_lose for group, may_lose in groups)

    @cached_property
    def pairing(self) -> Pairing:
        """The answer of the table of changes about them."""
        stays = [self._stays_as(place) for place in self.old]
        return pair(stays, self.before, self.after, self.unreadable)

    @property
    def joining(self) -> list[Place]:
        """The members to add for the new number of members."""
        return [self.new[slot] for slot in self.pairing.joining]

    @property
    def order(self) -> Statement | None:
        """The order of members to write where the slots of a mirror will be in another order than in the new layout."""
        held = self.pairing.held
        if list(held) == sorted(held):
            return None
        code: Literal["order", "slots"] = "order" if self.pairing.answer is REORDERED else "slots"
        return statement(code, members=tuple(self.new[slot].device for slot in held))

    def changes(self) -> Iterator[Change]:
        """The members that are not what they were; without a way if data is lost by it."""
        pairs = self._differing
        how = self._way(pairs)
        for before, after in pairs:
            names = self._names(self.old[before], self.new[after])
            yield Change(f"members.{after}", *names, how, of_member=True)
        if not self.whole:
            for slot in sorted(self.unreadable - {before for before, _ in pairs}):
                yield Change(
                    f"members.{slot}", self.old[slot].device, statement("absent"), None, of_member=True
                )

    def _stays_as(self, old: Place) -> int | None:
        """The new slot that has the same bytes, whatever its number."""
        return next((slot for slot, place in enumerate(self.new) if self._keeps(old, place)), None)

    def _keeps(self, old: Place, new: Place) -> bool:
        """Both have the same bytes, and room for the data: all of it, or as much as is left once the array is smaller."""
        return stays(old, new, self.storage) or (self._shrinks and self.storage.same(old, new))

    @cached_property
    def _shrinks(self) -> bool:
        """The array is made smaller before its members are."""
        before, after = self.before, self.after
        alike = replace(after, size=before.size) == before
        smaller = before.size is None or after.size is None or after.size < before.size
        return alike and smaller and resize(before, smaller=True).possible

    @property
    def _differing(self) -> Sequence[tuple[int, int]]:
        """(old slot, new slot) where another member is in the place of one."""
        if self.pairing.answer is REORDERED:
            return [(slot, slot) for slot, now in enumerate(self.pairing.held) if slot != now]
        return self.pairing.exchanged

    def _way(self, pairs: Sequence[tuple[int, int]]) -> Way | None:
        """The way to exchange members; None if the array would lose more than it may, or a disk is not free."""
        answer = self.pairing.answer
        if answer is None or not self.whole:
            return None
        if answer is REORDERED:
            return noted(way(answer), self.order)
        if not all(self._may_take(*pair) for pair in pairs):
            return None
        by_apply = statement("by-apply") if pairs and all(self._is_new(*pair) for pair in pairs) else None
        return noted(way(answer), by_apply, self.order)

    def _is_new(self, before: int, after: int) -> bool:
        """The disk of the old member has left, and that of the new one came."""
        old, new = self.old[before].disk, self.new[after].disk
        came = new is not None and new not in self.storage.disks.values()
        return old is not None and old not in self.storage.disks and came and before == after

    def _may_take(self, before: int, after: int) -> bool:
        """No other data lies where the new member will be; of this array, only that of the member that it replaces."""
        own = ("arrays", self.array) if self._one_disk(self.old[before], self.new[after]) else ()
        return self.storage.free(self.new[after], own)

    def _one_disk(self, old: Place, new: Place) -> bool:
        """The new bytes lie on the disk of the old ones, or are made anew under the name of the old ones."""
        if old.disk is None or new.disk is None:
            return old.disk == new.disk and old.device == new.device
        return self.storage.disks.get(old.disk) == new.disk

    def _names(self, old: Place, new: Place) -> tuple[Value, Value]:
        if old.device != new.device:
            return old.device, new.device
        if old.disk is None:
            return statement("as-it-is", device=old.device), statement("as-it-will-be", device=new.device)
        if not self._one_disk(old, new):
            return old.device, statement("other-disk", device=new.device)
        if old.start != new.start:
            return old.part, new.part
        return sizes(old, new, trend(old, new, self.storage), named=True)
