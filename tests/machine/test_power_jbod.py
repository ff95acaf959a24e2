"""Power that goes at a write to one of forty disks, while eight steps run side by side: after the boot, `apply` converges.

At one write here; at three with `pytest tests/machine/test_power_jbod.py --every-write`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import yaml

from raidplan.review.pipeline import check
from raidplan.twin.rehearsal.stages import WHOLE
from raidplan.twin.server import Twin, install_raidplan
from raidplan.twin.server.wiring import disks_of
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import contents, open_steps
from tests.machine.power import applied_after_the_boot, applied_until_the_power_goes
from tests.machine.servers import EXAMPLES, LAYOUT, decoys, fill_decoys
from tests.twin.service import mend

pytestmark = [pytest.mark.machine, pytest.mark.long]

CUTS = {"partitions": 2, "arrays": 6, "tuning": 9}
"""What is made about then, and which write to the disk the power goes at; the journal says what it really was."""
DISK = "d34"
SIZE = 2**27
DECOYS = decoys(SIZE)
OTHERS = [disk.name for disk in DECOYS]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    cuts = list(CUTS) if metafunc.config.getoption("every_write") else ["arrays"]
    metafunc.parametrize("jbod", cuts, indirect=True, scope="module")


def layout() -> str:
    """The example with ext4 on small disks: its wiring, arrays, rules for udev and mounts are as they are."""
    loaded = check(str(EXAMPLES / "tel-aviv-jbod.yaml")).document
    assert loaded is not None
    whole = loaded.root.plain()
    for disks in whole["hardware"]["disks"].values():
        disks["size"] = f"{SIZE}B"
    for array in whole["arrays"].values():
        array["stripe_cache_size"] = 1024
    for filesystem in whole["filesystems"].values():
        filesystem["type"] = "ext4"
    whole["monitoring"]["mail"] = "root"  # Debian's own: the array of others has its alarms sent there too
    return yaml.safe_dump(whole, sort_keys=False)


@pytest.fixture(scope="module")
def jbod(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """The server of the example, with disks of others, and one disk that halts it."""
    folder = tmp_path_factory.mktemp("jbod")
    file = folder / "layout.yaml"
    file.write_text(layout())
    loaded = check(str(file)).layout
    assert loaded is not None
    disks = [
        replace(disk, halts_at_write=CUTS[request.param]) if disk.name == DISK else disk
        for disk in disks_of(loaded)
    ]
    assert len(disks) == 40
    with Twin.start([*disks, *DECOYS], directory=folder / "twin") as twin:
        install_raidplan(twin)
        quick_initramfs(twin)
        fill_decoys(twin)
        twin.put(file, LAYOUT)
        yield twin


def test_the_power_goes_while_forty_disks_are_written(
    jbod: Twin, record_property: Callable[[str, object], None]
) -> None:
    command = ["raidplan", "apply", LAYOUT, "--confirm", "jbod"]
    before = contents(jbod, OTHERS)
    assert applied_until_the_power_goes(jbod, command), "the disk has so many writes"
    mend(jbod, DISK)
    jbod.start_again()
    running = open_steps(jbod, "jbod")
    print(f"the power went in {', '.join(running)}")  # noqa: T201  # shown with -s
    record_property("counted: power cuts at a write", 1)
    assert running, "the journal says what was running"
    done = applied_after_the_boot(jbod, command)
    assert done.returncode == 0, done.stderr[-3000:]
    assert WHOLE in done.stderr
    again = jbod.run(command, check=False, timeout=300)
    assert again.returncode == 0 and "nothing to do" in again.stderr, again.stderr[-3000:]
    assert jbod.run("grep -c '\\[8/8\\] \\[UUUUUUUU\\]' /proc/mdstat").stdout.strip() == "5"
    assert jbod.run("findmnt -nro TARGET | grep -c '^/data/[0-4]$'").stdout.strip() == "5"
    jbod.run("umount /data/*; set -e; for n in 0 1 2 3 4; do e2fsck -fn /dev/md/s$n; done", timeout=300)
    assert contents(jbod, OTHERS) == before
