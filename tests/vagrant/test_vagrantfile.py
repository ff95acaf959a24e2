"""The Vagrantfile, what it is told about a layout's disks, and the box, as far as that goes without a machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.in_turn(16)

ROOT = Path(__file__).resolve().parents[2]
VAGRANT = ROOT / "vagrant"
EXAMPLES = ROOT / "examples"


def _run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(VAGRANT / script), *words]
    return subprocess.run(
        argv, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )


def _disks(layout: Path) -> dict[str, Any]:
    done = _run("disks.py", str(layout))
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_a_machine_has_room_for_the_stripe_caches_of_its_layout() -> None:
    """32768 entries of 4 KiB for each of 40 members are 5120 MiB; apply refuses more than 80 % of the memory."""
    assert _disks(EXAMPLES / "tel-aviv-jbod.yaml")["memory_mib"] == 2048 + 5120 / 0.8


@pytest.fixture
def box(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(VAGRANT))
    import box

    return box


@pytest.fixture
def accelerator(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(VAGRANT))
    import accelerator

    return accelerator


def test_the_disks_of_a_pair() -> None:
    told = _disks(EXAMPLES / "raid1-pair.yaml")
    assert told["host"] == "pair"
    assert told["unshown"] == {"libvirt": [], "virtualbox": []}
    assert told["memory_mib"] == 2048  # an array of mirrors has no stripe cache
    assert [(d["name"], d["size_bytes"], d["serial"], d["controller"]) for d in told["disks"]] == [
        ("pa0", 4 << 30, "PAIR-S7K00", "pair_a"),
        ("pa1", 4 << 30, "PAIR-S7K01", "pair_b"),
    ]
    assert all(d["rotational"] and d["logical_block"] == 512 for d in told["disks"])


@pytest.mark.parametrize("layout", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_that_can_be_built_has_disks(
    layout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(VAGRANT))
    import disks

    code = disks.main([str(layout)])
    told, said = capsys.readouterr()
    if layout.stem.endswith(("-mistake", "-cure")) and code == 2:
        pytest.skip(f"it cannot be built: {said.splitlines()[-1]}")
    assert code == 0, said
    machine = json.loads(told)
    assert machine["disks"]
    own_root = "mount: /}" in layout.read_text() or "mount: /," in layout.read_text()
    assert bool(machine["refused"]["libvirt"]) == own_root


def test_what_a_provider_cannot_show_is_said(tmp_path: Path) -> None:
    text = (EXAMPLES / "raid1-pair.yaml").read_text()
    changed = text.replace(
        "serial: PAIR-S7K0<1>",
        "serial: PAIR-S7K0<1>\n      wwn: 0x500000000000000<1>\n      path: pci-x-ata-<1>",
    )
    (tmp_path / "layout.yaml").write_text(changed)
    told = _disks(tmp_path / "layout.yaml")
    assert told["unshown"]["libvirt"] == ["pa0: path pci-x-ata-0", "pa1: path pci-x-ata-1"]
    assert "pa1: wwn 0x5000000000000001" in told["unshown"]["virtualbox"]


SMALL = """\
version: 1
host: small
hardware:
  disks:
    a0: {size: 1GiB, serial: A0}
    a1:
      size: 1GiB
      %s
arrays:
  data: {level: raid1, members: [a0, a1]}
encryption:
  safe: {device: data, key: %s}
filesystems:
  data: {device: safe, type: ext4, mount: %s}
