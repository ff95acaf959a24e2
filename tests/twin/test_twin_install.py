"""Which dependencies the guest gets."""

from __future__ import annotations

from importlib.metadata import version

from raidplan.twin.server.install import requirements


def test_the_guest_gets_the_versions_that_are_installed_here() -> None:
    found = requirements()
    assert f"sh=={version('sh')}" in found and f"pyyaml=={version('PyYAML')}" in found
    assert not [line for line in found if line.startswith(("pytest", "mypy"))], "extras stay here"
