"""Programs that are killed or stopped in the virtual server are started by `run`: else what they leave is not apply's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from signal import SIGKILL
from time import sleep

from raidplan.base.size import MIB

HERE = Path(__file__).parent
CLOCK = 1_000_000_000
MADE_AT = 1024 + 0x108
"""The byte at which ext4 keeps when it was made (`s_mkfs_time`)."""
START = """
import contextlib, os, runpy, sys
from raidplan.apply import world
script, *words, device = sys.argv[1:]
sys.argv = [script, *words, "--version"]
with contextlib.suppress(SystemExit):
    runpy.run_path(script)
held = os.open(device + "-held", os.O_RDONLY)
os.set_inheritable(held, True)
"""
"""What follows runs as `apply` in there would; `held` is like the lock, which a program has to hold as well."""
WITH_CLOCK = f"""world.run(["mke2fs", "-q", "-F", "-t", "ext4", device], clock={CLOCK})"""
WITH_LOCK = """world.run(["dd", f"if=/proc/self/fd/{held}", f"of={device}", "conv=notrunc"], keep=(held,))"""
GIVEN = """print(world.run(["dd", f"of={device}", "conv=notrunc"], "given", keep=(held,)).returncode)"""


def begun(script: str, argument: str, device: Path, act: str) -> subprocess.Popen[str]:
    """The script with its first argument, and a folder or seconds; then the act on the device."""
    with device.open("wb") as file:
        file.truncate(4 * MIB)
    device.with_name(f"{device.name}-held").write_text("held")
    more = ["1"] if script == "killer.py" else ["dd"]
    words = [sys.executable, "-c", START + act, str(HERE / script), argument, *more, str(device)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def killed(folder: Path, act: str) -> Path:
    device, seen = folder / "device", folder / "seen"
    process = begun("killer.py", str(seen), device, act)
    _, said = process.communicate(timeout=50)
    assert process.returncode == -SIGKILL and len(seen.read_text().splitlines()) == 1, said
    return device


def test_a_program_that_is_killed_has_the_clock_of_its_step(tmp_path: Path) -> None:
    device = killed(tmp_path, WITH_CLOCK)
    assert int.from_bytes(device.read_bytes()[MADE_AT:][:4], "little") == CLOCK


def test_a_program_that_is_killed_holds_the_lock(tmp_path: Path) -> None:
    assert killed(tmp_path, WITH_LOCK).read_bytes()[:4] == b"held"


def test_a_program_that_is_stopped_gets_its_input(tmp_path: Path) -> None:
    """And is done when it may go on."""
    device = tmp_path / "device"
    process = begun("pauser.py", str(tmp_path), device, GIVEN)
    try:
        while not (tmp_path / "here").exists():
            assert process.poll() is None, process.communicate()
            sleep(0.05)
        assert process.poll() is None
        (tmp_path / "go").touch()
        said, error = process.communicate(timeout=50)
    finally:
        process.kill()
    assert said.split()[-1:] == ["0"], error
    assert device.read_bytes()[:5] == b"given"
