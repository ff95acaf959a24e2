"""The virtual server of every day: one machine for the 40-disk job, two kills, a power cut and a short rehearsal.

A boot takes a minute of emulation; `make test-all` has servers of their own for kills, power cuts and rehearsals.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import yaml

from raidplan.plan.codec import plan_to_json
from raidplan.review.pipeline import check, load
from raidplan.twin.loops import scaled
from raidplan.twin.rehearsal.stages import NOTHING
from raidplan.twin.rehearsal.subject import Subject, plan_of, subject_of
from raidplan.twin.server import Twin, install_raidplan
from raidplan.twin.server.wiring import disks_of
from tests.machine.initramfs import quick_initramfs
from tests.machine.kills import install_killer, killed_to_the_end
from tests.machine.look import NODE
from tests.machine.power import SURE, Cut, cut_and_gone_on
from tests.machine.servers import (
    SIDE_BY_SIDE,
    Running,
    configuration,
    data_of,
    decoys,
    fill_decoys,
    host_of,
    images_removed,
    saying,
)

NAME, EXAMPLE, SCALE = "jbod-128", "tel-aviv-jbod", 128
PATIENT = ("nofail", "x-systemd.device-timeout=15min")
"""Beside other tests a boot in emulation takes longer than any machine's."""
KILLED = ("mdadm", "mkfs.xfs")
"""The programs that write to a disk in this job; `apply` is killed once in each."""
PLAN = "/root/plan.json"
DECOYS = decoys(2**26)


@dataclass
class Everyday(Running):
    """The server after kills, a power cut and the boot that followed."""

    file: Path
    """The layout, which is rehearsed."""
    kills: list[str]
    """The programs in which `apply` was killed."""
    halted: bool
    """The power went at a write, and not after the last one."""
    others: dict[str, str]
    """The hash of each disk of other people before the first apply."""
    others_now: dict[str, str]
    """The same after all of that."""


def text() -> str:
    """The 40 disks, arrays, chunks and links of the example. Logs of full size and 5 GiB of stripe caches are most of an apply in
    emulation, so sizes are divided, and caches smaller."""
    data = scaled(data_of(EXAMPLE), SCALE)
    for each in data["arrays"].values():
        each["stripe_cache_size"] = 1024
    for each in data["filesystems"].values():
        each["options"] = [*each.get("options", ()), *PATIENT]
    data["monitoring"]["mail"] = "root"  # Debian's own: the array of others has its alarms sent there too
    return yaml.safe_dump(data, sort_keys=False)


@contextmanager
def everyday(folder: Path, seed: int) -> Iterator[Everyday]:
    """Boots it, applies the plan of the rehearsal, killed twice, and once more; then the power goes at a drawn write to a pair of
    disks of another layout, and the server boots as a rehearsal boots it."""
    file = folder / "layout.yaml"
    file.write_text(text())
    topology = load(str(file)).topology
    assert topology is not None
    subject = subject_of(topology)
    say, place, draw = saying(NAME), folder / "twin", Random(f"{seed} power")
    disks = disks_of(subject.topology.layout)
    cut = Cut("power", draw.randrange(2), draw.randint(1, SURE))
    with (
        images_removed(place / "disks"),
        Twin.start(
            [*disks, *cut.pair(), *DECOYS],
            memory_mib=subject.memory_mib,
            cpus=SIDE_BY_SIDE,
            directory=place,
            say=say,
        ) as twin,
    ):
        install_raidplan(twin, say=say)
        install_killer(twin)
        quick_initramfs(twin)
        fill_decoys(twin)
        others, before = _sums(twin), configuration(twin)
        twin.unplug(*(disk.name for disk in cut.pair()))  # each apply would read them whole
        say("apply, killed")
        command, kills = _applied(twin, subject)
        say("once more")
        second = twin.run(command, check=False, timeout=600)
        twin.plug(*(disk.name for disk in cut.pair()))
        say("the power goes")
        halted, _ = cut_and_gone_on(twin, cut, [*disks, *DECOYS], snapshots=True)
        now = _sums(twin)
        _leave(twin, cut)
        say("up again")
        plan, loaded = plan_of(subject), check(str(file))
        yield Everyday(
            twin, loaded, plan, host_of(twin), command, before, second.stdout, second.returncode, file, kills, halted, others, now
        )  # fmt: skip


def _applied(twin: Twin, subject: Subject) -> tuple[str, list[str]]:
    """The command, after which everything stands, and the programs in which it was killed."""
    twin.put(plan_to_json(plan_of(subject)).encode(), PLAN)
    words = ["apply", PLAN, "--confirm", subject.host]
    done, kills = killed_to_the_end(twin, NAME, words, KILLED)
    assert NOTHING not in done.stdout + done.stderr
    return f"raidplan {' '.join(words)} 2>&1", kills


def _sums(twin: Twin) -> dict[str, str]:
    """The hash of each disk of other people."""
    serials = " ".join(disk.serial or "" for disk in DECOYS)
    script = f'{NODE}\nfor serial in {serials}; do echo "$serial $(sha256sum <"$(d $serial)")"; done'
    lines = (line.split() for line in twin.run(["sh", "-ec", script]).stdout.splitlines())
    return {serial: digest for serial, digest, *_ in lines}


def _leave(twin: Twin, cut: Cut) -> None:
    """Takes out all that the layout does not have, as if it had never been in this server."""
    names = f"/dev/md/{cut.name} /dev/md/*foreign"
    twin.run(f"for each in {names}; do mdadm --stop $each; done; update-initramfs -u -k all")
    twin.unplug(*(disk.name for disk in (*cut.pair(), *DECOYS)))
