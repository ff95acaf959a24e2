"""Arrays of a layout that are called by a number: to mdadm, `/dev/md5`, `/dev/md/5`, `md5` and `5` are one name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.configuration.lines import compared, mdadm_conf
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.past import Past
from raidplan.facts.machine import Properties
from tests.apply.earlier import plan_of
from tests.apply.simulated import Simulated, State

CONF = "etc/mdadm/mdadm.conf"
OTHER = "0d0e0a0d-1111-4222-8333-123456789abc"


def beside(
    tmp_path: Path, name: str, found: Properties | None = None, line: str = "", file: str = CONF
) -> Decision:
    """A layout whose array has this name, beside an array of others and a line of theirs."""

    def renamed(raw: dict[str, Any]) -> None:
        raw["arrays"][name] = raw["arrays"].pop("a")
        for filesystem in raw["filesystems"].values():
            if filesystem["device"] == "a":
                filesystem["device"] = name

    plan, root, state = plan_of(tmp_path / "plan", renamed), tmp_path / "root", State()
    (root / file).parent.mkdir(parents=True)
    (root / file).write_text(line)
    state.objects["array"] = {OTHER: found} if found else {}
    return decide(plan, Simulated(plan, root, state).read(plan), Past(), here=False)


@pytest.mark.parametrize("name", ["md5", "5"])
@pytest.mark.parametrize("word", ["/dev/md5", "/dev/md/5", "/dev/md/md5", "md5", "5", "super-minor=5"])
@pytest.mark.parametrize("file", [CONF, f"{CONF}.d/theirs.conf"])
def test_a_line_of_others_with_the_same_number(name: str, word: str, file: str, tmp_path: Path) -> None:
    found = beside(tmp_path, name, line=f"ARRAY {word} UUID={OTHER}\n", file=file).refusals
    (refused,) = (each for each in found if each.code == "lines-conflict")
    assert (refused.case, refused.place) == ("line", f"/{file}")


@pytest.mark.parametrize("name", ["md5", "5"])
@pytest.mark.parametrize(
    ("stored", "device", "links"),
    [
        ("any:five", "md5", ["five"]),
        ("", "md5", ["5_0"]),
        ("", "md5", []),
        ("any:5", "md126", ["5"]),
        ("any:md5", "md126", []),
    ],
)
def test_an_array_of_others_with_the_same_number(
    name: str, stored: str, device: str, links: list[str], tmp_path: Path
) -> None:
    there = {"name": stored, "node": f"/dev/{device}", "device": device, "links": links, "level": "raid1"}
    (refused,) = beside(tmp_path, name, there).refusals
    assert (refused.code, refused.case, refused.place) == ("name-taken", "array", f"pair:{name}")


@pytest.mark.parametrize(("device", "codes"), [("md127", ["name-taken"]), ("md126", [])])
def test_a_number_that_mdadm_would_give_by_itself(device: str, codes: list[str], tmp_path: Path) -> None:
    """Where it is free, our line takes it out of the numbers from which those of others are given: that is told."""
    there = {"name": "any:x", "node": f"/dev/{device}", "device": device, "links": ["x"], "level": "raid1"}
    found = beside(tmp_path, "md127", there)
    assert [each.code for each in found.refusals] == codes
    assert "numbers-free" in [each.code for each in found.notes]


@pytest.mark.parametrize("name", ["md5", "5", "a"])
def test_other_numbers_and_names_are_free(name: str, tmp_path: Path) -> None:
    there = {"name": "any:55", "node": "/dev/md55", "device": "md55", "links": ["55"], "level": "raid1"}
    line = f"ARRAY /dev/md/55 UUID={OTHER} name=any:55\nARRAY /dev/md/md_5\n"
    assert beside(tmp_path, name, there, line).refusals == ()


@pytest.mark.parametrize("word", ["/dev/md/127", "127", "md127", "/dev/md127"])
def test_a_line_holds_a_number_however_it_is_written(word: str, tmp_path: Path) -> None:
    there = {"name": "lab:x", "node": "/dev/md127", "device": "md127", "links": ["x"], "level": "raid1"}
    found = beside(tmp_path, "a", there, f"ARRAY {word} UUID={OTHER}\n")
    assert found.refusals == () and "numbers-free" not in [each.code for each in found.notes]


def test_what_mdadm_compares() -> None:
    (keys,) = (keys for _, keys in mdadm_conf([(1, "ARRAY /dev/md/md7 name=lab:md7 UUID=1:2")]))
    assert [*map(compared, keys)] == [("name", "7"), ("name", "lab:7"), ("array", "12")]
