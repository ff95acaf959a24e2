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
from raidplan.topology import resolve
from raidplan.topology.boot_devices import starting_places
from tests.conftest import COUNTED
from tests.examples import EXAMPLES
from tests.rules.drawn import drawn
from tests.rules.hints import Layout, checked, failed_hints, findings
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


TOO_FEW = "leads to too-few-boot-loaders at "


def faults_of(layout: Layout, folder: Path) -> list[str]:
    """The hints that cannot be followed.

    Too few boot loaders are no fault of a hint that makes the first place for one: they were too few before, of
    which other rules speak as long as there is none.
    """
    failed = failed_hints(layout, folder)
    others = [each for each in failed if TOO_FEW not in each]
    return failed if others == failed or loaders(layout, folder) else others


def loaders(layout: Layout, folder: Path) -> bool:
    """Whether some disk has a place that the machine starts from, of each firmware that it may have."""
    loaded = checked(layout, folder)
    return loaded.layout is None or all(starting_places(resolve(loaded.layout)[0]))


def test_the_first_place_for_a_boot_loader_shows_that_there_are_too_few(tmp_path: Path) -> None:
    """Where a disk has one already, a hint that led there would be at fault."""
    layout = drawn(Random(952897537))
    assert any(TOO_FEW in each for each in failed_hints(layout, tmp_path))
    assert faults_of(layout, tmp_path) == []
    layout["filesystems"]["efi"] = {"device": "d4.esp", "type": "vfat", "mount": "/efi"}
    assert loaders(layout, tmp_path) and not loaders(drawn(Random(952897537)), tmp_path)


def test_the_hints_of_layouts_drawn_at_random_can_be_followed(
    dice: Random | None, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """With --long 4,000 of them, always the same."""
    seeds = range(4000) if dice is None else [dice.randrange(10**9) for _ in range(15)]
    faults = {seed: failed for seed in seeds if (failed := faults_of(drawn(Random(seed)), tmp_path))}
    record_property(f"{COUNTED}layouts whose hints were followed", len(seeds))
    assert faults == {}


LED = {
    577374607: "a raid6 of two members was thought to survive the loss of both",
    573587572: "a larger member is not rebuilt within a day",
    684061712: "one member of a raid0 alone leaves room at the end of its disks, and they are unequal then",
    427122160: "the same for the sake of firmware that repairs disks",
    269558444: "a disk that nobody can find took another's place",
    399809391: "what was said of two arrays was new where it was said of one",
    499814971: "two members behind a multiplier were an even load, and another had none",
    931073330: "a member left a controller, and its room there made a note of another rule a warning",
    755809880: "ext3 has no use for a larger member",
    209509387: "without its journal an array hid no longer what was wrong with another",
    574150309: "the same of an array below a volume",
    398800244: "two of three members stayed behind a multiplier that had all",
    284: "one member left a controller that had all, and three of four are still too many",
    553071362: "which multiplier has room was a matter of the disks that are free there",
    344256738: "a volume of all that is free gets what an array gains, and the others get nothing of it",
    279029434: "a slot that two disks fill was named for one array that filled it alone, with a third beside it",
}
"""Drawn layouts with hints that led into another finding, and why."""


@pytest.mark.parametrize("seed", LED)
def test_hints_that_led_into_another_finding_once_can_be_followed(seed: int, tmp_path: Path) -> None:
    assert failed_hints(drawn(Random(seed)), tmp_path) == [], LED[seed]


MACHINE = """version: 1
host: h
hardware:
  firmware: uefi
  disks: {d<0-3><0-7>: {size: 3TB, serial: S<1><2>, physical_block: 4096, rotational: true}}
monitoring: {scrub: monthly, mail: root@example.org}
filesystems: {f: {device: top, type: xfs, mount: /srv}}
"""
LEGS = "a: {level: raid10, members: [d0<0-3>], whole_disks: true}, b: {level: raid10, members: [d1<0-3>], whole_disks: true}"
BELOW_A_RAID0 = {
    "members": f"arrays: {{{LEGS}, top: {{level: raid0, members: [a, b]}}}}",
    "encrypted": f"arrays: {{{LEGS}, top: {{level: raid0, members: [ca, cb]}}}}\n"
    "encryption: {ca: {device: a, key: {file: /etc/k}}, cb: {device: b, key: {file: /etc/k}}}",
    "halves of mirrors": f"arrays: {{{LEGS}, l: {{level: raid10, members: [d2<0-3>]}}, o: {{level: raid10, members: [d3<0-3>]}}, "
    "p: {level: raid1, members: [a, l]}, q: {level: raid1, members: [b, o]}, top: {level: raid0, members: [p, q]}}",
    "parity of two": "arrays: {a: {level: raid5, members: [d0<0-1>], chunk: 64MiB}, b: {level: raid5, members: [d0<2-3>], chunk: 64MiB}, "
    "top: {level: raid0, members: [a, b]}}",
    "stripes of parity": "arrays: {l<0-3>: {level: raid5, members: [d<1><0-5>]}, "
    "m: {level: raid0, members: [l<0-1>]}, q: {level: raid0, members: [l<2-3>]}, top: {level: raid0, members: [m, q]}}",
}
"""Arrays that a raid0 stands on: an edit of one of them would make it smaller or larger than the others."""


@pytest.mark.parametrize("arrays", BELOW_A_RAID0.values(), ids=BELOW_A_RAID0)
def test_no_hint_makes_the_members_of_a_raid0_unequal(arrays: str, tmp_path: Path) -> None:
    file = tmp_path / "striped.yaml"
    file.write_text(MACHINE + arrays)
    layout = plain(file)
    assert layout is not None and failed_hints(layout, tmp_path) == []


def test_a_raid0_of_whole_disks_gets_partitions(tmp_path: Path) -> None:
    """Nothing else has to be as large as it."""
    file = tmp_path / "direct.yaml"
    file.write_text(f"{MACHINE}arrays: {{top: {{level: raid0, members: [d0<0-3>], whole_disks: true}}}}")
    (found,) = [each for each in findings(check(str(file))) if each.rule == "whole-disk-on-uefi"]
    assert found.edits


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
