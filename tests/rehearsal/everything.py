"""`python -m tests.rehearsal.everything [n/m]`: every example rehearsed, each with a record; `--show` prints what held.

All faults are tried on the examples whose plans are kept whole, on each other one its first disk; every second one runs on
Debian 13. The 40 disks are rehearsed in five rounds: every disk, part, boot and some pairs at true size, and blank disks, scrubs and
comparisons with sizes divided by 3000. In the place of `n/m`, `tel-aviv-jbod` names all, `tel-aviv-jbod@blank` one round, and
commas join several. What has a record of the same faults, layout, predictions, plan and evidence is left out, so a part that was
interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from raidplan.cli import INTERRUPTED, run
from raidplan.cli.rehearse import PAIRS
from raidplan.plan.codec import plan_digest
from raidplan.plan.step import Plan
from raidplan.review.pipeline import load, plan
from raidplan.twin.rehearsal.cases import Case, Source, control
from raidplan.twin.rehearsal.choices import cases_of
from raidplan.twin.rehearsal.subject import Subject, Unsuited, subject_of
from raidplan.twin.server import Twin
from tests.examples import EXAMPLES
from tests.forms import PLANS
from tests.machine.servers import SIDE_BY_SIDE
from tests.parts import ROOT

RECORDS = ROOT / ".results" / "rehearsal.jsonl"
EVIDENCE = 2
"""One more when an earlier record could have ended otherwise by what a rehearsal looks at now: then it does not count any more."""
SEED = 1
SUITES = ("bookworm", "trixie")
ON = {"linear": "bookworm", "loops": "trixie"}
"""Linux 6.12 has no linear arrays (they went with 6.8 and are back in 6.14): what the kernel cannot run, apply refuses. Another one makes up for it."""
LATER = {"encrypted-root": "trixie", "file-server-2013": "bookworm"}
"""Examples that came later: the others keep their releases, and their records."""
SCALES = {
    "raid5-2005-lvm": 300, "rio-2007": 400, "linear": 100, "commenter-raid5": 100, "raid6-journal": 2, "encrypted-root": 2,
}  # fmt: skip
"""Sizes of those that are rehearsed with all faults, or have a spare, are divided by it: without a bitmap a disk that was pulled
is rebuilt whole, so that each gigabyte of a disk is a minute of emulation in most cases."""
FORTY = [f"d{multiplier}{port}" for multiplier in range(8) for port in range(5)]
SEVERAL: Mapping[str, Mapping[str, tuple[str, int]]] = {
    "tel-aviv-jbod": {
        "pulled": ("disks,components,pairs", 1),
        "boots-1": (",".join(f"boot:{disk}" for disk in FORTY[:20]), 1),
        "boots-2": (",".join(f"boot:{disk}" for disk in FORTY[20:]), 1),
        "boots-3": ("boot:multiplier,boot:controller,boot:bus,boot:machine", 1),
        "blank": ("replaced:d00,replaced:d21,replaced:d42,replaced:d63,replaced:d74,media", 3000),
    }
}
"""Faults and scales of examples that are rehearsed more than once, each less than an hour or two: with its name in the place of
a scale. Of 40 disks one of each array is replaced, each behind another multiplier, all controllers among them: 40 rebuilds take
hours. A disk is 1 GB then, a third of one of raid50, of which a rebuild and the check of its array take two minutes in emulation."""


Key = tuple[str, str, str, str]
"""Example, suite, faults, and the digest of the layout."""


@dataclass(frozen=True)
class Wanted:
    """One rehearsal."""

    example: str
    suite: str
    faults: str
    scale: int
    layout: str
    """The digest of the layout that the twin has."""
    basis: str
    """The digest of what is predicted of each case, and of the plan."""

    @property
    def name(self) -> str:
        """The example and its round, or the scale, as `example@scale`."""
        rounds = SEVERAL.get(self.example, {}).items()
        return f"{self.example}@{next((word for word, of in rounds if of == (self.faults, self.scale)), self.scale)}"

    @property
    def key(self) -> Key:
        """The key of its record."""
        return self.example, self.suite, self.faults, self.layout


@dataclass(frozen=True)
class Record:
    """A rehearsal that was run."""

    example: str
    suite: str
    faults: str
    scale: int
    layout: str
    code: int
    cases: int
    predictions: int
    true: int
    differs: Sequence[str]
    seconds: int
    versions: Mapping[str, str]
    commit: str
    basis: str = ""
    """None was kept at first."""
    in_cases: Sequence[int] = ()
    """The seconds of each case; none were kept at first."""

    @property
    def pace(self) -> str:
        """The seconds that a case takes."""
        if not self.in_cases:
            return f"{self.seconds / max(self.cases, 1):.0f} s a case with all stages"
        return f"{sum(self.in_cases) / len(self.in_cases):.0f} s a case, at most {max(self.in_cases)} s"


@cache
def wanted() -> tuple[list[Wanted], dict[str, str]]:
    """The rehearsals of all examples, and why some cannot be rehearsed."""
    found, unsuited = list[Wanted](), dict[str, str]()
    for file in EXAMPLES:
        name, topology = file.stem, load(str(file)).topology
        if topology is None:
            unsuited[name] = "it has errors"
            continue
        place = len({one.example for one in found} - {*LATER})
        suite = LATER.get(name) or ON.get(name, SUITES[place % len(SUITES)])
        faults = "all" if name in PLANS else next(iter(topology.layout.hardware.disks), "")
        try:
            for chosen, scale in SEVERAL.get(name, {"": (faults, SCALES.get(name, 1))}).values():
                found.append(_wanted(name, suite, chosen, scale, subject_of(topology, scale)))
        except Unsuited as error:
            unsuited[name] = str(error)
    return found, unsuited


def _wanted(name: str, suite: str, faults: str, scale: int, subject: Subject) -> Wanted:
    made = planned(subject.text)
    return Wanted(name, suite, faults, scale, made.layout_digest, basis(subject, faults, made))


def planned(text: str) -> Plan:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "twin.yaml"
        file.write_text(text)
        made, _ = plan(load(str(file)))
    assert made is not None
    return made


def basis(subject: Subject, faults: str, made: Plan) -> str:
    """The digest of all that a record has to be of today for: with another prediction or plan it says nothing."""
    source = Source(subject.topology, PAIRS, SEED)
    cases = [*cases_of(source, faults), *filter(None, [control(source.survival)])]
    return digest([EVIDENCE, plan_digest(made), [_prediction(case) for case in cases]])


def _prediction(case: Case) -> Sequence[object]:
    predicted = [each for each in case.predicted.items() if each[0] not in case.unpredicted]
    outcomes = sorted(([*map(str, thing)], outcome.name) for thing, outcome in predicted)
    return case.fault.value, case.kind, case.name, case.disks, outcomes


def digest(value: object) -> str:
    return "sha256:" + hashlib.sha256(json.dumps(value).encode()).hexdigest()


def part_of(every: Sequence[Wanted], part: str) -> list[Wanted]:
    """Those of a part `n/m`: every m-th one, from the n-th on."""
    number, _, count = part.partition("/")
    return list(every[int(number) - 1 :: int(count)])


def named(every: Sequence[Wanted], names: Sequence[str]) -> list[Wanted]:
    """Those of an example, or one round of it."""
    return [one for one in every if not {one.example, one.name}.isdisjoint(names)]


def records() -> dict[Key, Record]:
    """The newest record by example, suite, faults and layout."""
    lines = RECORDS.read_text().splitlines() if RECORDS.exists() else []
    read = [Record(**json.loads(line)) for line in lines]
    return {(one.example, one.suite, one.faults, one.layout): one for one in read}


def rehearsed(one: Wanted) -> Record:
    """One rehearsal, recorded; its report stays in .results/."""
    report = Path(".results") / f"rehearsal-{one.name}.json"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    start = time.monotonic()
    words = ["--faults", one.faults, "--suite", one.suite, "--scale", str(one.scale), "--seed", str(SEED)]
    code = run(["rehearse", f"examples/{one.example}.yaml", *words, "--format", "json", "-o", str(report)])
    if code == INTERRUPTED:
        raise SystemExit(code)  # that it was cut off is no result
    said: dict[str, Any] = json.loads(report.read_text()) if report.exists() else {}
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"], capture_output=True, text=True, check=False
    )
    counts = said.get("predictions", {"all": 0, "true": 0})
    record = Record(
        **asdict(one), code=code, cases=len(said.get("cases", ())), predictions=counts["all"], true=counts["true"],
        differs=tuple(differences(said)), seconds=round(time.monotonic() - start), versions=said.get("versions", {}),
        commit=commit.stdout.strip(), in_cases=[round(case["seconds"]) for case in said.get("cases", ())],
    )  # fmt: skip
    with RECORDS.open("a") as file:
        file.write(json.dumps(asdict(record)) + "\n")
    return record


def differences(report: Mapping[str, Any]) -> Iterator[str]:
    """The stages that failed, and each prediction that was not observed."""
    for stage in report.get("stages", ()):
        if not stage["passed"]:
            yield f"stage {stage['name']}"
    for case in (*report.get("cases", ()), *filter(None, [report.get("control")])):
        name = f"{case['fault']} {case['name']}"
        yield from (f"{name}: {each['path']}" for each in (*case["observed"], *case["claims"]) if not each["as_predicted"])  # fmt: skip
        if case["lost"] or not case["as_predicted"]:
            yield f"{name}: {', '.join(case['lost']) or case['returned']}"


def _counts(one: Wanted, record: Record | None) -> bool:
    """What is predicted and planned today was tried, and everything went as predicted."""
    return record is not None and (record.basis, record.code) == (one.basis, 0)


def share(found: Sequence[Record]) -> str:
    """How many predictions were counted, and how many of them held; an example can have several rehearsals."""
    predictions, true = sum(one.predictions for one in found), sum(one.true for one in found)
    percent = f", {true / predictions:.1%}" if predictions else ""
    cases, examples = sum(one.cases for one in found), len({one.example for one in found})
    return f"{true} of {predictions} predictions held{percent}, in {cases} cases, {len(found)} rehearsals of {examples} examples"


def show() -> bool:
    """Prints each example's record and the share that held; whether all that can be rehearsed have one, and all held."""
    every, unsuited = wanted()
    known = records()
    counted, before = [], []
    for one in every:
        record, head = known.get(one.key), f"{one.name:32}{one.suite:10}"
        if record is None:
            print(f"{head}no record of this layout")
            continue
        if record.basis != one.basis:
            before.append(record)
            print(f"{head}not counted: predictions, plan or evidence are others than at {record.commit}")  # fmt: skip
            continue
        counted.append(record)
        kernel = record.versions.get("kernel", "")
        print(f"{head}{record.true} of {record.predictions}, {record.cases} cases, {record.pace}, {record.seconds} s in all, exit {record.code}, {kernel}")  # fmt: skip
        for each in record.differs:
            print(f"{'':32}differs: {each}")
    for name, why in unsuited.items():
        print(f"{name:32}not rehearsed, and should be: {why}")
    if before:
        print(f"not counted: {share(before)}")
    print(share(counted))
    whole = len(counted) == len(every) and not unsuited
    return whole and all(record.code == 0 for record in counted)


def main(words: Sequence[str]) -> int:
    """0 if everything of the part went as predicted."""
    parser = argparse.ArgumentParser(prog="python -m tests.rehearsal.everything", description=__doc__)
    parser.add_argument(
        "part",
        nargs="?",
        default="1/1",
        help="n/m: every m-th rehearsal from the n-th on; or examples, with commas, or one round: raid50,tel-aviv-jbod@blank",
    )
    parser.add_argument("--show", action="store_true", help="print the records, and run nothing")
    asked = parser.parse_args(words)
    if asked.show:
        return 0 if show() else 1
    every, _ = wanted()
    names = asked.part.split(",")
    if "/" not in asked.part and (wrong := [name for name in names if not named(every, [name])]):
        parser.error(f"{', '.join(wrong)}: no such rehearsal")
    chosen = part_of(every, asked.part) if "/" in asked.part else named(every, names)
    known = records()
    setattr(Twin, "start", partial(Twin.start, cpus=SIDE_BY_SIDE))  # noqa: B010  # a method to mypy
    left = [one for one in chosen if not _counts(one, known.get(one.key))]
    made = [rehearsed(one) for one in left]
    print(share(made))
    return 0 if all(record.code == 0 for record in made) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
