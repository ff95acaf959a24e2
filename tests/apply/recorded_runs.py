"""Machines as runs of 43491e2 left them (`recorded/README.md`), laid out again."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.journal.past import Past
from raidplan.plan.codec import plan_from_json
from raidplan.plan.places import MDADM_CONF
from raidplan.plan.step import Plan, SetAttribute, Step, WriteBlock, WriteFile
from tests.apply import runs, wiped
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import plan_of

RECORDED = Path(__file__).parent / "recorded"
JOURNAL = "var/lib/raidplan"
NAMES = sorted(
    file.name.removesuffix(".json.gz") for file in RECORDED.glob("*.json.gz") if "plan" not in file.name
)
PLANNED = ("change-planned", "teardown-planned", "create-cut-and-used-since")


def as_then(plan: Plan) -> Plan:
    """A plan of today as 43491e2 wrote it: arrays had their names in the kernel as well, by names=yes in mdadm.conf."""

    def then(step: Step) -> Step:
        action = step.action
        match action:
            case WriteBlock(file, content) if file == MDADM_CONF and content:
                action = action._replace(content=f"create names=yes\n{content}")
            case WriteFile(_, content):
                words = {
                    "holders/*/": "holders/md_data/",
                    ', PROGRAM=="/bin/ls %S%p/holders"': "",
                    "@%c.timer": "@md_data.timer",
                }
                for now, before in words.items():
                    content = content.replace(now, before)
                action = action._replace(content=content)
            case SetAttribute(file):
                action = action._replace(file=re.sub(r"\{/dev/md/(\w+)\}", r"md_\1", file))
        return replace(step, action=action)

    return replace(plan, steps=tuple(map(then, plan.steps)), whole=tuple(map(then, plan.whole)))


class Recorded:
    """A machine as a run of 43491e2 left it, laid out in a folder."""

    def __init__(self, name: str, folder: Path) -> None:
        self.data: dict[str, Any] = json.loads(text_of(f"{name}.json"))
        folder.mkdir()
        self.layout = plan_of(self.data["layout"], folder)
        self.root = folder / "root"
        for path, content in self.data["files"].items():
            file = self.root / path
            (file if path.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
            if isinstance(content, dict):
                file.write_bytes(base64.b64decode(content["base64"]))
            elif not path.endswith("/"):
                file.write_text(content, newline="")
        sets = {key: kind(self.data["state"].pop(key, ())) for key, kind in (("nodes", set), ("unfinished", set), ("foreign", frozenset))}  # fmt: skip
        self.state = State(**self.data["state"], **sets)
        self.torn_down = "agreed" in self.data

    def kept_plan(self) -> Plan:
        """The plan beside the journal."""
        return plan_from_json((self.root / JOURNAL / "plan.json").read_text())

    def world(self, plan: Plan | None = None) -> Simulated:
        return (wiped.Old if self.torn_down else Simulated)(plan or self.layout, self.root, self.state)

    def apply(self, plan: Plan) -> str:
        world = self.world(plan.complete)
        return (
            wiped.apply(plan, world, set(self.data["agreed"])) if self.torn_down else runs.apply(plan, world)
        )

    def decide(self, plan: Plan, past: Past | None = None) -> Decision:
        past = past or read_past(self.root / JOURNAL)
        return decide(plan, self.world().read(plan), past, here=False)


def text_of(name: str) -> str:
    return gzip.decompress((RECORDED / f"{name}.gz").read_bytes()).decode()
