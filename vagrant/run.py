"""Brings up a layout's machine with libvirt and runs the suite, before and after a reboot; says what to type next.

    run.py LAYOUT [--release trixie] [--break-disk] [--destroy] [--record FILE]

`--break-disk` pulls a disk while a file is written: the suite must fail, and pass again when the disk is back.
`--destroy` begins and ends with `vagrant destroy`, and compares what libvirt keeps with what it had before. `--record` writes
the suites' counts, the seconds of each stage and the versions into a file of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import box
import disk_pulled
import disks
import host
import leftovers
import package
import suite

from raidplan.review import pipeline
from raidplan.twin.server import TwinError

HERE = Path(__file__).resolve().parent
STATE = leftovers.STATE


class FailedError(Exception):
    """The stage that failed, and how."""


def main(words: list[str]) -> int:
    """0 if all went as it should; 1 with the stage that did not."""
    parser = argparse.ArgumentParser(
        prog="run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("layout", type=Path)
    parser.add_argument("--release", default="bookworm", choices=["bookworm", "trixie"])
    parser.add_argument("--break-disk", action="store_true")
    parser.add_argument("--destroy", action="store_true")
    parser.add_argument("--record", type=Path, metavar="FILE")
    parser.add_argument(
        "--answers", type=Path, help="keep what the machine answers to the suite after the reload"
    )
    parser.add_argument("--box-seconds", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    try:
        run(given)
    except (
        FailedError,
        TwinError,
        box.CannotBuildError,
        leftovers.NotKnownError,
        disk_pulled.NotAsExpectedError,
    ) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("run.py: interrupted; the same command with --destroy ends what is left", file=sys.stderr)
        return 130
    return 0


def run(given: argparse.Namespace) -> None:
    """All stages, timed. Raises FailedError with the first one that failed."""
    loaded = pipeline.load(str(given.layout))
    topology = loaded.topology
    if topology is None:
        raise FailedError(f"{given.layout} cannot be read: `raidplan check` says why")
    if refused := disks.described(loaded)["refused"]["libvirt"]:
        raise FailedError("\n".join(["this machine cannot have the layout", *refused]))
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
    if given.box_seconds is None:
        _ask_for_libvirt()  # before a box is built for minutes
        stage("box", lambda: box.added(given.release, STATE))
        package.fill(STATE / "raidplan")
        _ensure_libvirt(seconds["box"])
    else:
        seconds["box"] = given.box_seconds
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
    accelerator = disk_pulled.driver(layout.host)
    if given.destroy:
        stage("destroy", lambda: _destroy(before))
    print("; ".join(f"{name} {taken} s" for name, taken in seconds.items()))
    if given.record:
        record = {"layout": given.layout.stem, "release": given.release, "accelerator": accelerator, "suites": suites, "seconds": seconds}  # fmt: skip
        given.record.write_text(json.dumps({**record, "destroyed": given.destroy, "versions": versions}))
    if not given.destroy:
        print(_what_to_type(settings))


def _what_to_type(settings: Mapping[str, str]) -> str:
    """The commands to log in and to end the machine. Where libvirt runs for one command at a time, the machine ended with this one."""
    names = [
        "RAIDPLAN_LAYOUT",
        *(["RAIDPLAN_BOX"] if settings["RAIDPLAN_BOX"] != f"{box.NAME}/bookworm" else []),
    ]
    prefix = " ".join([f"cd {HERE} &&", *(f"{name}={shlex.quote(settings[name])}" for name in names)])
    if host.MARK in os.environ:
        prefix += f" {sys.executable} host.py"
        return (
            f"libvirt runs for one command at a time here, so the machine is off now\n"
            f"to log in: {prefix} sh -c 'vagrant up --provider libvirt && vagrant ssh'\nto end it: {prefix} vagrant destroy -f"
        )
    return f"to log in: {prefix} vagrant ssh\nto end it: {prefix} vagrant destroy -f"


def _ask_for_libvirt() -> bool:
    """Whether libvirt answers; raises FailedError where it does not and cannot be started for one command, or is another command's."""
    if host.MARK not in os.environ and host.taken():
        raise FailedError(host.TAKEN)
    there = host.answers()
    if not there and (Path("/run/systemd/system").exists() or os.geteuid()):
        raise FailedError(
            "libvirt does not answer: start it (`systemctl start libvirtd`), and be in its group"
        )
    return there


def _ensure_libvirt(box_seconds: int) -> None:
    """Begins again behind the box, with libvirt, where no service manager runs it: there is no network there. Raises FailedError."""
    if _ask_for_libvirt():
        return
    again = [sys.executable, str(HERE / "run.py"), *sys.argv[1:], f"--box-seconds={box_seconds}"]
    os.execv(sys.executable, [sys.executable, str(HERE / "host.py"), *again])


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
    code = host.waited(["vagrant", *words], cwd=HERE)
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
    if left := leftovers.difference(before, after):
        raise FailedError(f"vagrant destroy left behind: {', '.join(left)}")
    if leftovers.POOL in after["pools"] and leftovers.POOL not in before["pools"]:
        print(
            f"pool {leftovers.POOL} stays: vagrant-libvirt made it, and it is the host's, for every machine"
        )
    print("nothing is left: domains, networks, volumes and files are those of before")
    if unread := after["unread"]:
        print(f"but only root may read {', '.join(unread)}: files there are not compared")


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
