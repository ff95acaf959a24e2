"""`python -m tests.rehearsal.rates [NAMES]`: rates of examples measured on their twins, each with a record; `--show` prints them.

Ten examples unless some are named, on Debian 12; on a machine that has processors to spare, since a rate that emulation
cannot reach says nothing about the prediction.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from raidplan.cli import INTERRUPTED, run
from raidplan.review.pipeline import load
from raidplan.twin.rehearsal.measure import (
    UNLIMITED,
    WITHIN,
    estimates,
    rates_of,
    scale_of,
    throttles,
    without_heads,
)
from raidplan.twin.rehearsal.subject import Subject, subject_of
from raidplan.twin.server.hardware import chain
from tests.machine.boots import commit
from tests.parts import ROOT
from tests.rehearsal.everything import digest, planned

RECORDS = ROOT / ".results" / "rates.jsonl"
EXAMPLES = (
    "raid1-pair",
    "dell-r710",
    "micronet-nas",
    "raid10-far",
    "raid50",
    "raid5-2005",
    "rio-2007",
    "commenter-raid5",
    "office-file-server",
    "loops",
)
"""Mirrors, RAID 0, 5, 6, 10 and 50, behind two buses, a multiplier, or nothing in common."""
AT_LEAST = 8


@dataclass(frozen=True)
class Rates:
    """The measured rates of a layout."""

    example: str
    layout: str
    """The digest of the layout that the twin had."""
    code: int
    rates: Sequence[Sequence[Any]]
    """Array, kind of rate, bytes per second as predicted and as observed, and whether that counts as predicted."""
    control: bool
    """With every limit halved it was slower."""
    seconds: int
    commit: str
    basis: str = ""
    """The digest of what was predicted and of the throttles; none was kept at first."""

    @property
    def good(self) -> bool:
        """All was measured, to the end, and was as predicted."""
        return self.code == 0 and bool(self.rates) and self.control and not self.off

    @property
    def off(self) -> list[str]:
        """The rates that were not as predicted."""
        return [
            f"{path} {what}: {observed / predicted - 1:+.0%}"
            for path, what, predicted, observed, close in self.rates
            if not close
        ]

    @property
    def above(self) -> int:
        """How many rates count that are more than a fifth above the prediction: it is the least that they can be."""
        return sum(close and observed > (1 + WITHIN) * predicted for _, _, predicted, observed, close in self.rates)  # fmt: skip

    @property
    def said(self) -> str:
        """The rates in words: those that were off, or how near all of them were."""
        if self.off or not self.rates:
            return "; ".join(self.off) or "nothing was measured"
        if not self.above:
            return "all within a fifth"
        return f"{len(self.rates) - self.above} within a fifth, {self.above} at least what was predicted"


def of_today(example: str) -> tuple[str, str]:
    """The digests of an example's layout as the twin has it, and of its rates as they are predicted and throttled."""
    topology = load(f"examples/{example}.yaml").topology
    assert topology is not None, example
    subject = subject_of(topology)
    return planned(subject.text).layout_digest, basis(subject)


def basis(subject: Subject) -> str:
    """The digest of what is predicted of the rates, and of the limits of disks and links that they are measured with."""
    topology = without_heads(subject.topology)
    found, at_work = estimates(topology)
    factor = scale_of(found)
    rates = [
        (each.name, [(what, round(rate)) for what, rate in rates_of(each, factor).items()], each in at_work)
        for each in found
    ]
    disks, links = throttles(topology, factor)
    limits = [
        (disk.name, disk.limit_bytes_per_second, [(link.name, link.bytes_per_second) for link in chain(disk, links) if link.bytes_per_second != UNLIMITED])
        for disk in disks
    ]  # fmt: skip
    return digest([rates, limits])


def measured(example: str) -> Rates:
    """The rates of an example, recorded; its report stays in .results/."""
    report = ROOT / ".results" / f"rates-{example}.json"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    start = time.monotonic()
    code = run(["rehearse", f"examples/{example}.yaml", "--measure", "--format", "json", "-o", str(report)])
    if code == INTERRUPTED:
        raise SystemExit(code)
    said: dict[str, Any] = json.loads(report.read_text()) if report.exists() else {}
    rates = [
        (claim["path"], claim["what"], rate["predicted"], rate["observed"], claim["as_predicted"])
        for case in said.get("cases", ())
        for claim in case["claims"]
        if (rate := claim.get("bytes_per_second"))
    ]
    control = said.get("control") or {"as_predicted": False}
    layout, on = of_today(example)
    record = Rates(example, layout, code, rates, control["as_predicted"], round(time.monotonic() - start), commit(), on)  # fmt: skip
    with RECORDS.open("a") as file:
        file.write(json.dumps(asdict(record)) + "\n")
    return record


def records() -> dict[str, Rates]:
    """The newest record of each example."""
    lines = RECORDS.read_text().splitlines() if RECORDS.exists() else []
    return {record.example: record for record in (Rates(**json.loads(line)) for line in lines)}


def is_of_today(record: Rates) -> bool:
    """The layout, what is predicted of its rates and the limits are the same."""
    return (record.layout, record.basis) == of_today(record.example)


def show(examples: Iterable[str]) -> bool:
    """Prints each example's rates; whether enough of them were as predicted."""
    known, good, near, every = records(), 0, 0, list(examples)
    for name in every:
        record = known.get(name)
        if record is None or not is_of_today(record):
            print(f"{name:24}no record of this layout as it is predicted today")
            continue
        good += record.good
        near += record.good and not record.above
        print(f"{name:24}{len(record.rates) - len(record.off)} of {len(record.rates)}, {record.seconds} s: {record.said}")  # fmt: skip
    print(f"{good} of {len(every)} layouts as predicted, {near} of them with every rate within a fifth")
    return good >= min(AT_LEAST, len(every))


def main(words: Sequence[str]) -> int:
    """0 if enough layouts were as predicted."""
    parser = argparse.ArgumentParser(prog="python -m tests.rehearsal.rates", description=__doc__)
    parser.add_argument("names", nargs="*", default=EXAMPLES)
    parser.add_argument("--show", action="store_true", help="print the records, and measure nothing")
    asked = parser.parse_args(words)
    known = records()
    for name in () if asked.show else asked.names:
        if name not in known or not is_of_today(known[name]) or not known[name].good:
            measured(name)
    return 0 if show(asked.names) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
