"""Rules about the disks that firmware and boot loader see before any driver of Linux runs."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path, Severity
from raidplan.base.words import SHOWN, listed
from raidplan.estimate.survival import Outcome, structure
from raidplan.estimate.survival.loss import outcomes
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import place
from raidplan.topology import Topology
from raidplan.topology.boot_devices import boot_filesystem, esps
from raidplan.topology.resolve import DISKS


@rule(Severity.ERROR, acceptable=True)
def boot_behind_multiplier(topology: Topology) -> Iterator[Hit]:
    """The machine boots from disks behind port multipliers, or on a controller that firmware does not show.

    Why: until Linux runs, the boot loader has only the disks that the firmware shows it. That is rarely more
    than the first disk behind a multiplier, and no disk on a card without a boot ROM; there it finds
    neither kernel nor members. If an array goes on without them, this is a warning: the machine starts
    from the others alone. A controller whose firmware does show them says so by `bootable: true`; it can also
    be accepted.

    Bad:
        hardware:
          controllers: {sil0: {ports: 4}}
          multipliers: {pm0: {behind: sil0, port: 0, ports: 5}}
          disks: {d<0-1>: {behind: pm0, port: <1>, size: 1TB}}
        arrays:
          os: {level: raid1, members: [d<0-1>]}
        filesystems:
          root:
            device: os    # <-- here
            type: ext4
            mount: /

    Good:
        hardware:
          controllers: {ahci: {ports: 6}}
          disks: {d<0-1>: {behind: ahci, port: <1>, size: 1TB}}
        arrays:
          os: {level: raid1, members: [d<0-1>]}
        filesystems:
          root: {device: os, type: ext4, mount: /}

    Source: https://www.gnu.org/software/grub/manual/grub/grub.html, "Device syntax": what GRUB sees are the
    firmware's disks; https://en.wikipedia.org/?oldid=486074033&title=Port_multiplier.
    """
    hidden = _hidden(topology)
    name = boot_filesystem(topology) if hidden else None
    below, lost = list[str](), False
    if name is not None:
        device, path = topology.layout.filesystems[name].device, ("filesystems", name)
        holders = _holders(topology, device)
        below = sorted(holders & hidden.keys())
        lost = outcomes(structure(topology), hidden).get(path, Outcome.INTACT) is Outcome.LOST
        others = sorted(holders - hidden.keys())
        if below:
            yield _behind((*path, "device"), name, hidden, below, [] if lost else others)
    loaders = {device: path for device, path in esps(topology).items() if topology.disks_below(device)}
    disks = {disk for device in loaders for disk in _holders(topology, device)}
    if disks and disks <= hidden.keys() and not (lost and disks <= {*below}):
        device, at = next(iter(loaders.items()))
        yield _behind(
            at, f"the EFI system partition {device}", hidden, sorted(_holders(topology, device)), []
        )


def _holders(topology: Topology, device: str) -> frozenset[str]:
    """The disks that hold what is on a device; the journal of an array does not, nor do its spares."""
    seen, waiting = dict[Path, str](), [device]
    while waiting:
        item = topology.provider.get(waiting.pop())
        if item is not None and item.path not in seen:
            seen[item.path] = item.name
            array = topology.layout.arrays.get(item.name) if item.path[0] == "arrays" else None
            uses = () if array else item.kind.uses(item.name, item.path)
            waiting += array.named_members if array else (use.device for use in uses)
    return frozenset(name for path, name in seen.items() if path[:2] == DISKS)


def _behind(path: Path, what: str, hidden: dict[str, Path], disks: list[str], others: list[str]) -> Hit:
    """`others`: the disks from which the machine still starts."""
    parts = list(dict.fromkeys(hidden[disk] for disk in disks))
    where = listed([str(part[-1]) for part in parts], last=" and ")
    return Hit(
        path,
        f"{what} is on {listed(disks, last=' and ')} behind {where}, where firmware and boot loader rarely see a disk"
        + (f": the machine starts from {listed(others, last=' and ')} alone" if others else ""),
        "use ports of the board for it; if the firmware of the controller shows these disks, write bootable: true there",
        severity=Severity.WARNING if others else None,
        related=tuple(place(SECTION[str(part[1])], part) for part in parts[:SHOWN]),
    )


SECTION = {"multipliers": "multiplier", "controllers": "controller"}


def _hidden(topology: Topology) -> dict[str, Path]:
    """The disks that firmware does not show, as far as is known, and what hides each."""
    controllers = topology.layout.hardware.controllers
    found: dict[str, Path] = {}
    for disk in topology.layout.hardware.disks:
        above = list(topology.wiring.above(disk))
        shown = next((controllers[p.name].bootable for p in above if p.kind == "controller"), None)
        if shown:
            continue
        kind = "controller" if shown is False else "multiplier"
        part = next((p for p in above if p.kind == kind), None)
        if part is not None:
            found[disk] = part.path
    return found
