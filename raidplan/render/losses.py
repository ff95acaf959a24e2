"""The losses of a plan, as sentences' parts for the lists that a person reads."""

from __future__ import annotations

from collections.abc import Iterable

from raidplan.plan.step import Loss


def loss_text(loss: Loss) -> str:
    """One of them, and whether this layout made it."""
    return f"{loss.what}, made by this layout" if loss.own else loss.what


def loss_texts(losses: Iterable[Loss]) -> tuple[str, ...]:
    """Several of them."""
    return tuple(map(loss_text, losses))
