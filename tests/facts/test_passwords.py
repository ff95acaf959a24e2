"""A recorded machine goes to logs, caches of facts and issues, and has nobody's password."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from raidplan.cli import discover
from raidplan.facts import Machine
from raidplan.facts.host import read_paths
from raidplan.facts.passwords import without_passwords


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("//nas/a /a cifs noauto,username=u,password=swordfish,uid=1 0 0", "//nas/a /a cifs noauto,username=u,password=***,uid=1 0 0"),
        ("//nas/a /a cifs pass=swordfish 0 0", "//nas/a /a cifs pass=*** 0 0"),
        ("mon:/ /c ceph name=admin,secret=swordfish== 0 0", "mon:/ /c ceph name=admin,secret=*** 0 0"),
        ("//u:swordfish@nas/a /a cifs ro 0 0", "//u:***@nas/a /a cifs ro 0 0"),
        ("https://u:swordfish@nas/dav /d davfs _netdev 0 0", "https://u:***@nas/dav /d davfs _netdev 0 0"),
        ("/dev/md/data /srv/passwd=x ext4 defaults 0 2", "/dev/md/data /srv/passwd=x ext4 defaults 0 2"),
        ("//nas/a /a cifs credentials=/etc/nas,secretfile=/etc/nas 0 0", "//nas/a /a cifs credentials=/etc/nas,secretfile=/etc/nas 0 0"),
    ],
)  # fmt: skip
def test_a_password_is_hidden_and_nothing_else(tmp_path: Path, line: str, shown: str) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "fstab").write_text(f"# first\n{line}\n# last\n")
    machine = Machine(objects=read_paths(tmp_path, ()))
    found = without_passwords(machine).observe("file", "/etc/fstab")
    assert found and found["content"] == f"# first\n{shown}\n# last\n"


def test_the_command_prints_it_without(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"size": 40, "content": "//nas/a /a cifs password=swordfish 0 0\n"}
    monkeypatch.setattr(discover, "read_machine", lambda: Machine(objects={"file": {"/etc/fstab": found}}))
    discover.run(argparse.Namespace(what="facts", layout=None, output=None))
    printed = json.loads(capsys.readouterr().out)
    assert printed["objects"]["file"]["/etc/fstab"]["content"] == "//nas/a /a cifs password=*** 0 0\n"
