"""The journal: what it says after a kill, and what it refuses to believe."""

from __future__ import annotations

import json
import os
import resource
import signal
from pathlib import Path
from threading import Thread
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.apply.journal.journal import BrokenJournal, Journal, open_journal, read_past
from raidplan.apply.journal.lock import Held, only_one
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.records import past_of
from raidplan.apply.session import not_closed
from raidplan.apply.world import World


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """An interrupted run: a was ended, b begun, c refused by its guard."""
    journal = open_journal(tmp_path / "state", World())
    journal.begin("{}", "sha256:plan")
    journal.record_intent("a")
    journal.record_end("a", 1.0, "array:1")
    journal.record_intent("b")
    journal.record_refusal("c", "not blank")
    return journal


def test_what_was_begun_and_what_ended(journal: Journal) -> None:
    past = read_past(journal.folder)
    assert past.is_open and past.plan_digest == "sha256:plan"
    assert (past.begun, past.ended, past.made) == ({"b"}, {"a"}, {"array:1"})


def test_a_step_that_found_erased_flash(journal: Journal) -> None:
    """As long as the run is open, also of a step that ended, or was begun again where the samples were written over."""
    journal.record_intent("d", erased=True)
    journal.record_end("d", 1.0)
    journal.record_intent("e", erased=True)
    assert read_past(journal.folder).erased == {"d", "e"}
    journal.record_intent("e")
    assert read_past(journal.folder).erased == {"d", "e"}
    journal.close()
    journal.begin("{}", "sha256:later")
    assert read_past(journal.folder).erased == set()


def test_a_step_that_failed_has_an_unknown_end(journal: Journal) -> None:
    journal.record_failure("b", "mkfs ended with 1")
    assert "b" in read_past(journal.folder).begun
    journal.record_intent("b")
    journal.record_end("b", 2.0)
    assert read_past(journal.folder).begun == set()


def test_a_step_that_was_cut_off_stays_so_when_its_guard_refuses_it(journal: Journal) -> None:
    """Nothing was done this time; what it left the time before is still there, and still known as ours."""
    journal.record_refusal("b", "it is busy")
    assert read_past(journal.folder).begun == {"b"}


def test_an_undo_brings_back_the_settings_that_the_run_took_back(journal: Journal) -> None:
    journal.record_intent("config.degraded")
    journal.record_end("config.degraded", 1.0)
    journal.close()
    journal.begin("{}", "sha256:later")
    journal.record_intent("back.degraded")
    journal.record_end("back.degraded", 1.0)
    assert "config.degraded" not in read_past(journal.folder).finished
    journal.begin_undo()
    journal.record_restore("d0")
    assert read_past(journal.folder).restored == {"d0"}
    journal.end_undo()
    past = read_past(journal.folder)
    assert "config.degraded" in past.finished and not past.restored


def test_a_record_that_is_there_in_part_announces_nothing(journal: Journal) -> None:
    """The kernel takes what still has room, and says no to the rest only."""
    before = read_past(journal.folder)
    ours = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (journal.file.stat().st_size + 20, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            journal.record_intent("d")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ours)
    with pytest.raises(OSError, match="File too large"):
        journal.record_end("b", 1.0)
    assert read_past(journal.folder) == before


def test_what_was_made_outlives_the_run(journal: Journal) -> None:
    journal.close()
    past = read_past(journal.folder)
    assert (past.is_open, past.begun, past.ended) == (False, frozenset(), frozenset())
    assert past.made == {"array:1"} and past.run == ("a", "b"), "an undo has to know what was begun"
    journal.record_adoption("filesystem.data.make", "filesystem:2")
    assert read_past(journal.folder).made == {"array:1", "filesystem:2"}


def test_it_goes_on_where_it_was(journal: Journal) -> None:
    again = open_journal(journal.folder, World())
    again.begin("{}", "sha256:plan")
    again.record_intent("d")
    past = read_past(journal.folder)
    assert past.begun == {"b", "d"} and past.ended == {"a"}
    numbers = [json.loads(line)["number"] for line in journal.file.read_text().splitlines()]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize(
    "tail", [b'{"number": 7, "bef', b"\0" * 4096, b'{"number": 7}', b"\0" * 512 + b'"step": "c"}\n', b"\n"]
)
def test_a_torn_last_line_is_cut_off(journal: Journal, tail: bytes) -> None:
    before = read_past(journal.folder)
    with journal.file.open("ab") as opened:
        opened.write(tail)
    assert read_past(journal.folder) == before
    again = open_journal(journal.folder, World())
    again.record_intent("e")
    assert read_past(journal.folder).begun == {"b", "e"}


