"""The playbook for a fleet: nothing is applied before all layouts are checked and all plans made, and the first trouble ends it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raidplan.facts.machine import Trace
from tests.ansible.playbooks import COLLECTION, PROGRAMS, Told, machine, pair, playbook, stub

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
    own = set(re.findall(r"register: (rolling_\w+)|^ +(rolling_\w+):", text, re.M))
    taken = set(re.findall(r"rolling_\w+", text)) - {name for names in own for name in names}
    page = (COLLECTION / "README.md").read_text()
    assert taken == set(re.findall(r"^\| `(rolling_\w+)` \|", page, re.M))


@pytest.mark.long
def test_two_hosts_at_a_time_of_those_that_are_named(tmp_path: Path) -> None:
    more = ("--extra-vars", json.dumps({"rolling_hosts": "s2,s3", "rolling_serial": 2}))
    told, said = run(tmp_path, *more)
    assert set(by_task(told, "Plan")) == {"s2", "s3"} == set(by_task(told, "Apply")), said


def by_task(told: list[Told], task: str) -> dict[str, Told]:
    return {each.host: each for each in told if each.task == task}


@pytest.mark.long
def test_check_mode_shows_the_plan_of_every_host(tmp_path: Path) -> None:
    told, said = run(tmp_path, "--check")
    assert set(by_task(told, "Plan")) == set(HOSTS), said
    shown = by_task(told, "Show the plan")["s2"].values["msg"]
    assert shown[0].startswith("s2: planned, ") and any("raid1" in line for line in shown)
    assert not by_task(told, "Apply")


@pytest.mark.long
@pytest.mark.parametrize(("one", "other"), [("s2-<1>", "s1-<1>"), ("host: s2", "host: s1")])
def test_a_disk_or_a_host_in_two_layouts_ends_it_before_any_plan(
    one: str, other: str, tmp_path: Path
) -> None:
    layouts = tmp_path / "layouts"
    layouts.mkdir()
    for host in HOSTS:
        pair(host, layouts)
    (layouts / "s2.yaml").write_text((layouts / "s2.yaml").read_text().replace(one, other))
    known = {"rolling_layouts": str(layouts), "rolling_executable": str(PROGRAMS / "raidplan")}
    done, told = playbook(ROLLING, dict.fromkeys(HOSTS, known), tmp_path)
    assert done.returncode != 0
    assert told[-1].task.startswith("Check") and told[-1].status == "failed"
    places = {Path(finding["file"]).name for finding in told[-1].values["findings"] if finding["rule"].endswith("-in-two-layouts")}  # fmt: skip
    assert places == {"s1.yaml", "s2.yaml"}


def rolled(folder: Path, *words: str, wiped: str = "", apply: str = "", **more: dict[str, Any]) -> tuple[dict[str, Told], list[str], str]:  # fmt: skip
    """The last result of each host, the summary's lines and all that was said, with a raidplan that writes to no disk.

    The first disk of `wiped` has a file system that its layout gives up; `apply` is shell that s2 runs when it applies.
    """
    layouts = folder / "layouts"
    layouts.mkdir(exist_ok=True)
    files = [pair(host, layouts) for host in HOSTS]
    if wiped:
        layout = layouts / f"{wiped}.yaml"
        layout.write_text(layout.read_text().replace("size: 1TB,", "size: 1TB, wipe: true,"))
        seen = machine(f"{wiped}-{n}" for n in range(2))
        old = Trace(0, "ext4", 0, 10**12, "", "5e81d7a1-0000-4000-8000-000000000001")
        disks = (replace(seen.disks[0], traces=(old,)), seen.disks[1])
        layout.with_suffix(".json").write_text(json.dumps(replace(seen, disks=disks).to_data()))
    known = {
        "rolling_layouts": str(layouts),
        "rolling_become": False,
        "rolling_executable": str(stub(folder, *files)),
        "rolling_poll": 1,
    }
    for layout in files:
        layout.with_suffix(".json").unlink()
    (folder / "s2.apply").write_text(apply)
    done, told = playbook(ROLLING, {host: {**known, **more.get(host, {})} for host in HOSTS}, folder, *words)
    said = done.stdout + done.stderr
    summary = [each.values["msg"] for each in told if each.task == "Summary"]
    assert len(summary) == 1 and [line.partition(":")[0] for line in summary[0]] == [*HOSTS], said
    assert (done.returncode == 0) == (not any(": failed" in line or ": refused" in line or ": stopped" in line or ": unreachable" in line for line in summary[0]))  # fmt: skip
    return {each.host: each for each in told}, summary[0], said


def asked(folder: Path) -> set[str]:
    """The hosts on which raidplan was to apply."""
    return {file.stem for file in folder.glob("*.asked")}


def test_a_plan_that_destroys_something_ends_it_before_any_host_begins(tmp_path: Path) -> None:
    last, lines, said = rolled(tmp_path, wiped="s2")
    digest = json.loads((tmp_path / "s2.plan.json").read_text())["digest"]
    assert lines[0] == "s1: not begun" and lines[2] == "s3: not begun" and not asked(tmp_path), said
    assert lines[1].startswith("s2: refused: the plan destroys ext4, 931.3 GiB, on d0; if"), lines
    assert lines[1].endswith(f"give rolling_destroy: {{s2: {digest}}}")
    assert last["s2"].status == "failed" and last["s1"].status == "ok"


@pytest.mark.long
def test_what_is_destroyed_is_given_up_by_host_and_digest(tmp_path: Path) -> None:
    """With the digest of another plan nothing begins either."""
    other = ("--extra-vars", json.dumps({"rolling_destroy": {"s2": "sha256:0"}}))
    _, lines, _ = rolled(tmp_path, *other, wiped="s2")
    assert lines[1].startswith("s2: refused: destroy is the digest of another plan") and not asked(tmp_path)
    digest = json.loads((tmp_path / "s2.plan.json").read_text())["digest"]
    given = ("--extra-vars", json.dumps({"rolling_destroy": {"s2": digest}}))
    _, lines, said = rolled(tmp_path, *given, wiped="s2")
    assert lines == [f"{host}: applied: 0 steps done" for host in HOSTS], said
    assert f"--destroy={digest}" in (tmp_path / "s2.asked").read_text()
    assert "--confirm=s1" in (tmp_path / "s1.asked").read_text()
    assert not list((tmp_path / "jobs").iterdir())
    _, lines, _ = rolled(tmp_path, *given, wiped="s2")
    assert lines == [f"{host}: nothing_to_do: 0 steps done" for host in HOSTS]


@pytest.mark.long
def test_a_host_without_a_digest_of_its_own_gives_nothing_up(tmp_path: Path) -> None:
    """It stands in the mapping with nothing, or the digests are a text: nothing begins, on no host."""
    nothing = ("--extra-vars", json.dumps({"rolling_destroy": {"s2": None}}))
    _, lines, said = rolled(tmp_path, *nothing, wiped="s2")
    assert lines[1].startswith("s2: refused: the plan destroys ext4") and not asked(tmp_path), said
    told, _ = run(tmp_path, "--extra-vars", json.dumps({"rolling_destroy": "s2: sha256:0"}))
    failed = {(each.task, each.status) for each in told if each.status != "ok"}
    assert failed == {("Refuse digests of no host", "failed")} and not asked(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("confirm", "result"), [("{{ inventory_hostname_short }}", "planned"), (None, "refused")])  # fmt: skip
def test_hosts_with_a_domain_in_the_inventory(confirm: str | None, result: str, tmp_path: Path) -> None:
    """A layout's host has none, so the playbook has to be told which host is meant."""
    layout = pair("s1", tmp_path)
    layout.rename(tmp_path / "s1.example.org.yaml")
    known = {
        "rolling_layouts": str(tmp_path),
        "rolling_become": False,
        "rolling_executable": str(PROGRAMS / "raidplan"),
        "rolling_machine": str(layout.with_suffix(".json")),
        **({"rolling_confirm": confirm} if confirm else {}),
    }
    done, told = playbook(ROLLING, {"s1.example.org": known}, tmp_path, "--check")
    assert by_task(told, "Plan")["s1.example.org"].values["result"] == result, done.stdout
    (line,) = by_task(told, "Summary")["s1.example.org"].values["msg"]
    said = "" if confirm else ": the layout is for s1, and this host is s1.example.org"
    assert line == f"s1.example.org: {result}{said}"


