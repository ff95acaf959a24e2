"""The role that installs raidplan and applies: here what it does on hosts that it must not write to, in virtual servers the rest."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml

from raidplan.apply.preflight.versions import known_packages
from raidplan.base.filesystems import packages
from release.zipapp import MAIN
from tests.ansible.playbooks import COLLECTION, PROGRAMS, Told, copy, pair, playbook, stub

pytestmark = pytest.mark.slow
ROLE = COLLECTION / "roles" / "server"


def run(folder: Path, *words: str, program: str = "", environment: Mapping[str, str] | None = None, **more: Any) -> tuple[list[Told], str]:  # fmt: skip
    """The results of the role's tasks on this host, whose raidplan is put into the folder."""
    stub = folder / "raidplan.pyz"
    stub.write_text(f'#!/bin/sh\n{program or f"exec {PROGRAMS}/raidplan"} "$@"\n')
    known = {
        "server_layout": pair("pair", folder).read_text(),
        "server_program": str(stub),
        "server_executable": str(folder / "bin" / "raidplan"),
        "server_state": str(folder / "state"),
        **more,
    }
    (folder / "bin").mkdir(exist_ok=True)
    roles = [{"role": "raidplan.storage.server"}]
    book = folder / "book.yml"
    book.write_text(
        yaml.safe_dump(
            [{"hosts": "all", "gather_facts": False, "environment": dict(environment or {}), "roles": roles}]
        )
    )
    # No package is installed on the machine that tests.
    none = ("--extra-vars", '{"server_packages": {}}')
    done, told = playbook(book, {"pair": known}, folder, *none, *words)
    return told, done.stdout + done.stderr


def message(told: list[Told]) -> str:
    """The message of the task that failed last."""
    return str(failure(told)["msg"])


def failure(told: list[Told]) -> Mapping[str, Any]:
    """What the task returned that failed last; behind it a job's record is removed, and nothing else."""
    end = [each for each in told if not each.task.endswith("Remove the record of the job")][-1]
    assert end.status == "failed", told
    return end.values


def test_check_mode_installs_nothing_and_says_why_there_is_no_plan(tmp_path: Path) -> None:
    told, _ = run(tmp_path, "--check")
    assert message(told).startswith("raidplan is not installed on pair")
    assert not list((tmp_path / "bin").iterdir())


@pytest.mark.long
def test_raidplan_is_installed_once_and_the_layout_refused_where_its_disks_are_not(tmp_path: Path) -> None:
    told, said = run(tmp_path)
    changed = [each.task for each in told if each.values.get("changed")]
    assert [task.rpartition(" : ")[2] for task in changed] == ["Install the one file"], said
    assert failure(told)["result"] == "refused"
    assert {each["code"] for each in failure(told)["refusals"]} >= {"disk-unmatched"}
    assert (tmp_path / "bin" / "raidplan").stat().st_mode & 0o777 == 0o755
    again, _ = run(tmp_path)
    assert not [each for each in again if each.values.get("changed")]
    checked, _ = run(tmp_path, "--check")
    assert failure(checked)["result"] == "refused"


@pytest.mark.long
def test_the_tag_installs_and_looks_at_no_storage(tmp_path: Path) -> None:
    told, _ = run(tmp_path, "--tags", "raidplan_install")
    assert (tmp_path / "bin" / "raidplan").exists()
    assert "result" not in told[-1].values and told[-1].status == "ok"


@pytest.mark.long
@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("echo raidplan 9.4.0; exit 0;", "is version 9.4.0, and this collection works with 0.1.x"),
        (
            "echo raidplan needs Python 3.11 or later, and this is 3.9 >&2; exit 1;",
            "does not run on this host: raidplan needs Python 3.11 or later, and this is 3.9",
        ),
    ],
)
def test_another_raidplan_or_an_old_python_is_one_message(tmp_path: Path, program: str, said: str) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "raidplan").write_text(f"#!/bin/sh\n{program}\n")
    (tmp_path / "bin" / "raidplan").chmod(0o755)
    told, _ = run(tmp_path, program=program)
    assert said in message(told) and failure(told)["result"] == "unable"


