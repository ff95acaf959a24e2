"""`python -m raidplan`, and what the `raidplan` command runs."""

import sys

from raidplan.cli import run


def main() -> None:
    """Runs the command line and exits with its code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
