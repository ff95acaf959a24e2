"""A run on blank disks in the place of those of an earlier, finished run: wherever it is killed, the next one goes on by itself.

The journal has an object of the same name and UUID for each that this run makes, and none of them counts for what it made itself.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.plan.step import Plan
from tests.apply import test_encryption
from tests.apply.cut_off import Cut
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Killed, Simulated, State
from tests.apply.stacks import plan_of

__all__ = ["impatient"]

ENCRYPTED = test_encryption.LAYOUT.format(key="ask")


def on_new_disks(plan: Plan) -> Plan:
    """The plan for disks with other serial numbers."""
    return replace(plan, disks=tuple(replace(disk, serial=f"NEW-{disk.serial}") for disk in plan.disks))


@pytest.mark.parametrize(
    ("words", "how"), [("cryptsetup open --type luks2", "before"), ("lvcreate", "during")]
)
def test_what_this_run_made_and_did_not_open_yet_holds_nothing(words: str, how: str, tmp_path: Path) -> None:
    first, root = plan_of(ENCRYPTED, tmp_path), tmp_path / "root"
    assert apply(first, Simulated(first, root, machine(root))) == "done"
    second, state = on_new_disks(first), State()
    with pytest.raises(Killed):
        apply(second, Cut(second, root, state, words, how))
    assert apply(second, Simulated(second, root, state)) == "done"