APT = """\
import os, shutil
from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule({"deb": {"type": "path"}})
shutil.copy(module.params["deb"], os.environ["PACKAGED"])
os.chmod(os.environ["PACKAGED"], 0o755)
module.exit_json(changed=True)
"""
"""In place of Ansible's: the package is the program that it brings."""


@pytest.mark.long
def test_a_debian_package_is_installed_once_and_found_where_it_is(tmp_path: Path) -> None:
    """By a name, as the default is; nothing is copied where the package, or the one file, is there."""
    tasks = copy(tmp_path / "collections") / "roles" / "server" / "tasks" / "install.yml"
    text = tasks.read_text()
    assert text.count("ansible.builtin.apt:") == 1 and "/var/cache/" in text
    text = text.replace("ansible.builtin.apt:", "ansible.legacy.apt:").replace("/var/cache/", f"{tmp_path}/")
    tasks.write_text(text)
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "apt.py").write_text(APT)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "raidplan-packaged"
    package = tmp_path / "raidplan_0.1.0_all.deb"
    package.write_text(f'#!/bin/sh\nexec {PROGRAMS}/raidplan "$@"\n')
    package.chmod(0o755)
    words = ("--extra-vars", f'{{"server_program": "{package}", "server_executable": "{program.name}"}}')
    path = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin:/usr/sbin:/sbin", "PACKAGED": str(program)}
    told, said = run(tmp_path, *words, environment=path)
    changed = [each.task.rpartition(" : ")[2] for each in told if each.values.get("changed")]
    assert changed == ["Copy it", "Install it"], said
    assert failure(told)["result"] == "refused" and program.exists()
    again, said = run(tmp_path, *words, environment=path)
    assert not [each.task for each in again if each.values.get("changed")], said
    assert failure(again)["result"] == "refused"
    defaults = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())
    assert defaults["server_executable"] == "raidplan"


@pytest.mark.long
def test_the_one_file_is_installed_by_the_name_that_is_run(tmp_path: Path) -> None:
    tasks = copy(tmp_path / "collections") / "roles" / "server" / "tasks" / "install.yml"
    text = tasks.read_text()
    assert "'/usr/local/bin/" in text
    tasks.write_text(text.replace("'/usr/local/bin/", f"'{tmp_path}/bin/"))
    words = ("--extra-vars", '{"server_executable": "raidplan-of-a-name"}')
    path = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
    told, said = run(tmp_path, *words, environment=path)
    assert failure(told)["result"] == "refused", said
    assert [each.name for each in (tmp_path / "bin").iterdir()] == ["raidplan-of-a-name"]


def applying(folder: Path, apply: str, *words: str) -> tuple[list[Told], str]:
    """The role with a raidplan that writes to no disk; `apply` is shell that it runs."""
    (folder / "pair.apply").write_text(apply)
    program = stub(folder, pair("pair", folder))
    return run(folder, *words, server_executable=str(program), server_poll=1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("seconds", "apply", "said"),
    [
        (4, "sleep 60", "pair: server_seconds (4) are over, and raidplan was ended"),
        (
            600,
            "rm {folder}/jobs/*; sleep 20; exit 3",
            "pair: the host restarted meanwhile, which ended raidplan",
        ),
    ],
)
def test_a_run_that_was_ended_is_said_in_words_and_changed_something(tmp_path: Path, seconds: int, apply: str, said: str) -> None:  # fmt: skip
    told, _ = applying(tmp_path, apply.format(folder=tmp_path), "--extra-vars", f"server_seconds={seconds}")
    assert message(told) == f"{said}; the next run goes on from the journal"
    assert failure(told)["changed"] is True and not (tmp_path / "pair.applied").exists()
    assert "ansible_async_dir: /run/" in (ROLE / "tasks" / "main.yml").read_text()
    again, _ = applying(tmp_path, "")
    assert again[-1].status == "ok" and any(each.values.get("result") == "applied" for each in again)


