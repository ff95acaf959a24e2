"""`python -m bench.exact_placement`: the members that raidplan picks beside those of an exact solver, in value and time.

The solver is CP-SAT of OR-tools (`pip install ortools`), which only this benchmark needs. It minimises the places of
`raidplan.placement.objective` one after the other, from the first to the logical sectors, then the rate of the slowest
array; both choices are valued by the same function. Ratios are of the processor's time that each took in the same
run, the solver with one thread; it starts from nothing, and the larger machines once more from raidplan's choice.
`--machines N`, `--disks N` and `--limit N` (work of the solver for each larger machine, in its own
measure, about seconds) make it shorter.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from unittest import mock

from bench.exact_model import Model
from bench.placement import SERIES, layout
from raidplan.layout.load import layout_of
from raidplan.layout.model import Layout
from raidplan.placement.deal import deal
from raidplan.placement.objective import Value, worth_in_order
from raidplan.placement.place import place
from raidplan.placement.problem import Choice, Picked, Problem
from raidplan.placement.slots import in_slots
from raidplan.placement.solve import solve
from tests.placement.problems import problem as random_machine

COMPARED = 14
"""Places of the value; of the last, the rates, the slowest array's."""
CARDS = {"four cards": "0/0/1/1/2/2/3/3", "three cards": "0/0/0/1/1/1/2/2"}
"""For each multiplier of the machine of 40 disks, the card it hangs on."""
MOST_WORK = 20.0
"""Of the solver, for a small machine."""


@dataclass(frozen=True)
class Run:
    """One problem solved by both."""

    ours: Value
    theirs: Value | None
    """None: no choice found in time."""
    proven: bool
    """The solver has shown that no choice is better."""
    seconds: float
    solver_seconds: float

    @property
    def verdict(self) -> str:
        """The better choice, in the places that are compared."""
        if self.theirs is None:
            return "raidplan"
        if self.ours == self.theirs:
            return "equal"
        return "raidplan" if self.ours < self.theirs else "solver"


def compared(problem: Problem, limit: float, *, onward: bool = False) -> Run:
    """Both choices, valued; onward: the solver begins with raidplan's."""
    started = time.process_time()
    ours = _picked(problem)
    seconds = time.process_time() - started
    started = time.process_time()
    choice, proven = Model(problem).solved(limit, ours if onward else None)
    solver_seconds = time.process_time() - started
    theirs = _value(problem, choice) if choice else None
    return Run(_value(problem, ours), theirs, proven, seconds, solver_seconds)


def _picked(problem: Problem) -> Choice:
    found = solve(problem, deal(problem)[0])
    return tuple(
        Picked(in_slots(problem, demand, each.members), each.spares)
        for demand, each in zip(problem.demands, found, strict=True)
    )


def _value(problem: Problem, choice: Choice) -> Value:
    value = worth_in_order(problem, choice)
    rates = value[COMPARED - 1]
    assert isinstance(rates, list)
    return (*value[: COMPARED - 1], max(rates))


def problems_of(wanted: Layout) -> list[Problem]:
    """The problems that a layout's pools are."""
    with mock.patch("raidplan.placement.place.solve", side_effect=solve) as seen:
        place(wanted)
    return [call.args[0] for call in seen.call_args_list]


def flagship(cards: str, mixed: bool) -> Layout:
    """40 disks behind eight multipliers, five RAID6 of eight; as they are, or of two sizes and two rates."""
    on = cards.split("/")
    kinds = [("3TB", "150MB/s"), ("4TB", "150MB/s"), ("3TB", "120MB/s")] if mixed else [("3TB", "150MB/s")]
    named = {f"d{row}{column}": (row, column) for row in range(8) for column in range(5)}
    disks = {}
    for number, (name, (row, _)) in enumerate(named.items()):
        size, rate = kinds[number * 7 % 11 % len(kinds)]
        disks[name] = {"behind": f"pm{row}", "size": size, "rate": rate}
    pool = {"from": [*disks], "count": "8", "spread": "multiplier"}
    lanes = {f"slot{card}": {"type": "pcie", "lanes": "1", "generation": "1"} for card in set(on)}
    hardware = {
        "buses": lanes,
        "controllers": {f"c{card}": {"behind": f"slot{card}"} for card in set(on)},
        "multipliers": {f"pm{row}": {"behind": f"c{card}", "speed": "3Gbps"} for row, card in enumerate(on)},
        "disks": disks,
    }
    arrays = {f"s{n}": {"level": "raid6", "members": pool} for n in range(5)}
    return layout_of({"version": "1", "host": "flagship", "hardware": hardware, "arrays": arrays})


def small(machines: int, sizes: tuple[int, int], arrays: int) -> list[Problem]:
    """Random machines with several kinds of components, as the tests try every choice of."""
    drawn = (random_machine(Random(seed), sizes, arrays) for seed in range(machines))
    return [each for each in drawn if not deal(each)[1]]


def report(name: str, problems: Sequence[Problem], limit: float, *, onward: bool = False) -> None:
    """One line: who was better how often, and the ratio of times."""
    runs = [compared(each, limit, onward=onward) for each in problems]
    verdicts = [run.verdict for run in runs]
    ratios = [run.solver_seconds / run.seconds for run in runs]
    most = max(run.solver_seconds for run in runs)
    print(
        f"{name:34} {len(runs):6} {verdicts.count('equal'):6} {verdicts.count('raidplan'):9} {verdicts.count('solver'):7} "
        f"{sum(run.proven for run in runs):7} {statistics.median(ratios):9.1f} {math.fsum(r.solver_seconds for r in runs) / math.fsum(r.seconds for r in runs):9.1f} "
        f"{most:8.1f}",
        flush=True,
    )
    for run in runs:
        if run.verdict == "solver" or (len(runs) < 3 and run.verdict != "equal"):
            print(f"    raidplan {run.ours}\n    solver   {run.theirs}", flush=True)


def main() -> None:
    """Prints both, for small machines, the machine of 40 disks and as many as 1,000."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--machines", type=int, default=2400)
    parser.add_argument("--disks", type=int, default=1000)
    parser.add_argument("--limit", type=float, default=60)
    asked = parser.parse_args()
    print(
        f"{'':34} {'':6} {'equal':>6} {'better:':>9} {'better:':>7} {'':7} {'time, solver / raidplan':>19}\n"
        f"{'problems':34} {'number':>6} {'':6} {'raidplan':>9} {'solver':>7} {'proven':>7} {'median':>9} {'sum':>9} {'most, s':>8}"
    )
    report("random, up to 8 disks", small(asked.machines, (2, 8), 3), MOST_WORK)
    report("random, 9 to 12 disks", small(asked.machines // 20, (9, 12), 2), MOST_WORK)
    large = {
        f"40 disks, {name}{', two sizes' * mixed}": flagship(cards, mixed)
        for name, cards in CARDS.items()
        for mixed in (False, True)
    }
    large |= {f"{asked.disks} disks: {each.name}": layout(asked.disks, each) for each in SERIES[:4]}
    for name, wanted in large.items():
        problems = problems_of(wanted)
        report(name, problems, asked.limit)
        report("  from raidplan's choice on", problems, asked.limit, onward=True)


if __name__ == "__main__":
    main()
