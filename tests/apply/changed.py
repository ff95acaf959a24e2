"""What tools do to what stands already, on the machine in memory: of themselves, and not of what a plan says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.apply.simulated import Simulated

ATIME = ("noatime", "relatime", "strictatime")


def changed(machine: Simulated, argv: tuple[str, ...]) -> bool:
    """Does what a command that changes something in place does; False if it is none of them."""
    match argv:
        case ("e2label", node, label) | ("btrfs", "filesystem", "label", node, label):
            _on(machine, "filesystem", node)["label"] = label
        case ("xfs_admin", "-L", label, node):
            found = _on(machine, "filesystem", node)
            assert all(mount["source"] != found["device"] for mount in _objects(machine, "mount").values())
            found["label"] = "" if label == "--" else label
        case ("swaplabel", "--label", label, node):
            _on(machine, "swap", node)["label"] = label
        case ("tune2fs", "-r", blocks, node):
            _on(machine, "filesystem", node)["reserved_blocks"] = int(blocks)
        case ("swapoff", node):
            area = _objects(machine, "swap").get(f"file:{node}") or _on(machine, "swap", node)
            assert area["active"]
            area |= {"active": False}
            area.pop("priority", None)
        case ("mount", "--options-source=disable", "-o", options, point):
            remount(_objects(machine, "mount")[point], options.split(","))
        case ("lvchange", "--activate", "y", volume):
            _objects(machine, "volume")[volume]["active"] = True
            machine.state.nodes.add(f"/dev/{volume}")
        case ("lvchange", read_ahead, volume):
            words = read_ahead.partition("=")[2]
            _objects(machine, "volume")[volume]["read_ahead"] = (
                words if words == "auto" else int(words.rstrip("s")) * 512
            )
        case ("mdadm", "--manage", node, "--add-spare", device):
            half_changed(machine, argv)
            array = _array(machine, node)
            array["spares"] = sorted([*array["spares"], machine._identity(device)])
        case ("mdadm", "--manage", node, "--remove", device):
            _array(machine, node)["spares"].remove(machine._identity(device))
        case ("mdadm", node, "--add", *devices):
            array, identities = _array(machine, node), [machine._identity(device) for device in devices]
            for identity in identities:
                assert not machine.state.content.get(identity) and identity not in array["members"]
                machine.state.content[identity] = [_carried(machine, node)]
            _filled(machine, array, identities)
        case ("mdadm", "--grow", option, node):
            words = {"--bitmap=internal": ("resync", "bitmap"), "--bitmap=none": ("bitmap", "resync")}
            array = _array(machine, node)
            assert array["consistency"] == words[option][0]
            array["consistency"] = words[option][1]
        case ("mdadm", "--assemble", node, uuid, *members):
            step = next(each for each in machine.plan.steps if node in each.awaits)
            assert step.proof and uuid == f"--uuid={_colons(step.proof.key)}" and tuple(members) == step.guard
            machine._object(step.proof)
            # md holds no sync of an array that is assembled.
            _objects(machine, "array")[step.proof.key] |= {"node": node, "sync_held": False}
            machine.state.nodes.add(node)
        case _:
            return False
    return True


def _colons(uuid: str) -> str:
    digits = uuid.replace("-", "")
    return ":".join(digits[at : at + 8] for at in (0, 8, 16, 24))


def _carried(machine: Simulated, node: str) -> str:
    return f"linux_raid_member {machine.array(node)}"


def _filled(machine: Simulated, array: Any, identities: list[str]) -> None:
    """md gives them the empty slots, in their order, and begins to rebuild."""
    uuid = next(key for key, found in _objects(machine, "array").items() if found is array)
    proofs = (step.proof for step in machine.plan.steps if step.creates)
    planned = next(proof.expect["members"] for proof in proofs if proof and proof.key == uuid)
    assert isinstance(planned, list)
    for slot, identity in enumerate(planned):
        if identity in identities:
            assert array["members"][slot] == "missing"
            array["members"][slot] = identity
    array |= {"sync_action": "recover", "sync_held": False}


def let_go(machine: Simulated) -> None:
    """An array that is held no more begins to rebuild what waits in it."""
    for array in _objects(machine, "array").values():
        if array.get("sync_action") == "frozen" and not array.get("sync_held"):
            waiting = array.pop("waiting", [])
            array["spares"] = [each for each in array["spares"] if each not in waiting]
            _filled(machine, array, waiting) if waiting else array.update(sync_action="idle")


def rebuilt(machine: Simulated) -> None:
    """All members are in sync."""
    for array in _objects(machine, "array").values():
        if array.get("sync_action") == "recover":
            array |= {"sync_action": "idle", "degraded": 0}


def half_changed(machine: Simulated, argv: tuple[str, ...]) -> None:
    """What is left where a command was killed half-way."""
    match argv:
        case ("mdadm", "--manage", node, "--add-spare", device):
            machine.state.content[machine._identity(device)] = [_carried(machine, node)]
        case ("mdadm", node, "--add", device, *_):
            # A superblock without a place in the array, or with one; and mdadm holds the array meanwhile.
            identity, array = machine._identity(device), _array(machine, node)
            machine.state.content[identity] = [_carried(machine, node)]
            array |= {"sync_action": "frozen", "sync_held": True}
            if machine.takes_half:
                array |= {"spares": sorted([*array["spares"], identity]), "waiting": [identity]}


def _array(machine: Simulated, node: str) -> Any:
    return _objects(machine, "array")[machine.array(node)]


def _objects(machine: Simulated, kind: str) -> dict[str, Any]:
    return machine.state.objects.setdefault(kind, {})


def _on(machine: Simulated, kind: str, node: str) -> Any:
    """The object on a device, or mounted at a point."""
    device = _objects(machine, "mount").get(node, {}).get("source") or machine._identity(node)
    return next(found for found in _objects(machine, kind).values() if found.get("device") == device)


def remount(mount: Any, words: list[str]) -> None:
    """As the kernel does: what is not named stays (path_mount in fs/namespace.c)."""
    assert words[0] == "remount"
    found = set(mount["flags"])
    for word in words[1:]:
        if word in ATIME:
            found = (found - {*ATIME}) | ({word} - {"strictatime"})
        elif word in ("nosuid", "nodev", "noexec", "nodiratime", "ro"):
            found.add(word)
        else:
            found.discard({"rw": "ro"}.get(word, f"no{word}"))
    mount["flags"] = sorted(found)
