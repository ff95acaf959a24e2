"""A machine in memory that `apply` works on: its tools do what the plan says of them, die half-way, or lie.

It knows what no real machine tells: whether an object was ever finished. A file system that mkfs was killed
in looks whole here, as it can on a disk.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from raidplan.apply.change.obsolete import set_by
from raidplan.apply.journal.step_fingerprints import disks_below
from raidplan.apply.reading import paths_of, swap_files_of
from raidplan.apply.world import World
from raidplan.base.figures import Figures
from raidplan.base.identity import md_form
from raidplan.base.reader import Reader
from raidplan.base.size import MIB
from raidplan.facts import DiskFact, Machine
from raidplan.facts.host import NAMES, read_files, read_paths, read_system, versions
from raidplan.facts.run import Result
from raidplan.facts.uses import Use, use
from raidplan.plan.places import CRYPTTAB, INITRAMFS_ASIDE, UDEV_RULES
from raidplan.plan.step import Plan, Proof, RenewInitramfs, Run, SetAttribute, Step, Zero
from tests.apply.changed import changed, half_changed, let_go
from tests.apply.filled import fill
from tests.apply.others import Others
from tests.initramfs import cpio

T = TypeVar("T")
CARRIED = {"table": ["PMBR", "gpt"], "array": ["linux_raid_member {}"], "filesystem": ["ext4 {}"], "swap": ["swap {}"],
           "physical_volume": ["LVM2_member {}"], "encryption": ["crypto_LUKS {}"]}  # fmt: skip
"""What wipefs shows of each kind of object on the devices that it stands on."""
SWITCHED = {"enable": "enabled", "disable": "disabled", "mask": "masked"}
"""What `systemctl is-enabled` says after each verb."""

BOOKWORM = {
    "mdadm": "4.2", "sfdisk": "2.38.1", "mke2fs": "1.47.0", "mkfs.xfs": "6.1.0", "mkfs.btrfs": "6.2", "mkfs.vfat": "4.2", "mkfs.f2fs": "1.15.0",
    "pvcreate": "2.03.16", "cryptsetup": "2.6.1", "udevadm": "252", "mkinitramfs": "",
}  # fmt: skip
TOOLS = {
    tool: {"path": f"/usr/sbin/{tool}", "version": BOOKWORM[tools[0]]}
    for tools in versions().values()
    if tools[0] in BOOKWORM
    for tool in tools
}
"""The programs of Debian 12 and their versions."""


SECRET = b"a passphrase that nobody may find"


class AtOnce(Executor):
    """One worker that works in the thread of who asks, so that thousands of runs start no thread."""

    def submit(self, do: Callable[..., T], /, *given: Any, **named: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(do(*given, **named))
        except BaseException as error:
            future.set_exception(error)
        return future


class Killed(BaseException):
    """The process is dead; nothing of it goes on."""


@dataclass
class State:
    """What outlives the process."""

    objects: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    content: dict[str, list[str]] = field(default_factory=dict)
    nodes: set[str] = field(default_factory=set)
    unfinished: set[str] = field(default_factory=set)
    stains: dict[str, str] = field(default_factory=dict)
    """By device: bytes that no tool recognises, in words."""
    attributes: dict[str, str] = field(default_factory=dict)
    """By file of sysfs: what was written into it last."""
    writers: dict[str, Figures] = field(default_factory=dict)
    """By device: the process that has it open for writing, in words."""
    foreign: frozenset[str] = frozenset()
    """Devices of the plan that became somebody's, and that nobody may touch."""
    others: Others = field(default_factory=Others)
    """Disks that are not in the plan."""


