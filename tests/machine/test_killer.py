"""Programs that are killed or stopped in the virtual server get what `run` gives them: else what they leave is not apply's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from signal import SIGKILL

from raidplan.base.size import MIB

HERE = Path(__file__).parent
CLOCK = 1_000_000_000
MADE_AT = 1024 + 0x108
"""The byte at which ext4 keeps when it was made (`s_mkfs_time`)."""
START = f"""
import contextlib, runpy, sys
from raidplan.apply import world
script, argument, device = sys.argv[1:]
sys.argv = [script, argument, "1", "--version"]
with contextlib.suppress(SystemExit):
    runpy.run_path(script)
world.run(["mke2fs", "-q", "-F", "-t", "ext4", device], clock={CLOCK})
"""


def test_a_program_that_is_killed_has_the_clock_of_its_step(tmp_path: Path) -> None:
    device = tmp_path / "device"
    with device.open("wb") as file:
        file.truncate(4 * MIB)
    words = [sys.executable, "-c", START, str(HERE / "killer.py"), str(tmp_path / "seen"), str(device)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=50)
    assert done.returncode == -SIGKILL, done.stderr
    assert (tmp_path / "seen").read_text() == f"mke2fs -q -F -t ext4 {device}\n"
    assert int.from_bytes(device.read_bytes()[MADE_AT:][:4], "little") == CLOCK
