"""The record of all cases that were run, one JSON object a line; only those of the present raidplan/ count."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.kills.adversity import CONVERGED, LOST, PERSON, POWER, STUCK

ROOT = Path(__file__).parents[2]
RECORD = ROOT / ".results" / "kills.jsonl"
RESULTS = (CONVERGED, PERSON, STUCK, LOST)


def digest(package: Path = ROOT / "raidplan") -> str:
    """Of the names and the bytes of every Python and shell file of raidplan/."""
    found = hashlib.sha256()
    for file in sorted(each for each in package.rglob("*") if each.suffix in (".py", ".sh")):
        found.update(f"{file.relative_to(package)}\n".encode() + file.read_bytes())
    return found.hexdigest()[:16]


def add(record: Mapping[str, Any], file: Path = RECORD) -> None:
    """One more case."""
    file.parent.mkdir(exist_ok=True)
    with file.open("a") as opened:
        opened.write(json.dumps(record, sort_keys=True) + "\n")


def read(file: Path = RECORD) -> list[dict[str, Any]]:
    """All cases."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def table(records: Iterable[Mapping[str, Any]], now: str) -> str:
    """Of the cases with the digest `now`: how many of each kind ended how, those that ended otherwise than predicted, and how
    many there are of earlier code."""
    records = [*records]
    counted = [each for each in records if each["digest"] == now]
    lines = [
        f"raidplan/ {now}: {len(counted)} cases, {len(records) - len(counted)} more of earlier code do not count",
        "",
        "| adversity | cases | cut off | " + " | ".join(RESULTS) + " | as predicted |",
        "| --- " * (4 + len(RESULTS)) + "|",
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
        for each in counted
        if each["result"] != each["expected"]
    ]
    return "\n".join(lines)


def _row(kind: str, records: list[Mapping[str, Any]]) -> str:
    ended = Counter(str(each["result"]) for each in records)
    cut = sum(bool(each["interrupted"]) for each in records)
    right = sum(each["result"] == each["expected"] for each in records)
    cells = [kind, len(records), cut, *(ended[result] for result in RESULTS), right]
    return "| " + " | ".join(map(str, cells)) + " |"
