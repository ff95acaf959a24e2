"""A plan to JSON and back; the bytes are canonical, so that a digest means something."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from raidplan.plan.step import (
    Action,
    DiskIdentity,
    Plan,
    Proof,
    Run,
    SetAttribute,
    Step,
    WriteBlock,
    WriteFile,
    Zero,
)

FORMAT_VERSION = 1
STEP_LISTS = ("needs", "follows", "targets", "destroys", "guard", "awaits", "clears")


def plan_to_json(plan: Plan) -> str:
    """The plan as indented JSON with a final newline; its last value is the digest of all that it does."""
    data = plan_to_data(plan)
    return json.dumps({**data, "digest": _digest_of(data)}, indent=2, ensure_ascii=False) + "\n"


def plan_to_data(plan: Plan) -> dict[str, Any]:
    """The plan as plain values, in the contract's form."""
    return {
        "format_version": FORMAT_VERSION,
        "host": plan.host,
        "layout_digest": plan.layout_digest,
        "machine_digest": plan.machine_digest,
        "machine": dict(plan.machine),
        "disks": [asdict(disk) for disk in plan.disks],
        "modules": list(plan.modules),
        "steps": [step_to_data(step) for step in plan.steps],
        "findings": [dict(finding) for finding in plan.findings],
    }


def step_to_data(step: Step) -> dict[str, Any]:
    """One step as plain values: `argv` for a command, `file` and `content` for a file."""
    data: dict[str, Any] = {"id": step.id, "phase": step.phase, "say": step.say}
    data |= _action_to_data(step.action)
    for name in STEP_LISTS:
        data[name] = list(getattr(step, name))
    data |= {"because": step.because, "line": step.line}
    if step.proof:
        data["proof"] = {"kind": step.proof.kind, "key": step.proof.key, "expect": dict(step.proof.expect)}
    return data


def _action_to_data(action: Action) -> dict[str, Any]:
    match action:
        case Run(argv, stdin, arrays):
            given = {"stdin": stdin} if stdin else {}
            return {"argv": list(argv), **given} | ({"initramfs": list(arrays)} if arrays else {})
        case WriteFile():
            return {"file": action.file, "content": action.content, "mode": f"{action.mode:04o}"}
        case WriteBlock():
            return {
                "file": action.file,
                "block": action.content,
                "mark": action.mark,
                "at_top": action.at_top,
                "mode": f"{action.mode:04o}",
            }
        case SetAttribute():
            return {"file": action.file, "attribute": action.content}
        case Zero():
            found = None if action.found is None else list(action.found)
            return {"zero": action.device, "ranges": [list(one) for one in action.ranges], "found": found}


def plan_from_json(text: str) -> Plan:
    """The plan in a JSON text. Raises ValueError, with a sentence, for anything that is not one."""
    try:
        data = json.loads(text)
        version = data["format_version"]
        if version != FORMAT_VERSION:
            raise ValueError(
                f"format_version {version} is not known to this raidplan, which reads {FORMAT_VERSION}"
            )
        if data["digest"] != _digest_of(data):
            raise ValueError(
                "its digest is not that of what stands in it: it was changed, make it anew with `raidplan plan`"
            )
        return Plan(
            host=data["host"],
            layout_digest=data["layout_digest"],
            machine_digest=data["machine_digest"],
            disks=tuple(DiskIdentity(**disk) for disk in data["disks"]),
            modules=tuple(data["modules"]),
            machine=dict(data["machine"]),
            steps=tuple(_step_from_data(step) for step in data["steps"]),
            findings=tuple(data["findings"]),
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise ValueError(f"this is not a plan: {type(problem).__name__} {problem}") from None


def _step_from_data(data: dict[str, Any]) -> Step:
    proof = data.get("proof")
    return Step(
        id=data["id"],
        phase=data["phase"],
        say=data["say"],
        action=_action_from_data(data),
        because=data["because"],
        line=data["line"],
        **{name: tuple(data[name]) for name in STEP_LISTS},
        proof=Proof(proof["kind"], proof["key"], proof["expect"]) if proof else None,
    )


def _action_from_data(data: dict[str, Any]) -> Action:
    if "argv" in data:
        return Run(tuple(data["argv"]), data.get("stdin", ""), tuple(data.get("initramfs", ())))
    if "zero" in data:
        ranges = tuple((int(start), int(size)) for start, size in data["ranges"])
        return Zero(data["zero"], ranges, None if data["found"] is None else tuple(data["found"]))
    if "attribute" in data:
        return SetAttribute(data["file"], data["attribute"])
    if "block" in data:
        return WriteBlock(data["file"], data["block"], data["mark"], data["at_top"], int(data["mode"], 8))
    return WriteFile(data["file"], data["content"], int(data["mode"], 8))


def plan_digest(plan: Plan) -> str:
    """What is to be done and on what: the plan without its findings, which do not change that."""
    return _digest_of(plan_to_data(plan))


def _digest_of(data: Mapping[str, Any]) -> str:
    return digest({key: value for key, value in data.items() if key not in ("findings", "digest")})


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON of plain values."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
