"""The documentation as a site: every page in the navigation, every link and anchor leads somewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.in_turn(1)

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {file.relative_to(ROOT / "docs").with_suffix("") for file in (ROOT / "docs").rglob("*.md")}
    built = {file.parent.relative_to(tmp_path) for file in tmp_path.rglob("index.html")}
    assert {page for page in pages if page.name != "index"} <= built


def test_layouts_and_schema_pass_check_jsonschema() -> None:
    """The checker that editors' users have in pre-commit; regular expressions as ECMAScript reads them."""
    run = [sys.executable, "-m", "check_jsonschema"]
    schemas = sorted(map(str, (ROOT / "schemas").glob("*.schema.json")))
    examples = sorted(map(str, (ROOT / "examples").glob("*.yaml")))
    for argv in (["--check-metaschema", *schemas], ["--schemafile", "schemas/layout.schema.json", *examples]):
        done = subprocess.run([*run, *argv], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    wrong = ROOT / "tests/release/wrong.yaml"
    done = subprocess.run(
        [*run, "--schemafile", "schemas/layout.schema.json", str(wrong)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "chnk" in done.stdout
