"""The hook, tried by pre-commit from this checkout without a configuration."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ci.hook import tool
from tests.ci.layouts import BAD, GOOD, git

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.network]


def test_try_repo_finds_what_check_finds(tmp_path: Path) -> None:
    made, site = tool(tmp_path), tmp_path / "site"
    for name, text in (
        ("layouts/good.yaml", GOOD.replace("host: rio", "host: tokyo").replace("RIOS-", "TOKY-")),
        ("layouts/bad.yaml", BAD),
    ):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    git(site, "init", "--quiet")
    git(site, "add", "--all")
    words = (
        ["validate-manifest", str(made / ".pre-commit-hooks.yaml")],
        ["try-repo", str(made), "raidplan-check", "--all-files", "--color=never"],
    )
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    environment.pop("PYTHONPATH", None)
    valid, tried = (subprocess.run([sys.executable, "-m", "pre_commit", *each], cwd=site, env=environment, capture_output=True, text=True) for each in words)  # fmt: skip
    assert valid.returncode == 0, valid.stdout
    assert tried.returncode == 1 and "error[swap-across-members]" in tried.stdout, tried
    assert "--> layouts/bad.yaml:38:23" in tried.stdout and "good.yaml" not in tried.stdout
