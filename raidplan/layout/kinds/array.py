"""md arrays: members, geometry, the command that creates them, what keeps them tuned."""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import Literal

from raidplan.base.findings import Path
from raidplan.base.identity import derived_uuid, md_form
from raidplan.base.levels import DEFAULT_CHUNK, LEVELS, redundancy
from raidplan.base.magic import MEMBER
from raidplan.base.size import KIB, human
from raidplan.base.sync_action import HELD, IDLE
from raidplan.base.words import counted
from raidplan.geometry import md
from raidplan.geometry.md_member import Metadata
from raidplan.layout.kinds.array_create import create_argv, made
from raidplan.layout.kinds.device import Device, Group, Impossible, Kind, Line, Site, Use
from raidplan.layout.kinds.model import (
    AnySize,
    Boolean,
    Integer,
    LevelName,
    Model,
    Rate,
    Reference,
    Size,
    Word,
)
from raidplan.layout.kinds.naming import array_state, device_node, sync_action
from raidplan.layout.kinds.pool import Pool
from raidplan.plan.loss import everything_on
from raidplan.plan.step import Proof, Run, SetAttribute, Step


class Array(Model, Kind):
    """An md array; the options are mdadm's."""

    level: LevelName
    """The RAID level; `raid6` or `6`."""
    members: tuple[Reference, ...] | Pool
    """In slot order: disks, partitions or arrays; or `{from: [...], count: 8, spread: multiplier}`."""
    spares: tuple[Reference, ...] = ()
    """Devices that take the place of a failed member."""
    whole_disks: Boolean = False
    """A disk named as a member is taken whole, instead of getting one GPT partition."""
    chunk: Size | None = None
    """By default `512KiB` where the level has chunks."""
    layout: Word | None = None
    """The parity layout: `left-symmetric`; for RAID10 the copies, near, far or offset: n2 by default, f2, o2; for RAID0 of unequal members: `original`."""
    metadata: Metadata = "1.2"
    """The version of md's superblock; 1.0 at the end of each member, for boot loaders."""
    bitmap: Literal["internal", "none"] | None = None
    """By default internal where the level is redundant and neither PPL nor a journal is used."""
    consistency: Literal["resync", "bitmap", "ppl", "journal"] | None = None
    """How the array becomes consistent after a crash; by default by its bitmap."""
    journal: Reference | None = None
    """The device that logs writes, such as `nvme0.log`, which closes the write hole; for RAID 4, 5 and 6."""
    stripe_cache_size: Integer | None = None
    """Entries of the stripe cache: `8192`; each takes a page (4 KiB) for each member."""
    read_ahead: AnySize | None = None
    """The read-ahead of the array: `14MiB`; 0B for none."""
    sync_speed_min: Rate | None = None
    """The least rate of a resync for each member: `50MB/s`."""
    sync_speed_max: Rate | None = None
    """The highest rate of a resync for each member: `500MB/s`."""
    group_thread_count: Integer | None = None
    """Threads that compute parity; 0: one for the whole array."""
    initial_sync: Literal["run", "freeze-until-reboot", "zero", "assume-clean"] = "run"
    """The first sync: run it; hold it until the next boot; write zeroes in its place; or take the members for equal, which they must be."""

    @property
    def named_members(self) -> tuple[str, ...]:
        """The members by name; a pool is replaced by them before anything else looks."""
        return self.members if isinstance(self.members, tuple) else ()

    @property
    def effective_chunk(self) -> int | None:
        """Bytes, or None where the level has no chunks."""
        return (self.chunk or DEFAULT_CHUNK) if LEVELS[self.level].chunked else None

    @property
    def effective_layout(self) -> str | None:
        """mdadm's default spelled out, or None where the level has no layouts."""
        return self.layout or next(iter(LEVELS[self.level].layouts), None)

    @property
    def policy(self) -> str:
        """The consistency policy that results; empty where the level has none."""
        if not LEVELS[self.level].redundant:
            return ""
        if self.consistency:
            return self.consistency
        if self.journal:
            return "journal"
        return "resync" if self.bitmap == "none" else "bitmap"

    @property
    def held(self) -> bool:
        """The initial sync waits until everything else is done."""
        return self.initial_sync in ("run", "freeze-until-reboot") and LEVELS[self.level].redundant

    def provides(self, name: str) -> Iterator[str]:
        yield name

    def uses(self, name: str, path: Path) -> Iterator[Use]:
        for number, member in enumerate(self.named_members):
            yield Use((*path, "members", number), member, "raid", self.whole_disks)
        for number, spare in enumerate(self.spares):
            yield Use((*path, "spares", number), spare, "raid", self.whole_disks)
        if self.journal:
            yield Use((*path, "journal"), self.journal, "raid")

    def stands_on(self, name: str, path: Path) -> Iterator[Group]:
        """The groups of members by level; a spare holds nothing yet. Without its journal an array takes no more writes."""
        members = self.named_members
        for slots, may_lose in redundancy(self.level, len(members), self.effective_layout):
            yield Group(tuple(members[slot] for slot in slots), may_lose)
        if self.journal:
            yield Group((self.journal,), then="read-only")

    def resolve(self, name: str, path: Path, site: Site) -> Iterator[Device]:
        parts = {use.path[2:]: site.taken(use) for use in self.uses(name, path)}
        members = [part for at, part in parts.items() if at[0] == "members"]
        geometry = self._geometry(path, members, [part for at, part in parts.items() if at[0] == "spares"])
        self._check_journal(path, parts.get(("journal",)), geometry.data_offset_bytes)
        striped = geometry.io_min > 0 and geometry.io_opt % geometry.io_min == 0
        yield Device(
            name=name,
            kind="array",
            path=path,
            node=device_node(name),
            size=geometry.size_bytes,
            made_by=(f"array.{name}.{'open' if self.held else 'create'}",),
            on=tuple(part.name for part in parts.values()),
            uuid=derived_uuid(site.host, "array", name),
            logical_block=max((part.logical_block for part in members), default=512),
            physical_block=max((part.physical_block for part in members), default=512),
            # What the kernel exports as io_min and io_opt: nested arrays show the least common stripe.
            chunk=geometry.io_min if striped else 0,
            data_disks=geometry.io_opt // geometry.io_min if striped else 0,
            rotational=any(part.rotational is not False for part in members),
            read_ahead=self.read_ahead,
        )

    def _geometry(self, path: Path, members: list[Device], spares: list[Device]) -> md.ArrayGeometry:
        try:
            return md.array(
                [part.size for part in members],
                self.level,
                self.effective_chunk,
                self.effective_layout,
                self.metadata,
                self.policy == "ppl",
                spares_bytes=[part.size for part in spares],
                member_io_min=max((part.chunk for part in members), default=0),
                member_io_opt=lcm(*(part.stripe or 1 for part in members))
                if any(part.stripe for part in members)
                else 0,
            )
        except ValueError as error:
            hint = "make its members larger, or change its chunk or metadata"
            raise Impossible("impossible-array", path, str(error), hint) from None

    def _check_journal(self, path: Path, journal: Device | None, data_offset: int) -> None:
        """mdadm begins the log at the members' data offset, which a small device does not reach."""
        if journal is not None and self.metadata in ("1.1", "1.2"):
            try:
                md.journal_bytes(journal.size, data_offset_bytes=data_offset, metadata=self.metadata)
            except ValueError as error:
                hint = f"take a device of at least {human(2 * data_offset)}"
                raise Impossible("impossible-array", (*path, "journal"), str(error), hint) from None

    def steps(self, name: str, path: Path, site: Site) -> Iterator[Step]:
        uses = list(self.uses(name, path))
        parts = [site.taken(use) for use in uses]
        create = self._create(name, path, site, parts)
        yield create
        if self.held:
            yield from self._hold(name, create)
        if self._attributes() and not site.target:  # a rescue system's udev does not read the rules below it
            yield self._tune(name, site, create)
        if self.held and self.initial_sync == "run":
            yield Step(
                id=f"array.{name}.sync",
                phase="sync",
                say=f"start the initial sync of {name}",
                action=SetAttribute(sync_action(name), IDLE),
                because=create.because,
                # fstab waits for every mkfs, which a running sync would slow down several times.
                needs=(f"array.{name}.open", "config.fstab.reload"),
                # A run that goes on may hold what stands already, for nothing shows that it was held before.
                follows=(f"array.{name}.hold",),
                targets=(name,),
                proof=Proof("array", site.devices[name].uuid, {"sync_held": False}),
            )

    def _hold(self, name: str, create: Step) -> Iterator[Step]:
        """Created read-only, the sync cannot start before it is held; then the array is opened for writing."""
        say = f"pause the initial sync of {name}, so that it does not slow down what follows"
        hold = _right_after(create, name, "hold", say, SetAttribute(sync_action(name), HELD))
        yield hold
        writable = SetAttribute(array_state(name), "active")
        yield _right_after(hold, name, "open", f"open {name} for writing", writable)

    def _create(self, name: str, path: Path, site: Site, parts: list[Device]) -> Step:
        count, spares = len(self.named_members), len(self.spares)
        listed = ", ".join(self.named_members)
        geometry = self._geometry(path, parts[:count], parts[count : count + spares])
        return Step(
            id=f"array.{name}.create",
            phase="array",
            say=f"create {self.level} {name} of {count} members ({listed}), {human(geometry.size_bytes)} usable"
            + (f", {counted(spares, 'spare')}" if spares else ""),
            action=Run(create_argv(self, name, site, parts, geometry)),
            because=".".join(map(str, path)),
            needs=(
                "prepare.md_mod",
                f"prepare.{LEVELS[self.level].module}",
                *(() if site.target else ("config.mdadm.conf",)),
                *dict.fromkeys(step for part in parts for step in part.made_by),
            ),
            targets=(name, *(part.name for part in parts)),
            destroys=tuple(everything_on(part.name) for part in parts),
            guard=tuple(part.node for part in parts),
            awaits=(device_node(name),),
            proof=Proof("array", site.devices[name].uuid, made(self, name, site, parts, geometry)),
        )

    def _attributes(self) -> dict[str, int]:
        """sysfs attributes below /sys/block/mdX and their values, in the order in which they may be set."""
        wanted = {
            "md/stripe_cache_size": self.stripe_cache_size,
            "md/group_thread_cnt": self.group_thread_count,
            "md/sync_speed_max": self.sync_speed_max and self.sync_speed_max // KIB,
            "md/sync_speed_min": self.sync_speed_min and self.sync_speed_min // KIB,
            "queue/read_ahead_kb": self.read_ahead and self.read_ahead // KIB,
        }
        return {attribute: value for attribute, value in wanted.items() if value is not None}

    def _tune(self, name: str, site: Site, create: Step) -> Step:
        attributes = self._attributes()
        values = ", ".join(
            f"{attribute.partition('/')[2]} {value}" for attribute, value in attributes.items()
        )
        return Step(
            id=f"array.{name}.tune",
            phase="array",
            say=f"let udev tune {name} as it will at every boot: {values}",
            action=Run(
                ("udevadm", "trigger", "--settle", "--action=change", f"--name-match={device_node(name)}")
            ),
            because=create.because,
            needs=(*site.devices[name].made_by, "config.udev.reload"),
            follows=("config.udev.reload",),
            targets=(name,),
            proof=Proof("tuning", site.devices[name].uuid, {**attributes}),
        )

    def lines(self, name: str, path: Path, site: Site) -> Iterator[Line]:
        uuid = md_form(site.devices[name].uuid)
        spares = f" spares={len(self.spares)}" if self.spares else ""
        yield Line("mdadm.conf", f"ARRAY {device_node(name)} metadata={self.metadata} UUID={uuid}{spares}")
        attributes = self._attributes()
        if attributes:
            # "change" is needed: md devices are added before they are active.
            match = f'SUBSYSTEM=="block", KERNEL=="md*", ENV{{DEVTYPE}}=="disk", ACTION=="add|change", ENV{{MD_UUID}}=="{uuid}"'
            guard = ', TEST=="md/stripe_cache_size"' if "md/stripe_cache_size" in attributes else ""
            sets = ", ".join(f'ATTR{{{attribute}}}="{value}"' for attribute, value in attributes.items())
            yield Line("udev", f"# {name}\n{match}{guard}, {sets}")
        if LEVELS[self.level].redundant:
            yield Line("udev where degraded arrays start", _started_late(site.devices[name].uuid))
            yield Line("udev where degraded arrays wait", _not_started(site.devices[name].uuid))


