"""`python -m raidplan.twin.server build`: makes the cached image, so that the first test need not wait for it."""

from __future__ import annotations

import argparse
import sys
import time

from raidplan.twin.server.failure import BuildError
from raidplan.twin.server.image import find_or_build
from raidplan.twin.server.recipe import Recipe


def main() -> int:
    """Builds, says what it does and how long it took; 0, or 2 where it could not."""
    parser = argparse.ArgumentParser(prog="python -m raidplan.twin.server", description=__doc__)
    parser.add_argument("command", choices=["build"])
    parser.add_argument("--release", default="bookworm", help="the Debian release (default: %(default)s)")
    parser.add_argument("--again", action="store_true", help="build even where the cache has the image")
    arguments = parser.parse_args()
    began = time.monotonic()

    def say(line: str) -> None:
        sys.stderr.write(f"{time.monotonic() - began:6.1f} s  {line}\n")

    try:
        image = find_or_build(Recipe(arguments.release), say=say, again=arguments.again)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    say("finished")
    sys.stdout.write(f"{image.directory}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
