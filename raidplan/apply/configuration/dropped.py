"""Lines of our blocks that the layout no longer has, and without which the next boot would lack a mount or a device."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from raidplan.apply.configuration.aliases import aliases, of_array
from raidplan.apply.configuration.blocks import BrokenBlock, Sections, file_text, our_blocks, sections
from raidplan.apply.configuration.conflicts import GRAMMARS, further_files
from raidplan.apply.configuration.lines import Key, device, fstab, numbered, rows, unit
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.figures import Figures
from raidplan.base.hidden import escaped
from raidplan.facts import Machine
from raidplan.facts.device_stack import BY_ID, Stack
from raidplan.facts.machine import BlockFact
from raidplan.plan.places import CRYPTTAB, FSTAB, SYSTEM_MOUNTS
from raidplan.plan.step import Plan, WriteBlock


def needed_at_boot(left: Plan, machine: Machine) -> Iterator[Refusal]:
    """Lines that a step takes out of our block: of a mount of the system, of an encryption below one, and of a device that a line
    or a unit of others names. A line that somebody has copied out of the block stays.

    Below a target every mount of the system counts: in a rescue system not all of them need be mounted.
    """
    mounted = _system_mounts(machine)
    for action, text in our_blocks(left, machine):
        for number, keys in _dropped(action, text, machine):
            if action.file == FSTAB:
                yield from _mount(number, keys, SYSTEM_MOUNTS if left.target else mounted)
            elif action.file == CRYPTTAB:
                yield from _encryption(number, keys, mounted, left, machine)
            else:
                yield from _named(action.file, number, _names_of_array(keys, machine), left, machine)


def _dropped(action: WriteBlock, text: Sections, machine: Machine) -> Iterator[tuple[int, dict[Key, str]]]:
    """The lines of our block that name nothing which a line of the new one names too, or one of others.

    The others must name the mount point of a mount. One that has moved to another mount point is a reason of its own (`mounted.py`).
    """
    grammar = GRAMMARS.get(action.file)
    if grammar is None:
        return
    planned = {key for _, keys in grammar(numbered(action.content)) for key in keys}
    others = (text.others, *(lines for _, lines in further_files(action, machine)))
    stays = {key for lines in others for _, keys in grammar(lines) for key in keys}
    for number, keys in grammar(text.inside):
        names = [key for key in keys if key[0] == "mount point"] or keys
        if keys and planned.isdisjoint(keys) and stays.isdisjoint(names):
            yield number, keys


def _system_mounts(machine: Machine) -> dict[str, str]:
    """By mount point of the system, below the target if there is one, the identity of what is mounted there now."""
    found = {point: machine.observe("mount", point) for point in SYSTEM_MOUNTS}
    return {point: str(mount.get("source")) for point, mount in found.items() if mount is not None}


def _mount(number: int, keys: dict[Key, str], points: Collection[str]) -> Iterator[Refusal]:
    for kind, point in keys:
        if kind == "mount point" and point in points:
            yield refusal("needed-at-boot", "dropped-mount", place=FSTAB, number=number, word=point)


def _encryption(
    number: int, keys: dict[Key, str], mounted: dict[str, str], left: Plan, machine: Machine
) -> Iterator[Refusal]:
    """The mount of the system that stands on what the line opens; where there is none, lines of others that do."""
    stack, opened = Stack(machine, {}), _brought_up(keys, machine)
    above = (*opened, *stack.above([block.name for block in opened]))
    standing = {block.identity for block in above}
    points = [point for point, source in mounted.items() if source in standing]
    if points:
        figures: Figures = {"number": number, "word": escaped(next(iter(keys.values()))), "point": points[0]}
        yield Refusal("needed-at-boot", "dropped-device", CRYPTTAB, figures=figures)
        return
    names = {key for block in above for key in aliases(stack, block.name)}
    names |= {key for key in keys if key[0] == "node"}
    yield from _named(CRYPTTAB, number, names, left, machine)


def _names_of_array(keys: dict[Key, str], machine: Machine) -> set[Key]:
    """The names that an array has by its line: udev makes those by its UUID, and by the name in its superblocks, without one."""
    stored = (
        (block.key, str((machine.observe("array", block.key) or {}).get("name") or ""))
        for block in _brought_up(keys, machine)
    )
    links = {
        device(node) for key, name in stored for node in of_array(key, name) if not node.startswith(BY_ID)
    }
    links |= {key for key in keys if key[0] == "node"}
    # With names=yes, which an earlier version wrote, the kernel calls it so.
    return links | {("node", node.replace("/dev/md/", "/dev/md_")) for _, node in links}


def _named(file: str, number: int, names: Collection[Key], left: Plan, machine: Machine) -> Iterator[Refusal]:
    """The lines and units of others that have one of the names which our line of this number gives."""
    for place, line, named in _of_others(left, machine):
        if named in names:
            figures: Figures = {"number": line, "word": escaped(named[1]), "file": file, "dropped": number}
            yield Refusal("needed-at-boot", "dropped-name", place, figures=figures)


def _brought_up(keys: dict[Key, str], machine: Machine) -> list[BlockFact]:
    """The encryptions or arrays that a line brings up."""
    return [block for block in machine.blocks if keys.keys() & set(_names(block))]


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
