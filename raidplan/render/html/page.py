"""`--format html` of check, plan and estimate: one self-contained page; nothing is loaded, no script is needed to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from raidplan import __version__
from raidplan.base.findings import Severity
from raidplan.base.size import drive_size
from raidplan.base.words import and_more, counted
from raidplan.document import Span
from raidplan.plan.step import Plan
from raidplan.render.files import relative
from raidplan.render.forms import Look
from raidplan.render.groups import ALIKE, alike, grouped, places
from raidplan.render.html.estimates import Speeds, speeds
from raidplan.render.html.source import Line, Mark, Place, source_lines
from raidplan.render.html.survival import Matrix, matrix
from raidplan.render.html.timeline import Timeline, timeline
from raidplan.render.visible import visible
from raidplan.review import pipeline
from raidplan.review.located import Accepted, Located
from raidplan.review.pipeline import Loaded
from raidplan.rules import CATALOGUE
from raidplan.topology import Topology

MOST_FINDINGS = 500
"""So many places are shown; the JSON form has all of them."""
MOST_ALIKE = 40
"""So many findings of one rule at one place, where most are folded away."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Findings of one rule at one place."""

    anchor: str
    severity: str
    rule: str
    message: str
    place: Place
    alike: tuple[str, ...]
    related: tuple[Place, ...]
    hint: str
    why: str
    reason: str = ""
    """Why it was accepted, and until when."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of a layout."""

    name: str
    anchor: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One layout; what cannot be told of it is None."""

    anchor: str
    title: str
    file: str
    facts: tuple[str, ...]
    counts: tuple[tuple[str, str], ...]
    """Severity and words."""
    findings: tuple[Shown, ...]
    left_out: int
    accepted: tuple[Shown, ...]
    files: tuple[File, ...]
    wiring: Markup | None
    matrix: Matrix | None
    speeds: Speeds | None
    timeline: Timeline | None
    plan_title: str = "Plan for blank disks"
    review: bool = True
    """The findings and the text stand on the page."""


def render(checked: Sequence[Loaded], look: Look) -> str:
    """The page of `check`."""
    return _render([_Maker(f"l{number}", loaded).section() for number, loaded in enumerate(checked, start=1)])


def plan_page(loaded: Loaded, plan: Plan) -> str:
    """The page of `plan`: the plan that was made for a machine or for none, then the findings."""
    maker = _Maker("l1", loaded)
    section = replace(
        maker.section(), wiring=None, matrix=None, speeds=None, timeline=maker.timeline_of(plan)
    )
    return _render([replace(section, plan_title="Plan") if plan.machine_digest else section], "planned")


def estimate_page(loaded: Loaded) -> str:
    """The page of `estimate`: the wiring, what survives what, and how fast it is; the rules are not asked, nor counted."""
    section = replace(_Maker("l1", loaded).section(), review=False, timeline=None, counts=())
    return _render([section], "estimated")


def _render(sections: Sequence[Section], what: str = "checked") -> str:
    template, style = _page()
    return template.render(sections=sections, style=style, version=__version__, what=what, plan_first=what == "planned")  # fmt: skip


@cache
def _page() -> tuple[Template, Markup]:
    """The page without values, and its style: our own files, read and compiled once."""
    resources = files("raidplan.render.html")
    # Every value is shown by `visible` and then escaped; markup is what this package made itself.
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_visible, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(resources.joinpath("page.html").read_text("utf-8"))
    return template, Markup(resources.joinpath("page.css").read_text("utf-8"))


def _visible(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


class _Maker:
    """Makes the section of one layout; ids on the page begin with its name."""

    def __init__(self, name: str, loaded: Loaded) -> None:
        self.name, self.loaded = name, loaded
        self.groups = sorted(grouped(loaded.findings), key=lambda group: group[0].finding.severity.rank)
        self.named = [
            (f"{name}-f{number}", group) for number, group in enumerate(self.groups[:MOST_FINDINGS])
        ]
        marks = [Mark(group[0].span, group[0].finding.severity, anchor) for anchor, group in self.named]
        self.files = {
            file: File(relative(file), f"{name}-s{number}", tuple(source_lines(text, file, marks)))
            for number, (file, text) in enumerate(loaded.sources.items())
        }
        self.anchors = {
            (path, line.number): f"{file.anchor}-{line.number}"
            for path, file in self.files.items()
            for line in file.lines
        }

    def section(self) -> Section:
        loaded, topology = self.loaded, self.loaded.topology
        return Section(
            self.name,
            loaded.layout.host if loaded.layout else relative(loaded.file),
            relative(loaded.file),
            _facts(topology) if topology else (),
            tuple(_counts(loaded)),
            tuple(self.shown(group, anchor) for anchor, group in self.named),
            len(self.groups) - len(self.named),
            tuple(self.accepted(each, f"{self.name}-a{n}") for n, each in enumerate(loaded.accepted)),
            tuple(self.files.values()),
            _wiring(topology, self.name) if topology else None,
            matrix(topology) if topology else None,
            speeds(topology) if topology else None,
            self.timeline() if topology else None,
        )

    def shown(self, group: Sequence[Located], anchor: str) -> Shown:
        finding = group[0].finding
        rule = CATALOGUE.get(finding.rule)
        related = places(group)
        more = (Place(and_more(len(related) - ALIKE, "place")),) if len(related) > ALIKE else ()
        return Shown(
            anchor,
            finding.severity.value,
            finding.rule,
            finding.message,
            self.place(group[0].span),
            tuple(alike(group, MOST_ALIKE)),
            (*(self.place(span, text) for span, text in related[:ALIKE]), *more),
            finding.hint,
            " ".join(rule.why.split()) if rule else "",
        )

    def accepted(self, each: Accepted, anchor: str) -> Shown:
        finding = each.located.finding
        until = f" (until {each.until})" if each.until else ""
        place = self.place(each.located.span)
        return Shown(
            anchor, "accepted", finding.rule, finding.message, place, (), (), "", "", each.reason + until
        )

    def place(self, span: Span, about: str = "") -> Place:
        """The line, with its file's name if there are several."""
        name = "" if len(self.files) == 1 and span.file in self.files else f"{relative(span.file)}, "
        return Place(f"{name}line {span.line}", self.anchors.get((span.file, span.line), ""), about)

    def timeline(self) -> Timeline | None:
        plan, _ = pipeline.plan(self.loaded)
        return self.timeline_of(plan) if plan else None

    def timeline_of(self, plan: Plan) -> Timeline:
        return timeline(plan, lambda line: self.place(Span(self.loaded.file, line, 1, line, 1)))


