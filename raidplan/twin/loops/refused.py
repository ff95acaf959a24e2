"""The exceptions of making and removing loop devices."""

from __future__ import annotations

from collections.abc import Sequence


class LoopsRefused(Exception):
    """A refusal before anything was touched; `reasons` are sentences for the user, all of them."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = tuple(reasons)


class Stopped(Exception):
    """Making or removing failed on the way. `left`: something is still there, and `down` removes it."""

    def __init__(self, reason: str, *, left: bool) -> None:
        super().__init__(reason)
        self.left = left
