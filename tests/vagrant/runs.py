"""`python -m tests.vagrant.runs`: whole runs of the Vagrant machine, one after the other, each of which leaves a record.

A record counts as long as nothing of what the run hangs on is another: the layout's plan, the box's recipe, and `CODE`,
which carries the plan out and looks at the machine. `--show` says which do; `--table` writes them all into docs/internals/vagrant.md.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from raidplan.plan.codec import plan_digest
from raidplan.review import pipeline
from tests.parts import ROOT, code_digest, git

VAGRANT = ROOT / "vagrant"
RECORDS = ROOT / ".results" / "vagrant.jsonl"
PAGE = ROOT / "docs" / "internals" / "vagrant.md"
MARKS = ("<!-- made by: make vagrant-table -->\n", "<!-- end -->")
CODE = (
    "vagrant",
    "raidplan/apply",
    "raidplan/base",
    "raidplan/facts",
    "raidplan/plan",
    *(
        f"raidplan/twin/server/{name}.py"
        for name in ("hardware", "image", "install", "recipe", "sources", "tools", "wiring")
    ),
)
"""Of the twin, what makes the box and raidplan in it; its own machine is no part of a run."""
NATIVE = "tests/vagrant/native.yaml"
WHOLE = ("--break-disk", "--destroy")
RUNS = {
    ("raid1-pair", "bookworm"): ("examples/raid1-pair.yaml", *WHOLE),
    ("raid1-pair", "trixie"): ("examples/raid1-pair.yaml", *WHOLE),
    ("native", "bookworm"): (NATIVE, "--answers", "tests/vagrant/answers.json", *WHOLE),
    ("commenter-raid5", "bookworm"): ("examples/commenter-raid5.yaml", "--destroy"),
    ("tel-aviv-jbod", "bookworm"): ("examples/tel-aviv-jbod.yaml", "--destroy"),
}
"""A pair on both releases; 4096-byte sectors under LVM; LVM at true size; forty disks at true size."""


def plan_of(layout: str) -> str:
    """The digest of all that is done on blank disks; neither the sentences nor what the file says besides counts."""
    plan, _ = pipeline.plan(pipeline.check(str(ROOT / layout)))
    assert plan is not None, f"{layout} has no plan"
    steps = tuple(replace(step, line=0, say="") for step in plan.steps)
    return plan_digest(replace(plan, layout_digest="", steps=steps)).removeprefix("sha256:")[:12]


def run(name: tuple[str, str]) -> bool:
    """One run, recorded if it ended well; whether it did."""
    layout, *words = RUNS[name]
    commit, dirty = git("rev-parse", "--short", "HEAD"), git("status", "--porcelain", "--", *CODE, layout)
    of = {"code": code_digest(CODE), "plan": plan_of(layout)}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "record.json"
        argv = [
            sys.executable,
            str(VAGRANT / "run.py"),
            layout,
            "--release",
            name[1],
            "--record",
            str(file),
            *words,
        ]
        if subprocess.run(argv, cwd=ROOT, check=False).returncode:
            return False
        record = json.loads(file.read_text())
    record |= {
        "commit": commit + " with changes" * bool(dirty),
        **of,
        "date": datetime.now(UTC).date().isoformat(),
    }
    with RECORDS.open("a") as opened:
        opened.write(json.dumps(record) + "\n")
    return True


def newest() -> dict[tuple[str, str], dict[str, Any]]:
    """The last record of each run."""
    records = map(json.loads, RECORDS.read_text().splitlines() if RECORDS.exists() else ())
    return {(record["layout"], record["release"]): record for record in records}


def counts(name: tuple[str, str], record: Mapping[str, Any]) -> str:
    """`counts`, or what is another since the run."""
    now = {"code": code_digest(CODE), "plan": plan_of(RUNS[name][0])}
    other = [each for each in now if record[each] != now[each]]
    return f"since {record['commit']} another {' and another '.join(other)}" if other else "counts"


def _first_and_last(suite: str) -> str:
    """The numbers of a suite, with the first and the last reason of those that failed."""
    numbers, *reasons = re.sub(r"test_\S+: AssertionError: ", "", suite).split("; ")
    return "; ".join([numbers, *(reasons if len(reasons) < 3 else (reasons[0], "…", reasons[-1]))])


def table() -> str:
    """The newest run of each layout and release as a table in Markdown."""
    rows = [
        "| layout | release | suites | minutes | commit, date | today | versions |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, each in newest().items():
        minutes = ", ".join(f"{name} {taken / 60:.1f}" for name, taken in each["seconds"].items())
        shown = ", ".join(f"{name} {version}" for name, version in each["versions"].items())
        passed = "; then ".join(map(_first_and_last, each["suites"]))
        rows.append(
            f"| {each['layout']} | {each['release']}, {each['accelerator']} | {passed} | {minutes} "
            f"| {each['commit']}, {each['date']} | {counts(name, each)} | {shown} |"
        )
    return "\n".join(rows) + "\n"


def with_table(page: str) -> str:
    """The page with today's table between its marks."""
    front, _, rest = page.partition(MARKS[0])
    return f"{front}{MARKS[0]}{table()}{MARKS[1]}{rest.partition(MARKS[1])[2]}"


def main(words: Sequence[str]) -> int:
    """0 if every run that was asked for ended well, or with `--show` if every record counts."""
    names = {f"{layout}/{release}": (layout, release) for layout, release in RUNS}
    parser = argparse.ArgumentParser(prog="python -m tests.vagrant.runs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="RUN", help=f"of {', '.join(names)}")
    parser.add_argument("--show", action="store_true", help="say which records count, and run nothing")
    parser.add_argument(
        "--table",
        action="store_true",
        help="write the records into docs/internals/vagrant.md, and run nothing",
    )
    asked = parser.parse_args(words)
    if unknown := set(asked.names) - set(names):
        parser.error(f"no such run: {', '.join(sorted(unknown))}")
    if asked.show:
        records = newest()
        said = {
            each: counts(name, records[name]) if name in records else "no record"
            for each, name in names.items()
        }
        print("\n".join(f"{name:26}{words}" for name, words in said.items()))
        return 0 if {*said.values()} == {"counts"} else 1
    failed = [] if asked.table else [each for each in asked.names or names if not run(names[each])]
    PAGE.write_text(with_table(PAGE.read_text()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
