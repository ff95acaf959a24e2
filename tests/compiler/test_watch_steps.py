"""What `monitoring` and `boot` ask for becomes steps: no key is read and then forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.plan.partitions import TYPE_CODES
from raidplan.plan.step import Plan, Run, Step, WriteBlock, WriteFile
from raidplan.review.pipeline import load
from tests.compiler.small_layouts import DISKS, MIRROR, planned, steps


def argv(step: Step) -> tuple[str, ...]:
    assert isinstance(step.action, Run)
    return step.action.argv


def written(step: Step) -> tuple[str, str]:
    assert isinstance(step.action, WriteBlock)
    return step.action.file, step.action.content


def test_the_address_is_the_first_of_mdadm_conf_and_the_monitor_reads_it(tmp_path: Path) -> None:
    made = steps(MIRROR, "monitoring: {mail: alarm@example.org}", tmp_path)
    file, content = written(made["config.mdadm.conf"])
    assert file == "/etc/mdadm/mdadm.conf" and content.startswith("MAILADDR alarm@example.org\n")
    assert getattr(made["config.mdadm.conf"].action, "at_top")  # noqa: B009
    monitor = made["config.monitor"]
    assert argv(monitor) == ("systemctl", "restart", "mdmonitor.service")
    assert monitor.follows == ("config.mdadm.conf",), "due again whenever the address changes"


def test_without_an_address_the_monitor_is_left_alone(tmp_path: Path) -> None:
    made = steps(MIRROR, "", tmp_path)
    assert "MAILADDR" not in written(made["config.mdadm.conf"])[1]
    assert not {"config.monitor", "config.scrub", "config.autocheck", "config.degraded"} & made.keys()


def test_a_monthly_scrub_is_one_scrub(tmp_path: Path) -> None:
    made = steps(MIRROR, "monitoring: {scrub: monthly}", tmp_path)
    assert argv(made["config.scrub"]) == ("systemctl", "enable", "--now", "mdcheck_start.timer")
    assert made["config.scrub"].proof is not None
    assert made["config.scrub"].proof.expect == {"enabled": "enabled"}
    assert written(made["config.autocheck"]) == ("/etc/default/mdadm", "AUTOCHECK=false\n")


def test_no_scrub_is_none_at_all(tmp_path: Path) -> None:
    made = steps(MIRROR, "monitoring: {scrub: none}", tmp_path)
    assert argv(made["config.scrub"])[:3] == ("systemctl", "disable", "--now")
    assert set(argv(made["config.scrub"])[3:]) == {"mdcheck_start.timer", "mdcheck_continue.timer"}
    assert made["config.scrub"].proof is not None
    assert made["config.scrub"].proof.expect == {"enabled": "disabled"}
    assert written(made["config.autocheck"]) == ("/etc/default/mdadm", "AUTOCHECK=false\n")


def test_there_is_nothing_to_watch_on_a_stripe(tmp_path: Path) -> None:
    made = steps("{level: raid0, members: [d<0-1>]}", "monitoring: {mail: root, scrub: monthly}", tmp_path)
    assert not {"config.monitor", "config.scrub", "config.autocheck"} & made.keys()


def test_degraded_arrays_wait_for_a_person(tmp_path: Path) -> None:
    """Those of the layout: nothing is switched for all arrays of the machine."""
    found = steps(MIRROR, "boot: {degraded: wait}", tmp_path)
    rules, made = found["config.udev"].action, found["array.s.create"].proof
    assert isinstance(rules, WriteFile) and made
    (line,) = (line for line in rules.content.splitlines() if "SYSTEMD_WANTS" in line)
    assert f'ENV{{ID_FS_UUID}}=="{made.key}"' in line and line.endswith('ENV{SYSTEMD_WANTS}="%c"')
    assert "leave 1 array to a person if a member is missing" in found["config.udev"].say
    assert "config.udev" in found["config.initramfs"].needs
    assert not any(
        "mdadm-last-resort" in str(step.action) for step in found.values() if isinstance(step.action, Run)
    )


ESP = """\
version: 1
host: example
hardware: {disks: {d<0-1>: {serial: S<1>, size: 1TB, partitions: {esp: {size: 512MiB}, data: {size: rest}}}}}
arrays:
  s: {level: raid1, members: [d<0-1>.data]}
