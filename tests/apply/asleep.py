"""Arrays that do not run: as a boot, a rescue system or a person leaves them in a machine in memory."""

from __future__ import annotations

from typing import Any

from tests.apply.simulated import State

OUT_OF_SIGHT = ("filesystem", "swap", "mount", "tuning")


def not_started(state: State, name: str) -> dict[str, Any]:
    """The array as mdadm leaves it, when one of its superblocks is behind: all are spares, and it has neither level nor size."""
    uuid, found = next((u, f) for u, f in state.objects["array"].items() if f["name"] == f"pair:{name}")
    state.objects["array"][uuid] = found = {
        "name": found["name"], "node": f"/dev/md_{name}", "device": f"md_{name}", "links": [], "state": "inactive",
        "level": "", "size": 0, "members": [], "spares": [*found["members"]],
    }  # fmt: skip
    for kind in OUT_OF_SIGHT:
        state.objects[kind] = {
            key: each
            for key, each in state.objects.get(kind, {}).items()
            if f"array:{uuid}" not in (each.get("device"), each.get("source")) and key != uuid
        }
    state.content.pop(f"array:{uuid}", None)
    return found


def not_assembled(state: State, name: str) -> dict[str, Any]:
    """The array as a rescue system leaves it, or a person who stopped it: superblocks on its members, and nothing else."""
    found = not_started(state, name)
    state.objects["array"] = {key: each for key, each in state.objects["array"].items() if each is not found}
    return found


def wiping(data: dict[str, Any]) -> None:
    data["hardware"]["disks"]["d<0-3>"]["wipe"] = True


def unchanged(data: dict[str, Any]) -> None:
    pass
