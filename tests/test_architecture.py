"""The structure that docs/internals/architecture.md describes, kept by a test."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.levels import LEVELS

PACKAGE = Path(__file__).parents[1] / "raidplan"
FILES = sorted(PACKAGE.rglob("*.py"))


def imports(file: Path) -> Iterator[str]:
    """The modules a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def part(file: Path) -> str:
    """The folder or module below raidplan that a file belongs to."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_the_half_that_writes_needs_little() -> None:
    code = "import sys; before = set(sys.modules); import raidplan.apply.session, raidplan.apply.execute, raidplan.facts.read; print(*sys.modules)"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert not loaded & {"pydantic", "yaml", "jinja2", "rich"}
    ours = {name.split(".")[1] for name in loaded if name.startswith("raidplan.")}
    assert ours <= {"apply", "base", "facts", "geometry", "plan"}, ours


def test_reading_and_planning_can_start_no_process() -> None:
    code = "import sys; import raidplan.review.pipeline, raidplan.rules, raidplan.render.plan_text; print(*sys.modules)"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert not loaded & {"sh", "subprocess", "raidplan.facts.run", "raidplan.apply"}


EXAMPLES = PACKAGE.parent / "examples"
CALLED = """
import io, sys
from contextlib import redirect_stderr, redirect_stdout
from raidplan.cli import run
for words in {commands}:
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(out):
        code = run(words)
    assert code in (0, 1, 4), (words, code, out.getvalue())
