"""`raidplan umount LAYOUT --target DIR`: a machine's whole storage, taken down again in a rescue system."""

from __future__ import annotations

import argparse

from raidplan.apply.bring_up import bring_down
from raidplan.cli.mount import bring_storage


def run(arguments: argparse.Namespace) -> int:
    """Unmounts, deactivates and stops."""
    return bring_storage(arguments, bring_down, missing=True)
