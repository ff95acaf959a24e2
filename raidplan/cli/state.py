"""Where journals are kept: `--state`, or a folder for each host."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from raidplan.apply.journal.past import Past


def add_state(parser: argparse.ArgumentParser) -> None:
    """The option that names another folder."""
    parser.add_argument(
        "--state",
        metavar="DIR",
        help="the folder of the journal, by default /var/lib/raidplan/HOST; in a rescue system name one that outlives a reboot",
    )


def state_folder(given: str | None, host: str) -> Path:
    """The folder of a host's journal."""
    from raidplan.apply.journal.journal import STATE

    return Path(given) if given else Path(STATE) / host


def past_of_host(given: str | None, host: str) -> Past:
    """What the journal says; nothing for who may not read it. Raises BrokenJournal, OSError."""
    from raidplan.apply.journal.journal import read_past
    from raidplan.apply.journal.past import Past

    return read_past(state_folder(given, host)) if os.geteuid() == 0 else Past()
