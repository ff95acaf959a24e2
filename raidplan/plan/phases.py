"""The phases of a plan: their order, and those in which devices and contents are made."""

from __future__ import annotations

NEW_DEVICES = ("partition", "array", "volume")
"""New devices appear."""
NEW_CONTENTS = (*NEW_DEVICES, "format")
"""Devices are written over with what is made on them."""
PHASES = ("prepare", "teardown", *NEW_CONTENTS, "configure", "activate", "sync")
PHASES_BELOW = ("prepare", "teardown", *NEW_CONTENTS, "activate", "configure", "sync")
"""Below a target the files lie on what is mounted first."""
