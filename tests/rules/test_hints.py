"""Every hint is safe to follow: its finding is gone afterwards, and none that is as grave has come in its place.

What a program cannot do is a decision, and its sentence begins with that.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from raidplan.review.pipeline import check
from raidplan.rules import CATALOGUE, Rule
from tests.conftest import COUNTED
from tests.examples import EXAMPLES
from tests.rules.drawn import drawn
from tests.rules.hints import failed_hints
from tests.rules.stages import of_a_page, whole

DECISIONS = Path(__file__).with_name("decisions.txt")


def plain(file: Path) -> dict[str, object] | None:
    """The layout of a file as plain values, ranges written out; None for what is no layout."""
    loaded = check(str(file))
    found = loaded.document.root.plain() if loaded.document else None
    return found if isinstance(found, dict) and loaded.layout is not None else None


@pytest.mark.parametrize("each", CATALOGUE.values(), ids=CATALOGUE)
def test_the_hints_of_a_bad_example_can_be_followed(each: Rule, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(whole(each.bad))
    layout = plain(file)
    assert layout is None or failed_hints(layout, tmp_path) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_the_hints_of_an_example_can_be_followed(example: Path, tmp_path: Path) -> None:
    layout = plain(example)
    assert layout is not None and failed_hints(layout, tmp_path) == []


def test_the_hints_of_layouts_drawn_at_random_can_be_followed(
    dice: Random | None, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """With --long 4,000 of them, always the same."""
    seeds = range(4000) if dice is None else [dice.randrange(10**9) for _ in range(50)]
    faults = {seed: failed for seed in seeds if (failed := failed_hints(drawn(Random(seed)), tmp_path))}
    record_property(f"{COUNTED}layouts whose hints were followed", len(seeds))
    assert faults == {}


@pytest.mark.parametrize(
    "seed",
    [
        577374607,
        573587572,
        684061712,
        269558444,
        399809391,
        499814971,
        931073330,
        755809880,
        209509387,
        398800244,
    ],
)
def test_hints_that_led_into_another_finding_once_can_be_followed(seed: int, tmp_path: Path) -> None:
    """A raid6 of two members was thought to survive the loss of both; a larger member is not rebuilt in a day; a raid0 whose
    members were equal is not, when one of them alone leaves room at the end of its disks; a disk
    without identity took another's place; and what was said of two arrays is not new where it is said of one;
    fewer members behind a multiplier were called an even load while another had none; a member left a controller, and its
    room there made a note of another rule a warning; ext3 has no use for a larger member; without its journal an array
    hid no longer what was wrong with another; two of three members stayed behind a multiplier that had all."""
    assert failed_hints(drawn(Random(seed)), tmp_path) == []


def test_what_is_left_to_a_person_begins_with_the_decision(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each rule whose bad example has no edit, and what it asks; every sentence begins with a verb, or asks."""
    left = dict[str, str]()
    for name, each in CATALOGUE.items():
        found = (item.finding for item in of_a_page(name, each.bad, tmp_path).findings)
        finding = next(finding for finding in found if finding.rule == name)
        if not finding.edits:
            left[name] = finding.hint
    assert {hint.split()[0] for hint in left.values()} <= VERBS | {"did"}, left
    text = "".join(f"{name}: {hint}\n" for name, hint in sorted(left.items()))
    if request.config.getoption("--update-golden"):
        DECISIONS.write_text(text)
    assert text == DECISIONS.read_text()


VERBS = frozenset(
    ("add", "ask", "boot", "change", "choose", "connect", "correct", "count", "decide", "describe", "exchange", "feed",
     "give", "have", "keep", "leave", "let", "list", "look", "make", "mark", "mend", "mix", "move", "name", "plug", "put",
     "raise", "remove", "replace", "run", "scrub", "shorten", "spread", "stagger", "switch", "take", "use", "write")
)  # fmt: skip
"""Verbs that tell a person what to decide or to do."""
