"""Each row of "One place for one new thing" in docs/internals/architecture.md is shown by a test or a commit that it names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from raidplan.apply.change.change import IN_PLACE, changes
from raidplan.apply.change.difference import Difference
from raidplan.apply.journal.past import Past
from raidplan.apply.preflight import running_system, versions
from raidplan.apply.preflight.preflight import preflight
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.findings import Severity
from raidplan.base.magic import Magic
from raidplan.cli import run
from raidplan.facts import Machine, magic
from raidplan.plan.step import Plan, Proof, Run, Step
from raidplan.render.forms import FORMS
from raidplan.render.refusal_codes import CODES
from raidplan.render.refusals import refusal_to_data
from raidplan.rules.lib import engine
from raidplan.topology import Topology
from tests.throw_away import PACKAGE, PAGE, ROOT, Copied, cells, python_files

PAIR = """\
version: 1
host: pair
hardware: {disks: {d<0-1>: {serial: S<1>, size: 1TB}}}
arrays: {data: {level: raid1, members: [d<0-1>]}}
"""


def rows() -> list[tuple[str, str]]:
    """What is to be added, and what shows that the row is true."""
    return [(name, shown) for name, _, shown in cells("One place for one new thing")]


def test_every_file_and_folder_that_the_page_names_exists() -> None:
    folders = [ROOT, PACKAGE, *(folder for folder in PACKAGE.rglob("*") if folder.is_dir())]
    named = set(re.findall(r"`([\w./-]+(?:\.(?:py|sh|md|yml)|/))`", PAGE))
    assert len(named) > 80
    assert {name for name in named if not any((folder / name).exists() for folder in folders)} == set()


def test_the_table_of_folders_is_whole() -> None:
    folders = {f"{file.parent.relative_to(PACKAGE)}/" for file in PACKAGE.rglob("*.py")} - {"./"}
    assert {folder for folder in folders if f"`{folder}`" not in PAGE} == set()


def test_the_page_has_a_glossary_and_answers_of_files() -> None:
    assert 20 <= len(cells("Glossary")) <= 30
    answers = cells("Where would you")
    assert len(answers) == 12 and all((PACKAGE / file.strip("`")).is_file() for _, file in answers)


def test_each_row_is_shown_by_a_test_or_a_commit_that_exists() -> None:
    assert len(rows()) > 14
    for name, shown in rows():
        places = re.findall(r"`([^`]+)`", shown)
        assert places, name
        for place in places:
            if (PACKAGE / place).exists():
                continue
            if "/" in place:
                file, _, test = place.partition("::")
                text = (ROOT / file).read_text()
                assert f"def {test}(" in text if test else "def test_" in text, place
            elif (ROOT / ".git").exists() and not (ROOT / ".git/shallow").exists():
                subprocess.run(["git", "cat-file", "-e", f"{place}^{{commit}}"], cwd=ROOT, check=True)


def test_a_commit_that_shows_a_row_touches_the_files_of_the_row() -> None:
    """Those that were there at that time; what stands behind a semicolon is needed only now and then. Where no test shows the row,
    it names every file of the package that the commit touched, or the cell of the commit does, as one that is not needed."""
    if not (ROOT / ".git").exists() or (ROOT / ".git/shallow").exists():
        pytest.skip("no history here")
    shown = 0
    for name, touch, by in cells("One place for one new thing"):
        for commit in re.findall(r"`([0-9a-f]{7,})`", by):
            files = {*git("show", "--name-only", "--format=", commit).split()}
            there = set(git("ls-tree", "-r", "--name-only", commit).split())
            named = {f"raidplan/{file}" for file in python_files(touch.partition(";")[0])}
            assert named & there, name
            assert named & there <= files, (name, commit)
            if "tests/" not in by:
                folders = tuple(
                    f"raidplan/{folder}" for folder in re.findall(r"`([\w/]+/)`", f"{touch} {by}")
                )
                mentioned = {f"raidplan/{file}" for file in python_files(f"{touch} {by}")}
                ours = {file for file in files if file.startswith("raidplan/")}
                assert {file for file in ours - mentioned if not file.startswith(folders)} == set(), (
                    name,
                    commit,
                )
            shown += 1
    assert shown > 3


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def layout(tmp_path: Path) -> str:
    file = tmp_path / "layout.yaml"
    file.write_text(PAIR)
    return str(file)


def test_a_rule(layout: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A function is all that it takes: check finds what it says, explain prints its page."""
    before = set(engine.RULES)

    def pair_of_nobody(topology: Topology) -> Iterator[engine.Hit]:
        """Mirrors are throw-away things.

        Why: this one is.
        """
        for name in topology.layout.arrays:
            yield engine.Hit(("arrays", name), f"{name} is a throw-away thing", "throw it away")

    engine.rule(Severity.WARNING)(pair_of_nobody)
    try:
        assert run(["check", layout, "--fail-on", "error"]) == 0
        assert "warning[pair-of-nobody] data is a throw-away thing" in capsys.readouterr().out
        assert run(["explain", "pair-of-nobody"]) == 0
        assert "Mirrors are throw-away things." in capsys.readouterr().out
    finally:
        for name in set(engine.RULES) - before:
            del engine.RULES[name]


