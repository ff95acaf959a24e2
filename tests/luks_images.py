"""Images with LUKS2 headers that cryptsetup itself has written."""

from __future__ import annotations

import subprocess
import uuid
from pathlib import Path

UUID = str(uuid.uuid4())
FAST = ("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000")
"""The cost of guessing is nothing that geometry depends on."""


def formatted(image: Path, size: int, *words: str) -> Path:
    """An image with a LUKS2 header of cryptsetup's."""
    with image.open("wb") as file:
        file.truncate(size)
    argv = ("cryptsetup", "luksFormat", "--type", "luks2", "--batch-mode", "--uuid", UUID, *FAST, *words)
    subprocess.run([*argv, "--key-file=-", image], input=b"long enough a passphrase", check=True)
    return image
