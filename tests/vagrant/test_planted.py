"""The suite of the Vagrant machine against what a machine answered once, as it was and with ten differences planted.

`make vagrant-all` records the answers (answers.json) of the machine of native.yaml after its reboot, in which the suite
passed; ssh is a stand-in that gives them back.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
SUITE = HERE.parents[1] / "vagrant" / "test_machine.py"
ANSWERS = HERE / "answers.json"
Answers = dict[str, list[str | int]]
"""[exit code, output, errors] by command."""


def _suite(answers: Answers, folder: Path) -> subprocess.CompletedProcess[str]:
    """The suite on a machine that answers like this."""
    (folder / "answers.json").write_text(json.dumps(answers))
    (folder / "ssh_config").write_text("Host machine\n")
    settings = {
        "PATH": f"{HERE / 'stand_in'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "RAIDPLAN_LAYOUT": str(HERE / "native.yaml"),
        "RAIDPLAN_SSH_CONFIG": str(folder / "ssh_config"),
        "RAIDPLAN_SSH_ANSWERS": str(folder / "answers.json"),
        "PYTHONPATH": str(HERE.parents[1]),
        "COLUMNS": "300",
    }
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-q",
        "-rf",
        "--tb=short",
        "-c",
        "/dev/null",
    ]
    argv += [f"--rootdir={folder}", str(SUITE)]
    return subprocess.run(argv, capture_output=True, text=True, env={**os.environ, **settings})


def _failed(done: subprocess.CompletedProcess[str]) -> set[str]:
    return set(re.findall(r"^(?:FAILED|ERROR) \S+::(\S+)", done.stdout, re.MULTILINE))


def _changed(command: str, old: str, new: str) -> Callable[[Answers], Iterator[str]]:
    """Replaces text in the answers of the commands that match; gives back their names."""

    def change(answers: Answers) -> Iterator[str]:
        for asked, (_, out, _) in answers.items():
            if re.search(command, asked) and re.search(old, str(out), re.MULTILINE):
                answers[asked][1] = re.sub(old, new, str(out), flags=re.MULTILINE)
                yield asked

    return change


def _md(answers: Answers, name: str) -> str:
    return str(answers[f"readlink -f /dev/md/{name}"][1]).strip().rpartition("/")[2]


DATA = _md(json.loads(ANSWERS.read_text()), "native_data")
PLANTED = {
    "a member is missing": (_changed(f"/{DATA}/md/rd", r"^.*/rd2 .*\n", ""), "test_an_array_has_its_members_in_slot_order[native_data]", "n2.data"),
    "another chunk": (_changed(f"{DATA}/md/chunk_size", "65536", "131072"), "test_an_array_has_its_level_and_chunk[native_data]", "131072"),
    "no mount": (_changed("findmnt|/proc/mounts|mount", r"^.*/srv/native.*\n?", ""), "test_a_file_system_is_mounted[srv]", "exists"),
    "wrong label": (_changed("lsblk", '"label": ?"native"', '"label": "other"'), "test_a_file_system_is_mounted[srv]", "other"),
    "no swap": (_changed("swapon", r"^.*\n?", ""), "test_swap_is_on[swap]", "swapon shows {}"),
    "wrong stripe_cache_size": (_changed("stripe_cache_size", "1024", "256"), "test_an_array_is_tuned[native_data]", "256"),
    "the line of fstab is gone": (_changed("/etc/fstab", r"^.*/srv/native.*\n", ""), "test_what_lasts_is_written_down", "fstab"),
    "the name is md127": (_changed("readlink -f /dev/md/native_data", r"/dev/md\d+", "/dev/md/native_data"), "test_an_array_has_its_name[native_data]", "its link"),
    "a foreign array": (_changed("/proc/mdstat", r"\Z", "md99 : active raid1 sdx[1] sdy[0]\n"), "test_no_other_array_is_there", "md99"),
    "a failed unit": (_changed("list-units", r"\A.*\Z", "mdmonitor.service loaded failed failed MD array monitor\n"), "test_no_unit_failed", "mdmonitor"),
}  # fmt: skip


def test_the_machine_as_it_was_passes(tmp_path: Path) -> None:
    done = _suite(json.loads(ANSWERS.read_text()), tmp_path)
    assert done.returncode == 0, done.stdout


def test_each_planted_difference_makes_it_fail(tmp_path: Path, dice: Random | None) -> None:
    """One of them, which is drawn, without `--long`."""
    for name in dice.sample(sorted(PLANTED), 1) if dice else PLANTED:
        change, test, words = PLANTED[name]
        answers: Answers = json.loads(ANSWERS.read_text())
        assert [*change(answers)], f"{name}: nothing was changed"
        done = _suite(answers, tmp_path)
        assert test in _failed(done), (name, done.stdout)
        assert words in done.stdout, name
