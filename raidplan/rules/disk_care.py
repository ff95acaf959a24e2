"""Rules about what wears disks out, or lets them fail unseen."""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import listed
from raidplan.layout.kinds.disk import Disk
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import agreeing, array_disks, arrays, place, places
from raidplan.rules.workloads import work_on
from raidplan.topology import Topology

GREEN = re.compile(r"WD[0-9]{2,3}(EACS|EADS|EAVS|EARS|EARX|EZRS|EZRX)")
"""Western Digital's Green and AV-GP disks, which park after 8 s unless told otherwise."""
GREEN_PARKS = 8
SOON = 30
"""A disk that parks after so many seconds parks between the writes of a quiet server."""
WARM = 45
"""Degrees Celsius."""


@rule(Severity.NOTE)
def head_parking(topology: Topology) -> Iterator[Hit]:
    """Members of an array park their heads after a few seconds without work.

    Why: WD Green disks park after 8 s. A server writes its logs and superblocks every few seconds, so they
    park and unpark all day: 234,000 of the 300,000 cycles that the disk is rated for were counted after 76
    days in an array. And each read waits for the heads. Said about these models, and about disks that park
    after 30 s or less (`head_parking`); the 30 s are raidplan's own.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 1TB, model: WDC WD10EACS-00ZJB0}}
        arrays:
          s0:
            level: raid5
            members: [d<0-2>]    # <-- here

    Good:
        hardware:
          disks: {d<0-2>: {size: 1TB, model: WDC WD10EACS-00ZJB0, head_parking: none}}
        arrays:
          s0: {level: raid5, members: [d<0-2>]}

    Source: https://webdiary.com/2010/04/23/green-is-bad/; idle3ctl(8); "Software RAID vs. LVM: Quick Speed
    Test" (2009), whose array is made of such disks.
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        if any(member in topology.layout.arrays for member in array.named_members):
            continue
        after = {disk: _parks_after(disks[disk]) for disk in sorted(array_disks(topology, array))}
        soon = {disk: seconds for disk, seconds in after.items() if seconds is not None and seconds <= SOON}
        if soon:
            yield Hit(
                (*path, "members"),
                f"{listed(list(soon), last=' and ')} of {name} park their heads after {min(soon.values()):g} s without "
                "work, up to thousands of times a day",
                "switch it off on each disk (idle3ctl -d, hdparm -J or the maker's tool), then write head_parking: none",
                related=places("disk", ("hardware", "disks"), soon),
            )


def _parks_after(disk: Disk) -> float | None:
    """Seconds; None if it never does or nothing is known."""
    if disk.head_parking is None:
        return GREEN_PARKS if disk.model is not None and GREEN.search(disk.model.upper()) else None
    return None if disk.head_parking == "none" else float(disk.head_parking)


@rule(Severity.NOTE)
def hot_disks(topology: Topology) -> Iterator[Hit]:
    """Disks run at more than 45 degrees.

    Why: heat shortens the life of disks, and takes those of one case together. With space between the disks
    and air forced through them, a case of 40 disks went from the forties to 26-29 degrees; in another one the
    disks behind one card ran hot. The 45 degrees are raidplan's own; makers allow 55 to 60.

    Bad:
        hardware:
          disks:
            d<0-3>:
              size: 1TB
              temperature: 48    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 1TB, temperature: 29}}

    Source: "Cheap Man's 40-Disk Storage Cluster" (2009); E. Aronovich, "Cheap network storage system" (2012).
    """
    disks = topology.layout.hardware.disks
    degrees = {name: disk.temperature for name, disk in disks.items() if disk.temperature is not None}
    hot = {name: value for name, value in degrees.items() if value > WARM}
    if hot:
        first, most = next(iter(hot)), max(hot.values())
        yield Hit(
            ("hardware", "disks", first, "temperature"),
            f"{listed(list(hot), last=' and ')} {agreeing(hot, 'runs', 'run')} at up to {most} degrees",
            "leave space between the disks and force air through them",
            related=tuple(place("disk", ("hardware", "disks", disk)) for disk in list(hot)[1:4]),
        )


@rule(Severity.NOTE)
def disks_not_watched(topology: Topology) -> Iterator[Hit]:
    """Nobody asks the disks themselves how they are.

    Why: md knows of a disk only that it failed. The disk knows earlier: reallocated and pending sectors, and
    the result of its own tests, by which a disk can be replaced before an array is degraded. One server of
    four disks lost two in two and a half years. Said where the layout says `smart: false`; raidplan does not
    set smartd up.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 300GB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        monitoring:
          mail: root@example.org
          scrub: monthly
          smart: false    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 300GB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        monitoring: {mail: root@example.org, scrub: monthly, smart: true}

    Source: *Coder Blog, "New Disk" (about 2009); N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File Server" (2005);
    smartd.conf(5).
    """
    if topology.layout.monitoring.smart is False and topology.layout.arrays:
        names = listed(list(topology.layout.arrays), last=" and ")
        yield Hit(
            ("monitoring", "smart"),
            f"nothing reads the SMART data of the disks of {names}, or has them test themselves",
            "run smartd with 'DEVICESCAN -a -s (S/../.././02|L/../01/./03)', then write smart: true",
        )


@rule(Severity.WARNING)
def no_power_loss_protection(topology: Topology) -> Iterator[Hit]:
    """A write journal, or a database, is on solid-state disks that do not hold their cache over a power cut.

    Why: the journal is there for the power cut, and all writes of its array wait for it. A drive without
    capacitors must empty its cache at every flush, which costs it most of its rate, or it lies about it and
    loses what it confirmed. For a database it is the same with every commit. Said where the layout says
    `power_loss_protection: false`.

    Bad:
        hardware:
          disks:
            d<0-2>: {size: 3TB}
            ssd<0-1>: {size: 400GB, rotational: false, power_loss_protection: false}
        arrays:
          log: {level: raid1, members: [ssd<0-1>]}
          s0:
            level: raid5
            members: [d<0-2>]
            consistency: journal
            journal: log    # <-- here

    Good:
        hardware:
          disks:
            d<0-2>: {size: 3TB}
            ssd<0-1>: {size: 400GB, rotational: false, power_loss_protection: true}
        arrays:
          log: {level: raid1, members: [ssd<0-1>]}
          s0: {level: raid5, members: [d<0-2>], consistency: journal, journal: log}

    Source: https://docs.kernel.org/driver-api/md/raid5-cache.html, which counts on a durable journal.
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        below = (
            [("the journal of ", (*path, "journal"), topology.disks_below(array.journal))]
            if array.journal
            else []
        )
        nested = any(member in topology.layout.arrays for member in array.named_members)
        if "database" in work_on(topology, path) and not nested:
            below.append(("", (*path, "members"), array_disks(topology, array)))
        for what, at, found in below:
            weak = sorted(disk for disk in found if disks[disk].power_loss_protection is False)
            if weak:
                yield Hit(
                    at,
                    f"{what}{name} is on {listed(weak, last=' and ')}, without protection of the cache from a power cut",
                    "take drives with power-loss protection for it",
                    related=places("disk", ("hardware", "disks"), weak),
                )
