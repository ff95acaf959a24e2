"""LVM's own report of volume groups and volumes, requested read-only and without locks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from raidplan.base.identity import Identity
from raidplan.facts.block import Names
from raidplan.facts.machine import Properties
from raidplan.facts.signatures import Ask, rows_of
from raidplan.plan.step import Value

REPORT = ("lvm", "fullreport", "--readonly", "--reportformat", "json", "--units", "b", "--nosuffix")
FIELDS = {
    "pv": "pv_uuid,pv_name,pe_start,vg_name,pv_in_use,pv_pe_count,pv_mda_count",
    "vg": "vg_name,vg_uuid,vg_extent_size,vg_missing_pv_count",
    "lv": "vg_name,lv_name,lv_size,lv_read_ahead",
    "pvseg": "pv_uuid",
    "seg": "lv_name",
}
"""The last two cannot be left out, so the least is asked of them."""

NO_GROUP = "[unknown]"
"""The name of the group of a physical volume that is marked as used, where no device has the group's metadata."""

Objects = dict[str, dict[str, Properties]]


def read_lvm(names: Names, ask: Ask) -> Objects:
    """Physical volumes by UUID, groups by name, volumes by `group/name`."""
    fields = (word for report, wanted in FIELDS.items() for word in ("--configreport", report, "-o", wanted))
    return parse_lvm(ask([*REPORT, *fields]).stdout, names)


def parse_lvm(text: str, names: Names) -> Objects:
    """The answer of `lvm fullreport`: one report for each group, and one for what belongs to none."""
    reports: list[Mapping[str, Any]] = rows_of(text, "report")
    pvs, vgs, lvs = (list(_rows(reports, kind)) for kind in ("pv", "vg", "lv"))
    physical = {row["pv_uuid"]: _physical(row, names) for row in pvs if row.get("pv_uuid")}
    groups: dict[str, Properties] = {
        row["vg_name"]: {
            "extent": _number(row.get("vg_extent_size")),
            "uuid": row.get("vg_uuid", ""),
            "missing": _number(row.get("vg_missing_pv_count")),
            "devices": sorted(str(pv["device"]) for pv in physical.values() if pv["group"] == row["vg_name"]),
        }
        for row in vgs
        if row.get("vg_name")
    }
    named = (row for row in lvs if row.get("lv_name") and row.get("vg_name"))
    # Asked to read only, LVM does not look at the kernel (lvm(8)), which has a device for each volume that is active.
    running = {*names.identities.values()}
    volumes = {f"{row['vg_name']}/{row['lv_name']}": _volume(row, running) for row in named}
    return {"physical_volume": physical, "volume_group": groups, "volume": volumes}


def _rows(reports: list[Mapping[str, Any]], kind: str) -> Iterator[dict[str, str]]:
    for report in reports:
        rows = report.get(kind)
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                yield {name: str(value) for name, value in row.items()}


def _physical(row: Mapping[str, str], names: Names) -> Properties:
    node = row.get("pv_name", "")
    kernel_name = names.kernel_name(node)
    group = row.get("vg_name", "")
    marked = {"marked": True} if row.get("pv_in_use") and group in ("", NO_GROUP) else {}
    return {
        "device": names.of(kernel_name) if kernel_name else node,
        "data_start": _number(row.get("pe_start")),
        "group": "" if marked else group,
        **_extents(row),
        **marked,
    }


def _extents(row: Mapping[str, str]) -> dict[str, Value]:
    """The number of extents; none outside of a group, and where a second copy of the metadata takes an unknown part of the end."""
    extents = _number(row.get("pv_pe_count"))
    return {"extents": extents} if extents and _number(row.get("pv_mda_count")) == 1 else {}


def _volume(row: Mapping[str, str], running: Collection[str]) -> Properties:
    ahead = row.get("lv_read_ahead", "")
    called = f"{row['vg_name']}/{row['lv_name']}"
    return {
        "size": _number(row.get("lv_size")),
        "read_ahead": _number(ahead) if ahead.isdecimal() else ahead,
        "active": str(Identity("volume", called)) in running,
        "node": f"/dev/{called}",
    }


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
