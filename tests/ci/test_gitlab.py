"""The snippet for GitLab CI on the page about reviews: its script is run."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.ci.action import ROOT, SHIM
from tests.ci.test_action import BAD, GOOD, git


def snippet() -> dict[str, Any]:
    """The job on the page."""
    page = (ROOT / "docs" / "review.md").read_text()
    (text,) = re.findall(r"^```yaml\n(# \.gitlab-ci\.yml\n.*?)^```$", page, re.DOTALL | re.MULTILINE)
    job: dict[str, Any] = yaml.safe_load(text)["layouts"]
    return job


OTHER = GOOD.replace("level: raid10, layout: n2", "level: raid6")
"""Between it and GOOD nothing stays."""


@pytest.mark.parametrize(
    ("layouts", "base", "code"),
    [({"a": GOOD}, GOOD, 0), ({"a": GOOD}, OTHER, 1), ({"a": GOOD, "b": BAD}, GOOD, 1), ({"a": "x: 1\n", "b": BAD}, GOOD, 2)],
)  # fmt: skip
def test_the_job_leaves_its_reports_and_the_exit_code(
    layouts: dict[str, str], base: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "layouts").mkdir()
    (tmp_path / "layouts" / "a.yaml").write_text(base)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "layouts")
    git(tmp_path, "commit", "--quiet", "--message", "x")
    given = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": git(tmp_path, "rev-parse", "HEAD")}
    for name, text in layouts.items():
        (tmp_path / "layouts" / f"{name}.yaml").write_text(text)
    tool = tmp_path / "bin" / "raidplan"
    tool.parent.mkdir()
    tool.write_text(SHIM)
    tool.chmod(0o755)
    job = snippet()
    # The runner joins the lines and stops at the first that fails.
    script = "set -eo pipefail\n" + "\n".join(job["script"])
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env={**os.environ, **given, "PATH": f"{tool.parent}:{os.environ['PATH']}"}, check=False
    )  # fmt: skip
    assert done.returncode == code
    reports = job["artifacts"]["reports"]
    issues = json.loads((tmp_path / reports["codequality"]).read_text())
    assert bool(issues) is (code > 0 and base == GOOD)
    for issue in issues:
        assert (tmp_path / issue["location"]["path"]).is_file() and issue["location"]["lines"]["begin"] >= 1
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert (
            issue["description"]
            and issue["check_name"]
            and re.fullmatch("[0-9a-f]{64}", issue["fingerprint"])
        )
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert ElementTree.parse(tmp_path / reports["junit"]).getroot().tag == "testsuites"


def test_the_workflow_on_the_page_gives_the_action_its_inputs() -> None:
    page = (ROOT / "docs" / "review.md").read_text()
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    section = page.partition("## GitHub")[2].partition("## GitLab")[0]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)) == set(action["inputs"])
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    assert f"- id: {hook['id']}" in page
