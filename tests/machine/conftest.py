"""One boot for each server, shared by all tests that look at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.machine.look import Arrays, arrays, serials
from tests.machine.servers import EVERYDAY, JBOD, MIXED, Running, Server, running


@pytest.fixture(
    scope="session",
    params=[
        EVERYDAY,
        pytest.param(JBOD, marks=pytest.mark.long),
        pytest.param(MIXED, marks=pytest.mark.long),
    ],
    ids=lambda server: server.name,
)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server after apply and a reboot."""
    wanted: Server = request.param
    with running(wanted, tmp_path_factory.mktemp(wanted.name)) as up:
        yield up


@pytest.fixture(scope="session")
def seen(server: Running) -> Arrays:
    """Its arrays as sysfs shows them."""
    return arrays(server.host)


@pytest.fixture(scope="session")
def disk_serials(server: Running) -> dict[str, str]:
    """The serial number behind every block device."""
    return serials(server.host)