@pytest.mark.long
def test_a_python_that_does_not_run_is_said_in_the_summary(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no such Python here >&2; exit 127\n")
    python.chmod(0o755)
    _, lines, said = rolled(tmp_path, s2={"ansible_python_interpreter": str(python)})
    assert lines[1].startswith("s2: failed: ") and "no such Python here" in lines[1], lines
    assert "s2: failed, 0 steps" in said and "unreachable, " not in said and not asked(tmp_path)


@pytest.mark.long
def test_check_mode_is_no_refusal_of_what_is_destroyed(tmp_path: Path) -> None:
    _, lines, said = rolled(tmp_path, "--check", wiped="s2")
    assert lines == [
        "s1: planned",
        "s2: planned: the plan destroys ext4, 931.3 GiB, on d0",
        "s3: planned",
    ], said


@pytest.mark.long
def test_a_host_that_stops_is_the_last_one_and_its_job_leaves_nothing(tmp_path: Path) -> None:
    last, lines, said = rolled(tmp_path, apply="echo 'mdadm: no' >&2; exit 3")
    assert lines == ["s1: applied: 0 steps done", "s2: stopped: mdadm: no", "s3: not begun"], said
    assert asked(tmp_path) == {"s1", "s2"} and not list((tmp_path / "jobs").iterdir())
    assert last["s2"].status == "failed" and re.search(r"s2 .*changed=1 .*failed=1 ", said), said


@pytest.mark.long
def test_the_end_of_the_time_is_said_in_words_and_counts_as_a_change(tmp_path: Path) -> None:
    _, lines, said = rolled(tmp_path, apply="sleep 60", s2={"rolling_seconds": 4})
    assert lines[1].startswith("s2: stopped: rolling_seconds (4) are over, and raidplan was ended"), said
    assert lines[2] == "s3: not begun" and not (tmp_path / "s2.applied").exists()
    assert re.search(r"s2 .*changed=1 .*failed=1 ", said), said


@pytest.mark.long
def test_a_host_that_restarts_meanwhile_is_not_waited_for(tmp_path: Path) -> None:
    """Its jobs lie where nothing outlives a restart."""
    _, lines, said = rolled(tmp_path, apply=f"rm {tmp_path}/jobs/*; sleep 4; exit 3")
    assert lines[1:] == [
        "s2: stopped: the host restarted meanwhile, which ended raidplan; the next run goes on from the journal",
        "s3: not begun",
    ], said
    assert "ansible_async_dir: /run/" in ROLLING.read_text()


@pytest.mark.long
def test_a_poll_of_nothing_is_refused_first(tmp_path: Path) -> None:
    told, _ = run(tmp_path, "--extra-vars", "rolling_poll=0")
    assert {(each.task, each.status) for each in told} == {("Refuse times that are none", "failed")}


@pytest.mark.long
def test_a_host_that_would_be_refused_ends_it_before_the_first_write(tmp_path: Path) -> None:
    (tmp_path / "s1.json").write_text(json.dumps(machine(["s1-0", "s1-1"]).to_data()))
    other = tmp_path / "other.json"
    (tmp_path / "s1.json").rename(other)
    told, said = run(tmp_path, s2={"rolling_machine": str(other)})
    planned = by_task(told, "Plan")
    assert planned["s2"].values["result"] == "refused", said
    assert not by_task(told, "Apply")
    (summary,) = by_task(told, "Summary").values()
    assert summary.values["msg"][0] == "s1: not begun" and summary.values["msg"][1].startswith(
        "s2: refused: "
    )
    assert told[-1].host == "s2" and told[-1].status == "failed"


@pytest.mark.long
def test_a_host_that_cannot_be_reached_ends_it_before_the_first_write(tmp_path: Path) -> None:
    far = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}
    last, lines, said = rolled(tmp_path, s3=far)
    assert lines[:2] == ["s1: not begun", "s2: not begun"] and lines[2].startswith("s3: unreachable: "), said
    assert last["s3"].status == "failed" and not asked(tmp_path)


@pytest.mark.long
def test_the_first_host_that_fails_is_the_last_one(tmp_path: Path) -> None:
    """The plan of a recorded machine is no plan of this one, so the first host is refused; the others are not begun."""
    told, said = run(tmp_path)
    assert list(by_task(told, "Apply")) == ["s1"], said
    assert by_task(told, "Wait until it is applied")["s1"].values["result"] == "refused"
    (summary,) = by_task(told, "Summary").values()
    assert summary.values["msg"][0].startswith("s1: refused: ")
    assert summary.values["msg"][1:] == ["s2: not begun", "s3: not begun"]
