"""A plan to JSON and back; the bytes are canonical, so that a digest means something."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, get_args

from raidplan.base.magic import SignatureAt
from raidplan.plan.digest import OWN, SENTENCES, digest_of_data, digests_of_data
from raidplan.plan.disk_identity import disk_from_data, disk_to_data
from raidplan.plan.fault import NotAPlan, fault
from raidplan.plan.initramfs import GENERATORS, INITRAMFS_TOOLS
from raidplan.plan.loss import Loss, loss_from_data, loss_to_data, said_before
from raidplan.plan.origin import LAYOUT, Kind, Origin, origin_of_id
from raidplan.plan.step import (
    Action,
    Plan,
    Proof,
    RenewInitramfs,
    Run,
    SetAttribute,
    Step,
    Value,
    WriteBlock,
    WriteFile,
    Zero,
)
from raidplan.plan.typed import of, typed
from raidplan.plan.validity import faults

FORMAT_VERSION = 2
STEP_LISTS = ("needs", "follows", "targets", "destroys", "guard", "awaits", "clears")
Words = Callable[[Loss], str]
FORMS = ("argv", "zero", "initramfs", "file")
"""The first key of each form that the action of a step can have."""


def plan_to_json(plan: Plan, words: Words | None = None) -> str:
    """The plan as indented JSON with a final newline; its last value is the digest of all that it does. `words` say each
    loss for whoever reads the JSON."""
    data = plan_to_data(plan, words)
    return json.dumps({**data, "digest": digest_of_data(data)}, indent=2, ensure_ascii=False) + "\n"


def plan_to_data(plan: Plan, words: Words | None = None) -> dict[str, Any]:
    """The plan as plain values, in the contract's form."""
    return {
        "format_version": FORMAT_VERSION,
        "host": plan.host,
        "layout_digest": plan.layout_digest,
        "machine_digest": plan.machine_digest,
        "machine": dict(plan.machine),
        "disks": [disk_to_data(disk) for disk in plan.disks],
        "modules": list(plan.modules),
        **({"target": plan.target} if plan.target else {}),
        "steps": [step_to_data(step, words) for step in plan.steps],
        "findings": [dict(finding) for finding in plan.findings],
        **({"whole": [step_to_data(step, words) for step in plan.whole]} if plan.machine else {}),
    }


def step_to_data(step: Step, words: Words | None = None) -> dict[str, Any]:
    """One step as plain values: `argv` for a command, `file` and `content` for a file."""
    data: dict[str, Any] = {"id": step.id, "phase": step.phase, "say": step.say}
    data |= _action_to_data(step.action)
    for name in STEP_LISTS:
        data[name] = list(getattr(step, name))
    data["destroys"] = [
        {**({"what": words(loss)} if words else {}), **loss_to_data(loss)} for loss in step.destroys
    ]
    data |= {"because": step.because, "line": step.line}
    if step.proof:
        data["proof"] = _proof_to_data(step.proof)
    if step.origin != LAYOUT:
        data["origin"] = _filled(step.origin._asdict())
    return data


def _proof_to_data(proof: Proof) -> dict[str, Any]:
    data = {"kind": proof.kind, "key": proof.key, "expect": dict(proof.expect)}
    return data | _filled({"stated": list(proof.stated)})


