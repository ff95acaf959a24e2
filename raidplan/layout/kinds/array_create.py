"""The command that creates an md array, everything in it spelled out, and what is read back of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from raidplan.base.identity import md_form
from raidplan.base.levels import LEVELS
from raidplan.base.size import KIB
from raidplan.geometry.md import ArrayGeometry
from raidplan.layout.kinds.device import Device, Site
from raidplan.layout.kinds.naming import device_node, identity, stored_name
from raidplan.plan.step import Value


class Wanted(Protocol):
    """A layout's wishes for the array to make, and their consequences; the words are mdadm's."""

    @property
    def level(self) -> str: ...
    @property
    def metadata(self) -> str: ...
    @property
    def named_members(self) -> Sequence[str]: ...
    @property
    def spares(self) -> Sequence[str]: ...
    @property
    def journal(self) -> str | None: ...
    @property
    def layout(self) -> str | None: ...
    @property
    def effective_chunk(self) -> int | None: ...
    @property
    def effective_layout(self) -> str | None: ...
    @property
    def policy(self) -> str: ...
    @property
    def initial_sync(self) -> str: ...
    @property
    def held(self) -> bool: ...


def create_argv(
    array: Wanted, name: str, site: Site, parts: list[Device], geometry: ArrayGeometry
) -> tuple[str, ...]:
    """Everything that mdadm would choose by itself is written out, for mdadm 4.2 to 4.6."""
    level, count, spares = LEVELS[array.level], len(array.named_members), len(array.spares)
    argv = [
        "mdadm",
        "--create",
        device_node(name),
        "--run",
        "--quiet",
        *(["--readonly"] if array.held else []),
    ]
    argv += [f"--metadata={array.metadata}", f"--homehost={site.host}", f"--name={name}"]
    argv += [
        f"--uuid={md_form(site.devices[name].uuid)}",
        f"--level={array.level}",
        f"--raid-devices={count}",
    ]
    if spares:
        argv += [f"--spare-devices={spares}"]
    if level.chunked:
        argv += [f"--chunk={(array.effective_chunk or 0) // KIB}K"]
    if array.effective_layout and (not level.zoned or geometry.zones > 1):
        argv += [f"--layout={array.effective_layout}"]
    if level.redundant:
        argv += _policy_argv(array)
    if level.force:
        # All members active and parity computed: what is written is redundant at once, not after a rebuild.
        argv += ["--force"]
    if level.redundant:
        # On members of different sizes mdadm would zero up to beyond their end, and give up.
        argv += {"zero": ["--write-zeroes"], "assume-clean": ["--assume-clean"]}.get(array.initial_sync, [])
    argv += [part.node for part in parts[: count + spares]]
    # After the members: mdadm takes the data offset from the first device of the command line.
    return (*argv, *((f"--write-journal={parts[-1].node}",) if array.journal else ()))


def _policy_argv(array: Wanted) -> list[str]:
    if array.policy == "journal":
        # Bitmap none is said because mdadm 4.2 adds one above 100 GiB, which a journal excludes.
        return ["--bitmap=none"]
    bitmap = "internal" if array.policy == "bitmap" else "none"
    return [f"--bitmap={bitmap}", f"--consistency-policy={array.policy}"]


def made(
    array: Wanted, name: str, site: Site, parts: list[Device], geometry: ArrayGeometry
) -> dict[str, Value]:
    """The properties to read back."""
    count, spares = len(array.named_members), len(array.spares)
    expect: dict[str, Value] = {
        "level": array.level,
        "metadata": array.metadata,
        "members": [identity(part) for part in parts[:count]],
        "spares": sorted(identity(part) for part in parts[count : count + spares]),
        "size": geometry.size_bytes,
    }
    if array.metadata != "0.90":
        expect["name"] = stored_name(site.host, name)
    if array.effective_chunk:
        expect["chunk"] = array.effective_chunk
    # A RAID0 reads back right by either layout, which its superblock tells; earlier versions named none.
    if array.effective_layout and (not LEVELS[array.level].zoned or (array.layout and geometry.zones > 1)):
        expect["layout"] = array.effective_layout
    if LEVELS[array.level].redundant:
        # Created so (above): a member that is being rebuilt has its slot as well, and shows in this alone.
        expect |= {"component": geometry.used_bytes, "consistency": array.policy, "degraded": 0}
    if array.journal:
        expect["journal"] = identity(parts[-1])
    return expect
