"""Layouts rehearsed for real: everything goes as predicted, and a rig that does not see a loss would be void."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raidplan.cli import OK, run

pytestmark = [pytest.mark.machine, pytest.mark.long]

UNSAFE = """\
version: 1
host: unsafe
hardware:
  controllers: {a: {ports: 4}, b: {ports: 4}}
  disks: {d<0-3>: {behind: <1:a/a/b/b>, port: <1:0/1/0/1>, size: 1GiB, serial: U<1>, partitions: {swap: {size: 128MiB}, data: {size: rest}}}}
arrays:
  fast: {level: raid0, members: [d<0-1>.data]}
  safe: {level: raid5, members: [d<0-3>.swap], chunk: 64KiB}
filesystems:
  fast: {device: fast, type: ext4, mount: /srv/fast}
swap: {safe: {device: safe}}
"""


def rehearsed(layout: str, folder: Path, *words: str) -> dict[str, Any]:
    assert run(["rehearse", layout, "--seed", "1", "-o", f"{folder}/report.json", *words]) == OK, (
        folder / "report.json"
    ).read_text()
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return found


@pytest.mark.parametrize("layout", ["examples/raid1-pair.yaml", UNSAFE], ids=["pair", "raid0 and raid5"])
def test_every_loss_goes_as_predicted(layout: str, tmp_path: Path) -> None:
    file = layout
    if "\n" in layout:
        file = str(tmp_path / "layout.yaml")
        Path(file).write_text(layout)
    report = rehearsed(file, tmp_path, "--pairs", "2")
    assert report["as_predicted"] and not report["void"] and report["control"]
    assert report["predictions"]["all"] == report["predictions"]["true"] > 10
    assert all(
        case["acknowledged"] > 0
        for case in report["cases"]
        if not any(o["predicted"] == "lost" for o in case["observed"])
    )
    assert {case["returned"] for case in report["cases"]} & {"re-added", "rebuilt"}
