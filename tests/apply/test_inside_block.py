"""What somebody wrote into our block of a file that others write too, or behind it: it does not go with the block unsaid,
nor is a block that counts for less taken for one that is as planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.refusal import Refusal
from tests.apply.earlier import plan_of, set_to, standing
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated

__all__ = ["impatient"]

LINES = {
    "etc/fstab": "UUID=77 /srv/mine ext4 defaults 0 2\n",
    "etc/mdadm/mdadm.conf": "ARRAY /dev/md/mine UUID=1:2:3:4\n",
}


def reasons(world: Simulated) -> tuple[Refusal, ...]:
    past = read_past(world.root / "var/lib/raidplan")
    return decide(world.plan, world.read(world.plan), past, here=False).refusals


def less(data: dict) -> None:  # type: ignore[type-arg]
    set_to("filesystems", "home", None)(data)
    set_to("swap", "f", None)(data)
    set_to("monitoring", "mail", "you@example.org")(data)


@pytest.mark.parametrize("file", LINES)
def test_a_line_of_no_layout_is_refused_with_its_number(file: str, tmp_path: Path) -> None:
    state, path = standing(tmp_path, tmp_path / "root"), tmp_path / "root" / file
    ours = path.read_text()
    path.write_text(ours.replace("# <<< raidplan", LINES[file] + "# <<< raidplan"))
    number = path.read_text().splitlines().index(LINES[file].rstrip()) + 1
    world = Simulated(plan_of(tmp_path), tmp_path / "root", state)
    (reason,) = reasons(world)
    found = (reason.code, reason.place, reason.figures["number"])
    assert found == ("foreign-lines", f"/{file}", number)
    assert apply(world.plan, world) != "done" and not world.effects
    path.write_text(ours)
    later = plan_of(tmp_path, less)
    assert apply(later, Simulated(later, tmp_path / "root", state)) == "done", "lines of an earlier layout go"


WORDS = {
    "a program for alarms": ("etc/mdadm/mdadm.conf", "PROGRAM /usr/local/sbin/page-me"),
    "a sender": ("etc/mdadm/mdadm.conf", "MAILFROM raid@example.org"),
    "an array without a name": ("etc/mdadm/mdadm.conf", "ARRAY devices=/dev/sda1,/dev/sdb1"),
    "an array that is ignored": ("etc/mdadm/mdadm.conf", "ARRAY <ignore> metadata=1.2"),
    "owners": ("etc/mdadm/mdadm.conf", "CREATE owner=root group=backup mode=0640"),
}


@pytest.mark.parametrize("how", WORDS)
def test_a_statement_that_no_layout_gives_is_refused_with_its_number(how: str, tmp_path: Path) -> None:
    file, line = WORDS[how]
    root = tmp_path / "root"
    state, path = standing(tmp_path, root), root / file
    ours = path.read_text()
    path.write_text(ours.replace("# <<< raidplan", f"{line}\n# <<< raidplan"))
    number = path.read_text().splitlines().index(line) + 1
    later = plan_of(tmp_path, set_to("monitoring", "mail", "you@example.org"))
    world = Simulated(later, root, state)
    (reason,) = reasons(world)
    found = (reason.code, reason.place, reason.figures["number"], reason.figures["words"])
    assert found == ("foreign-lines", f"/{file}", number, line)
    path.write_text(f"{line}\n{ours}")
    assert apply(later, Simulated(later, root, state)) == "done", "outside of the block it stays"
    assert line in path.read_text()


LATER = {
    "another mount": ("etc/fstab", "/dev/sdz1 /srv/a xfs defaults 0 0", "line", {"word": "/srv/a"}),
    "another array": ("etc/mdadm/mdadm.conf", "ARRAY /dev/md/a UUID=1:2:3:4", "line", {"word": "/dev/md/a"}),
    "more of our array": ("etc/mdadm/mdadm.conf", "  devices=/dev/sdz", "indented", {}),
    "the check of cron": ("etc/default/mdadm", 'export AUTOCHECK="true" # again', "overruled", {"name": "AUTOCHECK", "value": "true", "ours": "false"}),
}  # fmt: skip


def checked(data: dict) -> None:  # type: ignore[type-arg]
    data["monitoring"] = {"mail": "root@example.org", "scrub": "monthly"}


@pytest.mark.parametrize("how", LATER)
def test_a_line_that_overrules_a_block_that_stands_is_refused_with_nothing_else_to_do(how: str, tmp_path: Path) -> None:  # fmt: skip
    file, line, case, figures = LATER[how]
    state, path = machine(tmp_path / "root"), tmp_path / "root" / file
    plan = plan_of(tmp_path, checked)
    assert apply(plan, Simulated(plan, tmp_path / "root", state)) == "done"
    ours = path.read_text()
    path.write_text(f"{ours}{line}\n")
    world = Simulated(plan, tmp_path / "root", state)
    number = len(path.read_text().splitlines())
    (reason, *_) = reasons(world)
    assert reason == Refusal("lines-conflict", case, f"/{file}", figures={"number": number, **figures})
    assert apply(plan, world) != "nothing to do" and not world.effects
    path.write_text(ours)
    assert apply(plan, world) == "nothing to do"


UNHEARD = {
    "above ours": "AUTOCHECK=true\n",
    "taken back": "{block}AUTOCHECK=true; AUTOCHECK=false\n",
    "a comment": "{block}# AUTOCHECK=true\n",
    "another word": "{block}START_DAEMON=true\nAUTOSCAN='true'\n",
}


@pytest.mark.parametrize("how", UNHEARD)
def test_words_for_the_scripts_of_mdadm_that_change_nothing_of_ours_are_no_reason(how: str, tmp_path: Path) -> None:  # fmt: skip
    plan, root = plan_of(tmp_path, checked), tmp_path / "root"
    state = machine(root)
    (root / "etc/default").mkdir()
    block = "# >>> raidplan pair\nAUTOCHECK=0\n# <<< raidplan pair\n"
    (root / "etc/default/mdadm").write_text(UNHEARD[how].format(block=block))
    assert apply(plan, Simulated(plan, root, state)) == "done"


@pytest.mark.parametrize("device", ["LABEL=before", "/dev/disk/by-label/before"])
def test_a_label_by_which_a_line_of_others_mounts_is_not_changed(device: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    state = standing(tmp_path, root)
    later = plan_of(tmp_path, set_to("filesystems", "x", "label", "after"))
    with (root / "etc/fstab").open("a") as file:
        file.write(f"{device} /srv/x xfs defaults 0 0\n")
    world = Simulated(later, root, state)
    assert ("lines-conflict", "line", device) in [
        (each.code, each.case, each.figures.get("word")) for each in reasons(world)
    ]
    assert apply(later, world) != "done" and not world.effects