def _started_late(uuid: str) -> str:
    """The rule that starts an array although members are missing, once it was waited for them.

    mdadm's own rule asks for the same timer when a member is added to an array that lacks others. What was added in the
    initramfs is in use when udev looks again, so mdadm refuses to look at it (the O_EXCL in its Incremental.c), says
    nothing of the array, and its rule is silent. An array that runs has sync_action, and one that is being added to has
    the timer stopped as soon as it runs. The timer is called by the number that the kernel gave the array.
    """
    member = f'SUBSYSTEM=="block", ACTION=="add|change", ENV{{ID_FS_TYPE}}=="{MEMBER}", ENV{{ID_FS_UUID}}=="{uuid}"'
    waits = (
        'TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders"'
    )
    return f'{member}, {waits}, ENV{{SYSTEMD_WANTS}}+="mdadm-last-resort@%c.timer"'


def _not_started(uuid: str) -> str:
    """The rule that takes the wish of mdadm's own rule for that timer back, for this array alone; other wishes stay.

    mdadm's rule (64-md-raid-assembly.rules) is read before. The initramfs has no systemd that would heed a wish.
    """
    member = (
        f'SUBSYSTEM=="block", ACTION!="remove", ENV{{ID_FS_TYPE}}=="{MEMBER}", ENV{{ID_FS_UUID}}=="{uuid}"'
    )
    others = "for each do shift; case $$each in mdadm-last-resort@*) ;; *) set -- $$@ $$each;; esac; done; echo $$*"
    words = f"PROGRAM==\"/bin/sh -c '{others}' sh $env{{SYSTEMD_WANTS}}\""
    return f'{member}, ENV{{SYSTEMD_WANTS}}=="*mdadm-last-resort@*", {words}, ENV{{SYSTEMD_WANTS}}="%c"'


def _right_after(step: Step, name: str, verb: str, say: str, action: SetAttribute) -> Step:
    """A setting of a new array, made again whenever the step before it was."""
    return Step(
        id=f"array.{name}.{verb}",
        phase="array",
        say=say,
        action=action,
        because=step.because,
        needs=(step.id,),
        follows=(step.id,),
        targets=(name,),
    )
