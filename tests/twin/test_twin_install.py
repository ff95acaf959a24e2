"""The package as it is sent to a guest, from a folder and from one file."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import raidplan
from raidplan.twin.rehearsal.programs import program
from raidplan.twin.server import BuildError, install_raidplan
from raidplan.twin.server.install import FOLDER, PROGRAM, package
from raidplan.twin.server.ssh import Result

pytestmark = pytest.mark.in_turn(2)

SOURCE = Path(raidplan.__file__).parent


def content(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return {
            each.name: file.read()
            for each in opened.getmembers()
            if (file := opened.extractfile(each)) is not None
        }


def test_the_guest_gets_every_file_of_the_package_and_no_cache_of_another_python() -> None:
    files = content(package("3.0"))
    assert {name for name in files if "__pycache__" in name} == set()
    wanted = {f"raidplan/{file.relative_to(SOURCE)}" for file in SOURCE.rglob("*") if file.is_file()}
    assert set(files) == {name for name in wanted if "__pycache__" not in name}
    assert files["raidplan/twin/rehearsal/witness.py"] == program("witness.py")


def test_a_guest_of_the_same_python_gets_it_compiled() -> None:
    files = content(package(f"{sys.version_info.major}.{sys.version_info.minor}"))
    assert any(name.startswith("raidplan/twin/__pycache__/") for name in files)


def test_the_package_in_one_file_is_sent_whole(tmp_path: Path) -> None:
    """As raidplan.pyz is: no path of a package in it is one of the file system."""
    archive = tmp_path / "raidplan.pyz"
    with zipfile.ZipFile(archive, "w") as opened:
        for file in sorted(SOURCE.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                opened.write(file, f"raidplan/{file.relative_to(SOURCE)}")
        opened.write(SOURCE.parent / "vagrant" / "accelerator.py", "raidplan/vagrant/accelerator.py")
    text = (
        "import sys\n"
        "from raidplan.twin.server.install import package\n"
        "from raidplan.twin.rehearsal.programs import program\n"
        "from raidplan.twin.rehearsal import host\n"
        "assert 'raidplan.pyz' in host.__file__\n"
        "host.accelerator()\n"
        "assert (host.cache_folder() / 'accelerator').exists(), 'the probe ran'\n"
        "program('typist.py'), program('witness.py'), program('places.py'), program('interruption.py')\n"
        "sys.stdout.buffer.write(package('3.0'))\n"
    )
    environment = {"PYTHONPATH": str(archive), "XDG_CACHE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", text], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    files = content(done.stdout)
    assert files.pop("raidplan/vagrant/accelerator.py")
    assert files == content(package("3.0"))


@dataclass
class Guest:
    """A guest that answers the question for its Python, and takes everything."""

    answer: Result
    ran: list[list[str]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def run(self, argv: list[str], *, stdin: bytes = b"", **_: Any) -> Result:
        self.ran.append(argv)
        if stdin:
            self.files["package"] = stdin
        return self.answer

    def put(self, text: bytes, remote: str, **_: Any) -> None:
        self.files[remote] = text


def test_the_guest_needs_the_libraries_of_its_own_debian() -> None:
    guest: Any = Guest(Result(1, "", "ModuleNotFoundError: No module named 'sh'"))
    with pytest.raises(BuildError, match="python3-sh and python3-yaml"):
        install_raidplan(guest)
    assert not guest.files, "nothing is sent"
    guest = Guest(Result(0, "3.0\n", ""))
    install_raidplan(guest)
    assert content(guest.files["package"]) == content(package("3.0"))
    assert FOLDER.encode() in guest.files[PROGRAM]
    assert {"sh,", "yaml;"} <= {*guest.ran[0][-1].split()}, "it is asked for both"
