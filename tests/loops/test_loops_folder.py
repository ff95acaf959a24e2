"""The folder and its record: whom it trusts, what it refuses."""

import json
import os

import pytest

from raidplan.twin.loops import LoopsRefused, down, up
from raidplan.twin.loops.record import from_text, to_text


@pytest.fixture
def as_root(monkeypatch):
    """Rights do not matter here, and no loop device is ever made."""
    monkeypatch.setattr("raidplan.twin.loops.making._cannot", lambda record: iter(()))


def test_the_record_comes_back_as_it_was(wanted):
    assert from_text(to_text(wanted("d0", "d1"))) == wanted("d0", "d1")


@pytest.mark.parametrize(
    "change",
    [
        {"format_version": 2},
        {"host": "../x"},
        {"host": 5},
        {"files": [{"disk": "../../etc/passwd", "size": 1, "sector": 512, "inode": 1}]},
        {"files": [{"disk": ".", "size": 1, "sector": 512, "inode": 1}]},
        {"files": [{"disk": "d0", "size": "many", "sector": 512, "inode": 1}]},
        {"files": [{"disk": "d0", "size": 1, "sector": 512}]},
        {"files": 3},
        {"scale": None},
    ],
)
def test_a_damaged_record_is_refused(tmp_path, wanted, change):
    record = json.loads(to_text(wanted("d0"))) | change
    (tmp_path / "loops.json").write_text(json.dumps(record))
    with pytest.raises(LoopsRefused, match="cannot be read as a record of ours"):
        down(tmp_path)
    assert (tmp_path / "loops.json").exists()


@pytest.mark.parametrize("text", [b"", b"null", b"[]", b"\xff\xfe", b"{", b"[" * 100_000])
def test_a_broken_record_is_refused(tmp_path, text):
    (tmp_path / "loops.json").write_bytes(text)
    with pytest.raises(LoopsRefused, match="cannot be read as a record of ours"):
        down(tmp_path)


def test_a_record_that_is_a_fifo_or_a_link_is_refused(tmp_path):
    os.mkfifo(tmp_path / "loops.json")
    with pytest.raises(LoopsRefused):
        down(tmp_path)
    (tmp_path / "loops.json").unlink()
    (tmp_path / "loops.json").symlink_to("/etc/passwd")
    with pytest.raises(LoopsRefused):
        down(tmp_path)


def test_a_folder_that_is_not_ours(tmp_path, wanted, as_root):
    (tmp_path / "letters").write_text("x")
    with pytest.raises(LoopsRefused, match=str(tmp_path)):
        up(wanted("d0"), tmp_path)
    gone = down(tmp_path)
    assert [left.partition(" ")[0] for left in gone.left] == [str(tmp_path)]
    assert os.listdir(tmp_path) == ["letters"]


def test_a_file_or_a_link_in_place_of_the_folder(tmp_path, wanted, as_root):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    for name in ("file", "link"):
        for act in (lambda path: up(wanted("d0"), path), down):
            with pytest.raises(LoopsRefused, match="is not a folder of our own"):
                act(tmp_path / name)
    assert os.listdir(tmp_path / "folder") == []


def test_a_folder_that_others_may_write_to(tmp_path, wanted, as_root):
    tmp_path.chmod(0o777)
    with pytest.raises(LoopsRefused, match="others may write"):
        up(wanted("d0"), tmp_path)
    with pytest.raises(LoopsRefused, match="others may write"):
        down(tmp_path)


def test_no_folder_to_make_it_in(tmp_path, wanted, as_root):
    with pytest.raises(LoopsRefused, match="No such file or directory"):
        up(wanted("d0"), tmp_path / "a/b")


def test_not_root(tmp_path, wanted, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(LoopsRefused, match="not root"):
        up(wanted("d0"), tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_every_reason_is_given(tmp_path, wanted):
    with pytest.raises(LoopsRefused) as no:
        up(wanted("d0", "d1", sector=8192), tmp_path / "x")
    assert [reason for reason in no.value.reasons if "sectors of 8192 B" in reason] == list(no.value.reasons)[
        -2:
    ]
    with pytest.raises(LoopsRefused, match="uses no disks"):
        up(wanted(), tmp_path / "x")


def test_nothing_there(tmp_path):
    assert down(tmp_path / "x").folder_removed
