"""Power that goes at a certain write to a disk, in the virtual server: after the boot, `apply` converges.

Where it goes at the second disk, half of what neither disk had flushed is lost as well, as if the writes had come in
another order. A few of the writes here; all of them, two boots a minute, with `pytest tests/machine/test_power.py --every-write`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from raidplan.cli import REFUSED
from raidplan.twin import Disk, Twin, install_raidplan, lose_unflushed
from tests.machine.look import contents, with_digest
from tests.machine.power import applied_until_the_power_goes
from tests.machine.servers import decoys, fill_decoys, quick_initramfs

pytestmark = pytest.mark.machine

LAYOUT = """\
version: 1
host: {name}
hardware: {{disks: {{{name}<0-1>: {{size: 256MiB, serial: {name}-<1>}}}}}}
arrays: {{{name}: {{level: raid1, members: [{name}<0-1>], bitmap: internal, initial_sync: freeze-until-reboot}}}}
filesystems: {{{name}: {{device: {name}, type: ext4, mount: /srv/{name}}}}}
"""
SAMPLE = ((0, 2), (1, 22))
"""Which of the two disks, and which write to it: while the array is made, and while the file system is, before its first flush."""
DECOYS = decoys(2**28)
PAIRS_AT_ONCE = 12
UNTIL = 46
"""Writes to one disk; an apply makes fewer, 44 when this was written, and the power then goes at its end."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = [(disk, write) for write in range(1, UNTIL + 1) for disk in (0, 1)]
    cuts = every if metafunc.config.getoption("every_write") else SAMPLE
    servers = [tuple(cuts[first : first + PAIRS_AT_ONCE]) for first in range(0, len(cuts), PAIRS_AT_ONCE)]
    metafunc.parametrize(
        "pairs", servers, indirect=True, scope="module", ids=lambda pairs: f"{pairs[0][1]}-{pairs[-1][1]}"
    )


@pytest.fixture(scope="module")
def pairs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Twin, dict[str, tuple[int, int]]]]:
    """Pairs of disks, each with the write at which the power goes, and disks of others."""
    cuts = {f"p{number}": cut for number, cut in enumerate(request.param)}
    disks = [
        Disk(
            f"{name}{leg}",
            2**28,
            f"{name}-{leg}",
            halts_at_write=write if leg == disk else None,
            keeps_log=disk == 1,
        )
        for name, (disk, write) in cuts.items()
        for leg in (0, 1)
    ]
    with Twin.start([*disks, *DECOYS], directory=tmp_path_factory.mktemp("power")) as twin:
        install_raidplan(twin)
        quick_initramfs(twin)
        fill_decoys(twin)
        yield twin, cuts


def half_lost(twin: Twin, name: str, *, halted: bool) -> int:
    """How many writes of a pair were lost, of those that were not flushed: the first of each disk, and every other one."""
    legs = [twin.disk_file(f"{name}{leg}") for leg in (0, 1)]
    return sum(lose_unflushed(leg, lambda number: number % 2 == 1, halted=halted) for leg in legs)


def test_f05_the_power_goes_at_a_write(
    pairs: tuple[Twin, dict[str, tuple[int, int]]], record_property: Callable[[str, object], None]
) -> None:
    twin, cuts = pairs
    others = contents(twin, [disk.name for disk in DECOYS])
    went = lost = 0
    for name, (disk, write) in cuts.items():
        twin.put(LAYOUT.format(name=name).encode(), f"/root/{name}.yaml")
        twin.run("sync")  # the layout is not what is to be lost
        command = ["raidplan", "apply", f"/root/{name}.yaml", "--confirm", name]
        cut = applied_until_the_power_goes(twin, command)
        went += cut
        gone = half_lost(twin, name, halted=cut) if disk == 1 else 0
        lost += gone
        twin.mend(f"{name}{disk}")
        twin.start_again()
        done = twin.run(command, check=False, timeout=300)
        if done.returncode == REFUSED:
            done = twin.run(with_digest(command, done.stderr), check=False, timeout=300)
        assert done.returncode == 0, (name, disk, write, done.stderr[-3000:])
        again = twin.run(command, check=False, timeout=300)
        assert again.returncode == 0 and "nothing to do" in again.stderr, (name, disk, write, again.stderr)
        members = twin.run(f"mdadm --detail /dev/md/{name} | grep -c 'active sync'").stdout.strip()
        assert members == "2", (name, disk, write)
        twin.run(f"umount /srv/{name} && e2fsck -fn /dev/md/{name}")
        when = "the power went" if cut else "it went after the end"
        print(f"disk {disk}, write {write}: {when}, {gone} unflushed writes were lost, converged")  # noqa: T201  # shown with -s
    record_property("counted: power cuts at a write", went)
    assert went, "at least at one of the writes"
    assert lost or (1, 22) not in cuts.values(), "mke2fs has written and not flushed by then"
    assert contents(twin, [disk.name for disk in DECOYS]) == others
