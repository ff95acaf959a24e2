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
from raidplan.plan.step import Plan
from raidplan.review.pipeline import check, load
from raidplan.twin.loops import scaled
from raidplan.twin.rehearsal.making import PLAN
from raidplan.twin.rehearsal.rig import Rig
from raidplan.twin.rehearsal.stages import APPLY_SECONDS, BOOT_SECONDS, WHOLE, install
from raidplan.twin.rehearsal.subject import Subject, plan_of, subject_of
from raidplan.twin.server import Twin
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
    printer,
    remove_images,
)

NAME, EXAMPLE, SCALE = "jbod-128", "tel-aviv-jbod", 128
PATIENT = ("nofail", "x-systemd.device-timeout=15min")
"""Beside other tests a boot in emulation takes longer than any machine's."""
PROGRAMS = ("sfdisk", "mdadm", "mkfs.xfs")
"""The programs that write to a disk in this job; `apply` is killed once in each of two, which are drawn."""
MOMENTS = (0.0, 0.02, 0.1, 0.3, 1.0)
"""Seconds that a program works before it is killed; drawn too."""
DECOYS = decoys(2**26)


@dataclass
class Everyday(Running):
    """The server after kills, a power cut and the boot that followed."""

    file: Path
    """The layout, which is rehearsed."""
    drawn: list[str]
    """The programs that were drawn."""
    kills: list[str]
    """The programs in which `apply` was killed, as the killer noted them."""
    halted: bool
    """The power went at a write, and not after the last one."""
    others: dict[str, str]
    """The hash of each disk of other people before the first apply."""
    others_now: dict[str, str]
    """The hash of each of them after the boot and all that was applied then."""


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
    """Boots the server, applies the plan of the rehearsal, killed twice, and once more; then the power goes at a drawn write to a
    pair of disks of another layout, and the server boots so that its states can be saved."""
    file = folder / "layout.yaml"
    file.write_text(text())
    topology = load(str(file)).topology
    assert topology is not None
    subject = subject_of(topology)
    plan, disks = plan_of(subject), disks_of(subject.topology.layout)
    say, place, draw = printer(NAME), folder / "twin", Random(f"{seed} everyday")
    cut, drawn = Cut("power", draw.randrange(2), draw.randint(1, SURE)), draw.sample(PROGRAMS, 2)
    moments = [draw.choice(MOMENTS) for _ in drawn]
    memory = subject.memory_mib
    with (
        remove_images(place / "disks"),
        Twin.start(
            [*disks, *cut.pair(), *DECOYS],
            memory_mib=memory,
            cpus=SIDE_BY_SIDE,
            directory=place,
            say=say,
            boot_timeout=BOOT_SECONDS,
        ) as twin,
    ):
        install(twin, subject.topology.layout)
        install_killer(twin)
        quick_initramfs(twin)
        fill_decoys(twin)
        others, before = _sums(twin), configuration(twin)
        twin.unplug(*(disk.name for disk in cut.pair()))  # each apply would read them whole
        twin.put(plan_to_json(plan).encode(), PLAN)
        words = ["apply", PLAN, "--confirm", plan.host]
        say(f"apply, killed in {' and '.join(drawn)} after {moments} s")
        done, kills = killed_to_the_end(twin, NAME, words, drawn, moments=moments)
        assert WHOLE in done.stdout + done.stderr, done.stdout[-3000:]
        say("once more")
        command = f"raidplan {' '.join(words)} 2>&1"
        second = twin.run(command, check=False, timeout=APPLY_SECONDS)
        rig = _fill(twin, subject, plan)
        _plug(rig, cut)
        say(f"the power goes at write {cut.write} to disk {cut.disk}")
        halted, _ = cut_and_gone_on(twin, cut, [*disks, *DECOYS], snapshots=True)
        now = _sums(twin)
        _remove_others(twin, cut)
        say("up again")
        loaded = check(str(file))
        yield Everyday(
            twin, loaded, plan, host_of(twin), command, before, second.stdout, second.returncode,
            file, drawn, kills, halted, others, now,
        )  # fmt: skip


def _fill(twin: Twin, subject: Subject, plan: Plan) -> Rig:
    """Writes the records of a rehearsal to every file system: those that it reads back after the power cut."""
    rig = Rig.of(twin, subject, plan)
    rig.put_programs()
    rig.witness("fill")
    return rig


def _plug(rig: Rig, cut: Cut) -> None:
    """Puts the pair back, and waits until udev knows its serial numbers."""
    names = [disk.name for disk in cut.pair()]
    rig.twin.plug(*names)
    for name in names:
        rig.node(name)
    rig.twin.run("udevadm settle", timeout=APPLY_SECONDS)


def _sums(twin: Twin) -> dict[str, str]:
    """The hash of each disk of other people, as the server reads it: once its states can be saved, the files on the host are
    no longer the disks."""
    serials = " ".join(disk.serial or "" for disk in DECOYS)
    script = f'{NODE}\nfor serial in {serials}; do echo "$serial $(b2sum <"$(d $serial)")"; done'
    lines = (
        line.split() for line in twin.run(["sh", "-ec", script], timeout=APPLY_SECONDS).stdout.splitlines()
    )
    return {serial: digest for serial, digest, *_ in lines}


def _remove_others(twin: Twin, cut: Cut) -> None:
    """Stops the arrays that the layout does not have, and pulls their disks; without the pair's lines the initramfs is stale.

    udev rests meanwhile: it would assemble again what is stopped, as long as the disks are there.
    """
    script = f"""{NODE}
update-initramfs -u -k all
udevadm settle --timeout=900
udevadm control --stop-exec-queue
mdadm --stop /dev/md/{cut.name}
for holder in /sys/class/block/"$(basename "$(d {DECOYS[0].serial})")"/holders/md*; do
  if [ -e "$holder" ]; then mdadm --stop /dev/"${{holder##*/}}"; fi
done
"""
    twin.run(["sh", "-ec", script], timeout=APPLY_SECONDS)
    twin.unplug(*(disk.name for disk in (*cut.pair(), *DECOYS)))
    twin.run("udevadm control --start-exec-queue")
