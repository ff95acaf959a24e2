"""Lines of our blocks that the layout no longer has, and without which the next boot would lack a mount or a device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from raidplan.apply.configuration.aliases import aliases, of_array
from raidplan.apply.configuration.blocks import BrokenBlock, Sections, file_text, our_blocks, sections
from raidplan.apply.configuration.conflicts import GRAMMARS
from raidplan.apply.configuration.lines import Key, device, fstab, numbered, rows, unit
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.figures import Figures
from raidplan.base.hidden import escaped
from raidplan.facts import Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import BlockFact
from raidplan.plan.places import CRYPTTAB, FSTAB, MDADM_CONF, SYSTEM_MOUNTS
from raidplan.plan.step import Plan, WriteBlock


def needed_at_boot(left: Plan, machine: Machine) -> Iterator[Refusal]:
    """Lines that a step takes out of our block: of a mount of the running system, of an encryption below one, and of a device that
    a line or a unit of others names. A line that somebody has copied out of the block stays."""
    for action, text in our_blocks(left, machine):
        dropped = [*_dropped(action, text)]
        if action.file == FSTAB:
            yield from _mounts(dropped, _mount_points(machine))
        elif action.file in (CRYPTTAB, MDADM_CONF):
            for number, keys in dropped:
                yield from _device(action, number, keys, left, machine)


def _dropped(action: WriteBlock, text: Sections) -> Iterator[tuple[int, dict[Key, str]]]:
    """The lines of our block that name nothing which a line of the new one names too, or one of others; of a mount these must have
    the mount point. One that has moved to another is a reason of its own (`mounted.py`)."""
    grammar = GRAMMARS.get(action.file)
    if grammar is None:
        return
    planned = {key for _, keys in grammar(numbered(action.content)) for key in keys}
    others = {key for _, keys in grammar(text.others) for key in keys}
    for number, keys in grammar(text.inside):
        names = [key for key in keys if key[0] == "mount point"] or keys
        if planned.isdisjoint(keys) and others.isdisjoint(names):
            yield number, keys


def _mount_points(machine: Machine) -> dict[str, str]:
    """The mounts of the system, below the target if there is one, and the identity of what is mounted there now."""
    found = {point: machine.observe("mount", point) for point in SYSTEM_MOUNTS}
    return {point: str(mount.get("source")) for point, mount in found.items() if mount is not None}


def _mounts(dropped: Iterable[tuple[int, dict[Key, str]]], mounted: dict[str, str]) -> Iterator[Refusal]:
    for number, keys in dropped:
        for kind, point in keys:
            if kind == "mount point" and point in mounted:
                yield refusal("needed-at-boot", "dropped-mount", place=FSTAB, number=number, word=point)


def _device(
    action: WriteBlock, number: int, keys: dict[Key, str], left: Plan, machine: Machine
) -> Iterator[Refusal]:
    """Why the line of an encryption or of an array may not go."""
    stack = Stack(machine, {})
    brought_up = [block for block in machine.blocks if keys.keys() & set(_names(block))]
    above = (*brought_up, *stack.above([block.name for block in brought_up]))
    word = escaped(next(iter(keys.values())))
    names = {key for key in keys if key[0] == "node"}
    if action.file == CRYPTTAB:
        standing = {block.identity for block in above}
        for point, source in _mount_points(machine).items():
            if source in standing:
                yield refusal(
                    "needed-at-boot", "dropped-device", place=CRYPTTAB, number=number, word=word, point=point
                )
                return
        names |= {key for block in above for key in aliases(stack, block.name)}
    else:
        stored = (str((machine.observe("array", each.key) or {}).get("name") or "") for each in brought_up)
        names |= {
            device(node)
            for each, name in zip(brought_up, stored, strict=True)
            for node in of_array(each.key, name)
        }
    for place, line, named in _of_others(left, machine):
        if named in names:
            figures: Figures = {
                "number": line,
                "word": escaped(named[1]),
                "file": action.file,
                "dropped": number,
            }
            yield Refusal("needed-at-boot", "dropped-name", place, figures=figures)


def _names(block: BlockFact) -> Iterator[Key]:
    """The names by which a line brings up an encryption or an array."""
    if block.kind == "mapping":
        yield from (device(block.node), device(f"UUID={block.key}"))
    elif block.kind == "array":
        yield "array", block.key.replace("-", "")


def _of_others(left: Plan, machine: Machine) -> Iterator[tuple[str, int, Key]]:
    """The devices that lines of others mount or open at boot, by file and line, and those of units, which have no line."""
    for file in (FSTAB, CRYPTTAB):
        try:
            others = sections(file_text(machine, file) or "", left.host).others
        except BrokenBlock:
            continue  # `compare` has said so
        if file == FSTAB:
            yield from ((file, number, next(iter(keys))) for number, keys in fstab(others))
        else:
            yield from ((file, number, device(words[1])) for number, words in rows(others) if len(words) > 1)
    for file, found in machine.objects.get("unit_file", {}).items():
        yield from (
            (escaped(file), 0, key)
            for key in unit(file, str(found.get("what", "")))
            if key[0] != "mount point"
        )
