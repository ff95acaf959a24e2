"""The losses of a plan, as sentences' parts for the lists that a person reads; as templates of `render/sentences.py`, by kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from raidplan.plan.loss import FIGURES, Loss, LossKind
from raidplan.render.sentences import filled

PLACE = "{inside:?inside the array }on {place:?% of }{where}"
LOSSES: Mapping[LossKind, str] = {
    "everything": "everything on {where}",
    "disk": "everything on the disk {where}",
    "ends": "the md superblock and bitmap on {where}, and all else at its ends",
    "unlisted": "whatever is on {where}",
    "signature": "{signature} on {where}",
    "table": "the partition table ({format}) of {where}",
    "data": f"data {PLACE} that nothing here recognises, from byte {{offset}} on",
    "member": f"a member of the array{{label:? '%'}}{{detail:? (%)}} {PLACE}",
    "content": f"{{type:|a file system}}{{label:? '%'}}{{size:?size?, %}}, {PLACE}",
    "layer": "{content:|}, {size:size}, on {where}",
    "array": "{where}, {level:|not started}{members:? of %}, {size:size}",
    "volume": "{where}, {size:size}",
    "group": "{where}",
    "absent": "{where}: {missing} of its {members} members are not in this machine, and may bring it back when they are connected",
    "stain": "{stain}, on {where}: of the step that was interrupted there, or of somebody else",
    "later": "data on {place} that came after the interrupted clearing had begun, at byte {offset}",
    "sentence": "{sentence}",
}
UNKNOWN = {name: kind() for name, kind in FIGURES.items()}


def loss_words(loss: Loss) -> str:
    """A loss in words."""
    return filled(LOSSES[loss.kind], {**UNKNOWN, **loss.figures, "where": loss.where})


def loss_text(loss: Loss) -> str:
    """A loss in words, and whether this layout made the lost thing."""
    return f"{loss_words(loss)}, made by this layout" if loss.own else loss_words(loss)


def loss_texts(losses: Iterable[Loss]) -> tuple[str, ...]:
    """The texts of several losses."""
    return tuple(map(loss_text, losses))
