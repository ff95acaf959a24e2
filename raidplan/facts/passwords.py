"""Passwords in files of others, such as the options of a network file system in fstab: a recorded machine goes without them."""

from __future__ import annotations

import re
from dataclasses import replace

from raidplan.facts.machine import Machine, Properties

OPTION = re.compile(r"(?<=[\s,\"'])((?:pass|passwd|password|password2|secret)=)[^\s,]+", re.IGNORECASE)
"""mount.cifs(8), mount.ceph(8)."""
URL = re.compile(r"(?<=//)([^\s/:@]+:)[^\s/@]+(?=@)")
HIDDEN = r"\1***"


def without_passwords(machine: Machine) -> Machine:
    """The machine with `***` in place of each password in the content of a file; no line of raidplan's own has one."""
    files = {name: _hidden(found) for name, found in machine.objects.get("file", {}).items()}
    return replace(machine, objects={**machine.objects, "file": files} if files else machine.objects)


def _hidden(found: Properties) -> Properties:
    content = found.get("content")
    if not isinstance(content, str):
        return found
    return {**found, "content": URL.sub(HIDDEN, OPTION.sub(HIDDEN, content))}