def _counts(loaded: Loaded) -> list[tuple[str, str]]:
    counts = []
    for severity in Severity:
        count = sum(item.finding.severity is severity for item in loaded.findings)
        if count:
            counts.append((severity.value, counted(count, severity.value)))
    if not counts:
        counts.append(("good", "nothing to report"))
    if loaded.accepted:
        counts.append(("accepted", f"{len(loaded.accepted)} accepted"))
    return counts


def _facts(topology: Topology) -> tuple[str, ...]:
    layout = topology.layout
    sizes = [disk.size for disk in layout.hardware.disks.values()]
    raw = f", {drive_size(sum(size or 0 for size in sizes))}" if all(sizes) and sizes else ""
    facts = [f"{counted(len(sizes), 'disk')}{raw}" if sizes else ""]
    facts += [counted(len(layout.arrays), "array") if layout.arrays else ""]
    facts += [counted(len(layout.filesystems), "file system") if layout.filesystems else ""]
    facts += [counted(len(layout.swap), "swap area") if layout.swap else ""]
    return tuple(fact for fact in facts if fact)


def _wiring(topology: Topology, name: str) -> Markup | None:
    from raidplan.render.draw import marks_of, svg

    return Markup(svg(topology, marks_of(topology), prefix=f"{name}-wiring"))  # it escapes itself