def test_an_output_form(
    layout: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A module with `render`, and a name for it."""
    module = ModuleType("raidplan.render.findings_tiny")
    module.render = lambda checked, look: f"{len(checked)} layout\n"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(FORMS, "tiny", "findings_tiny")
    assert run(["check", layout, "--format", "tiny", "--fail-on", "error"]) == 0
    assert capsys.readouterr().out == "1 layout\n"


def test_a_format_to_recognise(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes(512) + b"TINYFMT!" + bytes(512)
    assert [*magic.recognised(lambda at, size: data[at : at + size])] == []
    monkeypatch.setattr(magic, "OTHERS", (*magic.OTHERS, Magic("tiny", (512,), b"TINYFMT!")))
    (found,) = magic.recognised(lambda at, size: data[at : at + size])
    assert (found.type, found.offset) == ("tiny", 512)


def test_a_preflight_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_fits(situation: Situation) -> Iterator[Refusal]:
        yield refusal("machine-unclear", problem="a throw-away check says no")

    situation = Situation(Plan("pair", "", "", (), ()), Machine(memory_bytes=1), {})
    assert preflight(situation, here=False) == []
    monkeypatch.setattr(running_system, "OF_FACTS", (*running_system.OF_FACTS, nothing_fits))
    (found,) = preflight(situation, here=False)
    assert found.figures == {"problem": "a throw-away check says no"}


def test_an_option_that_not_every_version_has(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Step("a", "format", "make a", Run(("mkswap", "--throw-away", "/dev/x")), "swap.a", 3)
    plan = Plan("pair", "", "", (), (step,))
    machine = Machine(objects={"tool": {"mkswap": {"version": "2.38.1"}}})
    assert [*versions.too_old(plan, machine)] == []
    row = versions.Need("mkswap", ("--throw-away",), "2.99", "it ends with 1", "https://example.org")
    monkeypatch.setattr(versions, "NEEDS", (*versions.NEEDS, row))
    (found,) = versions.too_old(plan, machine)
    assert (found.code, found.case, found.place, found.line) == ("version", "option", "swap.a", 3)
    assert found.figures == {
        "program": "mkswap",
        "since": "2.99",
        "options": ("--throw-away",),
        "version": "2.38.1",
    }


def test_a_change_that_apply_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = Proof("filesystem", "u", {"type": "ext4", "blocks": 2})
    make = Run(("mke2fs", "/dev/x"))
    step = Step(
        "filesystem.a.make", "format", "make a", make, "filesystems.a", 3, guard=("/dev/x",), proof=proof
    )
    plan = Plan("pair", "", "", (), (step,))
    machine = Machine(objects={"filesystem": {"u": {"type": "ext4", "blocks": 1, "device": "/dev/x"}}})
    steps, refusals = changes(step, machine, plan, Past())
    assert steps == [] and [each.code for each in refusals] == ["differs"]

    def grown(difference: Difference) -> Iterator[Step]:
        yield difference.then("grow", "grow a", ("resize2fs", difference.node))

    monkeypatch.setitem(IN_PLACE, ("filesystem", "blocks"), grown)  # type: ignore[arg-type]
    (added,), refusals = changes(step, machine, plan, Past())
    assert refusals == [] and added.action == Run(("resize2fs", "/dev/x")) and added.origin.step == step.id


def test_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CODES, "not-root", (CODES["not-root"][0], "Become a throw-away root."))  # type: ignore[index]
    assert refusal_to_data(refusal("not-root"))["remedy"] == "Become a throw-away root."


def test_a_form_in_which_a_finding_is_accepted(tmp_path: Path) -> None:
    copy = Copied(tmp_path, "a form in which a finding is accepted", {
        "review/acceptance.py": {r"#\s*raidplan:\s*allow\[\s*": r"#\s*raidplan:\s*(?:allow|tolerate)\[\s*"},
    })  # fmt: skip
    file = copy.layout("pair", PAIR)
    first, *_ = json.loads(copy.raidplan("check", file, "--format", "json"))["findings"]
    line = first["location"]["line"] if "location" in first else first["line"]
    lines = PAIR.splitlines()
    lines[line - 1] += f"  # raidplan: tolerate[{first['rule']}] it is thrown away"
    after = json.loads(
        copy.raidplan("check", copy.layout("pair", "\n".join(lines) + "\n"), "--format", "json")
    )
    assert first not in after["findings"]
    assert first["rule"] in {each["rule"] for each in after["accepted"]}


LINKED = """\
version: 1
host: linked
hardware:
  buses: {b: {type: wire, lanes: 4}}
  controllers: {h: {behind: b, speed: 6Gbps}}
  disks: {d<0-3>: {serial: S<1>, size: 1TB, behind: h, rate: 150MB/s}}
arrays: {data: {level: raid5, members: [d<0-3>]}}
"""


def test_a_kind_of_link(tmp_path: Path) -> None:
    copy = Copied(tmp_path, "a kind of link", {
        "layout/kinds/hardware.py": {'"thunderbolt", "other"]': '"thunderbolt", "wire", "other"]'},
        "estimate/links/rates.py": {
            'Row("thunderbolt2"': 'Row("wire", 0.5, "a throw-away source"),\n        Row("thunderbolt2"'
        },
        "estimate/links/paths.py": {
            '    "usb": "speed",\n': '    "usb": "speed",\n    "wire": "lanes",\n',
            '        case "usb" if bus.speed:': '        case "wire" if bus.lanes:\n            return bus.lanes * 10e6, TABLE["wire"]\n        case "usb" if bus.speed:',
        },
        "rules/links.py": {'    "usb": "attach': '    "wire": "take more wires",\n    "usb": "attach'},
        "render/draw/words.py": {
            '        case "usb":\n': '        case "wire":\n            return f"Wire{lanes}"\n        case "usb":\n'
        },
    })  # fmt: skip
    file = copy.layout("linked", LINKED)
    code = (
        "from raidplan.review.pipeline import load; import sys\n"
        "from raidplan.estimate.links import Links\n"
        "topology = load(sys.argv[1]).topology\n"
        "link = {each.kind: each for each in Links(topology.layout.hardware, topology.wiring).of('d0')}['bus']\n"
        "print(link.line, link.bytes_per_second, link.source)"
    )
    assert copy.python("-c", code, file) == "40000000.0 20000000.0 a throw-away source\n"
    assert "take more wires" in copy.raidplan("check", file)
    assert "Wire ×4" in copy.raidplan("draw", file)


LOCKED = """\
version: 1
host: locked
hardware: {{disks: {{d0: {{serial: S0, size: 1TB}}}}}}
encryption: {{safe: {{device: d0, key: ask{more}}}}}
filesystems: {{safe: {{device: safe, type: ext4, mount: /srv}}}}
"""


def test_an_option_of_an_encryption(tmp_path: Path) -> None:
    copy = Copied(tmp_path, "an option of an encryption", {
        "layout/kinds/encryption.py": {
            "    discard: Boolean = False\n": '    label: Name | None = None\n    """The label of the header: `safe`."""\n    discard: Boolean = False\n',
            "import Block, Boolean, Model, Reference": "import Block, Boolean, Model, Name, Reference",
            "*self._key_words(), below.node,\n        )": '*self._key_words(), *(("--label", self.label) if self.label else ()), below.node,\n        )',
            '"headers": 2, "keyed": True,': '"headers": 2, "keyed": True, **({"label": self.label} if self.label else {}),',
        },
        "facts/luks.py": {
            "    sector_size: int = SECTOR\n": '    sector_size: int = SECTOR\n    label: str = ""\n',
            '            "version": 2,\n': '            "version": 2,\n            "label": _text(head[24:72]),\n',
            '        "sector_size": found.sector_size,\n': '        "sector_size": found.sector_size,\n        "label": found.label,\n',
        },
        "diff/encryption.py": {
            "    was, now = _sector(": "    if old.label != new.label:\n"
            '        yield Change("label", old.label, new.label, way(contents.ENCRYPTION_LABEL))\n'
            "    was, now = _sector("
        },
        "plan/changes/contents.py": {
            "ENCRYPTION_GROWN =": 'ENCRYPTION_LABEL = by_hand("cryptsetup config --label={planned} {node}")\nENCRYPTION_GROWN ='
        },
        "apply/change/by_hand.py": {
            "    known = FILESYSTEMS.get(str": '    if (kind, name) == ("encryption", "label"):\n'
            "        return contents.ENCRYPTION_LABEL\n    known = FILESYSTEMS.get(str"
        },
    })  # fmt: skip
    old, new = (
        copy.layout("old", LOCKED.format(more="")),
        copy.layout("new", LOCKED.format(more=", label: blue")),
    )
    (make,) = (each for each in json.loads(copy.raidplan("plan", "--offline", new, "--format", "json"))["steps"] if each["id"] == "encryption.safe.make")  # fmt: skip
    assert "--label" in make["argv"] and make["proof"]["expect"]["label"] == "blue"
    assert "cryptsetup config --label" in copy.raidplan("diff", old, new)
    code = (
        "from raidplan.apply.change.by_hand import by_hand\n"
        "print(by_hand('encryption', 'label', '/dev/x', {'label': ''}, {'label': 'blue'}).figures['commands'])"
    )
    assert "cryptsetup config --label=blue /dev/x" in copy.python("-c", code)
