"""Numbers that change here and there, and the least of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

BLOCK = 6
"""Bits of the places in a block, of which the least is known until one of its numbers changes."""


class Costs:
    """A list of numbers; to find the least again takes no longer than what changed, and a step for each block."""

    def __init__(self, costs: Sequence[int] = ()) -> None:
        self.costs = [*costs]
        self.of_block = [0] * (len(costs) + (1 << BLOCK) - 1 >> BLOCK)
        self.stale = {*range(len(self.of_block))}

    def add(self, places: Iterable[int], more: int) -> None:
        """Adds the same to the numbers at some places."""
        costs, stale = self.costs, self.stale
        for place in places:
            costs[place] += more
            stale.add(place >> BLOCK)

    def least(self) -> int:
        """The least of all; there is one."""
        for block in self.stale:
            self.of_block[block] = min(self.costs[block << BLOCK : block + 1 << BLOCK])
        self.stale.clear()
        return min(self.of_block)
