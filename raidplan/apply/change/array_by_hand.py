"""Advice for an existing array that differs: the commands of `plan/changes/`, or that there are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from raidplan.apply.change.by_hand import Advice, commands
from raidplan.base.hidden import escaped
from raidplan.base.levels import LEVELS
from raidplan.base.size import KIB
from raidplan.base.sync_action import HELD
from raidplan.facts.machine import Properties, texts
from raidplan.plan.changes import (
    EXCHANGED,
    FAILED_REMOVED,
    JOURNAL_ADDED,
    JOURNAL_EXCHANGED,
    MISSING_FILLED,
    RENAMED,
    SPARE_AGAIN,
    Answer,
    Before,
    Change,
    Kind,
    Reason,
    Shape,
    changes,
    exchange,
    resize,
)
from raidplan.plan.identities import node_of
from raidplan.plan.step import Value

KEYS = {"members": "raid-devices", "component": "size"}
"""Properties that the table knows by another name than the facts do."""


def shape(array: Mapping[str, Value]) -> Shape:
    """The shape of an array as it is read from the machine, or as a step promises it."""
    level, chunk, layout, size = (array.get(name) for name in ("level", "chunk", "layout", "size"))
    chunked = str(level) in LEVELS and LEVELS[str(level)].chunked
    return Shape(
        str(level),
        len(texts(array.get("members"))),
        chunk if chunked and isinstance(chunk, int) else None,
        str(layout) if layout else None,
        str(array.get("metadata", "")),
        str(array.get("consistency", "")),
        size if isinstance(size, int) else None,
    )


def differences(found: Properties, planned: Mapping[str, Value]) -> dict[str, Change]:
    """The differences between the shape of an array and the planned one, by the table's names."""
    before, after = shape(found), shape(planned)
    if before.policy != after.policy or before.metadata != after.metadata:
        after = replace(
            after, size=before.size
        )  # what is kept beside the data takes more or less of the members
    return {change.key: change for change in changes(before, after)}


def policy_by_apply(found: Properties, planned: Mapping[str, Value]) -> Answer | None:
    """The answer by which `apply` itself changes the consistency policy; None if it does not."""
    change = differences(found, planned).get("consistency")
    return change.answer if change and change.answer.kind is Kind.BY_APPLY else None


def array_by_hand(
    name: str,
    node: str,
    found: Properties,
    planned: Mapping[str, Value],
    shown: Callable[[str], str],
    named: Callable[[str], str] = str,
) -> Advice:
    """Advice about one property; `shown` turns a device's identity in proofs into its name in a shell, `named` into that in
    the layout."""
    differing = differences(found, planned)
    reason = _impossible(differing, found, planned)
    if reason:
        return Advice("new-array", {"cause": reason})
    values = _values(node, found, planned, shown)
    if "missing" in texts(found.get("members")) or (name == "members" and "raid-devices" not in differing):
        return _members(values, found, planned, named)
    change = differing.get(KEYS.get(name, name))
    if change is not None:
        return commands(change.answer, values)
    if name == "name":
        return commands(RENAMED, values)
    if name == "journal" and planned.get("journal") and "consistency" not in differing:
        return commands(JOURNAL_EXCHANGED if found.get("journal") else JOURNAL_ADDED, values)
    now, wanted = found.get(name), planned.get(name)
    if not differing and isinstance(now, int) and isinstance(wanted, int):
        return commands(resize(shape(found), smaller=wanted < now), values)
    return Advice("follows", {"differing": tuple(differing)})


def after_sync(found: Properties, case: str, node: str) -> Advice:
    """Advice to wait; a sync that is held goes on by nobody's waiting."""
    action = str(found.get("sync_action", "idle"))
    if action == HELD:
        return Advice("held", {"node": node, "device": str(found["device"])})
    return Advice(case, {"node": node, **({"action": action} if case == "syncing" else {})})


def _impossible(
    differing: Mapping[str, Change], found: Properties, planned: Mapping[str, Value]
) -> Reason | None:
    """Why the array as a whole cannot become what is planned: one such property is enough."""
    for change in differing.values():
        if change.answer.reason:
            return change.answer.reason
    now, wanted = texts(found.get("members")), texts(planned.get("members"))
    others = len(now) == len(wanted) and sorted(now) != sorted(wanted) and "missing" not in now
    return exchange(shape(found), shape(planned)).reason if others else None


def _members(
    values: Mapping[str, str], found: Properties, planned: Mapping[str, Value], named: Callable[[str], str]
) -> Advice:
    """Advice for as many members, of which some are others; a missing one has to be there before anything else is changed."""
    now, wanted = texts(found.get("members")), texts(planned.get("members"))
    first = (FAILED_REMOVED,) if found.get("faulty") else ()
    if "missing" in now:
        is_in_it = "new" in values and "added" not in values  # as a spare, which md takes by itself
        if is_in_it and not first:
            return after_sync(found, "rebuilt", values["node"])
        filled = MISSING_FILLED._replace(commands=(*first, *(() if is_in_it else MISSING_FILLED.commands)))
        return commands(filled, {**values, "new": values.get("added", "NEW")}, "member-missing")
    if sorted(now) == sorted(wanted):
        return Advice("order", {"members": tuple(map(named, now))})
    is_spare = {*now} - {*wanted} <= {*texts(planned.get("spares"))}
    again = SPARE_AGAIN if is_spare else ()
    both = EXCHANGED.commands if "added" in values else EXCHANGED.commands[1:]
    exchanged = EXCHANGED._replace(
        commands=(*first, *both, *again),
        before=(Before.ONE_BY_ONE,) if again else (),
    )
    return commands(exchanged, values, "member-exchanged")


def _values(
    node: str, found: Properties, planned: Mapping[str, Value], shown: Callable[[str], str]
) -> dict[str, str]:
    """The values for the placeholders of commands; an unknown one stays a word in capitals."""
    now, wanted = texts(found.get("members")), texts(planned.get("members"))
    values = {"node": node, "count": str(len(wanted))}
    in_it = (*now, *texts(found.get("spares")))
    for key, listed in (
        ("new", [each for each in wanted if each not in now]),
        ("added", [each for each in wanted if each not in in_it]),
        ("old", [each for each in now if each not in wanted and each != "missing"]),
        ("members", now),
    ):
        if listed:
            values[key] = " ".join(_node(each, shown) for each in listed)
    for key in ("level", "layout", "name"):
        if planned.get(key):
            values[key] = escaped(str(planned[key]))
    for key, name in (("chunk", "chunk"), ("array_size", "size"), ("component", "component")):
        size = planned.get(name)
        if isinstance(size, int):
            values[key] = f"{size // KIB}K"
    if found.get("device"):
        values["attributes"] = f"/sys/block/{escaped(str(found['device']))}/"
    if planned.get("journal"):
        values["journal"] = _node(str(planned["journal"]), shown)
    if found.get("journal") and found.get("journal") != planned.get("journal"):
        values["old"] = _node(str(found["journal"]), shown)
    return values


def _node(identity: str, shown: Callable[[str], str]) -> str:
    """The name in commands of a device that proofs know by its identity."""
    node = node_of(identity)
    return escaped(shown(identity) if node == identity else node)
