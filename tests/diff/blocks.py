"""Arrays as blocks on disks, naively: what each member holds, and what can be computed of those that are left.

A block is a vector over the data of a few stripes: a datum has one 1, P sums them, Q sums them with different factors.
Whatever spans all data can be read. Placement is written down from md(4), not from raidplan's own tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Block = tuple[int, ...]
Disk = dict[int, Block]
"""What stands at each row."""
COPIES = 2
PRIME = 10007
"""Ranks are those of the numbers modulo this."""


def array(level: str, members: int, layout: str = "n2") -> list[Disk]:
    """A few stripes of an array: what each slot holds."""
    match level:
        case "raid0":
            return _placed(members, 2 * members, lambda c: [(c % members, c // members)])
        case "raid1":
            return _placed(members, 2, lambda c: [(slot, c) for slot in range(members)])
        case "raid10":
            return _placed(members, 2 * members, lambda c: _copies(c, members, layout[0]))
        case "raid4" | "raid5" | "raid6":
            return _parity(members, 2 if level == "raid6" else 1, turning=level != "raid4")
    raise LookupError(level)


def readable(disks: Iterable[Disk]) -> int:
    """How many blocks of data can be read or computed: the rank of all that is there."""
    rows = [list(block) for disk in disks for block in disk.values()]
    rank = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((n for n in range(rank, len(rows)) if rows[n][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        inverse = pow(rows[rank][column], -1, PRIME)
        for n in range(rank + 1, len(rows)):
            if rows[n][column]:
                factor = rows[n][column] * inverse
                rows[n] = [
                    (one - factor * other) % PRIME for one, other in zip(rows[n], rows[rank], strict=True)
                ]
        rank += 1
    return rank


def _placed(members: int, chunks: int, where: Callable[[int], list[tuple[int, int]]]) -> list[Disk]:
    disks: list[Disk] = [{} for _ in range(members)]
    for chunk in range(chunks):
        for slot, row in where(chunk):
            disks[slot][row] = tuple(int(n == chunk) for n in range(chunks))
    return disks


def _copies(chunk: int, members: int, kind: str) -> list[tuple[int, int]]:
    """(slot, row) of both copies: side by side, in the other half of the disk, or in the next row."""
    if kind == "n":
        return [((COPIES * chunk + n) % members, (COPIES * chunk + n) // members) for n in range(COPIES)]
    slot, row = chunk % members, chunk // members
    rows = {"f": (row, 1000 + row), "o": (COPIES * row, COPIES * row + 1)}[kind]
    return [((slot + n) % members, rows[n]) for n in range(COPIES)]


def _parity(members: int, parity: int, *, turning: bool) -> list[Disk]:
    data = members - parity
    chunks = data * members
    disks: list[Disk] = [{} for _ in range(members)]
    for row in range(members):
        first = row * data
        blocks = [tuple(int(n == first + d) for n in range(chunks)) for d in range(data)]
        blocks += [
            tuple((n - first + 1) ** power if first <= n < first + data else 0 for n in range(chunks))
            for power in range(parity)
        ]
        for n, block in enumerate(blocks):
            disks[(n + row) % members if turning else n][row] = block
    return disks
