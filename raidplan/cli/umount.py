"""`raidplan umount LAYOUT --target DIR`: a machine's whole storage, taken down again in a rescue system."""

from __future__ import annotations

import argparse

from raidplan.apply.bring_up import bring_down
from raidplan.cli.mount import brought, say


def run(arguments: argparse.Namespace) -> int:
    """Unmounts, deactivates and stops."""
    return brought(arguments, lambda plan, world: bring_down(plan, world, say), missing=True)
