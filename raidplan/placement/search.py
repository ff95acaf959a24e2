"""The least number for which something is possible."""

from __future__ import annotations

from collections.abc import Callable


def least(low: int, high: int, possible: Callable[[int], bool]) -> int:
    """The least number from `low` to `high`; what is possible for one is taken to be possible for all above.

    `high` itself is not asked. The steps double, because the answer is near `low` as a rule.
    """
    step, beyond = max(1, low // 16), low
    while beyond < high and not possible(beyond):
        low = beyond + 1
        beyond, step = beyond + step, step * 2
    high = min(beyond, high)
    while low < high:
        middle = (low + high) // 2
        if possible(middle):
            high = middle
        else:
            low = middle + 1
    return low
