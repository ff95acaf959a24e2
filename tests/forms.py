"""What every example gives in every form, and how much of it tests/golden keeps.

The findings and the estimate of each example are kept as they are; of each plan.json a digest of its bytes, and of a few
that have every kind of thing and step among them the whole, with each list of words and each short record on one line. `python -m tests.forms FOLDER` writes all of it out.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from raidplan.estimate.estimate import estimate
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.step import Plan, Run
from raidplan.render.estimate_text import estimate_text
from raidplan.render.findings_json import finding_to_data
from raidplan.render.findings_text import findings_text, summary_text
from raidplan.render.layout_data import layout_to_data
from raidplan.render.plan_markdown import plan_markdown
from raidplan.render.plan_shell import plan_shell
from raidplan.render.visible import json_safe
from raidplan.review import pipeline
from tests.examples import EXAMPLES

TODAY = "2026-01-01"
GOLDEN = Path("tests/golden")
DIGESTS = GOLDEN / "digests.txt"
BY_NAME = {file.stem: file for file in EXAMPLES}

SCRIPTS = ("encrypted-root", "loops", "lvm-test-host-mistake", "root-raid1-uefi")
"""The examples whose plan is kept as a script: they run every program."""
MARKDOWN = ("loops", "root-raid1-uefi")
PLANS = (
"encrypted-root", "linear", "loops", "raid10-far", "raid5-2005-lvm", "raid5-ppl", "raid50", "raid6-journal", "rio-2007", "root-raid1-uefi",
)  # fmt: skip
"""The examples whose plan.json is kept: they have every kind of thing and step."""
WORD = r'(?:"(?:[^"\\]|\\.)*"|[\w.-]+)'
LIST = re.compile(rf"\[\n\s+({WORD}(?:,\n\s+{WORD})*)\n\s*\]")
"""A list in indented JSON that has words and numbers only."""
PAIR = rf"{WORD}: (?:{WORD}|\[[^\n]*\])"
RECORD = re.compile(rf"\{{\n\s+({PAIR}(?:,\n\s+{PAIR})*)\n\s*\}}")
"""A record in indented JSON that has words, numbers and such lists only."""
WIDTH = 150
"""Characters that such a record has at most where it stands on one line."""
LIBRARIES = ("functions.sh", "clearing.sh", "initramfs.sh")
"""What scripts begin with: the files themselves are reviewed, and no copy of them."""


@cache
def planned(name: str) -> tuple[pipeline.Loaded, Plan | None]:
    """An example as `plan` reads it; one that the rules object to has no plan."""
    loaded = pipeline.check(str(BY_NAME[name]), today=TODAY)
    plan = None
    if loaded.valid:
        plan, loaded = pipeline.plan(loaded)
    if plan is not None:
        plan = replace(plan, findings=tuple(finding_to_data(item) for item in loaded.findings))
    return loaded, plan


def forms(name: str) -> dict[str, str]:
    """The forms of an example by their file names."""
    loaded, plan = planned(name)
    found = findings_text(loaded.findings, loaded.sources)
    texts = {"findings.txt": found + summary_text(loaded.findings, 1, len(loaded.accepted))}
    if loaded.topology is not None:
        texts["estimate.txt"] = estimate_text(estimate(loaded.topology))
    if plan is not None:
        texts["plan.json"] = json_safe(plan_to_json(plan))
        assert plan_from_json(texts["plan.json"]) == plan
        texts["plan.sh"] = without_libraries(plan_shell(plan))
        texts["plan.md"] = plan_markdown(plan, every=True)
    return texts


def lists_on_lines(text: str) -> str:
    """Indented JSON with each list of words and each short record on one line, for whoever reviews it."""

    def short(found: re.Match[str]) -> str:
        line = "{" + re.sub(r",\n *", ", ", found[1]) + "}"
        return line if len(line) <= WIDTH else found[0]

    return RECORD.sub(short, LIST.sub(lambda found: "[" + re.sub(r",\n *", ", ", found[1]) + "]", text))


def without_libraries(script: str) -> str:
    """A script with the name of each library that it holds in place of its text."""
    for name in LIBRARIES:
        script = script.replace(files("raidplan.render").joinpath(name).read_text("utf-8"), f"# {name}\n")
    return script


def is_kept(name: str, form: str) -> bool:
    """The form is a file in tests/golden, and no line in its digests."""
    return {"plan.json": name in PLANS, "plan.sh": name in SCRIPTS, "plan.md": name in MARKDOWN}.get(
        form, True
    )


def kept(name: str, texts: Mapping[str, str]) -> dict[str, str]:
    """The forms of an example that are kept as they are."""
    return {
        form: lists_on_lines(text) if form == "plan.json" else text
        for form, text in texts.items()
        if is_kept(name, form)
    }


def digests(name: str, texts: Mapping[str, str]) -> list[str]:
    """A line for each form that is not kept as it is: example, form, lines, digest."""
    return [
        f"{name} {form} {text.count(chr(10))} lines {sha256(text.encode()).hexdigest()}"
        for form, text in texts.items()
        if form == "plan.json" or not is_kept(name, form)
    ]


def kept_digests() -> dict[str, list[str]]:
    """The lines in tests/golden by example."""
    lines: dict[str, list[str]] = {}
    for line in DIGESTS.read_text().splitlines():
        lines.setdefault(line.partition(" ")[0], []).append(line)
    return lines


def update_kept(name: str) -> None:
    """Write anew the files in tests/golden of an example."""
    shutil.rmtree(GOLDEN / name, ignore_errors=True)
    write(GOLDEN / name, kept(name, forms(name)))


def update_digests(name: str) -> None:
    """Write anew the digests of an example; those of the others stay, also when they are written at the same time."""
    lock = os.open(GOLDEN, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lines = kept_digests() | {name: digests(name, forms(name))}
        fresh = DIGESTS.with_suffix(".new")
        fresh.write_text("".join(f"{line}\n" for each in sorted(lines) for line in lines[each]))
        fresh.replace(DIGESTS)
    finally:
        os.close(lock)


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Each text as a file in the folder, which is made."""
    folder.mkdir(parents=True)
    for form, text in texts.items():
        (folder / form).write_text(text)


