"""raidplan_check: the words of the command, and what comes of each exit code."""

from __future__ import annotations

import pytest

FINDING = {
    "rule": "no-alarm",
    "severity": "warning",
    "message": "nobody is told",
    "file": "a.yaml",
    "line": 2,
}
FOUND = {"findings": [FINDING], "accepted": [], "errors": 0, "warnings": 1, "notes": 0}


def test_the_words_of_the_command(raidplan):
    raidplan.answers["check"] = {"out": FOUND}
    options = {"fail_on": "note", "select": ["a", "b"], "ignore": ["c"]}
    found = raidplan.run("raidplan_check", src=["one.yaml", "-x"], **options)
    assert found["result"] == "ok" and found["changed"] is False and found["findings"] == [FINDING]
    wanted = ["--fail-on=note", "--select=a", "--select=b", "--ignore=c", "--", "one.yaml", "-x"]
    assert raidplan.asked[1] == ["check", "--format=json", *wanted]


@pytest.mark.parametrize(("code", "result"), [(1, "findings"), (2, "invalid")])
def test_findings_fail(raidplan, code, result):
    raidplan.answers["check"] = {"code": code, "out": FOUND}
    found = raidplan.run("raidplan_check", src=["a.yaml"])
    assert found["failed"] and found["result"] == result and found["counts"]["warnings"] == 1
    assert found["msg"] == "a.yaml:2: nobody is told"


def test_a_finding_in_variables_has_its_line_alone(raidplan):
    there = {**FINDING, "file": "LAYOUT"}
    raidplan.answers["check"] = {"code": 1, "out": {**FOUND, "findings": [there, there]}}
    found = raidplan.run("raidplan_check", layout="host: pair\n")
    assert raidplan.layout == "host: pair\n"
    assert found["msg"] == "line 2: nobody is told (and 1 more in findings)"


def test_a_command_that_prints_no_json_says_why(raidplan):
    raidplan.answers["check"] = {"code": 2, "err": "\nraidplan: there is no layout in /x\n\n"}
    found = raidplan.run("raidplan_check", src=["/x"])
    assert found["result"] == "unable" and found["msg"] == "raidplan: there is no layout in /x"
    assert found["exit_code"] == 2


def test_one_of_file_and_variable(raidplan):
    assert "one of the following is required" in raidplan.run("raidplan_check")["msg"]
    assert "mutually exclusive" in raidplan.run("raidplan_check", src=["a"], layout="b")["msg"]
