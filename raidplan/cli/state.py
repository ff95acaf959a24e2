"""The folders of journals: `--state`, or one for each host."""

from __future__ import annotations

import os
from pathlib import Path

from raidplan.apply.journal.journal import STATE, read_past
from raidplan.apply.journal.past import Past


def state_folder(given: str | None, host: str, target: str = "") -> Path:
    """The folder of a host's journal: in a system below `target`, once it was handed over to that."""
    if given:
        return Path(given)
    below = Path(target + STATE) / host
    return below if target and os.path.ismount(target) and below.is_dir() else Path(STATE) / host


def past_of_host(given: str | None, host: str, target: str = "") -> Past:
    """The past of the journal; an empty one for a user who may not read it. Raises BrokenJournal, OSError."""
    return read_past(state_folder(given, host, target)) if os.geteuid() == 0 else Past()
