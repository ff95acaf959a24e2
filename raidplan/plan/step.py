"""A step: one change to the machine as data, with its conditions before and its proof afterwards.

Standard library only: these values travel to a rescue system and are applied there.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from raidplan.base.identity import Identity
from raidplan.base.magic import SignatureAt
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.initramfs import GENERATORS, INITRAMFS_TOOLS, Generator, Hook
from raidplan.plan.loss import Loss
from raidplan.plan.origin import LAYOUT, Origin
from raidplan.plan.partitions import PartitionRow, partition_rows
from raidplan.plan.phases import PHASES, PHASES_BELOW

Value = str | int | bool | None | list[str]
"""A value of a property of the machine."""


RANDOM = "/dev/urandom"
"""In place of a key file: another key at each boot."""


class Run(NamedTuple):
    """Run a program; `{d00}` as a whole argument stands for the device of the disk d00."""

    argv: tuple[str, ...]
    stdin: str = ""
    inside: bool = False
    """It is a program of the machine's own system, also where that lies below a target."""
    key: str = ""
    """The encryption whose passphrase it gets on its standard input, which no plan holds; empty for none."""

    @property
    def key_file(self) -> str:
        """The key file that it reads; empty if none."""
        named = self.argv[self.argv.index("--key-file") + 1] if "--key-file" in self.argv else ""
        return "" if named == RANDOM else named


class RenewInitramfs(NamedTuple):
    """Make the initramfs of each kernel aside, and put them in place of the present ones when each names the arrays.

    `arrays` are their UUIDs, as mdadm writes them.
    """

    arrays: tuple[str, ...] = ()
    generator: str = INITRAMFS_TOOLS.name
    """A key of `GENERATORS`."""
    encrypted: tuple[str, ...] = ()
    """The UUIDs of the LUKS headers that each image has to open."""
    volumes: bool = False
    """Whether each image has to activate LVM volumes, as / or /usr stands on one."""

    @property
    def by(self) -> Generator:
        """The program that makes them."""
        return GENERATORS[self.generator]

    @property
    def needed(self) -> tuple[Hook, ...]:
        """The hooks without which the system could not start from the images."""
        by = self.by
        return (*([by.encryption] if self.encrypted else []), *([by.volumes] if self.volumes else []))


class WriteFile(NamedTuple):
    """Write a configuration file of our own, whole or not at all; without content it is removed."""

    file: str
    content: str
    mode: int = 0o644


class WriteBlock(NamedTuple):
    """Put a block between two marks into a file that others write too; the rest stays byte for byte.

    `at_top`: before the first line, for files whose first statement wins (mdadm.conf). Without content the block
    is taken out.
    """

    file: str
    content: str
    mark: str
    at_top: bool = False
    mode: int = 0o644


class SetAttribute(NamedTuple):
    """Write a value into a sysfs attribute, which is not a file on any disk.

    A node in braces stands for the kernel's name of the device behind it: `/sys/block/{/dev/md/s0}/md/sync_action`.
    """

    file: str
    content: str


class Zero(NamedTuple):
    """Write zeroes over ranges of a device, and read them back.

    A range is (start, size) in bytes; a negative start counts from the end, and what lies beyond either end
    is left out. Each is on the device before the next is begun. `found` is all that may be on the device before; None where the
    device was made a moment ago, so that whatever shows in it is left from earlier.
    """

    device: str
    ranges: tuple[tuple[int, int], ...]
    found: tuple[SignatureAt, ...] | None = None

    def within(self, size: int) -> tuple[tuple[int, int], ...]:
        """The ranges of a device of `size` bytes, counted from its front."""
        places = ((start + size if start < 0 else start, length) for start, length in self.ranges)
        cut = ((max(0, start), min(size, start + length)) for start, length in places)
        return tuple((first, last - first) for first, last in cut if first < last)


Action = Run | RenewInitramfs | WriteFile | WriteBlock | SetAttribute | Zero


class Proof(NamedTuple):
    """A property of the machine that proves the step: the object of `kind` named `key` has these values."""

    kind: str
    key: str
    expect: Mapping[str, Value]
    stated: tuple[str, ...] = ()
    """The properties with a value that the layout states, where what stands would keep its own against a default."""

    @property
    def identity(self) -> Identity:
        """The object."""
        return Identity(self.kind, self.key)

    @property
    def file(self) -> str:
        """The path of a swap file; empty for any other object."""
        kind, key = Identity.read(self.key)
        return key if kind == "file" else ""

    @property
    def partitions(self) -> tuple[PartitionRow, ...]:
        """The partitions of a table; none of any other object."""
        if self.kind != "table":
            return ()
        rows = self.expect["partitions"]
        assert isinstance(rows, list)
        return partition_rows(rows)


