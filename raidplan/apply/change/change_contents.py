"""Existing file systems, mounts, swap areas and volumes that differ: the steps that change them in place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from raidplan.apply.change.difference import Difference, NotInPlace
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.mount_flags import SWITCHES
from raidplan.base.size import SECTOR
from raidplan.plan.changes import argv, contents
from raidplan.plan.step import Step


def label(difference: Difference) -> Iterator[Step]:
    proof = difference.step.proof
    kind = str(difference.found.get("type", "")) if proof and proof.kind == "filesystem" else "swap"
    label, node = str(difference.planned), difference.node
    if kind == "swap":
        command = argv(contents.SWAP_LABEL, label=label, node=node)
    elif kind in FILESYSTEMS:
        made, mounted = FILESYSTEMS[kind], difference.mounted
        if not made.takes(label):
            raise NotInPlace("label-characters")
        if mounted and not made.labelled_mounted:
            raise NotInPlace("label-mounted", type=kind, mounted=mounted)
        command = made.relabel(node, label, mounted)
    else:
        raise difference.by_hand
    if difference.found.get("active"):
        raise NotInPlace("swap-in-use", node=difference.called)
    say = f"label {difference.step.named} '{label}' instead of '{difference.now}'"
    yield difference.then("label", say, command)


def reserve(difference: Difference) -> Iterator[Step]:
    blocks, kind = str(difference.planned), FILESYSTEMS[str(difference.found["type"])]
    command = argv(kind.changed["reserved_blocks"], planned=blocks, node=difference.node)
    say = f"keep {blocks} blocks of {difference.step.named} for root"
    yield difference.then("reserved", say, command)


def priority(difference: Difference) -> Iterator[Step]:
    name = difference.step.named
    off = difference.then(
        "off",
        f"take swap {name} out of use, to give it another priority",
        argv(contents.SWAP_OFF, node=difference.node),
    )
    yield off
    yield replace(difference.step, needs=(*difference.step.needs, off.id))


def flags(difference: Difference) -> Iterator[Step]:
    wanted, now = difference.planned, difference.now
    assert isinstance(wanted, list) and isinstance(now, list) and difference.step.proof
    point = difference.step.proof.key
    command = argv(contents.REMOUNTED, options=",".join(remount_words(wanted)), point=point)
    # What is taken back is said too: that it can be written to again may be what somebody wanted to prevent.
    taken_back = [back for flag, back in SWITCHES.items() if flag in now and flag not in wanted]
    say = f"change the mount of {point} in place: {', '.join([*(wanted or ['strictatime']), *taken_back])}"
    yield difference.then("remount", say, command)


def remount_words(wanted: Sequence[str]) -> list[str]:
    """The options of a remount with every flag, since a remount keeps some that are left out (path_mount in fs/namespace.c)."""
    atime = next((word for word in ("noatime", "relatime") if word in wanted), "strictatime")
    return ["remount", atime, *(flag if flag in wanted else back for flag, back in SWITCHES.items())]


def volume_read_ahead(difference: Difference) -> Iterator[Step]:
    wanted = difference.planned
    words = wanted if wanted == "auto" else f"{int(str(wanted)) // SECTOR}s"
    volume = difference.step.proof.key if difference.step.proof else ""
    yield difference.then(
        "read_ahead",
        f"read ahead {words} on volume {volume}",
        argv(contents.VOLUME_READ_AHEAD, sectors=words, volume=volume),
    )


def activate(difference: Difference) -> Iterator[Step]:
    """Activates the volume: lvcreate was interrupted, or nothing activates groups here, as in a rescue system."""
    proof = difference.step.proof
    volume = proof.key if proof else ""
    step = difference.then(
        "activate", f"activate volume {volume}", argv(contents.VOLUME_ACTIVATED, volume=volume)
    )
    yield replace(step, awaits=difference.step.awaits)