@pytest.mark.long
def test_a_failed_run_leaves_no_record_of_its_job(tmp_path: Path) -> None:
    told, _ = applying(tmp_path, "exit 3")
    assert failure(told)["result"] == "stopped" and not list((tmp_path / "jobs").iterdir())


@pytest.mark.long
@pytest.mark.parametrize("name", ["server_poll", "server_seconds"])
def test_a_time_of_nothing_is_refused_first(tmp_path: Path, name: str) -> None:
    told, _ = run(tmp_path, "--extra-vars", f"{name}=0")
    assert "are seconds, 1 or more" in message(told) and not list((tmp_path / "bin").iterdir())


@pytest.fixture
def old_python() -> str:
    """A Python that runs Ansible's modules and no raidplan."""
    homes = sorted(Path.home().glob(".pyenv/versions/3.*/bin"))
    names = [*(f"python3.{minor}" for minor in range(8, 11)), *(str(home / "python3") for home in homes)]
    for name in filter(shutil.which, names):
        asked = subprocess.run([name, "-c", "import sys; print(sys.version_info[1])"], capture_output=True)
        if asked.stdout.strip() in (b"8", b"9", b"10"):
            return name
    pytest.skip("no Python 3.8, 3.9 or 3.10 here")


@pytest.mark.long
def test_a_target_with_an_old_python_is_one_message(old_python: str, tmp_path: Path) -> None:
    """The modules themselves run there, and raidplan's one file says why it does not."""
    with ZipFile(tmp_path / "old.pyz", "w") as archive:
        archive.writestr("__main__.py", MAIN)
    program = f'exec "{old_python}" "{tmp_path}/old.pyz"'
    told, _ = run(tmp_path, program=program, ansible_python_interpreter=old_python)
    assert failure(told)["result"] == "unable"
    assert re.search(
        r"does not run on this host: raidplan needs Python 3.11 or later, and this is 3\.(8|9|10)$",
        message(told),
    )


@pytest.mark.long
def test_a_host_without_sudo_is_one_message(tmp_path: Path) -> None:
    become = {
        "ansible_become": True,
        "ansible_become_user": "nobody",
        "ansible_become_exe": "/nowhere/sudo",
    }
    told, _ = run(tmp_path, **become)
    assert "/nowhere/sudo: not found" in message(told) and told[-1].task.endswith("Look for raidplan")
    assert not list((tmp_path / "bin").iterdir())


@pytest.mark.long
def test_a_layout_for_another_host_is_refused(tmp_path: Path) -> None:
    told, _ = run(tmp_path, server_layout=pair("other", tmp_path).read_text())
    assert message(told) == "the layout is for other, and this host is pair"


@pytest.mark.long
def test_a_role_without_a_layout_is_refused(tmp_path: Path) -> None:
    told, _ = run(tmp_path, server_layout=None, server_seconds="soon")
    assert "server_seconds" in message(told)


def test_the_packages_are_those_of_the_plan() -> None:
    named = yaml.safe_load((ROLE / "vars" / "main.yml").read_text())["server_packages"]
    owned = {
        program: package.name for package in (*known_packages(), *packages()) for program in package.programs
    }
    debian = {"sfdisk": "fdisk", "swapon": "mount"}  # of util-linux, in packages of their own
    assert {program: debian.get(program, owned[program]) for program in owned} == {
        program: named.get(program) for program in owned
    }


def test_the_defaults_are_those_that_are_described() -> None:
    described = yaml.safe_load((ROLE / "meta" / "argument_specs.yml").read_text())["argument_specs"]["main"]["options"]  # fmt: skip
    defaults = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())
    assert {name: each["default"] for name, each in described.items() if "default" in each} == defaults
