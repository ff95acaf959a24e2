"""The words that md has in sync_action (md.rst of the kernel), wherever they are read or written."""

HELD = "frozen"
"""No sync begins until somebody writes `idle` there."""
IDLE = "idle"
RECOVERS = "recover"
"""A member is rebuilt, or waits for another array on the same disks."""
