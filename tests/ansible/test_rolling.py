"""The playbook for a fleet: nothing is applied before all layouts are checked and all plans made, and the first trouble ends it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.ansible.playbooks import COLLECTION, LAYOUT, PROGRAMS, Told, pair, playbook

pytestmark = pytest.mark.slow
ROLLING = COLLECTION / "playbooks" / "rolling.yml"
HOSTS = ("s1", "s2", "s3")


def run(folder: Path, *words: str, **more: dict[str, Any]) -> tuple[list[Told], str]:
    """The results of the playbook on three hosts of recorded machines; `more` are variables by host."""
    layouts = folder / "layouts"
    layouts.mkdir(exist_ok=True)
    known = {
        "rolling_layouts": str(layouts),
        "rolling_become": False,
        "rolling_executable": str(PROGRAMS / "raidplan"),
    }
    hosts = {}
    for host in HOSTS:
        machine = pair(host, layouts).with_suffix(".json")
        machine = machine.rename(folder / machine.name)
        hosts[host] = {**known, "rolling_machine": str(machine), **more.get(host, {})}
    done, told = playbook(ROLLING, hosts, folder, *words)
    return told, done.stdout + done.stderr


def test_every_variable_is_described() -> None:
    text = ROLLING.read_text()
    registered = set(re.findall(r"register: (rolling_\w+)", text))
    taken = set(re.findall(r"rolling_\w+", text)) - registered
    page = (COLLECTION / "README.md").read_text()
    assert taken == set(re.findall(r"^\| `(rolling_\w+)` \|", page, re.M))


@pytest.mark.long
def test_two_hosts_at_a_time_of_those_that_are_named(tmp_path: Path) -> None:
    more = ("--extra-vars", json.dumps({"rolling_hosts": "s2,s3", "rolling_serial": 2}))
    told, said = run(tmp_path, *more)
    assert set(by_task(told, "Plan")) == {"s2", "s3"} == set(by_task(told, "Apply")), said


def by_task(told: list[Told], task: str) -> dict[str, Told]:
    return {each.host: each for each in told if each.task == task}


def test_check_mode_shows_the_plan_of_every_host(tmp_path: Path) -> None:
    told, said = run(tmp_path, "--check")
    assert set(by_task(told, "Plan")) == set(HOSTS), said
    shown = by_task(told, "Show the plan")["s2"].values["msg"]
    assert shown[0].startswith("s2: planned, ") and any("raid1" in line for line in shown)
    assert not by_task(told, "Apply")


@pytest.mark.long
def test_a_disk_in_two_layouts_ends_it_before_any_plan(tmp_path: Path) -> None:
    told, _ = run(tmp_path)
    layouts = tmp_path / "layouts"
    (layouts / "s2.yaml").write_text(LAYOUT.format(host="s2").replace("s2-<1>", "s1-<1>"))
    (layouts / "s2.json").write_text("{}")
    done, told = playbook(ROLLING, {host: {"rolling_layouts": str(layouts), "rolling_executable": str(PROGRAMS / "raidplan")} for host in HOSTS}, tmp_path)  # fmt: skip
    assert done.returncode != 0
    assert told[-1].task == "Check" and told[-1].status == "failed"
    places = {finding["file"] for finding in told[-1].values["findings"]}
    assert {Path(place).name for place in places} >= {"s1.yaml", "s2.yaml"}


@pytest.mark.long
def test_a_host_that_would_be_refused_ends_it_before_the_first_write(tmp_path: Path) -> None:
    run(tmp_path)
    facts = json.loads((tmp_path / "s1.json").read_text())
    other = tmp_path / "other.json"
    other.write_text(json.dumps(facts))
    told, said = run(tmp_path, s2={"rolling_machine": str(other)})
    planned = by_task(told, "Plan")
    assert planned["s2"].values["result"] == "refused", said
    assert not by_task(told, "Apply") and not by_task(told, "Summary")


@pytest.mark.long
def test_a_host_that_cannot_be_reached_ends_it_before_the_first_write(tmp_path: Path) -> None:
    far = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}
    told, _ = run(tmp_path, s3=far)
    (unreached,) = [each for each in told if each.status == "unreachable"]
    assert unreached.host == "s3" and unreached.task == "Plan"
    assert not by_task(told, "Apply")


@pytest.mark.long
def test_the_first_host_that_fails_is_the_last_one(tmp_path: Path) -> None:
    """The plan of a recorded machine is no plan of this one, so the first host is refused; the others are not begun."""
    told, said = run(tmp_path)
    assert list(by_task(told, "Apply")) == ["s1"], said
    assert by_task(told, "Wait until it is applied")["s1"].values["result"] == "refused"
    (summary,) = by_task(told, "Summary").values()
    assert summary.values["msg"].startswith("s1: refused: ")
