"""`--devices FILE`: the disks' device nodes by name, in place of what identifies them."""

from __future__ import annotations

import json
from pathlib import Path

from raidplan.cli.output import Unable
from raidplan.plan.step import Plan


def read_devices(file: str, plan: Plan) -> dict[str, str]:
    """The mapping that `loops up` writes. Raises Unable if it is not one, or not for this host."""
    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"))
        devices = {str(name): str(node) for name, node in data["devices"].items()}
        host = data["host"]
    except OSError as error:
        raise Unable(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unable(
            f"{file} is not a mapping of disks to devices, as `raidplan loops up` writes it"
        ) from None
    if host != plan.host:
        raise Unable(f"{file} is for the host {host}, and the layout is for {plan.host}")
    unknown = sorted(devices.keys() - {disk.name for disk in plan.disks})
    if unknown:
        raise Unable(f"{file} names disks that the plan does not touch: {', '.join(unknown)}")
    return devices
