"""The rule engine: collects the rules, runs them, and puts name and severity on what they find."""

from __future__ import annotations

import inspect
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from textwrap import dedent
from typing import Any, NamedTuple

from raidplan.base.findings import Edit, Finding, Path, Related, Severity
from raidplan.rules.lib.advice import advice
from raidplan.topology import Topology


class Hit(NamedTuple):
    """The result of a rule: a place, the fact with its numbers, and the advice."""

    path: Path
    message: str
    hint: str = ""
    """The advice; behind edits, the end of a sentence that begins with them."""
    severity: Severity | None = None
    """The severity of this case, where it is milder or graver than the rule usually is."""
    related: tuple[Related, ...] = ()
    """Other places that the finding is about: the disk, the array, the swap area."""
    edits: tuple[Edit, ...] = ()
    """The part of the advice that a program can do."""
    meant: str = ""
    """The word that was probably meant in place of the one at the path."""


Search = Callable[["Topology"], Iterator[Hit]]
Page = Callable[[], None]


class Rule(NamedTuple):
    """A rule as `raidplan explain` knows it."""

    name: str
    severity: Severity
    search: Search | None
    """The function that finds its hits; None for a rule whose findings another stage states."""
    text: str
    acceptable: bool
    """A person may decide to live with its errors."""
    general: bool = False
    """States that something cannot be built, and is left out where a rule says at which key."""

    @property
    def page(self) -> str:
        """The manual page: summary, why, a bad and a good example, source."""
        return _page(self.text)

    @property
    def summary(self) -> str:
        """The page's first line."""
        return self.page.partition("\n")[0]

    @property
    def why(self) -> str:
        """The page's reason, with its figures."""
        return self.page.partition("Why: ")[2].partition("\n\n**Bad**")[0]

    @property
    def bad(self) -> str:
        """The layout that the rule catches, at the line marked `# <-- here`; without version and host."""
        return self._example("Bad")

    @property
    def good(self) -> str:
        """The layout that it does not catch; without version and host."""
        return self._example("Good")

    def _example(self, title: str) -> str:
        block = re.search(rf"^\*\*{title}\*\*\n\n```yaml\n(.*?)^```$", self.page, re.DOTALL | re.MULTILINE)
        if block is None:
            raise LookupError(f"the page of {self.name} has no example '{title}'")
        return block[1]


EXAMPLE = re.compile(r"^(Bad|Good):\n((?: {4}.*\n)+)", re.MULTILINE)
"""An example in a docstring: its title, and below it the indented layout."""


@cache
def _page(text: str) -> str:
    """A docstring as Markdown, its examples between fences."""
    return EXAMPLE.sub(
        lambda block: f"**{block[1]}**\n\n```yaml\n{dedent(block[2])}```\n", inspect.cleandoc(text)
    )


RULES: dict[str, Rule] = {}
"""Every rule that looks at a topology, by name."""
STATED: dict[str, Rule] = {}
"""Findings of other stages, by name: each has a page as rules have, and searches nothing itself."""
CATALOGUE: Mapping[str, Rule] = ChainMap(RULES, STATED)
"""Everything that a finding can be named after."""


def rule(severity: Severity, *, acceptable: bool | None = None) -> Callable[[Search], Search]:
    """Makes a generator function a rule, named after it: `swap_across_members` is `swap-across-members`.

    Its errors cannot be accepted by anybody, since they stand for data that would be lost or for what no
    tool will build; `acceptable=True` is for an error that is neither. What is milder always can.
    """

    def register(search: Search) -> Search:
        _add(RULES, search, search, severity, acceptable)
        return search

    return register


def stated(severity: Severity, *, general: bool = False) -> Callable[[Page], Page]:
    """Makes a function without a body the page of what another stage states by that name."""

    def register(page: Page) -> Page:
        _add(STATED, page, None, severity, None, general=general)
        return page

    return register


def _add(
    to: dict[str, Rule],
    named: Callable[..., Any],
    search: Search | None,
    severity: Severity,
    acceptable: bool | None,
    *,
    general: bool = False,
) -> None:
    name = named.__name__.replace("_", "-")
    if name in CATALOGUE:
        raise ValueError(f"two rules are named {name}")
    mild = severity is not Severity.ERROR
    accepted = mild if acceptable is None else acceptable
    to[name] = Rule(name, severity, search, named.__doc__ or "", accepted, general)


def can_be_accepted(finding: Finding) -> bool:
    """A person may decide to live with it: no data is lost by it, and the layout can be built."""
    each = CATALOGUE.get(finding.rule)
    return finding.severity is not Severity.ERROR or (each is not None and each.acceptable)


SHAPE = frozenset(
    ("level", "members", "spares", "chunk", "layout", "metadata", "consistency", "bitmap", "journal",
     "device", "type", "inodes", "inode_ratio", "reserved")
)  # fmt: skip
"""The keys that decide whether an array or a file system can be built."""


def check(topology: Topology, found: Iterable[Finding] = ()) -> list[Finding]:
    """All that is wrong or unwise: `found` while names were resolved, and what the rules find.

    Rules run on an incomplete topology too, unless its things stand on each other in a circle. Where a rule
    says at which key something fails, the general finding of the resolution is left out.
    """
    found = list(found)
    if any(finding.rule == "cycle" for finding in found):
        return found
    findings = [
        _stamp(topology, each, hit)
        for _, each in sorted(RULES.items())
        if each.search
        for hit in each.search(topology)
    ]
    errors = (finding for finding in findings if finding.severity is Severity.ERROR)
    explained = {finding.path[:2] for finding in errors if SHAPE.intersection(finding.path[2:3])}
    general = {each.name for each in CATALOGUE.values() if each.general}
    kept = (f for f in found if f.rule not in general or f.path[:2] not in explained)
    return [*kept, *findings]


def _stamp(topology: Topology, each: Rule, hit: Hit) -> Finding:
    hint = advice(topology.layout, hit.path, hit.edits, hit.hint)
    severity = hit.severity or each.severity
    return Finding(
        each.name,
        severity,
        hit.path,
        hit.message,
        hint,
        related=hit.related,
        edits=hit.edits,
        meant=hit.meant,
    )
