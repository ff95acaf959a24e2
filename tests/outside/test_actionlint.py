"""The workflows of the pages and the Action that they use, as actionlint sees them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.ci.layouts import git
from tests.outside.conftest import program

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.network]
ROOT = Path(__file__).parents[2]
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"
PAGES = ("docs/review.md", "docs/howto/review-in-ci.md")


def workflow(page: str) -> str:
    """The workflow on a page, with the Action of this commit."""
    (found,) = [
        each
        for each in re.findall(r"^```yaml\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
        if "runs-on:" in each
    ]
    return str(found).replace("OWNER/raidplan@REVISION", "./")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    git(folder, "init", "--quiet")
    shutil.copy(ROOT / "action.yml", folder)
    argv = [program("go"), "run", ACTIONLINT, "-no-color"]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", PAGES)
def test_the_workflow_of_a_page_is_clean_with_the_action(page: str, tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "layouts.yaml").write_text(workflow(page))
    done = lint(tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_an_input_that_the_action_does_not_have_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "layouts.yaml").write_text(
        workflow(PAGES[0]).rstrip().partition("./")[0] + "./\n        with: {layuots: x}\n"
    )
    done = lint(tmp_path)
    assert done.returncode == 1 and 'input "layuots" is not defined in action "raidplan"' in done.stdout, done
