"""The types of partitions that plans write, by the words of a layout."""

from __future__ import annotations

TYPE_CODES: dict[str, str] = {
    "linux": "0FC63DAF-8483-4772-8E79-3D69D8477DE4",
    "raid": "A19D880F-05FC-4D3B-A006-743F0F84911E",
    "lvm": "E6D6D379-F507-44C2-A23C-238F2A3DF928",
    "swap": "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F",
    "esp": "C12A7328-F81F-11D2-BA4B-00A0C93EC93B",
    "bios-boot": "21686148-6449-6E6F-744E-656564454649",
}
"""GPT partition types (UEFI specification 2.10, 5.3.3; systemd's discoverable partitions)."""
