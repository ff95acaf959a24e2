"""raidplan_apply: what it runs, what it returns, and what it refuses before anything is applied."""

from __future__ import annotations

import pytest

DIGEST = "sha256:" + "0" * 64
ANOTHER = "sha256:" + "1" * 64
STEP = {
    "id": "array.data",
    "phase": "array",
    "say": "create raid1 data",
    "argv": ["mdadm", "--create"],
    "targets": ["data"],
    "destroys": [{"what": "everything on d0"}],
    "clears": [],
    "because": "arrays.data",
    "line": 5,
    "proof": {"kind": "array"},
}
CLEARING = {
    **STEP,
    "id": "clear.d0",
    "phase": "teardown",
    "zero": "d0",
    "destroys": [{"what": "ext4 'old' on d0 (/dev/sda)", "where": "/dev/sda"}],
}
STARTED = {"event": "started", "step": "array.data", "message": "", "time": "now"}
DONE = {**STARTED, "event": "done"}
FAILED = {**STARTED, "event": "failed", "message": "mdadm: no"}
SYNC = {"event": "sync", "array": "data", "percent": 3}
ENDED = {
    "event": "ended",
    "as_planned": True,
    "done": 1,
    "failed": [],
    "not_begun": [],
    "not_as_planned": [],
}
REFUSAL = {"code": "disk-unmatched", "message": "d0: no disk has serial A", "remedy": "correct it"}


def made(*steps):
    """A plan as `raidplan plan` prints it."""
    return {"host": "pair", "digest": DIGEST, "steps": list(steps), "findings": [], "whole": []}


def run(raidplan, *steps, **options):
    """The module, where these steps are left."""
    raidplan.answers.setdefault("plan", {"out": made(*steps), "err": "note: one thing\n"})
    return raidplan.run("raidplan_apply", **{"src": "/etc/raidplan/pair.yaml", "confirm": "pair", **options})


def commands(raidplan):
    """The commands that were run."""
    return [words[0] for words in raidplan.asked]


def test_nothing_to_do(raidplan):
    found = run(raidplan)
    assert found["result"] == "nothing_to_do" and found["changed"] is False
    assert commands(raidplan) == ["--version", "plan"]


def test_check_mode_plans_and_applies_nothing(raidplan):
    found = run(raidplan, STEP, check=True)
    assert found["result"] == "planned" and found["changed"] is True
    assert found["digest"] == DIGEST and found["host"] == "pair" and found["messages"] == ["note: one thing"]
    assert (
        found["steps"] == [{name: STEP[name] for name in STEP if name not in ("clears", "proof")}]
        and "diff" not in found
    )
    assert raidplan.asked[1:] == [["plan", "--format=json", "--", "/etc/raidplan/pair.yaml"]]


def test_diff_mode_shows_what_is_destroyed_and_done(raidplan):
    found = run(raidplan, CLEARING, STEP, check=True, diff=True)["diff"]
    assert found["before"] == "ext4 'old' on d0 (/dev/sda)\n"
    assert found["after"] == "create raid1 data\ncreate raid1 data\n"


def test_exactly_the_plan_that_was_made_is_applied(raidplan):
    raidplan.answers["apply"] = {"events": [STARTED, DONE, SYNC, ENDED], "err": "pair matches\n"}
    found = run(raidplan, STEP)
    assert found["result"] == "applied" and found["changed"] is True
    assert found["done"] == ["array.data"] and found["failed_steps"] == [] == found["not_as_planned"]
    assert found["syncs"] == [SYNC] and found["messages"] == ["note: one thing", "pair matches"]
    words = raidplan.asked[2]
    assert words[:2] == ["apply", "--confirm=pair"] and words[-1].endswith("/plan.json")


@pytest.mark.parametrize("option", ["machine", "devices", "state"])
def test_options_are_handed_on(raidplan, option):
    run(raidplan, STEP, check=True, **{option: "/it"})
    assert f"--{option}=/it" in raidplan.asked[1]


def test_apply_has_them_too(raidplan):
    raidplan.answers["apply"] = {"events": [STARTED, DONE, ENDED]}
    run(raidplan, STEP, devices="/d", state="/s")
    assert {"--devices=/d", "--state=/s"} < {*raidplan.asked[2]}


def test_a_layout_in_variables_is_a_file_for_raidplan(raidplan):
    run(raidplan, src=None, layout={"version": 1, "host": "pair"}, check=True)
    assert raidplan.layout == '{"version": 1, "host": "pair"}'
    run(raidplan, src=None, layout="version: 1\nhost: päir\n", check=True)
    assert raidplan.layout == "version: 1\nhost: päir\n"
    assert "neither a mapping nor a text" in run(raidplan, src=None, layout=[1])["msg"]


@pytest.mark.parametrize("check", [True, False])
def test_a_layout_for_another_host_is_refused(raidplan, check):
    found = run(raidplan, STEP, confirm="other", check=check)
    assert found["failed"] and found["result"] == "refused" and found["changed"] is False
    assert found["msg"] == "the layout is for pair, and this host is other"
    assert "apply" not in commands(raidplan)


@pytest.mark.parametrize("option", ["plan", "destroy"])
def test_another_plan_than_the_reviewed_one_is_refused(raidplan, option):
    found = run(raidplan, STEP, **{option: ANOTHER})
    assert found["result"] == "refused" and found["msg"].startswith(f"{option} is the digest of another plan")
    assert DIGEST in found["msg"] and "apply" not in commands(raidplan)


