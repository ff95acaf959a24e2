"""The records of whole runs: what the page shows of them, and which count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.parts import code_digest, git
from tests.vagrant import runs


def test_the_table_is_that_of_the_records() -> None:
    page = runs.PAGE.read_text()
    assert runs.with_table(page) == page, "`make vagrant-table` writes it"


@pytest.mark.parametrize("name", runs.RUNS, ids="/".join)
def test_every_run_ended_well(name: tuple[str, str]) -> None:
    """The suite passed after `up`, after `reload` and at the end, and failed by the name of the disk that was pulled in between."""
    record = runs.newest()[name]
    first, after_reload, *pulled = record["suites"]
    assert record["destroyed"]
    assert all("passed" in each and "failed" not in each for each in (first, after_reload, *pulled[1:]))
    assert len(pulled) == 2 * ("--break-disk" in runs.RUNS[name])
    assert all("is not there" in each and "degraded" in each for each in pulled[:1])


@pytest.mark.parametrize("name", runs.RUNS, ids="/".join)
def test_a_record_has_the_code_of_its_commit(name: tuple[str, str]) -> None:
    record = runs.newest()[name]
    if git("rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("the commits of the records are not here")
    git("merge-base", "--is-ancestor", record["commit"], "HEAD")  # fails where a rebase replaced it
    assert record["code"] == code_digest(runs.CODE, record["commit"]), "run on a changed tree?"


def test_a_record_counts_until_its_code_or_its_plan_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runs, "RECORDS", tmp_path / "runs.jsonl")
    monkeypatch.setattr(runs, "code_digest", lambda code: "abc")
    monkeypatch.setattr(runs, "plan_of", lambda layout: f"plan of {Path(layout).stem}")
    lines = [
        {
            "layout": layout,
            "release": release,
            "commit": "1234567",
            "code": "abc",
            "plan": f"plan of {layout}",
        }
        for layout, release in runs.RUNS
    ]

    def shown(**other: str) -> tuple[int, str]:
        runs.RECORDS.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {**lines[1], **other}]))
        return runs.main(["--show"]), capsys.readouterr().out

    code, out = shown()
    assert code == 0 and out.count(" counts\n") == len(lines)
    code, out = shown(code="def")
    assert code == 1 and "raid1-pair/trixie         since 1234567 another code\n" in out
    code, out = shown(plan="of another layout")
    assert code == 1 and "another plan\n" in out
    lines.pop()
    code, out = shown()
    assert code == 1 and "tel-aviv-jbod/bookworm    no record\n" in out
    with pytest.raises(SystemExit):
        runs.main(["everything"])


def test_the_digest_of_a_plan_is_that_of_what_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comment does not count, a chunk does."""
    monkeypatch.setattr(runs, "ROOT", tmp_path)
    text = (Path(__file__).with_name("native.yaml")).read_text()
    for name, changed in (
        ("as-is", text),
        ("comment", f"# more\n{text}"),
        ("chunk", text.replace("64KiB", "128KiB")),
    ):
        (tmp_path / f"{name}.yaml").write_text(changed)
    digests = [runs.plan_of(f"{name}.yaml") for name in ("as-is", "comment", "chunk")]
    assert digests[0] == digests[1] != digests[2]


def test_the_table_says_which_run_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = runs.newest()
    monkeypatch.setattr(runs, "RECORDS", tmp_path / "runs.jsonl")
    monkeypatch.setattr(runs, "code_digest", lambda code: "code of today")
    monkeypatch.setattr(runs, "plan_of", lambda layout: "plan of today")
    today = {"code": "code of today", "plan": "plan of today", "commit": "1234567"}
    first, second = ({**each, **today} for each in list(records.values())[:2])
    runs.RECORDS.write_text(f"{json.dumps(first)}\n{json.dumps({**second, 'code': 'of before'})}\n")
    _, _, counting, other = runs.table().splitlines()
    assert "| counts |" in counting and "| since 1234567 another code |" in other
