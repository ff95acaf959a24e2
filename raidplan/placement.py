"""Pools to members: `members: {from: [...], count: 8, spread: multiplier}` becomes names in slot order.

Greedy and deterministic: arrays in the layout's order; each member is the free device whose component holds
the fewest members of this array so far, then the fewest taken devices at all, then the one listed first.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush

from raidplan.findings import Finding, Path, did_you_mean, dotted, error, has_errors
from raidplan.kinds.pool import Pool
from raidplan.layout.model import Layout
from raidplan.topology import Topology, resolve


def place(layout: Layout) -> tuple[Layout, list[Finding]]:
    """The layout with members by name in place of every pool, and why a pool could not be filled."""
    pools = {name: array for name, array in layout.arrays.items() if isinstance(array.members, Pool)}
    if not pools:
        return layout, []
    # What is wrong elsewhere is found again when the filled layout is resolved.
    topology, _ = resolve(layout)
    findings: list[Finding] = []
    arrays = dict(layout.arrays)
    for name, array in pools.items():
        assert isinstance(array.members, Pool)
        path: Path = ("arrays", name, "members")
        problems = list(_problems(name, array.members, path, topology))
        findings += problems
        if not has_errors(problems):
            members = _pick(array.members, topology)
            arrays[name] = array.model_copy(update={"members": members})
            topology.used_by |= {use.device: use for use in arrays[name].uses(name, path[:2])}
    return layout.model_copy(update={"arrays": arrays}), findings


def _problems(name: str, pool: Pool, path: Path, topology: Topology) -> Iterator[Finding]:
    """Why a pool cannot be filled."""
    known = topology.provider
    unknown = [(number, device) for number, device in enumerate(pool.from_) if device not in known]
    for number, device in unknown:
        hint = did_you_mean(device, known)
        message = f"there is no device '{device}' in this layout"
        yield error(
            "unknown-device", (*path, "from", number), message, hint or "describe it, or correct the name"
        )
    free = _free(pool, topology)
    if pool.count < 1:
        message = f"{name} is to have {pool.count} members"
        yield error("invalid-value", (*path, "count"), message, "write how many it shall have")
    elif not unknown and pool.count > len(free):
        listed = len(dict.fromkeys(pool.from_))
        yield error(
            "pool-too-small",
            (*path, "count"),
            f"{name} wants {pool.count} members, and {len(free)} of the {listed} devices of its pool are free",
            f"list more devices, or lower the count{_users(pool, topology)}",
        )


def _users(pool: Pool, topology: Topology) -> str:
    """Who has the devices that are not free."""
    users = (topology.used_by[device].path[:2] for device in pool.from_ if device in topology.used_by)
    names = [dotted(path) for path in dict.fromkeys(users)]
    return f"; the others belong to {', '.join(names[:5])}{' and more' * (len(names) > 5)}" if names else ""


def _free(pool: Pool, topology: Topology) -> list[str]:
    """The devices of a pool that nothing uses, as they are listed; a disk with partitions is not free."""
    disks = topology.layout.hardware.disks
    return [
        device
        for device in dict.fromkeys(pool.from_)
        if device in topology.provider
        and device not in topology.used_by
        and not (device in disks and disks[device].partitions)
    ]


def _pick(pool: Pool, topology: Topology) -> tuple[str, ...]:
    """The members in slot order; there are enough free devices."""
    where = _Components(pool.spread, topology)
    taken = Counter(where.of(device) for device in topology.used_by)
    order = {device: number for number, device in enumerate(_free(pool, topology))}
    queues: dict[str, deque[str]] = {}
    for device in where.one_disk_after_the_other(order):
        queues.setdefault(where.of(device), deque()).append(device)
    heap = [(0, taken[component], order[queue[0]], component) for component, queue in queues.items()]
    heapify(heap)
    members: list[str] = []
    while len(members) < pool.count:
        here, _, _, component = heappop(heap)
        queue = queues[component]
        members.append(queue.popleft())
        taken[component] += 1
        if queue:
            heappush(heap, (here + 1, taken[component], order[queue[0]], component))
    return tuple(members)


class _Components:
    """Which component of one kind a device hangs on."""

    def __init__(self, kind: str, topology: Topology) -> None:
        self.kind, self.topology = kind, topology

    def disk(self, device: str) -> str:
        """The disk a device stands on; an array stands for itself."""
        disks = self.topology.disks_below(device)
        return next(iter(disks)) if len(disks) == 1 else device

    def of(self, device: str) -> str:
        """The component, or the disk itself where it shares none with others."""
        disk = self.disk(device)
        return self.topology.wiring.nearest(disk, self.kind) or f"disk {disk}"

    def one_disk_after_the_other(self, devices: Iterable[str]) -> list[str]:
        """First one device of each disk, then the second of each: two partitions of a disk come far apart."""
        seen: Counter[str] = Counter()
        rank: dict[str, int] = {}
        for device in devices:
            disk = self.disk(device)
            rank[device] = seen[disk]
            seen[disk] += 1
        return sorted(rank, key=rank.__getitem__)
