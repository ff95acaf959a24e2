"""One property of an existing object that differs from a step's promise, and the steps that would change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from raidplan.apply.change.array_by_hand import after_sync, array_by_hand
from raidplan.apply.change.by_hand import Advice, Around, by_hand, header_by_hand
from raidplan.apply.change.halves import halves, newer_outside
from raidplan.apply.change.new_devices import not_blank
from raidplan.apply.change.table_by_hand import OnDisk, table_by_hand
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal, Refused
from raidplan.base.figures import Figure
from raidplan.base.hidden import escaped
from raidplan.base.identity import Identity, disk_word
from raidplan.base.magic import PHYSICAL_VOLUME, Content, member_of
from raidplan.facts import Machine
from raidplan.facts.machine import Properties, texts
from raidplan.facts.uses import Use
from raidplan.plan.identities import identity_of, made_nodes, node_of
from raidplan.plan.loss import Loss
from raidplan.plan.origin import Origin
from raidplan.plan.partitions import partition_rows
from raidplan.plan.step import Plan, Proof, Run, Step, Value

UNASKED = ("--yes", "--quiet")
"""Options of a plan's command that a person does without: LVM asks before it writes over anything."""


class NotInPlace(Refused):
    """The property cannot be changed in place now."""

    def __init__(self, case: str, *uses: Use, **figures: Figure) -> None:
        super().__init__(Refusal("differs", case, figures=figures, uses=uses))


def runs_as(node: str, found: Properties) -> str:
    """The name by which an array can be called now: `node`, unless it was assembled before that was known."""
    links = found.get("links")
    is_named = not isinstance(links, list) or node.rpartition("/")[2] in links
    return node if is_named else str(found.get("node", node))


