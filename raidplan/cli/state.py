"""The folders of journals: `--state`, or one for each host."""

from __future__ import annotations

import os
from pathlib import Path

from raidplan.apply.journal.journal import STATE, read_past
from raidplan.apply.journal.past import Past


def state_folder(given: str | None, host: str) -> Path:
    """The folder of a host's journal."""
    return Path(given) if given else Path(STATE) / host


def past_of_host(given: str | None, host: str) -> Past:
    """The past of the journal; an empty one for a user who may not read it. Raises BrokenJournal, OSError."""
    return read_past(state_folder(given, host)) if os.geteuid() == 0 else Past()
