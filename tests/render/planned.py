"""Plans for the tests of the shell form."""

from __future__ import annotations

from raidplan.plan.step import Plan
from raidplan.review import pipeline

HOSTILE = [
    "it's",
    'a"b',
    "$(touch BAD)",
    "`touch BAD`",
    "a\nb",
    "a\n'END'\nEND\nEND_\ntouch BAD",
    "; touch BAD #",
    "-rf",
    "*",
    "~",
    "{d00}x",
    "\\",
    "a\\nb",
    "$HOME ${x:-y}",
    "!! %s %n",
    "é ぁ \x81 \u202e",
    "\x1b[2J",
    "",
    " ",
]


def of_layout(file: str) -> Plan:
    made, _ = pipeline.plan(pipeline.check(file))
    assert made is not None
    return made


EXAMPLE = "examples/tel-aviv-jbod.yaml"
