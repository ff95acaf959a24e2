"""`raidplan export LAYOUT|FOLDER`: the storage configuration for an installer, of the layout that fits the machine."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from raidplan.apply.reading import read_for
from raidplan.apply.refusal import unmatched
from raidplan.base.findings import Severity, dotted
from raidplan.base.plain import Plain
from raidplan.base.words import counted, listed
from raidplan.cli import OK, REFUSED, UNABLE
from raidplan.cli.check import exit_code
from raidplan.cli.for_machine import facts_in
from raidplan.cli.output import Unable, emit, talk, talk_findings
from raidplan.cli.settings import settings_for, within
from raidplan.facts import DiskFact, Machine
from raidplan.facts.match import match
from raidplan.facts.traces import words
from raidplan.layout.files import layouts_among
from raidplan.plan.step import Plan
from raidplan.render.findings_json import json_text
from raidplan.render.installers.curtin import curtin_data
from raidplan.render.installers.maas import maas_data
from raidplan.render.installers.omissions import CURTIN, MAAS, omissions
from raidplan.render.refusals import refusal_text
from raidplan.render.yaml_text import yaml_text
from raidplan.review.pipeline import Loaded, check, load, plan

INSTALLERS = {"curtin": CURTIN, "maas": MAAS}


def run(arguments: argparse.Namespace) -> int:
    """Prints the configuration, or why there is none; nothing is written then."""
    if arguments.offline and (arguments.format == "maas" or os.path.isdir(arguments.layout)):
        raise Unable("--offline knows no machine: MAAS calls disks by its names, and a folder needs one to choose for")  # fmt: skip
    if arguments.into and arguments.format != "curtin":
        raise Unable("--into writes the section storage of an autoinstall file: give it with --format curtin")
    picked = _pick(arguments)
    if isinstance(picked, int):
        return picked
    loaded, made, disks = picked
    checked = check(loaded.file, settings_for(loaded.file))
    talk_findings(checked, arguments)
    if (code := exit_code(checked, Severity.ERROR)) != OK:
        return code
    assert loaded.topology is not None and loaded.document is not None
    refused = list(_present(made, disks))
    for omission in omissions(loaded.topology, INSTALLERS[arguments.format]):
        place = f"{dotted(omission.path)} (line {loaded.document.locate(omission.path).line}): {INSTALLERS[arguments.format].name}"
        if omission.lasting:
            refused.append(f"{place} cannot make this: {omission.message}")
        else:
            talk(f"note: {place} leaves this out, and it can be set afterwards: {omission.message}")
    for reason in refused:
        talk(f"refused: {reason}")
    if refused:
        return REFUSED
    _emit(loaded, made, disks, arguments)
    return OK


def _pick(arguments: argparse.Namespace) -> tuple[Loaded, Plan, dict[str, DiskFact]] | int:
    """The layout that fits the machine with its plan and disks, or the exit code."""
    folder = os.path.isdir(arguments.layout)
    files = [each.file for each in layouts_among([*within(arguments.layout)])] if folder else [arguments.layout]  # fmt: skip
    fitting: list[tuple[Loaded, Plan, dict[str, DiskFact]]] = []
    unread: list[str] = []
    missed: list[tuple[float, str]] = []
    machine: Machine | None = facts_in(arguments.machine) if arguments.machine else None
    for file in files:
        loaded = load(file)
        made, loaded = plan(loaded) if loaded.topology else (None, loaded)
        if made is None:
            talk_findings(loaded, arguments)
            unread.append(file)
            continue
        if arguments.offline:
            return loaded, made, {}
        machine = machine or read_for(made)
        disks, problems = match(made.disks, machine)
        if not problems:
            fitting.append((loaded, made, disks))
        elif folder:
            here = f"{file} has {len(disks)} of {counted(len(made.disks), 'disk')} here"
            missed.append((len(disks) / len(made.disks), f"{here}: {refusal_text(unmatched(problems[0]))}"))
        else:
            for problem in problems:
                talk(f"refused: {refusal_text(unmatched(problem))}")
    if unread:
        if folder:
            talk(f"refused: {listed(unread, last=' and ')} cannot be planned, but may be the layout of this machine: correct or remove it first")  # fmt: skip
        return UNABLE
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = listed([each.file for each, _, _ in fitting], last=" and ")
        talk(f"refused: {counted(len(fitting), 'layout')} fit this machine: {names}")
    elif folder:
        nearest = max(missed, key=lambda each: each[0], default=(0.0, "there is none"))[1]
        talk(
            f"refused: none of {counted(len(files), 'layout')} has the disks of this machine; the nearest: {nearest}"
        )
    return REFUSED


def _present(made: Plan, disks: Mapping[str, DiskFact]) -> list[str]:
    """The disks that hold something and that the layout does not allow to be wiped: an installer destroys it."""
    wiped = {disk.name for disk in made.disks if disk.wipe}
    found = []
    for name, disk in disks.items():
        there = [*disk.users, *(f"partition {part.node}" for part in disk.partitions), *(map(words, disk.traces) or disk.signatures)]  # fmt: skip
        if there and name not in wiped:
            found.append(f"{name} ({disk.node}) is not blank: {listed(there[:4], last=' and ')}; clear it, or write wipe: true")  # fmt: skip
    return found


def _emit(loaded: Loaded, made: Plan, disks: Mapping[str, DiskFact], arguments: argparse.Namespace) -> None:
    assert loaded.topology is not None
    if arguments.format == "maas":
        emit(json_text(maas_data(loaded.topology, made, disks)), arguments.output)
        return
    storage = curtin_data(loaded.topology, made)
    if arguments.into:
        _put_into(Path(arguments.into), storage)
    else:
        emit(yaml_text({"storage": storage}), arguments.output)


def _put_into(file: Path, storage: Plain) -> None:
    """Replaces the section of that name in the file, at the top or below `autoinstall`. Raises Unable."""
    try:
        there = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise Unable(f"cannot read {file}: {error}") from None
    if not isinstance(there, dict) or not isinstance(there.get("autoinstall", {}), dict):
        raise Unable(f"{file} is no autoinstall file: no mapping")
    there.get("autoinstall", there)["storage"] = storage
    emit(yaml.safe_dump(there, sort_keys=False), str(file))
