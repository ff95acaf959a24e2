"""Whole processes in turn, A B A B …, so that a drift of the machine hits both alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """One finished process: wall seconds, and peak memory in MiB."""

    seconds: float
    peak_mib: float


def run(argv: Sequence[str]) -> Run:
    """Runs a program to its end with its output thrown away. Raises RuntimeError if it failed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{argv} ended with {process.returncode}")
    return Run(seconds, usage.ru_maxrss / 1024)


def in_turn(commands: Sequence[Sequence[str]], times: int) -> list[list[Run]]:
    """`times` runs of each command, taken in turn after one that is not counted."""
    for command in commands:
        run(command)
    rounds = [[run(command) for command in commands] for _ in range(times)]
    return [list(column) for column in zip(*rounds, strict=True)]


def median_seconds(runs: Sequence[Run]) -> float:
    """The median of the wall times."""
    return statistics.median(entry.seconds for entry in runs)