"""
ENOUGH = {"libvirt": [], "virtualbox": []}


@pytest.mark.parametrize(
    ("disk", "key", "mount", "refused"),
    [
        ("serial: A1", "{file: /etc/k}", "/srv", ENOUGH),
        (
            f"serial: {'S' * 37}",
            "{file: /etc/k}",
            "/srv",
            {**ENOUGH, "libvirt": ["8: a1: serial number of 37 characters; a SCSI disk of libvirt shows 36"]},
        ),
        (
            f"model: {'M' * 17}",
            "{file: /etc/k}",
            "/srv",
            {**ENOUGH, "libvirt": ["8: a1: model of 17 characters; a SCSI disk of libvirt shows 16"]},
        ),
        ("serial: A1", "ask", "/srv", {key: ["12: safe: nobody is there to type a passphrase"] for key in ENOUGH}),
        ("serial: A1", "{file: /etc/k}", "/", {key: ["14: data: the machine runs from the disk of its box"] for key in ENOUGH}),
        ("keep: true", "{file: /etc/k}", "/srv", {key: ["8: a1: `keep: true`, but a disk of this machine is blank"] for key in ENOUGH}),
    ],
)  # fmt: skip
def test_what_a_machine_cannot_have_is_refused_at_its_line(
    tmp_path: Path, disk: str, key: str, mount: str, refused: dict[str, list[str]]
) -> None:
    layout = tmp_path / "layout.yaml"
    layout.write_text(SMALL % (disk, key, mount))
    said = _disks(layout)["refused"]
    for provider, reasons in refused.items():
        assert len(said[provider]) == len(reasons)
        for words, begin in zip(said[provider], reasons, strict=True):
            assert words.startswith(f"{layout}:{begin}"), words


def test_a_disk_without_a_size_is_refused_at_its_line(tmp_path: Path) -> None:
    layout = tmp_path / "layout.yaml"
    layout.write_text("version: 1\nhost: small\nhardware:\n  disks:\n    a0: {serial: A0}\n")
    done = _run("disks.py", str(layout))
    assert done.returncode == 2 and f"{layout}:5: a0 has no size" in done.stderr


def test_no_layout_is_an_error_with_its_place() -> None:
    done = _run("disks.py", str(ROOT / "README.md"))
    assert done.returncode == 2
    assert not done.stdout
    assert "README.md:" in done.stderr


def test_devices_are_found_by_serial_number(tmp_path: Path) -> None:
    disks = [{"name": "a", "serial": "S1"}, {"name": "b", "serial": "S2"}]
    done = _devices(tmp_path, disks, [("/dev/sdb", "S1"), ("/dev/sda", "S2"), ("/dev/vda", None)])
    assert json.loads(done.stdout) == {"host": "h", "devices": {"a": "/dev/sdb", "b": "/dev/sda"}}


def test_a_serial_number_of_two_devices_is_an_error(tmp_path: Path) -> None:
    done = _devices(tmp_path, [{"name": "a", "serial": "S1"}], [("/dev/sda", "S1"), ("/dev/sdb", "S1")])
    assert done.returncode == 1
    assert "['/dev/sda', '/dev/sdb']" in done.stderr


def _devices(
    folder: Path, disks: list[dict[str, str]], seen: list[tuple[str, str | None]]
) -> subprocess.CompletedProcess[str]:
    """devices.py with an lsblk that shows what is given."""
    shown = {"blockdevices": [{"path": path, "serial": serial} for path, serial in seen]}
    (folder / "disks.json").write_text(json.dumps({"host": "h", "disks": disks}))
    (folder / "shown.json").write_text(json.dumps(shown))
    (folder / "lsblk").write_text(f"#!/bin/sh\ncat {folder}/shown.json\n")
    (folder / "lsblk").chmod(0o755)
    argv = [sys.executable, str(VAGRANT / "devices.py"), str(folder / "disks.json")]
    path = f"{folder}:{os.environ['PATH']}"
    return subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "PATH": path})


@pytest.mark.parametrize(("runs", "found"), [(True, "kvm\n"), (False, "qemu\n")])
def test_the_accelerator_is_asked_once_per_boot(
    accelerator: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    runs: bool,
    found: str,
) -> None:
    """Whether KVM runs within two seconds may differ from one asking to the next, so here it is told."""
    asked: list[int] = []
    monkeypatch.setattr(accelerator, "_kvm_runs", lambda: not asked.append(1) and runs)
    kept = tmp_path / "accelerator"
    for _ in range(2):
        assert accelerator.main([str(kept)]) == 0
        assert capsys.readouterr().out == found
    assert len(asked) == 1
    kept.write_text("another-boot what-was-kept\n")
    accelerator.main([str(kept)])
    assert capsys.readouterr().out == found
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("qemu", "runs"), [("exit 33", True), ("exit 0", False), ("exit 1", False), ("exec sleep 60", False)]
)
def test_kvm_runs_if_the_boot_sector_ends_qemu_in_time(
    accelerator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qemu: str, runs: bool
) -> None:
    program = tmp_path / accelerator.QEMU
    program.write_text(f"#!/bin/sh\n{qemu}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "access", lambda *_: True)
    monkeypatch.setattr(accelerator, "SECONDS", 60 if runs else 1)
    assert accelerator._kvm_runs() is runs


def test_the_boot_sector_gets_to_its_end(accelerator: ModuleType, tmp_path: Path) -> None:
    """In emulation, which is slower than a KVM that is of use."""
    disk = tmp_path / "disk.img"
    disk.write_bytes(accelerator.BOOT_SECTOR.ljust(1 << 20, b"\0"))
    argv = [accelerator.QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-machine", "pc", "-accel", "tcg", "-m", "32"]  # fmt: skip
    argv += ["-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-drive", f"if=ide,format=raw,file={disk}"]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode == accelerator.EXIT_CODE, done.stderr


def test_the_accelerator_of_this_machine_is_one_of_two(tmp_path: Path) -> None:
    done = _run("accelerator.py", str(tmp_path / "accelerator"))
    assert done.returncode == 0 and done.stdout in {"kvm\n", "qemu\n"}
    assert (tmp_path / "accelerator").read_text().endswith(f" {done.stdout}")


def test_a_box_of_todays_recipe_is_not_made_again(
    box: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    digest = box.BoxRecipe(release="trixie", vagrant_key="a key").digest
    (tmp_path / "vagrant").write_text("#!/bin/sh\necho 'raidplan/trixie   (libvirt, 0)'\n")
    (tmp_path / "vagrant").chmod(0o755)
    (tmp_path / "box").touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(box, "well_known_key", lambda: "a key")
    monkeypatch.setattr(box, "build", lambda release, folder: made.append(release) or tmp_path / "box")
    stamp = tmp_path / "raidplan-trixie.recipe"
    stamp.write_text(digest)
    box.added("trixie", tmp_path)
    assert made == []
    stamp.write_text("of another recipe")
    box.added("trixie", tmp_path)
    assert made == ["trixie"] and stamp.read_text() == digest


def test_the_metadata_of_the_box(box: ModuleType) -> None:
    assert box.metadata(4097) == {"provider": "libvirt", "format": "qcow2", "virtual_size": 5}
    assert box.metadata(4096)["virtual_size"] == 4


def test_the_recipe_of_the_box_is_the_twins_with_vagrants_user(box: ModuleType) -> None:
    recipe = box.BoxRecipe(vagrant_key="ssh-rsa AAAA vagrant")
    files, links = recipe.files(), recipe.links()
    assert set(box.PACKAGES) - set(recipe.packages) == set(box.LIBRARIES)
    assert (
        "authorized_keys 0600 vagrant vagrant - ssh-rsa AAAA vagrant"
        in files["usr/lib/tmpfiles.d/vagrant.conf"]
    )
    assert "NOPASSWD" in files["etc/sudoers.d/vagrant"]
    assert "root=LABEL=twin-root" in files["boot/grub/grub.cfg"]
    assert "etc/initramfs-tools/conf.d/twin" in files
    assert "root/.ssh/authorized_keys" not in files
    assert not any("twin-network" in path for path in (*files, *links))
    assert recipe.digest != box.Recipe().digest


def test_scripts_are_sound() -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    done = subprocess.run(["shellcheck", str(VAGRANT / "provision.sh")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "layout",
    ["tel-aviv-jbod", *(pytest.param(name, marks=pytest.mark.long) for name in ("raid1-pair", "loops"))],
)
def test_vagrant_validates_the_vagrantfile(layout: str, tmp_path: Path) -> None:
    if shutil.which("vagrant") is None:
        pytest.skip("Vagrant is not installed; on Debian: apt-get install vagrant vagrant-libvirt")
    plugins = subprocess.run(["vagrant", "plugin", "list"], capture_output=True, text=True).stdout
    if "vagrant-libvirt" not in plugins:
        pytest.skip("the plugin vagrant-libvirt is not installed, so no provider can be validated here")
    settings = {
        "RAIDPLAN_LAYOUT": str(EXAMPLES / f"{layout}.yaml"),
        "RAIDPLAN_PYTHON": sys.executable,
        "RAIDPLAN_VIRT": "qemu",
        "VAGRANT_DEFAULT_PROVIDER": "libvirt",
        "VAGRANT_CHECKPOINT_DISABLE": "1",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        ["vagrant", "validate", "--no-color"],
        capture_output=True,
        text=True,
        cwd=VAGRANT,
        env={**os.environ, **settings, "VAGRANT_DOTFILE_PATH": str(tmp_path / "state")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "validated successfully" in done.stdout


def test_raidplan_for_the_machine_runs_from_its_archive(tmp_path: Path) -> None:
    """The archive for this Python, unpacked as provision.sh does, is a raidplan that checks a layout without any package besides."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "RAIDPLAN_GUEST_PYTHON": version}
    argv = [sys.executable, str(VAGRANT / "package.py"), str(tmp_path / "package")]
    made = subprocess.run(argv, capture_output=True, text=True, env=settings)
    assert made.returncode == 0, made.stderr
    (tmp_path / "there").mkdir()
    archive = tmp_path / "package" / f"raidplan-{version}.tar"
    subprocess.run(["tar", "-x", "-C", tmp_path / "there", "-f", archive], check=True)
    run = f"import sys; sys.path.insert(0, {str(tmp_path / 'there')!r})\nfrom raidplan.__main__ import main\nsys.exit(main())"
    argv = [sys.executable, "-I", "-S", "-c", run, "check", str(EXAMPLES / "raid1-pair.yaml")]
    checked = subprocess.run(argv, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.long
def test_the_vagrantfile_stands_alone_where_raidplan_is_installed(tmp_path: Path) -> None:
    """In a project of its own, with the wheel's files and nothing of a checkout."""
    if shutil.which("vagrant") is None:
        pytest.skip("Vagrant is not installed; on Debian: apt-get install vagrant vagrant-libvirt")
    wheel = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "wheel")],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert wheel.returncode == 0, wheel.stderr
    site, project = tmp_path / "site", tmp_path / "project"
    with zipfile.ZipFile(next((tmp_path / "wheel").glob("*.whl"))) as archive:
        archive.extractall(site)
    project.mkdir()
    shutil.copy(site / "raidplan" / "vagrant" / "Vagrantfile", project)
    shutil.copy(EXAMPLES / "raid1-pair.yaml", project / "storage.yaml")
    command = (
        tmp_path / "bin" / "raidplan"
    )  # as pip makes it: its first line names the Python that has raidplan
    command.parent.mkdir()
    command.write_text(f"#!{sys.executable}\nfrom raidplan.__main__ import main\n")
    command.chmod(0o755)
    settings = {
        "RAIDPLAN_LAYOUT": "storage.yaml",
        "RAIDPLAN_VIRT": "qemu",
        "VAGRANT_DEFAULT_PROVIDER": "libvirt",
        "VAGRANT_CHECKPOINT_DISABLE": "1",
        "PYTHONPATH": str(site),
        "PATH": f"{command.parent}:/usr/local/bin:/usr/bin:/bin",
    }
    others = {name: value for name, value in os.environ.items() if not name.startswith("RAIDPLAN_")}

    def vagrant(**changed: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["vagrant", "validate", "--no-color"], capture_output=True, text=True, cwd=project, env={**others, **settings, **changed}
        )  # fmt: skip

    done = vagrant()
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project / ".vagrant" / "raidplan" / "devices.py").read_text() == (
        VAGRANT / "devices.py"
    ).read_text()
    assert str(ROOT) not in (project / "Vagrantfile").read_text()
    (project / "storage.yaml").write_text("version: 1\nhost: other\n disks: {}\n")
    done = vagrant()
    assert done.returncode and "storage.yaml:3:" in done.stdout + done.stderr, "it is the layout that is read"
