"""The record of all cases that were run, one JSON object a line; those of the present raidplan/ and of the present generator count."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.kills.adversity import CONVERGED, LOST, OPEN, PERSON, POWER, STUCK

ROOT = Path(__file__).parents[2]
RECORD = ROOT / ".results" / "kills.jsonl"
RESULTS = (CONVERGED, PERSON, OPEN, STUCK, LOST)
JUDGES = (
    *(
        f"kills/{name}.py"
        for name in (
            "adversity",
            "bare_tools",
            "cases",
            "family",
            "in_guest",
            "predicted",
            "session",
        )
    ),
    *(f"machine/{name}.py" for name in ("initramfs", "look")),
)
"""What draws the cases, does them and judges them, below tests/."""
CUTTERS = ("kills/power.py", "kills/root_disk.py", "kills/unflushed.py")
"""What power cuts have beside that."""


def digest(package: Path = ROOT / "raidplan") -> str:
    """Of the names and the bytes of every Python and shell file of raidplan/."""
    found = hashlib.sha256()
    for file in sorted(each for each in package.rglob("*") if each.suffix in (".py", ".sh")):
        found.update(f"{file.relative_to(package)}\n".encode() + file.read_bytes())
    return found.hexdigest()[:16]


def generator(tests: Path = ROOT / "tests", *, power: bool = False) -> str:
    """The version of what draws and judges the cases: with another one a seed draws another case, or ends otherwise."""
    files = (*JUDGES, *CUTTERS) if power else JUDGES
    return hashlib.sha256(b"".join((tests / name).read_bytes() for name in files)).hexdigest()[:16]


def generators(tests: Path = ROOT / "tests") -> tuple[str, str]:
    """The version for kills and that for power cuts."""
    return generator(tests), generator(tests, power=True)


def add(record: Mapping[str, Any], file: Path = RECORD) -> None:
    """One more case."""
    file.parent.mkdir(exist_ok=True)
    with file.open("a") as opened:
        opened.write(json.dumps(record, sort_keys=True) + "\n")


def read(file: Path = RECORD) -> list[dict[str, Any]]:
    """All cases."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def dirt(root: Path = ROOT) -> str:
    """What of raidplan/ and of the generator is other than in the last commit, as git says; "" where nothing is."""
    files = [
        "raidplan",
        "tests/kills",
        *(f"tests/{name}" for name in JUDGES if not name.startswith("kills/")),
    ]
    argv = ["git", "-C", str(root), "status", "--porcelain", "--untracked-files=all", "--", *files]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError as error:
        return f"git: {error}"
    said = done.stdout if not done.returncode else done.stdout + done.stderr
    return said.strip() or ("" if not done.returncode else "git fails")


def counts(record: Mapping[str, Any], now: str, by: Collection[str]) -> bool:
    """It is of this code and of one of these generators, both as they are in a commit."""
    return bool(record["digest"] == now and record.get("generator") in by and not record.get("dirty"))


def case_in(record: Mapping[str, Any]) -> str:
    """What tells a case from others: it is the same one with the whole initramfs."""
    return str(record["command"]).replace("--real-initramfs ", "")