class Simulated(World):
    """One process on the machine; `die` is asked before (True) and after (False) each numbered effect."""

    def __init__(
        self,
        plan: Plan,
        root: Path,
        state: State,
        die: tuple[int, str] = (0, ""),
        lie: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(target=plan.target)
        self.plan, self.root, self.state = plan, root, state
        self.at, self.how = die
        self.lie = lie or {}
        self.effects: list[tuple[str, str]] = []
        self.dead = False
        self.takes_half = False
        """mdadm that is killed while it adds a member has given it to the array already."""
        self.watch: Callable[[str, str, str], None] = lambda when, kind, what: None
        """Is told of every effect, before and after it: when, of which kind, what."""
        self.executed: list[str] = []
        self.passphrases = {step.action.key: SECRET for step in plan.steps if isinstance(step.action, Run)}
        self.looked_at: tuple[set[str], int] = (set(), 0)
        """What udev looked at last, and after how many effects."""

    # the doors

    def effect(self, kind: str, what: str, act: Callable[[], T]) -> T:
        if self.dead:
            raise Killed
        self.effects.append((kind, what))
        mine = len(self.effects) == self.at
        self.watch("before", kind, what)
        if mine and self.how == "before":
            self._die()
        if mine and self.how == "during" and kind == "run":
            self._half(what)
            self._die()
        result = None if kind == "sync" else act()
        if mine and self.how == "during" and what.endswith("/journal") and kind == "write":
            os.truncate(what, max(0, os.path.getsize(what) - 5))  # the last line is torn
        if mine and self.how != "before":
            self._die()
        self.watch("after", kind, what)
        return result  # type: ignore[return-value]

    def _die(self) -> None:
        self.dead = True
        raise Killed

    def read(self, plan: Plan) -> Machine:
        objects: dict[str, Any] = deepcopy(self.state.objects)
        objects["content"] = {name: {"carries": list(words)} for name, words in self.state.content.items()}
        for name, words in self.state.stains.items():
            objects["content"].setdefault(name, {"carries": []})["stain"] = words
        objects["module"] = {
            name: {"loaded": name in self.state.nodes, "loadable": True} for name in plan.modules
        }
        objects["tool"] = TOOLS
        objects |= read_paths(self.path("/"), paths_of(plan.complete))
        objects["file"] = {**objects["file"], **read_files(self.root, swap_files_of(plan.complete))}
        if self.target:
            objects["system"] = read_system(self.path("/"))
        for key in objects.get("directory", {}):
            objects["directory"][key] = {"exists": True}
        if not self.target or any(self.path("/boot").glob("initrd.img-*")):
            fresh = self._initramfs_is_new()
            crypttab = file.read_text() if (file := self.path(CRYPTTAB)).exists() and fresh else ""
            opened = {
                f"opens {line.split()[1][5:]}": True for line in crypttab.splitlines() if "UUID=" in line
            }
            volumes = {"volumes": True} if fresh and "usr/sbin/lvm" in self._copies() else {}
            objects["initramfs"] = {"current": {"fresh": fresh, **opened, **volumes}}
        disks = tuple(
            DiskFact(f"/dev/{d.name}", d.name, d.size, serial=d.serial, wwn=d.wwn, path=d.path, model=d.model,
                     logical_block=d.logical_block, instance="1",
                     signatures=tuple(self.state.content.get(f"{{{d.name}}}", ())))
            for d in plan.disks
        )  # fmt: skip
        machine = Machine(disks, objects, memory_bytes=2**40, is_root=True, kernel="6.1")
        return self.state.others.beside(machine, plan.disks[0] if plan.disks else None)

    def unit(self, name: str) -> str:
        untouched = "static" if "@" in name else "disabled"
        return str(self.state.objects.get("unit", {}).get(name, {}).get("enabled", untouched))

    def not_blank(self, *devices: str, everywhere: bool) -> list[Use]:
        return [found for device in devices for found in self._not_blank(device, everywhere)]

    def _not_blank(self, device: str, everywhere: bool) -> list[Use]:
        if device.startswith("/dev/"):
            identity = self._identity(device)
            if carried := self.state.content.get(identity, []):
                return [use("carries", device, content=word) for word in carried]
            writer = self.state.writers.get(identity, {}) if everywhere else {}
            return [use("written", device, **writer)] if writer else []
        return [use("exists", device)] if self.path(device).exists() else []

    def exists(self, node: str) -> bool:
        return node in self.state.nodes

    def is_block(self, node: str) -> bool:
        return self.exists(node)

    def instance(self, node: str) -> tuple[str, int]:
        return "1", next(disk.size for disk in self.plan.disks if node == f"/dev/{disk.name}")

    def other_partition(self, node: str) -> Use | None:
        return None

    def disks_below(self, node: str) -> frozenset[str]:
        return self._below_nodes.get(node, frozenset())

    @cached_property
    def _below_nodes(self) -> dict[str, frozenset[str]]:
        below = disks_below(self.plan)
        return {node: below[step.id] for step in reversed(self.plan.steps) for node in step.awaits}

    def array(self, node: str) -> str:
        found, name = self.state.objects.get("array", {}), node.removeprefix("/dev/md/")
        running = (
            uuid for uuid, each in found.items() if each.get("node") == node or name in each.get("links", ())
        )
        return next(running, "")

    def look_again(self, *nodes: str, settle: bool = False) -> None:
        if settle:
            self.looked_at = {*nodes}, len(self.effects)

    def hold(self, node: str) -> int:
        return os.open("/dev/null", os.O_RDONLY)

    hold_partitions = hold

    def bytes_at(self, node: str, start: int, size: int) -> bytes:
        return b""

    def written(self, node: str) -> tuple[Reader, int]:
        return partial(self.bytes_at, node), MIB

    def attribute(self, file: str) -> str:
        return self.state.attributes.get(file, "")

    def path(self, file: str) -> Path:
        return self.root / str(super().path(file)).lstrip("/")

    def run(self, argv: Sequence[str], stdin: str | bytes = "") -> Result:
        line = " ".join(argv)

        def act() -> Result:
            lie = self.lie.get(line, "")
            if "of=/" not in line and any(
                word.startswith("/swapfile") and not self.path(word).exists() for word in argv
            ):
                return Result(tuple(argv), 1, "", "No such file or directory")
            if lie == "cut off":
                self._half(line)
            elif lie != "no effect":
                self._do(tuple(argv))
            code = {"failed after all": 1, "cut off": -9}.get(lie, 0)
            return Result(tuple(argv), code, "", "a lie" if lie else "")

        self.executed.append(line)
        return self.effect("run", line, act)

    def zero(self, device: str, action: Zero, tell: Callable[[float], None]) -> None:
        identity = self._identity(device)
        assert identity not in self.state.foreign
        self.state.others.given([device])
        self.effect("zero", device, lambda: self._blank(identity))

    def set_attribute(self, file: str, content: str) -> None:
        def act() -> None:
            self.state.others.given([file])
            self.state.attributes[file] = content
            for step in self.plan.steps:
                if step.action == SetAttribute(file, content) and step.proof:
                    self._object(step.proof)
            if content == "idle":
                held = self.array(file.partition("{")[2].partition("}")[0])
                for uuid, array in self.state.objects.get("array", {}).items():
                    array["sync_held"] = array.get("sync_held", False) and uuid != held
                let_go(self)

        self.effect("set", file, act)

    # what the tools do

    def _do(self, argv: tuple[str, ...]) -> None:
        self.state.others.given(argv)
        assert not self.state.foreign & {self._identity(word) for word in argv}, (
            f"{argv} writes to what is foreign"
        )
        match argv:
            case ("mdadm", "--stop", node):
                arrays = self.state.objects.get("array", {})
                for key in [key for key, found in arrays.items() if found["node"] == node]:
                    del arrays[key]
            case ("unshare", "--mount", "--propagation=private", "sh", "-c", _, "sh", self.target, *inside):
                self._do(tuple(inside))
            case ("systemctl", root, *words) if root == f"--root={self.target}":
                self._do(("systemctl", *words))
            case ("mkinitramfs", "-o", file, _):
                self.path(file).write_bytes(self._image())
            case ("run-parts", kernel, image, _):
                copy = self.path(f"/efi/{kernel.removeprefix('--arg=')}")
                copy.write_bytes(self.path(image.removeprefix("--arg=")).read_bytes())
            case ("systemctl", "enable" | "disable" | "mask" | "unmask" as verb, *words):
                for unit in words:
                    if not unit.startswith("-"):
                        units = self.state.objects.setdefault("unit", {})
                        units[unit] = {"enabled": SWITCHED.get(verb, "static")}
            case ("systemctl", "--no-block" | "daemon-reload", *_) | ("udevadm", "control", _):
                pass  # it reads once more what was written
            case ("rm", "--force", file):
                self.path(file).unlink(missing_ok=True)
                self.state.objects.get("swap", {}).pop(f"file:{file}", None)
            case ("udevadm", "trigger", *_, "--name-match", node) if node in self._arrays_by_node():
                self._names(self._arrays_by_node()[node])
            case ("udevadm", "trigger", *_) if (tuned := self._tuned_by(argv)) is not None:
                rules = self.path(UDEV_RULES.format(host=self.plan.host))
                tuning = self.state.objects.setdefault("tuning", {}).setdefault(tuned, {})
                tuning |= set_by(rules.read_text() if rules.exists() else "", tuned)
            case _ if not changed(self, argv):
                self._perform(self._step(argv))

    def _arrays_by_node(self) -> dict[str, str]:
        return {found["node"]: uuid for uuid, found in self.state.objects.get("array", {}).items()}

    def _names(self, uuid: str) -> None:
        """What udev's rules add to an array: the link with its name."""
        file, found = self.path(NAMES), self.state.objects["array"][uuid]
        rules = file.read_text() if file.exists() else ""
        for name in re.findall(rf'ENV{{MD_UUID}}=="{md_form(uuid)}", SYMLINK\+="md/(.*)"', rules):
            found["links"] = sorted({*found.get("links", ()), name})
            self.state.nodes.add(f"/dev/md/{name}")

    def _image(self) -> bytes:
        return cpio(self._copies())

    def _copies(self) -> dict[str, bytes]:
        """The files of an initramfs: mdadm.conf as it is now, if there is one, the rules of udev, and what opens / and /usr."""
        conf = file.read_bytes() if (file := self.path("/etc/mdadm/mdadm.conf")).exists() else b""
        rules = sorted(self.path("/etc/udev/rules.d").glob("*.rules"))
        copies = {f"usr/lib/udev/rules.d/{file.name}": file.read_bytes() for file in rules}
        renewals = [step.action for step in self.plan.steps if isinstance(step.action, RenewInitramfs)]
        if any(each.volumes for each in renewals):
            copies["usr/sbin/lvm"] = b"lvm"
        if any(each.encrypted for each in renewals) and (file := self.path(CRYPTTAB)).exists():
            copies["cryptroot/crypttab"] = file.read_bytes()
        return {"etc/mdadm/mdadm.conf": conf, **copies}

    def _initramfs_is_new(self) -> bool:
        boot = self.path("/boot")
        if not self.path("/etc/mdadm/mdadm.conf").exists() or self.path(INITRAMFS_ASIDE).exists():
            return False
        return all(image.read_bytes() == self._image() for image in boot.glob("initrd.img-?.?"))

    def _step(self, argv: tuple[str, ...]) -> Step:
        step = self._step_or_none(argv)
        assert step is not None, f"{argv} is of no step"
        return step

    def _step_or_none(self, argv: tuple[str, ...]) -> Step | None:
        steps = (step for step in self.plan.steps if isinstance(step.action, Run))
        return next((step for step in steps if self._argv(step) == argv), None)

    def _tuned_by(self, argv: tuple[str, ...]) -> str | None:
        step = self._step_or_none(argv)
        return step.proof.key if step and step.proof and step.proof.kind == "tuning" else None

    def _argv(self, step: Step) -> tuple[str, ...]:
        assert isinstance(step.action, Run)
        return tuple(f"/dev/{word[1:-1]}" if word.startswith("{") else word for word in step.action.argv)

    def _perform(self, step: Step) -> None:
        if step.proof and step.proof.kind == "volume":
            assert step.proof.key not in self.state.objects.get("volume", {}), (
                "lvcreate refuses a name that is taken"
            )
        foreign = self.state.foreign & {self._identity(target) for target in step.guard}
        assert not foreign, f"{step.id} writes to {foreign}"
        self.state.nodes |= set(step.awaits)
        if step.proof is None:
            return
        self._object(step.proof)
        if step.creates or step.proof.kind == "volume_group":
            fill(self.state.objects, self.plan, step.proof)
        self.state.unfinished.discard(f"{step.proof.kind}:{step.proof.key}")
        words = CARRIED.get(step.proof.kind, []) if step.creates else []
        for target in step.guard:
            if target.startswith(("{", "/dev/")):
                self.state.content[self._identity(target)] = [word.format(step.proof.key) for word in words]
        if step.proof.kind == "directory" or (step.proof.key.startswith("file:") and step.creates):
            path = self.path(step.proof.key.removeprefix("file:"))
            path.mkdir(parents=True, exist_ok=True) if step.proof.kind == "directory" else _file(path)
        if step.proof.kind == "module":
            self.state.nodes.add(step.proof.key)
        if step.proof.kind == "array":
            self.state.objects["array"][step.proof.key]["node"] = step.awaits[0]
        if step.proof.kind == "filesystem" and step.creates:
            self.state.objects["filesystem"][step.proof.key]["untouched"] = True
        if step.proof.kind == "mount":
            for found in self.state.objects.get("filesystem", {}).values():
                if found.get("device") == step.proof.expect.get("source"):
                    found["untouched"] = False

    def _half(self, line: str) -> None:
        """The tool was killed in the middle: what it made looks whole and is not."""
        half_changed(self, tuple(line.split(" ")))
        if line.startswith("mkinitramfs "):
            self.path(line.split()[2]).write_bytes(b"half")
        step = next(
            (s for s in self.plan.steps if isinstance(s.action, Run) and " ".join(self._argv(s)) == line),
            None,
        )
        if step is not None and step.creates and step.proof:
            self._perform(step)
            self.state.unfinished.add(f"{step.proof.kind}:{step.proof.key}")
            if step.proof.kind == "array":
                # superblocks on the first member only, and nothing runs
                del self.state.objects["array"][step.proof.key]
                for target in step.guard[1:]:
                    self._blank(self._identity(target))
        if step is not None and step.proof and step.proof.kind == "volume":
            # in the metadata of its group, and in nothing of the kernel
            self._object(step.proof)
            self.state.objects["volume"][step.proof.key]["active"] = False

    def _object(self, proof: Proof) -> None:
        of_kind = self.state.objects.setdefault(proof.kind, {})
        of_kind.setdefault(proof.key, {}).update({key: _real(value) for key, value in proof.expect.items()})

    def _blank(self, identity: str) -> None:
        self.state.content.pop(identity, None)
        for of_kind in self.state.objects.values():
            for key in [
                key for key, found in of_kind.items() if identity in (found.get("device"), found.get("disk"))
            ]:
                del of_kind[key]

    def _identity(self, node: str) -> str:
        """A device as the machine's facts name it; disks by their name in the plan, as after `named`."""
        if node.startswith("{"):
            return node
        if node.startswith("/dev/disk/by-partuuid/"):
            return f"partition:{node.rpartition('/')[2]}"
        for step in self.plan.steps:
            if step.proof and node in step.awaits and step.proof.kind in ("array", "mapping", "volume"):
                return f"{step.proof.kind}:{step.proof.key}"
        return f"{{{node.removeprefix('/dev/')}}}"


def _real(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else value


def _file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
