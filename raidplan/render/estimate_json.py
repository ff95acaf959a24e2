"""Estimates for programs: the contract's JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from raidplan.estimate.result import Estimate, Estimates, Fate, Figures, Gain, MachineEstimate, Rate
from raidplan.estimate.survival import Sets
from raidplan.render.findings_json import json_text

FORMAT_VERSION = 1


def estimate_json(estimates: Estimates) -> str:
    """An object with every array, file system and swap area by name, and the machine."""
    return json_text(
        {
            "format_version": FORMAT_VERSION,
            "host": estimates.host,
            "arrays": {each.name: _array(each) for each in estimates.arrays},
            "filesystems": _users(estimates.filesystems),
            "swap": _users(estimates.swap),
            "machine": _machine(estimates.machine),
            "gains": [_gain(gain) for gain in estimates.gains],
            "missing": [str(fact) for fact in estimates.missing],
        }
    )


def _users(things: Iterable[Estimate]) -> dict[str, Any]:
    return {each.name: {**_common(each), "missing": [str(fact) for fact in each.missing]} for each in things}


def _array(array: Estimate) -> dict[str, Any]:
    rebuild = array.rebuild
    odds = rebuild.read_error_bound
    return {
        **_common(array),
        "rebuild_seconds": _whole(rebuild.seconds),
        "rebuild_bytes_per_second": _whole(rebuild.bytes_per_second),
        "read_error_bound": {"1e-14": odds[0], "1e-15": odds[1]} if odds else None,
        "stripe_cache_bytes": array.stripe_cache_bytes,
        "missing": [str(fact) for fact in array.missing],
        "notes": list(array.notes),
    }


def _common(thing: Estimate) -> dict[str, Any]:
    return {
        "capacity_bytes": thing.capacity,
        **_figures(thing.alone),
        "together": _figures(thing.together),
        **_fate(thing.fate),
    }


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "read_bytes_per_second": _whole(figures.read.bytes_per_second),
        "write_bytes_per_second": _whole(figures.write.bytes_per_second),
        "read_iops": _whole(figures.read.iops),
        "write_iops": _whole(figures.write.iops),
        "bottleneck": _bottleneck(figures.read),
        "write_bottleneck": _bottleneck(figures.write),
    }


def _bottleneck(rate: Rate) -> dict[str, Any] | None:
    if not rate.bottlenecks:
        return None
    first, *others = rate.bottlenecks
    return {
        "component": first.component,
        "kind": first.kind,
        "bytes_per_second": _whole(first.bytes_per_second),
        "assumed": any(each.assumed for each in rate.bottlenecks),
        "also": [each.component for each in others],
        "without_it_bytes_per_second": _whole(rate.relieved),
    }


def _fate(fate: Fate) -> dict[str, Any]:
    survives: dict[str, bool] = {}
    for loss in fate.losses:
        # Of two components with one name, both.
        survives[loss.component] = survives.get(loss.component, True) and loss.survived
    return {
        "survives": survives,
        "losses_always_survived": fate.losses_always_survived,
        "smallest_sets": _sets(fate.sets),
        "smallest_disk_sets": _sets(fate.disk_sets),
    }


def _sets(sets: Sets) -> dict[str, Any]:
    choices = [
        [{"any": part.count, "kind": part.kind, "of": list(part.names)} for part in choice]
        for choice in sets.choices
    ]
    return {"losses": sets.losses, "choices": choices, "complete": sets.complete}


def _machine(machine: MachineEstimate) -> dict[str, Any]:
    return {
        "watts": round(machine.watts, 1),
        "base_watts_known": machine.base_watts_known,
        "spinup_amps_12v": round(machine.spinup_amps_12v, 1),
        **{name: _fate(fate) for name, fate in machine.fates.items()},
        "boot_loader_installed": machine.boot_loader_installed,
    }


def _gain(gain: Gain) -> dict[str, Any]:
    return {
        "components": [each.component for each in gain.bottlenecks],
        "kind": gain.bottlenecks[0].kind,
        "disks": list(gain.disks),
        "read_bytes_per_second": [_whole(rate) for rate in (gain.now[0], gain.then[0])],
        "write_bytes_per_second": [_whole(rate) for rate in (gain.now[1], gain.then[1])],
    }


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
