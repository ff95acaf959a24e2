"""The stages joined: a file to a document, a layout, a topology, findings and a plan.

A stage runs only if the one before it had no error. Here findings get their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from raidplan.base.findings import Edit, Finding, has_errors
from raidplan.document import Document, Reader, parse_document, read_text
from raidplan.layout.load import load_layout
from raidplan.layout.model import Layout
from raidplan.plan.step import Plan
from raidplan.review.located import Accepted, Located, Replacement
from raidplan.review.settings import DEFAULT, Settings
from raidplan.topology import Topology, resolve

if TYPE_CHECKING:
    from raidplan.placement import Arrays, Placement


class Loaded(NamedTuple):
    """The result of the stages for a file, as far as they came."""

    file: str
    document: Document | None = None
    layout: Layout | None = None
    topology: Topology | None = None
    placements: tuple[Placement, ...] = ()
    """The members picked from pools, and why."""
    findings: tuple[Located, ...] = ()
    """The findings of all stages so far, in the order of the file."""
    accepted: tuple[Accepted, ...] = ()
    """The findings of the rules that somebody accepted."""
    sources: Mapping[str, str] = MappingProxyType({})
    """The text by file name, for showing the lines that findings are about."""
    settings: Settings = DEFAULT
    """The settings that it was checked with."""
    well_formed: bool = False
    """Checked, and only rules object, if anything does."""

    @property
    def valid(self) -> bool:
        """The layout can be built; rules may still object."""
        return self.topology is not None


def read(file: str, reader: Reader | None = None, arrays: Sequence[Arrays] = ()) -> Loaded:
    """The document and the layout in `file` (`-` is standard input), with pools filled.

    `reader` has the texts of files that are not on the disk: those of an earlier revision. Of `arrays`, those
    of a machine, who has a pool keeps its members.
    """
    text, pairs = read_text(file, reader)
    document = None
    if text is not None:
        document, pairs = parse_document(text, file, reader)
    located = tuple(Located(finding, span) for finding, span in pairs)
    sources = document.sources if document else {} if text is None else {file: text}
    loaded = Loaded(file, document, findings=located, sources=sources)
    if document is None or _failed(loaded):
        return loaded
    layout, findings = load_layout(document)
    if layout is not None and layout.pools:
        from raidplan.placement import place  # few layouts have pools, and they start slower

        layout, placements, more = place(layout, arrays)
        findings = [*findings, *more]
        loaded = loaded._replace(placements=placements)
    loaded = _with(loaded, findings)
    return loaded if _failed(loaded) else loaded._replace(layout=layout)


def load(file: str, reader: Reader | None = None) -> Loaded:
    """The file's topology as well; `valid` only if nothing is in its way. `reader`: see `read`."""
    loaded, topology, findings = _resolved(read(file, reader))
    loaded = _with(loaded, findings)
    return loaded if _failed(loaded) else loaded._replace(topology=topology)


def check(
    file: str,
    settings: Settings = DEFAULT,
    *,
    today: str = "",
    reader: Reader | None = None,
    arrays: Sequence[Arrays] = (),
) -> Loaded:
    """The file with what the rules find; they look at what cannot be built as well, and say why.

    What is accepted by the file or not wanted by the settings is left out. `today` (YYYY-MM-DD, by default
    the date) decides whether an acceptance still holds. `reader`, `arrays`: see `read`.
    """
    loaded, topology, findings = _resolved(read(file, reader, arrays)._replace(settings=settings))
    if topology is None:
        return loaded
    from raidplan.review.acceptance import accept
    from raidplan.rules import RULES
    from raidplan.rules import check as check_rules

    layout, document = loaded.layout, loaded.document
    assert layout is not None and document is not None
    buildable = not has_errors(findings)
    found = check_rules(topology, findings)
    loaded = _with(loaded, found)
    left, accepted = accept(loaded.findings, layout, document, today=today, complete=buildable)
    return loaded._replace(
        topology=topology if buildable else None,
        findings=_in_order((item for item in left if settings.wants(item.finding)), loaded.sources),
        accepted=tuple(accepted),
        well_formed=not has_errors(f for f in found if f.rule not in RULES),
    )


def _resolved(loaded: Loaded) -> tuple[Loaded, Topology | None, list[Finding]]:
    """The topology as far as it goes, and what is in its way."""
    if loaded.layout is None:
        return loaded, None, []
    return loaded, *resolve(loaded.layout)


def plan(loaded: Loaded, target: str = "") -> tuple[Plan | None, Loaded]:
    """The whole plan of a valid layout, as for a blank machine, below `target`; None if a finding is an error."""
    assert loaded.topology is not None and loaded.document is not None
    if _failed(loaded):
        return None, loaded
    from raidplan.compiler import compile_plan  # `check` starts faster without it

    made, findings = compile_plan(loaded.topology, loaded.document, target)
    loaded = _with(loaded, findings)
    return (None if _failed(loaded) else made), loaded


def _with(loaded: Loaded, findings: Iterable[Finding]) -> Loaded:
    """The layout with more findings, each at its place."""
    if loaded.document is None:
        return loaded
    document = loaded.document
    located = [
        Located(
            f,
            document.locate(f.path, on_key=f.on_key),
            tuple(document.locate(place.path, on_key=True) for place in f.related),
            tuple(_change(document, edit) for edit in f.edits),
        )
        for f in findings
    ]
    return loaded._replace(findings=_in_order([*loaded.findings, *located], document.sources))


def with_findings(loaded: Loaded, findings: Iterable[Finding]) -> Loaded:
    """The layout with those of these findings that its settings want, each at its place."""
    return _with(loaded, filter(loaded.settings.wants, findings))


def _change(document: Document, edit: Edit) -> Replacement:
    there = document.at(edit.path)
    return Replacement(edit, document.locate(edit.path), there.plain() if there is not None else None)


def _in_order(located: Iterable[Located], files: Iterable[str]) -> tuple[Located, ...]:
    """The findings by place, the graver first where two are at the same."""
    order = {file: number for number, file in enumerate(files)}

    def position(item: Located) -> tuple[int, int, int, int]:
        span = item.span
        return order.get(span.file, len(order)), span.line, span.column, item.finding.severity.rank

    return tuple(sorted(dict.fromkeys(located), key=position))


def _failed(loaded: Loaded) -> bool:
    return has_errors(item.finding for item in loaded.findings)
