"""One boot for each server, shared by all tests that look at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.machine.everyday import NAME, everyday
from tests.machine.look import Arrays, arrays, serials
from tests.machine.servers import JBOD, MIXED, Running, Server, running


@pytest.fixture(
    scope="session",
    params=[
        NAME,
        pytest.param(JBOD, marks=pytest.mark.long, id=JBOD.name),
        pytest.param(MIXED, marks=pytest.mark.long, id=MIXED.name),
    ],
)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server after apply and a boot."""
    wanted: Server | str = request.param
    if isinstance(wanted, str):
        with everyday(tmp_path_factory.mktemp(wanted), request.config.getoption("seed")) as up:
            yield up
    else:
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
