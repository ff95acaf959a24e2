"""Power that goes at a certain write to a disk, in the virtual server: after the boot, `apply` converges.

Where it goes at the second disk, half of what neither disk had flushed is lost as well, as if the writes had come in
another order. One of the writes here, which is drawn; two others with `--long`; all of them, a boot a minute, with
`pytest tests/machine/test_power.py --every-write`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import pytest

from raidplan.plan.places import FSTAB, MDADM_CONF, UDEV_RULES
from raidplan.twin.server import Disk, Twin, install_raidplan, lose_unflushed
from tests.machine.look import contents
from tests.machine.power import applied_after_the_boot, applied_until_the_power_goes
from tests.machine.servers import decoys, fill_decoys, quick_initramfs

pytestmark = pytest.mark.machine

LAYOUT = """\
version: 1
host: {name}
hardware: {{disks: {{{name}<0-1>: {{size: 256MiB, serial: {name}-<1>}}}}}}
arrays: {{{name}: {{level: raid1, members: [{name}<0-1>], bitmap: internal, initial_sync: freeze-until-reboot}}}}
filesystems: {{{name}: {{device: {name}, type: ext4, mount: /srv/{name}}}}}
"""
SIZE = 2**28
SAMPLE = ((0, 2), (1, 22))
"""Which of the two disks, and which write to it: while the array is made, and while the file system is, before its first flush."""
SURE = 40
"""Every apply makes at least so many writes to a disk."""
DECOYS = decoys(SIZE)
CUTS_OF_A_SERVER = 12
UNTIL = 46
"""Writes to one disk; an apply makes fewer, 44 when this was written, and the power then goes at its end."""


@dataclass(frozen=True)
class Cut:
    """The power goes at a write to one disk of a pair, which belongs to a host of its own in the same server."""

    name: str
    disk: int
    write: int

    def pair(self, *, mended: bool = False) -> Iterator[Disk]:
        """The two disks."""
        for leg in (0, 1):
            halts = self.write if leg == self.disk and not mended else None
            yield Disk(
                f"{self.name}{leg}",
                SIZE,
                f"{self.name}-{leg}",
                halts_at_write=halts,
                keeps_log=self.disk == 1 and not mended,
            )

    def lost(self, twin: Twin, *, halted: bool) -> int:
        """How many unflushed writes of the pair were lost: none, or the first of each disk and every other one."""
        legs = [twin.disk_file(f"{self.name}{leg}") for leg in (0, 1) if self.disk == 1]
        return sum(lose_unflushed(leg, lambda number: number % 2 == 1, halted=halted) for leg in legs)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = [(disk, write) for write in range(1, UNTIL + 1) for disk in (0, 1)]
    option = metafunc.config.getoption
    if option("every_write"):
        wanted = every
    elif option("long"):
        wanted = list(SAMPLE)
    else:
        wanted = [Random(f"{option('seed')} power").choice([cut for cut in every if cut[1] <= SURE])]
    cuts = [Cut(f"p{number}", *each) for number, each in enumerate(wanted)]
    servers = [cuts[first : first + CUTS_OF_A_SERVER] for first in range(0, len(cuts), CUTS_OF_A_SERVER)]
    if chosen := metafunc.config.getoption("server"):
        number, of = map(int, chosen.split("/"))
        assert of == len(servers), f"there are {len(servers)} servers"
        servers = [servers[number - 1]]
    metafunc.parametrize("cuts", servers, ids=lambda cuts: f"{cuts[0].write}-{cuts[-1].write}")


@pytest.fixture
def twin(cuts: list[Cut], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """The server with the first pair, and disks of others."""
    with Twin.start([*cuts[0].pair(), *DECOYS], directory=tmp_path_factory.mktemp("power")) as twin:
        install_raidplan(twin)
        quick_initramfs(twin)
        fill_decoys(twin)
        yield twin


def test_f05_the_power_goes_at_a_write(
    twin: Twin, cuts: list[Cut], record_property: Callable[[str, object], None]
) -> None:
    others = contents(twin, [disk.name for disk in DECOYS])
    went = lost = 0
    for cut, following in zip(cuts, [*cuts[1:], None], strict=True):
        twin.put(LAYOUT.format(name=cut.name).encode(), f"/root/{cut.name}.yaml")
        twin.run("sync")  # the layout is not what is to be lost
        command = ["raidplan", "apply", f"/root/{cut.name}.yaml", "--confirm", cut.name]
        halted = applied_until_the_power_goes(twin, command)
        gone = cut.lost(twin, halted=halted)
        twin.refit([*cut.pair(mended=True), *(following.pair() if following else ()), *DECOYS])
        twin.start_again()
        done = applied_after_the_boot(twin, command)
        assert done.returncode == 0, (cut, done.stderr[-3000:])
        again = twin.run(command, check=False, timeout=300)
        assert again.returncode == 0 and "nothing to do" in again.stderr, (cut, again.stderr)
        members = twin.run(f"mdadm --detail /dev/md/{cut.name} | grep -c 'active sync'").stdout.strip()
        assert members == "2", cut
        twin.run(f"umount /srv/{cut.name} && e2fsck -fn /dev/md/{cut.name}")
        forget(twin, cut)
        when = "the power went" if halted else "it went after the end"
        print(f"disk {cut.disk}, write {cut.write}: {when}, {gone} unflushed writes were lost, converged")  # noqa: T201  # shown with -s
        went, lost = went + halted, lost + gone
    record_property("counted: power cuts at a write", went)
    assert went, "at least at one of the writes"
    assert lost or (1, 22) not in {(cut.disk, cut.write) for cut in cuts}, "mke2fs has not flushed by then"
    assert contents(twin, [disk.name for disk in DECOYS]) == others


def forget(twin: Twin, cut: Cut) -> None:
    """Takes the pair out of the configuration: the next boot comes without its disks, and would wait for them."""
    block = f"/^# >>> raidplan {cut.name}$/,/^# <<< raidplan {cut.name}$/d"
    twin.run(["sed", "-i", block, FSTAB, MDADM_CONF])
    twin.run(["rm", "-f", UDEV_RULES.format(host=cut.name)])
