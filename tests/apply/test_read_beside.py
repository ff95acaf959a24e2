"""What mdadm and systemd read beside the files that we write: two truths in two files, and lines that ours would change."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.apply.configuration.lines import unit
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.past import Past
from raidplan.apply.note import note
from raidplan.apply.refusal import refusal
from raidplan.plan.step import Plan, WriteBlock
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import LAYOUT, plan_of

MAIN = "etc/mdadm/mdadm.conf"
ARRAYS = LAYOUT.replace("d<0-1>: {", "d<0-3>: {").replace(
    "filesystems:", "  more: {level: raid1, members: [d<2-3>]}\nfilesystems:"
)
SWAP = ARRAYS + "swap: {s: {device: more}, f: {file: /swap-file, size: 1GiB}}\n"


def decided(tmp_path: Path, *, plan: Plan | None = None, **files: str) -> Decision:
    """On a machine with these files, `/` in their names written as `__`."""
    root, plan = tmp_path / "root", plan or plan_of(LAYOUT, tmp_path)
    for name, text in files.items():
        write(root / name.replace("__", "/"), text)
    return decide(plan, Simulated(plan, root, State()).read(plan), Past(), here=False)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def line_of(plan: Plan, file: str, word: str) -> list[str]:
    action = next(s.action for s in plan.steps if isinstance(s.action, WriteBlock) and s.action.file == file)
    return next(line for line in action.content.splitlines() if word in line).split()


@pytest.mark.parametrize("folder", [f"{MAIN}.d", "etc/mdadm.conf.d"])
def test_f56_an_array_of_ours_in_a_further_file_of_mdadm(folder: str, tmp_path: Path) -> None:
    uuid = line_of(plan_of(LAYOUT, tmp_path), f"/{MAIN}", "ARRAY")[-1]
    for line, word in (
        (f"ARRAY /dev/md/x {uuid}", uuid),
        ("ARRAY /dev/md/data", "/dev/md/data"),
        ("ARRAY <ignore>\n # x\n name=pair:data", "name=pair:data"),
    ):
        write(tmp_path / "root" / MAIN, "")
        named = refusal("lines-conflict", "line", place=f"/{folder}/10-mine.conf", number=2, word=word)
        assert decided(tmp_path, **{f"{folder}/10-mine.conf": f"# mine\n{line}\n"}).refusals == (named,)


@pytest.mark.parametrize("name", [".hidden.conf", "10-mine.conf.raidplan-old", "README"])
def test_files_that_mdadm_does_not_read_are_no_conflict(name: str, tmp_path: Path) -> None:
    assert decided(tmp_path, **{f"{MAIN}.d/{name}": "ARRAY /dev/md/data\n"}).refusals == ()


def test_f56_lines_of_others_in_a_further_file_are_no_conflict(tmp_path: Path) -> None:
    assert decided(tmp_path, **{f"{MAIN}.d/1.conf": "ARRAY /dev/md/other UUID=1:2:3:4\n"}).refusals == ()


def test_what_mdadm_will_not_heed_in_a_further_file_is_told(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT + "monitoring: {mail: ops@example.org}\n", tmp_path)
    mail, devices, every = "MAILADDR root\n", "DEVICE /dev/sda*\n", "DEVICE partitions\n"
    file = f"{MAIN}.d/1.conf"
    notes = decided(tmp_path, plan=plan, **{file: mail + devices}).notes
    overridden = note("alarms-overridden", place=f"/{file} line 1", ours="ops@example.org", theirs=("root",))
    limited = note("devices-limited", place=f"/{file} line 2", devices=("/dev/sda*",))
    assert overridden in notes and limited in notes
    notes = decided(tmp_path, plan=plan, **{file: devices, MAIN: every}).notes
    assert all(each.code != "devices-limited" for each in notes), "lines of all files count together"


@pytest.mark.parametrize("file", ["etc/mdadm.conf", "etc/mdadm.conf.d/1.conf"])
def test_a_configuration_that_mdadm_would_read_no_more_is_refused(file: str, tmp_path: Path) -> None:
    """It takes /etc/mdadm.conf only where there is no /etc/mdadm/mdadm.conf, or the other way round."""
    ignored = refusal("lines-conflict", "other-file", place=f"/{file}", file=f"/{MAIN}")
    assert decided(tmp_path, **{file: "ARRAY /dev/md/other UUID=1:2:3:4\n"}).refusals == (ignored,)
    assert decided(tmp_path, **{MAIN: "DEVICE partitions\n"}).refusals == ()


INDENTED = "\tDEVICE partitions\nMAILADDR root\n"


@pytest.mark.parametrize("before", ["", "# a comment\n\n", "  # another\n \n"])
def test_f57_a_line_that_would_continue_ours_is_refused_with_its_number(before: str, tmp_path: Path) -> None:
    """mdadm goes on with a statement over comments and empty lines, until a line begins without white space."""
    indented = refusal("lines-conflict", "indented", place=f"/{MAIN}", number=before.count("\n") + 1)
    assert decided(tmp_path, **{MAIN: before + INDENTED}).refusals == (indented,)
    assert decided(tmp_path, **{MAIN: before + INDENTED.lstrip()}).refusals == ()
    assert decided(tmp_path, **{MAIN: f"DEVICE partitions\n{before}{INDENTED}"}).refusals == (), "not ours"


def test_f57_behind_a_block_that_is_there_a_line_would_continue_ours_too(tmp_path: Path) -> None:
    block = "# >>> raidplan pair\nARRAY /dev/md/old UUID=1:2:3:4\n# <<< raidplan pair\n"
    indented = refusal("lines-conflict", "indented", place=f"/{MAIN}", number=6)
    found = decided(tmp_path, **{MAIN: f" # x\nDEVICE partitions\n{block}{INDENTED}"}).refusals
    assert found == (indented,)
    assert decided(tmp_path, **{MAIN: f"{INDENTED}{block}"}).refusals == (), "before it nothing is ours"


@pytest.mark.parametrize(
    "line",
    ["CREATE names=no", "CREATE names=yes", "HOMEHOST <ignore>", "AUTO -all", "CREATE owner=root auto=yes"],
)
def test_what_others_say_of_names_is_theirs(line: str, tmp_path: Path) -> None:
    """Our arrays have their links by their own lines, whatever the kernel calls them."""
    assert decided(tmp_path, **{MAIN: f"{line}\n"}).refusals == ()


@pytest.mark.skipif(not shutil.which("mdadm") or os.geteuid() != 0, reason="needs mdadm and root")
def test_mdadm_itself_goes_on_with_a_statement_over_comments(tmp_path: Path) -> None:
    """The fact behind the refusal: the indented line becomes the list of devices of the array above it."""
    file = tmp_path / "mdadm.conf"
    # No device is looked at, so that nothing else can be assembled.
    array = "AUTO -all\nDEVICE /dev/null\nARRAY /dev/md/none UUID=11111111:22222222:33333333:44444444\n# <<< raidplan pair\n\n"
    for line, goes_on in (("  devices=/dev/of-nobody", True), ("MAILADDR devices=/dev/of-nobody", False)):
        file.write_text(f"{array}{line}\n")
        asked = ["mdadm", "--assemble", "--scan", "--verbose", f"--config={file}"]
        told = subprocess.run(asked, capture_output=True, text=True).stderr
        assert ("is not one of /dev/of-nobody" in told) == goes_on, told


UNITS = {
    "etc/systemd/system/srv-data.mount": ("[Mount]\nWhat=/dev/sdx1\nWhere=/srv/data\n", "/srv/data"),
    "etc/systemd/system/srv-data.automount": ("[Automount]\nWhere=/srv/data\n", "/srv/data"),
    "run/systemd/transient/srv-data.mount": ("[Mount]\nWhat=/dev/sdx1\n", "/srv/data"),
    "etc/systemd/system/backup.mount": ("[Mount]\n What = /dev/sdx1\nWhat = /dev/md/data \n", "/dev/md/data"),
    "etc/systemd/system/dev-md-more.swap": ("[Swap]\nWhat=/dev/md/more\n", "/dev/md/more"),
    "etc/systemd/system.control/swap\\x2dfile.swap": ("", "/swap-file"),
}
OF_OTHERS = {
    "etc/systemd/system/srv-data2.mount": "[Mount]\nWhat=/dev/sdx1\n#What=/dev/md/data\n",
    "etc/systemd/system/srv\\x2ddata.mount": "[Mount]\nWhat=/dev/sdx1\n",
    "etc/systemd/system/srv-data.service": "[Service]\nExecStart=/bin/true\n",
    "etc/systemd/system/srv-data.mount.d/nofail.conf": "[Unit]\nAfter=network.target\n",
    "run/systemd/generator/srv-data.mount": "[Mount]\nWhat=/dev/sdx1\n",
    "usr/lib/systemd/system/srv-data.mount": "[Mount]\nWhat=/dev/sdx1\n",
}


@pytest.mark.parametrize("file", UNITS)
def test_f56_a_unit_of_systemd_that_goes_before_fstab_is_refused(file: str, tmp_path: Path) -> None:
    text, word = UNITS[file]
    preferred = refusal("lines-conflict", "unit", place=f"/{file}", words=(word,), file="/etc/fstab")
    assert decided(tmp_path, plan=plan_of(SWAP, tmp_path), **{file: text}).refusals == (preferred,)


def test_f56_a_masked_mount_is_refused(tmp_path: Path) -> None:
    """systemd would never mount it, whatever fstab says."""
    folder = tmp_path / "root/etc/systemd/system"
    folder.mkdir(parents=True)
    (folder / "srv-data.mount").symlink_to("/dev/null")
    (masked,) = decided(tmp_path).refusals
    assert (masked.case, masked.place) == ("unit", "/etc/systemd/system/srv-data.mount")
    assert "/srv/data" in masked.figures["words"]  # type: ignore[operator]


@pytest.mark.parametrize("file", OF_OTHERS)
def test_f56_units_of_others_and_of_packages_are_no_conflict(file: str, tmp_path: Path) -> None:
    assert decided(tmp_path, plan=plan_of(SWAP, tmp_path), **{file: OF_OTHERS[file]}).refusals == ()


@pytest.mark.skipif(not shutil.which("systemd-escape"), reason="needs systemd-escape")
@given(
    st.lists(st.text(re.sub(r"[/\0]", "", "ab.-_ \\:%ä\"'"), min_size=1, max_size=6), min_size=1, max_size=3)
)
def test_the_name_of_a_unit_is_read_as_systemd_writes_it(parts: list[str]) -> None:
    path = "/" + "/".join(part.strip(".") or "x" for part in parts)
    asked = ["systemd-escape", "--path", "--suffix=mount", path]
    name = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.removesuffix("\n")
    assert unit(f"/etc/systemd/system/{name}", "") == {("mount point", path): path}
    assert unit("/x/-.mount", "") == {("mount point", "/"): "/"}
