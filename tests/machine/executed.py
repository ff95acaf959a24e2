"""The programs that a traced process started itself, as the kernel was asked for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from raidplan.plan.codec import plan_from_json
from raidplan.plan.step import Plan, RenewInitramfs, Run
from raidplan.twin.server import Twin
from raidplan.twin.server.ssh import Result
from tests.machine.look import serials_by_node

TRACE = "strace --follow-forks --seccomp-bpf --quiet=all --string-limit=65536 --trace=execve,fork,vfork,clone,clone3,set_robust_list"
"""In front of a command, with `--output FILE`.

A thread begins with set_robust_list: until a thread has made one of these calls, strace 6.1 stops it at every call of any kind,
and raidplan reads disks in threads.
"""
MADE = re.compile(r"(?:v?fork|clone3?)\b(?P<how>.*)\) *= (?P<child>\d+)")
STARTED = re.compile(r"execve\(\"[^\"]*\", (?P<argv>\[.*?\]), 0x\S+ /\* \d+ vars \*/\) *= 0")


PROBES = (
    r"(mdadm|sfdisk|mkfs\.btrfs|pvcreate|udevadm|dracut|grub-install|cryptsetup) --version",
    r"(mke2fs|mkfs\.xfs|mkfs\.f2fs) -V",
    r"mkfs\.vfat --help",
    r"lsblk --json --nodeps --output \S+",
    r"wipefs --no-act (--json|--parsable) .*",
    r"mdadm --detail --export /dev/\S+",
    r"lvm fullreport --readonly .*",
    r"modprobe --dry-run --quiet .*",
    r"systemctl is-enabled \S+",
    r"udevadm settle( --timeout=60)?",
    r"udevadm trigger( --settle)? --action=change( --name-match=\S+)+",
    r"(lz4|zstd) -dcq",
)
"""All that `apply` asks beside the programs of the plan; none of them changes what is stored anywhere. The triggers have udev
look once more at a device that did not appear, and in the end at all that were written to."""


def is_probe(argv: list[str]) -> bool:
    """A program that only looks."""
    return any(re.fullmatch(probe, " ".join(argv), re.DOTALL) for probe in PROBES)


def traced(twin: Twin, file: str, consent: Sequence[str]) -> Result:
    """`raidplan apply` of the plan in a file there, with every program that it starts written down."""
    command = ["raidplan", "apply", file, *consent]
    return twin.run([*TRACE.split(), f"--output={file}.programs", *command], check=False, timeout=1800)


def programs_as_planned(twin: Twin, file: str) -> int:
    """How many programs of a plan `traced` saw; asserts that they are all of it and no others, each after what it needs."""
    plan = plan_from_json(twin.get(file).decode())
    by_serial = {serial: f"/dev/{node}" for node, serial in serials_by_node(twin).items()}
    kernel = twin.run(["uname", "-r"]).stdout.strip()
    nodes = {f"{{{disk.name}}}": by_serial[disk.serial] for disk in plan.disks}
    # What the machine has already is not done again: modules that the initramfs has loaded.
    words = programs_of(plan, nodes, kernel)
    began = executed(twin.get(f"{file}.programs").decode())
    ran = [argv for argv in began if argv in words.values() or not is_probe(argv)]
    planned = [argv for argv in words.values() if argv[0] != "modprobe" or argv in ran]
    more, fewer = ([*a] for a in (_without(ran, planned), _without(planned, ran)))
    assert not more and not fewer, f"not planned: {more}; not run: {fewer}"
    early = before_what_it_needs(plan, ran, words)
    assert not early, early
    return len(ran)


def _without(these: Sequence[list[str]], others: Sequence[list[str]]) -> Iterator[list[str]]:
    """Those that the others do not have, as often as they have them less."""
    left = list(others)
    for argv in these:
        if argv in left:
            left.remove(argv)
        else:
            yield argv


def programs_of(plan: Plan, nodes: Mapping[str, str], kernel: str) -> dict[str, list[str]]:
    """The words of each step's program, on the disks' nodes and for the one kernel, by the step's id."""
    words = {step.id: list(step.action.argv) for step in plan.steps if isinstance(step.action, Run)}
    words |= {
        step.id: list(step.action.by.make(kernel, step.action.by.image.format(kernel)))
        for step in plan.steps
        if isinstance(step.action, RenewInitramfs)
    }
    return {step: [nodes.get(word, word) for word in argv] for step, argv in words.items()}


def before_what_it_needs(
    plan: Plan, ran: Sequence[Sequence[str]], words: Mapping[str, Sequence[str]]
) -> list[str]:
    """The steps whose program (`words`, by step) began before that of a step which they need.

    Of equal programs, the first is the first step's.
    """
    places, at = list(enumerate(ran)), dict[str, int]()
    for step, argv in words.items():
        place = next((place for place, other in places if other == argv and place not in at.values()), None)
        if place is not None:
            at[step] = place
    needs = {step.id: step.needs for step in plan.steps}
    return [
        f"{step} before {need}"
        for step, place in at.items()
        for need in all_needs(step, needs)
        if at.get(need, -1) > place
    ]


def all_needs(step: str, needs: Mapping[str, Sequence[str]]) -> set[str]:
    """The steps that must have ended before it, of every depth."""
    found: set[str] = set()
    waiting = list(needs[step])
    while waiting:
        need = waiting.pop()
        if need not in found:
            found.add(need)
            waiting += needs[need]
    return found


def executed(trace: str) -> list[list[str]]:
    """The words of every program that the first process of a trace, or a thread of it, started; not what those started."""
    parents: dict[str, str] = {}
    ours: set[str] = set()
    programs: dict[str, list[str]] = {}
    for task, call in _calls(trace):
        ours = ours or {task}
        if made := MADE.match(call):
            parents[made["child"]] = task
            if "CLONE_THREAD" in made["how"]:
                ours.add(made["child"])
        elif started := STARTED.match(call):
            programs.setdefault(task, ast.literal_eval(started["argv"]))
    return [
        [Path(name).name, *words]
        for task, (name, *words) in programs.items()
        if task not in ours and parents.get(task) in ours
    ]


def _calls(trace: str) -> Iterator[tuple[str, str]]:
    """Task and call, with the two halves of an interrupted one put together."""
    unfinished: dict[str, str] = {}
    for line in trace.splitlines():
        task, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            unfinished[task] = call.removesuffix("<unfinished ...>").rstrip()
        elif resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", call):
            yield task, unfinished.pop(task, "") + resumed[1]
        else:
            yield task, call
