"""What the whole run does besides Vagrant: the moment at which a disk is pulled, what is compared, and the words at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

VAGRANT = Path(__file__).resolve().parents[2] / "vagrant"
LAYOUT = {"RAIDPLAN_LAYOUT": "/srv/a layout.yaml"}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(VAGRANT))
    import run

    yield run


@pytest.fixture
def disk_pulled(run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Its scripts run here, in a folder."""
    module: ModuleType = run.disk_pulled
    for name in ("ENOUGH", "WRITE", "AWAY"):
        monkeypatch.setattr(module, name, getattr(module, name).replace("/var/tmp", str(tmp_path)))
    monkeypatch.setattr(module, "_argv", lambda script, *words: ["sh", "-c", script, "sh", *words])
    return module


def test_the_disk_is_pulled_between_two_blocks_of_a_file(disk_pulled: ModuleType, tmp_path: Path) -> None:
    written = tmp_path / "written"
    pulled = []
    said = disk_pulled._pulled_while_written(
        str(tmp_path), lambda: pulled.append(len(written.read_text().splitlines())), "no-such-serial"
    )
    before, last = (int(word) for word in said.split() if word.isdigit())
    assert disk_pulled.BLOCKS == before <= pulled[0] <= last - disk_pulled.BLOCKS
    assert len(written.read_text().splitlines()) == last


def test_writing_that_ends_with_the_disk_is_an_error(
    disk_pulled: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    monkeypatch.setattr(
        disk_pulled, "WRITE", disk_pulled.WRITE.replace("  dd ", f"  [ ! -e {broken} ] && dd ")
    )
    with pytest.raises(disk_pulled.NotAsExpectedError, match="the writing ended before block"):
        disk_pulled._pulled_while_written(str(tmp_path), broken.touch, "no-such-serial")


@pytest.mark.parametrize("release", ["bookworm", "trixie"])
def test_the_words_at_the_end_are_commands_for_this_machine(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, release: str
) -> None:
    monkeypatch.delenv(run.host.MARK, raising=False)
    box = "RAIDPLAN_BOX=raidplan/trixie " * (release == "trixie")
    prefix = f"cd {VAGRANT} && RAIDPLAN_LAYOUT='/srv/a layout.yaml' {box}"
    settings = {**LAYOUT, "RAIDPLAN_BOX": f"raidplan/{release}"}
    assert run._what_to_type(settings).splitlines() == [
        f"to log in: {prefix}vagrant ssh",
        f"to end it: {prefix}vagrant destroy -f",
    ]
    monkeypatch.setenv(run.host.MARK, "yes")
    _, log_in, end = run._what_to_type(settings).splitlines()
    assert log_in.startswith(f"to log in: {prefix}{sys.executable} host.py sh -c 'vagrant up ")
    assert end == f"to end it: {prefix}{sys.executable} host.py vagrant destroy -f"


def test_what_is_left_is_said_by_kind_and_name(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {"domains": ["mine"], "networks": ["default"], "pools": [], "volumes": [], "files": ["/a"], "unread": []}  # fmt: skip
    monkeypatch.setattr(run, "_vagrant", lambda *words: None)
    monkeypatch.setattr(run.leftovers, "listed", lambda state: before)
    run._destroy(before)
    assert capsys.readouterr().out.startswith("nothing is left")
    after = {**before, "pools": ["default"], "unread": ["/etc/libvirt/qemu"]}
    monkeypatch.setattr(run.leftovers, "listed", lambda state: after)
    run._destroy(before)
    said = capsys.readouterr().out
    assert "pool default stays" in said and "only root may read /etc/libvirt/qemu" in said
    after = {**before, "volumes": ["default/pair-vdb.qcow2"], "files": ["/a", "/etc/libvirt/qemu/pair.xml"]}
    monkeypatch.setattr(run.leftovers, "listed", lambda state: after)
    with pytest.raises(
        run.FailedError, match=r"volume default/pair-vdb\.qcow2, file /etc/libvirt/qemu/pair\.xml$"
    ):
        run._destroy(before)


def test_nothing_is_built_where_libvirt_does_not_answer(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of an ordinary user, or with a service manager: the box takes minutes."""
    monkeypatch.setattr(run.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(run.host, "answers", lambda: False)
    monkeypatch.setattr(run.host, "taken", lambda: False)
    monkeypatch.setattr(run.box, "added", lambda *words: pytest.fail("the box is built"))
    assert run.main([str(VAGRANT.parent / "examples" / "raid1-pair.yaml")]) == 1
    assert "libvirt does not answer" in capsys.readouterr().err


def test_libvirt_of_another_command_is_not_used_for_a_run(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(run.host.MARK, raising=False)
    monkeypatch.setattr(run.host, "answers", lambda: True)
    monkeypatch.setattr(run.host, "taken", lambda: True)
    monkeypatch.setattr(run.box, "added", lambda *words: pytest.fail("the box is built"))
    assert run.main([str(VAGRANT.parent / "examples" / "raid1-pair.yaml")]) == 1
    assert run.host.TAKEN in capsys.readouterr().err


def test_the_driver_is_that_of_the_machine(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not the one that was kept at some time."""
    (tmp_path / "machines" / "pair" / "libvirt").mkdir(parents=True)
    (tmp_path / "machines" / "pair" / "libvirt" / "id").write_text("a-uuid")
    (tmp_path / "accelerator").write_text("boot kvm\n")
    monkeypatch.setattr(run.disk_pulled, "STATE", tmp_path)
    monkeypatch.setattr(run.disk_pulled, "_virsh", lambda *words: f"<domain type='qemu'>{words}</domain>")
    assert run.disk_pulled.driver("pair") == "qemu"


def test_a_run_has_the_pythons_that_were_asked_for(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAIDPLAN_GUEST_PYTHON", "3.12")
    monkeypatch.setattr(run.package, "dependencies", lambda version, *_: tmp_path / version)
    monkeypatch.setattr(run.package, "package", lambda version: b"")
    monkeypatch.setattr(run.package, "_joined", lambda *_: b"")
    (tmp_path / "3.12").touch()
    run.package.fill(tmp_path / "filled")
    assert {file.name for file in (tmp_path / "filled").iterdir()} == {"raidplan", "raidplan-3.12.tar"}


def test_a_layout_that_the_machine_cannot_have_is_refused_before_the_box(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run.box, "added", lambda *words: pytest.fail("the box is built"))
    layout = VAGRANT.parent / "examples" / "root-raid6-lvm.yaml"
    assert run.main([str(layout)]) == 1
    assert f"{layout}:38: root: the machine runs from the disk of its box" in capsys.readouterr().err


def test_the_machine_gets_the_versions_that_are_installed_here(run: ModuleType) -> None:
    found = run.package.requirements()
    assert f"sh=={version('sh')}" in found and f"pyyaml=={version('PyYAML')}" in found
    assert not [line for line in found if line.startswith(("pytest", "mypy"))], "extras stay here"
