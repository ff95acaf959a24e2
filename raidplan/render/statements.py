"""The words of statements about two layouts, and their values as texts: every quantity with its unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from raidplan.base.filesystems import uuid_modes
from raidplan.base.size import exact, human, human_beside
from raidplan.base.words import listed
from raidplan.diff.result import Cause, Change, Value
from raidplan.diff.statement import Code, Statement
from raidplan.plan.changes import Before, Reason
from raidplan.render.change_words import BEFORE, REASONS, SINCE
from raidplan.render.sentences import filled

NAMED = "raidplan knows a partition by a UUID made of host and name, and refuses the disk until it bears that"
OF_DEVICE = "{device:?%, }"
STATEMENTS: Mapping[Code, str] = {
    "host": "the host {old} is called {new}",
    "replaced": "{name} is replaced: {changes} cannot be changed in place",
    "not-described": "{name} is not in the new layout",
    "moved": "no partition of {disk} begins where it did",
    "resized": "its size: {was} -> {now}",
    "joined": "it is added to {taker}, which exists already, by {program:|hand}, and no program looks at what is on it before",
    "wiped": "{taker} is made on it, and what is in the way on {disks} is wiped (wipe: true)",
    "no-disk": "the old layout does not say on which disk it is",
    "disks-gone": "{disks} {is} not in the new layout",
    "disks-carry": "{disks} {carries} {users}",
    "disks-free": "nothing in the new layout uses {disks}",
    "of-them-gone": "{count} of them {is} not in it",
    "names": "only the name differs ({renamed:, }): raidplan knows a thing by its name, or by a UUID made of the host and the name; "
    "keep the name, or change what stands by hand: {ways:; }",
    "host-names": "every UUID is made of the host's name: raidplan would know nothing of what stands, and apply would refuse its "
    "disks; keep the name (the machine's own name may be another), or change the UUIDs by hand",
    "needed": "what is on {disks} is needed: if still plugged in, leave {it} in hardware until {array} has been changed, under other "
    "names where those are taken",
    "order": "only the order of its members differs: write members: [{members:, }]",
    "since": SINCE,
    "spare-used": "it becomes a member, and stays in the array",
    "when-made": "takes effect only when it is made",
    "cable": "move the cable",
    "wipe": "with true, apply destroys what is on the disk where it is in the way",
    "keep": "with true, apply changes nothing on it; the lines of what stands on that alone leave raidplan's blocks (fstab, crypttab, mdadm.conf), "
    "and its boot loader is left to others",
    "described": "the layout describes this table only: apply refuses the disk until it is so",
    "partition-name": NAMED,
    "disk-name": f"the same disk; its table and partitions get other UUIDs: {NAMED}; by hand: {{command}}",
    "by-apply": "`apply` does the last of these once the old member is out and the new disk in, blank",
    "slots": "its slots will hold {members:, }: write the members in that order",
    "of-size": f"{OF_DEVICE}{{size}}",
    "size-beside": f"{OF_DEVICE}{{beside}}",
    "trend": f"{OF_DEVICE}{{trend}}",
    "not-stated": f"{OF_DEVICE}not stated",
    "exact": "{exact}",
    "as-it-is": "{device} as it is",
    "as-it-will-be": "{device} as it will be",
    "made-anew": "{device} replaced",
    "re-created": "{device}, re-created",
    "on-other-disk": "{device} on another disk",
    "at-other-place": "{device} at another place of the disk",
    "other-disk": "{device} (another disk)",
    "whole-disk": "all of {device}",
    "part-of-disk": "a partition of {disk}{start:? from % on}",
    "absent": "not in the new layout",
    "inodes": "{count}",
    "files": "{count} files",
    "inodes-at-most": "at most {count} inodes",
    "unnamed": "without a name",
}
UNKNOWN = {"device": "", "start": ""}
TRENDS = {"same": "as large", "larger": "larger", "smaller": "smaller", "unknown": "not known"}
SHOWN: Mapping[str, Callable[[Any], str]] = {
    "disks": listed, "users": listed, "count": "{:,}".format, "size": human, "start": human, "trend": TRENDS.__getitem__,
}  # fmt: skip
"""The form of a figure, by its name; those of other names stay as they are."""
NUMBER = {"is": "are", "carries": "carry", "it": "them"}
"""Words about one, and about several."""
RENAMED = {
    "arrays": "mdadm --assemble --update=uuid",
    "volumes": "lvrename",
    "volume_groups": "vgrename, which leaves its physical volumes with UUIDs that raidplan does not know",
    "filesystems": ", ".join(uuid_modes()),
}
"""The way to give a thing another name, by kind."""

SIZES = ("chunk", "data_offset", "data_start", "extent", "read_ahead", "size", "su")
"""Properties that are sizes in bytes, of a layout as of a machine."""
BYTES = (*SIZES, "inode_ratio", "memory")
RATES = ("rate", "sync_speed_min", "sync_speed_max")
SPEEDS = ("network", "speed", "link")
UNITS = {
    "clock": (10**6, "MHz"), "error_recovery": (1, "s"), "command_timeout": (1, "s"), "head_parking": (1, "s"),
    "reserved": (1, "%"),
}  # fmt: skip


def statement_text(statement: Statement, more: Mapping[str, str] | None = None) -> str:
    """A statement in words; `more` are words that are made of more than its figures."""
    figures: dict[str, Any] = dict(statement.figures)
    match statement.code:
        case "size-beside":
            figures["beside"] = human_beside(figures["size"], figures["than"])
        case "exact":
            figures["exact"] = exact(figures["size"])
        case "names":
            pairs = zip(figures["was"], figures["now"], strict=True)
            figures["renamed"] = tuple(f"{was} -> {now}" for was, now in pairs)
            figures["ways"] = tuple(RENAMED[kind] for kind in figures["kinds"])
    many = figures["count"] != 1 if "count" in figures else len(figures.get("disks", ())) != 1
    number = {one: several if many else one for one, several in NUMBER.items()}
    shown = {name: SHOWN[name](figure) if name in SHOWN else figure for name, figure in figures.items()}
    return filled(_template(statement.code), {**UNKNOWN, **number, **shown, **(more or {})})


def _template(code: Code | Before | Reason) -> str:
    if isinstance(code, Before):
        return BEFORE[code]
    return REASONS[code] if isinstance(code, Reason) else STATEMENTS[code]


def statement_texts(statements: Iterable[Statement]) -> str:
    """The texts of several statements."""
    return "; ".join(map(statement_text, statements))


def cause_text(cause: Cause) -> str:
    """Why data does not stay."""
    more: dict[str, str] = {}
    if cause.changes:
        pairs = [(each.key, *values(each)) for each in cause.changes]
        changes = [f"{key} {old or 'not set'} -> {new or 'not set'}" for key, old, new in pairs]
        _, was, now = pairs[0]
        more = {"changes": listed(changes, most=1), "was": was, "now": now}
    return "; ".join(statement_text(each, more) for each in cause.statements)


def values(change: Change) -> tuple[str, str]:
    """Both values of a change as texts; empty where nothing is set."""
    name = change.key.rpartition(".")[2]
    return value_text(name, change.old), value_text(name, change.new)


def value_text(key: str, value: Value) -> str:
    """A value as a person writes it; empty if nothing is set."""
    match value:
        case Statement():
            return statement_text(value)
        case None:
            return ""
        case bool():
            return str(value).lower()
        case tuple():
            return ", ".join(value_text(key, each) for each in value)
        case int() | Fraction() if key in UNITS:
            scale, unit = UNITS[key]
            return f"{float(Fraction(value) / scale):g}{unit}"
        case int() if key in BYTES:
            return exact(value)
        case int() if key in RATES:
            return f"{exact(value)}/s"
        case int() if key in SPEEDS:
            return f"{value / 10**9:g}Gbps"
    return str(value)
