"""The hardware section as YAML for people, with remarks, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from raidplan.base.plain import flow, scalar
from raidplan.base.size import exact, human
from raidplan.discover.hardware import Field, Found, FoundDisk, readable_size
from raidplan.plan.disk_identity import IDENTIFIERS
from raidplan.render.visible import json_safe

HEAD = """\
# The hardware of {host}, by `raidplan discover hardware`. Keep it beside a layout, which then says
# hardware: {host}.hardware.yaml
"""
FORMAT_VERSION = 1
KEPT = ("keep", "partitions")


def hardware_yaml(found: Found) -> str:
    """A file that a layout can name as its hardware; disks of the running system are kept."""
    return HEAD.format(host=found.host) + "\n".join(_lines(found)) + "\n"


def _lines(found: Found) -> Iterator[str]:
    if found.memory:
        yield f"memory: {exact(found.memory)}  # {human(found.memory)}, as far as the kernel can use it"
    if found.firmware:
        yield f"firmware: {found.firmware}"
    if found.controllers:
        yield "controllers:"
        for name, path in found.controllers.items():
            yield f"  {scalar(name)}: {{path: {scalar(path)}}}"
    yield "disks:" if found.disks else "disks: {}"
    for disk in found.disks:
        yield from _disk_lines(disk)


def _disk_lines(disk: FoundDisk) -> Iterator[str]:
    """Remarks, then the disk in lines: what it is, how it is found, and what is kept of it."""
    for remark in disk.remarks:
        yield f"  # {disk.name}, {disk.node}: {remark}"
    if disk.system:
        yield f"  # {disk.name}, {disk.node}, is kept because the running system is on it: {disk.system}"
    elif disk.windows:
        yield f"  # {disk.name}, {disk.node}, is kept because Windows partitioned it"
    head = f"  {disk.name}: {{"
    identity = {key: value for key, value in disk.fields.items() if key in IDENTIFIERS}
    kept = {key: value for key, value in disk.fields.items() if key in KEPT}
    first = {key: value for key, value in disk.fields.items() if key not in (*IDENTIFIERS, *KEPT)}
    rows = [row for row in (first, identity, kept) if row]
    for number, row in enumerate(rows):
        words = ", ".join(f"{key}: {_value(value)}" for key, value in row.items())
        end = "}" if number == len(rows) - 1 else ","
        comment = "" if number else f"  # {readable_size(disk.size)}, now {disk.node}"
        yield f"{' ' * len(head) if number else head}{words}{end}{comment}"


def _value(value: Field | Mapping[str, str]) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_value(each)}" for key, each in value.items()) + "}"
    return flow(value)


def hardware_json(found: Found) -> str:
    """The section as data; what the running system stands on is in a mapping of its own as well."""
    section: dict[str, Any] = {
        **({"memory": exact(found.memory)} if found.memory else {}),
        **({"firmware": found.firmware} if found.firmware else {}),
        "controllers": {name: {"path": path} for name, path in found.controllers.items()},
        "disks": {disk.name: dict(disk.fields) for disk in found.disks},
    }
    data = {
        "format_version": FORMAT_VERSION,
        "host": found.host,
        "hardware": section,
        "system_disks": {disk.name: dict(disk.fields) for disk in found.disks if disk.system},
        "remarks": [
            {"disk": disk.name, "device": disk.node, "remark": text}
            for disk in found.disks
            for text in (
                *disk.remarks,
                *([f"holds the running system: {disk.system}"] if disk.system else []),
                *(["partitioned by Windows"] if disk.windows else []),
            )
        ],
    }
    return json_safe(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"
