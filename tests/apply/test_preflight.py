"""What is asked of this machine before the first write, where a test can make it so."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.apply import preflight
from raidplan.apply.preflight import Situation, group_folders_free
from raidplan.facts import Machine
from raidplan.pipeline import load, plan

LAYOUT = """version: 1
host: h
hardware: {{disks: {{x0: {{serial: S, size: 1TB}}}}}}
volume_groups: {{{name}: {{devices: [x0], volumes: {{a: {{size: 1GiB}}}}}}}}
"""


@pytest.mark.parametrize(("name", "taken"), [("shm", True), ("vg-of-nobody", False)])
def test_a_group_needs_a_name_that_is_free_in_dev(name: str, taken: bool, tmp_path: Path) -> None:
    assert group_folders_free in preflight.OF_THIS_MACHINE
    file = tmp_path / "layout.yaml"
    file.write_text(LAYOUT.format(name=name))
    made, _ = plan(load(str(file)))
    assert made is not None
    said = list(group_folders_free(Situation(made, Machine(), {})))
    assert said == ([f"there is a /dev/{name}, so no volume group can have that name"] if taken else [])
