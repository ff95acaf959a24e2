"""The lower bounds of pyproject.toml are what the tests run with; the Debian package asks for the same."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from release import debian

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ("html", "progress", "schema", "lsp")
LATER = {"pygls"}
"""Debian's package of it is older than what `lsp` needs."""
CORE = ("tests/document", "tests/layout", "tests/rules", "tests/compiler", "tests/cli", "tests/render", "tests/facts", "tests/lsp", "tests/test_extras.py")  # fmt: skip


def bounds() -> dict[str, str]:
    """The lowest version of every library, by its name."""
    lines = [*PROJECT["dependencies"], *(line for extra in EXTRAS for line in PROJECT["optional-dependencies"][extra])]  # fmt: skip
    found = [re.fullmatch(r"([A-Za-z0-9]+)>=([0-9.]+)(,<\d+)?", line) for line in lines]
    return {each[1]: each[2] for each in found if each}


def test_every_library_has_a_lower_bound_and_the_debian_package_the_same() -> None:
    assert len(bounds()) == 6 and bounds().keys() > LATER
    for name, bound in bounds().items():
        if name in LATER:
            assert f"python3-{name} (>=" not in debian.CONTROL
            continue
        package = f"python3-{name.lower().removeprefix('py') if name == 'PyYAML' else name.lower()}"
        assert f"{package} (>= {bound})" in debian.CONTROL
    assert f"python3 ({PROJECT['requires-python'].replace('>=', '>= ')})" in debian.CONTROL


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.network
def test_the_core_passes_with_the_lowest_versions(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
    python = tmp_path / "bin/python"
    lowest = [f"{name}=={version}" for name, version in bounds().items()]
    tools = [line for line in PROJECT["optional-dependencies"]["dev"] if not line.startswith("raidplan[")]
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # Without the tools of fleets, which ask for later versions.
    subprocess.run([*install, *lowest, *tools, "-e", f"{ROOT}[all]"], check=True)
    argv = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
        "-m",
        "not machine and not network and not root",
    ]
    result = subprocess.run([*argv, *CORE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-4000:]
