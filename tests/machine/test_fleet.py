"""Three servers with different layouts at once, by the collection's role and a real ansible-playbook over SSH."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from raidplan.twin.server import Disk, Twin
from release import python, zipapp
from tests.ansible.playbooks import PROGRAMS, Told, environment, playbook
from tests.ansible.servers import inventory, three_servers

pytestmark = [pytest.mark.machine, pytest.mark.long]
HASHES = "cat /dev/sd? | sha256sum; find /etc /boot /usr/local /var/lib/raidplan -type f 2>/dev/null | sort | xargs sha256sum | sha256sum; cat /proc/mdstat"
APPLY = "Apply the layout"


@dataclass(frozen=True)
class Fleet:
    twins: dict[str, Twin]
    folder: Path
    book: Path

    def run(self, *words: str) -> dict[str, Told]:
        """The last result of each host."""
        _, told = playbook(self.book, inventory(self.twins), self.folder, *words)
        return {each.host: each for each in told if each.task.endswith(APPLY)}

    def hashes(self) -> dict[str, str]:
        return {host: twin.run(["sh", "-c", HASHES]).stdout for host, twin in self.twins.items()}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Servers without raidplan, which the role brings as raidplan.pyz."""
    folder = tmp_path_factory.mktemp("fleet")
    wheel, _ = python.build(folder)
    program = zipapp.build(wheel, folder)
    layout = "{{ lookup('ansible.builtin.file', playbook_dir ~ '/layouts/' ~ inventory_hostname ~ '.yaml') }}"
    role = {"role": "raidplan.storage.server", "server_layout": layout, "server_program": str(program), "server_poll": 5}  # fmt: skip
    book = folder / "book.yml"
    book.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "roles": [role]}]))
    with three_servers(folder) as twins:
        yield Fleet(twins, folder, book)


def test_check_mode_changes_nothing(fleet: Fleet) -> None:
    assert not fleet.run("--tags", "raidplan_install")
    before = fleet.hashes()
    planned = fleet.run("--check", "--diff")
    assert {host: each.values["result"] for host, each in planned.items()} == dict.fromkeys(fleet.twins, "planned")  # fmt: skip
    assert all(each.values["diff"]["after"] for each in planned.values())
    assert fleet.hashes() == before


def test_a_controller_that_is_killed_leaves_what_the_next_run_finishes(fleet: Fleet) -> None:
    argv = [str(PROGRAMS / "ansible-playbook"), "--inventory", str(fleet.folder / "inventory.json"), str(fleet.book)]  # fmt: skip
    running = subprocess.Popen(
        argv,
        cwd=fleet.folder,
        env=environment(fleet.folder),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    end = time.monotonic() + 300
    while not fleet.twins["s2"].run("test -s /var/lib/raidplan/s2/journal", check=False).ok:
        assert time.monotonic() < end and running.poll() is None
        time.sleep(1)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    results: dict[str, str] = {}
    for _ in range(6):  # a run that goes on by itself refuses a second one beside it
        found = fleet.run()
        results = {host: str(each.values["result"]) for host, each in found.items()}
        if set(results.values()) <= {"applied", "nothing_to_do"}:
            break
        assert set(results.values()) <= {"applied", "nothing_to_do", "refused", "stopped"}, found
    assert set(results) == set(fleet.twins) and set(results.values()) <= {"applied", "nothing_to_do"}, results
    for twin in fleet.twins.values():
        twin.run("findmnt /srv/data && mdadm --detail --scan | grep -q ARRAY")


def test_a_second_run_changes_nothing(fleet: Fleet) -> None:
    found = fleet.run()
    assert {host: each.values["result"] for host, each in found.items()} == dict.fromkeys(fleet.twins, "nothing_to_do")  # fmt: skip
    assert not any(each.values["changed"] for each in found.values())


def test_a_swapped_disk_stops_that_host_and_no_other(fleet: Fleet) -> None:
    twin = fleet.twins["s2"]
    twin.shut_down()
    twin.refit(Disk("new" if n == 1 else f"disk{n}", 2**29, f"S2-{n if n != 1 else 9}") for n in range(3))
    twin.start_again()
    for twin in (fleet.twins["s1"], fleet.twins["s3"]):
        twin.run("umount /srv/data")
    found = fleet.run()
    assert {host: each.values["result"] for host, each in found.items()} == {"s1": "applied", "s2": "refused", "s3": "applied"}  # fmt: skip
    assert "S2-1" in found["s2"].values["msg"] and not found["s2"].values["changed"]
    for twin in (fleet.twins["s1"], fleet.twins["s3"]):
        twin.run("findmnt /srv/data")


def test_a_host_without_sudo_is_one_message(fleet: Fleet) -> None:
    fleet.twins["s1"].run("id nobody >/dev/null")
    hosts = inventory({"s1": fleet.twins["s1"]})
    hosts["s1"] |= {
        "ansible_become": True,
        "ansible_become_method": "ansible.builtin.su",
        "ansible_become_user": "nobody",
    }
    _, told = playbook(fleet.book, hosts, fleet.folder)
    assert told[-1].status == "failed"
    assert any("root" in str(each.values.get("msg", "")) for each in told), told[-1]
