"""The documentation of findings about several layouts that are checked together; `review/between.py` makes them."""

from __future__ import annotations

from raidplan.base.findings import Severity
from raidplan.rules.lib.engine import stated


@stated(Severity.ERROR)
def disk_in_two_layouts() -> None:
    """A serial number or a WWN stands in the layouts of two hosts that are checked together.

    Why: a disk is in one server. Of two hosts whose layouts name it, one has the text of the other, copied and
    not corrected, or both reach the disk over one cable, and then the second destroys what the first has made.
    Where another identifier tells the two disks apart it is a warning: cheap USB bridges give all disks the
    same serial number. Two layouts of one host are two versions of it, and share their disks.

    Bad:
        hardware:
          disks:
            d0: {serial: WD-WCAV51234567, size: 3TB}    # <-- here

    Good:
        hardware:
          disks:
            d0: {serial: WD-WCAV51234568, size: 3TB}

    Source: lsblk(8), SERIAL and WWN; examples: beside the layout of storage1, whose disk is WD-WCAV51234567.
    """


@stated(Severity.WARNING)
def host_in_two_layouts() -> None:
    """Two layouts that are checked together are for one host.

    Why: a host has one layout. The journal of `apply`, `confirm` and the inventory of a fleet know the host by
    its name, so of two layouts with one name the wrong one is applied some day. Keep an earlier version in git,
    or ignore the rule for a folder of variants.

    Bad:
        host: storage1    # <-- here
        hardware:
          disks:
            d0: {serial: WD-B2, size: 3TB}

    Good:
        host: storage2
        hardware:
          disks:
            d0: {serial: WD-B2, size: 3TB}

    Source: the journal's own folder, /var/lib/raidplan/HOST; examples: beside the layout of storage1.
    """
