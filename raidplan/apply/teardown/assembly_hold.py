"""Automatic assembly held off: a udev rule below /run that hides old members and old physical volumes from udev's own rules.

Those (64-md-raid-assembly, 69-lvm) act on ID_FS_TYPE, which this rule empties before them, by UUID, for the arrays that are
taken apart and for the partitions and arrays that are being made. Everything else on the machine is assembled as ever. A
reboot ends the hold as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.identity import md_form
from raidplan.base.magic import MEMBER, PHYSICAL_VOLUME
from raidplan.facts import Machine
from raidplan.facts.host import HOLD
from raidplan.plan.origin import RELEASE, TEARDOWN
from raidplan.plan.step import Run, Step, WriteFile
from raidplan.plan.switches import RELOAD_RULES

if TYPE_CHECKING:
    from raidplan.apply.world import World

UUID = re.compile(r"[0-9A-Za-z]+(-[0-9A-Za-z]+)*")
"""The form of a UUID that was read from a disk and may stand in a rule: letters and digits in groups, nothing else."""
ON_ONE_LINE = 100
"""A line of a rule has room for 16 KiB (udev-rules.c)."""
HELD = "teardown.hold"
HOLDING = (HELD, f"{HELD}.reload")
TYPES = f'ENV{{ID_FS_TYPE}}=="{MEMBER}|{PHYSICAL_VOLUME}"'


def rule(members: Iterable[str], partitions: Iterable[str], arrays: Iterable[str]) -> str:
    """The rule for old members and physical volumes (by their ID_FS_UUID), and for new partitions and arrays."""
    arrays = list(arrays)
    lines = [
        *_lines("ID_FS_UUID", [*members, *arrays]),
        *_lines("ID_PART_ENTRY_UUID", partitions),
        *_lines("MD_UUID", [md_form(uuid) for uuid in arrays]),
    ]
    head = "# Written by raidplan while it works; removed when it ends, by the next `raidplan apply`, or by a reboot."
    return "\n".join([head, *lines]) + "\n"


def _lines(name: str, uuids: Iterable[str]) -> Iterator[str]:
    safe = [uuid for uuid in dict.fromkeys(uuids) if UUID.fullmatch(uuid.replace(":", "-"))]
    for first in range(0, len(safe), ON_ONE_LINE):
        listed = "|".join(safe[first : first + ON_ONE_LINE])
        yield f'SUBSYSTEM=="block", {TYPES}, ENV{{{name}}}=="{listed}", ENV{{ID_FS_TYPE}}=""'


def hold(text: str, because: str, line: int, needs: Sequence[str] = ()) -> tuple[Step, Step]:
    """The steps that hold off automatic assembly, after those that they need."""
    write = Step(
        id=HELD,
        phase="teardown",
        say="hold off the automatic assembly of what is taken apart",
        action=WriteFile(HOLD, text),
        because=because,
        line=line,
        needs=tuple(needs),
        targets=(HOLD,),
        origin=TEARDOWN,
    )
    return write, Step(
        id=HOLDING[1],
        phase="teardown",
        say="let udev read that rule",
        action=Run(RELOAD_RULES),
        because=because,
        line=line,
        needs=(write.id,),
        targets=("udev",),
        origin=TEARDOWN,
    )


def release(needs: Sequence[str], nodes: Sequence[str], because: str, line: int) -> Iterator[Step]:
    """The steps that let udev assemble again, and look once more at what it passed over in the meantime."""
    before = tuple(needs)
    commands: dict[str, tuple[str, tuple[str, ...], str]] = {
        "remove": ("let arrays be assembled by themselves again", ("rm", "--force", HOLD), HOLD),
        "reload": ("let udev forget that rule", RELOAD_RULES, "udev"),
    }
    if nodes:
        words = (word for node in nodes for word in ("--name-match", node))
        again = ("udevadm", "trigger", "--settle", "--action=change", *words)
        commands["trigger"] = ("let udev look again at the new devices", again, "udev")
    for name, (say, argv, target) in commands.items():
        step = Step(
            id=f"release.{name}",
            phase="configure",
            say=say,
            action=Run(argv),
            because=because,
            line=line,
            needs=before,
            targets=(target,),
            origin=RELEASE,
        )
        before = (step.id,)
        yield step


def lift(world: World) -> None:
    """Ends the hold of a run that did not finish, this one or one that was killed. Raises OSError."""
    file = world.path(HOLD)
    if file.exists():
        world.effect("remove", str(file), file.unlink)
        world.run(RELOAD_RULES)


def still_held(machine: Machine) -> list[Refusal]:
    """A reason to name when nothing is done although an earlier run left the hold behind."""
    return [refusal("assembly-held-off", place=HOLD)] if machine.observe("file", HOLD) else []