@dataclass(frozen=True, slots=True)
class Difference:
    """One property of an existing object that differs from the step's promise."""

    step: Step
    name: str
    planned: Value
    now: Value
    found: Properties
    """The whole object, as it is."""
    machine: Machine
    plan: Plan
    past: Past

    @property
    def node(self) -> str:
        """The name in steps of the object, or of the device that it lies on; before them an array gets its name."""
        if self.step.proof and self.step.proof.kind == "volume_group":
            return self.step.proof.key
        if self.step.awaits and not self.step.awaits[0].startswith("/dev/disk/"):
            return self.step.awaits[0]
        assert isinstance(self.step.action, Run)
        return self.step.guard[0] if self.step.guard else self.step.action.argv[-1]

    @property
    def called(self) -> str:
        """The name of the object in a line for a shell, as it is now."""
        return self._called(self.node)

    @property
    def mounted(self) -> str:
        """The mount point of the file system; empty if it is not mounted."""
        device = self.found.get("device")
        mounts = self.machine.objects.get("mount", {})
        return next((point for point, mount in mounts.items() if mount.get("source") == device), "")

    @property
    def _mount_point(self) -> str:
        """The mount point that the plan has for the file system; empty if it has none."""
        device = self.found.get("device")
        proofs = (step.proof for step in self.plan.complete.steps if step.proof)
        return next(
            (each.key for each in proofs if each.kind == "mount" and each.expect.get("source") == device), ""
        )

    def after_sync(self, case: str) -> NotInPlace:
        """The error that says to wait for the sync; a held sync has to be released first."""
        advice = after_sync(self.found, case, self.called)
        return NotInPlace(advice.case, **advice.figures)

    @property
    def by_hand(self) -> NotInPlace:
        """The error that has the advice for a person; disks have their names in a shell, not those of plans."""
        assert self.step.proof is not None
        node, expect = self.called, self.step.proof.expect
        if self.step.proof.kind == "array":
            advice = array_by_hand(self.name, node, self.found, expect, self._called, self._name, self._sizes)
        elif (self.step.proof.kind, self.name) == ("table", "partitions"):
            action = self.step.action
            script = action.stdin if isinstance(action, Run) and isinstance(action.stdin, str) else ""
            advice = table_by_hand(
                partition_rows(self.now), self.step.proof.partitions, script, self._on_disk(node)
            )
        else:
            shown = self._nodes if self.name == "devices" else self._shown
            found = {**self.found, self.name: shown(self.now)}
            planned = {**expect, self.name: shown(self.planned)}
            identity = str(self.step.proof.identity)
            advice = self._of_header(node) or by_hand(
                self.step.proof.kind,
                self.name,
                node,
                found,
                planned,
                Around(
                    identity,
                    self._arrays.get(identity),
                    self.mounted or self._mount_point,
                    self._unmade,
                ),
            )
        if "commands" in advice.figures:
            advice = self._of_halves() or advice
            if stains := [*self._not_blank()]:
                return NotInPlace("not-blank", *stains)
        return NotInPlace(advice.case, **advice.figures)

    def _of_halves(self) -> Advice | None:
        """Advice about an array that may have gone on without the members that run; None for anything else."""
        proof = self.step.proof
        if proof is None or proof.kind != "array" or not newer_outside(proof.key, self.found, self.machine):
            return None
        return Advice("member-newer", halves(proof.key, self.found, self.machine, self._called))

    def _not_blank(self) -> Iterator[Use]:
        """Content and users of the devices that the commands would add to an array or a volume group."""
        proof = self.step.proof
        if proof and proof.kind == "array":
            own = member_of(proof.key)
            yield from not_blank(proof, self.found, self.machine, self._called, lambda _: own)
        elif proof and (proof.kind, self.name) == ("volume_group", "devices"):
            yield from not_blank(proof, self.found, self.machine, self._node, self._labels.get)

    @property
    def _labels(self) -> dict[str, Content]:
        """The planned physical volumes as a signature tells of them, by the identities of their devices."""
        proofs = (step.proof for step in self.plan.complete.steps if step.proof)
        return {
            str(each.expect["device"]): Content(PHYSICAL_VOLUME, each.key)
            for each in proofs
            if each.kind == "physical_volume"
        }

    def _of_header(self, node: str) -> Advice | None:
        """Advice about the header of an encryption; None for anything else."""
        proof = self.step.proof
        if proof is None or proof.kind != "encryption":
            return None
        opened = str((self.machine.observe("mapping", proof.key) or {}).get("name", ""))
        return header_by_hand(self.name, node, self.found, self.past.header(proof.key), escaped(opened))

    def _called(self, identity: str) -> str:
        kind, key = Identity.read(identity_of(identity, made_nodes(self.plan)))
        array = self.machine.observe(kind, key) if kind == "array" else None
        return runs_as(identity, array) if array else str(self._shown(identity))

    def _nodes(self, identities: Value) -> Value:
        """The names in a shell of devices that proofs know by their identities."""
        return [*map(self._node, texts(identities))]

    def _node(self, identity: str) -> str:
        """The name in a shell of one such device."""
        made = {
            block.identity: block.node for block in self.machine.blocks if block.kind in ("volume", "mapping")
        }
        made |= {identity: node for node, identity in made_nodes(self.plan).items()}
        return self._called(made.get(identity) or node_of(identity))

    @property
    def _unmade(self) -> dict[str, str]:
        """The devices, by their names in a shell, that are to be physical volumes and are none, with the options of the plan for each."""
        found = {}
        for step in self.plan.complete.steps:
            if step.proof and step.proof.kind == "physical_volume" and isinstance(step.action, Run):
                _, *words, _ = step.action.argv
                options = [word for word in words if word not in UNASKED]
                if self.machine.observe("physical_volume", step.proof.key) is None:
                    found[self._node(str(step.proof.expect["device"]))] = " ".join(options)
        return found

    def _name(self, identity: str) -> str:
        """The layout's name of a member."""
        made = made_nodes(self.plan)
        names = zip(self.step.guard, self.step.targets[1:], strict=False)
        return next((name for node, name in names if identity_of(node, made) == identity), identity)

    @property
    def _sizes(self) -> dict[str, int]:
        """The bytes of devices: of those that are there as they are, of others as planned."""
        rows = (row for step in self.plan.steps if step.proof for row in step.proof.partitions)
        planned = {disk_word(disk.name): disk.size for disk in self.plan.disks}
        planned |= {row.identity: row.size for row in rows}
        return planned | {block.identity: block.size for block in self.machine.blocks}

    @property
    def _arrays(self) -> dict[str, Properties]:
        """The arrays that run, by the identities of their members and spares."""
        found = self.machine.objects.get("array", {}).values()
        return {
            member: array
            for array in found
            for member in (*texts(array.get("members")), *texts(array.get("spares")))
        }

    def _on_disk(self, node: str) -> OnDisk:
        """The disk of a table, and what stands on its partitions."""
        assert self.step.proof is not None
        place = self.found.get("disk")
        names = [block.name for block in self.machine.blocks if block.identity == place]
        arrays = (
            step.proof.key for step in self.plan.complete.steps if step.proof and step.proof.kind == "array"
        )
        planned = [found for key in arrays if (found := self.machine.observe("array", key))]
        parts = (part for disk in self.machine.disks if disk.kernel_name in names for part in disk.partitions)
        return OnDisk(
            node,
            self.step.proof.key,
            {str(Identity("partition", part.uuid)): part.number for part in parts},
            {member: array for member, array in self._arrays.items() if array in planned},
            frozenset(self._physical()),
        )

    def _physical(self) -> Iterator[str]:
        """The devices that have a physical volume, and are planned to have one."""
        proofs = (step.proof for step in self.plan.complete.steps if step.proof)
        planned = {each.expect["device"] for each in proofs if each.kind == "physical_volume"}
        found = self.machine.objects.get("physical_volume", {}).values()
        return (str(each["device"]) for each in found if each.get("device") in planned)

    def _shown(self, value: Value) -> Value:
        if isinstance(value, list):
            return [str(self._shown(each)) for each in value]
        disk = Identity.read(value).disk if isinstance(value, str) else ""
        if not disk:
            return value
        names = (f"/dev/{block.name}" for block in self.machine.blocks if block.identity == value)
        return next(names, f"the disk {disk}")

    def then(
        self,
        verb: str,
        say: str,
        argv: Sequence[str],
        *,
        after: Sequence[str] = (),
        targets: Sequence[str] = (),
        guard: Sequence[str] = (),
        clears: Sequence[str] = (),
        destroys: Sequence[Loss] = (),
    ) -> Step:
        """A step of the change; its proof is that the property is as planned.

        `say` may hold what was read from a disk: here it is spelled out.
        """
        proof = self.step.proof
        assert proof is not None
        return Step(
            id=self.step.added(verb),
            phase=self.step.phase,
            say=escaped(say),
            action=Run(tuple(argv)),
            because=self.step.because,
            line=self.step.line,
            needs=(*self.step.needs, *after),
            targets=(*self.step.targets, *targets),
            destroys=tuple(destroys),
            guard=tuple(guard),
            clears=tuple(clears),
            proof=Proof(proof.kind, proof.key, {self.name: self.planned}),
            origin=Origin("change", self.step.id),
        )
