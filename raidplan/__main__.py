"""`python -m raidplan`, and what the `raidplan` command runs."""

import gc
import sys

from raidplan.cli import run


def main() -> None:
    """Runs the command line and exits with its code."""
    # Nearly all that a short command makes stays until its end: looking for what does not is in vain, then too.
    gc.set_threshold(100_000)
    code = run(sys.argv[1:])
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
