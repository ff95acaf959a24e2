"""The words of statements about two layouts, and of the table of changes: every code has some, of figures that are known."""

from __future__ import annotations

from string import Formatter
from typing import get_args

import pytest

from raidplan.apply.change.by_hand import commands
from raidplan.apply.refusal import Refusal
from raidplan.diff.result import Cause, Change, Measure
from raidplan.diff.statement import Code, Statement, statement
from raidplan.plan.changes import Before, Reason, by_hand
from raidplan.render.change_words import BEFORE, REASONS
from raidplan.render.diff_names import MEASURES
from raidplan.render.refusals import refusal_to_data
from raidplan.render.statements import STATEMENTS, cause_text, statement_text, statement_texts


def test_every_code_has_words() -> None:
    assert STATEMENTS.keys() == {*get_args(Code)} and MEASURES.keys() == {*get_args(Measure)}
    assert BEFORE.keys() == {*Before} and REASONS.keys() == {*Reason}
    codes = [*STATEMENTS, *BEFORE, *REASONS]
    assert len(codes) == len({*codes})


@pytest.mark.parametrize("code", [*BEFORE, *REASONS])
def test_conditions_and_reasons_have_no_figures(code: Before | Reason) -> None:
    said = statement_text(Statement(code))
    assert said and not [name for _, name, _, _ in Formatter().parse(said) if name]


NEEDED = (
    "what is on d0, d1 is needed: if still plugged in, leave them in hardware until a has been changed, under other names "
    "where those are taken"
)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (statement("disks-gone", disks=("d0",)), "d0 is not in the new layout"),
        (statement("disks-gone", disks=("d0", "d1")), "d0, d1 are not in the new layout"),
        (statement("disks-carry", disks=("d0",), users=("a", "b")), "d0 carries a, b"),
        (statement("of-them-gone", count=1), "1 of them is not in it"),
        (statement("needed", disks=("d0", "d1"), array="a"), NEEDED),
        (statement("joined", taker="g", program=""), "it is added to g, which exists already, by hand, and no program looks at what is on it before"),
        (statement("size-beside", size=3 << 40, than=(3 << 40) + (1 << 20), device="a"), "a, 3 TiB, 1 MiB less"),
        (statement("trend", trend="unknown"), "not known"),
        (statement("part-of-disk", disk="d0"), "a partition of d0"),
        (statement("part-of-disk", disk="d0", start=1 << 30), "a partition of d0 from 1 GiB on"),
        (statement("inodes-at-most", count=8192), "at most 8,192 inodes"),
    ],
)  # fmt: skip
def test_words(said: Statement, words: str) -> None:
    assert statement_text(said) == words


def test_a_cause_names_one_change_and_counts_the_others() -> None:
    changes = (
        Change("level", "raid5", "raid6", None),
        Change("label", None, "x", None),
        Change("n", 1, 2, None),
    )
    cause = Cause((statement("replaced", name="a"),), changes)
    assert cause_text(cause) == "a is replaced: level raid5 -> raid6 and 2 more cannot be changed in place"
    assert statement_texts((Statement(Before.IDLE), statement("since", since="4.4"))).endswith(
        "running; mdadm is 4.4 or later"
    )


def test_a_refusal_for_programs_has_the_codes_and_the_sentences() -> None:
    advice = commands(
        by_hand("mdadm --grow {node}", before=(Before.IDLE,), since="4.4"), {"node": "/dev/md/a"}
    )
    figures = refusal_to_data(Refusal("differs", advice.case, "a", 1, advice.figures))["figures"]
    assert (figures["conditions"], figures["since"]) == (("idle",), "4.4")
    assert figures["before"] == (BEFORE[Before.IDLE], "mdadm is 4.4 or later")
    reason = refusal_to_data(Refusal("differs", "new-array", "a", 1, {"cause": Reason.HANGS}))
    assert reason["figures"] == {"cause": "hangs", "reason": REASONS[Reason.HANGS]}
    keys = refusal_to_data(Refusal("differs", "follows", "a", 1, {"differing": ("raid-devices", "level")}))
    assert keys["figures"]["keys"] == ("number of members", "level")
