"""Names that disks of others bring along, in everything that a person sees or a program reads, whatever is decided."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal
from raidplan.apply.journal.past import Past
from raidplan.apply.world import World
from raidplan.base.hidden import escaped
from raidplan.cli import run
from raidplan.facts.machine import Trace
from raidplan.facts.uses import User
from raidplan.plan.step import Plan, Run, WriteBlock, WriteFile
from raidplan.render.losses import loss_texts
from raidplan.render.note_words import note_text
from raidplan.render.obsolete import obsolete_text
from tests.apply.sentences import sentences
from tests.apply.stacks import GIB, GROUP, LAYOUT, MIB, OLD, OTHER, PHOTOS, Box, old_pair, plan_of
from tests.images import image, put, superblock, traces

HOSTILE = {
    "lines": "a\nnothing was written\nARRAY /dev/md0",
    "tabs": "a\tb\rc\x0bd",
    "escapes": "\x1b[2J\x1b]0;x\x07\x9b2J",
    "quotes": "\"';`$(reboot)${HOME}\\",
    "markup": "<img src=x onerror=y>|**b**@all::error::x##[error]y",
    "order": "\u202etxt\u2028next\u200b\u0085",
    "long": "ü" * 16,
    "no UTF-8": b"\xff\xfe\x80ok".decode(errors="replace"),
    "option": "-rf",
}
"""As facts hold them: invalid UTF-8 was replaced when it was read; `long` has 32 bytes, the most of an array's name."""


def pair(text: str) -> Box:
    """Two blank disks of the plan, and one of somebody else."""
    return Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").disk("sdd", "OTHER")


def everywhere(text: str) -> Box:
    """What the layout lets be wiped, with the text wherever a disk has one."""
    box = old_pair().group(text, "md127", uuid=GROUP).volume("dm-0", text, "home", "md127").filesystem("dm-0", label=text)  # fmt: skip
    box.objects["array"][OLD]["name"] = text
    box.filesystem("sdb1", OTHER, label=text)
    for disk in ("sdb", "sdc"):
        named = tuple(replace(one, label=text) for one in box.disks[disk].traces)
        box.disks[disk] = replace(box.disks[disk], traces=named, model=text)
    return box


def in_use(text: str) -> Box:
    return everywhere(text).use("dm-0", f"mounted at {escaped(text)}")


def reaches_others(text: str) -> Box:
    box = everywhere(text).disk("sdd", text).partition("sdd").member("sdd1", label=text)
    return box.group(text, "md127", "sdd1")


def another_serial(text: str) -> Box:
    return Box().disk("sdb", "PAIR-0").disk("sdc", f"PAIR-1{text}")


def held(text: str) -> Box:
    box = pair(text)
    box.disks["sdb"] = replace(box.disks["sdb"], users=(User("held", escaped(text)),))
    return box


def same_name(text: str) -> Box:
    return pair(text).array("md127", "sdd", name=f"{text}:data")


def as_planned_but(text: str) -> Box:
    """Our array and file system stand there, with texts of somebody."""
    box = pair(text)
    box.put("array", ARRAY, name=text, node="/dev/md127", members=[text, text], level=text)
    return box.put("filesystem", FILESYSTEM, type="ext4", label=text, device=text)


def doubled(text: str) -> Box:
    box = pair(text)
    return box.trace("sdd", Trace(4096, "linux_raid_member", 0, GIB, "", ARRAY, text, text, 2))


def lines_of_fstab(text: str) -> Box:
    content = f"LABEL={text} /srv/data ext4 defaults 0 0\nUUID={PHOTOS} {text} ext4 defaults 0 0\n"
    return everywhere(text).put("file", "/etc/fstab", content=content, size=len(content))


BOXES: tuple[Callable[[str], Box], ...] = (everywhere, in_use, reaches_others, another_serial, held, same_name, as_planned_but, doubled, lines_of_fstab)  # fmt: skip
ARRAY = FILESYSTEM = ""


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plan]:
    """With `wipe: true`, and without."""
    global ARRAY, FILESYSTEM
    folder = tmp_path_factory.mktemp("plans")
    (folder / "wipe").mkdir()
    (folder / "keep").mkdir()
    made = {"wipe": plan_of(LAYOUT, folder / "wipe"), "keep": plan_of(LAYOUT.replace(", wipe: true", ""), folder / "keep")}  # fmt: skip
    proofs = {step.proof.kind: step.proof.key for step in made["wipe"].steps if step.creates and step.proof}
    ARRAY, FILESYSTEM = proofs["array"], proofs["filesystem"]
    return made


