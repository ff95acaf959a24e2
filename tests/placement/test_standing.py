"""Arrays of pools that stand on a machine keep their members, whatever would be picked on blank disks."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.journal.journal import read_past
from raidplan.cli import run
from raidplan.cli.standing import keep_members
from raidplan.compiler.compile import identities
from raidplan.plan.codec import plan_to_json
from raidplan.plan.step import Plan
from raidplan.render.layout_data import layout_to_data
from raidplan.render.yaml_text import yaml_text
from raidplan.review import pipeline
from raidplan.review.pipeline import Loaded
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated
from tests.rules.stages import figures

__all__ = ["impatient"]

WIRED = (
    "controllers: {a: {}, b: {}}, multipliers: {p<0-3>: {behind: a}, q<0-3>: {behind: b}}, disks: "
    "{x<0-3>: {behind: p<1>, serial: X<1>, size: 3TB%s}, y<0-3>: {behind: q<1>, serial: Y<1>, size: 3TB%s}}"
)
TWO = ", partitions: {u: {size: 1TB}, v: {size: 1TB}}"
POOL = "from: [x<0-3>, y<0-3>], count"
U, V = (", ".join(f"{disk}{n}.{part}" for disk in "xy" for n in range(4)) for part in "uv")
LAYOUTS: dict[str, tuple[str, str, dict[str, str]]] = {
    "multipliers": (
        WIRED % ("", ""),
        f"s: {{level: raid6, members: {{{POOL}: 4, spread: multiplier}}}}",
        {"s": "x0 x1 x2 x3"},
    ),
    "sizes": (
        """controllers: {hba<0-3>: {}}, disks: {
          d<0-3>0: {behind: hba<1>, serial: A<1>, rate: 150MB/s, size: {each: [4TB, 1TB, 4TB, 1TB]}},
          d<0-3>1: {behind: hba<1>, serial: B<1>, rate: 150MB/s, size: {each: [1TB, 4TB, 1TB, 4TB]}}}""",
        "s<0-1>: {level: raid5, members: {from: [d<0-3><0-1>], count: 4, spread: controller}}",
        {"s0": "d00 d10 d20 d30", "s1": "d01 d11 d21 d31"},
    ),
    "enclosures": (
        """controllers: {a: {}, b: {}}, enclosures: {e0: {disks: [x0, x1, y0, y1]}, e1: {disks: [x2, x3, y2, y3]}},
          disks: {x<0-3>: {behind: a, serial: X<1>, size: 3TB}, y<0-3>: {behind: b, serial: Y<1>, size: 3TB}}""",
        f"s: {{level: raid10, members: {{{POOL}: 4, spread: controller}}}}",
        {"s": "x0 y0 x1 y1"},
    ),
    "whole disks": (
        WIRED % ("", ""),
        f"s: {{level: raid5, whole_disks: true, members: {{{POOL}: 3, spread: multiplier}}, spares: [y3]}}",
        {"s": "x0 x1 x2"},
    ),
    "partitions": (
        WIRED % (TWO, TWO),
        f"""s: {{level: raid5, members: {{from: [{U}], count: 3, spread: multiplier}}}},
          t: {{level: raid5, members: {{from: [{V}], count: 4, spread: multiplier}}}}""",
        {"s": "x0.u x1.u x2.u", "t": "x0.v x1.v x2.v x3.v"},
    ),
    "arrays": (
        """controllers: {a: {}, b: {}}, multipliers: {p<0-3>: {behind: a}, q<0-3>: {behind: b}}, disks: {
          x<0-3><0-1>: {behind: p<1>, serial: X<1><2>, size: 3TB},
          y<0-3><0-1>: {behind: q<1>, serial: Y<1><2>, size: 3TB}}""",
        f"""x<0-3>: {{level: raid1, members: [x<1>0, x<1>1]}}, y<0-3>: {{level: raid1, members: [y<1>0, y<1>1]}},
          s: {{level: raid0, members: {{{POOL}: 4, spread: multiplier}}}}""",
        {"s": "x0 x1 x2 x3"},
    ),
    "one small disk": (
        "disks: {d<0-4>: {serial: D<1>, size: {each: [500GB, 4TB, 4TB, 4TB, 4TB]}}}",
        "s: {level: raid5, members: {from: [d<0-4>], count: 4, spread: controller}}",
        {"s": "d0 d1 d2 d3"},
    ),
    "supplies of which one is enough": (
        """power: {p<0-1>: {watts: 300, feeds: [a<0-1>]}, q<0-1>: {watts: 300, feeds: [b<0-1>]}},
          disks: {a<0-1>: {serial: A<1>, size: 3TB}, b<0-1>: {serial: B<1>, size: 3TB}}""",
        "s: {level: raid1, members: {from: [a<0-1>, b<0-1>], count: 2, spread: power}}",
        {"s": "a0 a1"},
    ),
    "two controllers with too many": (
        """controllers: {a: {}, b: {}}, disks: {x<0-3>: {behind: a, serial: X<1>, size: 3TB},
          y<0-3>: {behind: b, serial: Y<1>, size: 3TB}}""",
        f"s: {{level: raid5, members: {{{POOL}: 4, spread: controller}}}}",
        {"s": "x0 y0 x1 y1"},
    ),
    "the odd one a member": (
        """controllers: {k<0-2>: {}}, disks: {s<0-1>: {behind: k<1>, serial: S<1>, size: 1TB, rotational: false},
          h: {behind: k2, serial: H1, size: 1TB, rotational: true}}""",
        "s: {level: raid1, members: {from: [s0, h, s1], count: 2, spares: 1}}",
        {"s": "s0 h"},
    ),
}
"""The hardware, the arrays, and the members that were picked while placement looked at one kind of component only, or later."""


def planned(text: str, file: Path) -> tuple[Loaded, Plan]:
    file.write_text(f"version: 1\nhost: h\n{text}")
    made, loaded = pipeline.plan(pipeline.check(str(file)))
    assert made is not None, loaded.findings
    return loaded, made


def members(loaded: Loaded) -> dict[str, str]:
    assert loaded.layout is not None
    picked = {each.array for each in loaded.placements}
    return {name: " ".join(a.named_members) for name, a in loaded.layout.arrays.items() if name in picked}


def applied_by_hand(name: str, folder: Path) -> tuple[Loaded, Plan, Simulated]:
    """The layout, its plan for blank disks, and a machine with the members of before."""
    hardware, arrays, before = LAYOUTS[name]
    loaded, blank = planned(f"hardware: {{{hardware}}}\narrays: {{{arrays}}}\n", folder / "pool.yaml")
    assert loaded.layout is not None and members(loaded) != before
    spares = {"s": ("s1",)} if name == "the odd one a member" else {}
    old = loaded.layout.changed(
        arrays={
            array: each.changed(members=tuple(before[array].split()), spares=spares.get(array, each.spares))
            if array in before
            else each
            for array, each in loaded.layout.arrays.items()
        },
    )
    text = yaml_text(layout_to_data(old)).partition("host: h\n")[2]
    _, plan = planned(text, folder / "old.yaml")
    world = Simulated(plan, folder / "root", machine(folder / "root"))
    assert apply(plan, world) == "done"
    return loaded, blank, world


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_stands_is_nothing_to_do(name: str, tmp_path: Path) -> None:
    loaded, blank, world = applied_by_hand(name, tmp_path)
    kept, found = keep_members(loaded, blank, world.read(blank), {})
    assert kept is not None and members(found) == LAYOUTS[name][2]
    assert all(each.stays for each in found.placements) and any(each.better for each in found.placements)
    assert apply(kept, world) == "nothing to do"


def test_the_journal_tells_where_an_array_is_not_whole(tmp_path: Path) -> None:
    loaded, blank, world = applied_by_hand("multipliers", tmp_path)
    (uuid, found), *_ = world.state.objects["array"].items()
    journal = {uuid: deepcopy(found)}
    found["members"][1] = "missing"
    anew, _ = keep_members(loaded, blank, world.read(blank), {})
    assert anew is not None and plan_to_json(anew) == plan_to_json(blank), "and apply refuses it"
    _, kept = keep_members(loaded, blank, world.read(blank), journal)
    assert members(kept) == {"s": "x0 x1 x2 x3"}


@pytest.mark.parametrize(
    ("stands", "reason"),
    [
        ("x0 x1 x2 x3 y0", "more than are wanted"),
        ("x0 x1 x2 z9", "not of the pool"),
        ("x0 x1 x2 x2", "one device twice"),
    ],
)
def test_what_is_not_of_the_pool_is_not_kept(stands: str, reason: str, tmp_path: Path) -> None:
    loaded, blank, world = applied_by_hand("multipliers", tmp_path)
    (found,) = world.state.objects["array"].values()
    was = dict(zip(("x0", "x1", "x2", "x3"), found["members"], strict=True)) | {"z9": "partition:z9"}
    was |= {"y0": "partition:y0"}
    found["members"] = [was[name] for name in stands.split()]
    _, kept = keep_members(loaded, blank, world.read(blank), {})
    assert members(kept) == members(loaded), reason


@pytest.mark.parametrize(
    ("more", "expected", "spares"),
    [
        ("count: 5", "x0 x1 x2 x3 y0", ()),
        ("count: 6", "x0 x1 x2 x3 y0 y1", ()),
        ("count: 4, spares: 1", "x0 x1 x2 x3", ("y0",)),
        ("count: 5, spares: 1", "x0 x1 x2 x3 y0", ("y1",)),
    ],
)
def test_an_array_that_grows_keeps_what_it_has_and_takes_the_best_of_the_others(
    more: str, expected: str, spares: tuple[str, ...], tmp_path: Path
) -> None:
    """All members were picked anew as soon as `count` was another, and apply refused the plan."""
    _, _, world = applied_by_hand("multipliers", tmp_path)
    hardware, arrays, _ = LAYOUTS["multipliers"]
    wanted = arrays.replace("count: 4", more)
    loaded, blank = planned(f"hardware: {{{hardware}}}\narrays: {{{wanted}}}\n", tmp_path / "more.yaml")
    kept, found = keep_members(loaded, blank, world.read(blank), {})
    assert kept is not None and members(found) == {"s": expected}
    assert found.layout is not None and found.layout.arrays["s"].spares == spares
    refused = apply(kept, Simulated(kept, world.root, world.state))
    if "count: 5" in more:
        assert "then mdadm --grow --raid-devices=5 /dev/md/s" in refused
        assert refused.count("--add") == 1, "of what stands nothing is moved"


def test_an_array_that_grows_beyond_its_pool(tmp_path: Path) -> None:
    _, _, world = applied_by_hand("multipliers", tmp_path)
    hardware, arrays, _ = LAYOUTS["multipliers"]
    _, blank = planned(f"hardware: {{{hardware}}}\narrays: {{{arrays}}}\n", tmp_path / "pool.yaml")
    (tmp_path / "pool.yaml").write_text(
        f"version: 1\nhost: h\nhardware: {{{hardware}}}\narrays: {{{arrays.replace('count: 4', 'count: 9')}}}\n"
    )
    found = pipeline.check(str(tmp_path / "pool.yaml"), arrays=(world.read(blank).objects["array"],))
    assert "pool-too-small" in {each.finding.rule for each in found.findings}


def test_a_new_array_takes_of_what_is_left(tmp_path: Path) -> None:
    _, _, world = applied_by_hand("multipliers", tmp_path)
    hardware, arrays, _ = LAYOUTS["multipliers"]
    more = arrays + ", " + arrays.replace("s:", "t:", 1)
    loaded, blank = planned(f"hardware: {{{hardware}}}\narrays: {{{more}}}\n", tmp_path / "more.yaml")
    kept, found = keep_members(loaded, blank, world.read(blank), {})
    assert kept is not None and members(found) == {"s": "x0 x1 x2 x3", "t": "y0 y1 y2 y3"}
    assert [each.stays for each in found.placements] == [True, False]
    again = Simulated(kept, world.root, world.state)
    assert apply(kept, again) == "done" and apply(kept, again) == "nothing to do"
    assert read_past(world.root / "var/lib/raidplan").made


def test_too_few_are_left_beside_what_stands(tmp_path: Path) -> None:
    _, _, world = applied_by_hand("multipliers", tmp_path)
    hardware, arrays, _ = LAYOUTS["multipliers"]
    more = arrays + ", t: {level: raid6, members: {from: [x<0-3>, y0], count: 4}}"
    wanted = f"hardware: {{{hardware}}}\narrays: {{{more}}}\n".replace(
        "count: 4, spread: multiplier", "count: 4, spread: multiplier"
    )
    loaded, blank = planned(wanted, tmp_path / "more.yaml")
    kept, found = keep_members(loaded, blank, world.read(blank), {})
    assert kept is None
    (finding,) = [each.finding for each in found.findings if each.finding.rule == "pool-too-small"]
    assert figures(finding.message, "t") == "t 4 1 5" and figures(finding.hint, "arrays.s") == "arrays.s"


def test_plan_for_the_facts_of_a_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded, blank, world = applied_by_hand("whole disks", tmp_path)
    assert loaded.topology is not None
    disks = tuple(identities(loaded.topology, every=True))
    stands = json.dumps(world.read(replace(blank, disks=disks)).to_data())
    for disk in disks:  # as the machine names them
        stands = stands.replace(f"{{{disk.name}}}", f"/dev/{disk.name}")
    facts = tmp_path / "facts.json"
    facts.write_text(stands)
    pool = str(tmp_path / "pool.yaml")
    run(["plan", pool, "--machine", str(facts)])
    said = " ".join(capsys.readouterr().err.split())
    assert "its members stay as they stand; on blank disks a better choice would be picked: " in said
    assert "members spread more evenly over all kinds" in said and "no disk has" not in said
    assert members(pipeline.check(pool)) != {"s": "x0 x1 x2"}, "without the machine nothing is known of it"
