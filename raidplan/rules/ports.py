"""Rules about ports: each takes one cable, and there are only so many."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import counted
from raidplan.rules.lib.engine import Hit, rule
from raidplan.topology import Topology
from raidplan.topology.wiring import Plug


@rule(Severity.ERROR)
def port_used_twice(topology: Topology) -> Iterator[Hit]:
    """Two things are plugged into one port.

    Why: a port takes one cable. One of the two hangs elsewhere, and what is said about its link and about
    what fails with it is wrong.

    Bad:
        hardware:
          controllers: {ahci: {ports: 6}}
          disks:
            d0: {behind: ahci, port: 0, size: 3TB}
            d1: {behind: ahci, port: 0, size: 3TB}    # <-- here

    Good:
        hardware:
          controllers: {ahci: {ports: 6}}
          disks: {d<0-1>: {behind: ahci, port: <1>, size: 3TB}}

    Source: the layout file's own contract.
    """
    for carrier, plugs in topology.wiring.hanging.items():
        taken: dict[int, Plug] = {}
        for plug in plugs:
            if plug.port is not None and taken.setdefault(plug.port, plug) is not plug:
                yield Hit(
                    (*plug.path, "port"),
                    f"port {plug.port} of {carrier} already has {taken[plug.port].name}",
                    f"give {plug.name} another port",
                )


@rule(Severity.ERROR)
def ports_exceeded(topology: Topology) -> Iterator[Hit]:
    """More is plugged into a component than it has ports, or into a port that it does not have.

    Why: the layout describes a machine that cannot be. Ports count from 0, so one with five ports has 0 to 4.

    Bad:
        hardware:
          controllers: {ahci: {ports: 4}}
          disks:
            d0: {behind: ahci, port: 3, size: 3TB}
            d1: {behind: ahci, port: 4, size: 3TB}    # <-- here

    Good:
        hardware:
          controllers: {ahci: {ports: 4}}
          disks:
            d<0-3>: {behind: ahci, port: <1>, size: 3TB}

    Source: the layout file's own contract.
    """
    for carrier, plugs in topology.wiring.hanging.items():
        component = topology.wiring.components.get(carrier)
        ports = component.ports if component else None
        beyond = [
            p for p in plugs if p.port is not None and (p.port < 0 or (ports is not None and p.port >= ports))
        ]
        for plug in beyond:
            have = (
                f"{carrier} has {counted(ports, 'port')}, 0 to {ports - 1}" if ports else "ports count from 0"
            )
            yield Hit(
                (*plug.path, "port"), f"{plug.name} is on port {plug.port}, and {have}", "correct one of them"
            )
        if component is not None and ports is not None and len(plugs) > ports and not beyond:
            yield Hit(
                (*component.path, "ports"),
                f"{len(plugs)} things hang behind {carrier}, which has {counted(ports, 'port')}",
                "correct the number, or what hangs behind it",
            )
