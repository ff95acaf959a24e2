"""raidplan.pyz and the Debian package in virtual servers: each applies the pair, and what they made outlives them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from raidplan import __version__
from raidplan.review.pipeline import check
from raidplan.twin.server import Recipe, Twin
from raidplan.twin.server.recipe import LIBRARIES, PACKAGES
from raidplan.twin.server.wiring import disks_of
from tests.machine.initramfs import quick_initramfs
from tests.machine.servers import EXAMPLES, LAYOUT
from tests.release.earlier import earlier
from tests.twin.service import reboot

pytestmark = [pytest.mark.machine, pytest.mark.long]
ROOT = Path(__file__).parents[2]
PAIR = EXAMPLES / "raid1-pair.yaml"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "release", str(folder)], cwd=ROOT, check=True)
    return folder


ARCHIVES = ("libyaml-0-2", *LIBRARIES)
"""Debian's own packages that the package depends on, with theirs; their archives lie in the image, as on a stick."""
BARE = tuple(name for name in PACKAGES if name not in LIBRARIES)
"""The packages of a server on which raidplan has never been."""


def applied(twin: Twin, program: str) -> None:
    """Applied, and found to match when it is applied again."""
    command = f"{program} apply {LAYOUT} --confirm pair 2>&1"
    first = twin.run(command, check=False, timeout=900)
    assert first.returncode == 0, first.stdout[-4000:]
    second = twin.run(command, check=False, timeout=300)
    assert second.returncode == 0 and "nothing to do" in second.stdout, second.stdout[-4000:]


def test_the_one_file_applies_without_a_network_or_any_library(dist: Path, tmp_path: Path) -> None:
    layout = check(str(PAIR)).layout
    assert layout is not None
    with Twin.start(disks_of(layout), recipe=Recipe(packages=BARE), directory=tmp_path / "twin") as twin:
        assert not twin.run(["python3", "-c", "import yaml"], check=False).ok, (
            "the server has no library of ours"
        )
        assert not twin.run(["python3", "-c", "import sh"], check=False).ok
        quick_initramfs(twin)
        twin.put(PAIR, LAYOUT)
        twin.put(dist / "raidplan.pyz", "/root/raidplan.pyz", mode=0o755)
        applied(twin, "/root/raidplan.pyz")
        assert "raid1" in twin.run("cat /proc/mdstat").stdout


SERVER = (
    "find /etc /var/lib/raidplan /usr/local -xdev -type f -print0 | sort -z | xargs -0 sha256sum; "
    "mdadm --detail --scan | sort; findmnt --noheadings --output TARGET,FSTYPE -t ext4,xfs; swapon --noheadings --show=TYPE,PRIO"
)
"""Every file of the server's configuration by its content, and its storage."""


@pytest.mark.parametrize("release", ["bookworm", "trixie"])
def test_the_package_applies_without_a_network_and_its_removal_leaves_what_it_made(
    release: str, dist: Path, tmp_path: Path
) -> None:
    layout = check(str(PAIR)).layout
    assert layout is not None
    (package,) = dist.glob("*.deb")
    recipe = Recipe(release=release, packages=BARE, archives=ARCHIVES)
    with Twin.start(disks_of(layout), recipe=recipe, directory=tmp_path / "twin") as twin:
        assert not twin.run(["python3", "-c", "import sh"], check=False).ok, "only what is installed here"
        twin.put(earlier(package, tmp_path), "/root/packages/raidplan.deb")
        twin.put(PAIR, LAYOUT)
        install = "DEBIAN_FRONTEND=noninteractive dpkg --install"
        twin.run(f"{install} /root/packages/*.deb", timeout=900)
        quick_initramfs(twin)
        applied(twin, "raidplan")
        before = twin.run(SERVER).stdout
        assert "ARRAY" in before and "/srv" in before and "journal" in before
        twin.put(package, "/root/packages/raidplan.deb")
        twin.run(f"{install} /root/packages/raidplan.deb", timeout=900)
        assert twin.run("raidplan --version").stdout == f"raidplan {__version__}\n"
        assert twin.run(SERVER).stdout == before, "after an upgrade"
        twin.run("DEBIAN_FRONTEND=noninteractive dpkg --purge raidplan", timeout=900)
        assert twin.run(SERVER).stdout == before, "after its removal"
        assert not twin.run("command -v raidplan", check=False).ok
        reboot(twin, timeout=900)
        assert twin.run(SERVER).stdout == before, "and after the next boot"
