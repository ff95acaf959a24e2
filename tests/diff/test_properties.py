"""What holds for all pairs of layouts."""

from __future__ import annotations

import html
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidplan.diff import Change, Diff, Fate, Figure, LostData, Thing, Tolerance, diff
from raidplan.diff.changes import Way
from raidplan.diff.places import Places
from raidplan.diff.result import Cause
from raidplan.diff.statement import statement
from raidplan.render.diff_json import diff_json
from raidplan.render.diff_markdown import diff_markdown
from raidplan.render.diff_text import diff_text
from raidplan.render.markdown import LIMIT
from tests.diff.layouts import side
from tests.render.findings import located
from tests.render.hostile import HOSTILE_TEXT, MARKDOWN, WORDS, shape, tags
from tests.render.runner import commands

SERIALS = st.sampled_from(["A", "B", "C"])
LEAST = {"raid0": 2, "raid1": 2, "raid5": 3, "raid6": 4, "raid10": 4}


@st.composite
def layouts(draw: st.DrawFn) -> str:
    """Up to three arrays of whole or listed disks, with file systems, volumes, swap or nothing on them."""
    sizes = draw(st.sampled_from(["3TB", "4TB"]))
    serial = draw(SERIALS)
    odd = draw(st.integers(0, 12))
    lines = ["hardware:", "  disks:"]
    lines += [f"    d{n}: {{serial: {'Z' if n == odd else serial}{n}, size: {sizes}}}" for n in range(12)]
    free = list(range(12)) if draw(st.booleans()) else list(reversed(range(12)))
    arrays, groups, filesystems, swap = [], [], [], []
    for name in draw(st.sets(st.sampled_from(["a", "b", "c"]))):
        level = draw(st.sampled_from(sorted(LEAST)))
        count = draw(st.integers(LEAST[level], 4))
        if count > len(free):
            continue
        members, free = free[:count], free[count:]
        whole = ", whole_disks: true" if draw(st.booleans()) else ""
        arrays.append(
            f"  {name}: {{level: {level}, members: [{', '.join(f'd{n}' for n in members)}]{whole}}}"
        )
        match draw(st.sampled_from(["xfs", "ext4", "volume", "swap", "nothing"])):
            case "volume":
                size = draw(st.sampled_from(["1TiB", "2TiB", "100%free"]))
                groups.append(f"  g{name}: {{devices: [{name}], volumes: {{home: {{size: {size}}}}}}}")
            case "swap":
                swap.append(f"  w{name}: {{device: {name}}}")
            case "nothing":
                pass
            case kind:
                filesystems.append(f"  f{name}: {{device: {name}, type: {kind}, mount: /srv/{name}}}")
    sections = {"arrays": arrays, "volume_groups": groups, "filesystems": filesystems, "swap": swap}
    return (
        "\n".join([*lines, *(f"{key}:\n" + "\n".join(each) for key, each in sections.items() if each)]) + "\n"
    )


def paths(made: Diff, *fates: Fate) -> set[tuple[object, ...]]:
    return {thing.path for thing in made.things if thing.fate in fates}


@settings(max_examples=60)
@given(layouts())
def test_a_layout_does_not_differ_from_itself(text: str) -> None:
    made = diff(side(text), side(text))
    assert made.empty and diff_text(made) == "nothing differs\n"


@given(layouts(), layouts())
def test_what_is_created_one_way_is_destroyed_the_other_way(one: str, other: str) -> None:
    there, back = diff(side(one), side(other)), diff(side(other), side(one))
    assert paths(there, Fate.CREATED) == paths(back, Fate.DESTROYED)
    assert paths(there, Fate.DESTROYED) == paths(back, Fate.CREATED)
    assert paths(there, Fate.EXCHANGED) == paths(back, Fate.EXCHANGED)
    assert {(t.path, t.lost, t.gained) for t in there.tolerance} == {
        (t.path, t.gained, t.lost) for t in back.tolerance
    }
    assert {(f.path, f.what, f.before, f.after) for f in there.figures} == {
        (f.path, f.what, f.after, f.before) for f in back.figures
    }


