"""raidplan_facts, and a raidplan that cannot be used."""

from __future__ import annotations

import pytest


def test_machine_and_hardware_are_facts(raidplan):
    raidplan.answers["discover"] = {"out": {"disks": []}, "err": "not root: identifiers may be missing\n"}
    found = raidplan.run("raidplan_facts", src="/l.yaml")
    facts = found["ansible_facts"]
    assert facts == {
        "raidplan_version": "0.1.0",
        "raidplan_machine": {"disks": []},
        "raidplan_hardware": {"disks": []},
    }
    assert found["messages"] == ["not root: identifiers may be missing"] and found["changed"] is False
    assert raidplan.asked[1:] == [
        ["discover", "facts", "--for=/l.yaml"],
        ["discover", "hardware", "--format=json"],
    ]


def test_only_what_is_gathered_is_read(raidplan):
    raidplan.answers["discover"] = {"out": {}}
    found = raidplan.run("raidplan_facts", gather=["machine"])
    assert raidplan.asked[1:] == [["discover", "facts"]] and "raidplan_hardware" not in found["ansible_facts"]


def test_none_is_installed(raidplan):
    found = raidplan.run("raidplan_facts", executable="no-such-raidplan")
    assert found["result"] == "unable" and "there is no no-such-raidplan" in found["msg"]
    assert "role raidplan.storage.server installs it" in found["msg"]


@pytest.mark.parametrize("version", ["1.0.0", "0.2.0", "0.10.1", "soon"])
def test_another_version_is_named(raidplan, version):
    raidplan.answers["--version"] = {"out": f"raidplan {version}\n"}
    found = raidplan.run("raidplan_facts")
    assert f"is version {version}, and this collection works with 0.1.x" in found["msg"]


def test_a_later_version_that_is_compatible_is_taken(raidplan):
    raidplan.answers |= {"--version": {"out": "raidplan 0.1.7\n"}, "discover": {"out": {}}}
    assert raidplan.run("raidplan_facts")["ansible_facts"]["raidplan_version"] == "0.1.7"


def test_a_python_that_is_too_old_is_named(raidplan):
    old = "raidplan needs Python 3.11 or later, and this is 3.9"
    raidplan.answers["--version"] = {"code": 1, "err": f"{old}\n"}
    assert raidplan.run("raidplan_facts")["msg"] == f"{raidplan.path} does not run on this host: {old}"
