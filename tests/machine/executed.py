"""The programs that a traced process started itself, as the kernel was asked for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TRACE = "strace --follow-forks --seccomp-bpf --quiet=all --string-limit=65536 --trace=execve,fork,vfork,clone,clone3"
"""In front of a command, with `--output FILE`."""
MADE = re.compile(r"(?:v?fork|clone3?)\b(?P<how>.*)\) *= (?P<child>\d+)")
STARTED = re.compile(r"execve\(\"[^\"]*\", (?P<argv>\[.*?\]), 0x\S+ /\* \d+ vars \*/\) *= 0")


PROBES = (
    r"(mdadm|sfdisk|mkfs\.btrfs|pvcreate|udevadm|dracut) --version",
    r"(mke2fs|mkfs\.xfs) -V",
    r"mkfs\.vfat --help",
    r"lsblk --json --nodeps --output \S+",
    r"wipefs --no-act (--json|--parsable) .*",
    r"mdadm --detail --export /dev/\S+",
    r"lvm fullreport --readonly .*",
    r"modprobe --dry-run --quiet .*",
    r"systemctl is-enabled \S+",
    r"udevadm settle",
    r"udevadm trigger --action=change --name-match=\S+",
    r"(lz4|zstd) -dcq",
)
"""All that `apply` asks beside the programs of the plan; none of them changes anything."""


def is_probe(argv: list[str]) -> bool:
    """A program that only looks."""
    return any(re.fullmatch(probe, " ".join(argv), re.DOTALL) for probe in PROBES)


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