def _filled(data: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not empty."""
    return {name: value for name, value in data.items() if value}


def _action_to_data(action: Action) -> dict[str, Any]:
    match action:
        case Run():
            return {
                "argv": list(action.argv),
                **_filled({"stdin": action.stdin, "inside": action.inside, "key": action.key}),
            }
        case RenewInitramfs(arrays, generator, encrypted, volumes):
            other = {"generator": generator} if generator != INITRAMFS_TOOLS.name else {}
            return {
                "initramfs": list(arrays),
                **other,
                **_filled({"encrypted": list(encrypted), "volumes": volumes}),
            }
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
            found = None if action.found is None else [*map(str, action.found)]
            return {"zero": action.device, "ranges": [list(one) for one in action.ranges], "found": found}


def plan_from_json(text: str) -> Plan:
    """The plan in a JSON text. Raises NotAPlan for anything that is not one."""
    try:
        data = json.loads(text, object_pairs_hook=_once)
        version = data["format_version"]
        if version not in (SENTENCES, FORMAT_VERSION) or type(version) is not int:
            raise NotAPlan(
                fault("version", version=str(version), known=(str(SENTENCES), str(FORMAT_VERSION)))
            )
        if data["digest"] != digest_of_data(data):
            raise NotAPlan(fault("digest"))
        if data["machine"] and "whole" not in data:
            raise NotAPlan(fault("without-whole"))
        host = _text(data["host"])
        if {"/", "\0"} & {*host} or host in ("", ".", ".."):
            raise NotAPlan(fault("host", host=host))
        plan = Plan(
            host=host,
            layout_digest=_text(data["layout_digest"]),
            machine_digest=_text(data["machine_digest"]),
            disks=tuple(map(disk_from_data, data["disks"])),
            modules=_texts(data["modules"]),
            target=_text(data.get("target", "")),
            machine=_values(data["machine"]),
            steps=tuple(map(_step_from_data, data["steps"])),
            findings=tuple(map(_finding_from_data, of(list, data["findings"]))),
            whole=tuple(map(_step_from_data, data.get("whole", []))),
        )
    except NotAPlan:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise NotAPlan(fault("form", error=f"{type(error).__name__} {error}")) from None
    if why := next(faults(plan), None):
        raise NotAPlan(why)
    return plan


def _step_from_data(data: dict[str, Any]) -> Step:
    proof = data.get("proof")
    return Step(
        id=_text(data["id"]),
        phase=_text(data["phase"]),
        say=_text(data["say"]),
        action=_action_from_data(data),
        because=_text(data["because"]),
        line=of(int, data["line"]),
        **{name: _texts(data[name]) for name in STEP_LISTS if name != "destroys"},
        destroys=tuple(map(_loss_from_data, of(list, data["destroys"]))),
        proof=_proof_from_data(proof) if proof else None,
        origin=_origin_from_data(data["origin"]) if "origin" in data else origin_of_id(_text(data["id"])),
    )


def _proof_from_data(data: Mapping[str, Any]) -> Proof:
    expect, stated = _values(data["expect"]), _texts(data.get("stated", []))
    return Proof(_text(data["kind"]), _text(data["key"]), expect, stated)


def _loss_from_data(data: object) -> Loss:
    """A loss in a plan of any version; a sentence of version 1 may name the layout's own objects anywhere."""
    if isinstance(data, str):
        return said_before(data.removesuffix(OWN), own=OWN in data)
    return loss_from_data(data)


def _origin_from_data(data: object) -> Origin:
    found = typed({"step": "", **of(dict, data)}, dict.fromkeys(("kind", "step"), str))
    if found["kind"] not in get_args(Kind):
        raise TypeError(f"{found['kind']!r:.80} is no origin of a step")
    return Origin(**found)


def _action_from_data(data: dict[str, Any]) -> Action:
    forms = [form for form in FORMS if form in data]
    if len(forms) > 1:
        raise NotAPlan(fault("several-actions", _text(data["id"]), actions=tuple(forms)))
    if "initramfs" in data:
        encrypted, volumes = _texts(data.get("encrypted", [])), of(bool, data.get("volumes", False))
        return RenewInitramfs(_texts(data["initramfs"]), _generator(data), encrypted, volumes)
    if "argv" in data:
        stdin, key = (_text(data.get(name, "")) for name in ("stdin", "key"))
        return Run(_texts(data["argv"]), stdin, of(bool, data.get("inside", False)), key)
    if "zero" in data:
        ranges = tuple((of(int, start), of(int, size)) for start, size in data["ranges"])
        found = None if data["found"] is None else tuple(map(SignatureAt.read, _texts(data["found"])))
        return Zero(_text(data["zero"]), ranges, found)
    file = _text(data["file"])
    if "attribute" in data:
        return SetAttribute(file, _text(data["attribute"]))
    mode = int(_text(data["mode"]), 8)
    if "block" in data:
        return WriteBlock(file, _text(data["block"]), _text(data["mark"]), of(bool, data["at_top"]), mode)
    return WriteFile(file, _text(data["content"]), mode)


def _generator(data: Mapping[str, Any]) -> str:
    name = _text(data.get("generator", INITRAMFS_TOOLS.name))
    if name not in GENERATORS:
        raise ValueError(f"{name!r:.80} makes no initramfs that is known here")
    return name


FINDING = {
    "rule": str,
    "severity": str,
    "message": str,
    "hint": str,
    "path": str,
    "file": str,
} | dict.fromkeys(("line", "column", "end_line", "end_column"), int)
"""The fields of a finding, besides `related`; findings are for reading, and no part of the digest."""
RELATED = {name: kind for name, kind in FINDING.items() if name not in ("rule", "severity", "hint")}
SEVERITIES = ("error", "warning", "note")


def _finding_from_data(data: dict[str, Any]) -> dict[str, Any]:
    severity = data["severity"]
    if severity not in SEVERITIES:
        raise TypeError(f"{severity!r:.80} is no severity")
    related = [typed(one, RELATED) for one in of(list, data["related"])]
    return {**typed({name: data[name] for name in data if name != "related"}, FINDING), "related": related}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; who reads the first of two equal keys would see another plan. Raises TypeError."""
    data = dict(pairs)
    if len(data) < len(pairs):
        twice = next(key for place, (key, _) in enumerate(pairs) if key in dict(pairs[:place]))
        raise TypeError(f"the key {twice!r:.80} stands there twice")
    return data


def _text(value: object) -> str:
    return of(str, value)


def _texts(values: object) -> tuple[str, ...]:
    return tuple(map(_text, of(list, values)))


def _values(values: object) -> dict[str, Value]:
    """Properties that a proof expects, or that a machine had."""
    return {
        _text(key): list(_texts(value)) if isinstance(value, list) else _value(value)
        for key, value in of(dict, values).items()
    }


def _value(value: object) -> str | int | None:
    if value is not None and type(value) not in (str, int, bool):
        raise TypeError(f"{value!r:.80} is no property")
    return value  # type: ignore[return-value]  # as was asked


def plan_digest(plan: Plan) -> str:
    """The digest of all that will be done: of the plan without its findings, which change nothing of that."""
    return digest_of_data(plan_to_data(plan))


def digests_of(plan: Plan) -> frozenset[str]:
    """The digest of the plan, and those by which earlier versions of raidplan spoke of it in a journal."""
    return digests_of_data(plan_to_data(plan))
