"""The report as one self-contained page: verdict, matrix of what was predicted and observed, stages, limits, how to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from raidplan.base.findings import Path
from raidplan.base.words import duration
from raidplan.estimate.survival import Outcome
from raidplan.render.html.survival import SIGNS
from raidplan.render.rehearsal.words import (
    CLAIMS,
    OUTCOMES,
    acknowledged,
    case_words,
    digests,
    headline,
    limits,
    measured,
    row,
    versions,
    way_back,
)
from raidplan.render.visible import visible
from raidplan.twin.rehearsal.observed import Observation, name_of
from raidplan.twin.rehearsal.report import Report, Tried


@dataclass(frozen=True, slots=True)
class Cell:
    """One thing in one case."""

    sign: str
    words: str
    good: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """A rate, predicted and observed, as shares of the highest in percent."""

    what: str
    predicted: float
    observed: float
    words: str
    good: bool


@dataclass(frozen=True, slots=True)
class Span:
    """A stage or a case in the time line: where it begins and how long it is, in percent of the whole."""

    what: str
    left: float
    width: float
    words: str
    detail: tuple[str, ...]
    """Lines."""
    good: bool
    is_case: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One case as a row of the matrix."""

    case: str
    cells: tuple[Cell, ...]
    seen: str
    """All else that there is to say of it."""
    returned: str
    seconds: str


def rehearsal_page(report: Report) -> str:
    """The page, as HTML. Needs Jinja2."""
    resources = files("raidplan.render")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=lambda v: visible(v) if isinstance(v, str) and not isinstance(v, Markup) else v
    )  # fmt: skip
    template = environment.from_string(resources.joinpath("rehearsal/page.html").read_text("utf-8"))
    things = _things(report)
    return template.render(
        style=Markup(resources.joinpath("html/page.css").read_text("utf-8")),
        report=report,
        verdict=headline(report),
        good=report.as_predicted,
        things=[name_of(thing) for thing in things],
        lines=[_line(tried, things) for tried in report.tried],
        bars=_bars(report),
        control=_line(report.control, things) if report.control else None,
        spans=_spans(report),
        limits=limits(report),
        versions=versions(report),
        digests=digests(report),
        acknowledged=f"{acknowledged(report):,}",
    )


def _spans(report: Report) -> list[Span]:
    """All stages, and the cases in each, in the order in which they began."""
    whole = max((stage.began + stage.seconds for stage in report.stages), default=1) or 1

    def span(what: str, began: float, seconds: float, detail: str, good: bool, is_case: bool) -> Span:
        words, lines = f"after {duration(began)}, {duration(seconds)}", tuple(detail.splitlines())
        return Span(what, 100 * began / whole, 100 * seconds / whole, words, lines, good, is_case)

    stages = [
        (each.began, span(each.name, each.began, each.seconds, each.detail, each.passed, False))
        for each in report.stages
    ]
    cases = [
        (each.began, span(case_words(each.case), each.began, each.seconds, "", each.as_predicted, True))
        for each in report.tried
    ]
    return [found for _, found in sorted((*stages, *cases), key=lambda each: (each[0], each[1].is_case))]


def _bars(report: Report) -> list[Bar]:
    """All rates that were measured."""
    found = [(claim, claim.rates) for tried in report.tried for claim in tried.claims if claim.rates]
    most = max((rate for _, rates in found for rate in rates), default=1) or 1
    return [
        Bar(
            f"{name_of(claim.thing)}, {CLAIMS[claim.what]}",
            100 * predicted / most,
            100 * observed / most,
            f"predicted {claim.predicted}, observed {claim.observed}",
            claim.as_predicted,
        )
        for claim, (predicted, observed) in found
    ]


def _things(report: Report) -> list[Path]:
    return list(dict.fromkeys(one.thing for tried in report.played for one in tried.observed))


def _line(tried: Tried, things: list[Path]) -> Line:
    by_thing = {one.thing: one for one in tried.observed}
    cells = tuple(
        _cell(by_thing[thing]) if thing in by_thing else Cell("", "not observed", True) for thing in things
    )
    return Line(
        case_words(tried.case),
        cells,
        row(tried).observed if tried.claims or not tried.as_predicted else measured(tried),
        way_back(tried),
        duration(tried.seconds),
    )


def _cell(one: Observation) -> Cell:
    predicted = OUTCOMES[one.predicted]
    if one.as_predicted:
        return Cell(SIGNS[one.predicted], f"{predicted}, as predicted", True)
    seen = OUTCOMES[Outcome.INTACT if one.survived else Outcome.LOST]
    away = f", {one.degraded} of its members away" if one.survived and one.degraded else ""
    return Cell("!", f"predicted: {predicted}; observed: {seen}{away}", False)
