"""The hook, run by pre-commit itself in a repository made for the test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.ci.action import ROOT
from tests.ci.hook import tool
from tests.ci.layouts import BAD, DISKS, GOOD, OF_FILE, git

pytestmark = pytest.mark.slow

HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]


@pytest.mark.parametrize(
    ("file", "wanted"),
    {
        "layouts/a.yaml": True, "site/layouts/berlin/a.yml": True, "a.layout.yaml": True, "x/a.layout.yml": True,
        "a.yaml": False, "layouts.yaml": False, "layouts/a.json": False, "mylayouts/a.yaml": False,
        "layouts/a.hardware.yaml": True, "x/a.hardware.yml": True, "layouts/hw/a.yaml": True, "a.layout.yaml.bak": False,
    }.items(),
)  # fmt: skip
def test_for_which_files_it_runs(file: str, wanted: bool) -> None:
    """As pre-commit matches: `files` is searched for in the path; a hardware file stands for the layouts that name it."""
    assert bool(re.search(HOOK["files"], file)) is wanted and "exclude" not in HOOK


@pytest.mark.long
@pytest.mark.network
def test_pre_commit_runs_the_hook(tmp_path: Path) -> None:
    made = tool(tmp_path)
    site = tmp_path / "site"
    (site / "layouts").mkdir(parents=True)
    git(site, "init", "--quiet")
    config = {
        "repos": [{"repo": str(made), "rev": git(made, "rev-parse", "HEAD"), "hooks": [{"id": HOOK["id"]}]}]
    }
    (site / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    (site / "layouts" / "good.yaml").write_text(GOOD)
    (site / "values.yaml").write_text("not: a layout\n")

    def run(*which: str) -> subprocess.CompletedProcess[str]:
        git(site, "add", "--all")
        environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
        environment.pop("PYTHONPATH", None)  # the hook's own installation is to be found
        words = [sys.executable, "-m", "pre_commit", "run", "--color=never", *(which or ["--all-files"])]
        return subprocess.run(words, cwd=site, capture_output=True, text=True, check=False, env=environment)

    done = run()
    assert done.returncode == 0 and re.search(r"^raidplan check\.+Passed$", done.stdout, re.MULTILINE), done
    (site / "layouts" / "bad.yaml").write_text(BAD)
    done = run()
    assert done.returncode == 1 and "- exit code: 1" in done.stdout, done
    assert "error[swap-across-members]" in done.stdout and "--> layouts/bad.yaml:38:23" in done.stdout
    assert "values.yaml" not in done.stdout
    (site / "layouts" / "bad.yaml").unlink()
    (site / "layouts" / "of.yaml").write_text(OF_FILE.replace("hw/", ""))
    (site / "layouts" / "disks.yaml").write_text(DISKS)
    assert run().returncode == 0
    git(site, "commit", "--quiet", "--message", "x")
    (site / "layouts" / "disks.yaml").write_text(DISKS.replace("d<0-1>", "e<0-1>"))
    done = run("--files", "layouts/disks.yaml")
    assert done.returncode == 1 and "layouts/of.yaml" in done.stdout and "unknown-device" in done.stdout, done
