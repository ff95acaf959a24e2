"""Programs of ours that run in the guest, as they lie beside this module: in a folder, or in the one file that is all of raidplan."""

from __future__ import annotations

from importlib.resources import files


def program(name: str) -> bytes:
    """The text of a program for the guest."""
    return files("raidplan.twin.rehearsal").joinpath(name).read_bytes()
