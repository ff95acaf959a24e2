"""Brings up a layout's machine with libvirt and runs the suite, before and after a reboot; says what to type next.

    run.py LAYOUT [--release trixie] [--break-disk] [--destroy] [--record]

`--break-disk` pulls a disk while a file is written: the suite must fail, and pass again when the disk is back.
`--destroy` begins and ends with `vagrant destroy`, and compares what libvirt keeps with what it had before. `--record` adds the run to
runs.jsonl, of which `run.py --table` makes the table of docs/vagrant.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import box
import disk_pulled
import host
import leftovers
import package
import suite

from raidplan.review import pipeline
from raidplan.twin.server import TwinError

HERE = Path(__file__).resolve().parent
STATE = HERE / ".vagrant"
RUNS = HERE / "runs.jsonl"
PAGE = HERE.parent / "docs" / "vagrant.md"
MARKS = ("<!-- made by: make vagrant-table -->\n", "<!-- end -->")
EXAMPLES = HERE.parent / "examples"
NATIVE = HERE.parent / "tests" / "vagrant" / "native.yaml"
WHOLE = ("--break-disk", "--destroy", "--record")
ALL = (
    (str(EXAMPLES / "raid1-pair.yaml"), *WHOLE),
    (str(EXAMPLES / "raid1-pair.yaml"), "--release", "trixie", *WHOLE),
    (str(NATIVE), "--answers", str(NATIVE.with_name("answers.json")), *WHOLE),
    (str(EXAMPLES / "commenter-raid5.yaml"), "--destroy", "--record"),
    (str(EXAMPLES / "tel-aviv-jbod.yaml"), "--destroy", "--record"),
)
"""A pair on both releases; 4096-byte sectors under LVM; LVM at true size; forty disks at true size."""


class FailedError(Exception):
    """The stage that failed, and how."""


def main(words: list[str]) -> int:
    """0 if all went as it should; 1 with the stage that did not."""
    parser = argparse.ArgumentParser(
        prog="run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("layout", nargs="?", type=Path)
    parser.add_argument("--release", default="bookworm", choices=["bookworm", "trixie"])
    parser.add_argument("--break-disk", action="store_true")
    parser.add_argument("--destroy", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument(
        "--answers", type=Path, help="keep what the machine answers to the suite after the reload"
    )
    parser.add_argument("--all", action="store_true", help="every run of docs/vagrant.md, recorded")
    parser.add_argument(
        "--table", action="store_true", help="write the table of the recorded runs into docs/vagrant.md"
    )
    given = parser.parse_args(words)
    if given.table:
        PAGE.write_text(with_table(PAGE.read_text()))
        return 0
    if given.all:
        return max(
            subprocess.run([sys.executable, __file__, *words], check=False).returncode for words in ALL
        )
    if given.layout is None:
        parser.error("which layout? For example ../examples/raid1-pair.yaml")
    try:
        run(given)
    except (FailedError, TwinError, box.CannotBuildError, disk_pulled.NotAsExpectedError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 1
    return 0


def run(given: argparse.Namespace) -> None:
    """All stages, timed. Raises FailedError with the first one that failed."""
    topology = pipeline.load(str(given.layout)).topology
    if topology is None:
        raise FailedError(f"{given.layout} cannot be read: `raidplan check` says why")
    layout = topology.layout
    seconds: dict[str, int] = {}
    suites: list[str] = []

    def stage(name: str, act: Callable[[], object]) -> object:
        print(f"=== {name}", flush=True)
        start = time.monotonic()
        result = act()
        seconds[name] = round(time.monotonic() - start)
        return result

    def look(settings: Mapping[str, str] = {}) -> None:
        code, words = _suite(given.layout, layout.host, settings)
        suites.append(words)
        if code:
            raise FailedError(f"the suite failed: {words}")

    given.layout = given.layout.resolve()
    settings = {
        "RAIDPLAN_LAYOUT": str(given.layout),
        "RAIDPLAN_BOX": f"{box.NAME}/{given.release}",
        "RAIDPLAN_PYTHON": sys.executable,
        "RAIDPLAN_TEST": "no",
    }
    os.environ |= settings  # for `vagrant ssh-config` of the suite, too
    os.environ.setdefault("VAGRANT_CHECKPOINT_DISABLE", "1")
    stage("box", lambda: box.added(given.release, STATE))
    package.fill(STATE / "raidplan", package.VERSIONS.split())
    if not host.answers():
        _with_libvirt()
    if given.destroy:
        _vagrant("destroy", "-f")  # what an earlier run left
    before = leftovers.listed(STATE)
    stage("up", lambda: _vagrant("up", "--provider", "libvirt", "--no-destroy-on-error"))
    stage("suite", look)
    stage("reload", lambda: _vagrant("reload"))
    stage("suite after reload", lambda: look(_kept_answers(given.answers) if given.answers else {}))
    if given.break_disk:
        said = stage(
            "disk pulled and back",
            lambda: disk_pulled.play(topology, lambda: _suite(given.layout, layout.host)),
        )
        suites += [str(each) for each in said] if isinstance(said, list) else []
    versions = _versions(layout.host)
    if given.destroy:
        stage("destroy", lambda: _destroy(before))
    print("; ".join(f"{name} {taken} s" for name, taken in seconds.items()))
    if given.record:
        _record(given, seconds, suites, versions)
    if not given.destroy:
        prefix = f"cd {HERE} && RAIDPLAN_LAYOUT={settings['RAIDPLAN_LAYOUT']}"
        print(f"to log in: {prefix} vagrant ssh\nto end it: {prefix} vagrant destroy -f")


def _with_libvirt() -> None:
    """Begins again with libvirt, where no service manager runs it. Raises FailedError."""
    if Path("/run/systemd/system").exists() or os.geteuid():
        raise FailedError(
            "libvirt does not answer: start it (`systemctl start libvirtd`), and be in its group"
        )
    argv = [sys.executable, str(HERE / "host.py"), sys.executable, str(HERE / "run.py"), *sys.argv[1:]]
    os.execv(sys.executable, argv)


def _kept_answers(file: Path) -> dict[str, str]:
    """The environment in which ssh is the stand-in of the tests, which keeps each answer in the file."""
    file.unlink(missing_ok=True)
    folder = HERE.parent / "tests" / "vagrant" / "stand_in"
    return {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "RAIDPLAN_SSH_ANSWERS": str(file.resolve()),
        "RAIDPLAN_SSH_KEEP": "yes",
    }


def _vagrant(*words: str) -> None:
    code = subprocess.run(["vagrant", *words], cwd=HERE, check=False).returncode
    if code:
        raise FailedError(f"vagrant {' '.join(words)} ended with {code}")


def _suite(layout: Path, machine: str, settings: Mapping[str, str] = {}) -> tuple[int, str]:
    """pytest's exit code, and its last line's counts with the names of what failed."""
    argv = [sys.executable, str(HERE / "suite.py"), str(layout), machine, "-q", "-rf"]
    done = subprocess.run(
        argv,
        cwd=HERE,
        env={**suite.environment(), "COLUMNS": "300", **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout, end="", flush=True)
    counts = re.findall(
        r"\d+ (?:passed|failed|skipped|error)", done.stdout.rpartition("\n" + "=" * 3)[2] or done.stdout
    )
    failed = re.findall(r"^FAILED \S+::(\S+) - (.*)$", done.stdout, re.MULTILINE)
    return done.returncode, "; ".join([", ".join(counts), *(f"{name}: {why}" for name, why in failed)])


def _destroy(before: Mapping[str, list[str]]) -> None:
    _vagrant("destroy", "-f")
    after = leftovers.listed(STATE)
    left = [
        f"{kind[:-1]} {name}" for kind, names in after.items() for name in names if name not in before[kind]
    ]
    if left:
        raise FailedError(f"vagrant destroy left behind: {', '.join(left)}")
    print("nothing is left: domains, networks, volumes and files are those of before")


def _versions(machine: str) -> dict[str, str]:
    """Of what runs here, and of the machine."""
    here = {
        "vagrant": ["vagrant", "--version"],
        "vagrant-libvirt": ["vagrant", "plugin", "list"],
        "libvirt": ["virsh", "--version"],
        "qemu": ["qemu-system-x86_64", "--version"],
    }
    there = "cat /etc/debian_version; uname -r; dpkg-query --show --showformat='${Version}\\n' mdadm"
    found = {name: _first_number(name, _output(argv)) for name, argv in here.items()}
    debian, kernel, mdadm = _output(["vagrant", "ssh", machine, "--command", there]).split()[:3]
    return {**found, "Debian": debian, "kernel": kernel, "mdadm": mdadm}


def _first_number(name: str, text: str) -> str:
    line = next((line for line in text.splitlines() if not name.startswith("vagrant-") or name in line), "")
    found = re.search(r"\d+(?:\.\d+)+", line)
    return found[0] if found else "?"


def _output(argv: list[str]) -> str:
    return subprocess.run(argv, cwd=HERE, capture_output=True, text=True, check=False).stdout


def _record(
    given: argparse.Namespace, seconds: Mapping[str, int], suites: list[str], versions: Mapping[str, str]
) -> None:
    commit = _output(["git", "rev-parse", "--short", "HEAD"]).strip()
    code = [".", "../raidplan", "../examples", f":!{RUNS.name}"]
    dirty = bool(_output(["git", "status", "--porcelain", "--", *code]).strip())
    record = {
        "layout": given.layout.stem,
        "release": given.release,
        "accelerator": (STATE / "accelerator").read_text().split()[-1],
        "suites": suites,
        "seconds": seconds,
        "destroyed": given.destroy,
        "commit": commit + " with changes" * dirty,
        "versions": versions,
        "date": datetime.now(UTC).date().isoformat(),
    }
    with RUNS.open("a") as file:
        file.write(json.dumps(record) + "\n")


def _first_and_last(suite: str) -> str:
    """The numbers of a suite, with the first and the last reason of those that failed."""
    numbers, *reasons = re.sub(r"test_\S+: AssertionError: ", "", suite).split("; ")
    return "; ".join([numbers, *(reasons if len(reasons) < 3 else (reasons[0], "…", reasons[-1]))])


def table() -> str:
    """The newest run of each layout and release as a table in Markdown."""
    newest: dict[tuple[str, str], dict[str, object]] = {}
    for line in RUNS.read_text().splitlines() if RUNS.exists() else ():
        run = json.loads(line)
        newest[run["layout"], run["release"]] = run
    rows = [
        "| layout | release | suites | minutes | commit, date | versions |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for run in newest.values():
        seconds, versions, suites = run["seconds"], run["versions"], run["suites"]
        assert isinstance(seconds, dict) and isinstance(versions, dict) and isinstance(suites, list)
        minutes = ", ".join(f"{name} {taken / 60:.1f}" for name, taken in seconds.items())
        shown = ", ".join(f"{name} {version}" for name, version in versions.items())
        passed = "; then ".join(map(_first_and_last, suites))
        rows.append(
            f"| {run['layout']} | {run['release']}, {run['accelerator']} | {passed} | {minutes} "
            f"| {run['commit']}, {run['date']} | {shown} |"
        )
    return "\n".join(rows) + "\n"


def with_table(page: str) -> str:
    """The page with today's table between its marks."""
    front, _, rest = page.partition(MARKS[0])
    return f"{front}{MARKS[0]}{table()}{MARKS[1]}{rest.partition(MARKS[1])[2]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
