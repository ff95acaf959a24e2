"""The row of "One place for one new thing" about a kind of thing: throw-away devices between a disk and a file system."""

from __future__ import annotations

import json
from pathlib import Path

from tests.throw_away import NEW, Copied

LAYOUT = """\
version: 1
host: woven
hardware: {disks: {d<0-1>: {serial: S<1>, size: 100GB}}}
tinies: {t0: {device: d0}, t1: {device: d1}}
arrays: {data: {level: raid1, members: [t<0-1>]}}
filesystems: {data: {device: data, type: ext4, mount: /srv}}
"""
KIND = '''\
"""Throw-away devices, each a little smaller than what it is on."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path
from raidplan.base.identity import derived_uuid
from raidplan.layout.kinds.device import Device, Kind, Site, Use
from raidplan.layout.kinds.model import Model, Reference
from raidplan.layout.kinds.naming import identity
from raidplan.plan.loss import everything_on
from raidplan.plan.step import Proof, Run, Step


class Tiny(Model, Kind):
    """A throw-away device."""

    device: Reference
    """The device it lies on: `s0`."""

    def provides(self, name: str) -> Iterator[str]:
        yield name

    def uses(self, name: str, path: Path) -> Iterator[Use]:
        yield Use((*path, "device"), self.device, "linux")

    def resolve(self, name: str, path: Path, site: Site) -> Iterator[Device]:
        below = site.taken(next(self.uses(name, path)))
        uuid = derived_uuid(site.host, "tiny", name)
        yield Device(
            name, "tiny", path, f"/dev/tiny/{name}", below.size - 2**20, (f"tiny.{name}.make",), (below.name,), uuid,
            below.logical_block, below.physical_block,
        )

    def steps(self, name: str, path: Path, site: Site) -> Iterator[Step]:
        below, uuid = site.taken(next(self.uses(name, path))), derived_uuid(site.host, "tiny", name)
        yield Step(
            f"tiny.{name}.make", "volume", f"make {name} of {below.name}", Run(("tinymake", uuid, below.node)), ".".join(map(str, path)),
            needs=below.made_by, targets=(below.name,), destroys=(everything_on(below.name),), guard=(below.node,),
            awaits=(f"/dev/tiny/{name}",), proof=Proof("tiny", uuid, {"device": identity(below)}),
        )
'''
SPOILT = """
import sys
from dataclasses import replace
from raidplan.plan.validity import faults
from raidplan.review.pipeline import load, plan
made, _ = plan(load(sys.argv[1]))
spoilt = tuple(replace(step, guard=()) if step.id.startswith("tiny.") else step for step in made.steps)
print([*faults(made)], [fault.case for fault in faults(replace(made, steps=spoilt)) if fault.case == "unguarded"])
"""


def test_a_kind_of_thing(tmp_path: Path) -> None:
    copy = Copied(tmp_path, "a kind of thing", {
        "layout/kinds/tiny.py": {NEW: KIND},
        "layout/model.py": {
            "from raidplan.layout.kinds.swap import Swap\n": "from raidplan.layout.kinds.swap import Swap\nfrom raidplan.layout.kinds.tiny import Tiny\n",
            'BUILT = ("arrays",': 'BUILT = ("tinies", "arrays",',
            "    arrays: Mapping[Name, Array] = {}\n": "    tinies: Mapping[Name, Tiny] = {}\n    arrays: Mapping[Name, Array] = {}\n",
        },
        "plan/validity.py": {
            'MAKERS = {"sfdisk"': 'MAKERS = {"tinymake": "tiny", "sfdisk"',
            'MADE = ("table",': 'MADE = ("tiny", "table",',
        },
        "diff/judge.py": {
            "from raidplan.layout.kinds.swap import Swap\n": "from raidplan.layout.kinds.swap import Swap\nfrom raidplan.layout.kinds.tiny import Tiny\n",
            "from raidplan.diff.filesystems import filesystem": "from raidplan.diff.filesystems import device_changes, filesystem",
            "        case Encryption(), Encryption():": "        case Tiny(), Tiny():\n"
            "            uses = next(old.uses(str(path[1]), path)), next(new.uses(str(path[1]), path))\n"
            "            yield path, _verdict(path, device_changes(*uses, storage), storage)\n"
            "        case Encryption(), Encryption():",
        },
        "render/diff_names.py": {'NOUNS = {\n': 'NOUNS = {\n    "tinies": "tiny device",\n'},
        "render/draw/things.py": {
            "from raidplan.layout.kinds.swap import Swap\n": "from raidplan.layout.kinds.swap import Swap\nfrom raidplan.layout.kinds.tiny import Tiny\n",
            "    match kind:\n        case Array():": '    match kind:\n        case Tiny():\n            yield Thing(path, item.name, "quite tiny", "", parts, on_disks)\n'
            "        case Array():",
        },
        "render/draw/words.py": {'        case ("encryption", _):': '        case ("tinies", _):\n            return "tiny device"\n        case ("encryption", _):'},
        "render/overview.py": {'    "array": "array",\n': '    "array": "array",\n    "tiny": "tiny device",\n'},
    })  # fmt: skip
    file = copy.layout("woven", LAYOUT)
    plan = json.loads(copy.raidplan("plan", "--offline", file, "--format", "json"))
    steps = {step["id"]: step for step in plan["steps"]}
    assert "tiny.t0.make" in steps["array.data.create"]["needs"]
    assert "2 tiny devices" in copy.raidplan("plan", "--offline", file)
    assert "tinymake" in copy.raidplan("plan", "--offline", file, "--format", "shell")
    survived = json.loads(copy.raidplan("estimate", file, "--format", "json"))
    assert "d0" in json.dumps(survived)
    assert "quite tiny" in copy.raidplan("draw", file)
    assert "quite tiny" in copy.raidplan("check", file, "--format", "html")
    moved = copy.layout("moved", LAYOUT.replace("mount: /srv", "mount: /home"))
    assert json.loads(copy.raidplan("diff", file, moved, "--format", "json"))["destroyed_data"] == []
    gone = copy.layout(
        "gone",
        LAYOUT.replace("tinies: {t0: {device: d0}, t1: {device: d1}}\n", "").replace("t<0-1>", "d<0-1>"),
    )
    (lost,) = json.loads(copy.raidplan("diff", file, gone, "--format", "json"))["destroyed_data"]
    assert lost["name"] == "/srv"
    assert "tiny device t0" in copy.raidplan("diff", gone, file)
    assert copy.python("-c", SPOILT, file) == "[] ['unguarded', 'unguarded']\n"
