"""The Vagrantfile in a checkout and in a project of one's own, with a stand-in for Vagrant: which Python, layout, box and files it takes, and what it refuses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = Path(__file__).with_name("stand_in") / "vagrant.rb"
PAIR = ROOT / "examples" / "raid1-pair.yaml"
LAYOUT = """\
version: 1
host: _ab
hardware:
  disks:
    a0: {size: 1GiB, serial: A0}
    a1: {size: 1GiB, serial: A1}
arrays:
  data: {level: raid1, members: [a0, a1]}
filesystems:
  data: {device: data, type: ext4, mount: /srv}
"""
OTHERS = {name: value for name, value in os.environ.items() if not name.startswith(("RAIDPLAN_", "VAGRANT_", "PYTHON"))}  # fmt: skip

pytestmark = [pytest.mark.skipif(shutil.which("ruby") is None, reason="Ruby comes with Vagrant, which is not installed"), pytest.mark.in_turn(5)]  # fmt: skip


def _vagrant(
    folder: Path, machine: dict[str, Any] | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    argv = ["ruby", str(STAND_IN), str(folder / "Vagrantfile"), *([json.dumps(machine)] if machine else [])]
    known = {**OTHERS, "RAIDPLAN_VIRT": "qemu", "LC_ALL": "C.UTF-8", **settings}
    return subprocess.run(argv, capture_output=True, text=True, cwd=folder, env=known)


def _found(folder: Path, machine: dict[str, Any] | None = None, **settings: str) -> dict[str, Any]:
    done = _vagrant(folder, machine, **settings)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Outside of a checkout; `bin/raidplan` is installed as pip does."""
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(ROOT / "vagrant" / "Vagrantfile", folder)
    (folder / "storage.yaml").write_text(LAYOUT)
    _python(tmp_path / "with raidplan" / "python3", f'PYTHONPATH={ROOT} exec {sys.executable} "$@"')
    _python(tmp_path / "without" / "python3", f'exec {sys.executable} -I -S "$@"')
    return folder


