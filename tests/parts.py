"""`python -m tests.parts`: the whole suite in parts of at most an hour, each of which leaves a record with its commit.

Without a name all parts run, one after the other; `--show` prints which have a record of the present code. Records are
lines of JSON in .results/test-all.jsonl: they count as long as nothing that the part runs is another, so they can be
committed too. A server that boots from its disks counts by its own record (`python -m tests.machine.boots`).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

from raidplan.twin.rehearsal.host import emulator
from tests.machine import boots

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / ".results" / "test-all.jsonl"
CODE = ("raidplan", "ansible", "tests", "examples", "schemas", "pyproject.toml")
"""The tests' results hang on these; those of a part on its own test files only."""
FORMS = ("schemas", "tests/manuals", "tests/parts.py")
"""The Schemas of the outputs, what makes them and the pages of docs/, and this table."""
OF_FORMS = ("simulated", "release", "packages", "outside")
"""The parts that read one of these."""
TEST = re.compile(r"(?:^|/)test_\w+\.py$")
BOOTED = "machine/test_boot_from_disks.py::test_made_booted_updated_and_booted_without_each_disk"
KILLED = "machine/test_killed.py::test_killed_in_every_destructive_program"
IN_SERVERS = {
    "servers": ("machine/test_servers.py",),
    "test-machines": (
        "machine/test_test_machines.py",
        "machine/test_group_stripes.py",
        "twin/test_machine.py",
    ),
    "kills": (
        "machine/test_killed.py",
        f"--deselect=tests/{KILLED}[volumes]",
        f"--deselect=tests/{KILLED}[parity]",
    ),
    "kills-volumes": (f"{KILLED}[volumes]",),
    "kills-parity": (f"{KILLED}[parity]",),
    "changes": ("machine/test_converge.py",),
    "boots": (
        "machine/test_boots.py",
        "machine/test_names_at_boot.py",
        "machine/test_power.py",
        "machine/test_power_jbod.py",
        "machine/test_links.py",
    ),
    "wipes": (
        "machine/test_wipe.py",
        "--deselect=tests/machine/test_wipe.py::test_killed_in_every_act_of_a_teardown",
    ),
    "wipe-kills": ("machine/test_wipe.py::test_killed_in_every_act_of_a_teardown",),
    "packages": ("release/test_in_servers.py",),
    "target": ("machine/test_target.py", "machine/test_kept_partition.py", "machine/test_installed.py"),
    "target-kills": ("machine/test_target_kills.py",),
    "grub-probe": ("machine/test_grub_probe.py",),
    "drift": (
        "machine/test_drift.py",
        "machine/test_lost_members.py",
        "machine/test_foreign.py",
        "machine/test_how_to.py",
    ),
    "random-kills": ("kills/test_cases.py",),
    "fleet": ("machine/test_fleet.py",),
    "encryption": ("machine/test_encryption.py",),
    "rehearsal": ("machine/test_rehearsal.py",),
    "rehearsed-accounts": ("machine/test_rehearsed_accounts.py",),
    **{f"boot-{each}": (f"{BOOTED}[{each}]",) for each in boots.COMBINATIONS},
}
"""The tests in virtual servers, by part: arguments of pytest, below tests/ where they are no options."""
MAKERS = tuple(
    f"tests/apply/test_{name}.py"
    for name in ("interrupted_makers", "makers_on_devices", "interrupted_volumes")
)
"""In these every program that makes something is killed at each of its writes."""
CUTS = 8
"""In so many parts the power is cut at every write of a small apply, one server each."""


def parts() -> dict[str, list[str]]:
    """The arguments of pytest by the name of the part."""
    everything = {
        "simulated": [
            "--long",
            "-m",
            "not machine",
            "--ignore=tests/release",
            "--ignore=tests/ansible",
            "--ignore=tests/outside",
            *(f"--ignore={file}" for file in MAKERS),
            "tests",
        ],
        "makers": ["--long", *MAKERS],
        "release": ["--long", "-m", "not machine", "tests/release"],
        "collection": ["--long", "tests/ansible"],
        "outside": ["--long", "tests/outside"],
    }
    everything |= {
        name: ["--long", *(each if each.startswith("--") else f"tests/{each}" for each in words)]
        for name, words in IN_SERVERS.items()
    }
    power = ["--every-write", "tests/machine/test_power.py"]
    return everything | {f"power-{n}": [*power, f"--server={n}/{CUTS}"] for n in range(1, CUTS + 1)}


