"""A project's settings: `[tool.raidplan]` of a pyproject.toml, or a `.raidplan.toml`.

The nearest file counts, from the layout's folder upward; beside each other `.raidplan.toml` does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from raidplan.base.findings import Finding, Severity, did_you_mean, shortened
from raidplan.base.size import MIB

OWN, SHARED = ".raidplan.toml", "pyproject.toml"
MAX_BYTES = MIB


class Settings(NamedTuple):
    """The findings to report, those that count as failure, and the files of a folder that count."""

    fail_on: Severity = Severity.ERROR
    select: frozenset[str] = frozenset()
    """The rules that are reported; all of them if none is named."""
    ignore: frozenset[str] = frozenset()
    """The rules that are not."""

    include: tuple[str, ...] = ()
    """Globs of the files that are layouts in a folder, from `root`; those that look so if there is none."""
    exclude: tuple[str, ...] = ()
    """Globs of files and folders that do not."""
    root: str = ""
    """The folder of the file of settings."""

    def includes(self, file: str) -> bool:
        """Whether a file of a folder counts."""
        return self._matches(file, self.include)

    def excludes(self, path: str) -> bool:
        """Whether a file or folder is left out."""
        return bool(self.exclude) and self._matches(path, self.exclude)

    def _matches(self, path: str, globs: Sequence[str]) -> bool:
        place = os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/")
        above = [place[:end] for end in range(len(place) + 1) if end == len(place) or place[end] == "/"]
        return any(pattern(glob).fullmatch(each) for glob in globs for each in above)

    def wants(self, finding: Finding) -> bool:
        """Whether a finding is reported; what nobody can accept always is."""
        chosen = not self.select or finding.rule in self.select
        if chosen and finding.rule not in self.ignore:
            return True
        from raidplan.rules import can_be_accepted

        return not can_be_accepted(finding)


@cache
def pattern(glob: str) -> re.Pattern[str]:
    """A glob as an expression for a path with slashes: `*` and `?` within a name, `**` for any folders."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob.rstrip("/"))
    words = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts))


DEFAULT = Settings()


class InvalidSettings(ValueError):
    """The settings make no sense; the message names the file and says why."""


def read_settings(layout: str) -> Settings:
    """The settings that hold for a layout file (`-` is standard input). Raises InvalidSettings."""
    for file in _candidates(layout):
        try:
            found = _read(file)
        except OSError as error:
            raise InvalidSettings(f"cannot read {file}: {error.strerror}") from None
        except ValueError as error:  # also what tomllib and the decoder say
            raise InvalidSettings(f"{file}: {error}") from None
        if found is not None:
            return found._replace(root=str(file.parent))
    return DEFAULT


def rule_names(names: Sequence[str]) -> frozenset[str]:
    """Names of rules. Raises ValueError for one that does not exist."""
    from raidplan.rules import CATALOGUE

    for name in names:
        if name not in CATALOGUE:
            hint = did_you_mean(name, CATALOGUE) or "`raidplan explain` lists the rules"
            raise ValueError(f"there is no rule '{shortened(name)}'; {hint}")
    return frozenset(names)


def ignorable(names: Sequence[str]) -> frozenset[str]:
    """Names of rules. Raises ValueError for one that does not exist, or that nobody can accept."""
    from raidplan.rules import CATALOGUE

    known = rule_names(names)
    for name in names:
        if not CATALOGUE[name].acceptable:
            raise ValueError(f"{name} cannot be ignored: data would be lost, or the layout cannot be built")
    return known


def _candidates(layout: str) -> Iterator[Path]:
    start = Path.cwd() if layout == "-" else Path(os.path.abspath(layout)).parent
    for folder in (start, *start.parents):
        yield from (file for name in (OWN, SHARED) if (file := folder / name).is_file())


def _read(file: Path) -> Settings | None:
    with file.open("rb") as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError("larger than 1 MiB, the limit for settings")
    if file.name == SHARED and b"raidplan" not in data:
        return None  # tomllib need not be loaded to know
    import tomllib

    content: Any = tomllib.loads(data.decode("utf-8"))
    if file.name == OWN:
        return _settings(content)
    tools = content.get("tool")
    return _settings(tools["raidplan"]) if isinstance(tools, dict) and "raidplan" in tools else None


def _settings(content: Any) -> Settings:
    if not isinstance(content, dict):
        raise ValueError("tool.raidplan is not a table; write [tool.raidplan]")
    parsers: dict[str, Callable[[Any], Any]] = {
        "fail-on": _severity,
        "select": lambda value: rule_names(_names(value)),
        "ignore": lambda value: ignorable(_names(value)),
        "include": lambda value: tuple(_names(value)),
        "exclude": lambda value: tuple(_names(value)),
    }
    values = {}
    for key, value in content.items():
        if key not in parsers:
            hint = did_you_mean(key, parsers) or f"known here: {', '.join(parsers)}"
            raise ValueError(f"unknown key '{shortened(key)}'; {hint}")
        try:
            values[key.replace("-", "_")] = parsers[key](value)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None
    return Settings(**values)


def _severity(value: Any) -> Severity:
    if value not in list(Severity):
        raise ValueError(f"{shortened(str(value))} is none of {', '.join(Severity)}; choose one of them")
    return Severity(value)


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError('a list of texts is expected; write ["no-spare"], or ["site/**"] for files')
    return value
