"""`python -m raidplan`, and what the `raidplan` command runs."""

import gc
import sys

from raidplan.cli import run


def main() -> None:
    """Runs the command line and exits with its code."""
    gc.set_threshold(
        100_000
    )  # nearly all that a short command makes stays: looking for what does not is in vain
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