def run(name: str, processes: str = "auto") -> bool:
    """One part, recorded, in so many processes side by side; whether it passed."""
    commit, dirty = git("rev-parse", "HEAD"), bool(git("status", "--porcelain", *CODE))
    start = time.monotonic()
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        argv = [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            processes,
            "--maxprocesses=4",
            f"--junit-xml={report}",
            *parts()[name],
        ]
        code = subprocess.run(argv, cwd=ROOT, check=False).returncode
        suite = ElementTree.parse(report).getroot().find("testsuite") if report.exists() else None
        numbers = {each: int(suite.get(each, 0)) if suite is not None else 0 for each in ("tests", "failures", "errors", "skipped")}  # fmt: skip
    seconds = round(time.monotonic() - start)
    RECORDS.parent.mkdir(exist_ok=True)
    record = {"part": name, "commit": commit, "arguments": parts()[name], "dirty": dirty, "code": code, "seconds": seconds, "qemu": emulator(), **numbers}  # fmt: skip
    with RECORDS.open("a") as opened:
        opened.write(json.dumps(record) + "\n")
    return code == 0


def show() -> bool:
    """Prints the newest record of every part on the present code; whether all passed on a clean tree."""
    newest = {}
    for line in RECORDS.read_text().splitlines() if RECORDS.exists() else ():
        record = json.loads(line)
        if is_of_this_code(record):
            newest[record["part"]] = record
    booted = {f"boot-{each}": (words, counts) for each, words, counts in boots.table(boots.records())}
    passed = []
    for name in parts():
        words, counts = booted[name] if name in booted else result(newest.get(name))
        print(f"{name:{max(map(len, parts()))}}  {words}")
        passed.append(counts)
    return all(passed)


def result(record: Mapping[str, Any] | None) -> tuple[str, bool]:
    """A record in words, and whether the part passed on a clean tree."""
    if record is None:
        return "no record of this code", False
    words = f"{'passed' if record['code'] == 0 else 'FAILED'}: {record['tests']} tests, {record['skipped']} skipped, {record['seconds']} s"
    return words + ", on a changed tree" * record["dirty"], record["code"] == 0 and not record["dirty"]


def is_of_this_code(record: Mapping[str, Any]) -> bool:
    """Whether all that the part runs was in the record's commit as it is today."""
    name = record["part"]
    if name not in parts() or record.get("arguments", parts()[name]) != parts()[name]:
        return False
    try:
        return digest_of(name, record["commit"]) == digest_of(name)
    except subprocess.CalledProcessError:
        return False  # no such commit here


def digest_of(name: str, commit: str = "HEAD") -> str:
    """The digest of all that a part runs: of the test files, those that are its own."""
    words = [word.partition("::")[0] for word in parts()[name]]
    own = tuple(word for word in words if word.startswith("tests"))
    others = tuple(word.removeprefix("--ignore=") for word in words if word.startswith("--ignore="))
    aside = () if name in OF_FORMS else FORMS
    paths = ((line, line.partition("\t")[2]) for line in files(commit))
    lines = [line for line, file in paths if runs(file, own, others) and not _lies_in(file, aside)]
    return sha256("\n".join(lines).encode()).hexdigest()[:12]


def runs(file: str, own: Sequence[str], others: Sequence[str]) -> bool:
    """A part with these tests of its own hangs on a file of the repository."""
    return not TEST.search(file) or (_lies_in(file, own) and not _lies_in(file, others))


def _lies_in(file: str, places: Sequence[str]) -> bool:
    return any(PurePath(file).is_relative_to(each) for each in places)


@cache
def files(commit: str) -> list[str]:
    """The files of `CODE` in a commit, each with the digest of its content."""
    return git("ls-tree", "-r", commit, "--", *CODE).splitlines()


def code_digest(code: Sequence[str] = CODE, commit: str = "HEAD") -> str:
    """The digest of these whole folders and files in a commit."""
    trees = git("rev-parse", *(f"{commit}:{each}" for each in code))
    return sha256(trees.encode()).hexdigest()[:12]


def git(*words: str) -> str:
    """What git answers about this checkout."""
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def main(words: Sequence[str]) -> int:
    """0 if every part that was asked for passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.parts", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PART", help=f"of {', '.join(parts())}")
    parser.add_argument(
        "--show", action="store_true", help="print the records of the present code, and run nothing"
    )
    parser.add_argument("--processes", default="auto", metavar="N", help="tests side by side (default: auto, as pytest-xdist counts)")  # fmt: skip
    asked = parser.parse_args(words)
    if unknown := set(asked.names) - set(parts()):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if asked.show:
        return 0 if show() else 1
    # A part that fails stops no other.
    failed = [name for name in asked.names or parts() if not run(name, asked.processes)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
