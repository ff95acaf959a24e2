"""The sizes that makers record on the devices of a plan: of a btrfs, a swap area and a physical volume."""

from __future__ import annotations

from raidplan.base.size import KIB
from raidplan.plan.step import Plan, Proof, Value

PAGE = 4 * KIB


def filled(plan: Plan, made: Proof) -> dict[str, Value]:
    """The properties with the size of what was made; none for other objects, and where the plan has no size of the device."""
    device = str(made.expect.get("device"))
    proofs = [step.proof for step in plan.complete.steps if step.proof]
    size = _size(plan, proofs, device)
    if made.kind == "filesystem" and made.expect["type"] == "btrfs" and size:
        return {"block": PAGE, "blocks": size // PAGE}
    if made.kind == "swap" and made.key != device and size:
        return {"page": PAGE, "size": size // PAGE * PAGE}
    if made.kind == "physical_volume" and size:
        groups = (each for each in proofs if each.kind == "volume_group" and device in each.expect["devices"])  # type: ignore[operator]
        group = next(groups)
        extents = (size - int(str(made.expect["data_start"]))) // int(str(group.expect["extent"]))
        return {"group": group.key, "extents": extents}
    return {}


def _size(plan: Plan, proofs: list[Proof], device: str) -> int:
    """The bytes of a device by its identity; 0 if it is none of the plan's."""
    for disk in plan.disks:
        if device == f"{{{disk.name}}}":
            return disk.size
    for proof in proofs:
        for row in proof.partitions:
            if row.identity == device:
                return row.size
        if device == str(proof.identity) and proof.kind in ("array", "volume"):
            return int(str(proof.expect["size"]))
        if proof.kind == "encryption" and device == f"mapping:{proof.key}" and "data_offset" in proof.expect:
            below = _size(plan, proofs, str(proof.expect["device"]))
            return below - int(str(proof.expect["data_offset"]))
    return 0