print(*sys.modules)
"""


def loaded_by(*commands: list[str]) -> set[str]:
    """The modules that are there after the commands, called as a person calls them."""
    code = CALLED.format(commands=[[str(EXAMPLES / w) if w.endswith(".yaml") else w for w in words] for words in commands])  # fmt: skip
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )


def test_plan_check_estimate_and_diff_have_nothing_at_hand_that_writes() -> None:
    jbod, other = "tel-aviv-jbod.yaml", "raid5-2005.yaml"
    looking = loaded_by(
        ["check", jbod], ["check", jbod, "--format", "html"], ["estimate", jbod], ["diff", other, jbod], ["plan", "--offline", jbod]
    )  # fmt: skip
    assert {"raidplan.cli.diff", "raidplan.cli.estimate", "raidplan.review.pipeline"} <= looking
    assert not {name for name in looking if name.startswith(("raidplan.facts.run", "raidplan.apply", "raidplan.facts.read"))}  # fmt: skip
    assert not looking & {"sh", "subprocess"}
    # A plan for this machine asks programs; of what changes a machine, nothing is there.
    asking = loaded_by(["plan", jbod])
    assert "raidplan.apply.preflight.preflight" in asking
    assert not {name for name in asking if name.startswith("raidplan.apply")} & WRITING


WRITING = {
    "raidplan.apply.world",
    "raidplan.apply.work",
    "raidplan.apply.execute",
    "raidplan.apply.devices.zero",
    "raidplan.apply.devices.partition_lock",
}


def test_one_door_to_processes() -> None:
    for file in FILES:
        starts = {"sh", "subprocess"} & set(imports(file))
        assert not starts or file == PACKAGE / "facts/run.py" or part(file) == "twin", file


def test_one_printer() -> None:
    for file in FILES:
        calls = [
            n
            for n in ast.walk(ast.parse(file.read_text()))
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print"
        ]
        assert not calls or part(file) == "cli" or file.name == "__main__.py", file


def test_files_fit_a_room() -> None:
    long = {str(file.relative_to(PACKAGE)): len(file.read_text().splitlines()) for file in FILES}
    assert {name: lines for name, lines in long.items() if lines > 320} == {}


def test_every_file_says_what_it_is_for() -> None:
    assert [file for file in FILES if not ast.get_docstring(ast.parse(file.read_text()))] == []


def test_no_test_imports_from_another_one() -> None:
    """What tests share lies in plain modules; also in the code that they give to another process as text."""
    tests = Path(__file__).parent
    assert (tests / "apply/runs.py").exists(), "this is where shared things go"
    importing = re.compile(
        r"^\s*(?:from|import) tests\.(?:\w+\.)*test_\w+|^\s*from tests[\w.]* import test_", re.MULTILINE
    )
    assert importing.search("x\n    from tests.apply.test_change import plan_of")
    assert [
        str(file)
        for file in sorted(tests.rglob("*.py"))
        if importing.search(file.read_text()) and file != Path(__file__)
    ] == []


def test_no_code_asks_an_id_why_a_step_is_there() -> None:
    """Its origin says so; only what reads files of before has nothing but the id."""
    asked = re.compile(r"\b(?:id|step)\.(?:startswith|endswith|r?partition|remove(?:pre|suf)fix|r?split|replace)\(|[\"\w] in \w+\.id\b|\.id == f?\"")  # fmt: skip
    assert asked.search('if step.startswith("encryption."):') and asked.search(
        'if step.id == f"swap.{name}.on"'
    )
    found = {str(file.relative_to(PACKAGE)) for file in FILES if asked.search(file.read_text())}
    assert found == {"plan/origin.py"}
    users = {str(file.relative_to(PACKAGE)) for file in FILES if "origin_of_id" in file.read_text()}
    assert users == {"plan/origin.py", "plan/codec.py", "apply/journal/past.py", "apply/journal/records.py"}


BUILT = re.compile(
    r"""f?"(?:teardown|ghosts)\.[^"\s]*\{|\{[\w.]*\}?\{?(?:ADDED|CLEARS)\}|\{[\w.]*\bid\}\+"""
    r"""|f"[^"\n]*\{[^"\n]*"\)? (?:not )?in (?:\w+\.)*past\.(?:begun|ended|finished|run|standing|ours|order)\b"""
)
"""Code that puts the id of a step together which a run adds, or asks the journal for one that it puts together there."""


def test_an_id_that_the_journal_is_asked_for_is_built_in_one_function() -> None:
    """Its maker and the one who asks call that; built in two places, one of them would ask in vain once the other has changed."""
    for line in (
        'cleared = f"teardown.{step.targets[0]}.zero" if step.new_partitions else f"ghosts.{step.targets[0]}"',
        'STOPPED = "teardown.array.{}.stop"',
        'return f"{step.id}{ADDED}{FILLED}" in past.begun | past.ended',
        'after = (f"{step.id}{CLEARS}1",)',
        'f"{step.id}+release"',
        'if f"disk.{name}.partition" in difference.past.ended:',
    ):
        assert BUILT.search(line), line
    found = {str(file.relative_to(PACKAGE)) for file in FILES if BUILT.search(file.read_text())}
    # The layers that are taken apart have ids that nobody asks for.
    assert found == {"plan/origin.py", "plan/step.py", "apply/teardown/layers.py"}


def test_no_code_cuts_up_the_name_of_a_rule_or_the_reason_of_a_step() -> None:
    """What the findings of a rule are like stands in its declaration."""
    asked = re.compile(
        r"\b(?:rule|because)\.(?:startswith|endswith|r?partition|remove(?:pre|suf)fix|r?split)\("
    )
    assert asked.search('if not f.rule.startswith("impossible-")')
    found = {str(file.relative_to(PACKAGE)) for file in FILES if asked.search(file.read_text())}
    assert found == {"plan/step.py"}, "Step.named is the one place that reads a name out of a reason"


OF_IDENTITIES = re.compile(
    r"""\b(?:identity|made|proof\.key)\.(?:startswith|endswith|r?partition|remove(?:pre|suf)fix|r?split|strip)\("""
    r"""|\w\(\(?"(?:partition|array|volume|mapping|swap|filesystem):|\w\(\(?"file:"|strip\("\{|startswith\("\{"\) and"""
    r"""|\[1:-1\]|f"(?:file|partition|table|array|volume|mapping|swap|filesystem):\{|\{[\w.]*kind\}:\{[\w.]*key\}"""
)
"""Code that takes the text of an identity apart, or puts one together."""


def test_the_text_of_an_identity_is_made_and_read_in_one_place() -> None:
    """All others have values; what a signature or the row of a table says, they cannot cut up, for those are records."""
    for line in (
        'uuid = block.identity.partition(":")[2]',
        'if identity.startswith(("partition:", "{")):',
        'step.proof.key.removeprefix("file:")',
        'node.strip("{}")',
        'word[1:-1] if word.startswith("{") and word.endswith("}") else word',
        'f"array:{uuid}"',
        'f"{step.proof.kind}:{step.proof.key}"',
    ):
        assert OF_IDENTITIES.search(line), line
    found = {str(file.relative_to(PACKAGE)) for file in FILES if OF_IDENTITIES.search(file.read_text())}
    # `render/command.py` shows words in braces that name no disk as well; `cli/lsp` reads addresses of files.
    assert found == {"base/identity.py", "render/command.py", "cli/lsp/server.py"}
    records = re.compile(r'linux_raid_member \{|get\("carries"\)|expect(?:\.get\(|\[)"partitions"')
    texts = {str(file.relative_to(PACKAGE)) for file in FILES if records.search(file.read_text())}
    assert texts == {"facts/machine.py", "plan/step.py"}


OF_ONE = ("base/levels", "base/filesystems/", "geometry/", "plan/changes/", "rules/")
"""The records, the arithmetic of each, the table of changes from level to level, and rules that are about one level or type."""
ABOUT_ONE = {
    "discover/hardware.py",
    "facts/contents.py",
    "facts/written.py",
    "topology/boot_devices.py",
    "topology/boot_places.py",
    "twin/rehearsal/places.py",
}
"""The kernel's words of users of disks and of targets, which are spelled alike; formats of several devices; what firmware and boot
loaders read; and a program in the guest of a rehearsal, which is there without the package."""


def test_what_is_special_about_a_level_or_a_file_system_stands_in_its_record() -> None:
    names = "|".join(re.escape(name) for name in (*LEVELS, *FILESYSTEMS))
    asked = re.compile(rf"""[!=]= "(?:{names})"|= \("(?:{names})",""")
    assert asked.search('type == "btrfs"') and asked.search('MIRRORS = ("raid1", "raid10")')
    found = {str(file.relative_to(PACKAGE)) for file in FILES if asked.search(file.read_text())}
    assert {file for file in found if not file.startswith(OF_ONE)} == ABOUT_ONE


def test_docstrings_are_nouns_and_sentences() -> None:
    """None begins with a relative word: "What is left" is "The remaining steps", "Of a step" the property of a step."""
    relative = re.compile(r'"""(?:What|Which|Of|That|Who|Whom)\b')
    assert relative.search('    """What is left."""') and not relative.search('"""Whether it is."""')
    lines = ((file, line) for file in FILES for line in file.read_text().splitlines())
    assert [f"{file.relative_to(PACKAGE)}: {line}" for file, line in lines if relative.search(line)] == []


NO_NOUN = re.compile(
    r"Whether|How|Why|Something|(?:Keep|Find|Run|Bring|Read|Renew|Recognise|List|Match|Compare|Reject|Make|Write|Remove|Accept)s\b|"
    r"(?:Mak|Writ|Remov|Accept|Tak|Print|Read)ing\b"
)
"""The beginning of a first line that is a question or tells what the module does, not what it is."""


def test_the_first_line_of_a_module_says_by_itself_what_the_module_is() -> None:
    """Who looks for a file reads these lines alone: each is a whole sentence, begins with a noun, and fits a terminal."""
    assert NO_NOUN.match("Whether it is blank.") and not NO_NOUN.match("The readings of a disk.")
    lines = {
        str(file.relative_to(PACKAGE)): (ast.get_docstring(ast.parse(file.read_text())) or "").partition(
            "\n"
        )[0]
        for file in FILES
    }
    cut = {name for name, line in lines.items() if not line.endswith((".", "?"))}
    assert cut <= {"plan/changes/__init__.py"}
    assert {name: line for name, line in lines.items() if NO_NOUN.match(line)} == {}
    assert {name: line for name, line in lines.items() if len(line) > 140} == {}


def test_docstrings_of_functions_name_what_they_speak_of() -> None:
    """ "The same", "one of them" or "none" send the reader to the line before; "for each" puts the noun last."""
    pronoun = re.compile(
        r"The same (?:of|for|in|by|where|without|as|tree|ranges)\b|The same,|One of them|Several of them|All of them|Those\b|They\b|Its?\b|None\b|With\b|For each\b|Some\b"
    )
    assert pronoun.match("The same in a shell.") and not pronoun.match("The name in a shell.")
    kinds = (ast.FunctionDef, ast.ClassDef)
    found = [
        f"{file.relative_to(PACKAGE)}:{node.lineno} {text}"
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, kinds)
        and (text := ast.get_docstring(node) or "")
        and pronoun.match(text)
        and not any(
            isinstance(each, ast.Name) and each.id == "rule"
            for each in ast.walk(ast.Tuple(node.decorator_list))
        )
    ]
    assert found == []


RECORDS = {
    "Loss",
    "loss",
    "refusal",
    "Refusal",
    "note",
    "Mismatch",
    "Use",
    "use",
    "Statement",
    "statement",
    "Advice",
    "NotInPlace",
    "Problem",
    "fault",
}
"""What makes a record of a reason, a loss, a use, a statement, an advice, a problem or a fault."""
PROSE = re.compile(r"[a-z]+,? [a-z]+,? [a-z]+")


def prose_in_records(text: str) -> Iterator[str]:
    """The sentences that are given to a record: three words in a row, in a text or a part of one."""
    for call in ast.walk(ast.parse(text)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in RECORDS:
            parts = (part.value for part in ast.walk(call) if isinstance(part, ast.Constant))
            yield from (part for part in parts if isinstance(part, str) and PROSE.search(part))


def test_sentences_are_made_in_render() -> None:
    """A loss, a refusal or a use is a record with figures; whoever puts a sentence among those says it in one way for ever."""
    assert [*prose_in_records('Loss("x", f"everything that was on {d0}")')] == ["everything that was on "]
    searched = [file for file in FILES if part(file) in ("apply", "diff", "facts", "plan", "layout")]
    assert {
        str(file): [*found] for file in searched if (found := [*prose_in_records(file.read_text())])
    } == {}


NO_SENTENCES = {"no longer described"}
"""A fate, which JSON has always called so."""


def prose(text: str) -> Iterator[str]:
    """The texts in a file with three words in a row, docstrings aside."""
    nodes = [*ast.walk(ast.parse(text))]
    beside = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in beside)
    yield from (each for each in texts if isinstance(each, str) and PROSE.search(each))


def test_no_sentence_stands_where_layouts_are_compared() -> None:
    """Nor in the table of changes, nor where a plan is examined: codes and figures alone, whatever is made of them there."""
    assert [*prose('"""A text of words."""\nTEXT = "four words of prose"')] == ["four words of prose"]
    searched = [*PACKAGE.glob("diff/*.py"), *PACKAGE.glob("plan/changes/*.py"), PACKAGE / "plan/validity.py"]
    found = {str(file): {*prose(file.read_text())} - NO_SENTENCES for file in searched}
    assert len(searched) > 20 and {file: texts for file, texts in found.items() if texts} == {}


def test_no_code_is_asked_for_words() -> None:
    """What decides does not import what speaks."""
    deciding = [file for file in FILES if part(file) in ("base", "geometry", "plan", "facts", "apply", "diff", "layout", "topology", "compiler")]  # fmt: skip
    assert [file for file in deciding for name in imports(file) if name.startswith("raidplan.render")] == []


ONE_OWNER = {
    "units of sizes": (
        r"1024 ?\*\* ?[234]|1024 ?\* ?1024|\b2\*\*[1234]0\b(?! - 1)|\b1 << [1234]0\b",
        "MOST = 64 * 2**20",
        {"base/size.py", "twin/rehearsal/measure.py", "twin/rehearsal/witness.py"},
    ),
    "rates": (
        r"/ (?:1e6|10\*\*6):,?\.",
        '{rate / 1e6:.0f} MB/s"',
        {"base/words.py", "render/estimate_words.py", "render/installers/maas.py"},
    ),
    "ends of lists": (
        r"and \{[^\"]*\} more\b|\" and more\"",
        'f"and {len(names) - most} more"',
        {"base/words.py"},
    ),
    "hours": (r":\.\df\} h\b", 'f"{hours:.1f} h at"', {"base/words.py"}),
    "plurals": (r'"e?s" (?:\*|if)|"ies"', '"s" * (count > 1)', {"base/words.py"}),
    "durations": (r"divmod\(\w+, (?:60|3600)\)|// (?:60|3600)\b", "divmod(seconds, 3600)", {"base/words.py"}),
}  # fmt: skip
"""How each is written, a line that is, and where: an estimate has decimals where links are slow, MAAS has sizes, and the
witness of a rehearsal is a script without the package."""


def test_output_counts_in_singular_and_plural() -> None:
    """Neither commands nor forms write a plural after a count, which can be 1: `base/words.py` does."""
    written = re.compile(r"\{len\([^{}]*\)[^{}]*\} [a-z]+s\b")
    assert written.search('f"{len(names)} disks"') and written.search('f"{len(names) - MOST} places"')
    printed = [file for file in FILES if file.relative_to(PACKAGE).parts[0] in ("cli", "render")]
    assert {str(file): found for file in printed if (found := written.findall(file.read_text()))} == {}


@pytest.mark.parametrize("what", ONE_OWNER)
def test_what_is_written_in_one_way_is_written_in_one_place(what: str) -> None:
    written, line, owners = ONE_OWNER[what]
    assert re.search(written, line)
    assert {
        str(file.relative_to(PACKAGE)) for file in FILES if re.search(written, file.read_text())
    } <= owners
