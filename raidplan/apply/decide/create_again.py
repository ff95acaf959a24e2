"""The command that writes the superblocks of an array again, and no data: everything in it that decides where the data lies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from raidplan.apply.decide.missing_members import wanted
from raidplan.base.hidden import escaped
from raidplan.base.levels import LEVELS, raid10_copies
from raidplan.base.size import KIB, TIB
from raidplan.facts.carriers import Carrier
from raidplan.facts.machine import BlockFact, texts
from raidplan.facts.ranges import joined
from raidplan.facts.traces import edges_of, places_read
from raidplan.geometry.md_member import default_data_offset
from raidplan.geometry.md_places import places_on_members
from raidplan.plan.step import Run, Step

KEPT = ("--metadata=", "--homehost=", "--name=", "--uuid=", "--level=", "--raid-devices=", "--spare-devices=", "--chunk=",
        "--layout=", "--bitmap=", "--consistency-policy=")  # fmt: skip
"""The options of `mdadm --create` that decide where the data lies and what the array is called."""
IN_FRONT = ("1.1", "1.2")
"""The versions of metadata that lie in front of the data."""


def data_offset(step: Step, members: Sequence[BlockFact | None], there: Iterable[Carrier]) -> int | None:
    """The place of the data on each member, in bytes; None where nothing tells, or where the members do not lie alike.

    A superblock that is left tells. Else it follows from the size of the first member (`mdadm --create`, geometry/md_member.py),
    if that is there; or any size that the first member can have gives the same. `members` as in `create_again`.
    """
    assert step.proof is not None
    expect = step.proof.expect
    if expect["metadata"] not in IN_FRONT:
        return None if None in members and _is_far(step) else 0
    told = {each.data_offset for each in there if each.data_offset >= 0 and each.slot >= 0}
    if len(told) > 1 or (None in members and _is_far(step)):
        return None
    if told:
        return told.pop()
    if members[0]:
        return default_offset(step, members[0].size)
    least, most = default_offset(step, int(str(expect.get("component", 0)))), default_offset(step, TIB)
    return most if least == most else None


def _is_far(step: Step) -> bool:
    """The place of the second copies follows from the size of the smallest member (`setup_geo` in drivers/md/raid10.c)."""
    assert step.proof is not None
    layout = step.proof.expect.get("layout")
    return LEVELS[str(step.proof.expect["level"])].arranged and raid10_copies(str(layout))[0] == "far"


def default_offset(step: Step, size: int) -> int:
    """The place of the data on the members of the array that the step makes, in bytes, where the first has this size."""
    assert step.proof is not None
    expect = step.proof.expect
    chunk = expect.get("chunk")
    return default_data_offset(
        size,
        level=str(expect["level"]),
        chunk=chunk if isinstance(chunk, int) else None,
        metadata=str(expect["metadata"]),
        ppl=expect.get("consistency") == "ppl",
    )


def places_of_data(step: Step, sizes: Sequence[int]) -> list[tuple[tuple[int, int], ...]]:
    """The ranges (start and size in bytes) of each device of these `sizes`, in the order of the guard, in which both ends of its data lie,
    and all that is read of an array in which nothing is known.
    """
    assert step.proof is not None
    expect, start = step.proof.expect, default_offset(step, sizes[0])
    chunk, layout, component = expect.get("chunk"), expect.get("layout"), expect.get("component")
    places = places_on_members(
        places_read(int(str(expect["size"]))),
        str(expect["level"]),
        len(texts(expect["members"])),
        chunk=chunk if isinstance(chunk, int) else None,
        layout=str(layout) if layout else None,
        component=component if isinstance(component, int) else 0,
    )
    of_array = joined((start + at, room) for at, room in places)
    return [joined((*of_array, *edges_of(start, max(0, size - start)))) for size in sizes]


def create_again(step: Step, members: Sequence[BlockFact | None], offset: int) -> tuple[str, ...]:
    """The command that writes the superblocks of the step's array again, in the same order, and starts it read-only.

    `members` in the order of the guard, None for one that is not there; the `offset` of the data in bytes. The size of a member is
    in it, since the smallest one may not be. A write journal is left out: what it held is lost, and mdadm adds another one afterwards. So is
    each spare where one is not there.
    """
    assert step.proof is not None and isinstance(step.action, Run)
    expect, journal = step.proof.expect, step.proof.expect.get("journal")
    out = {journal}
    kept = [word for word in step.action.argv if word.startswith(KEPT)]
    if journal:
        kept = [word for word in kept if not word.startswith("--consistency-policy=")]
    there = [block for block in members if block]
    if not {*texts(expect.get("spares"))} <= {block.identity for block in there}:
        kept = [word for word in kept if not word.startswith("--spare-devices=")]
        out |= {*texts(expect.get("spares"))}
    if "component" in expect:
        kept.append(f"--size={int(str(expect['component'])) // KIB}K")
    if expect["metadata"] in IN_FRONT:
        kept.append(f"--data-offset={offset // KIB}K")
    devices = [
        in_command(node, block) if block else "missing"
        for place, (node, block) in enumerate(zip(step.guard, members, strict=True))
        if (block.identity not in out if block else place < len(wanted(step)))
    ]
    return ("mdadm", "--create", step.awaits[0], "--readonly", "--assume-clean", *kept, *devices)


def in_command(node: str, block: BlockFact) -> str:
    """The name in the command of a device, by its name in steps."""
    return escaped(node if node.startswith("/") else f"/dev/{block.name}")
