"""The Debian package in systems with Debian's own libraries only: installed, upgraded, removed, and nothing else changed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan import __version__
from tests.release.earlier import GONE, earlier

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.network, pytest.mark.root]
ROOT = Path(__file__).parents[2]
OF_A_SERVER = {
    "etc/fstab": "UUID=1 /srv/data xfs defaults 0 2\n",
    "etc/mdadm/mdadm.conf": "ARRAY /dev/md/data metadata=1.2\n",
    "var/lib/raidplan/pair/journal.jsonl": "{}\n",
    "etc/systemd/system/raidplan-tune.service": "[Unit]\n",
}
"""What a provisioned server has, below the root."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "release", str(folder)], cwd=ROOT, check=True)
    (file,) = folder.glob("*.deb")
    return file


@pytest.fixture(params=["bookworm", "trixie"])
def system(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A Debian system in a folder, of the packages that every system has."""
    root = tmp_path / "system"
    argv = ["mmdebstrap", "--quiet", "--mode=root", "--variant=apt", "--include=python3-yaml,python3-sh", request.param, str(root)]  # fmt: skip
    subprocess.run(argv, check=True, capture_output=True)
    for name, text in OF_A_SERVER.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    yield root
    shutil.rmtree(root)


def inside(system: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """In name spaces of its own, whose /proc is gone with the program; sh looks there for open files."""
    alone = ["unshare", "--mount", "--pid", "--fork", f"--root={system}", "--mount-proc=/proc"]
    return subprocess.run([*alone, *argv], capture_output=True, text=True, check=False)


def state(system: Path) -> dict[str, tuple[int, str]]:
    """Everything that is the server's, with the time of its last change."""
    folders = ("etc/mdadm", "etc/systemd/system", "var/lib/raidplan")
    files = [system / "etc/fstab", *(file for name in folders for file in (system / name).rglob("*"))]
    return {str(file): (file.stat().st_mtime_ns, file.read_text() if file.is_file() else "") for file in files}  # fmt: skip


def test_it_installs_works_and_goes_and_leaves_the_server_as_it_is(
    package: Path, system: Path, tmp_path: Path
) -> None:
    shutil.copy(earlier(package, tmp_path), system / "earlier.deb")
    shutil.copy(package, system / "raidplan.deb")
    shutil.copy(ROOT / "examples/raid1-pair.yaml", system / "layout.yaml")
    before = state(system)
    assert len(before) >= len(OF_A_SERVER)
    for name, version in (("earlier", "0.0.1"), ("raidplan", __version__), ("raidplan", __version__)):
        done = inside(system, "dpkg", "--install", f"/{name}.deb")
        assert done.returncode == 0, done.stderr
        assert state(system) == before
        assert inside(system, "raidplan", "--version").stdout == f"raidplan {version}\n"
        assert (system / GONE).exists() is (version != __version__)
    source = subprocess.run([sys.executable, "-m", "raidplan", "check", "examples/raid1-pair.yaml"], cwd=ROOT, capture_output=True, text=True)  # fmt: skip
    assert inside(system, "raidplan", "check", "/layout.yaml").stdout == source.stdout
    plan = inside(system, "raidplan", "plan", "--offline", "/layout.yaml")
    assert plan.returncode == 0 and "create raid1" in plan.stdout, plan.stderr
    facts = inside(system, "raidplan", "discover", "facts")
    assert '"memory_bytes"' in facts.stdout, facts.stderr
    html = inside(system, "raidplan", "check", "--format", "html", "/layout.yaml")
    assert html.returncode == 2 and "python3-jinja2" in html.stderr
    gone = inside(system, "dpkg", "--purge", "raidplan")
    assert (gone.returncode, gone.stderr) == (0, "")
    assert not (system / "usr/lib/python3/dist-packages/raidplan").exists()
    assert state(system) == before
