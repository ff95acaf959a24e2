"""The records of measured rates, and what counts as predicted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raidplan.twin.rehearsal import measure
from raidplan.twin.rehearsal.rig import Rig
from tests.rehearsal import rates
from tests.rehearsal.rates import EXAMPLES, Explained, Rates, of_today

GOOD = Rates("loops", "", 0, (("arrays.a", "read alone", 100, 119, True), ("arrays.a", "rebuild", 100, 81, True)), control=True, seconds=9, commit="c")  # fmt: skip


@pytest.mark.parametrize(
    ("record", "counts"),
    [
        (GOOD, True),
        (replace(GOOD, rates=(("arrays.a", "read alone", 100, 121, False),)), False),
        (replace(GOOD, rates=()), False),
        (replace(GOOD, control=False), False),
        (replace(GOOD, code=1), False),
        (replace(GOOD, layout="of yesterday"), False),
        (replace(GOOD, basis="of yesterday"), False),
    ],
    ids=[
        "within",
        "one is off",
        "nothing measured",
        "void",
        "not to its end",
        "another layout",
        "another prediction",
    ],
)
def test_a_layout_counts_with_all_its_rates_and_its_control(
    record: Rates,
    counts: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(rates, "RECORDS", tmp_path / "rates.jsonl")
    layout, on = of_today("loops")
    today = replace(record, layout=record.layout or layout, basis=record.basis or on)
    rates.RECORDS.write_text(json.dumps(asdict(today)) + "\n")
    assert (rates.main(["loops", "--show"]) == 0) is counts
    assert ("1 of 1 layouts" in capsys.readouterr().out) is counts


WHY = Explained("two copies were read", "one copy is read", "begin", "end")
BOTH = ("arrays.a", "read together", 100, 148, True)


@pytest.fixture
def loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rates:
    """A record of today that has two rates within a fifth; records lie in a place of their own."""
    monkeypatch.setattr(rates, "RECORDS", tmp_path / "rates.jsonl")
    layout, on = of_today("loops")
    return replace(GOOD, layout=layout, basis=on)


def shown(*records: Rates) -> int:
    rates.RECORDS.write_text("".join(f"{json.dumps(asdict(each))}\n" for each in records))
    return rates.main(["loops", "--show"])


def test_what_is_only_at_least_as_predicted_is_not_called_within_a_fifth(
    loops: Rates, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of mirrors that are read side by side the prediction is the least."""
    assert shown(loops) == 0
    assert "1 of 1 layouts as predicted, 1 of them" in capsys.readouterr().out
    assert shown(replace(loops, rates=(*loops.rates, BOTH))) == 1, "nothing explains it"
    assert "1 of 1 layouts as predicted, 0 of them" in capsys.readouterr().out


def test_a_rate_further_off_than_a_fifth_takes_a_second_run_that_changes_what_explains_it(
    loops: Rates, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rates, "EXPLAINED", {"loops": WHY})
    off, second = replace(loops, rates=(*loops.rates, BOTH)), replace(loops, changed=WHY.changed)
    assert shown(off) == 1
    for again, code in (
        (second, 0),
        (replace(second, rates=off.rates), 1),
        (replace(second, control=False), 1),
        (replace(second, basis="of yesterday"), 1),
        (replace(second, changed="another thing"), 1),
    ):
        capsys.readouterr()
        assert shown(off, again) == code
        out = capsys.readouterr().out
        assert WHY.why in out and WHY.changed in out and "1 of 1 layouts as predicted, 0 of them" in out
    assert shown(second) == 1, "it stands for no first run"


def test_only_the_second_run_is_missing(loops: Rates, monkeypatch: pytest.MonkeyPatch) -> None:
    """It changes the one thing while the arrays are read together, and changes it back."""
    done: list[str] = []
    rig: Any = SimpleNamespace(twin=SimpleNamespace(run=done.append))

    def plain(rig: Rig, given: Mapping[str, float]) -> dict[str, float]:
        done.append("read")
        return {}

    def rehearse(words: list[str]) -> int:
        measure.read_together(rig, {})
        return 1

    monkeypatch.setattr(rates, "EXPLAINED", {"loops": WHY})
    monkeypatch.setattr(rates, "ROOT", rates.RECORDS.parent)
    monkeypatch.setattr(rates, "run", rehearse)
    monkeypatch.setattr(measure, "read_together", plain)
    shown(replace(loops, rates=(*loops.rates, BOTH)))
    rates.main(["loops"])
    assert done == ["begin", "read", "end"] and measure.read_together is plain
    assert [each.changed for each in rates.records().values()] == ["", WHY.changed]
    done.clear()
    shown(loops)
    rates.main(["loops"])
    assert not done, "nothing is off"


def test_the_explained_are_among_the_ten() -> None:
    assert {*rates.EXPLAINED} <= {*EXAMPLES}


def test_each_of_the_ten_can_be_measured() -> None:
    assert len({of_today(name) for name in EXAMPLES}) == 10
