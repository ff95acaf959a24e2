"""What somebody wrote into our block of a file that others write too: it does not go with the block unsaid."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apply.simulated import Simulated
from tests.apply.test_change import plan_of, set_to, standing
from tests.apply.test_kill_matrix import apply, impatient

__all__ = ["impatient"]

LINES = {
    "etc/fstab": "UUID=77 /srv/mine ext4 defaults 0 2\n",
    "etc/mdadm/mdadm.conf": "ARRAY /dev/md/mine UUID=1:2:3:4\n",
}


def less(data: dict) -> None:  # type: ignore[type-arg]
    set_to("filesystems", "home", None)(data)
    set_to("swap", "f", None)(data)
    set_to("monitoring", "mail", "you@example.org")(data)


@pytest.mark.parametrize("file", LINES)
def test_a_line_of_no_layout_is_refused_with_its_number(file: str, tmp_path: Path) -> None:
    state, path = standing(tmp_path, tmp_path / "root"), tmp_path / "root" / file
    ours = path.read_text()
    path.write_text(ours.replace("# <<< raidplan", LINES[file] + "# <<< raidplan"))
    number = path.read_text().splitlines().index(LINES[file].rstrip()) + 1
    world = Simulated(plan_of(tmp_path), tmp_path / "root", state)
    said = apply(world.plan, world)
    assert said.startswith(f"/{file} line {number} (") and "stands in the block of raidplan" in said
    assert not world.effects
    path.write_text(ours)
    later = plan_of(tmp_path, less)
    assert apply(later, Simulated(later, tmp_path / "root", state)) == "done", "lines of an earlier layout go"
