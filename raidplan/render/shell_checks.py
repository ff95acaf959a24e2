"""The checks of a shell script before anything is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from raidplan.apply.preflight.versions import needs
from raidplan.facts.match import comparable
from raidplan.plan.boot_loaders import EFI_IMAGES, loaders_of
from raidplan.plan.codec import plan_digest
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.initramfs import BOOT, Generator
from raidplan.plan.places import below
from raidplan.plan.step import Plan, RenewInitramfs, Run, Zero
from raidplan.render import overview
from raidplan.render.command import quoted
from raidplan.render.losses import loss_texts
from raidplan.render.shell_steps import found_line, shell_word, stdin_of, with_input, wrapped
from raidplan.render.visible import visible

OWN_TOOLS = ("awk", "blkid", "lsblk", "readlink", "sed", "wipefs")
"""The programs that the functions run beyond the tools that every system has."""
TARGET_TOOLS = ("chroot", "cmp", "findmnt", "mount", "unshare")
"""The further programs for a plan with a target: they run programs of the system below it, and see what is mounted there."""
ELSEWHERE = "this script makes /, and no system runs from that yet: in a rescue system, make it by raidplan plan --target /mnt --format shell"
"""The refusal of a plan without a target on a machine that would become another one."""
CLEARING_TOOLS = ("blockdev", "cmp", "dd", "grep")


def checks(plan: Plan, whole: Plan, variables: Mapping[str, str]) -> Iterator[str]:
    """The checks before anything of a part of the whole plan is written."""
    yield "# Before anything is written: every disk is found, and everything that is written over is blank."
    yield ""
    yield "[ \"$(id -u)\" -eq 0 ] || refuse 'not root: run it with sudo'"
    if not plan.target and "/" in plan.proof_keys("mount"):
        yield f'[ -n "$below" ] || refuse {quoted(ELSEWHERE)}'
    clears = [step.action for step in plan.steps if isinstance(step.action, Zero)]
    inside = {*plan.tools_inside, *(tool for by in renewed(plan) for tool in by.tools)}
    own = {*plan.tools, *OWN_TOOLS, *(CLEARING_TOOLS if clears else ())}
    tools = (own - inside) | {*TARGET_TOOLS} if plan.target else own | inside
    yield wrapped(["require_tools", *map(quoted, sorted(tools))])
    for need in needs(plan):
        yield wrapped(["require_version", *map(quoted, (need.program, need.since, " ".join(need.words)))])
    if plan.disks:
        yield "disks=$(list_disks)"
        yield from (_find(disk, variables[disk.name]) for disk in plan.disks)
        yield wrapped(["require_distinct", *(f'"${variables[disk.name]}"' for disk in plan.disks)])
    yield from _of_the_system(plan, whole, inside) if plan.target else ()
    yield from _of_boot(plan, whole)
    yield from (f"require_secret {quoted(file)}" for file in _key_files(plan))
    blank = [shell_word(guard, variables) for guard in overview.blank_now(plan)]
    if blank:
        yield wrapped(["require_all_blank", *blank])
    for disk, start, size in overview.new_partitions(plan):
        if shell_word(disk, variables) in blank:
            yield f"require_blank_range {shell_word(disk, variables)} {start} {size}"
    yield from (found_line(action, variables) for action in clears if action.found is not None)
    if renewed(plan):
        yield f"require_room_for_initramfs {quoted(below(plan.target, BOOT))}"
    if plan.lost:
        kind = "own" if plan.own else "listed"
        listed = "".join(f"  ! {visible(words)}\n" for words in loss_texts(plan.lost))
        command = f'consent {quoted(plan.host)} {plan_digest(plan)} {kind} "$@"'
        yield from with_input(command, stdin_of(listed))


def _of_the_system(plan: Plan, whole: Plan, inside: set[str]) -> Iterator[str]:
    """The folder below which the system is made, and the system that was installed there."""
    if any(overview.for_system(plan, step) for step in plan.steps):
        yield from (wrapped(["require_mounted", *map(quoted, each)]) for each in _mounts(whole))
        yield wrapped(["require_inside", *map(quoted, sorted(inside))])
        yield from (
            wrapped(["require_copy", quoted(file), quoted(below(plan.target, file))])
            for file in plan.proof_keys("key_file")
        )
    elif "/" in plan.proof_keys("mount"):
        yield "require_empty_target"
    else:
        yield "require_target"


def _of_boot(plan: Plan, whole: Plan) -> Iterator[str]:
    """The firmware that starts the loader, and the packages without which no image finds the root."""
    yield from (f"require_firmware {firmware}" for _, firmware in sorted(loaders_of(whole.commands)))
    for loader, firmware in sorted(loaders_of(plan.commands)):
        signed = EFI_IMAGES[loader].signatures if firmware == "uefi" else {}
        yield from (f"require_signed {quoted(file)} {package}" for package, file in signed.items())
    for action in _renewals(plan):
        yield from (f"require_package {hook.file} {hook.package}" for hook in action.needed)


def _key_files(plan: Plan) -> Iterator[str]:
    actions = (step.action for step in plan.steps)
    yield from dict.fromkeys(each.key_file for each in actions if isinstance(each, Run) and each.key_file)


def _mounts(plan: Plan) -> Iterator[tuple[str, str]]:
    """The device and the folder of each mount, also of those that stand already."""
    for step in plan.complete.steps:
        if step.proof and step.proof.kind == "mount" and isinstance(step.action, Run):
            device, folder = step.action.argv[-2:]
            yield device, folder


def _find(disk: DiskIdentity, variable: str) -> str:
    if disk.device:
        words = ["use_device", disk.name, str(disk.size), str(disk.logical_block), disk.device]
    else:
        words = ["find_disk", disk.name, str(disk.size), str(disk.logical_block), *_identity(disk)]
    return f"{variable}=$({' '.join(map(quoted, words))})"


def _identity(disk: DiskIdentity) -> tuple[str, ...]:
    """Serial, wwn, path and model as find_disk compares them; all empty if one of them tells nothing."""
    identifiers = {name: getattr(disk, name) for name in ("serial", "wwn", "path", "model")}
    forms = {name: comparable(name, value) for name, value in identifiers.items()}
    if any(identifiers[name].strip() and not forms[name] for name in identifiers):
        return ("", "", "", "")
    return tuple(form if name == "path" else lsblk_form(form) for name, form in forms.items())


def lsblk_form(text: str) -> str:
    """A value as `lsblk --pairs` prints it in the C locale (fputs_quoted of util-linux)."""
    return re.sub(rb'["\\`$]|[^ -~]', lambda found: b"\\x%02x" % found[0][0], text.encode()).decode()


def _renewals(plan: Plan) -> list[RenewInitramfs]:
    return [step.action for step in plan.steps if isinstance(step.action, RenewInitramfs)]


def renewed(plan: Plan) -> set[Generator]:
    """The programs that make the initramfs in the plan."""
    return {action.by for action in _renewals(plan)}