def kinds_of_steps(name: str) -> set[str]:
    """The kinds of what a plan does: actions and programs, phases, proofs, what the first word of an id tells."""
    _, plan = planned(name)
    return set() if plan is None else set(_kinds(plan))


def _kinds(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        yield f"action {type(step.action).__name__}"
        yield f"phase {step.phase}"
        yield f"step {step.id.partition('.')[0]}"
        if isinstance(step.action, Run):
            yield f"program {step.action.argv[0]}"
        if step.proof is not None:
            yield f"proof {step.proof.kind}"


def kinds_of_things(name: str) -> set[str]:
    """The kinds of what a layout asks for: sections, levels, layouts, kinds of consistency, file systems, swap and journals in places of their own."""
    loaded, _ = planned(name)
    assert loaded.topology is not None
    things: dict[str, dict[str, dict[str, object]]] = layout_to_data(loaded.topology.layout)  # type: ignore[assignment]
    sections = ("arrays", "volume_groups", "filesystems", "swap")
    told = ("level", "layout", "consistency", "metadata", "type")
    found = {section for section in (*sections, "boot", "monitoring") if things.get(section)}
    for section in sections:
        for thing in things.get(section, {}).values():
            found |= {f"{section} {key} {value}" for key, value in thing.items() if key in told}
            found |= {f"{section} {key}" for key in thing.keys() & {"file", "journal"}}
    return found


if __name__ == "__main__":
    for example in BY_NAME:
        write(Path(sys.argv[1]) / example, forms(example))
