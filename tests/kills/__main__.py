"""`python -m tests.kills COUNT SEED [--each N] [--case NUMBER] [--real-initramfs] [--power] [--minutes M] [--table]`: random cases, recorded."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from raidplan.twin.rehearsal.host import emulator
from tests.kills.cases import Case, adversity_of, case_of, cases
from tests.kills.power import A_LAYOUT as CUTS
from tests.kills.power import power_cases
from tests.kills.record import (
    RECORD,
    add,
    case_in,
    counts,
    digest,
    dirt,
    failed,
    generator,
    generators,
    once,
    present,
    read,
    table,
)
from tests.kills.session import Harmed, Run, Void, run_case, served

A_LAYOUT = 8
"""Cases of one layout, which share a reference."""


def main() -> int:
    """Runs, records and prints the table; 1 if a case, one on record too, ended otherwise than predicted, or a layout was void. The
    table alone: 1 if any case on record did, or the work tree is dirty."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=24)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--each", type=int, help="cases of one layout")
    parser.add_argument("--case", type=int, help="that case alone, by the number in its record")
    parser.add_argument("--real-initramfs", action="store_true", help="mkinitramfs as Debian ships it")
    parser.add_argument("--power", action="store_true", help="power cuts with unflushed writes lost")
    parser.add_argument("--minutes", type=float, default=35, help="no case is begun after that")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--table", action="store_true", help="only print what is recorded")
    given = parser.parse_args()
    if given.table:
        say(table(read(given.record), digest(), generators(), dirt()))
        return int(bool(dirt()) or any(map(failed, _of_this_code(given))))
    if given.power and given.real_initramfs:
        parser.error("--power takes the quick initramfs")
    ran = run(given)
    say(table(read(given.record), digest(), generators(), dirt()))
    asked = {case_in({"command": _command(case.number, given)}) for case in wanted(given)}
    ours = once([*_of_this_code(given), *ran])
    return int(any(failed(each) for each in ours if case_in(each) in asked))


def wanted(given: argparse.Namespace) -> list[Case]:
    """The case that is asked for by its number, or those that are drawn. Raises ValueError."""
    if given.case is not None:
        return [case_of(given.case)]
    each = given.each if given.each is not None else CUTS if given.power else A_LAYOUT
    return cases(given.seed, given.count, each)


def run(given: argparse.Namespace) -> list[dict[str, Any]]:
    """The records of all the cases, until the time is over. Raises ValueError for more of a layout than can be told apart."""
    end = time.monotonic() + 60 * given.minutes
    chosen = wanted(given) if given.case is not None else _not_on_record(given)
    loaded = generator(power=given.power)
    every: dict[str, object] = {"qemu": emulator()}
    if given.real_initramfs:
        every["real_initramfs"] = True
    ran: list[dict[str, Any]] = []

    def begins() -> None:
        """raidplan/ is copied into each server when that is started; the generator runs as it was when this program was."""
        changed = "" if generator(power=given.power) == loaded else "the generator, since it was started"
        every.update(digest=digest(), generator=loaded, dirty=dirt() or changed)

    def note(number: int, record: dict[str, object]) -> None:
        ran.append({**record, **every, "seed": number, "command": _command(number, given)})
        add(ran[-1], given.record)

    def void(number: int, error: Void) -> None:
        note(number, {"void": True, "harmed": isinstance(error, Harmed), "why": str(error)[-1200:]})
        say(f"layout {case_of(number).layout}: void: {error}")

    def goes_on() -> bool:
        return time.monotonic() < end

    begins()
    its = Run(say, void, goes_on, begins)
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        every_case = (
            power_cases(Path(folder), chosen, its)
            if given.power
            else _cases(Path(folder), chosen, its, real_initramfs=given.real_initramfs)
        )
        for record in every_case:
            note(record["seed"], record)
            _told(record)
    return ran


def _command(number: int, given: argparse.Namespace) -> str:
    options = ("--power " if given.power else "") + ("--real-initramfs " if given.real_initramfs else "")
    return f"python -m tests.kills {options}--case {number}"


def _of_this_code(given: argparse.Namespace) -> list[Mapping[str, Any]]:
    now, by = digest(), generators()
    return present(read(given.record), now, by)


def _not_on_record(given: argparse.Namespace) -> list[Case]:
    """The cases that were not yet run with this code."""
    now, by = digest(), generators()
    known = {each["command"] for each in read(given.record) if counts(each, now, by) and not each.get("void")}
    return [case for case in wanted(given) if _command(case.number, given) not in known]


def _cases(folder: Path, chosen: list[Case], run: Run, *, real_initramfs: bool) -> Iterator[dict[str, Any]]:
    for twin, to, its in served(folder, chosen, run, real_initramfs=real_initramfs):
        while its and run.goes_on():
            case = its.pop(0)
            try:
                record = run_case(twin, to, adversity_of(case, to.drawn))
            except Void as error:
                run.void(case.number, error)
                run.broken = True
                break
            yield record | {"seed": case.number}
            if record["broken"]:
                run.broken = True
                break


def _told(record: dict[str, Any]) -> None:
    mark = "" if record["result"] == record["expected"] else f" BUT {record['expected']}: {record['why']}"
    cut = "" if record["interrupted"] else ", which was not cut off"
    say(
        f"{record['seed']} {record['adversity']['kind']} in {record['open']}{cut}: {record['result']}{mark} ({record['seconds']} s)"
    )


def say(text: str) -> None:
    """Prints a line."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}" if "\n" not in text else text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
