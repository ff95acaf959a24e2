"""Two disks that are members of an old array, wiped in memory as the command does it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.session import carry_out
from raidplan.base.magic import SignatureAt
from raidplan.facts import Machine
from raidplan.facts.host import HOLD
from raidplan.facts.machine import BlockFact, Trace
from raidplan.plan.step import Plan, Zero
from raidplan.render.losses import loss_texts
from tests.apply.others import NODES, Others
from tests.apply.sentences import failures, sentences
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import GIB, OLD, TB

MEMBERS = ("{d0}", "{d1}")


class Old(Simulated):
    """The two disks are members of an old array, which runs until it is stopped."""

    def read(self, plan: Plan) -> Machine:
        machine = super().read(plan)
        array = self.state.objects.get("array", {}).get(OLD)
        blocks = [
            BlockFact(disk.kernel_name, disk.node, disk.node, "disk", TB, found=_found(self.state, f"{{{disk.kernel_name}}}"))
            for disk in machine.disks
            if disk.node not in NODES
        ]  # fmt: skip
        if array:
            found = tuple(
                SignatureAt.read(f"0 0x438 {words}") for words in self.state.content.get(f"array:{OLD}", ())
            )
            content = tuple(words.split()[0] for words in self.state.content.get(f"array:{OLD}", ()))
            blocks.append(BlockFact("md127", f"array:{OLD}", "/dev/md127", "array", 900 * GIB, 0, ("d0", "d1"), (), found, content, "clean"))  # fmt: skip
        known = {block.identity for block in blocks} | set(MEMBERS)
        for number, (name, carried) in enumerate(self.state.content.items()):
            if carried and name not in known and name != f"array:{OLD}":
                node = f"/dev/new{number}"
                kind, found = name.partition(":")[0], _found(self.state, name)
                blocks.append(BlockFact(f"new{number}", name, node, kind, GIB, below=("d0",), found=found))
        return replace(machine, blocks=(*machine.blocks, *blocks))

    def zero(self, device: str, action: Zero, tell: Callable[[float], None]) -> None:
        identity = self._identity(device)

        def act() -> None:
            self.state.others.given([device])
            new = [one for one in self.state.content.get(identity, ()) if action.found is not None and not any(one in str(line) for line in action.found)]  # fmt: skip
            assert not new, f"{device} carries {new}, which nobody was asked about"
            assert identity not in self.state.foreign
            held = device in ("/dev/d0", "/dev/d1") and OLD in self.state.objects.get("array", {})
            assert not held, "a member of a running array is never written to"
            self._blank(identity)

        self.effect("zero", device, act)

    def _do(self, argv: tuple[str, ...]) -> None:
        if argv[0] == "udevadm" and argv[1] in ("control", "trigger") and HOLD not in argv:
            known = {" ".join(self._argv(step)) for step in self.plan.steps if hasattr(step.action, "argv")}
            if " ".join(argv) not in known:
                return
        super()._do(argv)

    def _identity(self, node: str) -> str:
        return f"array:{OLD}" if node == "/dev/md127" else super()._identity(node)


class Full(Old):
    """Every place on the disks is read: the superblock says how many members the array has, and between the ends lie old bytes."""

    begins = 7 * GIB

    def read(self, plan: Plan) -> Machine:
        found = super().read(plan)
        tables = self.state.objects.get("table", {})
        whole = (disk.node in NODES or f"{{{disk.kernel_name}}}" in tables for disk in found.disks)
        disks = [
            disk if has else replace(disk, traces=self._traces(f"{{{disk.kernel_name}}}"))
            for disk, has in zip(found.disks, whole, strict=True)
        ]
        return replace(found, disks=tuple(disks))

    def _traces(self, identity: str) -> tuple[Trace, ...]:
        if not self.state.content.get(identity):
            return (Trace(self.begins, "data", 0, TB),)
        return (Trace(4096, "linux_raid_member", 0, TB, "", OLD, "old:data", "raid1 of 2, metadata 1.2", 2),)


def _found(state: State, identity: str) -> tuple[SignatureAt, ...]:
    return tuple(SignatureAt.read(f"0 0x1000 {words}") for words in state.content.get(identity, ()))


def machine(root: Path) -> State:
    (root / "etc").mkdir(parents=True)
    (root / "etc/fstab").write_text("UUID=1 / ext4 defaults 0 1\n")
    members = [f"{{d{n}}}" for n in (0, 1)]
    return State(
        objects={
            "array": {OLD: {"name": "old:data", "members": members, "node": "/dev/md127", "level": "raid1"}}
        },
        content={
            **{member: [f"linux_raid_member {OLD}"] for member in members},
            f"array:{OLD}": ["ext4 photos"],
        },
    )


def apply(plan: Plan, world: Simulated, agreed: set[str]) -> str:
    """As the command does it, with a person who says yes to what was on the first list, and to nothing else."""
    folder = world.root / "var/lib/raidplan"
    decision = decide(plan, world.read(plan), read_past(folder), here=False)
    if decision.refusals:
        return "; ".join(sentences(decision.refusals))
    assert set(loss_texts(decision.left.lost)) <= agreed, set(loss_texts(decision.left.lost)) - agreed
    if not decision.left.steps:
        return "nothing to do"
    outcome = carry_out(decision, open_journal(folder, world), lambda event: None, workers=1)
    if not outcome.complete:
        return "stopped: " + "; ".join(failures(outcome).values())
    return "done" if not outcome.unproven else "; ".join(sentences(outcome.unproven))


def end(world: Simulated) -> object:
    state = world.state
    fstab = (world.root / "etc/fstab").read_text()
    return deepcopy((state.objects, state.content, fstab, state.unfinished, state.others.hashes()))


def undisturbed(plan: Plan, world: Old) -> tuple[object, set[str]]:
    agreed = set(
        loss_texts(decide(plan, world.read(plan), read_past(world.root / "none"), here=False).left.lost)
    )
    assert len(agreed) == 4, agreed
    assert apply(plan, world, agreed) == "done"
    assert not world.path(HOLD).exists()
    assert world.state.others.hashes() == Others().hashes()
    assert "/dev/md127" not in {found.get("node") for found in world.state.objects["array"].values()}
    wanted = end(world)
    again = Old(plan, world.root, world.state)
    assert apply(plan, again, set()) == "nothing to do" and not again.effects
    return wanted, agreed
