"""The collection as ansible-lint and its unit tests have it; every option of every module is in an example that runs here."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ansible.playbooks import COLLECTION, PROGRAMS, environment, pair, playbook

MODULES = sorted((COLLECTION / "plugins" / "modules").glob("raidplan_*.py"))
pytestmark = pytest.mark.slow


def test_units(copied: Path, tmp_path: Path) -> None:
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-c",
        "/dev/null",
    ]
    there = {**environment(tmp_path), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([*argv, "--rootdir=.", "tests/unit"], cwd=copied, env=there, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.long
def test_ansible_lint_has_nothing_to_say(copied: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=copied, check=True)
    argv = [str(PROGRAMS / "ansible-lint"), "--offline", "--profile=production", "--strict", "--nocolor"]
    done = subprocess.run(argv, cwd=copied, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0 and re.search(
        r"Passed: 0 failure\(s\), 0 warning\(s\) in [1-9]\d* files", done.stderr
    ), done.stdout + done.stderr


def test_the_collection_and_its_modules_are_of_this_version() -> None:
    galaxy = yaml.safe_load((COLLECTION / "galaxy.yml").read_text())
    version = re.search(
        r'^VERSION = "(.*)"$', (COLLECTION / "plugins/module_utils/raidplan.py").read_text(), re.M
    )
    from raidplan import __version__

    assert galaxy["version"] == __version__ and version and __version__.startswith(version[1] + ".")


def documentation(module: Path, name: str) -> Any:
    """One of the texts of a module, read as YAML."""
    found = re.search(rf'^{name} = r"""\n(.*?)^"""', module.read_text(), re.M | re.S)
    assert found
    return yaml.safe_load(found[1])


def options(module: Path) -> set[str]:
    """The options of a module, as its code has them."""
    found = re.search(r"argument_spec=\{(.*?)\n        \}", module.read_text(), re.S)
    assert found
    return set(re.findall(r'^            "(\w+)": \{', found[1], re.M))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_every_option_is_in_an_example(module: Path) -> None:
    shown = {
        name for task in documentation(module, "EXAMPLES") for name in task[f"raidplan.storage.{module.stem}"]
    }
    assert shown == options(module)


PLAIN = {
    "version": 1,
    "host": "pair",
    "hardware": {"disks": {f"d{n}": {"serial": f"pair-{n}", "size": "1TB"} for n in range(2)}},
    "arrays": {"data": {"level": "raid1", "members": ["d0", "d1"]}},
    "monitoring": {"mail": "root@example.org", "scrub": "monthly"},
}
RESULTS = {
    "Check the layouts of all servers, on the controller": "ok",
    "Look for one pitfall in a layout that stands in the inventory": "ok",
    "Apply the layout of a host": "refused",
    "Apply what was reviewed, and nothing else": "refused",
    "Give up what the reviewed plan destroys": "refused",
    "Show the plan for a machine whose facts were recorded": "planned",
    "Try a layout on loop devices of a test machine": "refused",
}
"""The result of each example in check mode, on a machine that has none of the layout's disks."""


@pytest.mark.long
def test_every_example_runs(tmp_path: Path) -> None:
    layouts = tmp_path / "layouts"
    layouts.mkdir()
    layout = pair("pair", layouts)
    (tmp_path / "facts").mkdir()
    shutil.move(layout.with_suffix(".json"), tmp_path / "facts" / "pair.json")
    (tmp_path / "pair.loops").mkdir()
    shutil.copy(layout, tmp_path / "pair.loops" / "layout.yaml")
    nodes = {"host": "pair", "devices": {f"d{n}": f"/dev/loop-of-nobody{n}" for n in range(2)}}
    (tmp_path / "pair.loops" / "devices.json").write_text(json.dumps(nodes))
    program = str(PROGRAMS / "raidplan")
    tasks = []
    for module in MODULES:
        for task in documentation(module, "EXAMPLES"):
            given = task[f"raidplan.storage.{module.stem}"]
            for name in ("src", "machine", "devices", "state"):
                if isinstance(path := given.get(name), str):
                    of_the_layout = path.replace("/etc/raidplan/layout.yaml", str(layout))
                    given[name] = str(tmp_path / of_the_layout)
            given["executable"] = program
            tasks.append({**task, "ignore_errors": True, "check_mode": True})
    book = tmp_path / "book.yml"
    book.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
    known = {"storage_layout": PLAIN, "reviewed_plan": "sha256:0"}
    done, told = playbook(book, {"pair": known}, tmp_path, "--check")
    assert len(told) == len(tasks), done.stdout + done.stderr
    found = {each.task: each.values for each in told}
    assert {
        task: values.get("result") for task, values in found.items() if "ansible_facts" not in values
    } == RESULTS, done.stdout
    refused = [values for values in found.values() if values.get("result") == "refused"]
    assert all(
        {each["code"] for each in values["refusals"]} & {"disk-unmatched", "device-unknown"}
        for values in refused
    ), refused
    facts = [values["ansible_facts"] for values in found.values() if "ansible_facts" in values]
    assert [set(each) - {"discovered_interpreter_python"} for each in facts] == [
        {"raidplan_version", "raidplan_hardware"},
        {"raidplan_version", "raidplan_hardware", "raidplan_machine"},
        {"raidplan_version", "raidplan_machine"},
    ]  # fmt: skip
    assert "disks" in facts[1]["raidplan_machine"]
