"""The least version of a program for each option, and its behaviour by version: one table for the preflight, the page and the probes.

Read from the programs' own release notes and sources. `tests/apply/test_versions.py` holds the rows against the
programs that are installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from raidplan.apply.note import Note, note
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.figures import Figures
from raidplan.base.filesystems import FILESYSTEMS, packages
from raidplan.base.packages import Behaviour, Package, Written
from raidplan.facts import Machine
from raidplan.plan.step import Plan, Run, Step


@dataclass(frozen=True, slots=True)
class Need:
    """An option that a plan can use: `words` are how arguments of its command begin, all of them there."""

    program: str
    words: tuple[str, ...]
    since: str
    before: str
    """The behaviour of earlier versions."""
    source: str


MDADM = "https://github.com/md-raid-utilities/mdadm"
UTIL_LINUX = "https://github.com/util-linux/util-linux/blob/master/Documentation/releases"
LVM = "https://gitlab.com/lvmteam/lvm2/-/tags"

OTHERS = (
    Package("mdadm", ("mdadm",), "4.2", "4.6", f"{MDADM}/blob/mdadm-4.6/CHANGELOG.md"),
    Package("util-linux", ("sfdisk", "mkswap", "wipefs", "swapon"), "2.36", "2.42", UTIL_LINUX),
    Package("lvm2", ("pvcreate", "vgcreate", "lvcreate"), "2.03", "2.03", LVM),
)


def known_packages() -> tuple[Package, ...]:
    """The packages whose versions matter."""
    return (*OTHERS, *(package for package in packages() if package.oldest))


NEEDS = (
    Need("mdadm", ("--write-zeroes",), "4.3", "it ends with 2", f"{MDADM}/commit/577fd104"),
    Need("mdadm", ("--create", "--level=raid0", "--layout="), "4.2", "it ends with 2", f"{MDADM}/blob/mdadm-4.1/mdadm.c, `layout not meaningful`"),
    Need("mkswap", ("--quiet",), "2.38", "it ends with 1", f"{UTIL_LINUX}/v2.38-ReleaseNotes"),
    Need("sfdisk", ("--lock",), "2.36", "it ends with 1", f"{UTIL_LINUX}/v2.36-ReleaseNotes"),
    Need("vgcreate", ("--setautoactivation",), "2.03.12", "it ends with 3", f"{LVM}/v2_03_12"),
)  # fmt: skip
"""To let a plan use an option that not every supported version has, add a row."""

DEBIAN = {"mdadm": "4.2", "mkswap": "2.38.1", "sfdisk": "2.38.1", "vgcreate": "2.03.16"}
"""The programs of Debian 12, the oldest that plans are made for."""

BEHAVIOURS = (
    Behaviour("mdadm", "4.2", "a chunk size for raid1 is refused; before, it was ignored", "none is given for raid1", f"{MDADM}/commit/5b30a34a"),
    Behaviour("mdadm", "4.2", "raid0 with metadata 0.90 is refused", "so is every such layout (metadata-limits)", f"{MDADM}/commit/6ce7f21b", until="4.5"),
    Behaviour("mdadm", "4.1", "redundant arrays on members above 100 GiB get an internal bitmap unasked", "the bitmap is always given", f"{MDADM}/commit/e97c4e18", until="4.4"),
    Behaviour("mdadm", "4.4", "without --bitmap it asks; with --run nobody is asked, and there is none", "the bitmap is always given", f"{MDADM}/commit/e97c4e18"),
    Behaviour("mdadm", "4.4", "a bitmap in a file is refused", "it is internal or none", f"{MDADM}/commit/581ba134"),
    Behaviour("mdadm", "4.3", "names with other letters than A-Z a-z 0-9 . _ - are refused", "no layout has such a name", f"{MDADM}/commit/e2eb503b, 0550fb37", until="4.5"),
    Behaviour("mdadm", "4.5", "--logical-block-size is known", "it is not used: the members decide", f"{MDADM}/commit/a0270ee2"),
    Behaviour("mdadm", "4.5", "before md_mod is loaded nothing can be created or assembled", "md_mod is loaded first", f"{MDADM}/commit/d354d314, b166a204", until="4.6"),
    Behaviour("util-linux", "2.36", "mkswap cuts a label to 15 bytes, and ends with 0", "a layout with a longer one is refused", "measured with 2.38.1"),
    Behaviour("util-linux", "2.36", "sfdisk cuts a name to 36 letters, and ends with 0", "so are the names of the plan, and the table is read back", "measured with 2.38.1"),
    Behaviour("gdisk", "1.0", "sgdisk ends a name at a colon, and ends with 0", "sgdisk is not used: sfdisk writes whole tables", "measured with 1.0.9"),
    Behaviour("gdisk", "1.0", "sgdisk makes some GUID of what is none, and ends with 0", "sgdisk is not used: sfdisk writes whole tables", "measured with 1.0.9"),
    Behaviour("lvm2", "2.03", "without dm_mod pvcreate and vgcreate work, and lvcreate ends with 3", "dm_mod is loaded first", "measured with 2.03.16"),
)  # fmt: skip

WRITTEN = (
    Written("mdadm", ("--create", "--metadata=1."), "", "6.19", "the logical block size in the superblock", "6.19", "", "https://bugs.debian.org/1130781 (kernel commit 62ed1b58)"),
)  # fmt: skip
OLDEST_KERNEL = "5.10"
"""The oldest that layouts are computed for (md_shape.py): what it can read is not worth a word where nobody knows which
kernel will boot."""
BOOT = ("/", "/boot")
"""Mount points that a boot loader reads from."""


def behaviours() -> tuple[Behaviour, ...]:
    """Differences between versions, file systems last."""
    return (*BEHAVIOURS, *dict.fromkeys(row for each in FILESYSTEMS.values() for row in each.behaviours))


def written() -> tuple[Written, ...]:
    """Formats that not every kernel and boot loader reads, file systems last."""
    return (*WRITTEN, *dict.fromkeys(row for each in FILESYSTEMS.values() for row in each.written))


def numbers(version: str) -> tuple[int, ...]:
    """`2.38.1` as (2, 38, 1), `6.1.0-38-amd64` as (6, 1, 0); empty for what begins with no number."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def too_old(plan: Plan, machine: Machine) -> Iterator[Refusal]:
    """Programs of the plan without what it asks of them; nothing where nobody knows whether they are there."""
    for package in known_packages():
        for program in package.programs:
            found = _installed(program, plan, machine)
            if not found and program in plan.tools and machine.observe("tool", program):
                yield refusal("version", "unknown", place=program)
            if found and numbers(found) < numbers(package.oldest):
                yield refusal("version", "old", place=program, version=found, oldest=package.oldest)
    for need in NEEDS:
        found = _installed(need.program, plan, machine)
        step = _first(plan, need.program, need.words)
        if step and found and numbers(found) < numbers(need.since):
            figures: Figures = {
                "program": need.program,
                "since": need.since,
                "options": need.words,
                "version": found,
            }
            yield Refusal("version", "option", step.because, step.line, figures)


