"""Key files of encryptions, and the program that opens them at boot, before anything is written; no key is read here."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from raidplan.apply.preflight.situation import Situation
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.groups import by_key
from raidplan.base.identity import Identity
from raidplan.base.size import MIB
from raidplan.facts.run import run
from raidplan.plan.places import CRYPTTAB
from raidplan.plan.step import Run, Step, WriteBlock
from raidplan.plan.validity import makes

LARGEST = 8 * MIB
"""Bytes of a key file that cryptsetup reads (cryptsetup(8), notes on passphrase processing)."""

OPENER = "/usr/lib/systemd/system-generators/systemd-cryptsetup-generator"
"""The program of systemd that reads crypttab at boot (systemd-cryptsetup-generator(8))."""
PACKAGE = "systemd-cryptsetup"
"""Its package in Debian 13; in Debian 12 it is a part of systemd (release notes of Debian 13, chapter 5)."""


def without_opener(situation: Situation) -> Iterator[Refusal]:
    """A crypttab that no boot reads: what stands on an encryption would not be mounted."""
    if writes_crypttab(situation.plan.steps) and not situation.at(OPENER).exists():
        yield refusal("program-missing", "opener", place=OPENER, package=PACKAGE)


def unusable(situation: Situation) -> Iterator[Refusal]:
    """The key files that must not be used, that do not open what stands, or that would be written over."""
    for file in situation.plan.proof_keys("key_file"):
        if (situation.machine.observe("key_file", file) or {}).get("other"):
            yield refusal("key-file", "other", place=str(situation.at(file)), file=file)
    for file, steps in key_files(situation).items():
        yield from [*unfit(file)] or unopened(steps, situation.nodes)


def key_files(situation: Situation) -> dict[str, list[Step]]:
    """The steps that read each key file; with the lines of crypttab, also those that a boot opens with it later."""
    steps = [*situation.plan.steps]
    if situation.whole and writes_crypttab(steps):
        due = {step.id for step in steps}
        steps += [step for step in situation.whole.steps if step.id not in due and not makes(step)]
    runs = ((step.action, step) for step in steps if isinstance(step.action, Run))
    return by_key((action.key_file, step) for action, step in runs if action.key_file)


def writes_crypttab(steps: Iterable[Step]) -> bool:
    """Whether lines that open encryptions are written."""
    actions = (step.action for step in steps)
    return any(isinstance(each, WriteBlock) and each.file == CRYPTTAB and each.content for each in actions)


def unfit(file: str) -> Iterator[Refusal]:
    """Why a key file must not be used."""
    path = Path(file)
    try:
        found = path.lstat()
    except OSError as error:
        make = f"(umask 077; mkdir -p {path.parent}; head -c 64 /dev/urandom >{file})"
        yield refusal("key-file", "unreadable", place=file, error=error.strerror or "", command=make)
        return
    folder = path.parent.stat()
    if not stat.S_ISREG(found.st_mode):
        yield refusal("key-file", "no-file", place=file)
    elif not 0 < found.st_size <= LARGEST:
        yield refusal("key-file", "size", place=file, count=found.st_size, most=LARGEST)
    elif found.st_uid != 0:
        yield refusal("key-file", "owner", place=file, user=found.st_uid)
    elif found.st_mode & 0o077:
        yield refusal("key-file", "mode", place=file, mode=f"{found.st_mode & 0o7777:04o}")
    elif folder.st_uid != 0 or folder.st_mode & 0o022:
        yield refusal("key-file", "folder", place=file, folder=str(path.parent))


def unopened(steps: list[Step], nodes: Mapping[str, str]) -> Iterator[Refusal]:
    """Headers that stand already, of which no key slot has the key in the file; asked of cryptsetup without opening any."""
    made = {step.because for step in steps if makes(step)}
    for step in steps:
        if step.because in made:
            continue
        assert isinstance(step.action, Run)
        program, verb, *words, device, _ = step.action.argv
        node = nodes.get(Identity.read(device).disk, device)
        if os.path.exists(node) and not run((program, verb, "--test-passphrase", *words, node)).ok:
            yield refusal(
                "key-wrong", place=step.because, line=step.line, file=step.action.key_file, node=node
            )
