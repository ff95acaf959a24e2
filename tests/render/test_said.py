"""The sentences of refusals, notes, deviations, syncs and what stays of before, word for word; tests elsewhere assert code, case, place, line and figures.

`pytest --update-golden` writes them anew, to be reviewed like code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from raidplan.apply.change.obsolete import Mounted, Obsolete, Prioritised, Standing, Tuned
from raidplan.apply.note import Note
from raidplan.apply.refusal import Code, Refusal
from raidplan.apply.syncs import WORDS, HeldSync, Sync
from raidplan.base.figures import Figure, Figures
from raidplan.base.size import KIB
from raidplan.facts.failure import failure
from raidplan.facts.prove import Deviation
from raidplan.facts.uses import use
from raidplan.plan.partitions import TYPE_CODES
from raidplan.render import note_words, refusal_words
from raidplan.render.deviations import deviation_text
from raidplan.render.note_words import note_text
from raidplan.render.obsolete import obsolete_text
from raidplan.render.refusals import adoption_text, refusal_text
from raidplan.render.syncs import held_text, sync_text

SAID = Path(__file__).parent / "said"
DIFFERENT = (Deviation("level", "raid1", "raid5"),)
USED = (use("loop", "PLACE 1", loop="LOOP"), use("held", "PLACE 2", holder="HOLDER"))
FAILED = (failure("program", "PROGRAM", code=1, said="WORDS"),)
RAID, LINUX = (TYPE_CODES[word].lower() for word in ("raid", "linux"))
TERABYTE = 1_000_204_886_016


def figure(name: str, form: str) -> Figure:
    """A value of the kind that its place in a template takes: a size, a list of two, or the name in capitals."""
    word = name.upper()
    if form in ("size", "exact"):
        return TERABYTE
    listed = form.count("?") == 2 if form.startswith("?") else form.partition("|")[0] != ""
    return (f"{word} 1", f"{word} 2") if listed else word


def filled_in(template: str) -> Iterator[Figures]:
    """All figures of a template, and then, if there are such, without those that may be missing."""
    forms = {name: form or "" for _, name, form, _ in Formatter().parse(template) if name}
    for name in ("place", "line", "differences", "uses", "failures"):
        forms.pop(name, None)
    whole = {name: figure(name, form) for name, form in forms.items()}
    yield whole
    missing: dict[str, Figure] = {
        name: "" for name, form in forms.items() if form.startswith("?") or "|" in form
    }
    if missing:
        yield {**whole, **missing}


def refusals() -> Iterator[str]:
    """Code, case and sentence of each refusal."""
    for code in get_args(Code):
        for case, template in refusal_words.SENTENCES[code].items():
            for figures in filled_in(template):
                used = USED if "{uses" in template else ()
                failed = FAILED if "{failures" in template else ()
                reason = Refusal(code, case, "PLACE", 7, figures, DIFFERENT, used, failed)
                yield f"{code} {case}".rstrip() + f": {refusal_text(reason)}\n"


def notes() -> Iterator[str]:
    """Code and sentence of each note."""
    for code, template in note_words.SENTENCES.items():
        for figures in filled_in(template):
            yield f"{code}: {note_text(Note(code, 'PLACE', 7, figures))}\n"


def syncs() -> Iterator[str]:
    """What md goes on with."""
    for sync in (
        Sync("data", "resync", 3 * 10**9, 10**11, 120 * 10**6),
        Sync("data", "resync", 0, 0, 0),
        Sync("data", "resync", 0, 10**11, 0, waits=True),
        Sync("data", WORDS["recover"], 3 * 10**9, 10**11, 120 * 10**6, boots=True),
    ):
        yield f"{sync_text(sync)}\n"
    yield f"{held_text(HeldSync('data', '/sys/block/md_data/md/sync_action', 'idle'))}\n"


def obsolete() -> Iterator[str]:
    """What stays of an earlier layout."""
    found: tuple[Obsolete, ...] = (
        Standing("volume_group", "v", "KEY"),
        Tuned("md_p", "md/stripe_cache_size", 1024, "layout"),
        Tuned("md_p", "queue/read_ahead_kb", 1024, "rule"),
        Mounted("/srv/my photos"),
        Prioritised("/dev/sdb1", 5),
    )
    yield from (f"{obsolete_text(each)}\n" for each in found)


def deviations() -> Iterator[str]:
    """Properties that are not as planned, of each kind of value."""
    found = (
        Deviation("chunk", 64 * KIB, 512 * KIB),
        Deviation("size", 3000592982016, 3000592982017),
        Deviation("members", "missing", "{d2}", 2),
        Deviation("members", ["a", "b", "missing"], ["a"]),
        Deviation("spares", [], ["x"]),
        Deviation("sync_held", False, True),
        Deviation("degraded", 1, True),
        Deviation("journal", None, "j"),
        Deviation("label", "", "sw"),
        Deviation("md/stripe_cache_size", 256, 32768),
        Deviation("sw", 2, 3),
        Deviation(
            "devices", ["partition:1-2"], ["partition:1-2", "partition:3-4"], names={"partition:3-4": "d1.p"}
        ),
        Deviation("device", "array:1-2", "array:3-4", names={"array:3-4": "a"}),
        Deviation("partitions", f"1-2 1024 2048 {RAID}", f"1-2 1024 4096 {LINUX}", 1),
        Deviation("partitions", [f"1-2 1024 2048 {RAID}"], []),
    )
    yield from (f"{deviation_text(each)}\n" for each in found)


@pytest.mark.parametrize(
    "said", [refusals, notes, syncs, obsolete, deviations], ids=lambda said: str(said.__name__)
)
def test_what_is_said(said: Callable[[], Iterator[str]], request: pytest.FixtureRequest) -> None:
    golden, text = SAID / f"{said.__name__}.txt", "".join(said())
    if request.config.getoption("--update-golden"):
        SAID.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


def test_of_what_is_not_entered_that_is_said_first() -> None:
    differs, unsound = Refusal("differs", "other", "PLACE", 7, {}, DIFFERENT), Refusal("not-root")
    assert adoption_text([unsound]) == refusal_text(unsound)
    both = f"not entered: {refusal_text(differs)}; {refusal_text(unsound)}"
    assert adoption_text([differs, unsound]) == both
