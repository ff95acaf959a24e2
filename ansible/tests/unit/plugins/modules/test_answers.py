"""A raidplan whose answers are of no form that the collection knows, and a terminal on which it could ask; all with real programs."""

from __future__ import annotations

import json
import os
import pty
import subprocess

import pytest

STEP = {"id": "array.data", "phase": "array", "say": "create", "destroys": [], "clears": []}
PLAN = json.dumps({"host": "pair", "digest": "sha256:0", "steps": [STEP], "findings": []})
STARTED = """printf '{"event": "started", "step": "array.data"}\\n' >$events; """
PRINTED = [
    "{}",
    "[]",
    "null",
    '{"host": "pair", "steps": [{}], "digest": "sha256:0"}',
    '{"host": "pair", "steps": null}',
]


def run(script, apply, plan=PLAN):
    """raidplan_apply with these answers; `apply` is shell."""
    (script.folder / "plan.json").write_text(plan)
    (script.folder / "apply").write_text(apply)
    return script.run("raidplan_apply", src="/l.yaml", confirm="pair")


def test_bytes_that_are_no_text_keep_the_result(script):
    found = run(script, STARTED + r"printf 'mdadm: \351\n' >&2; exit 3")
    assert found["failed"] and found["result"] == "stopped" and found["changed"] is True
    assert found["msg"] == "mdadm: \ufffd" and found["exit_code"] == 3


@pytest.mark.parametrize(
    "line", [r"\351", "[]", "1", r'{"event": "done"}', r'{"step": "x"}', r'{"event": []}']
)
@pytest.mark.parametrize("code", [0, 3])
def test_an_event_of_another_form_keeps_the_result(script, line, code):
    found = run(script, f"{STARTED} printf '%b\\n' '{line}' >>$events; exit {code}")
    assert found["result"] == ("stopped" if code else "applied") and found["changed"] is True


@pytest.mark.parametrize(
    "line", [r'{"event": "ended", "not_as_planned": 1}', r'{"event": "ended", "not_as_planned": null}']
)
def test_an_end_of_another_form_is_a_stop_that_changed_something(script, line):
    found = run(script, f"{STARTED} printf '%b\\n' '{line}' >>$events; exit 3")
    assert (
        found["result"] == "stopped"
        and found["changed"] is True
        and "a form that this collection" in found["msg"]
    )


def test_an_exit_code_that_says_nothing_was_written_is_not_believed_after_a_step(script):
    found = run(script, STARTED + "echo refused >&2; exit 4")
    assert found["result"] == "stopped" and found["changed"] is True


@pytest.mark.parametrize("printed", PRINTED)
def test_a_plan_of_another_form_is_unable(script, printed):
    found = run(script, "exit 0", plan=printed)
    assert found["failed"] and found["result"] == "unable" and found["changed"] is False
    assert "raidplan" in found["msg"]


@pytest.mark.parametrize("printed", [*PRINTED, '{"findings": 1, "accepted": []}'])
def test_findings_of_another_form_are_unable(script, printed):
    (script.folder / "check.json").write_text(printed)
    found = script.run("raidplan_check", src=["a.yaml"])
    assert found["failed"] and found["result"] == "unable" and found["changed"] is False


def test_a_program_that_cannot_be_run_is_unable(script):
    script.path.write_text("no program\n")
    found = run(script, "exit 0")
    assert found["result"] == "unable" and "does not run on this host: Exec format error" in found["msg"]


@pytest.mark.parametrize("leads", [True, False])
def test_there_is_no_terminal_to_ask_on(leads):
    """As with `ssh -tt`; the process that leads the session, or one that it started."""
    from ansible_collections.raidplan.storage.plugins.module_utils.raidplan import leave_terminal

    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        if leads or os.fork() == 0:
            group = os.getpgrp()
            there = subprocess.call("exec 3</dev/tty", shell=True, stderr=subprocess.DEVNULL)
            leave_terminal()
            gone = subprocess.call("exec 3</dev/tty", shell=True, stderr=subprocess.DEVNULL)
            os._exit(0 if there == 0 and gone != 0 and os.getpgrp() == group else 1)
        os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
    try:
        while os.read(terminal, 1000):
            pass
    except OSError:
        pass  # nobody has it open any more
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
