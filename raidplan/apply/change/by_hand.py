"""Advice for a person with a backup: how existing objects other than arrays and partition tables become what the layout asks for."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from raidplan.apply.change.array_shape import shape
from raidplan.base.figures import Figures
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.hidden import escaped
from raidplan.base.identity import Identity
from raidplan.base.size import SECTOR, SECTORS
from raidplan.facts.machine import Properties, texts
from raidplan.plan.changes import Answer, Reason, contents, fill, member_grown, member_shrunk, short
from raidplan.plan.step import Value


@dataclass(frozen=True, slots=True)
class Advice:
    """The case of the refusal `differs` that has the words of the advice, and their figures."""

    case: str
    figures: Figures = field(default_factory=dict, hash=False)


HINTS: Mapping[tuple[str, str], tuple[str, Answer]] = {
    ("mapping", "discard"): ("discards", contents.ENCRYPTION_REFRESHED),
    ("mapping", "name"): ("opened-otherwise", contents.ENCRYPTION_CLOSED),
    ("mount", "source"): ("other-mount", contents.UNMOUNTED),
    ("mount", "type"): ("other-mount", contents.UNMOUNTED),
    ("swap", "size"): ("swap-file", contents.SWAP_OFF),
}
"""By kind and property of the object: the case, and the answer with the commands that come first."""
FILLING = (("filesystem", "blocks"), ("swap", "size"), ("physical_volume", "extents"))
"""Kinds of objects that fill a device, and the property that has their size."""
GROWN = dict.fromkeys(FILLING, "commands-after-device") | {("volume", "size"): "commands-before-content"}
"""Cases for objects that grow together with something below or above them."""
NEW_FILESYSTEM = Advice("new-filesystem")
IMPOSSIBLE: Mapping[Reason, Advice] = {
    Reason.SHRINKS_NOT: Advice("shrinks-not"),
    Reason.STRIPE: Advice("stripe-stays"),
}
"""Where nothing makes the change; a new file system is the way for all others."""


HEADERS = {"headers": ("header-lost", "header-lost-kept"), "keyed": ("no-key", "no-key-kept")}
"""By property of an encryption: the case without a copy of its header, and with one."""
DAMAGED = frozenset(("header-damaged", *(case for cases in HEADERS.values() for case in cases)))
"""The cases of a header that is damaged, or that no key opens."""


def header_by_hand(name: str, node: str, found: Properties, kept: str, opened: str) -> Advice | None:
    """Advice about a LUKS header that is damaged, or that no key opens: the copy in the file `kept` comes before all else,
    if there is one. `opened`: the name of the encryption as long as it is open."""
    if name == "headers" and found.get("headers"):
        return Advice("header-damaged", {"node": shlex.quote(node)})
    if name not in HEADERS or "headers" not in found:
        return None
    figures = {"node": shlex.quote(node), "file": shlex.quote(kept) if kept else "", "opened": opened}
    return Advice(HEADERS[name][bool(kept)], figures)


@dataclass(frozen=True, slots=True)
class Around:
    """The surroundings of an object, as commands name them."""

    identity: str = ""
    """The identity of the object."""
    array: Properties | None = None
    """The array that runs and has the object as a member or spare."""
    point: str = ""
    """Where a file system is mounted, or is to be."""
    unmade: Mapping[str, str] = field(default_factory=dict)
    """The devices that are no physical volumes yet, with the options that make them."""


ALONE = Around()


def by_hand(
    kind: str,
    name: str,
    node: str,
    found: Properties,
    expect: Mapping[str, Value],
    around: Around = ALONE,
) -> Advice:
    """Advice about a property that no step changes; for arrays see `array_by_hand`, for partitions `table_by_hand`."""
    now, planned = found.get(name), expect[name]
    if (kind, name) == ("volume_group", "devices") and found.get("missing"):
        return Advice("group-incomplete", {"count": int(str(found["missing"]))})
    if (kind, name) == ("volume_group", "devices"):
        return _other_devices(node, texts(now), texts(planned), around.unmade)
    if (kind, node) == ("mount", "/"):
        return Advice("root-elsewhere")
    if kind == "filesystem" and found.get("device") != expect.get("device", found.get("device")):
        return NEW_FILESYSTEM  # no command is named for a device that it is not on
    if name == "blocks":
        planned = _in_blocks_of(found, expect)
    smaller = isinstance(now, int) and isinstance(planned, int) and planned < now
    answer = _answer(kind, name, found, expect, around.array, smaller=smaller)
    if answer is None:
        return _hint(kind, name, node, found, expect)
    if not answer.possible:
        return _impossible(kind, answer)
    size = escaped(str(planned))
    case = "commands" if smaller else GROWN.get((kind, name), "commands")
    if (kind, name) in FILLING and Identity.read(str(found.get("device"))).kind == "mapping":
        answer = _with_encryption(kind, answer, smaller=smaller)
    values = {
        "node": node,
        "name": PurePath(node).name,
        "group": node,
        "planned": size,
        "size": size,
        "blocks": size,
        **_sectors(planned, found.get("block")),
        **_filling(kind, node, found, expect, around.identity, planned, smaller=smaller),
        **({"mount": shlex.quote(escaped(around.point))} if around.point else {}),
        **_called(around.array),
    }
    return commands(answer, values, case)


def _hint(kind: str, name: str, node: str, found: Properties, expect: Mapping[str, Value]) -> Advice:
    """Advice that does not make the change itself: `apply` does, after these commands, or nothing does."""
    if (kind, name) == ("encryption", "sector_size") and found.get(name) in SECTORS:
        return Advice("sector-size", {"size": int(str(found[name]))})
    if (kind, name) not in HINTS:
        return NEW_FILESYSTEM if kind == "filesystem" else Advice("other", {"node": node})
    case, answer = HINTS[kind, name]
    opened = str(found.get("name") or PurePath(node).name)
    values = {
        "node": shlex.quote(node),
        "point": shlex.quote(node),
        "name": shlex.quote(escaped(opened)),
        "options": "--allow-discards " if expect.get("discard") else "",
    }
    return Advice(case, {"commands": tuple(fill(command, values) for command in answer.commands)})


def _other_devices(
    group: str, now: Sequence[str], planned: Sequence[str], unmade: Mapping[str, str]
) -> Advice:
    """The commands for the devices that join a volume group, then for each that leaves it, since pvmove takes one at a time."""
    new = [each for each in planned if each not in now]
    old = [escaped(each) for each in now if each not in planned]
    create, extend = contents.GROUP_EXTENDED.commands
    made = [fill(create, {"options": unmade[each], "new": escaped(each)}) for each in new if each in unmade]
    joined = [fill(extend, {"group": group, "new": " ".join(map(escaped, new))})] if new else []
    reduced = contents.GROUP_REDUCED
    left = [fill(command, {"group": group, "old": each}) for each in old for command in reduced.commands]
    return Advice(
        "commands",
        {"commands": (*made, *joined, *left), "conditions": reduced.before if old else ()},
    )


def _in_blocks_of(found: Properties, expect: Mapping[str, Value]) -> Value:
    """The planned size in blocks as large as those found: a file system keeps the size of its blocks, whatever its own size."""
    block, planned, blocks = found.get("block"), expect.get("block"), expect["blocks"]
    if isinstance(block, int) and isinstance(planned, int) and isinstance(blocks, int):
        return blocks * planned // block
    return blocks


def _answer(
    kind: str,
    name: str,
    found: Properties,
    expect: Mapping[str, Value],
    array: Properties | None,
    *,
    smaller: bool,
) -> Answer | None:
    """The answer of `plan/changes/` or of the type of the file system; None where they have none. `array`: of which it is a member."""
    if (kind, name) == ("volume_group", "extent"):
        answer = contents.extent(int(str(found[name])), int(str(expect[name])))
        return answer if answer.possible else None
    if (kind, name) == ("volume", "size"):
        of = shape(array) if array else None
        return (
            member_shrunk(contents.VOLUME_SHRUNK, of) if smaller else member_grown(contents.VOLUME_GROWN, of)
        )
    if (kind, name) == ("swap", "size") and "device" in found:
        return contents.SWAP_SHRUNK if smaller else contents.SWAP_GROWN
    if (kind, name) == ("physical_volume", "extents"):
        return contents.PHYSICAL_SHRUNK if smaller else contents.PHYSICAL_GROWN
    known = FILESYSTEMS.get(str(found.get("type"))) if kind == "filesystem" else None
    if known is None:
        return None
    becomes = known.becomes(str(expect.get("type", known.name)))
    if name == "type" or (expect.get("type", known.name) != known.name and not becomes.possible):
        return becomes
    if name in known.stripe:
        return known.restriped(name, found, expect)
    return known.resized(smaller=smaller) if name == "blocks" else known.changed.get(name)


def _with_encryption(kind: str, answer: Answer, *, smaller: bool) -> Answer:
    """The answer for an object on an encryption, which is resized before it, or after it where it gets smaller; of a swap area while
    that is switched off."""
    resized = contents.ENCRYPTION_SHRUNK.commands if smaller else contents.ENCRYPTION_GROWN.commands
    first = 1 if kind == "swap" else len(answer.commands) if smaller else 0
    return answer._replace(commands=(*answer.commands[:first], *resized, *answer.commands[first:]))


def _filling(
    kind: str,
    node: str,
    found: Properties,
    expect: Mapping[str, Value],
    identity: str,
    planned: Value,
    *,
    smaller: bool,
) -> dict[str, str]:
    """The values of commands for an object that fills a device."""
    match kind, planned:
        case "swap", _:
            label = str(expect.get("label") or "")
            options = (
                f"--uuid={Identity.read(identity).key}",
                *([f"--label={shlex.quote(escaped(label))}"] * bool(label)),
            )
            return {"options": " ".join(options), "sectors": str(int(str(planned)) // SECTOR)}
        case "physical_volume", int():
            extent = int(str(found.get("extent") or 0))
            last = int(str(found.get("extents") or 0)) - 1
            size = int(str(found.get("data_start") or 0)) + planned * extent
            return {"end": f"{node}:{planned}-{last}", "size": str(size), "sectors": str(size // SECTOR)}
        case "filesystem", _ if not smaller:
            return {"to": "max"}
        case "filesystem", int():
            block = found.get("block")
            return {"to": str(planned * block)} if isinstance(block, int) else {}
    return {}


def _impossible(kind: str, answer: Answer) -> Advice:
    """Advice where nothing makes the change: to a file system, or to the array that a device belongs to."""
    if kind != "filesystem" and answer.reason:
        return Advice("new-array", {"cause": answer.reason})
    return IMPOSSIBLE.get(answer.reason, NEW_FILESYSTEM) if answer.reason else NEW_FILESYSTEM


def _sectors(blocks: Value, block: Value) -> dict[str, str]:
    """The size of a file system in sectors."""
    known = isinstance(blocks, int) and isinstance(block, int)
    return {"sectors": str(int(str(blocks)) * int(str(block)) // SECTOR)} if known else {}


def _called(array: Properties | None) -> dict[str, str]:
    return {"array": escaped(str(array["node"]))} if array and "node" in array else {}


def commands(answer: Answer, values: Mapping[str, str], case: str = "commands") -> Advice:
    """The commands of an answer, and what has to hold before."""
    filled = tuple(fill(command, values) for command in answer.commands)
    since: Figures = {"since": answer.since} if answer.since else {}
    return Advice(case, {"commands": filled or (short(answer),), "conditions": answer.before, **since})
