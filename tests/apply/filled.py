"""The sizes that makers record on the devices of a plan: of a btrfs, a swap area and a physical volume."""

from __future__ import annotations

from raidplan.base.size import KIB
from raidplan.plan.step import Plan, Proof, Value

PAGE = 4 * KIB


def fill(objects: dict[str, dict[str, dict[str, Value]]], plan: Plan, made: Proof) -> None:
    """Records the size on what was made, if the plan has the size of the device, and the group on its physical volumes."""
    device = str(made.expect.get("device"))
    size = _size(plan, device)
    if made.kind == "filesystem" and made.expect["type"] == "btrfs" and size:
        objects["filesystem"][made.key] |= {"block": PAGE, "blocks": size // PAGE}
    if made.kind == "swap" and made.key != device and size:
        objects["swap"][made.key] |= {"page": PAGE, "size": size // PAGE * PAGE}
    if made.kind == "volume_group":
        for found in objects.get("physical_volume", {}).values():
            if found["device"] in made.expect["devices"]:  # type: ignore[operator]
                room = _size(plan, str(found["device"])) - int(str(found["data_start"]))
                found |= {"group": made.key, "extents": room // int(str(made.expect["extent"]))}


def _size(plan: Plan, device: str) -> int:
    """The bytes of a device by its identity; 0 if it is none of the plan's."""
    for disk in plan.disks:
        if device == f"{{{disk.name}}}":
            return disk.size
    for proof in (step.proof for step in plan.complete.steps if step.proof):
        for row in proof.partitions:
            if row.identity == device:
                return row.size
        if device == str(proof.identity) and proof.kind in ("array", "volume"):
            return int(str(proof.expect["size"]))
        if proof.kind == "encryption" and device == f"mapping:{proof.key}" and "data_offset" in proof.expect:
            below = _size(plan, str(proof.expect["device"]))
            return below - int(str(proof.expect["data_offset"]))
    return 0
