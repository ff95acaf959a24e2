"""A few of the cases of `make kills` in a virtual server, and controls: what is planted is seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from raidplan.twin.server import Twin
from tests.kills.adversity import CONVERGED, LOST, PERSON, PLANTED, STUCK, Adversity
from tests.kills.family import Drawn, draw
from tests.kills.session import READY, Reference, about, in_guest, judged, reference, run_case, server

pytestmark = [pytest.mark.machine, pytest.mark.long]
SECTOR = 512
LABELLED = ("ext2", "ext3", "ext4", "xfs")
"""The file systems whose label can be changed while they are mounted."""
CASES = (
    Adversity("kill all", 0.5, (0.3,)),
    Adversity("kill raidplan", 0.4),
    Adversity("SIGTERM", 0.3),
    Adversity("foreign sector", 0.0, disk=1, draw=5),
    Adversity("foreign sector midway", 0.5, draw=5),
    Adversity("second raidplan", 0.4),
)


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with server(tmp_path_factory.mktemp("kills") / "twin", SECTOR, lambda _: None) as machine:
        yield machine


def fresh() -> Drawn:
    """The first layout for blank disks of such sectors with a file system at /srv/top whose label can be changed while it is mounted."""
    for drawn in map(draw, range(200)):
        top = yaml.safe_load(drawn.text)["filesystems"].get("top", {})
        if (drawn.kind, drawn.sector) == ("fresh", SECTOR) and top.get("type") in LABELLED:
            return drawn
    raise AssertionError


@pytest.fixture(scope="module")
def to(twin: Twin) -> Reference:
    return reference(twin, fresh())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_a_case_ends_as_predicted(twin: Twin, to: Reference, case: Adversity) -> None:
    record = run_case(twin, to, case)
    assert record["result"] == record["expected"], record
    assert record["expected"] == (PERSON if case.kind in PLANTED else CONVERGED) and record["interrupted"]


def test_a_state_is_restored_whole(twin: Twin, to: Reference) -> None:
    """Nothing of an earlier case is left, neither on the disks nor in memory; two looks are the same."""
    twin.restore(READY)
    assert "kills" not in twin.run("ls /var/lib/raidplan 2>/dev/null; cat /proc/mdstat", check=False).stdout
    case = {**about(to.drawn, agreed=to.agreed), "adversity": {"kind": "none"}}
    outcome = in_guest(twin, do="converge", **case)
    assert judged(outcome, to, CASES[0])["result"] == CONVERGED


@pytest.mark.parametrize(
    ("planted", "result"),
    [
        ("tune2fs -L other $(findmnt -no SOURCE /srv/top) || xfs_io -c 'label -s other' /srv/top", STUCK),
        ("sed -i s/noatime/relatime/ /etc/fstab; echo '# more' >> /etc/fstab", STUCK),
        ("printf x | dd of=$(lsblk -dpnro NAME,SERIAL | awk '/DECOY-3/ {print $1}') conv=notrunc,fsync status=none", LOST),
    ],
)  # fmt: skip
def test_what_is_planted_is_seen(twin: Twin, to: Reference, planted: str, result: str) -> None:
    """After the last apply, so that nothing mends it."""
    twin.restore(READY)
    case = {**about(to.drawn), "adversity": {"kind": "none"}}
    assert in_guest(twin, do="converge", **case)["result"] == CONVERGED
    untouched = judged({"result": CONVERGED, **in_guest(twin, do="seen", **case)}, to, CASES[0])
    assert untouched["result"] == CONVERGED, untouched
    twin.run(planted)
    seen = in_guest(twin, do="seen", **case)
    outcome = {"result": CONVERGED, **seen}
    assert judged(outcome, to, CASES[0])["result"] == result