def notes(plan: Plan, machine: Machine) -> Iterator[Note]:
    """Notes that are no reason to refuse: programs newer than these tables, and formats that others could not read."""
    for package in known_packages():
        last = numbers(package.newest)
        for program in package.programs:
            found = _installed(program, plan, machine)
            if found and numbers(found)[: len(last)] > last:
                yield note("program-newer", program=program, version=found, newest=package.newest)
    for row in written():
        step = _first(plan, row.program, row.words)
        if step and is_written(row, plan, machine):
            yield from _unreadable(row, step, plan, machine)


def is_written(row: Written, plan: Plan, machine: Machine) -> bool:
    """Whether the program here writes this format, as far as its version and that of the kernel are known."""
    found = numbers(_installed(row.program, plan, machine))
    enough = bool(found) and found >= numbers(row.since) if row.since else True
    return enough and numbers(machine.kernel) >= numbers(row.under)


def _unreadable(row: Written, step: Step, plan: Plan, machine: Machine) -> Iterator[Note]:
    def reader(code: str, since: str, version: str = "") -> Note:
        figures = {"what": row.what, "program": row.program, "since": since, "version": version}
        return note(code, place=step.because, line=step.line, **figures)

    installed = sorted(machine.objects.get("kernel", {}), key=numbers)
    old = [
        kernel for kernel in {*installed, machine.kernel} if kernel and numbers(kernel) < numbers(row.kernel)
    ]
    if old:
        yield reader("kernel-cannot-read", row.kernel, min(old, key=numbers))
    elif not installed and numbers(row.kernel) > numbers(OLDEST_KERNEL):
        yield reader("kernel-unknown", row.kernel)
    grub = str((machine.observe("tool", "grub-install") or {}).get("version", ""))
    if row.grub and _boots(step, plan) and numbers(grub) < numbers(row.grub):
        yield reader("loader-cannot-read", row.grub, grub)


def _boots(step: Step, plan: Plan) -> bool:
    """A boot loader would read the file system that the step makes."""
    return any(
        other.because == step.because
        and other.proof
        and other.proof.kind == "mount"
        and other.proof.key in BOOT
        for other in plan.steps
    )


def needs(plan: Plan) -> Iterator[Need]:
    """The options of the plan that not every Debian has: a script has to ask for them before it writes anything."""
    newer = (need for need in NEEDS if numbers(need.since) > numbers(DEBIAN[need.program]))
    return (need for need in newer if _first(plan, need.program, need.words))


def _installed(program: str, plan: Plan, machine: Machine) -> str:
    """The version of a program that the plan runs; empty if it runs it not, or nobody knows."""
    found = machine.observe("tool", program) if program in plan.tools else None
    version = str(found.get("version", "")) if found else ""
    return version if numbers(version) else ""


def _first(plan: Plan, program: str, words: tuple[str, ...]) -> Step | None:
    """The first step that runs the program with arguments that begin so."""
    return next((step for step in plan.steps if runs(step, program, words)), None)


def runs(step: Step, program: str, words: tuple[str, ...]) -> bool:
    """The step runs the program with arguments that begin so."""
    if not isinstance(step.action, Run) or step.action.argv[0] != program:
        return False
    argv = step.action.argv
    return all(any(word.startswith(begin) for word in argv) for begin in words)
