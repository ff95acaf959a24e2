"""Layouts that a pipeline checks, and the repository that they lie in."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.ci.action import ROOT

GOOD = (ROOT / "examples" / "rio-swap-cure.yaml").read_text()
BAD = (ROOT / "examples" / "rio-swap-mistake.yaml").read_text()


def git(folder: Path, *words: str) -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


OF_FILE = "version: 1\nhost: h\nhardware: hw/disks.yaml\narrays: {a: {level: raid1, members: [d<0-1>]}}\n"
DISKS = "disks: {d<0-1>: {serial: S<1>, size: 3TB}}\n"
