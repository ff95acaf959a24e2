"""Options of the whole test suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` rewrites what the examples are to give."""
    parser.addoption("--update-golden", action="store_true", help="write tests/golden anew")
