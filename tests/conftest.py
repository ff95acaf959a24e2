"""Options of the whole test suite."""

import pytest
from hypothesis import HealthCheck, settings

# Machines that build are noisy: how long an example takes says nothing about it.
settings.register_profile("raidplan", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("raidplan")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` rewrites what the examples are to give."""
    parser.addoption("--update-golden", action="store_true", help="write tests/golden anew")
