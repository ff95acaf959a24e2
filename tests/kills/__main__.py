"""`python -m tests.kills COUNT SEED [--layouts N] [--case SEED] [--real-initramfs] [--power] [--minutes M] [--table]`: random cases, recorded."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.kills.adversity import POWER
from tests.kills.family import draw
from tests.kills.power import power_cases
from tests.kills.record import RECORD, add, digest, read, table
from tests.kills.session import Void, cases_of, reference, run_case, server

A_LAYOUT = 8
"""Cases of one layout, which share a reference."""


def main() -> int:
    """Runs, records and prints the table; 1 if a case ended otherwise than predicted."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=24)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--each", type=int, default=A_LAYOUT, help="cases of one layout")
    parser.add_argument("--case", type=int, help="that case alone, by the seed in its record")
    parser.add_argument("--real-initramfs", action="store_true", help="mkinitramfs as Debian ships it")
    parser.add_argument("--power", action="store_true", help="power cuts with unflushed writes lost")
    parser.add_argument("--minutes", type=float, default=35, help="no case is begun after that")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--table", action="store_true", help="only print what is recorded")
    given = parser.parse_args()
    if given.table:
        say(table(read(given.record), digest()))
        return 0
    before = len(read(given.record))
    run(given)
    records = read(given.record)
    say(table(records, digest()))
    return int(any(each["result"] != each["expected"] for each in records[before:]))


def run(given: argparse.Namespace) -> None:
    """All the cases, until the time is over."""
    now, end = digest(), time.monotonic() + 60 * given.minutes
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        if given.power:
            cases = power_cases(Path(folder), given.count, given.seed, say, lambda: time.monotonic() < end)
            for record in cases:
                _noted(given.record, record | {"digest": now}, "--power ")
            return
        with server(Path(folder) / "twin", say, real_initramfs=given.real_initramfs) as twin:
            for layout in _layouts(given):
                drawn = draw(layout)
                try:
                    to = reference(twin, drawn)
                except Void as error:
                    say(f"layout {layout}: void: {error}")
                    continue
                say(f"layout {layout}, {drawn.kind}: {to.records} records without adversity")
                for seed, adversity in cases_of(layout, given.each, given.seed):
                    if given.case is not None and seed != given.case:
                        continue
                    if time.monotonic() > end:
                        return
                    record = run_case(twin, to, adversity) | {"digest": now, "seed": seed}
                    real = {"real_initramfs": True} if given.real_initramfs else {}
                    _noted(given.record, record | real, "--real-initramfs " if real else "")


def _layouts(given: argparse.Namespace) -> list[int]:
    if given.case is not None:
        given.seed = given.case // 1_000_000
        return [given.case % 1_000_000 // 100]
    first = given.seed * 100
    return [first % 10_000 + number for number in range(-(-given.count // given.each))]


def _noted(file: Path, record: dict[str, object], options: str) -> None:
    record["command"] = f"python -m tests.kills {options}--case {record['seed']}"
    add(record, file)
    kind, why = record["adversity"]["kind"], record["why"]  # type: ignore[index]
    mark = "" if record["result"] == record["expected"] else f" BUT {record['expected']}: {why}"
    say(f"{record['seed']} {kind} in {record['open']}: {record['result']}{mark} ({record['seconds']} s)")


def say(text: str) -> None:
    """Prints a line."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}" if "\n" not in text else text, flush=True)  # noqa: T201


if __name__ == "__main__":
    assert POWER
    sys.exit(main())
