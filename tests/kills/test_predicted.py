"""What is predicted of a case before it is run."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from pathlib import Path
from random import Random

import pytest
import yaml

from raidplan.review import pipeline
from tests.guest_of_kills import JOURNAL, LAYOUT
from tests.kills import in_guest
from tests.kills.adversity import CONVERGED, OPEN, PERSON, Adversity
from tests.kills.family import DISKS, Drawn, draw
from tests.kills.predicted import STAY, foreseeable, predicted, targets, users_of

pytestmark = pytest.mark.in_turn(10)

DRAWS = range(100)
MOVES = next(seed for seed in DRAWS if Random(f"stays {seed}").random() >= STAY)


def _plan(folder: Path, text: str) -> list[str]:
    """The ids of its steps."""
    file = folder / "layout.yaml"
    file.write_text(text)
    plan, _ = pipeline.plan(pipeline.check(str(file)))
    assert plan
    return [step.id for step in plan.steps]


def pulled(
    share: float, disk: int, level: str = "raid1", kind: str = "fresh", spare: str = "", old: str = ""
) -> str:
    text = LAYOUT.replace("LEVEL", level).replace("SPARE", spare)
    return predicted(Drawn(1, kind, text, old=old), Adversity("disk pulled", share, disk=disk), JOURNAL)


def test_whether_a_pulled_disk_needs_a_person_is_said_before_the_run() -> None:
    assert pulled(0.1, 0) == CONVERGED, "nothing is made of it yet"
    assert pulled(0.9, 0) == PERSON, "a member of an array that is in use"
    assert pulled(0.45, 0) == OPEN, "a second decides"
    assert (pulled(12 / 42, 0), pulled(26 / 42, 0)) == (OPEN, OPEN), (
        "steps that run side by side may come in another order"
    )
    assert pulled(0.9, 0, level="raid0") == OPEN, "what is on it may be damaged, and a person has to look"
    assert pulled(0.9, 2, spare=", spares: [k2.a]") == OPEN and pulled(0.9, 2) == OPEN
    assert {pulled(share, 3) for share in (0.1, 0.5, 0.9)} == {CONVERGED}, "of no use to the layout"
    assert pulled(0.1, 0, kind="change") == PERSON, "the array is there from the beginning"
    assert (pulled(0.1, 2, kind="change"), pulled(0.1, 3, kind="change")) == (OPEN, CONVERGED)
    assert (pulled(0.1, 0, old="LVM", kind="wipe"), pulled(0.1, 3, old="LVM", kind="wipe")) == (
        OPEN,
        CONVERGED,
    )


@pytest.mark.parametrize(
    ("share", "disk", "kind", "old", "instead"),
    [
        (0.1, 0, "fresh", "", (0.1, 0, CONVERGED)),
        (0.45, 0, "fresh", "", (0.72, 0, PERSON)),
        (0.45, 2, "fresh", "", (0.32, 2, CONVERGED)),
        (0.1, 2, "change", "", (0.1, 0, PERSON)),
        (0.1, 2, "wipe", "partitions", (0.1, 2, CONVERGED)),
        (0.1, 0, "wipe", "LVM", (0.72, 0, PERSON)),
    ],
)
def test_a_pull_whose_end_a_second_decides_is_another_one(
    share: float, disk: int, kind: str, old: str, instead: tuple[float, int, str]
) -> None:
    drawn = Drawn(1, kind, LAYOUT.replace("LEVEL", "raid1").replace("SPARE", ""), old=old)
    found = foreseeable(drawn, Adversity("disk pulled", share, disk=disk, draw=MOVES), JOURNAL)
    assert (found.share, found.disk, predicted(drawn, found, JOURNAL)) == instead


@pytest.mark.parametrize(("share", "disk", "kind", "most"), [
    (0.45, 0, "fresh", True), (0.45, 2, "fresh", True), (0.45, 0, "change", False), (0.1, 2, "change", False),
])  # fmt: skip
def test_most_pulls_stay_in_the_window_in_which_something_is_made_of_the_disk(
    share: float, disk: int, kind: str, most: bool
) -> None:
    drawn = Drawn(1, kind, LAYOUT.replace("LEVEL", "raid1").replace("SPARE", ""))
    pulls = [Adversity("disk pulled", share, disk=disk, draw=seed) for seed in DRAWS]
    stay = [each for each in pulls if predicted(drawn, foreseeable(drawn, each, JOURNAL), JOURNAL) == OPEN]
    assert len(stay) > 55 if most else not stay
    assert all(foreseeable(drawn, each, JOURNAL) == each for each in stay)


def test_a_storm_is_in_place_of_a_pull_of_which_nothing_can_be_said() -> None:
    pull = Adversity("disk pulled", 0.5)
    text = LAYOUT.replace("LEVEL", "raid0").replace("SPARE", "")
    drawn = Drawn(1, "change", text)
    assert foreseeable(drawn, pull, JOURNAL) == replace(pull, disk=3)
    everywhere = replace(drawn, text=text.replace("k1.a", "k1.a, k2.a, k3.a"))
    assert foreseeable(everywhere, pull, JOURNAL) == replace(pull, kind="udev storm")


def test_the_end_of_every_random_pull_is_said_before_the_run(tmp_path: Path, dice: Random | None) -> None:
    """With a journal that has the steps in the order of the plan, as that of an apply has them but for what runs side by side."""
    for drawn in map(draw, range(40) if dice is None else dice.sample(range(10**6), 6)):
        steps = [
            step
            for step in _plan(tmp_path, drawn.text)
            if drawn.kind != "change" or step.startswith("config")
        ]
        journal = [(kind, step) for step in steps for kind in ("intent", "ended")]
        for disk in range(DISKS):
            adversity = foreseeable(drawn, Adversity("disk pulled", 0.5, disk=disk, draw=MOVES), journal)
            assert predicted(drawn, adversity, journal) != OPEN, drawn.text


def test_a_held_sync_meets_no_change_of_the_bitmap() -> None:
    """apply refuses that, rightly: it is no case."""
    changed = [drawn for drawn in map(draw, range(300)) if drawn.kind == "change"]
    bitmaps = {True: 0, False: 0}
    for drawn in changed:
        before, after = (yaml.safe_load(text)["arrays"] for text in (drawn.before, drawn.text))
        for name, array in before.items():
            other = array.get("bitmap") != after[name].get("bitmap")
            bitmaps[other] += 1
            assert not (other and array["initial_sync"] != "run")
    assert all(bitmaps.values())


def test_a_run_that_ended_before_is_not_the_end_of_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(in_guest, "closed", lambda case: True)
    monkeypatch.setattr(in_guest, "OVER", str(tmp_path / "over"))
    found = {}
    for records in (12, 13):
        monkeypatch.setattr(in_guest, "progress", lambda case, records=records: records)
        found[records] = in_guest.over({"first": 12})
    assert found == {12: False, 13: True}
    (tmp_path / "over").touch()
    monkeypatch.setattr(in_guest, "closed", lambda case: False)
    assert in_guest.over({"first": 13}), "it ended without success"


def test_a_pull_at_the_last_record_meets_arrays_in_use() -> None:
    """Then only the machine is read again, whatever the order of the steps was."""
    last = [*JOURNAL[: JOURNAL.index(("ended", "filesystem.top.mount")) + 1], ("close", "")]
    drawn = Drawn(1, "fresh", LAYOUT.replace("LEVEL", "raid1").replace("SPARE", ""))
    found = foreseeable(drawn, Adversity("disk pulled", 0.7), last)
    assert ceil(found.share * len(last)) == len(last) - 1 and predicted(drawn, found, last) == PERSON


def test_the_steps_of_the_prediction_are_those_of_the_plan(tmp_path: Path) -> None:
    """Else each case of a pulled disk were predicted to converge."""
    for drawn in map(draw, range(12)):
        ids, layout = {*_plan(tmp_path, drawn.text)}, yaml.safe_load(drawn.text)
        used = [
            step for name in layout["arrays"] for step in (f"array.{name}.create", *users_of(layout, name))
        ]
        assert {step for step, _ in targets(layout)} | {*used} <= ids
