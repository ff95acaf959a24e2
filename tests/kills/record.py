"""The record of all cases that were run, one JSON object a line; those of the present raidplan/ and of the present generator count."""

from __future__ import annotations

import hashlib
import json
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


def counts(record: Mapping[str, Any], now: str, by: Collection[str]) -> bool:
    """It is of this code and of one of these generators."""
    return bool(record["digest"] == now and record.get("generator") in by)


def once(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Each case once, however often it was repeated: as it ended otherwise than predicted, if it ever did. What was void counts only
    as long as nothing else came of that case.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for each in records:
        known = found.get(each["command"])
        stays = known and (each.get("void") or (failed(known) and not known.get("void")))
        found[each["command"]] = known if known and stays else each
    return [*found.values()]


def table(records: Iterable[Mapping[str, Any]], now: str, by: Collection[str]) -> str:
    """Of the cases of the code `now` by the generators `by` that were cut off: how many of each kind ended how; those that ended
    otherwise than predicted or could not be predicted; layouts that were void; how many there are of earlier code."""
    records = [*records]
    present = once(each for each in records if counts(each, now, by))
    void = [each for each in present if each.get("void")]
    whole = [each for each in present if not each.get("void") and not each["interrupted"]]
    counted = [each for each in present if not each.get("void") and each["interrupted"]]
    earlier = sum(not counts(each, now, by) for each in records)
    lines = [
        f"raidplan/ {now}, generator {', of power cuts '.join(by)}: {len(counted)} cases; {len(whole)} that were not cut off and {earlier} more of earlier versions do not count",
        "",
        "| adversity | cases | " + " | ".join(RESULTS) + " | as predicted |",
        "| --- " * (3 + len(RESULTS)) + "|",
    ]
    kinds = Counter(each["adversity"]["kind"] for each in counted)
    for kind in sorted(kinds, key=lambda kind: (kind == POWER, kind)):
        lines.append(_row(kind, [each for each in counted if each["adversity"]["kind"] == kind]))
    lines.append(_row("all", counted))
    real = sum(bool(each.get("real_initramfs")) for each in counted)
    layouts = len({each["layout"] for each in counted})
    lines += ["", f"{layouts} layouts; {real} cases with the whole initramfs"]
    lines += [
        f"otherwise: {each['command']} ({each['adversity']['kind']}, {each['kind']}): {each['result']}, predicted {each['expected']}: {each['why'][:300]}"
        for each in (*counted, *whole)
        if each["result"] != each["expected"]
    ]
    lines += [
        f"not predicted: {each['command']} ({each['adversity']['kind']}, {each['kind']}) ended as {each['ended']}: {each['why'][:300]}"
        for each in counted
        if each["result"] == OPEN
    ]
    lines += [f"void: {each['command']}: {each['why'][-300:]}" for each in void]
    return "\n".join(lines)


def failed(record: Mapping[str, Any]) -> bool:
    """It ended otherwise than predicted, or its layout was void."""
    return bool(record.get("void")) or record["result"] != record["expected"]


def _row(kind: str, records: list[Mapping[str, Any]]) -> str:
    ended = Counter(str(each["result"]) for each in records)
    right = sum(each["result"] == each["expected"] != OPEN for each in records)
    cells = [kind, len(records), *(ended[result] for result in RESULTS), right]
    return "| " + " | ".join(map(str, cells)) + " |"