@given(layouts(), layouts())
def test_data_is_lost_exactly_where_a_thing_with_data_does_not_stay(one: str, other: str) -> None:
    old = side(one)
    made = diff(old, side(other))
    lost = {loss.path for loss in made.losses}
    unused = {path for path, _ in Places(old.topology).unused()}
    gone = paths(made, Fate.DESTROYED, Fate.RECREATED)
    assert {path for path in gone if path[0] == "filesystems"} == {
        path for path in lost if path[0] == "filesystems"
    }
    assert {path for path in lost if path[0] != "filesystems"} <= unused
    assert gone & unused <= lost
    for thing in made.things:
        if thing.path[0] != "hardware" and thing.fate in (Fate.RECREATED, Fate.RESHAPED, Fate.CHANGED):
            assert any(each.how is None for each in thing.changes) is (thing.fate is Fate.RECREATED)


def hostile(word: str) -> Diff:
    """A diff in which the word stands wherever it holds text."""
    said = statement("host", old=word, new=word)
    figures = {"level": word, "members": 4, "devices": (word,)}
    changes = (Change(word, word, word, Way(word, (said,))), Change(word, word, word, None))
    things = tuple(
        Thing(path, fate, changes, figures, word, said)
        for path in (("arrays", word), ("hardware", "disks", word), ("volume_groups", word, "volumes", word))
        for fate in (Fate.RECREATED, Fate.CREATED, Fate.DESTROYED)
    )
    return Diff(
        (word, word),
        (
            LostData(
                ("filesystems", word), 5, word, (word, "other"), Cause((said,), changes), said, word, word
            ),
        ),
        things,
        (Tolerance(("arrays", word), word, (("disk", word),), (("bus", word),), (2, 1)),),
        (Figure(("arrays", word), word, "capacity", "bytes", 1, 2),),
        (located(word, hint=word, path=("arrays", word)),),
        (located(word, hint=word, path=("arrays", word)),),
    )


def harmless(word: str) -> None:
    """The word changes words, and not the structure of any form."""
    forms = {
        "text": diff_text(hostile(word)),
        "json": diff_json(hostile(word)),
        "markdown": diff_markdown(hostile(word)),
    }
    for form, text in forms.items():
        assert all(line.isprintable() for line in text.split("\n")), form
        assert commands(text) == [], form
    assert len(forms["text"].split("\n")) == len(diff_text(hostile("harmless")).split("\n"))
    assert shape(json.loads(forms["json"])) == shape(json.loads(diff_json(hostile("harmless"))))
    page = MARKDOWN.render(forms["markdown"])
    assert tags(page) == tags(MARKDOWN.render(diff_markdown(hostile("harmless"))))
    assert not re.search(r"(?:^|[^\w])(?:@\w|#\d|GH-\d)|https?://|(?<![a-zA-Z0-9])www\.", html.unescape(page))


@pytest.mark.parametrize("word", WORDS, ids=ascii)
def test_a_word_is_a_word_in_every_form(word: str) -> None:
    harmless(word)


@settings(max_examples=60)
@given(HOSTILE_TEXT)
def test_no_text_is_more_than_text(text: str) -> None:
    harmless(text)


@settings(max_examples=30)
@given(st.integers(1000, 70_000), st.integers(1, 400))
def test_markdown_fits_and_counts_what_does_not(limit: int, count: int) -> None:
    cause = Cause((statement("not-described", name="because " * 20),))
    losses = tuple(
        LostData(("filesystems", f"f{n}"), 10**12, f"a{n}", ("d0", "d1"), cause, None, f"/srv/{n}", "xfs")
        for n in range(count)
    )
    figures = tuple(
        Figure(("arrays", f"a{n}"), "", "read", "bytes/s", 1e8, 2e8 + n * 1e7) for n in range(count)
    )
    text = diff_markdown(Diff(("h", "h"), losses, (), (), figures, (), ()), min(limit, LIMIT))
    assert len(text) <= limit
    shown, cut = text.count("\n| "), re.search(r"(\d+) rows? more did not fit", text)
    heads = 2 * text.count("| --- | --- |")
    assert shown - heads + (int(cut[1]) if cut else 0) == 2 * count