def once(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Each case once, however often it was repeated: as it ended otherwise than predicted, if it ever did. What was void counts only
    as long as nothing else came of that case, but for a reference that was harmed.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for each in records:
        found[case_in(each)] = max(found.get(case_in(each), each), each, key=_weight)
    return [*found.values()]


def _weight(record: Mapping[str, Any]) -> tuple[bool, ...]:
    void = bool(record.get("void"))
    return (
        bool(record.get("harmed")),
        not void,
        failed(record),
        not void and bool(record["interrupted"]),
        bool(record.get("real_initramfs")),
    )


def failed(record: Mapping[str, Any]) -> bool:
    """It ended otherwise than predicted, or its layout was void."""
    return bool(record.get("void")) or record["result"] != record["expected"]


def present(records: Iterable[Mapping[str, Any]], now: str, by: Collection[str]) -> list[Mapping[str, Any]]:
    """The cases that count, each once, also those that were void or not cut off."""
    return once(each for each in records if counts(each, now, by))


def lost_writes(record: Mapping[str, Any]) -> bool:
    """A cut of which something was lost."""
    return bool(record.get("lost_writes", 0) + record.get("lost_writes_of_root", 0))


def table(records: Iterable[Mapping[str, Any]], now: str, by: Collection[str], dirty: str = "") -> str:
    """Of the cases of the code `now` by the generators `by` that were cut off: how many of each kind ended how; those that ended
    otherwise than predicted, needed a person or could not be predicted; layouts that were void; how many do not count. Of a `dirty`
    work tree none does.
    """
    records = [*records]
    every = [] if dirty else present(records, now, by)
    void = [each for each in every if each.get("void")]
    run = [each for each in every if not each.get("void")]
    whole = [each for each in run if not each["interrupted"]]
    cut = [each for each in run if each["interrupted"]]
    kills = [each for each in cut if _kind(each) != POWER]
    power = [each for each in cut if _kind(each) == POWER]
    lossy = [each for each in power if lost_writes(each)]
    others = sum(not counts(each, now, by) for each in records) if not dirty else len(records)
    lines = [
        *([f"dirty, so that no case counts:\n{dirty}"] if dirty else []),
        f"raidplan/ {now}, generator {', of power cuts '.join(by)}: {len(cut)} cases; {len(whole)} that were not cut off and {others} more of earlier versions do not count",
        "",
        "| adversity | cases | " + " | ".join(RESULTS) + " | as predicted | void |",
        "| --- " * (4 + len(RESULTS)) + "|",
    ]
    for kind in sorted({_kind(each) for each in cut}, key=lambda kind: (kind == POWER, kind)):
        lines.append(_row(kind, [each for each in cut if _kind(each) == kind]))
    harmed = [each for each in void if each.get("harmed")]
    if void:
        lost = ["0"] * (len(RESULTS) - 1) + [str(len(harmed))]
        lines.append(f"| no adversity | 0 | {' | '.join(lost)} | 0 | {len(void)} |")
    lines.append(_row("all but power cuts", kills))
    lines.append(_row("power cuts that lost writes", lossy))
    lines.append(_row("all", cut))
    random = sum(each["expected"] != OPEN for each in kills)
    real = sum(bool(each.get("real_initramfs")) for each in cut)
    layouts = len({each["layout"] for each in cut})
    of_own, of_root = (
        sum(bool(each.get(key)) for each in power) for key in ("lost_writes", "lost_writes_of_root")
    )
    lines += [
        "",
        f"{random} random cases count, and {len(lossy)} power cuts; {layouts} layouts; {real} cases with the whole initramfs",
        f"of {len(power)} power cuts {of_own} lost writes of the layout's disks, {of_root} of the root disk, {len(power) - len(lossy)} none and do not count",
    ]
    lines += [
        f"otherwise: {_named(each)}: {each['result']}, predicted {each['expected']}: {each['why'][:300]}"
        for each in run
        if each["result"] != each["expected"]
    ]
    lines += [
        f"not predicted: {_named(each)} ended as {each['ended']}: {each['why'][:300]}"
        for each in cut
        if each["result"] == OPEN
    ]
    lines += [
        f"needed a person, as predicted: {_named(each)}"
        for each in cut
        if each["result"] == each["expected"] == PERSON
    ]
    lines += [
        f"{'harmed' if each.get('harmed') else 'void'}: {each['command']}: {each['why'][-300:]}"
        for each in void
    ]
    return "\n".join(lines)


def _kind(record: Mapping[str, Any]) -> str:
    return str(record["adversity"]["kind"])


def _named(record: Mapping[str, Any]) -> str:
    return f"{record['command']} ({_kind(record)}, {record['kind']})"


def _row(kind: str, records: list[Mapping[str, Any]]) -> str:
    ended = Counter(str(each["result"]) for each in records)
    right = sum(each["result"] == each["expected"] != OPEN for each in records)
    cells = [kind, len(records), *(ended[result] for result in RESULTS), right, 0]
    return "| " + " | ".join(map(str, cells)) + " |"
