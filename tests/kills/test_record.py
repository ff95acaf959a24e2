"""What counts of the record of cases, and what the table and the exit code say of it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.kills import __main__ as command
from tests.kills.adversity import CONVERGED, LOST, OPEN, PERSON, POWER, STUCK, Adversity
from tests.kills.record import add, dirt, table

CASE = "python -m tests.kills --case 7"


def record(kind: str = "kill all", **more: Any) -> dict[str, Any]:
    base = {"adversity": Adversity(kind, 0.5).to_data(), "interrupted": True, "layout": "x", "kind": "fresh", "expected": CONVERGED,
            "result": CONVERGED, "ended": CONVERGED, "why": "", "command": CASE, "digest": "now", "generator": "it"}  # fmt: skip
    return {**base, **more}


def said(*records: dict[str, Any], dirty: str = "") -> str:
    return table(records, "now", ["it"], dirty)


def cut(number: int, **more: Any) -> dict[str, Any]:
    return record(POWER, command=f"python -m tests.kills --power --case {number}", **more)


def test_a_cut_counts_if_it_lost_a_write() -> None:
    words = said(
        cut(1, lost_writes=2, lost_writes_of_root=0),
        cut(2, lost_writes=0, lost_writes_of_root=1),
        cut(3, lost_writes=1, lost_writes_of_root=1),
        cut(4, lost_writes=0, lost_writes_of_root=0),
        record(),
    )
    assert "1 random cases count, and 3 power cuts" in words
    assert "of 4 power cuts 2 lost writes of the layout's disks, 2 of the root disk, 1 none" in words
    assert "| power cuts that lost writes | 3 | 3 |" in words and "| all but power cuts | 1 | 1 |" in words


def test_what_nothing_predicted_is_no_random_case_of_the_sum() -> None:
    words = said(record(), record(command="other", result=OPEN, expected=OPEN, ended=PERSON))
    assert "1 random cases count" in words and "| all but power cuts | 2 | 1 | 0 | 1 |" in words
    stuck = said(record(result=STUCK, expected=OPEN, ended=STUCK))
    assert "0 random cases count" in stuck and f"otherwise: {CASE}" in stuck


def test_a_case_with_the_whole_initramfs_is_the_same_case() -> None:
    real = record(command=CASE.replace(" --case", " --real-initramfs --case"), real_initramfs=True)
    for every in ((record(), real), (real, record())):
        words = said(*every)
        assert "| all | 1 | 1 |" in words and "1 cases with the whole initramfs" in words
    failed = said(real, record(result=STUCK))
    assert "| all | 1 | 0 | 0 | 0 | 1 |" in failed


def test_the_seeds_of_persons_and_of_what_was_void_are_listed() -> None:
    words = said(
        record("foreign sector", result=PERSON, expected=PERSON, ended=PERSON),
        record(command="b", void=True, why="no module"),
    )
    assert f"needed a person, as predicted: {CASE} (foreign sector, fresh)" in words
    assert "| no adversity | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 |" in words and "void: b: no module" in words


def test_an_apply_that_harms_without_any_adversity_is_lost() -> None:
    """Whatever else is on record of that case."""
    harmed = record(void=True, harmed=True, why="DECOY-0")
    for every in ((harmed, record()), (record(), harmed)):
        words = said(*every)
        assert "| no adversity | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 1 |" in words and f"harmed: {CASE}" in words


def test_of_a_dirty_work_tree_nothing_counts() -> None:
    words = said(record(dirty=" M raidplan/x.py"), record(command="other"))
    assert "| all | 1 |" in words and "1 more of" in words
    words = said(record(), dirty=" M raidplan/x.py")
    assert "| all | 0 |" in words and words.startswith("dirty") and "raidplan/x.py" in words


def test_git_says_what_is_other_than_in_the_commit(tmp_path: Path) -> None:
    assert dirt(tmp_path)
    for name in ("raidplan/a.py", "tests/kills/b.py", "docs/c.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*name, "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    assert dirt(tmp_path) == ""
    (tmp_path / "docs/c.md").write_text("2")
    assert dirt(tmp_path) == ""
    for changed in ("raidplan/a.py", "tests/kills/new.py"):
        (tmp_path / changed).write_text("2")
        assert changed in dirt(tmp_path)


@pytest.mark.parametrize(("more", "code"), [
    ({}, 0), ({"result": STUCK}, 1), ({"result": LOST}, 1), ({"result": PERSON}, 1), ({"void": True}, 1),
    ({"result": STUCK, "digest": "before"}, 0), ({"expected": OPEN, "result": OPEN}, 0), ({"expected": OPEN, "result": STUCK}, 1),
    ({"interrupted": False, "result": STUCK}, 1),
])  # fmt: skip
def test_the_table_alone_is_no_success_where_a_case_on_record_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: dict[str, Any], code: int
) -> None:
    monkeypatch.setattr(command, "digest", lambda: "now")
    monkeypatch.setattr(command, "generators", lambda: ["it"])
    monkeypatch.setattr(command, "dirt", lambda: "")
    monkeypatch.setattr(command, "say", lambda text: None)
    add(record(**more), tmp_path / "record")
    monkeypatch.setattr("sys.argv", ["tests.kills", "--table", "--record", str(tmp_path / "record")])
    assert command.main() == code
    monkeypatch.setattr(command, "dirt", lambda: " M raidplan/x.py")
    assert command.main() == 1
