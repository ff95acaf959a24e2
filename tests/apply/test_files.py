"""Configuration files keep every byte that is not ours."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.apply.configuration.blocks import BrokenBlock, sections, wanted_text
from raidplan.apply.configuration.conflicts import conflicting
from raidplan.apply.configuration.files import KEPT
from raidplan.apply.configuration.files import write as write_in
from raidplan.apply.world import World
from raidplan.facts import Machine
from raidplan.plan.step import Plan, Step, WriteBlock, WriteFile


def write(action: WriteBlock | WriteFile) -> bool:
    return write_in(action, World())


FSTAB = "# my own\nUUID=1 / ext4 defaults 0 1\n"
BLOCK = "# >>> raidplan jbod\nUUID=2 /data xfs defaults 0 0\n# <<< raidplan jbod\n"
ENTRY = "UUID=2 /data xfs defaults 0 0\n"

LINES = st.lists(
    st.text(
        alphabet=st.characters(codec="utf-8", exclude_characters="\n"),
        max_size=20,
    ),
    max_size=8,
)


def block(file: str = "/etc/fstab", content: str = ENTRY, *, at_top: bool = False) -> WriteBlock:
    return WriteBlock(file, content, "jbod", at_top)


def test_appends_to_what_is_there() -> None:
    assert wanted_text(block(), FSTAB) == FSTAB + BLOCK


def test_ends_an_unfinished_line_first() -> None:
    assert wanted_text(block(), "UUID=1 / ext4") == "UUID=1 / ext4\n" + BLOCK


def test_puts_it_first_where_the_first_line_wins() -> None:
    assert wanted_text(block(at_top=True), FSTAB) == BLOCK + FSTAB


def test_replaces_the_block_where_it_stands() -> None:
    old = "a\n# >>> raidplan jbod\nold\n# <<< raidplan jbod\nb"
    assert wanted_text(block(), old) == "a\n" + BLOCK + "b"


def test_leaves_the_block_of_another_host_alone() -> None:
    other = BLOCK.replace("jbod", "other")
    assert wanted_text(block(), other) == other + BLOCK


@pytest.mark.parametrize(
    "text",
    [
        "# >>> raidplan jbod\nno end\n",
        "# <<< raidplan jbod\n",
        "# <<< raidplan jbod\n# >>> raidplan jbod\n",
        BLOCK + BLOCK,
    ],
)
def test_refuses_marks_that_make_no_block(text: str) -> None:
    with pytest.raises(BrokenBlock, match="block-damaged"):
        wanted_text(block(), text)


@given(LINES, LINES, st.booleans())
def test_everything_outside_is_kept(before: list[str], after: list[str], at_top: bool) -> None:
    text = "".join(line + "\n" for line in before) + BLOCK + "\n".join(after)
    action = block(content="new\n", at_top=at_top)
    once = wanted_text(action, text)
    assert wanted_text(action, once) == once
    assert once.replace("new\n", ENTRY, 1) == text or "new\n" in text


@given(LINES, st.booleans())
def test_writing_twice_is_writing_once(lines: list[str], at_top: bool) -> None:
    once = wanted_text(block(at_top=at_top), "\n".join(lines))
    assert wanted_text(block(at_top=at_top), once) == once


def test_the_lines_of_others_keep_their_numbers() -> None:
    found = sections("a\n" + BLOCK + "b\n", "jbod")
    assert found.others == [(1, "a"), (5, "b")]
    assert (found.inside, found.behind) == ([(3, ENTRY[:-1])], [(5, "b")])


def test_write_keeps_mode_and_the_earlier_version(tmp_path: Path) -> None:
    file = tmp_path / "fstab"
    file.write_text(FSTAB)
    file.chmod(0o600)
    assert write(block(str(file)))
    assert file.read_text() == FSTAB + BLOCK
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / f"fstab{KEPT}").read_text() == FSTAB
    assert not write(block(str(file))), "the second time there is nothing to do"
    assert (tmp_path / f"fstab{KEPT}").read_text() == FSTAB


def test_write_keeps_bytes_that_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "fstab"
    file.write_bytes(b"caf\xe9\r\n\xff")
    write(block(str(file)))
    assert file.read_bytes() == b"caf\xe9\r\n\xff\n" + BLOCK.encode()


def test_write_goes_through_a_link_to_the_file_itself(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("x\n")
    link.symlink_to(real)
    write(block(str(link)))
    assert link.is_symlink() and real.read_text() == "x\n" + BLOCK


def test_a_file_of_our_own_is_made_with_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "new" / "rules"
    assert write(WriteFile(str(file), "x\n", 0o640))
    assert file.read_text() == "x\n" and file.stat().st_mode & 0o777 == 0o640
    assert sorted(entry.name for entry in file.parent.iterdir()) == ["rules"]


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\r"])
def test_a_line_ends_where_it_ends_for_the_programs_that_read_it(end: str) -> None:
    text = f"# was:{end}/dev/sdb1 /data ext4\n# >>> raidplan jbod{end}\nUUID=1 / ext4\n"
    assert [line for _, line in sections(text, "other").others] == text.split("\n")[:-1]
    machine = Machine(
        objects={"file": {"/etc/fstab": {"size": 9, "content": f"# was:{end}/dev/sdb1 /data ext4\n"}}}
    )
    step = Step("config.fstab", "configure", "", block(), "filesystems", targets=("/etc/fstab",))
    plan = Plan("jbod", "", "", (), (step,))
    assert not list(conflicting(plan, machine))


def test_what_a_full_disk_took_of_a_file_is_given_back(tmp_path: Path) -> None:
    file = tmp_path / "fstab"
    file.write_text(FSTAB)
    ours = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(FSTAB) + 10, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write(block(str(file)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ours)
    assert file.read_text() == FSTAB
    assert sorted(each.name for each in tmp_path.iterdir()) == ["fstab", f"fstab{KEPT}"]
