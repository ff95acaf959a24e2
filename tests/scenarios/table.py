"""The table of faults (faults.toml) as values and as a page."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEAD = """\
# Faults, and what shows that they do no harm

Seventy things that happen to a server while its storage is made, in seven groups: interruption (F01–F10), wrong or
moving disks (F11–F22), old content (F23–F31), busy disks and odd environments (F32–F44), failing disks (F45–F52), files
and boot (F53–F62), somebody hostile (F63–F70). For each: what must hold, the tests that show it, and what no test
shows. Tests in `machine/` run in a virtual server. Made from [faults.toml](../../tests/scenarios/faults.toml), where every
test is named; a test keeps both fresh.

| fault | what happens, what must hold | shown by |
| --- | --- | --- |
"""


@dataclass(frozen=True, slots=True)
class Fault:
    """A row; `tests` are node ids below tests/, `why` says what no test shows."""

    id: str
    says: str
    tests: tuple[str, ...] = ()
    why: str = ""


def faults() -> tuple[Fault, ...]:
    """All rows, in the order of the file."""
    rows = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())
    return tuple(Fault(id, row.pop("says"), tuple(row.pop("tests", ())), **row) for id, row in rows.items())


def page() -> str:
    """The table as docs/internals/faults.md."""
    return HEAD + "".join(f"| {row.id} | {row.says} | {'<br>'.join(_shown(row))} |\n" for row in faults())


def _shown(row: Fault) -> Iterator[str]:
    files: dict[str, list[str]] = {}
    for test in row.tests:
        file, _, name = test.partition("::")
        files.setdefault(file, []).append(name)
    for file, names in files.items():
        count = (
            f"{len(names)} tests"
            if len(names) > 1
            else "`" + names[0].removeprefix("test_").replace("_", " ") + "`"
        )
        yield f"[{file}](../../tests/{file}): {count}"
    if row.why:
        yield row.why
