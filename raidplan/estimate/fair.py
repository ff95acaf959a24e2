"""Max-min fair sharing: all flows are raised together, and each stops where something it needs is full.

Progressive filling as in D. Bertsekas and R. Gallager, Data Networks, 2nd edition, 6.5.2; here a flow may take
different amounts of each resource for one unit of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from heapq import heapify, heappop, heappush
from math import inf
from typing import Generic, NamedTuple, TypeVar

Flow = TypeVar("Flow", bound=Hashable)
Resource = TypeVar("Resource", bound=Hashable)

FULL = 1e-9
"""Relative difference below which two levels are the same."""


class Share(NamedTuple, Generic[Resource]):
    """The share of one flow."""

    level: float
    """In units of the flow; infinite where nothing it needs has a limit."""
    bottlenecks: tuple[Resource, ...] = ()
    """The full resources of which no other flow has more units than this one, in the order of its needs."""


def share(
    needs: Mapping[Flow, Mapping[Resource, float]], capacity: Mapping[Resource, float]
) -> dict[Flow, Share[Resource]]:
    """The max-min fair level of each flow: none can be raised without lowering one that is not above it.

    `needs` says what a flow takes of each resource for one unit of its own; a resource without a capacity has
    no limit. Takes time for the needs, times a logarithm of the resources.
    """
    levels = _levels(needs, capacity)
    used, highest = dict.fromkeys(capacity, 0.0), dict.fromkeys(capacity, 0.0)
    for flow, parts in needs.items():
        for resource in _limited(parts, capacity):
            used[resource] += parts[resource] * levels[flow]
            highest[resource] = max(highest[resource], levels[flow])

    def holds_up(resource: Resource, level: float) -> bool:
        full = used[resource] >= capacity[resource] * (1 - FULL)
        return full and level >= highest[resource] * (1 - FULL)

    return {
        flow: Share(level, tuple(r for r in _limited(needs[flow], capacity) if holds_up(r, level)))
        for flow, level in levels.items()
    }


def _limited(parts: Mapping[Resource, float], capacity: Mapping[Resource, float]) -> list[Resource]:
    return [resource for resource, need in parts.items() if need > 0 and resource in capacity]


def _levels(
    needs: Mapping[Flow, Mapping[Resource, float]], capacity: Mapping[Resource, float]
) -> dict[Flow, float]:
    levels = dict.fromkeys(needs, inf)
    users: dict[Resource, list[Flow]] = {}
    left, rising = dict(capacity), dict.fromkeys(capacity, 0.0)
    for flow, parts in needs.items():
        for resource in _limited(parts, capacity):
            users.setdefault(resource, []).append(flow)
            rising[resource] += parts[resource]
    open_users = {resource: len(flows) for resource, flows in users.items()}

    def filled_at(resource: Resource) -> float:
        """The level at which it is full if all flows that still rise go on."""
        if not open_users[resource] or rising[resource] <= 0:
            return inf
        return max(0.0, left[resource]) / rising[resource]

    order = {resource: number for number, resource in enumerate(users)}
    queue = [(filled_at(resource), number, resource) for resource, number in order.items()]
    heapify(queue)
    while queue:
        expected, _, resource = heappop(queue)
        level = filled_at(resource)
        if level == inf:
            continue
        if level > expected:
            # Others on it have stopped since: it fills later.
            heappush(queue, (level, order[resource], resource))
            continue
        for flow in users[resource]:
            if levels[flow] != inf:
                continue
            levels[flow] = level
            for other in _limited(needs[flow], capacity):
                left[other] -= needs[flow][other] * level
                rising[other] -= needs[flow][other]
                open_users[other] -= 1
    return levels
