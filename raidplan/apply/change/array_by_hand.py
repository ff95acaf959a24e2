"""Advice for an existing array that differs: the commands of `plan/changes/`, or that there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from raidplan.apply.change.array_shape import NO_SIZES, shape
from raidplan.apply.change.by_hand import Advice, commands
from raidplan.base.hidden import escaped
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
    ArrayChange,
    Before,
    Kind,
    Pairing,
    changes,
    pair,
    resize,
)
from raidplan.plan.identities import node_of
from raidplan.plan.step import Value

KEYS = {"members": "raid-devices", "component": "size"}
"""Properties that the table knows by another name than the facts do."""


def differences(
    found: Properties, planned: Mapping[str, Value], sizes: Mapping[str, int] = NO_SIZES
) -> dict[str, ArrayChange]:
    """The differences between the shape of an array and the planned one, by the table's names."""
    before, after = shape(found, sizes), shape(planned, sizes)
    if before.policy != after.policy or before.metadata != after.metadata:
        after = replace(
            after, size=before.size
        )  # what is kept beside the data takes more or less of the members
    return {change.key: change for change in changes(before, after)}


def paired(found: Properties, planned: Mapping[str, Value]) -> Pairing:
    """The members of an array beside the planned ones."""
    now, wanted = texts(found.get("members")), texts(planned.get("members"))
    stays = [wanted.index(each) if each in wanted else None for each in now]
    return pair(stays, shape(found), shape(planned))


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
    sizes: Mapping[str, int] = NO_SIZES,
) -> Advice:
    """Advice about one property; `shown` turns a device's identity in proofs into its name in a shell, `named` into that in
    the layout, and `sizes` has the bytes of devices."""
    differing, members = differences(found, planned, sizes), paired(found, planned)
    now, wanted = texts(found.get("members")), texts(planned.get("members"))
    is_whole = "missing" not in now  # a missing one has to be there before anything else is changed
    reason = next((each.answer.reason for each in differing.values() if each.answer.reason), None)
    if is_whole and members.answer and not reason:
        reason = members.answer.reason
        if sorted(now) == sorted(wanted) and (reason or name == "members"):
            return Advice("order", {"members": tuple(map(named, now))})
    if reason:
        return Advice("new-array", {"cause": reason})
    values = _values(node, found, planned, shown)
    if not is_whole:
        return _filled(values, found, planned, shown)
    if name == "members" and members.exchanged:
        return _exchanged(values, found, planned, shown)
    change = differing.get(KEYS.get(name, name))
    if change is not None:
        return commands(change.answer, values)
    if name == "name":
        return commands(RENAMED, values)
    if name == "journal" and planned.get("journal") and "consistency" not in differing:
        return commands(JOURNAL_EXCHANGED if found.get("journal") else JOURNAL_ADDED, values)
    before, after = found.get(name), planned.get(name)
    if not differing and isinstance(before, int) and isinstance(after, int):
        return commands(resize(shape(found), smaller=after < before), values)
    return Advice("follows", {"differing": tuple(differing)})


def after_sync(found: Properties, case: str, node: str) -> Advice:
    """Advice to wait; a sync that is held goes on by nobody's waiting."""
    action = str(found.get("sync_action", "idle"))
    if action == HELD:
        return Advice("held", {"node": node, "device": str(found["device"])})
    return Advice(case, {"node": node, **({"action": action} if case == "syncing" else {})})


def _filled(
    values: Mapping[str, str], found: Properties, planned: Mapping[str, Value], shown: Callable[[str], str]
) -> Advice:
    """Advice for empty slots; an array that is read-only takes no member."""
    if found.get("state") == "readonly":
        return Advice("state", {"state": "readonly", "node": values["node"]})
    wanted = [each for each in texts(planned.get("members")) if each not in texts(found.get("members"))]
    added = [each for each in wanted if each not in texts(found.get("spares"))]
    first = (FAILED_REMOVED,) if found.get("faulty") else ()
    is_in_it = bool(wanted) and not added  # as a spare, which md takes by itself
    if is_in_it and not first:
        return after_sync(found, "rebuilt", values["node"])
    filled = MISSING_FILLED._replace(commands=(*first, *(() if is_in_it else MISSING_FILLED.commands)))
    return commands(filled, {**values, "new": _nodes(added, shown) or "NEW"}, "member-missing")


def _exchanged(
    values: Mapping[str, str], found: Properties, planned: Mapping[str, Value], shown: Callable[[str], str]
) -> Advice:
    """Advice for members in the place of others, before their number changes: until the new ones are full, all old ones stay."""
    now, wanted = texts(found.get("members")), texts(planned.get("members"))
    pairs = paired(found, planned).exchanged
    old, new = [now[slot] for slot, _ in pairs], [wanted[slot] for _, slot in pairs]
    added = [each for each in new if each not in texts(found.get("spares"))]
    again = SPARE_AGAIN if {*old} <= {*texts(planned.get("spares"))} else ()
    exchanged = EXCHANGED._replace(
        commands=(
            *((FAILED_REMOVED,) if found.get("faulty") else ()),
            *(EXCHANGED.commands if added else EXCHANGED.commands[1:]),
            *again,
        ),
        before=(Before.ONE_BY_ONE,) if again else (),
    )
    devices = {"old": _nodes(old, shown), "new": _nodes(new, shown), "added": _nodes(added, shown)}
    return commands(exchanged, {**values, **devices}, "member-exchanged")


def _values(
    node: str, found: Properties, planned: Mapping[str, Value], shown: Callable[[str], str]
) -> dict[str, str]:
    """The values for the placeholders of commands; an unknown one stays a word in capitals."""
    now, wanted, members = (
        texts(found.get("members")),
        texts(planned.get("members")),
        paired(found, planned),
    )
    journal = [str(found["journal"])] if found.get("journal") else []
    values = {"node": node, "count": str(len(wanted))}
    for key, listed in (
        ("new", [wanted[slot] for slot in members.joining]),
        ("old", [now[slot] for slot in members.leaving]),
        ("devices", [*now, *texts(found.get("spares")), *journal]),  # all that hold its superblock
    ):
        if listed:
            values[key] = _nodes(listed, shown)
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
    if journal and found.get("journal") != planned.get("journal"):
        values["old"] = _nodes(journal, shown)
    return values


def _nodes(identities: Iterable[str], shown: Callable[[str], str]) -> str:
    return " ".join(_node(each, shown) for each in identities)


def _node(identity: str, shown: Callable[[str], str]) -> str:
    """The name in commands of a device that proofs know by its identity."""
    node = node_of(identity)
    return escaped(shown(identity) if node == identity else node)
