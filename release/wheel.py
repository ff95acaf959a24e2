"""Manual pages and completion in the wheel, where pip puts them into `share/` beside the program, and shells look for them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from release import manual

COMPLETION = {
    "bash": "bash-completion/completions/raidplan",
    "zsh": "zsh/site-functions/_raidplan",
    "fish": "fish/vendor_completions.d/raidplan.fish",
}
"""Where each shell looks, below `share`."""


def files() -> Iterator[tuple[str, str]]:
    """Every file below `share`, with its text."""
    for name, text in manual.pages():
        yield f"man/man1/{name}.1", text
    for shell, place in COMPLETION.items():
        yield place, manual.completion(shell)


def complete(wheel: Path) -> None:
    """Packs the wheel again, with these files."""
    with TemporaryDirectory() as work:
        _run("unpack", "--dest", work, str(wheel))
        (tree,) = Path(work).iterdir()
        for name, text in files():
            file = tree / f"{tree.name}.data" / "data" / "share" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        _run("pack", "--dest-dir", str(wheel.parent), str(tree))


def _run(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "wheel", *words], check=True, capture_output=True)
