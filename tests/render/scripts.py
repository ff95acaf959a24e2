"""Running shell scripts among recording tools, so that nothing on this computer is touched."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

FUNCTIONS = files("raidplan.render").joinpath("functions.sh").read_text("utf-8")
SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]

RECORDER = """#!/bin/sh
# The functions' own calls, which the plan's tools never look like.
case "${0##*/} $1" in "mkdir -p") exec /bin/mkdir "$@" ;; esac
printf '%s\\0' "$#" "${0##*/}" "$@" >>"$LOG"
cat >"$LOG.stdin.${0##*/}"
"""
LSBLK = '#!/bin/sh\ncat "$DISKS"\n'


class Bench:
    """A folder with a PATH of recording tools; `calls` is what they were called with."""

    def __init__(self, folder: Path, tools: Iterable[str], disks: str = "") -> None:
        self.folder = folder
        self.log = folder / "log"
        self.bin = folder / "bin"
        self.bin.mkdir()
        (folder / "disks").write_text(disks)
        for tool in tools:
            self.tool(tool, RECORDER)
        self.tool("lsblk", LSBLK)
        self.tool("wipefs", "#!/bin/sh\n")
        self.tool("blkid", "#!/bin/sh\nexit 2\n")
        self.tool("id", "#!/bin/sh\necho 0\n")
        self.tool("sync", "#!/bin/sh\n")

    def tool(self, name: str, text: str) -> None:
        """Puts a tool on the PATH."""
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def run(self, script: str, shell: str = "dash", *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a script with these arguments in the C locale, as the product does."""
        environment = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "LC_ALL": "C",
            "LOG": str(self.log),
            "DISKS": str(self.folder / "disks"),
        }
        file = self.folder / "script"
        file.write_text(script, encoding="utf-8")
        command = [shell, *(["sh"] if shell == "busybox" else []), str(file), *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    def functions(self, script: str, shell: str = "dash") -> subprocess.CompletedProcess[str]:
        """Runs a few lines that use the functions; they count as complete if they reach their end."""
        return self.run(f"set -eu\n{FUNCTIONS}\n{script}\ncomplete=yes\n", shell)

    @property
    def calls(self) -> list[tuple[str, ...]]:
        """The commands that were run, word by word."""
        if not self.log.exists():
            return []
        words = self.log.read_bytes().decode("utf-8", "surrogateescape").split("\0")
        calls = []
        while len(words) > 1:
            count = int(words.pop(0))
            calls.append(tuple(words[: count + 1]))
            del words[: count + 1]
        return calls

    def stdin(self, tool: str) -> str:
        """What the last call of a tool was given on standard input."""
        return (self.folder / f"log.stdin.{tool}").read_bytes().decode()


def own_path(script: str) -> str:
    """The script without the line that sets the PATH, which would hide the recording tools."""
    lines = script.splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith("PATH=")]
    assert len(kept) == len(lines) - 1
    return "".join(kept)
