"""Killed at every effect, and booted before the next `apply`: what ran is gone, but for what the files of then bring up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.change.obsolete import set_by
from raidplan.base.levels import LEVELS
from raidplan.facts.host import HOLD, NAMES
from raidplan.plan.places import FSTAB, UDEV_RULES
from tests.apply.earlier import boot_that_knows_no_names
from tests.apply.earlier import plan_of as two_levels
from tests.apply.left import Kills
from tests.apply.others import Others
from tests.apply.runs import apply, end, gone_on, impatient, machine, plan_of
from tests.apply.simulated import Simulated

pytestmark = pytest.mark.slow

__all__ = ["impatient"]

LAYOUTS = ("raid1-pair", "raid50", "raid5-ppl", "raid5-2005-lvm", "two levels")
"""Examples, and one with mirrors, parity and volumes together."""
OF_LEVELS = {level.module for level in LEVELS.values()}


def boot(world: Simulated, *, named: bool) -> None:
    """Where the initramfs does not know the arrays, as that of a rescue system never does, they get numbers; mounts and swap
    come from fstab, tuning from udev's rules.
    """
    state, objects = world.state, world.state.objects
    state.attributes.clear()
    for rule in (HOLD, NAMES):
        world.path(rule).unlink(missing_ok=True)
    arrays = objects.get("array", {})
    state.nodes -= OF_LEVELS - {LEVELS[found["level"]].module for found in arrays.values()}
    if arrays and not (named and world._initramfs_is_new()):
        state.nodes -= {found["node"] for found in arrays.values()}
        boot_that_knows_no_names(state)
    for found in arrays.values():
        found["sync_held"] = False
    fstab = world.path(FSTAB).read_text()
    objects["mount"] = {
        point: found for point, found in objects.get("mount", {}).items() if f" {point} " in fstab
    }
    for key, found in objects.get("swap", {}).items():
        if key.removeprefix("file:") not in fstab:
            found["active"] = False
            found.pop("priority", None)
    file = world.path(UDEV_RULES.format(host=world.plan.host))
    rules = file.read_text() if file.exists() else ""
    objects["tuning"] = {uuid: set_by(rules, uuid) for uuid in objects.get("tuning", {})}


def as_it_is(world: Simulated) -> object:
    """The end of a run, but for where the kernel says an array is."""
    objects, *rest = end(world)  # type: ignore[misc]
    places = {"node", "device", "links", "sync_held"}
    arrays = {
        uuid: {k: v for k, v in found.items() if k not in places}
        for uuid, found in objects.pop("array").items()
    }
    return arrays, {kind: found for kind, found in objects.items() if found}, rest


@pytest.mark.drawn(2)
@pytest.mark.parametrize("named", [True, False], ids=["its own initramfs", "one that knows no names"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_killed_at_every_effect_and_booted(
    layout: str,
    named: bool,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    dice: Random | None,
) -> None:
    plan = two_levels(tmp_path / "layout") if layout == "two levels" else plan_of(layout)
    once = Simulated(plan, tmp_path / "once", machine(tmp_path / "once"))
    kills = Kills(once, tmp_path / "killed", dice)
    assert apply(plan, once) == "done"
    wanted = as_it_is(once)
    for point, left in kills.machines():
        boot(left, named=named)
        assert as_it_is(gone_on(plan, left, point)) == wanted, point
        assert left.state.others.hashes() == Others().hashes(), point
    record_property("counted: kills with a boot after them", len(kills.left) if dice else kills.points)
