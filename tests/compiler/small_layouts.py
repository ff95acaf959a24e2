"""Plans of layouts with one array on two disks."""

from __future__ import annotations

from pathlib import Path

from raidplan.plan.step import Plan, Step
from raidplan.review.pipeline import check, plan

MIRROR = "{level: raid1, members: [d<0-1>]}"
DISKS = "version: 1\nhost: example\nhardware: {disks: {d<0-1>: {serial: S<1>, size: 1TB}}}\n"


def planned(text: str, folder: Path) -> Plan:
    file = folder / "layout.yaml"
    file.write_text(text)
    made, loaded = plan(check(str(file)))
    assert made is not None, loaded.findings
    return made


def steps(array: str, rest: str, folder: Path) -> dict[str, Step]:
    made = planned(f"{DISKS}arrays: {{s: {array}}}\n{rest}", folder)
    return {step.id: step for step in made.steps}