def _python(file: Path, script: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def _command(folder: Path, first: str) -> str:
    """A PATH with a command raidplan that begins with this."""
    (folder / "bin").mkdir()
    (folder / "bin" / "raidplan").write_text(f"{first}\nfrom raidplan.__main__ import main\n")
    (folder / "bin" / "raidplan").chmod(0o755)
    return f"{folder / 'bin'}:{folder / 'without'}:/usr/bin:/bin"


def test_the_command_names_its_python_also_by_way_of_a_shell(project: Path) -> None:
    """As pip writes it where the path has a blank."""
    python = project.parent / "with raidplan" / "python3"
    path = _command(project.parent, f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''")
    (project / "disks.py").write_text("print('of the project')\n")  # which is not raidplan's
    _python(project.parent / ".venv" / "bin" / "python", f'exec {sys.executable} -I -S "$@"')
    found = _found(project, PATH=path, RAIDPLAN_LAYOUT="storage.yaml")
    assert found["python"] == str(python)
    assert found["files"] == str(ROOT / "vagrant")
    assert found["layout"] == str(project / "storage.yaml")


@pytest.mark.long
def test_a_command_that_env_starts_has_its_python_beside_it(project: Path) -> None:
    path = _command(project.parent, "#!/usr/bin/env python3")
    shutil.copy(project.parent / "with raidplan" / "python3", project.parent / "bin")
    found = _found(project, PATH=path, RAIDPLAN_LAYOUT="storage.yaml")
    assert found["python"] == str(project.parent / "bin" / "python3")


def test_a_python_without_raidplan_is_passed_over_for_the_next_command(project: Path) -> None:
    path = _command(project.parent, f"#!{project.parent / 'without' / 'python3'}")
    (project.parent / "src" / "raidplan").mkdir(parents=True)  # a folder is no command
    other = project.parent / "other"
    _python(other / "raidplan", "exit 1")
    shutil.copy(project.parent / "with raidplan" / "python3", other)
    found = _found(project, PATH=f"{project.parent / 'src'}:{path}:{other}", RAIDPLAN_LAYOUT="storage.yaml")
    assert found["python"] == str(other / "python3")


@pytest.mark.parametrize("python", ["", pytest.param("named", marks=pytest.mark.long)])
def test_no_python_with_raidplan_is_one_sentence(project: Path, python: str) -> None:
    without = project.parent / "without"
    done = _vagrant(
        project,
        PATH=f"{without}:/usr/bin:/bin",
        RAIDPLAN_LAYOUT="storage.yaml",
        RAIDPLAN_PYTHON=python and str(without / "python3"),
    )
    assert done.returncode == 1
    assert done.stderr.startswith("raidplan is not in ") and done.stderr.count("\n") == 1


def test_outside_a_checkout_the_box_is_debians_and_a_layout_has_to_be_named(project: Path) -> None:
    settings = {"RAIDPLAN_PYTHON": str(project.parent / "with raidplan" / "python3")}
    kept = _found(project, RAIDPLAN_LAYOUT="storage.yaml", **settings)["kept"]
    assert kept["libvirt.vm.box"] == kept["virtualbox.vm.box"] == "debian/bookworm64"
    assert "libvirt.ssh.insert_key" not in kept, "the key of a public box is exchanged"
    assert kept["config.vm.hostname"] == "ab"
    done = _vagrant(project, RAIDPLAN_LAYOUT="", **settings)
    assert done.returncode == 1 and done.stderr == "RAIDPLAN_LAYOUT names no layout\n"


@pytest.mark.long
def test_in_a_checkout_the_box_is_that_of_box_py(tmp_path: Path) -> None:
    found = _found(ROOT / "vagrant", RAIDPLAN_PYTHON=sys.executable, VAGRANT_DOTFILE_PATH=str(tmp_path), RAIDPLAN_LAYOUT="")  # fmt: skip
    assert found["kept"]["libvirt.vm.box"] == "raidplan/bookworm"
    assert found["kept"]["virtualbox.vm.box"] == "debian/bookworm64"
    assert found["layout"] == str(PAIR)
    assert found["state"] == str(tmp_path)


def test_the_machine_gets_the_layouts_files_as_they_lie_in_its_folder(project: Path) -> None:
    """Whatever their names; and no word of a layout stands in the environment of the machine's shell."""
    front, rest = LAYOUT.split("arrays:\n")
    disks = front.partition("hardware:\n")[2].replace("serial: A0", "serial: A0, model: $(touch x)")
    hosts = project / "my hosts"
    (hosts / "shared").mkdir(parents=True)
    (hosts / "shared" / "disks").write_text(disks.replace("\n  ", "\n").lstrip())
    (hosts / "ab.conf").write_text(f"version: 1\nhost: _ab\nhardware: shared/disks\narrays:\n{rest}")
    found = _found(
        project,
        RAIDPLAN_PYTHON=str(project.parent / "with raidplan" / "python3"),
        RAIDPLAN_LAYOUT="my hosts/ab.conf",
        VAGRANT_DOTFILE_PATH="state",
    )
    assert found["state"] == str(project / "state")
    machine = json.loads((project / "state" / "raidplan" / "machine.json").read_text())
    assert machine["layout"] == "/layout/ab.conf"
    copies = project / "state" / "layout"
    assert {str(file.relative_to(copies)) for file in copies.rglob("*") if file.is_file()} == {
        "ab.conf",
        "shared/disks",
    }
    assert [each[-1]["env"] for each in found["kept"]["libvirt.vm.provision"]] == [{"PROVIDER": "libvirt"}]


@pytest.mark.parametrize("provider", ["libvirt", pytest.param("virtualbox", marks=pytest.mark.long)])
def test_a_machine_with_other_disks_than_the_layout_is_refused_before_it_is_touched(
    project: Path, provider: str
) -> None:
    machine = {"when": "before up", "provider": provider, "id": None, "folder": str(project)}
    settings = {
        "RAIDPLAN_PYTHON": str(project.parent / "with raidplan" / "python3"),
        "RAIDPLAN_LAYOUT": "storage.yaml",
        "RAIDPLAN_GUEST_PYTHON": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    _found(project, machine, **settings)
    again = {**machine, "when": "before reload", "id": "an-id"}
    more = LAYOUT.replace("\narrays", "\n    a2: {size: 1GiB, serial: A2}\narrays").replace(
        "[a0, a1]", "[a0, a1, a2]"
    )
    (project / "storage.yaml").write_text(more)
    done = _vagrant(project, again, **settings)
    assert done.returncode == 1
    assert "the machine has other disks than the layout: vagrant destroy, then vagrant up" in done.stderr
    (project / "storage.yaml").write_text(LAYOUT)
    if provider == "virtualbox":  # the long one: what is not refused takes seconds
        _found(project, again, **settings)
        (project / "storage.yaml").write_text(more)
        _found(project, machine, **settings)  # as it is after `destroy`


def test_a_layout_that_this_machine_cannot_have_is_refused_at_its_line(project: Path) -> None:
    (project / "storage.yaml").write_text(LAYOUT.replace("mount: /srv", "mount: /"))
    (project / "data").mkdir()
    machine = {"when": "before up", "provider": "virtualbox", "id": None, "folder": str(project / "data")}
    settings = {
        "RAIDPLAN_PYTHON": str(project.parent / "with raidplan" / "python3"),
        "RAIDPLAN_LAYOUT": "storage.yaml",
    }
    done = _vagrant(project, machine, **settings)
    assert done.returncode == 1 and f"{project}/storage.yaml:10: data: the machine runs" in done.stderr
    _found(project, {**machine, "when": "after destroy"}, **settings)  # which must end it
    assert not (project / "data").exists()


def test_the_domains_disks_are_compared_before_it_is_rewritten(tmp_path: Path) -> None:
    script = tmp_path / "described.rb"
    script.write_text("""\
require "rexml/document"
module Vagrant; def self.plugin(*); Class.new { def self.name(*); end; def self.action_hook(*); end }; end; end
OTHER_DISKS = "other disks"
def failure(text); puts text; exit; end
def scsi_name(index); "sd#{("a".ord + index).chr}"; end
DISKS = Array.new(ARGV[1].to_i) { |i| {"controller" => "c", "logical_block" => 4096, "physical_block" => 4096, "model" => "A & <b>", "rotational" => true} }
require ARGV[0]
puts LibvirtDisks.allocate.send(:described, REXML::Document.new(ARGV[2]))
""")
    domain = "<domain><devices><disk><target dev='vda' bus='virtio'/></disk><disk><target dev='sda' bus='scsi'/></disk></devices></domain>"

    def described(count: int) -> str:
        argv = ["ruby", str(script), str(ROOT / "vagrant" / "libvirt_disks.rb"), str(count), domain]
        return subprocess.run(argv, capture_output=True, text=True).stdout

    assert "logical_block_size='4096'" in described(1) and "A &amp; &lt;b&gt;" in described(1)
    assert described(2) == described(0) == "other disks\n"
