"""The collection as Ansible's own tests and the linter of its documentation have it; they install what they need."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_test._internal import python_requirements

from tests.ansible.playbooks import PROGRAMS, environment

pytestmark = [pytest.mark.long, pytest.mark.network]
PIP = """\
import subprocess, sys
subprocess.check_call([sys.executable, "-m", "ensurepip"])
words = [word for word in sys.argv[1:] if word not in ("--no-setuptools", "--no-wheel")]
sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", *words]))
"""
"""In place of get-pip.py, which ansible-test fetches from a server of its own."""


def test_sanity(copied: Path, tmp_path: Path) -> None:
    version = re.search(r"pip='([\d.]+)'", Path(python_requirements.__file__).read_text())
    assert version
    cache = tmp_path / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True)
    (cache / f"get_pip_{version[1].replace('.', '_')}.py").write_text(PIP)
    subprocess.run(["git", "init", "--quiet"], cwd=copied, check=True)
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    argv = [str(PROGRAMS / "ansible-test"), "sanity", "--local", "--requirements", "--python", python, "--color", "no", "-v"]  # fmt: skip
    there = {**environment(tmp_path), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(argv, cwd=copied, env=there, capture_output=True, text=True)
    said = done.stdout + done.stderr
    ran = set(re.findall(r'^Running sanity test "([\w-]+)"', said, re.M))
    assert done.returncode == 0 and {"validate-modules", "pylint", "ansible-doc", "yamllint"} <= ran, said[
        -6000:
    ]
    expected = ("locale", "Skipping sanity test", "Reviewing previous")
    warned = [line for line in said.splitlines() if line.startswith("WARNING")]
    assert all(any(word in line for word in expected) for line in warned), warned
    for file in (copied / "tests" / "sanity").glob("ignore-*"):
        ignored = {line.split(" #")[0].split()[1] for line in file.read_text().splitlines()}
        assert ignored == {
            "validate-modules:missing-gplv3-license"
        }  # the one thing that is as it is on purpose


def test_the_documentation_is_in_order(copied: Path, tmp_path: Path) -> None:
    argv = [str(PROGRAMS / "antsibull-docs"), "lint-collection-docs", "--plugin-docs", "--skip-rstcheck", "."]
    done = subprocess.run(argv, cwd=copied, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout.strip(), done.stdout + done.stderr
