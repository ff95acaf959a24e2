"""Options of the whole test suite."""

import pytest
from hypothesis import HealthCheck, settings

# Machines that build are noisy: how long an example takes says nothing about it.
settings.register_profile("raidplan", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("raidplan")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` rewrites what the examples are to give."""
    parser.addoption("--update-golden", action="store_true", help="write tests/golden anew")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The virtual servers first, for they take longest; tests that share one, or the loop devices, stay together."""
    items.sort(key=lambda item: 0 if item.get_closest_marker("machine") else 1)
    for item in items:
        group = _group(item)
        if group:
            item.add_marker(pytest.mark.xdist_group(group))


def _group(item: pytest.Item) -> str:
    """Which tests must not be spread over several processes."""
    if item.get_closest_marker("machine"):
        server = getattr(getattr(item, "callspec", None), "params", {}).get("server")
        return f"{item.path.stem} {getattr(server, 'name', '')}".strip()
    return "loop devices" if item.get_closest_marker("root") else ""
