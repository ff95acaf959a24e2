"""What a test needs and does not have: a program, or the rights of root."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
"""Beside `-m root`, which is for loop devices: those tests run one after the other."""


def left_out(reason: str) -> NoReturn:
    """Leaves the test out, but never in `make test` and on CI, which install everything: there it fails."""
    stop = pytest.fail if any(map(os.environ.get, ("CI", "NOTHING_LEFT_OUT"))) else pytest.skip
    stop(reason)
