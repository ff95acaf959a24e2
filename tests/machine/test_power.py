"""Power that goes at a certain write to a disk, in the virtual server: after the boot, `apply` converges.

Where it goes at the second disk, half of what neither disk had flushed is lost as well, as if the writes had come in
another order. All writes, a boot a minute, with `pytest tests/machine/test_power.py --every-write`; two of them with
`--long`; a drawn one is in everyday.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from raidplan.twin.server import Twin, install_raidplan
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import contents
from tests.machine.power import SIZE, UNTIL, Cut, cut_and_gone_on
from tests.machine.servers import decoys, fill_decoys

pytestmark = [pytest.mark.machine, pytest.mark.long]

SAMPLE = ((0, 2), (1, 22))
"""Which of the two disks, and which write to it: while the array is made, and while the file system is, before its first flush."""
DECOYS = decoys(SIZE)
CUTS_OF_A_SERVER = 12


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.getoption
    every = [(disk, write) for write in range(1, UNTIL + 1) for disk in (0, 1)]
    wanted = every if option("every_write") else SAMPLE
    cuts = [Cut(f"p{number}", *each) for number, each in enumerate(wanted)]
    servers = [cuts[first : first + CUTS_OF_A_SERVER] for first in range(0, len(cuts), CUTS_OF_A_SERVER)]
    if chosen := option("server"):
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
    before = contents(twin, [disk.name for disk in DECOYS])
    went = lost = 0
    for cut, following in zip(cuts, [*cuts[1:], None], strict=True):
        halted, more = cut_and_gone_on(twin, cut, [*(following.pair() if following else ()), *DECOYS])
        went, lost = went + halted, lost + more
    record_property("counted: power cuts at a write", went)
    assert went, "at least at one of the writes"
    assert lost or (1, 22) not in {(cut.disk, cut.write) for cut in cuts}, "mke2fs has not flushed by then"
    assert contents(twin, [disk.name for disk in DECOYS]) == before