def harmless(words: str) -> bool:
    """One line, in which nothing moves a cursor or hides."""
    return words.isprintable() and escaped(words) == words


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.__name__)
def test_f68_whatever_is_decided_is_said_in_harmless_words(
    plans: dict[str, Plan], box: Callable[[str], Box], text: str
) -> None:
    past = Past(made=frozenset({f"array:{OLD}", f"filesystem:{PHOTOS}", f"volume:{text}/{text}"}))
    some: list[str] = []
    for which in plans.values():
        decision = decide(which, box(text).machine(), past, here=False)
        said = (
            *sentences(decision.refusals),
            *map(note_text, decision.notes),
            *map(obsolete_text, decision.obsolete),
            *loss_texts(decision.left.lost),
        )
        some += said
        assert [words for words in said if not harmless(words)] == []
        for step in decision.left.steps:
            assert harmless(step.say), step.say
            if isinstance(step.action, Run):
                assert not any(text in word for word in step.action.argv), step.action.argv
            if isinstance(step.action, WriteFile | WriteBlock):
                assert text not in step.action.content
    assert some, "something is said of it"


@pytest.mark.parametrize("form", ["text", "json", "markdown", "shell"])
@pytest.mark.parametrize("box", [everywhere, in_use, as_planned_but], ids=lambda box: box.__name__)
@pytest.mark.parametrize("text", [HOSTILE["lines"], HOSTILE["escapes"], HOSTILE["markup"], HOSTILE["tabs"]], ids=["lines", "escapes", "markup", "tabs"])  # fmt: skip
def test_f68_the_command_line_says_it_in_as_many_lines(
    plans: dict[str, Plan], box: Callable[[str], Box], form: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    """What a name with line breaks adds is no line of its own in any form, on standard output or error."""

    def said(word: str) -> tuple[str, str]:
        file, facts = tmp_path / "layout.yaml", tmp_path / "facts.json"
        file.write_text(LAYOUT)
        facts.write_text(json.dumps(box(word).machine().to_data()))
        run(["plan", str(file), "--machine", str(facts), "--format", form])
        seen = capsys.readouterr()
        return seen.out, seen.err

    for hostile, friendly in zip(said(text), said("harmless"), strict=True):
        assert hostile.count("\n") == friendly.count("\n")
        assert {each for each in hostile if not each.isprintable()} <= {"\n", "\t"}
        assert hostile.count("\t") == friendly.count("\t")
        began = [sum(line.startswith(("::", "nothing was", "ARRAY")) for line in each.splitlines()) for each in (hostile, friendly)]  # fmt: skip
        assert began[0] == began[1]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_f68_a_tool_that_repeats_a_name_is_one_line_of_the_journal(text: str, tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "state", World())
    journal.begin("{}", "sha256:x")
    journal.record_intent("a")
    journal.record_failure("a", f"mke2fs: it contains a file system labelled '{text}'")
    lines = journal.file.read_bytes()
    assert lines.count(b"\n") == 3 and lines.replace(b"\n", b"").decode("ascii").isprintable()
    assert text in json.loads(lines.splitlines()[-1])["message"]


NAMES = [
    b"a\nb",
    b"a\tb\x1b[2J",
    b"\"'`$x",
    b"<b>|",
    b"\xff\xfe\x80",
    b"x" * 32,
    b"\xc3\xbc" * 16,
    b"\xe2\x82",
]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_f68_bytes_of_a_superblock_become_words(name: bytes, tmp_path: Path) -> None:
    """All 32 bytes of the name, whatever they are."""
    file = image(tmp_path, 16 * MIB)
    put(file, 4096, superblock("1.2", 16 * MIB, name=name))
    (trace,) = traces(file)
    assert trace.label == name.decode(errors="replace")
    box = Box().disk("sdb", "PAIR-0", trace).disk("sdc", "PAIR-1")
    (listed, *_) = loss_texts(decide(plan_of(LAYOUT, tmp_path), box.machine(), Past(), here=False).left.lost)
    assert harmless(listed) and escaped(trace.label) in listed
