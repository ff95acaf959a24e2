"""What a trace of `apply` shows is held against the plan: no program more, none fewer, each after what it needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from raidplan.plan.codec import plan_to_json
from raidplan.plan.step import Plan
from raidplan.review.pipeline import check, plan
from raidplan.twin.server.ssh import Result
from tests.machine.executed import programs_as_planned, programs_of

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNEL = "6.1.0-1-amd64"
AFTER_ALL = [
    "udevadm",
    "trigger",
    "--settle",
    "--action=change",
    "--name-match=/dev/sda",
    "--name-match=/dev/md/a",
]
"""The last look at all that was written to, in no plan."""


@dataclass
class Traced:
    """A server in which the plan was applied under a trace."""

    plan: Plan
    ran: Sequence[Sequence[str]]

    def get(self, file: str) -> bytes:
        if file.endswith(".programs"):
            return "\n".join(["1 execve", *map(_line, range(2, 9999), self.ran)]).encode()
        return plan_to_json(self.plan).encode()

    def run(self, command: object) -> Result:
        disks = zip("abcdefgh", self.plan.disks, strict=False)
        nodes = "\n".join(f"sd{letter} {disk.serial}" for letter, disk in disks)
        return Result(0, KERNEL if command == ["uname", "-r"] else nodes, "")


def _line(task: int, argv: Sequence[str]) -> str:
    words = ", ".join(map(json.dumps, ["/usr/sbin/" + argv[0], *argv[1:]]))
    return f'1 vfork() = {task}\n{task} execve("/usr/sbin/{argv[0]}", [{words}], 0x7f /* 9 vars */) = 0'


def _planned() -> tuple[Plan, list[list[str]]]:
    made, _ = plan(check(str(EXAMPLES / "raid1-pair.yaml")))
    assert made is not None
    nodes = {
        f"{{{disk.name}}}": f"/dev/sd{letter}" for letter, disk in zip("abcdefgh", made.disks, strict=False)
    }
    words = programs_of(made, nodes, KERNEL)
    return made, [words[step.id] for step in made.steps if step.id in words]


def _judged(made: Plan, ran: Sequence[Sequence[str]]) -> int:
    server: Any = Traced(made, ran)
    return programs_as_planned(server, "plan.json")


def test_all_that_is_planned_ran_and_the_last_look_of_udev_is_no_program_more() -> None:
    made, planned = _planned()
    assert any(argv[0] == "mkinitramfs" for argv in planned)
    assert _judged(made, [["lsblk", "--json", "--nodeps", "--output", "NAME"], *planned, AFTER_ALL]) == len(
        planned
    )


def test_a_program_more_fewer_or_too_early_is_seen() -> None:
    made, planned = _planned()
    for ran, what in (
        ([*planned, ["wipefs", "--all", "/dev/sda"]], "--all"),
        (planned[1:], planned[0][0]),
        (planned[::-1], " before "),
    ):
        with pytest.raises(AssertionError, match=what):
            _judged(made, ran)
