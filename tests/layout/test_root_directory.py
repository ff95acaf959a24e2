"""The directory that a file system is mounted on is made, except for / itself."""

from __future__ import annotations

from raidplan.plan.step import Run
from tests.render.planned import of_layout


def test_the_root_directory_is_not_created() -> None:
    plan = of_layout("examples/root-raid1-uefi.yaml")
    made = [
        step.action.argv[-1]
        for step in plan.steps
        if isinstance(step.action, Run) and step.action.argv[0] == "mkdir"
    ]
    assert made and "/" not in made
    (mount,) = [step for step in plan.steps if step.say.endswith(" at /")]
    assert all(need in {step.id for step in plan.steps} for need in mount.needs)


def test_the_words_say_the_inodes_that_the_command_asks_for() -> None:
    plan = of_layout("examples/root-raid1-uefi.yaml")
    steps = [step for step in plan.steps if isinstance(step.action, Run) and "-N" in step.action.argv]
    assert steps
    for step in steps:
        asked = int(step.action.argv[step.action.argv.index("-N") + 1])
        assert f" {asked:,} inodes" in step.say
