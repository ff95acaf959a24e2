"""The step that writes the script which gives every place the boot loader again; each loader has a text of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

from raidplan.base.words import listed
from raidplan.plan.boot_loaders import HOOK
from raidplan.plan.step import Step, WriteFile
from raidplan.topology import Topology
from raidplan.topology.boot_places import BootPlace

READ = ("/boot", "/boot/grub")
"""The folders that a script copies or installs from; only where they are file systems of their own they can be missing."""


def script_step(
    topology: Topology,
    places: Sequence[BootPlace],
    text: str,
    values: Mapping[str, str],
    gives: str,
    needs: tuple[str, ...] = (),
) -> Step:
    """Writes a file of this folder with the values in place of its marks, such as `@HOST@`; `gives`: to the places, in words."""
    script = files("raidplan.compiler").joinpath(text).read_text("utf-8")
    mounts = [entry.mount for entry in topology.layout.filesystems.values()]
    own = {"HOST": topology.host, "MOUNTED": "\n".join(f"mounted {each}" for each in READ if each in mounts)}
    for mark, value in {**own, **values}.items():
        script = script.replace(f"@{mark}@", value)
    return Step(
        id="config.boot",
        phase="configure",
        say=f"write {HOOK}, which gives {listed([place.name for place in places], last=' and ')} {gives}",
        action=WriteFile(HOOK, script, 0o755),
        because="boot",
        needs=needs,
        targets=(HOOK,),
    )