@given(st.data())
def test_no_line_can_be_changed_moved_or_left_out(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        journal = open_journal(Path(folder) / "state", World())
        journal.begin("{}", "sha256:plan")
        for step in ("a", "b", "c"):
            journal.record_intent(step)
            journal.record_end(step, 0.0)
        lines = journal.file.read_bytes().splitlines(keepends=True)
        # The last line has no follower whose hash would tell; cutting it off claims less, never more.
        at = data.draw(st.integers(0, len(lines) - 2))
        match data.draw(st.sampled_from(["change", "remove", "double", "swap"])):
            case "change":
                place = data.draw(st.integers(0, len(lines[at]) - 2))
                byte = data.draw(st.integers(0, 255).filter(lambda b: b != lines[at][place]))
                lines[at] = lines[at][:place] + bytes([byte]) + lines[at][place + 1 :]
            case "remove":
                del lines[at]
            case "double":
                lines.insert(at, lines[at])
            case "swap":
                lines[at], lines[at + 1] = lines[at + 1], lines[at]
        journal.file.write_bytes(b"".join(lines))
        with pytest.raises(BrokenJournal, match=r"journal-unusable (line|later) "):
            read_past(journal.folder)


def test_nothing_but_a_file_of_our_own_is_read(journal: Journal, tmp_path: Path) -> None:
    saved = journal.file.read_bytes()
    journal.file.chmod(0o666)
    with pytest.raises(BrokenJournal, match="file-of-others"):
        read_past(journal.folder)
    journal.file.unlink()
    os.mkfifo(journal.file)
    with pytest.raises(BrokenJournal, match="file-of-others"):
        read_past(journal.folder)
    journal.file.unlink()
    journal.file.mkdir(mode=0o700)
    with pytest.raises(BrokenJournal, match="file-of-others"):
        read_past(journal.folder)
    journal.file.rmdir()
    (tmp_path / "elsewhere").write_bytes(saved)
    journal.file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BrokenJournal, match="journal-unusable unopened"):
        read_past(journal.folder)
    journal.folder.chmod(0o777)
    with pytest.raises(BrokenJournal, match="folder-of-others"):
        open_journal(journal.folder, World())


def test_without_one_there_is_no_past(tmp_path: Path) -> None:
    assert read_past(tmp_path / "state") == Past()
    assert past_of([]) == Past()


def test_nobody_else_reads_it(journal: Journal) -> None:
    assert journal.folder.stat().st_mode & 0o777 == 0o700
    assert journal.file.stat().st_mode & 0o777 == 0o600
    assert (journal.folder / "plan.json").stat().st_mode & 0o777 == 0o600


def test_steps_that_run_side_by_side_are_written_one_after_the_other(tmp_path: Path) -> None:
    class Slow(World):
        def append(self, file: Path, data: bytes) -> None:
            sleep(0.001)  # others come to it meanwhile
            super().append(file, data)

    journal = open_journal(tmp_path / "state", Slow())
    journal.begin("{}", "sha256:plan")

    def work(name: str) -> None:
        for number in range(5):
            journal.record_intent(f"{name}{number}")
            journal.record_end(f"{name}{number}", 0.0)

    threads = [Thread(target=work, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    past = read_past(journal.folder)
    assert len(past.ended) == 40 and not past.begun


def test_two_applies_never_interleave(tmp_path: Path) -> None:
    file = str(tmp_path / "lock")
    with only_one(file), pytest.raises(Held, match=r"^locked  "), only_one(file):
        pass
    with only_one(file):
        pass  # gone with the first


def test_a_program_that_outlives_us_keeps_the_lock(tmp_path: Path) -> None:
    file = str(tmp_path / "lock")
    killed = os.fork()
    if killed == 0:
        with only_one(file) as lock:
            waits = f"touch {file}.on; until [ -e {file}.off ]; do sleep 0.1; done"
            Thread(target=lambda: World([lock]).run(["sh", "-c", waits])).start()
            while not Path(f"{file}.on").exists():
                sleep(0.01)
            os._exit(9)
    os.waitpid(killed, 0)
    with pytest.raises(Held, match=r"^locked  "), only_one(file):
        pass
    Path(f"{file}.off").touch()
    for _ in range(100):
        try:
            with only_one(file):
                return
        except Held:
            sleep(0.1)
    raise AssertionError("the lock was never let go")


def test_a_journal_that_cannot_be_closed_says_so(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal.world, "append", full)
    (reason,) = not_closed(journal)
    assert (reason.code, reason.case, reason.place) == ("not-as-planned", "journal", str(journal.file))
    assert reason.figures == {"error": "No space left on device"}
    assert read_past(journal.folder).is_open


def test_the_step_that_was_begun_last_stands_last(journal: Journal) -> None:
    """What is on a device is of the last of those that were begun on it."""
    for step in ("e", "f", "e"):
        journal.record_intent(step)
    assert [*read_past(journal.folder).plans] == ["b", "f", "e"]
