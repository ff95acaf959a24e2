"""A script asks for the version of a program before it writes anything, where not every Debian's has the option."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from raidplan.render.plan_shell import plan_shell
from raidplan.review.pipeline import load, plan
from tests.render.scripts import SHELLS, Bench

FUNCTION = files("raidplan.render").joinpath("versions.sh").read_text("utf-8")
LAYOUT = """\
version: 1
host: h
hardware: {disks: {s<0-3>: {serial: S<1>, size: 1TB, rotational: false}}}
arrays: {a: {level: raid5, members: [s<0-3>], initial_sync: %s}}
"""
SAID = {
    "mdadm - v4.2 - 2021-12-30 - Debian 4.2-5": False,
    "mdadm - v4.3 - 2024-02-15": True,
    "mdadm - v4.10 - 2030-01-01": True,
    "mdadm - v5 - 2040-01-01": True,
    "mdadm - v4": False,
    "something else": False,
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("version", SAID)
def test_require_version(version: str, shell: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, ())
    bench.tool("mdadm", f"#!/bin/sh\necho '{version}' >&2\n")
    done = bench.functions(f"{FUNCTION}\nrequire_version mdadm 4.3 --write-zeroes", shell)
    assert done.returncode == (0 if SAID[version] else 4), done.stderr
    if not SAID[version]:
        assert "refused: mdadm 4.3 or later is needed for --write-zeroes, and here is " in done.stderr
        assert "nothing was written" in done.stderr


def test_only_a_script_that_needs_it_asks_and_before_anything_is_found(tmp_path: Path) -> None:
    """With mdadm 4.2 the partition tables were written, and then it stopped."""
    scripts = {}
    for sync in ("zero", "run"):
        file = tmp_path / f"{sync}.yaml"
        file.write_text(LAYOUT % sync)
        made, _ = plan(load(str(file)))
        assert made is not None
        scripts[sync] = plan_shell(made)
    assert "require_version" not in scripts["run"]
    asked = scripts["zero"].index("require_version mdadm 4.3 --write-zeroes")
    first = re.search(r"^step ", scripts["zero"], re.MULTILINE)
    assert first and asked < scripts["zero"].index("disks=$(list_disks)") < first.start()
