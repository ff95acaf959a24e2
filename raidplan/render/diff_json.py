"""A diff for programs."""

from __future__ import annotations

from typing import Any

from raidplan.base.findings import dotted
from raidplan.diff import Change, Diff, LostData, Shrink, Thing, Tolerance
from raidplan.diff.statement import Statement
from raidplan.plan.step import Step
from raidplan.render.diff_names import MEASURES, described, lost_kind, lost_name, name_of
from raidplan.render.findings_json import accepted_to_data, finding_to_data, json_text
from raidplan.render.statements import cause_text, statement_text, statement_texts, values

FORMAT_VERSION = 1


def diff_json(diff: Diff) -> str:
    """An object with everything that differs; every list is there, empty or not."""
    return json_text(
        {
            "format_version": FORMAT_VERSION,
            "old_host": diff.hosts[0],
            "new_host": diff.hosts[1],
            "destroys": bool(diff.losses),
            "shrinks": bool(diff.shrinks),
            "destroyed_data": [_loss(loss) for loss in diff.losses],
            "lost_room": [_shrink(each) for each in diff.shrinks],
            "things": [_thing(thing) for thing in diff.things],
            "tolerance": [_tolerance(each) for each in diff.tolerance],
            **({"plan": [_step(step) for step in diff.plan.steps]} if diff.plan else {}),
            "figures": [
                {
                    "name": name_of(f),
                    "what": MEASURES[f.what],
                    "unit": f.unit,
                    "before": f.before,
                    "after": f.after,
                }
                for f in diff.figures
            ],
            "findings": {
                "new": [finding_to_data(item) for item in diff.found],
                "gone": [finding_to_data(item) for item in diff.resolved],
                "accepted": [accepted_to_data(each) for each in diff.accepted],
            },
        }
    )


def _loss(loss: LostData) -> dict[str, Any]:
    return {
        "path": dotted(loss.path),
        "name": lost_name(loss),
        "what": lost_kind(loss),
        "capacity_bytes": loss.capacity,
        "device": loss.device,
        "disks": list(loss.disks),
        "because": cause_text(loss.because),
        "hint": statement_text(loss.hint) if loss.hint else "",
        "reasons": _codes(*loss.because.statements, changes=tuple(each.key for each in loss.because.changes)),
        "remedies": _codes(loss.hint),
    }


def _codes(*statements: Statement | None, **more: tuple[str, ...]) -> list[dict[str, Any]]:
    """The codes and figures of sentences."""
    return [
        {
            "code": str(each.code),
            "figures": dict(each.figures) | {name: known for name, known in more.items() if known},
        }
        for each in statements
        if each
    ]


def _shrink(shrink: Shrink) -> dict[str, Any]:
    return {
        "path": dotted(shrink.path),
        "name": name_of(shrink),
        "device": ", ".join(shrink.devices),
        "before_bytes": shrink.before,
        "after_bytes": shrink.after,
    }


def _step(step: Step) -> dict[str, Any]:
    return {"id": step.id, "phase": step.phase, "say": step.say, "because": step.because}


def _thing(thing: Thing) -> dict[str, Any]:
    return {
        "path": dotted(thing.path),
        "fate": thing.fate.value,
        "what": described(thing),
        "was": thing.was or None,
        "changes": [_change(change) for change in thing.changes],
        "note": statement_text(thing.note) if thing.note else "",
        "notes": _codes(thing.note),
    }


def _change(change: Change) -> dict[str, Any]:
    how = change.how
    old, new = values(change)
    return {
        "key": change.key,
        "old": old or None,
        "new": new or None,
        "in_place": how is not None,
        "command": how.command if how and how.command != "none" else None,
        "note": statement_texts(how.notes) if how else "",
        "notes": _codes(*how.notes) if how else [],
    }


def _tolerance(each: Tolerance) -> dict[str, Any]:
    return {
        "name": name_of(each),
        "lost": [f"{kind} {name}" for kind, name in each.lost],
        "gained": [f"{kind} {name}" for kind, name in each.gained],
        "losses_always_survived": {"before": each.always[0], "after": each.always[1]},
    }
