"""The compact form means exactly what the same layout written out would."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidplan.document.read import parse_document


def plain(text: str) -> object:
    document, problems = parse_document(text, "x.yaml")
    assert document is not None and not problems, problems
    return document.root.plain()


def refusal(text: str) -> tuple[str, str, str]:
    """Place, message and hint of the one finding."""
    _, problems = parse_document(text, "x.yaml")
    ((finding, span),) = problems
    assert finding.rule == "invalid-range"
    return f"{span.line}:{span.column}", finding.message, finding.hint


@pytest.mark.parametrize(
    ("compact", "written"),
    [
        ("d<0-2>: {size: 3TB}", "{d0: {size: 3TB}, d1: {size: 3TB}, d2: {size: 3TB}}"),
        ("d<08-11>: x", "{d08: x, d09: x, d10: x, d11: x}"),
        ("d<a/c/xy>: x", "{da: x, dc: x, dxy: x}"),
        ("d<0-1><a/b>: <1>.<2>", "{d0a: 0.a, d0b: 0.b, d1a: 1.a, d1b: 1.b}"),
        (
            "d<0-1>: {behind: pm<1>, port: <1:4-5>}",
            "{d0: {behind: pm0, port: 4}, d1: {behind: pm1, port: 5}}",
        ),
        ("d<a/b>: <1:x/y>", "{da: x, db: y}"),
        ("a: [x, d<0-1>, y]", "{a: [x, d0, d1, y]}"),
        ("a: [<1-2>:<x/y>]", "{a: ['1:x', '1:y', '2:x', '2:y']}"),
        ("s<0-1>: {members: [d<0-1><1>]}", "{s0: {members: [d00, d10]}, s1: {members: [d01, d11]}}"),
        ("d<0-1>: {p<a/b>: <1><2>}", "{d0: {pa: 0a, pb: 0b}, d1: {pa: 1a, pb: 1b}}"),
        ("d<0-1>: {serial: {each: [A, B]}}", "{d0: {serial: A}, d1: {serial: B}}"),
        ("d<0-1>: {each: [{a: 1}, {b: 2}]}", "{d0: {a: 1}, d1: {b: 2}}"),
        ("d<0-1>: {at: {serial: {each: [A, B]}}}", "{d0: {at: {serial: A}}, d1: {at: {serial: B}}}"),
        ("d<0-1>: {p<x/y>: {each: [A, B]}}", "{d0: {px: A, py: B}, d1: {px: A, py: B}}"),
        ("a: '<0-1>'", "{a: '<0-1>'}"),
        ('a: ["d<0-1>"]', '{a: ["d<0-1>"]}'),
        ("a: {each: [1, 2]}", "{a: {each: [1, 2]}}"),
        ("a: 3 < 4", "{a: '3 < 4'}"),
        ("d<5-5>: x", "{d5: x}"),
    ],
)
def test_expansion(compact: str, written: str) -> None:
    assert plain(compact) == plain(written)


def test_the_last_range_counts_fastest() -> None:
    made = plain("d<0-1><0-1>: x")
    assert isinstance(made, dict)
    assert list(made) == ["d00", "d01", "d10", "d11"]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("d<3-0>: x", "1:1", "the range <3-0> counts backwards"),
        ("a: [d<3-0>]", "1:5", "the range <3-0> counts backwards"),
        ("d<0-2>: {serial: {each: [A, B]}}", "1:18", "'each' has 2 values for 3 entries"),
        ("d<0-1>: {serial: {each: [A, B, C]}}", "1:18", "'each' has 3 values for 2 entries"),
        ("d<0-2>: {a: {b: {each: [A, B]}}}", "1:17", "'each' has 2 values for 3 entries"),
        ("d<0-1>: {a: {b: {each: [A, B, C]}}}", "1:17", "'each' has 3 values for 2 entries"),
        ("a: <1>", "1:4", "<1> stands for a range above it, and there are 0"),
        ("d<0-1>: {behind: pm<2>}", "1:18", "<2> stands for a range above it, and there are 1"),
        ("d<0-1>: {behind: pm<0>}", "1:18", "<0> stands for a range above it, and there are 1"),
        ("d<0-3>: {port: <1:0-2>}", "1:16", "<1:0-2> has 3 values, fewer than the range it follows"),
        ("d<0-1>: {behind: pm<0-1>}", "1:18", "a range cannot stand here: pm<0-1>"),
        ("d<0-1>: x\nd<1-2>: y", "2:1", "duplicate name 'd1', first at line 1"),
        ("d0: x\nd<0-1>: y", "2:1", "duplicate name 'd0', first at line 1"),
        ("d<a/a>: x", "1:1", "duplicate name 'da', first at line 1"),
        ("d<0-99999><0-99999>: x", "1:1", "the ranges of d<0-99999><0-99999> make more than 250000 entries"),
        ("d<0-250000>: x", "1:1", "the range <0-250000> has more than 250000 values"),
        ("d<0-9999>: {p<0-99>: x}", "1:13", "ranges make more than 250000 entries"),
        ("d<0-9999>: [" + "x, " * 30 + "]", "1:13", "ranges make more than 250000 entries"),
        ("d<0-" + "9" * 900 + ">: x", "1:1", "have more than 9 digits"),
        ("d<0-1>: x<" + "9" * 5000 + ">", "1:9", "stands for a range above it, and there are 1"),
    ],
)
def test_refusals(text: str, place: str, said: str) -> None:
    where, message, hint = refusal(text)
    assert where == place
    assert said in message
    assert hint and len(message) < 200


LETTERS = st.text("abcxyz", min_size=1, max_size=3)
NUMBERS = st.tuples(st.integers(0, 12), st.integers(0, 4), st.integers(1, 3)).map(
    lambda drawn: (
        f"{drawn[0]:0{drawn[2]}d}-{drawn[0] + drawn[1]:0{drawn[2]}d}",
        [f"{n:0{drawn[2]}d}" for n in range(drawn[0], drawn[0] + drawn[1] + 1)],
    )
)
WORDS = st.lists(LETTERS, min_size=2, max_size=4, unique=True).map(lambda words: ("/".join(words), words))


def written_width(text: str, values: list[str]) -> list[str]:
    """Numbers keep their width only where the first begins with 0."""
    return values if text.startswith("0") or "-" not in text else [str(int(value)) for value in values]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(NUMBERS, WORDS), min_size=1, max_size=3), st.data())
def test_expansion_is_what_one_would_write_by_hand(
    ranges: list[tuple[str, list[str]]], data: st.DataObject
) -> None:
    values = [written_width(text, list(each)) for text, each in ranges]
    key = "d" + "_".join(f"<{text}>" for text, _ in ranges)
    reference = data.draw(st.integers(1, len(ranges)))
    follow = [f"f{n}" for n in range(max(2, len(values[reference - 1])))]
    count = len(list(product(*values)))
    serials = [f"S{n}" for n in range(count)]
    compact = (
        f"disks:\n  {key}:\n    behind: pm<{reference}>\n    port: <{reference}:{'/'.join(follow)}>\n"
        f"    serial: {{each: [{', '.join(serials)}]}}\n    list: [x<{reference}>, y<1-2>]\n"
    )
    lines = ["disks:"]
    for number, chosen in enumerate(product(*values)):
        own = chosen[reference - 1]
        lines += [
            f'  "d{"_".join(chosen)}":',
            f"    behind: pm{own}",
            f"    port: {follow[values[reference - 1].index(own)]}",
            f"    serial: {serials[number]}",
            f"    list: [x{own}, y1, y2]",
        ]
    assert plain(compact) == plain("\n".join(lines))
