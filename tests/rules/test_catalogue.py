"""docs/internals/catalogue.md says of every pitfall what covers it, and of no rule that does not exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from raidplan.rules import CATALOGUE

FAMILIES = {
    "TOPO": 16, "FDOM": 10, "SWAP": 8, "LVL": 17, "GEO": 15, "MDM": 31, "TUN": 13, "FS": 22, "XFS": 7, "LVM": 5,
    "DISK": 8, "PWR": 5, "BOOT": 7, "MON": 6,
}  # fmt: skip
"""How many pitfalls each family of the catalogue has."""
PAGE = (Path(__file__).parents[2] / "docs" / "internals" / "catalogue.md").read_text()
ROWS = re.findall(r"^\| ([A-Z]+)(\d{3}) (.+?) \| (.+) \|$", PAGE, re.MULTILINE)


def rules_named() -> list[str]:
    """What looks like a rule in the second column: words with dashes in backquotes."""
    named = (re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", covered) for *_, covered in ROWS)
    return [name for names in named for name in names]


def test_every_pitfall_is_there_once() -> None:
    numbers = [f"{family}{number}" for family, number, *_ in ROWS]
    assert numbers == [f"{family}{n:03}" for family, count in FAMILIES.items() for n in range(1, count + 1)]


def test_every_rule_that_is_named_exists() -> None:
    assert set(rules_named()) <= set(CATALOGUE)


def test_as_many_pitfalls_have_a_rule_as_the_issue_asks_for() -> None:
    covered = Counter(bool(re.search(r"`[a-z0-9]+(-[a-z0-9]+)+`", text)) for *_, text in ROWS)
    assert covered[True] >= 110
