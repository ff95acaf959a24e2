"""The mount options that the boot reads: which mounts it waits for, and how long."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import inf

BOOT_OPTIONS = ("nofail", "x-systemd.device-timeout=120s")
"""For data: a missing array must not stop the boot, and a degraded one is only started after 30 s
(mdadm-last-resort@.timer), so the wait is longer than that."""
ESP_MOUNTS = ("/boot/efi", "/efi")
"""The mount points of EFI system partitions, and of nothing else."""
TIMEOUT = "x-systemd.device-timeout"
SECONDS = {
    "us": 1e-6, "ms": 1e-3, "s": 1, "sec": 1, "second": 1, "seconds": 1, "": 1,
    "m": 60, "min": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600,
    "d": 86400, "day": 86400, "days": 86400,
}  # fmt: skip
"""The units of systemd.time(7) that a wait at boot can have; without one it is seconds."""


def device_timeout(options: Iterable[str]) -> float | None:
    """Seconds that systemd waits for the device of a mount; None where no option says so or it is no time.

    0 and `infinity` wait for ever (systemd.unit(5), JobTimeoutSec).
    """
    values = [option.partition("=")[2] for option in options if option.partition("=")[0] == TIMEOUT]
    if not values:
        return None
    if values[-1] == "infinity":
        return inf
    parts = re.findall(r"([0-9]+(?:\.[0-9]+)?)([a-z]*)", values[-1])
    if "".join(number + unit for number, unit in parts) != values[-1] or not parts:
        return None
    if any(unit not in SECONDS for _, unit in parts):
        return None
    return sum(float(number) * SECONDS[unit] for number, unit in parts) or inf
