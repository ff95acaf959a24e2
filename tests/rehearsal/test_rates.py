"""The records of measured rates, and what counts as predicted."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.rehearsal import rates
from tests.rehearsal.rates import EXAMPLES, Rates, of_today

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


def test_what_is_only_at_least_as_predicted_is_not_called_within_a_fifth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of mirrors that are read side by side the prediction is the least."""
    monkeypatch.setattr(rates, "RECORDS", tmp_path / "rates.jsonl")
    layout, on = of_today("loops")
    near = replace(GOOD, layout=layout, basis=on)
    more = replace(near, rates=(*near.rates, ("arrays.a", "read together", 100, 148, True)))
    for record, words in (
        (near, "2 of 2, 9 s: all within a fifth\n1 of 1 layouts as predicted, 1 of them with every rate within a fifth"),
        (more, "3 of 3, 9 s: 2 within a fifth, 1 at least what was predicted\n1 of 1 layouts as predicted, 0 of them with every rate within a fifth"),
    ):  # fmt: skip
        rates.RECORDS.write_text(json.dumps(asdict(record)) + "\n")
        assert rates.main(["loops", "--show"]) == 0
        assert words in capsys.readouterr().out


def test_each_of_the_ten_can_be_measured() -> None:
    assert len({of_today(name) for name in EXAMPLES}) == 10