@dataclass(frozen=True, slots=True)
class Step:
    """One change, ready to be shown, refused, run and proven.

    `guard` names the devices that must be blank (no signature, no holder, not mounted) right before, because the step
    writes over them. `awaits` are device nodes that must appear before it counts as done.
    """

    id: str
    phase: str
    say: str
    action: Action
    because: str
    line: int = 0
    needs: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    """The steps after which this one is due again, whatever its proof says of the time before."""
    targets: tuple[str, ...] = ()
    destroys: tuple[Loss, ...] = ()
    guard: tuple[str, ...] = ()
    awaits: tuple[str, ...] = ()
    clears: tuple[str, ...] = ()
    """The devices (as in `guard`) that it makes blank for the steps that need it."""
    proof: Proof | None = None
    origin: Origin = LAYOUT

    def among(self, known: Container[str]) -> Step:
        """The step in a plan that has only the `known` ones."""
        needs = tuple(need for need in dict.fromkeys(self.needs) if need in known)
        return replace(self, needs=needs, follows=tuple(step for step in self.follows if step in known))

    @property
    def named(self) -> str:
        """The name of the thing of the layout that asks for it."""
        return self.because.rpartition(".")[2]

    @property
    def disks(self) -> frozenset[str]:
        """The disks that its command names or its guard looks at."""
        words: tuple[str, ...] = self.guard
        if isinstance(self.action, Run):
            words += self.action.argv
        if isinstance(self.action, Zero):
            words += (self.action.device,)
        return frozenset(name for word in words if (name := Identity.read(word).disk))

    @property
    def changes(self) -> bool:
        """The step changes an existing object, or clears up after another step, on the machine that the plan was compared with."""
        return self.origin.kind in ("change", "clear")

    @property
    def planned_for(self) -> str:
        """The id of the layout's step that it was added for; else its own."""
        return self.origin.step if self.changes else self.id

    @property
    def lost(self) -> tuple[Loss, ...]:
        """The present content of the machine that it destroys; a device whose content it does not name counts whole."""
        if self.phase != "teardown" and self.origin.kind != "clear":
            return ()
        if not self.destroys and self.phase == "teardown" and self.clears and isinstance(self.action, Zero):
            return (Loss("unlisted", self.action.device),)
        return self.destroys

    @property
    def creates(self) -> bool:
        """The step writes over a device: never run where something else exists already."""
        return bool(self.guard)

    def added(self, verb: str) -> str:
        """The id of a step that is added for this one on one machine."""
        return f"{self.id}{ADDED}{verb}"

    @property
    def behind_links(self) -> tuple[str, ...]:
        """The devices (as in `guard`) of whose content, or partitions, udev makes the links that it awaits."""
        return self.guard if self.phase in ("format", "partition") else ()

    @property
    def new_partitions(self) -> tuple[tuple[int, int], ...]:
        """(start, size) in bytes of the partitions that it makes."""
        return tuple((row.start, row.size) for row in self.proof.partitions) if self.proof else ()


ADDED = "+"
"""The separator between a step's id and the name of a step added for it on one machine; no name in a layout holds it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Ordered steps for one host. Equal layouts and machines give equal plans, byte for byte."""

    host: str
    layout_digest: str
    machine_digest: str
    """The digest of `machine`; empty for a plan made without one."""
    disks: tuple[DiskIdentity, ...]
    steps: tuple[Step, ...]
    modules: tuple[str, ...] = ()
    """Kernel modules the steps need."""
    target: str = ""
    """The folder in a rescue system below which files are written and mounted; empty on the machine itself."""
    machine: Mapping[str, Value] = field(default_factory=dict)
    """The machine that it was made for: `d00.serial`, `tool.mdadm`, `machine-id`…"""
    findings: tuple[Mapping[str, object], ...] = field(default=())
    whole: tuple[Step, ...] = ()
    """The steps as for a blank machine, of which this machine needs `steps`; empty where they are the same."""

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases in the order of its steps."""
        return PHASES_BELOW if self.target else PHASES

    @property
    def complete(self) -> Plan:
        """The plan as for a blank machine, to be compared with one again."""
        return replace(self, steps=self.whole, whole=()) if self.whole else self

    def proof_keys(self, kind: str) -> tuple[str, ...]:
        """The objects of one kind that the steps prove, each once."""
        proofs = (step.proof for step in self.steps if step.proof)
        return tuple(dict.fromkeys(proof.key for proof in proofs if proof.kind == kind))

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """The programs that the steps run, with their arguments."""
        return tuple(step.action.argv for step in self.steps if isinstance(step.action, Run))

    @property
    def tools(self) -> tuple[str, ...]:
        """The programs the steps run."""
        named = {argv[0] for argv in self.commands}
        renewed = {step.action.by.program for step in self.steps if isinstance(step.action, RenewInitramfs)}
        return tuple(sorted(named | renewed))

    @property
    def tools_inside(self) -> frozenset[str]:
        """The programs of the machine's own system that the steps run, also where that lies below a target."""
        actions = [step.action for step in self.steps]
        named = {action.argv[0] for action in actions if isinstance(action, Run) and action.inside}
        return frozenset(
            (*named, *(action.by.program for action in actions if isinstance(action, RenewInitramfs)))
        )

    @property
    def lost(self) -> tuple[Loss, ...]:
        """The present content of the machine that is destroyed, for which a person has to say yes."""
        return tuple(dict.fromkeys(loss for step in self.steps for loss in step.lost))

    @property
    def own(self) -> tuple[Loss, ...]:
        """The losses of objects that this layout made: never given up by habit."""
        return tuple(loss for loss in self.lost if loss.own)
