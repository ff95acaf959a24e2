"""What every rule says of the bad example on its page, word for word: the figures in there are results too.

`pytest --update-golden` writes them anew, to be reviewed like code.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.review.located import Located
from raidplan.review.pipeline import check
from raidplan.rules import CATALOGUE, Rule
from tests.rules.stages import HEAD, of_a_page

SAID = Path(__file__).parent / "said"


def marked(item: Located, text: str) -> str:
    """The part of the line that the mark stands under."""
    span = item.span
    end = span.end_column if span.end_line == span.line else None
    return text.splitlines()[span.line - 1][span.column - 1 : end and end - 1]


@pytest.mark.parametrize("each", CATALOGUE.values(), ids=CATALOGUE)
def test_what_is_said_of_the_bad_example(each: Rule, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    file = tmp_path / "layout.yaml"
    found = []
    for item in of_a_page(each.name, each.bad, tmp_path).findings:
        finding = item.finding
        if finding.rule == each.name:
            found += [f"{finding.severity}: {finding.message}", f"  hint: {finding.hint}"]
            found += [f"  marked: {marked(item, file.read_text())}"]
            seen = zip(item.related, finding.related, strict=True)
            found += [f"  see line {span.line}: {place.message}" for span, place in seen]
    text = "".join(f"{line}\n" for line in found).replace(f"{tmp_path}/", "")
    golden = SAID / f"{each.name}.txt"
    if request.config.getoption("--update-golden"):
        SAID.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


def test_nothing_is_left_over() -> None:
    assert {f"{name}.txt" for name in CATALOGUE} == {file.name for file in SAID.glob("*")}


CARDS = """\
hardware:
  controllers: {card: {ports: 4}, other: {ports: 4}}
  multipliers: {pm<0-2>: {behind: card, port: <1>, ports: 5}}
"""
NUMBERED = "hardware: {disks: {d<0-3>: {serial: S<1>, size: 1TB}}}\narrays: {%s: {level: raid1, members: [d<0-1>]}, %s: {level: raid1, members: [d<2-3>]}}"
SECOND = {
    "name-too-long": (NUMBERED % ("a" * 25, "b"), "note", "a" * 25),
    "array-named-by-number": (NUMBERED % ("7", "md7"), "error", "md7"),
    "multipliers-crowd-card": (CARDS, "note", "card"),
}
"""What a rule finds besides that of its bad example, and what is marked then."""


@pytest.mark.parametrize(("rule", "case"), SECOND.items(), ids=SECOND)
def test_names_are_marked(rule: str, case: tuple[str, str, str], tmp_path: Path) -> None:
    text, severity, name = case
    file = tmp_path / "layout.yaml"
    file.write_text(HEAD + text)
    found = [item for item in check(str(file)).findings if item.finding.rule == rule]
    assert [(item.finding.severity, marked(item, file.read_text())) for item in found] == [(severity, name)]
