"""The snippet for GitLab CI on the page about reviews: its script is run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.ci.action import ROOT, SHIM
from tests.ci.layouts import BAD, GOOD, git

pytestmark = pytest.mark.slow


def snippet() -> dict[str, Any]:
    """The job on the page."""
    page = (ROOT / "docs" / "review.md").read_text()
    (text,) = re.findall(r"^```yaml\n(# \.gitlab-ci\.yml\n.*?)^```$", page, re.DOTALL | re.MULTILINE)
    job: dict[str, Any] = yaml.safe_load(text)["layouts"]
    return job


OTHER = GOOD.replace("level: raid10, layout: n2", "level: raid6")
"""Between it and GOOD nothing stays."""


JBOD = "version: 1\nhost: jbod\nhardware: jbod.hardware.yaml\narrays: {a: {level: raid1, members: [d<0-1>]}}\nmonitoring: {mail: root, scrub: monthly}\n"
DISKS = "disks: {d<0-1>: {serial: S<1>, size: 3TB}}\n"


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("base", "layouts", "code", "said"),
    [
        pytest.param({"a.yaml": GOOD}, {"a.yaml": GOOD, "jbod.yaml": JBOD, "jbod.hardware.yaml": DISKS}, 0, [], marks=pytest.mark.long),
        ({"a.yaml": OTHER}, {"a.yaml": GOOD}, 1, ["/srv/rio-data is destroyed"]),
        ({"a.yaml": GOOD}, {"a.yaml": GOOD, "sub folder/b.yml": BAD}, 1, ["sub folder/b.yml:38"]),
        ({"a.yaml": GOOD}, {"a.yaml": "host: rio\nhardware: {}\nx: 1\n", "b.yaml": BAD}, 2, []),
        pytest.param({"a.yaml": "version: 1\n", "b.yaml": GOOD}, {"a.yaml": GOOD.replace("host: rio", "host: tokyo")}, 0,
         ["A layout is not compared", "the layout of rio is gone"], marks=pytest.mark.long),
        pytest.param({"o.yaml": JBOD.replace("jbod.h", "hw/h"), "hw/hardware.yaml": DISKS},
         {"o.yaml": JBOD.replace("jbod.h", "hw/h"), "hw/hardware.yaml": DISKS.replace("S<1>", "T<1>")}, 1, ["array a is destroyed"], marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_the_job_leaves_its_reports_and_the_exit_code(
    base: dict[str, str], layouts: dict[str, str], code: int, said: list[str], tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet")
    for files in (base, layouts):
        shutil.rmtree(tmp_path / "layouts", ignore_errors=True)
        for name, text in files.items():
            file = tmp_path / "layouts" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        git(tmp_path, "add", "--all")
        git(tmp_path, "commit", "--quiet", "--message", "x")
    tool = tmp_path / "bin" / "raidplan"
    tool.parent.mkdir()
    tool.write_text(SHIM)
    tool.chmod(0o755)
    job = snippet()
    given = {
        **job["variables"],
        "RAIDPLAN": str(ROOT),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(tmp_path, "rev-parse", "HEAD~"),
        "PATH": f"{tool.parent}:{os.environ['PATH']}",
    }
    # The runner joins the lines and stops at the first that fails.
    script = "set -eo pipefail\n" + "\n".join(job["script"])
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env={**os.environ, **given}, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == code, done
    assert all(words in done.stdout for words in said), done.stdout
    assert code or not done.stderr
    reports = job["artifacts"]["reports"]
    issues = json.loads((tmp_path / reports["codequality"]).read_text())
    assert bool(issues) is (BAD in layouts.values())
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
