"""`raidplan estimate`: the contract's JSON, one screen of text, what is invalid, what is hostile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raidplan.cli import run
from tests.examples import EXAMPLES

JBOD = "examples/tel-aviv-jbod.yaml"
FIGURES = {
    "read_bytes_per_second",
    "write_bytes_per_second",
    "read_iops",
    "write_iops",
    "bottleneck",
    "write_bottleneck",
}
COMMON = FIGURES | {"capacity_bytes", "together", "survives", "losses_always_survived", "missing"}
COMMON |= {"smallest_sets", "smallest_disk_sets"}
ARRAY = COMMON | {
    "rebuild_seconds",
    "rebuild_bytes_per_second",
    "read_error_bound",
    "stripe_cache_bytes",
    "notes",
}


def estimate(file: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["estimate", file, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_json_is_the_contracts(capsys: pytest.CaptureFixture[str]) -> None:
    found = estimate(JBOD, capsys)
    assert found["format_version"] == 1
    assert list(found["arrays"]) == [f"s{n}" for n in range(5)]
    for array in found["arrays"].values():
        assert set(array) == ARRAY
        assert set(array["together"]) == FIGURES
        assert (
            array["bottleneck"].items()
            >= {"component": array["bottleneck"]["component"], "kind": "disk"}.items()
        )
        assert array["bottleneck"]["bytes_per_second"] == 150_000_000
        assert array["together"]["bottleneck"]["component"] == "pm0"
        assert array["survives"]["pm0"] is True and array["losses_always_survived"] == 2
        assert array["stripe_cache_bytes"] == 32768 * 8 * 4096
        sets = array["smallest_sets"]
        assert (sets["losses"], sets["complete"]) == (2, True)
        assert [{"any": 2, "kind": "controller", "of": [f"sil{n}" for n in range(4)]}] in sets["choices"]
        (disks,) = array["smallest_disk_sets"]["choices"]
        assert disks[0]["any"] == 3 and len(disks[0]["of"]) == 8
    assert all(set(each) == COMMON for each in found["filesystems"].values())
    assert found["swap"] == {} and found["missing"] == []
    assert found["machine"]["watts"] == 480.0 and found["machine"]["spinup_amps_12v"] == 88.0


def test_what_is_not_known_is_null(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "version: 1\nhost: h\nhardware: {disks: {d<0-1>: {}}}\narrays: {s: {level: raid1, members: [d<0-1>]}}\n"
    )
    array = estimate(str(file), capsys)["arrays"]["s"]
    for key in ("capacity_bytes", "rebuild_seconds", "read_error_bound"):
        assert array[key] is None
    assert array["read_bytes_per_second"] == 285_000_000 and array["bottleneck"]["assumed"] is True
    assert run(["estimate", str(file)]) == 0
    out = capsys.readouterr().out
    assert out.endswith(
        "not stated, and no limit here where nothing is assumed:\n"
        "  the rate (285 MB/s are assumed, as of the fastest larger hard disk) of d0, d1\n"
        "  the place (behind) of d0, d1\n  the size of d0, d1\n"
        "  the kind (rotational; a hard disk is assumed) of d0, d1\n"
    )


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_text_is_one_screen(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["estimate", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        len(lines) <= (52 if "mount: /," in file.read_text() or "mount: /}" in file.read_text() else 42)
        and max(map(len, lines)) <= 130
    )
    assert "upper bounds" in lines[0]
    assert any(line.split()[:1] == ["survives"] for line in lines)
    assert not [line for line in lines if line != line.rstrip()]


def test_many_arrays_are_counted_and_not_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    rates = "".join(f"    d{n}: {{rate: {100 + n // 2}MB/s}}\n" for n in range(60))
    arrays = "".join(f"  s{n}: {{level: raid1, members: [d{2 * n}, d{2 * n + 1}]}}\n" for n in range(30))
    file.write_text(f"version: 1\nhost: h\nhardware:\n  disks:\n{rates}arrays:\n{arrays}")
    assert run(["estimate", str(file)]) == 0
    assert " 22 arrays more" in capsys.readouterr().out


def test_an_invalid_layout_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("version: 1\nhost: h\narrays: {s: {level: raid1, members: [d0, d1]}}\n")
    assert run(["estimate", str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "unknown-device" in err and "'d0'" in err


def test_colour_is_for_heads_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["estimate", JBOD, "--color", "always"]) == 0
    coloured = capsys.readouterr().out
    assert run(["estimate", JBOD]) == 0
    plain = capsys.readouterr().out
    assert "\x1b[1mjbod\x1b[0m" in coloured and "\x1b" not in plain


def test_the_next_start_rests_on_a_boot_loader(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`boots without: any one of 2 disks` stood there where nothing installed a boot loader."""
    without = Path("examples/root-raid1-bios.yaml").read_text().replace("loader: grub", "loader: none")
    file = tmp_path / "x.yaml"
    file.write_text(without)
    said = "    if there is a boot loader on what is left: the layout installs none"
    told = []
    for name in ("examples/root-raid1-bios.yaml", str(file), JBOD):
        installed = estimate(name, capsys)["machine"]["boot_loader_installed"]
        assert run(["estimate", name]) == 0
        told.append((installed, said in capsys.readouterr().out.splitlines()))
    assert told == [(True, False), (False, True), (None, False)]
