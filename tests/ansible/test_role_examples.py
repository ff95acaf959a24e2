"""The role's page: every variable stands in one of its examples, and each of those runs, in check mode."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ansible.playbooks import COLLECTION, PROGRAMS, pair, playbook

pytestmark = pytest.mark.slow
ROLE = COLLECTION / "roles" / "server"
PLAYS: list[dict[str, Any]] = [
    play
    for block in re.findall(r"```yaml\n(.*?)```", (ROLE / "README.md").read_text(), re.S)
    for play in yaml.safe_load(block)
]


def test_every_variable_is_in_an_example() -> None:
    described = yaml.safe_load((ROLE / "meta" / "argument_specs.yml").read_text())["argument_specs"]["main"]
    shown = {name for play in PLAYS for role in play["roles"] for name in role if name != "role"}
    assert shown == {*described["options"]}


@pytest.mark.long
@pytest.mark.parametrize("play", PLAYS, ids=lambda play: play["name"])
def test_an_example_runs(play: dict[str, Any], tmp_path: Path) -> None:
    """Its files lie in a folder of the test; no disk of this machine is of the layout, so it is refused."""
    for name in ("layouts", "storage1.loops", "files"):
        (tmp_path / name).mkdir()
    text = pair("storage1", tmp_path / "layouts").read_text()
    (tmp_path / "storage1.loops" / "layout.yaml").write_text(text)
    (tmp_path / "layout.yaml").write_text(text)
    nodes = {"host": "storage1", "devices": {f"d{n}": f"/dev/loop-of-nobody{n}" for n in range(2)}}
    (tmp_path / "storage1.loops" / "devices.json").write_text(json.dumps(nodes))
    (tmp_path / "files" / "raidplan.pyz").touch()
    written = json.dumps([{**play, "hosts": "all", "become": False, "gather_facts": False}])
    for there, here in (("/etc/raidplan", tmp_path), ("/srv", tmp_path), ("/mnt/usb", tmp_path)):
        written = written.replace(f'"{there}/', f'"{here}/')
    book = tmp_path / "book.yml"
    book.write_text(written)
    known = {"storage_layout": text, "reviewed_plan": "sha256:0"}
    program = json.dumps({"server_executable": str(PROGRAMS / "raidplan")})
    done, told = playbook(book, {"storage1": known}, tmp_path, "--check", "--extra-vars", program)
    assert told and told[-1].values.get("result") == "refused", done.stdout + done.stderr
    codes = {each["code"] for each in told[-1].values["refusals"]}
    assert codes & {"disk-unmatched", "device-unknown"}, codes