"""
EFI, RAID = TYPE_CODES["esp"], TYPE_CODES["raid"]


def types(made: Plan) -> list[list[str]]:
    """The partition types of each disk, in their order."""
    tables = [
        step.action.stdin
        for step in made.steps
        if isinstance(step.action, Run) and step.action.argv[0] == "sfdisk"
    ]
    return [
        [code for code in (EFI, RAID) for line in table.splitlines() if f"type={code}" in line]
        for table in tables
    ]


def test_efi_system_partitions_have_their_type(tmp_path: Path) -> None:
    text = ESP + "filesystems: {esp<0-1>: {device: d<1>.esp, type: vfat}}\nboot: {esp: [d<0-1>.esp]}\n"
    assert types(planned(text, tmp_path)) == [[EFI, RAID], [EFI, RAID]]


def test_so_have_the_members_of_one_on_a_mirror(tmp_path: Path) -> None:
    """The firmware reads each member by itself, and looks for the type."""
    text = ESP + '  efi: {level: raid1, members: [d<0-1>.esp], metadata: "1.0"}\n'
    assert types(planned(text, tmp_path)) == [[RAID, RAID], [RAID, RAID]]
    assert types(planned(text + "boot: {esp: [efi]}\n", tmp_path)) == [[EFI, RAID], [EFI, RAID]]


@pytest.mark.parametrize("mail", ["root", "alarm@example.org", "a.b+c=d@mail.example.org", "ops_team@x"])
def test_an_address_is_taken(mail: str, tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(f"{DISKS}monitoring: {{mail: '{mail}'}}")
    assert load(str(file)).valid


@pytest.mark.parametrize(
    "mail",
    ["a@example.org, b@example.org", "a b", "root#", "'root'", '"root"', "|/bin/sh", "/var/mail/x", "-f", "r\u00f6t@x",
     "a@@b", "@example.org", "a\tb", "$(id)", "`id`", "a;b"],
)  # fmt: skip
def test_what_is_not_one_address_is_refused(mail: str, tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    quoted = mail.replace("'", "''")
    file.write_text(f"{DISKS}monitoring: {{mail: '{quoted}'}}")
    loaded = load(str(file))
    assert not loaded.valid
    assert [item.finding.path for item in loaded.findings] == [("monitoring", "mail")]


def test_what_lacks_a_member_at_boot_is_waited_for_and_started(tmp_path: Path) -> None:
    found = steps(MIRROR, "", tmp_path)
    rules, made = found["config.udev"].action, found["array.s.create"].proof
    assert isinstance(rules, WriteFile) and made
    (line,) = (line for line in rules.content.splitlines() if "SYSTEMD_WANTS" in line)
    assert f'ENV{{ID_FS_UUID}}=="{made.key}"' in line, "no array of others"
    assert 'TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action"' in line, "not one that runs"
    assert line.endswith('PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"')
    assert "start 1 array that may be degraded" in found["config.udev"].say


@pytest.mark.parametrize("rest", ["boot: {degraded: wait}\n", ""])
def test_without_redundancy_nothing_is_started_without_a_member(rest: str, tmp_path: Path) -> None:
    assert "config.udev" not in steps("{level: raid0, members: [d<0-1>]}", rest, tmp_path)


@pytest.mark.parametrize(
    ("rest", "switched"),
    [
        ("monitoring: {scrub: monthly}", ["scrub", "autocheck"]),
        ("monitoring: {scrub: none}", ["scrub", "autocheck"]),
    ],
)
def test_what_holds_for_all_arrays_of_the_machine_says_so(
    rest: str, switched: list[str], tmp_path: Path
) -> None:
    """The distribution has one switch for all of them, and others may have arrays on this machine too."""
    made = steps(MIRROR, rest, tmp_path)
    for name in switched:
        assert "all arrays of this machine, also those that no layout names" in made[f"config.{name}"].say
