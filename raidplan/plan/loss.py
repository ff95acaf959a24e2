"""A loss by a step, as data: its kind, its device and figures. Its words are in `render/losses.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from raidplan.base.figures import Figure, Figures
from raidplan.plan.typed import of, typed

LossKind = Literal[
    "everything", "disk", "ends", "unlisted", "signature", "table", "data", "member", "content", "layer", "array",
    "volume", "group", "absent", "stain", "later", "sentence",
]  # fmt: skip
"""`sentence`: the words of an earlier raidplan, from its plan or its journal."""

FIGURES: Mapping[str, type] = dict.fromkeys(
    ("type", "label", "detail", "place", "content", "signature", "format", "level", "stain", "sentence"), str
) | dict.fromkeys(("size", "offset", "inside", "members", "missing"), int)
"""The figures that a loss can have: texts as they were read from a disk, sizes and offsets in bytes."""

IN_LAYOUTS: Mapping[LossKind, str] = {
    "everything": "everything on {}",
    "disk": "everything on the disk {}",
}
"""The losses of the steps of layouts, as every plan has said them: a digest of before is one of today."""


@dataclass(frozen=True, slots=True)
class Loss:
    """`where` names the device, and `uuid` is empty where the lost thing has none, or has several: losses that differ in it
    only are the same."""

    kind: LossKind
    where: str = ""
    uuid: str = field(default="", compare=False)
    own: bool = False
    """This layout made it: it is given up with the digest of the plan only, and never by habit."""
    figures: Figures = field(default_factory=dict, hash=False)


def loss(kind: LossKind, where: str, uuid: str = "", *, own: bool = False, **figures: Figure) -> Loss:
    """A loss with those of these figures that are known."""
    return Loss(kind, where, uuid, own, {name: figure for name, figure in figures.items() if figure})


def everything_on(where: str) -> Loss:
    """The loss of everything on a device."""
    return Loss("everything", where)


def said_before(sentence: str, where: str = "", uuid: str = "", *, own: bool = False) -> Loss:
    """A loss that is told by words: of a layout, or by an earlier raidplan."""
    for kind, words in IN_LAYOUTS.items():
        if words.format(where) == sentence:
            return Loss(kind, where, uuid, own)
    return Loss("sentence", where, uuid, own, {"sentence": sentence})


def loss_to_data(loss: Loss) -> dict[str, Any]:
    """A loss as plain values. Those of layouts stay as earlier versions wrote them."""
    data: dict[str, Any] = {"where": loss.where, "uuid": loss.uuid, "own": loss.own}
    if loss.kind in IN_LAYOUTS:
        data = {"what": IN_LAYOUTS[loss.kind].format(loss.where), **data}
    elif loss.kind == "sentence":
        data = {"what": loss.figures["sentence"], **data}
    else:
        data |= {"kind": loss.kind, "figures": dict(loss.figures)}
    return {name: value for name, value in data.items() if value or name == "what"}


def loss_from_data(data: object) -> Loss:
    """The loss of plain values; its words count where it has no kind. Raises TypeError."""
    empty: dict[str, object] = {"what": "", "where": "", "uuid": "", "own": False, "kind": "", "figures": {}}
    found = typed({**empty, **of(dict, data)}, {name: type(value) for name, value in empty.items()})
    where, uuid, own = found["where"], found["uuid"], found["own"]
    if not found["kind"]:
        return said_before(of(str, of(dict, data)["what"]), where, uuid, own=own)
    if found["kind"] not in get_args(LossKind):
        raise TypeError(f"{found['kind']!r:.80} is no kind of a loss")
    figures = typed(
        found["figures"], {name: kind for name, kind in FIGURES.items() if name in found["figures"]}
    )
    return Loss(cast(LossKind, found["kind"]), where, uuid, own, figures)


def loss_to_row(loss: Loss) -> list[object]:
    """A loss for a record of the journal."""
    return [loss.kind, loss.where, loss.uuid, loss.own, dict(loss.figures)]


def loss_from_row(row: Sequence[Any]) -> Loss:
    """The loss of such a row; rows of an earlier raidplan have words, and no figures."""
    first, where, uuid, own, *figures = row
    if not figures:
        return said_before(first, where, uuid, own=own is True)
    return Loss(first, where, uuid, own is True, *figures)
