"""The sentences of refusals, for tests that look at words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from raidplan.apply.refusal import Refusal
from raidplan.base.figures import Figures
from raidplan.facts import Machine
from raidplan.facts.prove import Deviation, differences
from raidplan.plan.step import Proof
from raidplan.render.deviations import deviation_texts
from raidplan.render.refusals import refusal_text


def sentences(refusals: Iterable[Refusal]) -> Sequence[str]:
    """Their sentences, in order; a tuple of a tuple, else a list."""
    words = [refusal_text(each) for each in refusals]
    return tuple(words) if isinstance(refusals, tuple) else words


def advice_text(case: str, figures: Figures) -> str:
    """The advice of a refusal `differs`, without the differences before it."""
    refusal = Refusal("differs", case, "x", 1, figures, (Deviation("x", 1, 2),))
    return refusal_text(refusal).partition("x is 1, planned 2; ")[2]


def differing(proof: Proof, machine: Machine) -> Sequence[str]:
    """What of a machine is not as planned, in words."""
    return deviation_texts(differences(proof, machine) or ())
