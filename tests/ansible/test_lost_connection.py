"""A host that goes off while it is at work: its connection is a program here that runs what ssh is asked to, until the cable is cut."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from tests.ansible.playbooks import PROGRAMS, Told, pair, playbook

pytestmark = [pytest.mark.slow, pytest.mark.long]
SSH = """\
#!/bin/sh
[ -e {folder}/cut ] && {{ echo "ssh: connect to host pair port 22: No route to host" >&2; exit 255; }}
for command; do :; done
exec /bin/sh -c "$command"
"""
RAIDPLAN = """\
#!/bin/sh
case $1 in
--version) exec {real} --version ;;
plan) if [ -e {folder}/applied ]; then exec cat {folder}/done.json; else exec cat {folder}/plan.json; fi ;;
apply) touch {folder}/cut; sleep 4; touch {folder}/applied ;;
esac
"""
"""It plans for a recorded machine. Its apply goes on when the cable is cut."""


@pytest.fixture
def host(tmp_path: Path) -> dict[str, object]:
    """The variables of the host."""
    layout = pair("pair", tmp_path)
    argv = [str(PROGRAMS / "raidplan"), "plan", "--format=json", f"--machine={layout.with_suffix('.json')}", str(layout)]  # fmt: skip
    plan = json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    (tmp_path / "done.json").write_text(json.dumps({**plan, "steps": []}))
    for name, text in (("ssh", SSH), ("raidplan", RAIDPLAN)):
        (tmp_path / name).write_text(text.format(folder=tmp_path, real=PROGRAMS / "raidplan"))
        (tmp_path / name).chmod(0o755)
    return {
        "ansible_connection": "ssh",
        "ansible_host": "pair",
        "ansible_ssh_executable": str(tmp_path / "ssh"),
        "ansible_ssh_args": "",
        "ansible_ssh_transfer_method": "piped",
        "server_layout": layout.read_text(),
        "server_executable": str(tmp_path / "raidplan"),
        "server_packages": {},
        "server_poll": 1,
    }


def run(host: dict[str, object], folder: Path) -> list[Told]:
    book = folder / "book.yml"
    book.write_text(
        yaml.safe_dump([{"hosts": "all", "gather_facts": False, "roles": ["raidplan.storage.server"]}])
    )
    done, told = playbook(book, {"pair": host}, folder, "--extra-vars", '{"server_packages": {}}')
    assert told, done.stdout + done.stderr
    return told


def test_the_host_is_unreachable_soon_and_the_next_run_finds_what_went_on(host: dict[str, object], tmp_path: Path) -> None:  # fmt: skip
    start = time.monotonic()
    told = run(host, tmp_path)
    assert told[-1].status == "unreachable" and told[-1].task.endswith("Wait until it is applied"), told[-1]
    assert "No route to host" in str(told[-1].values["msg"])
    assert time.monotonic() - start < 600  # and not server_seconds, which are a day
    os.remove(tmp_path / "cut")
    assert (tmp_path / "applied").exists()
    found = {each.task.rpartition(" : ")[2]: each for each in run(host, tmp_path)}
    assert found["Wait until it is applied"].values["result"] == "nothing_to_do"
    assert not any(each.values.get("changed") for each in found.values())
