"""A host that goes off while it is at work: its connection is a program here that runs what ssh is asked to, until the cable is cut."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import yaml

from tests.ansible.playbooks import Told, pair, playbook, stub

pytestmark = [pytest.mark.slow, pytest.mark.long]
SSH = """\
#!/bin/sh
[ -e {folder}/cut ] && {{ echo "ssh: connect to host pair port 22: No route to host" >&2; exit 255; }}
for command; do :; done
exec /bin/sh -c "$command"
"""


@pytest.fixture
def host(tmp_path: Path) -> dict[str, object]:
    """The variables of the host."""
    layout = pair("pair", tmp_path)
    (tmp_path / "pair.apply").write_text(
        f"touch {tmp_path}/cut; sleep 4\n"
    )  # it goes on when the cable is cut
    (tmp_path / "ssh").write_text(SSH.format(folder=tmp_path))
    (tmp_path / "ssh").chmod(0o755)
    return {
        "ansible_connection": "ssh",
        "ansible_host": "pair",
        "ansible_ssh_executable": str(tmp_path / "ssh"),
        "ansible_ssh_args": "",
        "ansible_ssh_transfer_method": "piped",
        "server_layout": layout.read_text(),
        "server_executable": str(stub(tmp_path, layout)),
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
    assert (tmp_path / "pair.applied").exists()
    found = {each.task.rpartition(" : ")[2]: each for each in run(host, tmp_path)}
    assert found["Wait until it is applied"].values["result"] == "nothing_to_do"
    assert not any(each.values.get("changed") for each in found.values())
