"""Layouts that `check` gets together: what two of them share is a finding at both places."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.base.findings import Severity
from raidplan.cli import FINDINGS, OK, UNABLE, run
from tests.rules.stages import figures

DISK = "version: 1\nhost: {host}\nhardware:\n  disks:\n    d0: {{{disk}, size: 3TB}}\n"


def said(folder: Path, *layouts: tuple[str, str]) -> list[str]:
    """`file:line:severity:figures` of every finding about two layouts, each a host and the words of its disk."""
    from raidplan.review.between import between
    from raidplan.review.pipeline import check

    files = []
    for number, (host, disk) in enumerate(layouts):
        files.append(folder / f"{number}.yaml")
        files[-1].write_text(DISK.format(host=host, disk=disk))
    found = between([check(str(file)) for file in files])
    return [
        f"{Path(item.span.file).stem}:{item.span.line}:{item.finding.severity}:"
        + figures(item.finding.message.replace(f"{folder}/", ""), "b", "serial", "wwn")
        for loaded in found
        for item in loaded.findings
        if item.finding.rule.endswith("-in-two-layouts")
    ]


def test_one_serial_in_two_hosts_is_an_error_at_both_places(tmp_path: Path) -> None:
    assert said(tmp_path, ("a", "serial: S1"), ("b", "serial: S1")) == [
        "0:5:error:d0 b serial S1 1.yaml 5",
        "1:5:error:d0 serial S1 0.yaml 5",
    ]


def test_a_wwn_is_one_however_it_is_written(tmp_path: Path) -> None:
    found = said(tmp_path, ("a", 'wwn: "0x5000C500A0000000"'), ("b", "wwn: naa.5000c500a0000000"))
    assert len(found) == 2 and all(":error:d0 " in each and " wwn " in each for each in found)


def test_a_serial_of_a_bridge_is_a_warning(tmp_path: Path) -> None:
    found = said(tmp_path, ("a", 'serial: S1, wwn: "0x1111111111111111"'), ("b", 'serial: S1, wwn: "0x2222222222222222"'))  # fmt: skip
    assert [each.split(":")[2] for each in found] == [Severity.WARNING] * 2 and found[0].endswith(" wwn")


def test_ports_tell_no_disks_of_two_hosts_apart(tmp_path: Path) -> None:
    path = "path: pci-0000:00:1f.2-ata-{}"
    assert said(tmp_path, ("a", path.format(1)), ("b", path.format(1))) == [], "every server has this port"
    found = said(tmp_path, ("a", f"serial: S1, {path.format(1)}"), ("b", f"serial: S1, {path.format(2)}"))
    assert [each.split(":")[2] for each in found] == [Severity.ERROR] * 2, "one disk may be in another slot"


def test_two_layouts_of_one_host_are_a_warning_and_share_their_disks(tmp_path: Path) -> None:
    assert said(tmp_path, ("a", "serial: S1"), ("a", "serial: S1")) == [
        "0:2:warning:1.yaml 2",
        "1:2:warning:0.yaml 2",
    ]


def test_as_many_findings_as_places(tmp_path: Path) -> None:
    found = said(tmp_path, *((f"h{n}", "serial: S1") for n in range(20)))
    assert [each.split(":")[0] for each in found] == sorted(map(str, range(20)), key=int)


def test_hosts_with_disks_of_their_own_share_nothing(tmp_path: Path) -> None:
    assert said(tmp_path, ("a", "serial: S1"), ("b", "serial: S2")) == []


@pytest.mark.parametrize(("hosts", "code"), [("ab", FINDINGS), ("aa", OK)])
def test_check_says_it(hosts: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, host in enumerate(hosts):
        (tmp_path / f"{number}.yaml").write_text(DISK.format(host=host, disk="serial: S1"))
    assert run(["check", str(tmp_path)]) == code
    assert capsys.readouterr().out.count("-in-two-layouts]") == 2
    assert run(["check", str(tmp_path / "0.yaml")]) == OK


def test_the_error_cannot_be_ignored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "0.yaml").write_text(DISK.format(host="a", disk="serial: S1"))
    assert run(["check", str(tmp_path), "--ignore", "disk-in-two-layouts"]) == UNABLE
    assert "disk-in-two-layouts cannot be ignored" in capsys.readouterr().err


def test_a_warning_can_be_ignored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(2):
        (tmp_path / f"{number}.yaml").write_text(DISK.format(host="a", disk="serial: S1"))
    assert run(["check", str(tmp_path), "--ignore", "host-in-two-layouts"]) == OK
    assert "nothing to report" in capsys.readouterr().out
