"""Rules about what lies outside of md: the card's own RAID below it, the network in front of it."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.words import listed, mb
from raidplan.plan.places import SYSTEM_MOUNTS
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.shares import shares
from raidplan.rules.lib.subjects import agreeing, array_disks, arrays, place, places
from raidplan.rules.workloads import work_on
from raidplan.topology import Topology

PAYLOAD = 0.94
"""The part of Ethernet's line rate that TCP leaves with frames of 1500 bytes: 117.5 of 125 MB/s."""


@rule(Severity.WARNING)
def raid_card_format(topology: Topology) -> Iterator[Hit]:
    """The members of an array are volumes in the own format of a hardware RAID card.

    Why: only this card, or one of its family, can read its disks. When one died after years, its successor did
    not work with the old board, and the server was rebuilt. md reads its disks on any controller, as long as
    the card hands them through as they are (HBA or IT mode). Behind the card's format md also sees neither
    bad sectors nor SMART data.

    Bad:
        hardware:
          controllers:
            card:
              ports: 8
              mode: raid    # <-- here
          disks: {d<0-3>: {behind: card, size: 2TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Good:
        hardware:
          controllers: {card: {ports: 8, mode: hba}}
          disks: {d<0-3>: {behind: card, size: 2TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: *Coder Blog, "File Server Upgrade" (2013); N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File Server"
    (2005), comments.
    """
    cards = {name for name, card in topology.layout.hardware.controllers.items() if card.mode == "raid"}
    if not cards:
        return
    on: dict[str, dict[str, None]] = {}
    for name, _, array in arrays(topology):
        for disk in sorted(array_disks(topology, array)):
            card = topology.wiring.nearest(disk, "controller")
            if card in cards:
                on.setdefault(card, {})[name] = None
    for card, names in on.items():
        yield Hit(
            ("hardware", "controllers", card, "mode"),
            f"{listed(list(names), last=' and ')} {agreeing(names, 'has', 'have')} members in the own format of {card}: "
            "without this card, or one of its family, they cannot be read",
            "switch the card to HBA (IT) mode, so that md has the disks themselves",
            related=places("array", ("arrays",), names),
        )


@rule(Severity.NOTE)
def network_slower_than_array(topology: Topology) -> Iterator[Hit]:
    """The network carries less than an array can read, so clients never see its rate.

    Why: one gigabit link carries about 117 MB/s, less than one disk reads today. An array that read about
    500 MB/s gave a client 86 over NFS, one of 174 MB/s gave 60. It is no fault, but more or faster disks are
    no help then. Counted for data members at the pace of the slowest; said where the layout names the
    `network`, once, for the fastest array that clients could read from: not one for swap, for journals, for
    the system itself, or for a database, which answers with rows.

    Bad:
        hardware:
          network: 1Gbps    # <-- here
          disks: {d<0-3>: {size: 3TB, rate: 150MB/s}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Good:
        hardware:
          network: 10Gbps
          disks: {d<0-3>: {size: 3TB, rate: 150MB/s}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: E. Aronovich, "Cheap network storage system" (2012); N. Fankhauser, "Homebuilt 2 Terabytes RAID5 File
    Server" (2005).
    """
    network = topology.layout.hardware.network
    if network is None:
        return
    served = _served(topology)
    reads = {name: _read(topology, name) for name, path, _ in arrays(topology) if served.get(path, True)}
    fastest = max(reads, key=reads.__getitem__, default=None)
    carries = PAYLOAD * network / 8
    if fastest is not None and reads[fastest] > carries:
        yield Hit(
            ("hardware", "network"),
            f"the network carries {mb(carries)} MB/s, and {fastest} alone can read {mb(reads[fastest])} MB/s",
            "use a faster link or several, or do not spend on more disks for it",
            related=(place("array", ("arrays", fastest)),),
        )


def _served(topology: Topology) -> dict[Path, bool]:
    """The rate at which clients could read files, of all things together."""
    found: dict[Path, bool] = {}
    for item in reversed(topology.items):
        entry = topology.layout.filesystems.get(item.name) if item.path[0] == "filesystems" else None
        read = found.get(item.path, item.path[0] != "swap")
        if entry is not None:
            system = entry.mount in SYSTEM_MOUNTS or (entry.mount or "").startswith("/boot/")
            read = not system and work_on(topology, item.path) != {"database"}
        for use in item.kind.uses(item.name, item.path):
            below = topology.provider.get(use.device)
            if below is not None:
                found[below.path] = found.get(below.path, False) or (read and "journal" not in use.path)
    return found


def _read(topology: Topology, name: str) -> float:
    """Bytes per second that an array streams, by its data members; 0 where a rate is not known."""
    array = topology.layout.arrays[name]
    paces = [share.pace for share in topology.once(shares)[name]]
    known = [pace for pace in paces if pace is not None]
    if not known or len(known) < len(paces):
        return 0
    level = LEVELS[array.level]
    if level.arranged:  # near copies stream from half of the members, far ones from all
        return len(known) / 2 * min(known)
    return (len(known) - level.parity if level.chunked else 1) * min(known)
