"""`python -m release [FOLDER]`: everything that is handed out, by default into dist/."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from release import collection, debian, python, wheel, zipapp


def main(words: Sequence[str]) -> int:
    """Builds all; the exit code."""
    folder = Path(words[0] if words else "dist").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.umask(0o022)
    os.environ["SOURCE_DATE_EPOCH"] = str(python.commit_time())
    with TemporaryDirectory() as work:
        built = python.build(Path(work))
        wheel.complete(built[0])
        made = [python.put(each, folder) for each in built]
        made += [
            program := zipapp.build(made[0], folder),
            debian.build(made[0], folder),
            collection.build(program, folder),
        ]
    for file in made:
        print(f"{file.stat().st_size:>9,} bytes  {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
