"""The result of a case, said before it is run: of its layout, its adversity and the journal of an apply without any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from random import Random
from typing import Any

import yaml

from raidplan.base.levels import LEVELS
from tests.kills.adversity import CONVERGED, OPEN, PERSON, PLANTED, PULLED, STORM, Adversity
from tests.kills.family import DISKS, FULL, Drawn

Journal = Sequence[tuple[str, str]]
"""The kind and the step of each record that an uninterrupted apply writes."""
MARGIN = 6
"""So many records may come in another order, or between the moment that is waited for and the pull: steps run side by side."""
STAY = 0.7
"""The share of the pulls that stay where they are drawn, though a second decides how they end."""
SHARES = 50
"""So many moments of an apply are tried in place of one of which nothing can be said."""


def predicted(drawn: Drawn, adversity: Adversity, journal: Journal) -> str:
    """The prediction. What somebody has planted has to be taken away by a person."""
    if adversity.kind in PLANTED:
        return PERSON
    if adversity.kind == PULLED:
        return _pulled(
            drawn, adversity.disk, _Moment(drawn, journal, round(adversity.share * len(journal), 6))
        )
    return CONVERGED


def foreseeable(drawn: Drawn, adversity: Adversity, journal: Journal) -> Adversity:
    """The adversity itself, if it can be said before the run how it ends, and of most pulls while something is made of the disk; else
    that of the nearest moment at which it can, or of another disk, and for a layout whose disks are all of one array without redundancy
    a storm.
    """
    stays = adversity.kind == PULLED and Random(f"stays {adversity.draw}").random() < STAY
    if stays and while_made(drawn, adversity, journal):
        return adversity
    # At the last one, all but the last record is written: the machine is read again.
    last = 1 - 1 / max(1, len(journal))
    moments = sorted(
        [*(n / SHARES for n in range(1, SHARES)), last], key=lambda share: abs(share - adversity.share)
    )
    disks = (adversity.disk, *(disk for disk in range(DISKS) if disk != adversity.disk))
    every = (
        replace(adversity, disk=disk, share=share) for disk in disks for share in (adversity.share, *moments)
    )
    storm = replace(adversity, kind=STORM)
    return next((each for each in every if predicted(drawn, each, journal) != OPEN), storm)


def while_made(drawn: Drawn, adversity: Adversity, journal: Journal) -> bool:
    """Something is made of what the disk offers, as far as the journal tells, and not all of it is in use already: either end is right."""
    layout = yaml.safe_load(drawn.text)
    moment = _Moment(drawn, journal, round(adversity.share * len(journal), 6))
    makers, used = _makers(layout, adversity.disk)
    users = [user for name in used for user in users_of(layout, name)]
    opened = [f"array.{name}.open" for name in used]
    return bool(makers) and not moment.before(makers) and not moment.after([*makers, *opened, *users])


def predicted_if_won(drawn: Drawn, adversity: Adversity, journal: Journal) -> str:
    """The prediction where mdadm did what a person asked of it: that person has to take it back."""
    return PERSON if adversity.kind == "person's create" else predicted(drawn, adversity, journal)


@dataclass(frozen=True)
class _Moment:
    """So many records into the journal."""

    drawn: Drawn
    journal: Journal
    at: float

    def before(self, steps: Iterable[str]) -> bool:
        """None of them is begun by then, for sure."""
        if self.drawn.kind == "change":
            return not [*steps]
        seen = {step for kind, step in self.journal[: ceil(self.at) + MARGIN] if kind == "intent"}
        return not seen & {*steps}

    def after(self, steps: Iterable[str]) -> bool:
        """All that the apply makes of them have ended by then, for sure. A layout that is changed stands from the beginning."""
        last = ceil(self.at) >= len(self.journal) - 1
        until = len(self.journal) if last else max(0, floor(self.at) - MARGIN)
        ended = {step for kind, step in self.journal[:until] if kind == "ended"}
        made = {step for _, step in self.journal}
        return self.drawn.kind == "change" or {step for step in steps if step in made} <= ended


def _pulled(drawn: Drawn, disk: int, moment: _Moment) -> str:
    """Before anything is made of what the disk offers, the next apply finds it as it was. Once an array with redundancy that is in
    use has lost a member, no boot and no apply puts that back: a person does. Of all else (a spare, a journal, an array that nobody
    uses yet and that mdadm may stop, what has no redundancy, an old array) the order of events within a second decides.
    """
    layout = yaml.safe_load(drawn.text)
    offered = {f"k{disk}.a", f"k{disk}.b"}
    arrays: dict[str, dict[str, Any]] = layout["arrays"]
    makers, used = _makers(layout, disk)
    if disk not in FULL.get(drawn.old, ()) and moment.before(makers):
        return CONVERGED
    for name in used:
        array = arrays[name]
        degraded = LEVELS[array["level"]].redundant and offered & {*array["members"]}
        made = [f"array.{name}.create", f"array.{name}.open"]
        users = users_of(layout, name)
        if degraded and users and moment.after([*made, *users]):
            return PERSON
    return OPEN


def _makers(layout: dict[str, Any], disk: int) -> tuple[list[str], set[str]]:
    """The steps that make something of what a disk offers, and the arrays among that."""
    offered = {f"k{disk}.a", f"k{disk}.b"}
    used = {name for name, array in layout["arrays"].items() if offered & _members(array)}
    made = [f"array.{name}.create" for name in used]
    return [*made, *(step for step, device in targets(layout) if device in offered)], used


def targets(layout: dict[str, Any]) -> list[tuple[str, str]]:
    """The steps that put a file system, swap or a physical volume on a device, and the device as the layout names it."""
    found = [(f"filesystem.{name}.make", each["device"]) for name, each in layout["filesystems"].items()]
    found += [
        (f"swap.{name}.make", each["device"])
        for name, each in layout.get("swap", {}).items()
        if "device" in each
    ]
    for group, each in layout.get("volume_groups", {}).items():
        found += [(f"volume.{group}.physical.{device}", device) for device in each["devices"]]
    return found


def devices_used(layout: dict[str, Any]) -> set[str]:
    """The disks and partitions that an array, a file system, swap or a group stands on."""
    every = {device for _, device in targets(layout)}
    for array in layout["arrays"].values():
        every |= _members(array)
    return every


def _members(array: dict[str, Any]) -> set[str]:
    return {*array["members"], *array.get("spares", ()), *filter(None, [array.get("journal")])}


def users_of(layout: dict[str, Any], array: str) -> list[str]:
    """The steps after which an array is in use."""
    found = [
        f"filesystem.{name}.mount" for name, each in layout["filesystems"].items() if each["device"] == array
    ]
    found += [
        f"swap.{name}.on" for name, each in layout.get("swap", {}).items() if each.get("device") == array
    ]
    for group, each in layout.get("volume_groups", {}).items():
        volumes = each["volumes"] if array in each["devices"] else ()
        found += [
            f"filesystem.{name}.mount"
            for name, other in layout["filesystems"].items()
            if other["device"] in {f"{group}.{v}" for v in volumes}
        ]
    found += [f"array.{name}.create" for name, other in layout["arrays"].items() if array in other["members"]]
    return found
