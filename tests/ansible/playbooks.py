"""A real ansible-playbook with the collection of this checkout, and recorded machines for its hosts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raidplan.facts import DiskFact, Machine

ROOT = Path(__file__).parents[2]
COLLECTION = ROOT / "ansible"
PROGRAMS = Path(sys.executable).parent
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
LAYOUT = """\
version: 1
host: {host}
hardware:
  disks: {{d<0-1>: {{size: 1TB, serial: {host}-<1>}}}}
arrays:
  data: {{level: raid1, members: [d<0-1>]}}
filesystems:
  data: {{device: data, type: ext4, mount: /srv/data}}
monitoring: {{mail: root@example.org, scrub: monthly}}
"""


STUB = """\
#!/bin/sh
for last; do :; done
for word; do case $word in --events=*) events=${{word#--events=}} ;; esac; done
case $1 in
--version|check) exec {real} "$@" ;;
plan) host=$(sed -n 's/^host: //p' "$last")
  if [ -e {folder}/$host.applied ]; then exec cat {folder}/$host.done.json; else exec cat {folder}/$host.plan.json; fi ;;
apply) host=$(grep -o '"host": "[^"]*"' "$last" | head -n1 | cut -d'"' -f4)
  echo "$@" >>{folder}/$host.asked
  echo '{{"event": "started", "step": "first"}}' >$events
  if [ -e {folder}/$host.apply ]; then . {folder}/$host.apply; fi
  touch {folder}/$host.applied ;;
esac
"""
"""It plans for recorded machines. Its apply runs the shell lines of HOST.apply, and then the host is as planned."""


@dataclass(frozen=True)
class Told:
    """The result of one task on one host."""

    host: str
    task: str
    status: str
    values: Mapping[str, Any]


def environment(folder: Path) -> dict[str, str]:
    """The environment in which Ansible finds the collection, and writes nothing outside of the folder."""
    place = folder / "collections" / "ansible_collections" / "raidplan"
    place.mkdir(parents=True, exist_ok=True)
    if not (place / "storage").exists():
        (place / "storage").symlink_to(COLLECTION)
    (folder / "ansible.cfg").touch()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    return {
        **kept,
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections"),
        "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).parent / "callbacks"),
        "ANSIBLE_CALLBACKS_ENABLED": "told",
        "ANSIBLE_LOCAL_TMP": str(folder / "tmp"),
        "ANSIBLE_REMOTE_TMP": str(folder / "remote"),
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_DEPRECATION_WARNINGS": "1",
        "TOLD": str(folder / "told"),
    }


def copy(folder: Path) -> Path:
    """A copy of the collection below a folder in which Ansible's programs find it, so that nothing is left in the checkout."""
    place = folder / "ansible_collections" / "raidplan" / "storage"
    shutil.copytree(COLLECTION, place, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    return place


def playbook(
    book: Path, hosts: Mapping[str, Mapping[str, Any]], folder: Path, *words: str
) -> tuple[subprocess.CompletedProcess[str], list[Told]]:
    """What ansible-playbook said, and the result of each task on each host, in their order."""
    argv = prepared(book, hosts, folder, "--extra-vars", f"ansible_async_dir={folder}/jobs", *words)
    done = subprocess.run(argv, cwd=folder, env=environment(folder), capture_output=True, text=True)
    return done, results(folder)


def prepared(book: Path, hosts: Mapping[str, Mapping[str, Any]], folder: Path, *words: str) -> list[str]:
    """The command that runs the playbook in the folder, with no result yet."""
    inventory = folder / "inventory.json"
    inventory.write_text(json.dumps({"all": {"hosts": {host: {**LOCAL, **hosts[host]} for host in hosts}}}))
    (folder / "told").write_text("")
    jobs = f"ansible_async_dir={folder}/jobs"
    return [
        str(PROGRAMS / "ansible-playbook"),
        "--inventory",
        str(inventory),
        "--extra-vars",
        jobs,
        str(book),
        *words,
    ]


def results(folder: Path) -> list[Told]:
    """The result of each task on each host, in their order, as far as the playbook has come."""
    return [Told(**json.loads(line)) for line in (folder / "told").read_text().splitlines()]


def machine(serials: Iterable[str]) -> Machine:
    """A machine with a blank disk for each serial number."""
    disks = (DiskFact(f"/dev/sd{n}", f"sd{n}", 10**12, serial=serial) for n, serial in enumerate(serials))
    modules = {name: {"loaded": False, "loadable": True} for name in ("md_mod", "raid1")}
    return Machine(tuple(disks), {"module": modules})


def stub(folder: Path, *layouts: Path) -> Path:
    """A raidplan that writes to no disk, for these layouts with the recorded machines beside them."""
    for layout in layouts:
        argv = [str(PROGRAMS / "raidplan"), "plan", "--format=json", f"--machine={layout.with_suffix('.json')}", str(layout)]  # fmt: skip
        plan = json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
        (folder / f"{layout.stem}.plan.json").write_text(json.dumps(plan))
        (folder / f"{layout.stem}.done.json").write_text(json.dumps({**plan, "steps": []}))
    program = folder / "stub"
    program.write_text(STUB.format(folder=folder, real=PROGRAMS / "raidplan"))
    program.chmod(0o755)
    return program


def pair(host: str, folder: Path) -> Path:
    """The layout of a host with two disks in the folder, and its recorded machine beside it."""
    layout = folder / f"{host}.yaml"
    layout.write_text(LAYOUT.format(host=host))
    facts = machine(f"{host}-{n}" for n in range(2)).to_data()
    layout.with_suffix(".json").write_text(json.dumps(facts))
    return layout
