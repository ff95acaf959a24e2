"""Encryptions that leave the layout: our lines of crypttab and fstab go, also those of swap with a random key; no header is touched."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.change.remove_configuration import removals
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.plan.step import Plan
from raidplan.review import pipeline
from tests.apply.runs import FSTAB, apply, impatient, machine
from tests.apply.simulated import Simulated, State

__all__ = ["impatient"]

DISKS = """\
version: 1
host: pair
hardware:
  disks: {d0: {size: 1TB, serial: PAIR-0}, d1: {size: 1TB, serial: PAIR-1, partitions: {s: {size: 1GiB}, f: {size: rest}}}}
"""
ENCRYPTED = "encryption: {c: {device: d0, key: ask}, sw: {device: d1.s, key: random}}\n"
DATA = "data: {device: c, type: ext4, mount: /srv/data}"
OTHER = "f: {device: d1.f, type: ext4, mount: /srv/f}"
SWAP = "swap: {s: {device: sw}}\n"
BEFORE = f"{DISKS}{ENCRYPTED}filesystems: {{{DATA}, {OTHER}}}\n{SWAP}"
WITHOUT_SWAP = f"{DISKS}encryption: {{c: {{device: d0, key: ask}}}}\nfilesystems: {{{DATA}, {OTHER}}}\n"
PLAIN = f"{DISKS}filesystems: {{{OTHER}}}\n"
NOTHING = DISKS
MINE = "mine /dev/sdz none luks\n"


def planned(text: str, folder: Path) -> Plan:
    file = folder / "layout.yaml"
    file.write_text(text)
    made, loaded = pipeline.plan(pipeline.check(str(file)))
    assert made is not None, loaded.findings
    return made


@pytest.fixture
def state(tmp_path: Path) -> State:
    """The machine after the first layout was applied, on which somebody has an encryption of another kind too."""
    state, plan = machine(tmp_path), planned(BEFORE, tmp_path)
    (tmp_path / "etc/crypttab").write_text(MINE)
    assert apply(plan, Simulated(plan, tmp_path, state)) == "done"
    return state


def lines(root: Path, file: str) -> list[str]:
    """The first words of the lines of a file that are no comment."""
    return [line.split()[0] for line in (root / file).read_text().splitlines() if line[:1] != "#"]


@pytest.mark.parametrize("text", [PLAIN, NOTHING], ids=["fstab stays", "fstab goes too"])
def test_the_block_of_the_last_encryption_is_taken_out_of_crypttab(
    text: str, state: State, tmp_path: Path
) -> None:
    assert lines(tmp_path, "etc/crypttab") == ["mine", "c", "sw"]
    objects, later = deepcopy(state.objects), planned(text, tmp_path)
    world = Simulated(later, tmp_path, state)
    assert apply(later, world) == "done"
    assert (tmp_path / "etc/crypttab").read_text() == MINE
    assert {*world.executed} == {"systemctl daemon-reload"}
    assert "/dev/mapper/sw" not in lines(tmp_path, "etc/fstab")
    if text == NOTHING:
        assert (tmp_path / "etc/fstab").read_text() == FSTAB
    for kind in ("encryption", "mapping", "filesystem", "swap", "table"):
        assert state.objects[kind] == objects[kind], "nothing that holds data is touched"
    assert apply(later, Simulated(later, tmp_path, state)) == "nothing to do"


def test_the_lines_of_one_encryption_less_go(state: State, tmp_path: Path) -> None:
    later = planned(WITHOUT_SWAP, tmp_path)
    assert apply(later, Simulated(later, tmp_path, state)) == "done"
    assert lines(tmp_path, "etc/crypttab") == ["mine", "c"]
    assert "/dev/mapper/sw" not in lines(tmp_path, "etc/fstab")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("etc/fstab", "/dev/mapper/other none swap sw 0 0"),
        ("etc/fstab", "/dev/mapper/deep/sw none swap sw 0 0"),
        ("etc/fstab", "/dev/sw none swap sw 0 0"),
        ("etc/crypttab", "other /dev/sdy none luks"),
    ],
)
def test_a_line_for_an_encryption_of_others_is_still_refused(
    file: str, line: str, state: State, tmp_path: Path
) -> None:
    path = tmp_path / file
    path.write_text(path.read_text().replace("# <<< raidplan", f"{line}\n# <<< raidplan"))
    later = planned(PLAIN, tmp_path)
    past = read_past(tmp_path / "var/lib/raidplan")
    found = decide(later, Simulated(later, tmp_path, state).read(later), past, here=False).refusals
    refused: list[Refusal] = [each for each in found if each.code == "foreign-lines"]
    assert [each.place for each in refused] == [f"/{file}"]


def test_below_a_target_no_program_of_the_rescue_system_is_told(state: State, tmp_path: Path) -> None:
    later = planned(NOTHING, tmp_path)
    found = Simulated(later, tmp_path, state).read(later)
    here, below = (
        [step.id for step in removals(replace(later, target=target), found, Past())]
        for target in ("", "/mnt")
    )
    assert here == ["back.fstab", "back.fstab.reload", "back.crypttab", "back.crypttab.reload"]
    assert below == ["back.fstab", "back.crypttab"]


def test_a_damaged_block_is_refused_by_the_name_of_its_file(state: State, tmp_path: Path) -> None:
    path = tmp_path / "etc/crypttab"
    path.write_text(path.read_text().replace("# <<< raidplan pair\n", ""))
    later = planned(PLAIN, tmp_path)
    past = read_past(tmp_path / "var/lib/raidplan")
    found = decide(later, Simulated(later, tmp_path, state).read(later), past, here=False).refusals
    assert ("block-damaged", "/etc/crypttab") in [(each.code, each.place) for each in found]


def test_options_that_somebody_gave_our_line_are_not_lost_unsaid(state: State, tmp_path: Path) -> None:
    """With its TPM a server opens itself; no key of a layout says so."""
    path, plan = tmp_path / "etc/crypttab", planned(BEFORE, tmp_path)
    rows = path.read_text().splitlines()
    number = next(number for number, row in enumerate(rows, 1) if row.startswith("c "))
    rows[number - 1] += ",tpm2-device=auto,discard"
    path.write_text("".join(f"{row}\n" for row in rows))
    world = Simulated(plan, tmp_path, state)
    (found,) = decide(plan, world.read(plan), read_past(tmp_path / "var/lib/raidplan"), here=False).refusals
    assert (found.code, found.case, found.place) == ("foreign-lines", "option", "/etc/crypttab")
    assert found.figures == {"number": number, "words": "tpm2-device=auto"}
    path.write_text(path.read_text().replace("tpm2-device=auto,", ""))
    assert apply(plan, world) == "done"
    assert "discard" not in path.read_text(), "an option that a layout gives goes with the layout's"