def test_a_reviewed_plan_that_is_done_is_nothing_to_do(raidplan):
    assert run(raidplan, plan=ANOTHER)["result"] == "nothing_to_do"


def test_what_was_reviewed_is_applied(raidplan):
    raidplan.answers["apply"] = {"events": [STARTED, DONE, ENDED]}
    assert run(raidplan, STEP, plan=DIGEST)["result"] == "applied"
    assert raidplan.asked[2][1] == "--confirm=pair"


@pytest.mark.parametrize("reviewed", [None, DIGEST])
def test_nothing_is_destroyed_without_the_digest_that_gives_it_up(raidplan, reviewed):
    found = run(raidplan, CLEARING, STEP, plan=reviewed)
    assert found["result"] == "refused" and f"give destroy: {DIGEST}" in found["msg"]
    assert found["destroys"] == CLEARING["destroys"] and "ext4 'old'" in found["msg"]
    assert "apply" not in commands(raidplan)


def test_what_is_given_up_is_handed_on_by_its_digest(raidplan):
    raidplan.answers["apply"] = {"events": [STARTED, DONE, ENDED]}
    assert run(raidplan, CLEARING, STEP, destroy=DIGEST)["result"] == "applied"
    assert raidplan.asked[2][1] == f"--destroy={DIGEST}"


def test_losses_are_listed_once_and_in_order(raidplan):
    clear = {**STEP, "origin": {"kind": "clear"}, "destroys": [{"what": "b"}, {"what": "a"}]}
    device = {**STEP, "phase": "teardown", "zero": "d1", "clears": ["d1"], "destroys": []}
    found = run(raidplan, clear, clear, device, check=True)
    assert [each["what"] for each in found["destroys"]] == ["b", "a", "whatever is on d1"]


def test_refusals_are_returned_with_their_codes(raidplan):
    raidplan.answers["plan"] = {
        "code": 4,
        "out": {"host": "pair", "steps": [], "refusals": [REFUSAL, REFUSAL]},
        "err": "refused: d0\n",
    }
    found = run(raidplan, check=True)
    assert found["result"] == "refused" and found["exit_code"] == 4 and found["refusals"] == [REFUSAL] * 2
    assert found["msg"] == "d0: no disk has serial A (and 1 more in refusals)"


@pytest.mark.parametrize(("code", "result"), [(1, "findings"), (2, "invalid")])
def test_a_layout_without_a_plan_tells_its_findings(raidplan, code, result):
    finding = {"severity": "error", "message": "no such level", "file": "/x.yaml", "line": 3}
    warning = {**finding, "severity": "warning", "message": "else"}
    raidplan.answers["plan"] = {"code": code, "out": {"steps": [], "findings": [warning, finding]}}
    found = run(raidplan)
    assert found["result"] == result and found["exit_code"] == code
    assert found["msg"] == "/x.yaml:3: no such level (and 1 more in findings)"


def test_apply_refuses_what_changed_since_the_plan(raidplan):
    event = {"event": "refused", "time": "now", **REFUSAL}
    raidplan.answers["apply"] = {"code": 4, "events": [event], "err": "refused: d0\nnothing was written\n"}
    found = run(raidplan, STEP)
    assert found["result"] == "refused" and found["changed"] is False and found["refusals"] == [REFUSAL]
    raidplan.answers["apply"] = {"code": 4, "err": "refused: another apply is at work\nnothing was written\n"}
    assert run(raidplan, STEP)["msg"] == "refused: another apply is at work nothing was written"


@pytest.mark.parametrize(
    ("code", "events", "message"),
    [
        (3, [STARTED, FAILED, {**ENDED, "not_begun": ["x"]}], "stopped part-way: array.data: mdadm: no"),
        (3, [STARTED, DONE, {**ENDED, "not_as_planned": ["data: chunk"]}], "stopped part-way: data: chunk"),
        (3, [STARTED], "the last words"),
        (-9, [STARTED], "the last words"),
    ],
)
def test_a_stop_part_way_is_told_apart(raidplan, code, events, message):
    raidplan.answers["apply"] = {"code": code, "events": events, "err": "the last words\n"}
    found = run(raidplan, STEP)
    assert found["failed"] and found["result"] == "stopped" and found["msg"] == message
    assert found["changed"] is True


def test_a_stop_before_the_first_step_changed_nothing(raidplan):
    raidplan.answers["apply"] = {"code": 3, "err": "stopped\n"}
    assert run(raidplan, STEP)["changed"] is False
    raidplan.answers["apply"] = {"code": 2, "err": "no room\n"}
    found = run(raidplan, STEP)
    assert found["result"] == "unable" and found["msg"] == "no room" and found["changed"] is False


def test_half_a_line_of_events_is_left_out(raidplan, tmp_path):
    from ansible_collections.raidplan.storage.plugins.module_utils.raidplan import read_events

    (tmp_path / "events").write_text('{"event": "started"}\n{"event": "do')
    assert read_events(str(tmp_path / "events")) == [{"event": "started"}]


def test_another_machine_cannot_be_applied_to(raidplan):
    found = run(raidplan, STEP, machine="/facts.json")
    assert found["result"] == "unable" and "check mode only" in found["msg"] and raidplan.asked == []
