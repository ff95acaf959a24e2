"""What `make golden` says of what has changed."""

from __future__ import annotations

import json

from tests.golden_summary import summary, updated


def plan(**says: str) -> str:
    return json.dumps({"steps": [{"id": step, "say": says} for step, says in says.items()]}, indent=2) + "\n"


def test_what_did_not_change_is_counted_only() -> None:
    texts = {("pair", "plan.md"): "a\n", ("pair", "plan.sh"): "b\n"}
    assert list(summary(texts, dict(texts))) == ["2 of 2 forms are as they were"]


def test_a_change_is_told_with_its_first_lines() -> None:
    old = "".join(f"{number}\n" for number in range(9))
    new = old.replace("2\n3\n4\n", "-- 2\n")
    assert list(summary({("pair", "plan.md"): old}, {("pair", "plan.md"): new})) == [
        "pair plan.md: 3 lines gone, 1 new",
        "    -2",
        "    -3",
        "    -4",
        "0 of 1 forms are as they were",
    ]


def test_of_a_plan_the_steps_are_counted() -> None:
    old, new = plan(a="x", b="y", c="z"), plan(a="x", b="other", d="z", e="z")
    first, *_ = summary({("pair", "plan.json"): old}, {("pair", "plan.json"): new})
    assert first.endswith("; steps: 1 gone, 2 new, 1 changed")


def test_lines_that_look_like_the_head_of_a_difference_are_told() -> None:
    said = summary({("pair", "plan.md"): "-- a\n++ b\n"}, {("pair", "plan.md"): "++ b\n@@ c\n"})
    assert list(said)[:3] == ["pair plan.md: 1 lines gone, 1 new", "    --- a", "    +@@ c"]


def test_forms_that_come_and_go_are_told() -> None:
    said = list(summary({("pair", "plan.sh"): ""}, {("loops", "plan.sh"): ""}))
    assert said == ["loops plan.sh: new", "pair plan.sh: gone", "0 of 1 forms are as they were"]


def test_all_that_can_be_made_anew_is() -> None:
    """What a test writes beside tests/golden too: sentences, hints that ask a person, schemas, pictures, pages."""
    made = {
        "render/test_said.py",
        "rules/test_hints.py",
        "cli/test_json_schemas.py",
        "draw/test_golden_pictures.py",
        "test_docs.py",
    }
    assert {f"tests/{file}" for file in made} < set(updated())
