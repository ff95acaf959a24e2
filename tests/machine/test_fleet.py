"""Three servers with different layouts at once, by the collection's role and a real ansible-playbook over SSH.

The tests are one story, in the order in which they stand.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan import __version__
from raidplan.twin.server import Disk, install_raidplan
from tests.ansible.playbooks import PROGRAMS, Told, copy, environment, playbook
from tests.ansible.servers import PATIENCE, Fleet, inventory, kill, three_servers
from tests.twin.service import refit

pytestmark = [pytest.mark.machine, pytest.mark.long]
SECRET = "swordfish"
"""A password of something else, in a file that raidplan reads and writes."""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with three_servers(tmp_path_factory.mktemp("fleet")) as fleet:
        line = f"//nas/share /mnt cifs noauto,username=u,password={SECRET} 0 0\n"
        for twin in fleet.twins.values():
            twin.run("cat >>/etc/fstab", stdin=line.encode())
        yield fleet


def outcomes(last: Mapping[str, Told]) -> dict[str, str]:
    """The result of each host."""
    return {host: str(each.values.get("result", each.status)) for host, each in last.items()}


def test_check_mode_changes_nothing(fleet: Fleet) -> None:
    """On servers without raidplan, and with it."""
    before = fleet.state()
    missing = fleet.run("--check")
    assert missing.keys() == fleet.twins.keys()
    for host, each in missing.items():
        assert each.values["msg"].startswith(f"raidplan is not installed on {host}")
    assert fleet.state() == before
    assert not fleet.run("--tags", "raidplan_install")
    for twin in fleet.twins.values():
        assert twin.run("raidplan --version").stdout == f"raidplan {__version__}\n"
        install_raidplan(twin)  # compiled: in emulation the one file takes a minute to compile what it runs
    before = fleet.state()
    planned = fleet.run("--check", "--diff", "-vvv")
    assert outcomes(planned) == dict.fromkeys(fleet.twins, "planned")
    assert all(each.values["diff"]["after"] for each in planned.values())
    assert fleet.state() == before


def test_a_server_that_loses_its_power_is_unreachable_and_another_is_finished(fleet: Fleet) -> None:
    with fleet.running("--limit", "s1,s3") as running:
        fleet.wait_for_steps("s3", running)
        fleet.twins["s3"].power_cut()
        running.wait()
    last = fleet.last()
    assert last["s3"].status == "unreachable" and "ssh" in last["s3"].values["msg"], last["s3"]
    assert last["s1"].values["result"] == "applied" and "s2" not in last
    fleet.twins["s3"].start_again(timeout=PATIENCE)


def test_a_controller_that_is_killed_leaves_what_the_next_run_finishes(fleet: Fleet) -> None:
    """A run that goes on by itself refuses a second one beside it, or has ended. At the end a run changes nothing."""
    with fleet.running() as running:
        fleet.wait_for_steps("s2", running)
        kill(running)
    done = dict.fromkeys(fleet.twins, "nothing_to_do")
    seen: list[dict[str, str]] = []
    while not seen or seen[-1] != done:
        seen.append(outcomes(fleet.run()))
        assert len(seen) < 9 and {*seen[-1].values()} <= {"applied", "nothing_to_do", "refused"}, seen
    before = {host: fleet.files(host) for host in fleet.twins}
    assert outcomes(fleet.run()) == done
    recap = (fleet.folder / "said").read_text().rpartition("PLAY RECAP")[2]
    assert recap.count("changed=0 ") == 3 and recap.count("failed=0 ") == 3, recap
    assert {host: fleet.files(host) for host in fleet.twins} == before
    for twin in fleet.twins.values():
        twin.run("findmnt /srv/data && mdadm --detail --scan | grep -q ARRAY")


def test_a_disk_that_was_swapped_stops_that_host_and_no_other(fleet: Fleet) -> None:
    twin = fleet.twins["s2"]
    twin.shut_down(timeout=PATIENCE)
    old = twin.machine.disks
    refit(twin, [old[0], Disk("new", 2**29, "S2-9"), old[2]])
    twin.start_again(timeout=PATIENCE)
    others = [fleet.twins[host] for host in ("s1", "s3")]
    for each in others:
        each.run("umount /srv/data")
    before = fleet.files("s2")
    found = fleet.run()
    assert outcomes(found) == {
        "s1": "applied",
        "s2": "refused",
        "s3": "applied",
    }
    assert "S2-1" in found["s2"].values["msg"] and not found["s2"].values["changed"]
    assert fleet.files("s2") == before
    for each in others:
        each.run("findmnt /srv/data")


@pytest.mark.parametrize(
    ("method", "flags", "said"),
    [
        ("sudo", "", "no command runs on s1 as the play wants it: .*sudo: not found"),
        ("su", "", "no command runs on s1 as the play wants it: .*account is currently not available"),
        ("su", "-s /bin/sh", "not root"),
    ],
)
def test_a_host_without_sudo_or_root_is_one_message(fleet: Fleet, method: str, flags: str, said: str) -> None:
    become = {
        "ansible_become": True,
        "ansible_become_method": f"ansible.builtin.{method}",
        "ansible_become_user": "nobody",
        "ansible_become_flags": flags,
    }
    host = inventory({"s1": fleet.twins["s1"]})["s1"] | become
    before = fleet.files("s1")
    jobs = ("--extra-vars", "ansible_async_dir=/tmp/jobs-of-nobody")
    _, told = playbook(fleet.book, {"s1": host}, fleet.folder, *jobs)
    failed = [each for each in told if each.status == "failed"]  # behind it a job's record is removed
    assert failed and re.search(said, str(failed[-1].values["msg"]), re.DOTALL), told
    assert fleet.files("s1") == before


def test_the_scenario_of_molecule_passes(fleet: Fleet, tmp_path: Path) -> None:
    """Converge, a second time without a change, verify: by the collection's own scenario, on a machine that it is given."""
    layout = fleet.folder / "layouts" / "s3.yaml"
    host = inventory({"s3": fleet.twins["s3"]})["s3"] | {"ansible_become": False}
    host |= {"server_confirm": "s3", "layout_file": str(layout)}
    hosts = tmp_path / "hosts.json"
    hosts.write_text(json.dumps({"all": {"hosts": {"storage1": host}}}))
    there = {**environment(tmp_path), "MOLECULE_HOSTS": str(hosts), "ANSIBLE_COLLECTIONS_PATH": str(tmp_path)}
    argv = [str(PROGRAMS / "molecule"), "test"]
    done = subprocess.run(argv, cwd=copy(tmp_path), env=there, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and all(f"{each}" in said for each in ("idempotence", "verify")), said[-6000:]
    assert "All assertions passed" in said, said[-6000:]


def test_no_password_is_in_a_log(fleet: Fleet) -> None:
    book = fleet.folder / "facts.yml"
    book.write_text(
        "- hosts: all\n  gather_facts: false\n  tasks:\n  - name: Facts\n    raidplan.storage.raidplan_facts: {}\n"
    )
    fleet = replace(fleet, book=book)
    fleet.run("-vvvv")
    said = (fleet.folder / "said").read_text()
    assert "/etc/fstab" in said and "username=u" in said
    assert SECRET not in said
    for twin in fleet.twins.values():
        assert SECRET in twin.run("cat /etc/fstab").stdout
        assert not twin.run(
            f"grep -rl {SECRET} /var/log /var/lib/raidplan/*/journal /tmp", check=False
        ).stdout
