"""`mdadm --assemble --scan` starts arrays that no line names only until it has started one that a line names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.past import Past
from raidplan.apply.note import Note
from raidplan.base.identity import md_form
from raidplan.facts.machine import Properties
from raidplan.render.note_words import note_text
from tests.apply.earlier import plan_of
from tests.apply.others import ARRAY
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated, State

__all__ = ["impatient"]

CONF = "etc/mdadm/mdadm.conf"
OTHER = "0d0e0a0d-1111-4222-8333-123456789abc"
THEIRS: Properties = {
    "name": "lab:x",
    "node": "/dev/md127",
    "device": "md127",
    "links": ["x"],
    "level": "raid1",
}
OLD: Properties = {"name": "", "node": "/dev/md7", "device": "md7", "links": [], "level": "raid1"}
MEMBERS = f"ARRAY /dev/md99 UUID={md_form(ARRAY)}"
"""The line for the array that simulated machines have."""


def notes(tmp_path: Path, found: Properties, conf: str = "", file: str = CONF) -> list[Note]:
    plan, root, state = plan_of(tmp_path / "plan"), tmp_path / "root", State()
    (root / file).parent.mkdir(parents=True)
    (root / file).write_text(conf)
    state.objects["array"] = {OTHER: found}
    decision = decide(plan, Simulated(plan, root, state).read(plan), Past(), here=False)
    return [each for each in decision.notes if each.code == "not-scanned"]


@pytest.mark.parametrize("conf", ["", "# ARRAY /dev/md/x\n", "ARRAY <ignore> UUID=1:2:3:4\n"])
@pytest.mark.parametrize(("found", "name"), [(THEIRS, "/dev/md/x"), (OLD, "/dev/md7")])
def test_arrays_of_others_beside_the_first_line(
    found: Properties, name: str, conf: str, tmp_path: Path
) -> None:
    (note,) = notes(tmp_path, found, conf)
    line = f"ARRAY {name} UUID={md_form(OTHER)}"
    assert note.figures == {"arrays": ("/dev/md99", name), "lines": (MEMBERS, line)}
    assert line in note_text(note)


@pytest.mark.parametrize("file", [CONF, f"{CONF}.d/theirs.conf"])
def test_a_list_of_others_had_the_same_effect_before(file: str, tmp_path: Path) -> None:
    assert notes(tmp_path, THEIRS, "ARRAY /dev/md/usb UUID=1:2:3:4\n", file) == []


def test_once_our_line_is_there_nothing_changes_any_more(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "plan")
    world = Simulated(plan, tmp_path / "root", machine(tmp_path / "root"))
    assert apply(plan, world) == "done"
    decision = decide(plan, world.read(plan), Past(), here=False)
    assert all(each.code != "not-scanned" for each in decision.notes)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("lab:x", "/dev/md/lab:x"),
        ("pair:x", "/dev/md/x"),
        ("x", "/dev/md/x_0"),
        ("lab:a b", ""),
        ("", ""),
    ],
)
def test_an_array_that_does_not_run_has_the_name_that_a_boot_gives_to_it(
    label: str, name: str, tmp_path: Path
) -> None:
    plan = plan_of(tmp_path / "plan")
    there = Simulated(plan, tmp_path / "root", State()).read(plan)
    objects = {**there.objects, "array": {}}
    disks = tuple(
        replace(disk, traces=tuple(replace(trace, label=label) for trace in disk.traces))
        for disk in there.disks
    )
    stopped = replace(there, disks=disks, objects=objects)
    (note,) = (n for n in decide(plan, stopped, Past(), here=False).notes if n.code == "not-scanned")
    assert note.figures["lines"] == (f"ARRAY {name}{' ' if name else ''}UUID={md_form(ARRAY)}",)
