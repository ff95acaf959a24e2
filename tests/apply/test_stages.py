"""The stages of a decision work on values alone: what they import cannot reach a device, and when they run they open nothing."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from raidplan.apply.journal.journal import read_past
from raidplan.apply.stages.clearing import clear
from raidplan.apply.stages.matching import asked_for, match_disks, match_journal
from raidplan.apply.stages.rechecking import Rechecked
from raidplan.apply.stages.remaining import remain
from raidplan.apply.stages.resuming import resume
from raidplan.apply.teardown.cleared import Imagined
from raidplan.facts import Machine
from tests.apply.recorded_runs import JOURNAL, NAMES, Recorded

ROOT = Path(__file__).parents[2]
PURE = [f"raidplan.apply.stages.{name}" for name in ("matching", "resuming", "clearing", "remaining")]
DOORS = {"os", "subprocess", "sh", "shutil", "fcntl", "mmap", "socket", "ctypes", "pathlib.Path"}
"""What opens a file or starts a program."""
WRITING = (
    "raidplan.apply.world",
    "raidplan.apply.execute",
    "raidplan.apply.work",
    "raidplan.apply.devices",
    "raidplan.apply.session",
)
READS = re.compile(r"\bos\.(?!path\.(?:join|normpath))|\bopen\(|\.(?:read|write)_(?:text|bytes)\(|\.(?:exists|glob|resolve|iterdir|stat|open)\(|\bask\(|\bread\(")  # fmt: skip
"""How a function of facts/ asks the machine; to call one that does is asking as well."""


def file_of(module: str) -> Path | None:
    path = ROOT / module.replace(".", "/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


def imported(file: Path) -> Iterator[tuple[str, str]]:
    """Module and name of each import at run time."""
    tree = ast.parse(file.read_text())
    unread = {id(each) for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) for each in ast.walk(node)}  # fmt: skip
    for node in ast.walk(tree):
        if id(node) in unread:
            continue
        if isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, name.name) for name in node.names)


def reached() -> tuple[set[str], set[str]]:
    """The modules that the pure stages import, but for what facts/ imports in turn; and the names that they take of facts/."""
    modules, names, left = set[str](), set[str](), [*PURE]
    while left:
        module = left.pop()
        file = file_of(module)
        if module in modules or file is None:
            continue
        modules.add(module)
        for source, name in imported(file):
            inner = f"{source}.{name}"
            if source.startswith("raidplan.facts"):
                names.add(name)
            elif source.startswith("raidplan"):
                left += [source, *([inner] if file_of(inner) else [])]
            else:
                modules |= {source.partition(".")[0], inner}
    return modules, names


def told_apart(file: Path, name: str) -> str:
    """A name that a module keeps to itself means something else in every module."""
    return f"{file.stem}.{name}" if name.startswith("_") else name


def readers() -> set[str]:
    """The functions of facts/ that ask the machine for something, or call one that does."""
    texts: dict[str, str] = {}
    takes: dict[str, set[str]] = {}
    for file in (ROOT / "raidplan/facts").glob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
                own = {each.id for each in names if isinstance(each.ctx, ast.Store)}
                own |= {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
                called = told_apart(file, node.name)
                texts[called] = texts.get(called, "") + ast.unparse(node)
                takes.setdefault(called, set()).update(
                    told_apart(file, each.id) for each in names if each.id not in own
                )
    found = {name for name, text in texts.items() if READS.search(text)} | {"run"}
    while more := {name for name, others in takes.items() if others & found} - found:
        found |= more
    return found


def test_what_the_pure_stages_import_cannot_reach_a_device() -> None:
    modules, names = reached()
    assert len(modules) > 30 and "match" in names, "the search finds something"
    assert modules & DOORS == set()
    assert [module for module in modules if module.startswith(WRITING)] == []
    asking = readers()
    assert {"read_machine", "read_blocks", "read_at", "find_tool", "run"} <= asking, "and knows what asks"
    assert names & asking == set()


FORBIDDEN = (
    "open",
    "os.",
    "subprocess.",
    "socket.",
    "fcntl.",
    "mmap.",
    "shutil.",
    "ctypes.",
    "pathlib.",
    "glob.",
)
"""The beginnings of audit events (https://docs.python.org/3/library/audit_events.html) that no pure stage gives cause for."""
watched: list[str] | None = None


def _heard(event: str, arguments: object) -> None:
    if watched is not None and event.startswith(FORBIDDEN):
        watched.append(f"{event} {arguments}")


@contextmanager
def nothing_opened() -> Iterator[None]:
    """Fails if a file was opened or a program started meanwhile."""
    global watched
    watched = []
    try:
        yield
    finally:
        events, watched = watched, None
    assert events == []


def test_what_is_opened_would_be_seen() -> None:
    with pytest.raises(AssertionError), nothing_opened():
        Path("/dev/null").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_no_pure_stage_opens_anything(name: str, tmp_path: Path) -> None:
    """On machines that runs have left, finished or cut off; with teardowns among them."""
    left = Recorded(name, tmp_path / "left")
    machine, past = left.world().read(left.layout), read_past(left.root / JOURNAL)
    with nothing_opened():
        asked = asked_for(left.layout)
        matched = match_disks(asked, machine)
        resumed = resume(asked, matched, match_journal(asked, matched, past), Rechecked(matched.machine))
        cleared = clear(asked, matched, resumed)
        remaining = remain(asked, resumed, cleared)
    assert isinstance(cleared.after, Imagined) and not isinstance(cleared.after, Machine)
    assert remaining.left.steps == left.decide(left.layout).left.steps


LINE = re.compile(r"│ (\d) (\w+) +(\w+(?:, \w+)*)(?:, …)? {2,}\S.*? {2,}(stages/\w+\.py)")
"""A stage in the drawing of docs/internals/architecture.md: its number, its name, its types, and its module."""


def test_the_drawing_is_of_these_stages() -> None:
    """Each module says its number and name, has a type of its own, and is called in this order."""
    page = (ROOT / "docs/internals/architecture.md").read_text()
    rows = LINE.findall(page)
    assert [int(number) for number, *_ in rows] == [1, 2, 3, 4, 5, 6]
    assert {file for *_, file in rows} == {
        f"stages/{each.name}"
        for each in (ROOT / "raidplan/apply/stages").glob("*.py")
        if each.stem != "__init__"
    }
    decide = (ROOT / "raidplan/apply/decision.py").read_text().partition("\ndef decide(")[2]
    called = []
    for number, name, types, file in rows:
        tree = ast.parse((ROOT / "raidplan/apply" / file).read_text())
        assert str(ast.get_docstring(tree)).startswith(f"Stage {number}, {name}: "), file
        gives = {
            node.name: ast.unparse(node.returns)
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.returns
        }
        for each in types.split(", "):
            (function,) = (name for name, given in gives.items() if given in (each, f"tuple[{each}, ...]"))
            called.append(decide.index(f"= {function}("))
    assert called == sorted(called)


sys.addaudithook(_heard)
