"""A run made an encryption and a file system on it, was killed, and the server was booted, so that the encryption is closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from tests.apply.cut_off import Cut
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Killed, Simulated, State
from tests.apply.stacks import plan_of

__all__ = ["impatient"]

LAYOUT = """\
version: 1
host: pair
hardware: {disks: {d0: {size: 1TB, serial: PAIR-0, partitions: {c: {size: 30GiB}, e: {size: rest}}}}}
encryption: {k: {device: d0.c, key: ask}}
filesystems:
  k: {device: k, type: ext4, mount: /k}
  e: {device: d0.e, type: ext4, mount: /e}
"""


def closed(state: State) -> None:
    """After a boot nobody has opened it, and what is on it is out of sight."""
    objects = state.objects
    gone = {f"mapping:{uuid}" for uuid in objects["mapping"]}
    objects["mapping"] = {}
    hidden = {key: each for key, each in objects["filesystem"].items() if each["device"] in gone}
    for key in hidden:
        del objects["filesystem"][key]
    objects["mount"] = {
        point: each for point, each in objects.get("mount", {}).items() if each["source"] not in gone
    }
    for identity in gone:
        state.content.pop(identity, None)
    state.nodes.discard("/dev/mapper/k")


@pytest.mark.parametrize("change", ["label: keep", ""])
def test_also_for_a_changed_layout_somebody_has_to_open_it(change: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    plan, state = plan_of(LAYOUT, tmp_path), machine(root)
    with pytest.raises(Killed):
        apply(plan, Cut(plan, root, state, "systemctl start /e", "before"))
    closed(state)
    after = plan_of(
        LAYOUT.replace("device: k, type: ext4,", f"device: k, type: ext4, {change},") if change else LAYOUT,
        tmp_path,
    )
    world = Simulated(after, root, state)
    past = read_past(root / "var/lib/raidplan")
    decision = decide(after, world.read(after), past, here=False)
    codes = [(each.code, each.case, each.place) for each in decision.refusals]
    assert ("not-started", "encryption", "encryption.k") in codes
