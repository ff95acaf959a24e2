"""The twin with the layout on it, and the programs in it that write and look."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from raidplan.base.identity import disk_word
from raidplan.base.levels import LEVELS
from raidplan.estimate.survival import Survival, survive
from raidplan.layout.kinds.naming import device_node
from raidplan.layout.model import Layout
from raidplan.plan.step import Plan, Run
from raidplan.twin.rehearsal.fill import records
from raidplan.twin.rehearsal.programs import program
from raidplan.twin.rehearsal.subject import Subject
from raidplan.twin.server import CommandError, CommandTimeoutError, Twin, TwinError, UnreachableError

WITNESS, PLACES, GIVEN = "/root/witness.py", "/root/places.py", "/root/rehearsal.json"
READY = "ready"
"""The name of the saved state from which each case starts."""
SETTLE_SECONDS = 4.0
"""Seconds for which the writers go on after something happened, before anything is looked at."""
LOOK_SECONDS = 900.0
BEGIN_TRIES = 60
"""Seconds that a writer has for its first record."""
FEW_STRIPES = 256
"""Entries of a stripe cache of md's own (drivers/md/raid5.c, NR_STRIPES). Emulation takes half a minute to fill 5 GiB of caches
again, which each case empties."""
SILENT = (UnreachableError, CommandTimeoutError)
"""Raised where the guest does not answer, which is an observation and no failure of the rehearsal."""
COMES_TRIES = 100
"""Looks for a disk that was plugged in."""


@dataclass(frozen=True)
class Rig:
    """The twin after its reboot, with what is known of the layout."""

    twin: Twin
    subject: Subject
    survival: Survival
    members: Mapping[str, tuple[str, ...]]
    """The nodes of each array's members, in slot order and then spares; of a whole disk the word that stands for it in the plan."""
    areas: Mapping[str, str]
    """The path of each swap area: of its file, or of a link that is there as long as its device is."""
    boot_seconds: float = 600.0
    """Seconds after which a boot counts as one that stops."""

    @classmethod
    def of(cls, twin: Twin, subject: Subject, plan: Plan) -> Self:
        """The rig for a subject and its plan."""
        layout = subject.topology.layout
        return cls(twin, subject, survive(subject.topology), members_of(plan), areas_of(plan, layout))

    @property
    def mounts(self) -> dict[str, str]:
        """The mount point of each file system that has one."""
        entries = self.subject.topology.layout.filesystems.items()
        return {name: entry.mount for name, entry in entries if entry.mount}

    @property
    def fills(self) -> dict[str, int]:
        """The records in each file of `fill` by file system."""
        topology = self.subject.topology
        return {name: records(topology, entry) for name, entry in topology.layout.filesystems.items()}

    def put_programs(self) -> None:
        """The programs in the guest, and what they look at."""
        layout = self.subject.topology.layout
        arrays = {name: device_node(name) for name in layout.arrays}
        self.twin.put(program("witness.py"), WITNESS)
        self.twin.put(program("places.py"), PLACES)
        self.give(
            {
                "mounts": self.mounts,
                "fills": self.fills,
                "arrays": arrays,
                "swaps": {**self.areas},
                "disks": self.disks(),
            }
        )

    def give(self, given: Mapping[str, Any]) -> None:
        """Tells the programs what they look at."""
        self.twin.put(json.dumps(given).encode(), GIVEN)

    def witness(self, *words: str) -> str:
        """The answer of the witness. Raises TwinError where the guest does not."""
        return self.twin.run(["python3", "-I", WITNESS, *words], timeout=LOOK_SECONDS).stdout

    def places(self, *words: str) -> Any:
        """The answer of the program that knows places of blocks. Raises TwinError."""
        return value_of(self.twin.run(["python3", "-I", PLACES, *words], timeout=LOOK_SECONDS).stdout or "0")

    def keep_few_stripes(self) -> list[str]:
        """Makes stripe caches as small as md makes them, until the next boot; the arrays whose layout has larger ones."""
        arrays = self.subject.topology.layout.arrays.items()
        large = [name for name, array in arrays if (array.stripe_cache_size or 0) > FEW_STRIPES]
        for name in large:
            node = device_node(name)
            self.twin.run(
                f"echo {FEW_STRIPES} > /sys/block/$(basename $(realpath {node}))/md/stripe_cache_size"
            )
        return large

    def forget_stripes(self) -> None:
        """Empties md's caches of stripes: from them files and swap could be read of arrays that have lost their disks."""
        arrays = self.subject.topology.layout.arrays.items()
        nodes = [device_node(name) for name, array in arrays if LEVELS[array.level].has_stripe_cache]
        if nodes:
            self.places("forget", *nodes)

    def start_writing(self) -> None:
        """Starts everything that writes, and lets it write for a while; syncs run as fast as they can.

        Raises TwinError where a writer does not come to a record, or no page to a swap area: none could be lost.
        """
        self.release_syncs()
        self.witness("start")
        time.sleep(SETTLE_SECONDS)
        for _ in range(BEGIN_TRIES):
            idle = [name for name, count in self.acknowledged().items() if not count]
            paging: dict[str, Any] = value_of(self.witness("paging"))
            idle += [f"swap on {area}" for area, used in paging.get("areas", {}).items() if not used]
            if not idle:
                return
            time.sleep(1)
        raise TwinError(f"nothing was written to {', '.join(idle)} within {BEGIN_TRIES} s")

    def acknowledged(self) -> dict[str, int]:
        """The number of records that the writer on each file system knows to be written."""
        counts: dict[str, int] = value_of(self.witness("acknowledged"))
        return counts

    def lose_power(self) -> int:
        """Cuts the power of a twin that was started `logged`: of the writes that a disk had not flushed every other one is lost. Returns how many."""
        return self.twin.lose_power(lambda number: number % 2 == 1)

    def release_syncs(self) -> None:
        """Takes away the limit of syncs that the image has at each boot."""
        self.twin.run("sysctl --quiet --write dev.raid.speed_limit_max=400000", check=False)

    def observation(self, fills: int = 1) -> Mapping[str, Any] | None:
        """Everything that the witness observes, with so many files of `fill`; None where the guest does not answer any more.

        Raises TwinError where the guest does, and the witness fails.
        """
        try:
            found: Mapping[str, Any] = value_of(self.witness("look", str(fills)))
        except SILENT:
            return None
        except CommandError:
            if self._reads_programs():
                raise
            return None
        return found

    def _reads_programs(self) -> bool:
        """The file system with the programs can be read past all caches: a program that ends badly then does so by itself."""
        words = ["dd", f"if={WITNESS}", "of=/dev/null", "bs=4096", "iflag=direct", "status=none"]
        try:
            return self.twin.run(words, check=False, timeout=LOOK_SECONDS).ok
        except SILENT:
            return False

    def node(self, disk: str) -> str:
        """The device node of a disk in the guest, once it is there. Raises TwinError."""
        serial = next(each.serial for each in self.twin.machine.disks if each.name == disk)
        for _ in range(COMES_TRIES):
            if (here := self.disks()).get(serial):
                return here[serial]["node"]
            time.sleep(0.2)
        raise TwinError(f"disk {disk}: the guest has none with the serial number {serial}")

    def member(self, array: str, number: int) -> str:
        """The node of a member of an array: that of a whole disk is another one from time to time. Raises TwinError."""
        word = self.members[array][number]
        disks = {disk_word(name): name for name in self.subject.topology.layout.hardware.disks}
        return self.node(disks[word]) if word in disks else word

    def disk(self, node: str) -> str:
        """The layout's name of a disk that is this node in the guest."""
        serial = next(serial for serial, here in self.disks().items() if here["node"] == node)
        return next(disk.name for disk in self.twin.machine.disks if disk.serial == serial)

    def disks(self) -> dict[str, dict[str, str]]:
        """The node and the place of each disk in the guest by its serial number."""
        found: dict[str, dict[str, str]] = self.places("disks")
        return found

    def moved(self) -> int:
        """The number of disks that are in another place than when the programs were put into the guest."""
        before = json.loads(self.twin.get(GIVEN))["disks"]
        return sum(here["place"] != before[serial]["place"] for serial, here in self.disks().items())


def value_of(text: str) -> Any:
    """The value that a program in the guest gives as JSON. Raises TwinError."""
    try:
        return json.loads(text)
    except ValueError:
        raise TwinError(f"a program in the guest ended well and gave no JSON: {text[-300:]!r}") from None


def areas_of(plan: Plan, layout: Layout) -> dict[str, str]:
    """The path of each swap area of a layout, as a system that runs has it."""
    made = {
        step.named: step.awaits[0]
        for step in plan.steps
        if isinstance(step.action, Run) and step.action.argv[0] == "mkswap" and step.awaits
    }
    return {name: entry.file or made[name] for name, entry in layout.swap.items()}


def members_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The nodes of each array's members, from the commands of the plan; of a whole disk its word there."""
    disks = {disk_word(disk.name) for disk in plan.disks}
    return {
        step.named: tuple(word for word in step.action.argv[3:] if word.startswith("/dev/") or word in disks)
        for step in plan.steps
        if isinstance(step.action, Run) and step.action.argv[:2] == ("mdadm", "--create")
    }
