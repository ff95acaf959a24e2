"""The words of losses, and what a digest knows of them."""

from __future__ import annotations

import json
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from raidplan.plan.codec import plan_digest, plan_from_json, plan_to_json
from raidplan.plan.loss import (
    FIGURES,
    IN_LAYOUTS,
    Loss,
    LossKind,
    loss,
    loss_from_row,
    loss_to_data,
    loss_to_row,
    said_before,
)
from raidplan.plan.step import Plan
from raidplan.render.losses import LOSSES, loss_text, loss_words
from tests.apply.stacks import LAYOUT, decided, old_pair, plan_of


@pytest.fixture
def wiping(tmp_path: Path) -> Plan:
    """A plan that destroys what is on the disks."""
    return decided(plan_of(LAYOUT, tmp_path), old_pair()).left


def test_every_kind_has_words_of_known_figures() -> None:
    assert LOSSES.keys() == {*get_args(LossKind)}
    named = {name for words in LOSSES.values() for _, name, _, _ in Formatter().parse(words) if name}
    assert named == {*FIGURES, "where"}


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (loss("content", "d0", type="ext4", label="a\x1b", size=1024**3, place="partition 1"), "ext4 'a\\x1b', 1 GiB, on partition 1 of d0"),
        (loss("content", "/dev/md0"), "a file system, on /dev/md0"),
        (loss("member", "d1", label="old", inside=1), "a member of the array 'old' inside the array on d1"),
        (loss("data", "d1", place="partition 2"), "data on partition 2 of d1 that nothing here recognises, from byte 0 on"),
        (loss("array", "the array a", size=1024**4), "the array a, not started, 1 TiB"),
        (loss("stain", "d0", stain="data", own=True), "data, on d0: of the step that was interrupted there, or of somebody else, made by this layout"),
    ],
)  # fmt: skip
def test_words(lost: Loss, words: str) -> None:
    assert loss_text(lost) == words
    assert loss_from_row(json.loads(json.dumps(loss_to_row(lost)))) == lost


def test_the_digest_is_of_kinds_and_figures_and_not_of_words(wiping: Plan) -> None:
    """What a person has confirmed stays confirmed when another version says it in other words."""
    for words in (loss_words, lambda loss: "other words"):
        text = plan_to_json(wiping, words)
        assert json.loads(text)["digest"] == plan_digest(wiping)
        assert plan_from_json(text) == wiping
    data = json.loads(plan_to_json(wiping, loss_words))
    (lost, *_) = (each for step in data["steps"] for each in step["destroys"] if each.get("figures"))
    lost["figures"] = {}
    with pytest.raises(ValueError, match=r"^digest "):
        plan_from_json(json.dumps(data))


def test_a_plan_for_programs_has_the_words_and_the_figures(wiping: Plan) -> None:
    data = json.loads(plan_to_json(wiping, loss_words))
    lost = [each for step in data["steps"] if step["phase"] == "teardown" for each in step["destroys"]]
    assert lost and all({"what", "where", "kind"} <= each.keys() for each in lost)
    assert [each["what"] for each in lost if each["kind"] == "array"] == [
        "the array 'old:data' (/dev/md127), raid1 of 2, 899 GiB"
    ]


@pytest.mark.parametrize("kind", IN_LAYOUTS)
def test_losses_of_layouts_stand_in_a_plan_as_before(kind: LossKind) -> None:
    """The digests of plans that are known, in journals and elsewhere, stay what they are."""
    lost = Loss(kind, "d0")
    assert loss_to_data(lost) == {"what": loss_words(lost), "where": "d0"}
    assert said_before(loss_words(lost), "d0") == lost


def test_a_journal_of_before_has_words() -> None:
    assert loss_words(loss_from_row(["ext4 on d0", "d0", "u", False])) == "ext4 on d0"


@pytest.mark.parametrize(
    ("change", "said"),
    [({"kind": "x"}, "'x' is no kind of a loss"), ({"figures": {"size": "1"}}, "'1' is no int"), ({"figures": {"more": 1}}, "'more' is no key")],
)  # fmt: skip
def test_a_loss_that_no_raidplan_wrote_is_refused(
    wiping: Plan, change: dict[str, object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.loads(plan_to_json(wiping))
    (lost, *_) = (each for step in data["steps"] for each in step["destroys"] if "kind" in each)
    lost |= change
    monkeypatch.setattr("raidplan.plan.codec.digest_of_data", lambda data: data["digest"])
    with pytest.raises(ValueError, match=said):
        plan_from_json(json.dumps(data))
