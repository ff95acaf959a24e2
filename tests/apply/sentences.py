"""The sentences of refusals, for tests that look at words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from raidplan.apply.execute import Outcome
from raidplan.apply.refusal import Refusal
from raidplan.base.figures import Figure, Figures
from raidplan.facts.prove import Deviation
from raidplan.facts.uses import NotWritten, Use, UseKind, use
from raidplan.render.failures import failure_text
from raidplan.render.refusals import refusal_text
from raidplan.render.uses import use_texts


def sentences(refusals: Iterable[Refusal]) -> Sequence[str]:
    """Their sentences, in order; a tuple of a tuple, else a list."""
    words = [refusal_text(each) for each in refusals]
    return tuple(words) if isinstance(refusals, tuple) else words


def words_of(uses: Iterable[Use]) -> list[str]:
    """The sentences of the users of a device, and of other reasons not to write to it."""
    return [*use_texts(uses)]


@contextmanager
def not_cleared(kind: UseKind, place: str, **figures: Figure) -> Iterator[None]:
    """A device is not cleared inside, for one reason of this kind, place and figures."""
    with pytest.raises(NotWritten) as caught:
        yield
    assert caught.value.uses == (use(kind, place, **figures),)


def failures(outcome: Outcome) -> dict[str, str]:
    """Why steps failed, in words, by id."""
    return {step: failure_text(why) for step, why in outcome.failed.items()}


def advice_text(case: str, figures: Figures) -> str:
    """The advice of a refusal `differs`, without the differences before it."""
    refusal = Refusal("differs", case, "x", 1, figures, (Deviation("x", 1, 2),))
    return refusal_text(refusal).partition("x is 1, planned 2; ")[2]
