"""Images with LUKS2 headers that cryptsetup itself has written."""

from __future__ import annotations

import subprocess
from pathlib import Path

UUID = "1d1e8a6c-4c2f-5a0b-8f5e-0a4b6c8d9e01"
FAST = ("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000")
"""The cost of guessing is nothing that geometry depends on."""


def formatted(image: Path, size: int, *words: str) -> Path:
    """An image with a LUKS2 header of cryptsetup's."""
    with image.open("wb") as file:
        file.truncate(size)
    argv = ("cryptsetup", "luksFormat", "--type", "luks2", "--batch-mode", "--uuid", UUID, *FAST, *words)
    subprocess.run([*argv, "--key-file=-", image], input=b"long enough a passphrase", check=True)
    return image
