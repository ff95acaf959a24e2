"""The folders of journals: `--state`, or one for each host."""

from __future__ import annotations

import os
from pathlib import Path

from raidplan.apply.journal.journal import read_past, was_handed_over
from raidplan.apply.journal.past import Past
from raidplan.plan.places import STATE


def state_folder(given: str | None, host: str, target: str = "") -> Path:
    """The folder of a host's journal: in a system below `target`, once it was handed over to that.

    A journal that came with a restored backup is an earlier one, as long as this system has its own to hand over.
    """
    own, below = Path(given) if given else Path(STATE) / host, Path(target + STATE) / host
    own_counts = own.is_dir() and not was_handed_over(own)
    return below if target and os.path.ismount(target) and below.is_dir() and not own_counts else own


def past_of_host(given: str | None, host: str, target: str = "") -> Past:
    """The past of the journal; an empty one for a user who may not read it. Raises BrokenJournal, OSError."""
    return read_past(state_folder(given, host, target)) if os.geteuid() == 0 else Past()
