"""SARIF as Microsoft's validator sees it, with the rules that GitHub's code scanning asks for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples import EXAMPLES

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.network]
NO_ADDRESS = "SARIF2005"
"""It asks for the tool's address on the web, and raidplan has none yet."""


def test_the_validator_finds_no_error(node_modules: Path, tmp_path: Path) -> None:
    log, said = tmp_path / "raidplan.sarif", tmp_path / "validation.sarif"
    argv = [
        sys.executable,
        "-m",
        "raidplan",
        "check",
        "--format",
        "sarif",
        "-o",
        str(log),
        *map(str, EXAMPLES),
    ]
    subprocess.run(argv, check=False, capture_output=True)
    assert json.loads(log.read_text())["runs"][0]["results"]
    (tool,) = node_modules.glob("@microsoft/sarif-multitool-linux/Sarif.Multitool")
    tool.chmod(0o755)
    argv = [
        str(tool),
        "validate",
        str(log),
        "--rule-kind",
        "Sarif;Ghas",
        "--output",
        str(said),
        "--level",
        "Error;Warning;Note",
        "--kind",
        "Fail",
    ]
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        check=False,
        env={"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1", "HOME": str(tmp_path)},
    )
    assert said.exists(), done.stdout + done.stderr
    results = json.loads(said.read_text())["runs"][0].get("results", [])
    grave = {each["ruleId"] for each in results if each.get("level", "warning") in ("error", "warning")}
    assert grave <= {NO_ADDRESS}, grave
