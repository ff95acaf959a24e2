"""The documentation of findings about accepted findings (`allow:`); `review/acceptance.py` makes them."""

from __future__ import annotations

from raidplan.base.findings import Severity
from raidplan.rules.lib.engine import stated


@stated(Severity.WARNING)
def invalid_allow() -> None:
    """A comment, or an entry of `allow:`, is meant to accept a finding, and cannot be understood.

    Why: the author believes that the finding is accepted; it is not. A reason is required, since without
    one nobody can tell later whether it still holds. A date inside of the reason would end nothing.

    Bad:
        hardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}
        arrays:
          scratch: {level: raid0, members: [d<0-1>]}    # raidplan: allow[no-redundancy] # <-- here

    Good:
        hardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}
        arrays:
          # raidplan: allow[no-redundancy] only copies of what can be fetched again
          scratch: {level: raid0, members: [d<0-1>]}

    Source: the layout file's own contract.
    """


@stated(Severity.WARNING)
def unknown_rule() -> None:
    """An acceptance names a rule that does not exist.

    Why: it accepts nothing. The name is misspelt, or it is that of a rule of another version.

    Bad:
        hardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}
        arrays: {scratch: {level: raid0, members: [d<0-1>]}}
        allow:
          - {rule: no-redundncy, at: arrays.scratch, reason: only copies are kept here}    # <-- here

    Good:
        hardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}
        arrays: {scratch: {level: raid0, members: [d<0-1>]}}
        allow:
          - {rule: no-redundancy, at: arrays.scratch, reason: only copies of what can be fetched again}

    Source: the layout file's own contract.
    """


@stated(Severity.WARNING)
def unused_allow() -> None:
    """A finding is accepted that is not there.

    Why: it was mended, or it lies elsewhere. An acceptance that is left over hides the next finding of the
    rule at that place, which nobody has decided about.

    Bad:
        hardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}
        arrays: {scratch: {level: raid1, members: [d<0-1>]}}
        allow:
          - {rule: no-redundancy, at: arrays.scratch, reason: only copies are kept here}    # <-- here

    Good:
        hardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}
        arrays: {scratch: {level: raid0, members: [d<0-1>]}}
        allow:
          - {rule: no-redundancy, at: arrays.scratch, reason: only copies of what can be fetched again}

    Source: the layout file's own contract.
    """


@stated(Severity.WARNING)
def expired_allow() -> None:
    """A finding was accepted until a day that has passed.

    Why: somebody wanted to look at it again by then. Until that is done the finding is back.

    Bad:
        hardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}
        arrays: {scratch: {level: raid0, members: [d<0-1>]}}
        allow:
          - {rule: no-redundancy, at: arrays.scratch, reason: it is being moved, until: 2020-01-31}    # <-- here

    Good:
        hardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}
        arrays: {scratch: {level: raid0, members: [d<0-1>]}}
        allow:
          - {rule: no-redundancy, at: arrays.scratch, reason: it is being moved, until: 9999-12-31}

    Source: the layout file's own contract.
    """


@stated(Severity.WARNING)
def forbidden_allow() -> None:
    """A finding is to be accepted that nobody can accept.

    Why: errors of most rules stand for data that would be lost, or for a layout that cannot be built. No
    reason makes them right, so the finding stays. `raidplan explain RULE` tells whether one can be accepted.

    Bad:
        hardware:
          disks:
            d<0-1>: {serial: S<1>, size: 3TB}
        filesystems:
          a: {device: d0, type: xfs, mount: /srv}
          b: {device: d1, type: xfs, mount: /srv}    # raidplan: allow[duplicate-mount] taking turns # <-- here

    Good:
        hardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB}}}
        filesystems:
          a: {device: d0, type: xfs, mount: /srv/a}
          b: {device: d1, type: xfs, mount: /srv/b}

    Source: the layout file's own contract.
    """
