"""`python -m tests.rehearsal.rates [NAMES]`: rates of examples measured on their twins, each with a record; `--show` prints them.

Ten examples unless some are named, on Debian 12; on a machine that has processors to spare, since a rate that emulation
cannot reach says nothing about the prediction. What has a rate further off than a fifth is measured a second time with
nothing changed but what its explanation names.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any
from unittest import mock

from raidplan.cli import INTERRUPTED, run
from raidplan.review.pipeline import load
from raidplan.twin.rehearsal import measure
from raidplan.twin.rehearsal.measure import (
    UNLIMITED,
    WITHIN,
    estimates,
    rates_of,
    scale_of,
    throttles,
    without_heads,
)
from raidplan.twin.rehearsal.rig import Rig
from raidplan.twin.rehearsal.subject import Subject, subject_of
from raidplan.twin.server.hardware import chain
from tests.machine.boots import commit
from tests.parts import ROOT
from tests.rehearsal.everything import digest, planned

Reading = Callable[[Rig, Mapping[str, float]], dict[str, float]]
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
MOST_OFF = 2
"""Of ten layouts so many may have a rate further off than a fifth, each with a second run in which none is."""


@dataclass(frozen=True)
class Explained:
    """The explanation of a rate that is further off than a fifth, and the second run that tests it."""

    why: str
    changed: str
    """The one thing that is otherwise in the second run, in words."""
    begin: str
    """The shell command on the twin that changes it, before the arrays are read together."""
    end: str
    """The shell command that changes it back afterwards."""


QUICK = "for member in /sys/block/$(basename $(readlink -f /dev/md/quick))/md/dev-*; do [ $(cat $member/slot) = 0 ] || echo {} >$member/state; done"
EXPLAINED: Mapping[str, Explained] = {
    "dell-r710": Explained(
        "the array quick, a mirror, read while the others are read, is half as fast again as predicted. One reader is predicted at the rate of "
        "one member. Alone it had that, and in an earlier run also together; nothing else is on its two disks, and each has one "
        "member's rate as its limit, so that both copies served it. Of disks without heads md asks the one with fewer requests "
        "under way where a request does not follow the one before (read_balance of Linux' raid1)",
        "md reads only the first copy of the array quick: its other member is write-mostly",
        QUICK.format("writemostly"),
        QUICK.format("-writemostly"),
    ),
}  # fmt: skip


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
    changed: str = ""
    """What a second run changes; empty in a first one."""

    @property
    def near(self) -> bool:
        """All was measured, and no rate is further off than a fifth."""
        return self.good and not self.above

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


def read_changed(second: Explained, read: Reading, rig: Rig, rates: Mapping[str, float]) -> dict[str, float]:
    """The arrays of a twin read together with the one thing changed, and with nothing else changed."""
    rig.twin.run(second.begin)
    found = read(rig, rates)
    rig.twin.run(second.end)
    return found


def measured(example: str, second: Explained | None = None) -> Rates:
    """The rates of an example, recorded; its report stays in .results/."""
    report = ROOT / ".results" / f"rates-{example}{'-second' if second else ''}.json"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    start = time.monotonic()
    read: Reading = measure.read_together
    with mock.patch.object(measure, "read_together", partial(read_changed, second, read) if second else read):
        code = run(
            ["rehearse", f"examples/{example}.yaml", "--measure", "--format", "json", "-o", str(report)]
        )
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
    seconds, changed = round(time.monotonic() - start), second.changed if second else ""
    record = Rates(example, layout, code, rates, control["as_predicted"], seconds, commit(), on, changed)
    with RECORDS.open("a") as file:
        file.write(json.dumps(asdict(record)) + "\n")
    return record


def records() -> dict[tuple[str, str], Rates]:
    """The newest record by example, and by what a second run changed."""
    lines = RECORDS.read_text().splitlines() if RECORDS.exists() else []
    read = [Rates(**json.loads(line)) for line in lines]
    return {(record.example, record.changed): record for record in read}


def of_now(known: Mapping[tuple[str, str], Rates], example: str, changed: str = "") -> Rates | None:
    """A record of the layout, of what is predicted of its rates and of the limits as they are now."""
    record = known.get((example, changed))
    return record if record and (record.layout, record.basis) == of_today(example) else None


def show(examples: Iterable[str]) -> bool:
    """Prints each example's rates; whether enough are within a fifth, and a second run explains each other one."""
    known, good, near, explained, every = records(), 0, 0, 0, list(examples)
    for name in every:
        record = of_now(known, name)
        if record is None:
            print(f"{name:24}no record of this layout as it is predicted today")
            continue
        print(f"{name:24}{_line(record)}")
        good += record.good
        near += record.near
        if not record.near:
            explained += _show_second(known, name)
    print(f"{good} of {len(every)} layouts as predicted, {near} of them with every rate within a fifth")
    return near + explained == len(every) and explained <= MOST_OFF


def _line(record: Rates) -> str:
    return f"{len(record.rates) - len(record.off)} of {len(record.rates)}, {record.seconds} s: {record.said}"


def _show_second(known: Mapping[tuple[str, str], Rates], name: str) -> bool:
    """Prints why a rate is further off, and the second run; whether all its rates are within a fifth."""
    second = EXPLAINED.get(name)
    if second is None:
        print(f"{'':24}not explained")
        return False
    record = of_now(known, name, second.changed)
    print(f"{'':24}why: {second.why}")
    print(f"{'':24}changed in a second run: {second.changed}")
    print(f"{'':24}{_line(record) if record else 'no record of a second run'}")
    return record is not None and record.near


def main(words: Sequence[str]) -> int:
    """0 if enough layouts were as predicted."""
    parser = argparse.ArgumentParser(prog="python -m tests.rehearsal.rates", description=__doc__)
    parser.add_argument("names", nargs="*", default=EXAMPLES)
    parser.add_argument("--show", action="store_true", help="print the records, and measure nothing")
    asked = parser.parse_args(words)
    known = records()
    for name in () if asked.show else asked.names:
        record = of_now(known, name)
        if record is None or not record.good:
            record = measured(name)
        second = EXPLAINED.get(name)
        if second and not record.near:
            again = of_now(known, name, second.changed)
            if again is None or not again.near:
                measured(name, second)
    return 0 if show(asked.names) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
