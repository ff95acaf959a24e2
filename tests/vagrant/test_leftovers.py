"""What libvirt keeps of machines, and what of it may be deleted, with a stand-in for virsh."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

VAGRANT = Path(__file__).resolve().parents[2] / "vagrant"
IMAGE = "raidplan-VAGRANTSLASH-bookworm_vagrant_box_image_0_1_box.img"
ANSWERS = {
    "list --all --name": "pair\n\n",
    "net-list --all --name": "vagrant-libvirt\n\n",
    "pool-list --all --name": f"{'default':<20}\n{'old':<20}\n\n",
    "pool-list --name": f"{'default':<20}\n\n",
    "pool-refresh default": "",
    "vol-list --pool default": f" Name{' ' * 64}Path\n{'-' * 90}\n {IMAGE:<66}  /p/x\n {'my machine.qcow2':<66}  /p/y\n\n",
    f"vol-dumpxml --pool default {IMAGE}": f"<volume><target><path>/p/{IMAGE}</path></target></volume>",
    "vol-dumpxml --pool default my machine.qcow2": f"<volume><backingStore><path>/p/{IMAGE}</path></backingStore></volume>",
}
UNUSED = {**ANSWERS, "vol-dumpxml --pool default my machine.qcow2": "<volume/>"}
Virsh = Callable[[dict[str, str]], Path]


@pytest.fixture
def leftovers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(str(VAGRANT))
    import leftovers

    monkeypatch.setattr(leftovers, "FOLDERS", (str(tmp_path / "etc"),))
    monkeypatch.setattr(leftovers, "HOME", tmp_path / "home")
    return leftovers


@pytest.fixture
def virsh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Virsh:
    """A virsh that has these answers and fails for all else; the file lists what it deleted."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def made(answers: dict[str, str]) -> Path:
        (tmp_path / "answers.json").write_text(json.dumps(answers))
        (tmp_path / "deleted").write_text("")
        (tmp_path / "virsh").write_text(f"""#!/usr/bin/python3 -IS
import json, sys
asked = " ".join(sys.argv[3:])
if sys.argv[3] == "vol-delete":
    print(sys.argv[6], file=open({str(tmp_path / "deleted")!r}, "a"))
    sys.exit()
answers = json.load(open({str(tmp_path / "answers.json")!r}))
sys.stdout.write(answers[asked]) if asked in answers else sys.exit("error: no answer to " + asked)
""")
        (tmp_path / "virsh").chmod(0o755)
        return tmp_path / "deleted"

    return made


def test_what_is_there_is_listed_by_kind(leftovers: ModuleType, virsh: Virsh, tmp_path: Path) -> None:
    virsh(ANSWERS)
    (tmp_path / "etc" / "qemu").mkdir(parents=True)
    (tmp_path / "etc" / "qemu" / "pair.xml").touch()
    assert leftovers.listed(tmp_path / "state") == {
        "domains": ["pair"],
        "networks": ["vagrant-libvirt"],
        "pools": ["default", "old"],
        "volumes": ["default/my machine.qcow2", f"default/{IMAGE}"],
        "files": [str(tmp_path / "etc" / "qemu" / "pair.xml")],
        "unread": [],
    }


@pytest.mark.parametrize("asked", [each for each in ANSWERS if "list" in each])
def test_a_question_without_an_answer_is_not_the_answer_nothing(
    leftovers: ModuleType, virsh: Virsh, tmp_path: Path, asked: str
) -> None:
    virsh({each: said for each, said in ANSWERS.items() if each != asked})
    with pytest.raises(leftovers.NotKnownError, match=f"no answer to {asked}"):
        leftovers.listed(tmp_path)


def test_a_folder_that_cannot_be_read_is_named(
    leftovers: ModuleType, virsh: Virsh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    virsh(ANSWERS)

    def scandir(folder: str) -> object:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(os, "scandir", scandir)  # as root nothing is refused
    assert str(tmp_path / "etc") in leftovers.listed(tmp_path / "state")["unread"]


def test_a_copy_of_a_box_that_nothing_is_based_on_is_deleted(leftovers: ModuleType, virsh: Virsh) -> None:
    deleted = virsh(UNUSED)
    assert leftovers.main(["--images"]) == 0
    assert deleted.read_text() == f"{IMAGE}\n"


def test_a_copy_of_a_box_that_is_in_use_stays(leftovers: ModuleType, virsh: Virsh) -> None:
    deleted = virsh(ANSWERS)
    assert leftovers.main(["--images"]) == 0
    assert deleted.read_text() == ""


@pytest.mark.parametrize("asked", [each for each in UNUSED if "--all" not in each])
def test_nothing_is_deleted_where_anything_is_not_known(
    leftovers: ModuleType, virsh: Virsh, capsys: pytest.CaptureFixture[str], asked: str
) -> None:
    deleted = virsh({each: said for each, said in UNUSED.items() if each != asked})
    assert leftovers.main(["--images"]) == 1
    assert f"no answer to {asked}" in capsys.readouterr().err
    assert deleted.read_text() == ""


def test_rows_out_of_their_columns_are_not_read(leftovers: ModuleType, virsh: Virsh) -> None:
    deleted = virsh(
        {**UNUSED, "vol-list --pool default": UNUSED["vol-list --pool default"].replace("  /p/y", " /p/y")}
    )
    assert leftovers.main(["--images"]) == 1
    assert deleted.read_text() == ""


def test_the_pool_of_the_host_is_no_leftover(leftovers: ModuleType) -> None:
    before = {"domains": [], "networks": [], "pools": [], "volumes": [], "files": [], "unread": []}
    assert leftovers.difference(before, {**before, "pools": ["default"]}) == []
    assert leftovers.difference(before, {**before, "pools": ["mine"]}) == ["pool mine"]
    assert leftovers.difference(before, {**before, "networks": ["n"]}) == ["network n"]
