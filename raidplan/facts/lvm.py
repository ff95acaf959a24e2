"""LVM, as its own tools report it; they are asked to read only, without locks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raidplan.facts.block import Names
from raidplan.facts.machine import Properties
from raidplan.facts.signatures import Ask, rows_of

FIELDS = {
    "pvs": ("pv", "pv_uuid,pv_name,pe_start,vg_name"),
    "vgs": ("vg", "vg_name,vg_extent_size"),
    "lvs": ("lv", "vg_name,lv_name,lv_size,lv_read_ahead"),
}

Objects = dict[str, dict[str, Properties]]


def read_lvm(names: Names, ask: Ask) -> Objects:
    """Physical volumes by UUID, groups by name, volumes by `group/name`."""
    options = ("--readonly", "--reportformat", "json", "--units", "b", "--nosuffix", "-o")
    answers = {tool: ask([tool, *options, fields]).stdout for tool, (_, fields) in FIELDS.items()}
    return parse_lvm(answers, names)


def parse_lvm(answers: Mapping[str, str], names: Names) -> Objects:
    """The three reports, tool to JSON text, as objects."""
    rows = {tool: list(_rows(answers.get(tool, ""), key)) for tool, (key, _) in FIELDS.items()}
    physical = {row["pv_uuid"]: _physical(row, names) for row in rows["pvs"] if row.get("pv_uuid")}
    groups: dict[str, Properties] = {
        row["vg_name"]: {
            "extent": _number(row.get("vg_extent_size")),
            "devices": sorted(str(pv["device"]) for pv in physical.values() if pv["group"] == row["vg_name"]),
        }
        for row in rows["vgs"]
        if row.get("vg_name")
    }
    volumes = {
        f"{row['vg_name']}/{row['lv_name']}": _volume(row) for row in rows["lvs"] if row.get("lv_name")
    }
    return {"physical_volume": physical, "volume_group": groups, "volume": volumes}


def _rows(text: str, key: str) -> list[dict[str, str]]:
    """The rows of all reports in one answer."""
    reports: list[Mapping[str, Any]] = rows_of(text, "report")
    found = [row for report in reports for row in report.get(key) or [] if isinstance(row, dict)]
    return [{name: str(value) for name, value in row.items()} for row in found]


def _physical(row: Mapping[str, str], names: Names) -> Properties:
    node = row.get("pv_name", "")
    kernel_name = names.kernel_name(node)
    return {
        "device": names.of(kernel_name) if kernel_name else node,
        "data_start": _number(row.get("pe_start")),
        "group": row.get("vg_name", ""),
    }


def _volume(row: Mapping[str, str]) -> Properties:
    ahead = row.get("lv_read_ahead", "")
    return {
        "size": _number(row.get("lv_size")),
        "read_ahead": _number(ahead) if ahead.isdigit() else ahead,
        "node": f"/dev/{row['vg_name']}/{row['lv_name']}",
    }


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0
