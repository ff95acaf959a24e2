"""The name by which a layout refers to a device: a disk, a partition, an array, a volume."""

from __future__ import annotations

import re

from raidplan.base.mistake import Mistake
from raidplan.layout.kinds.meant_range import meant_range

NAME_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_-]*"
KERNEL_DEVICE = r"/dev/([shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|loop\d)"
REFERENCE_PATTERN = rf"{NAME_PATTERN}(\.{NAME_PATTERN})?"


class RuleMistake(Mistake):
    """A mistake that has a rule of its own; raised in place of a bare Mistake."""

    def __init__(self, rule: str, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.rule = rule


def reference(text: str) -> str:
    """The name as it is written. Raises Mistake, and RuleMistake for a name that the kernel gives."""
    array = text.removeprefix("/dev/md/")
    if array != text and re.fullmatch(NAME_PATTERN, array):
        raise RuleMistake(
            "unstable-device-name",
            f"'{text}' is a node, and a layout calls an array by its name",
            f"write {array}, its name under arrays",
        )
    if re.match("/dev/md", text):
        raise RuleMistake(
            "unstable-device-name",
            f"'{text}' is an array, which may have another number after the next boot",
            "write the name that it has, or is to have, under arrays",
        )
    if re.match(KERNEL_DEVICE, text):
        raise RuleMistake(
            "unstable-device-name",
            f"'{text}' may be another disk after the next boot",
            "describe the disk under hardware.disks by its serial number, and use its name there",
        )
    if not re.fullmatch(REFERENCE_PATTERN, text) or len(text) > 129:
        meant = meant_range(text)
        raise Mistake(
            f"'{text}' is not the name of a device",
            f"write {meant}" if meant else "write one such as d00, d00.root, s0 or vg0.home",
        )
    return text
