"""Pools of a layout: arrays placed together, what is said of it, and the same plan with the members written out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from raidplan.cli import run
from raidplan.estimate.survival import survive
from raidplan.plan.step import Plan
from raidplan.review import pipeline

JBOD = """version: 1
host: jbod
hardware:
  buses: {slot<0-3>: {type: pcie, generation: 1, lanes: 4}}
  controllers: {sil<0-3>: {behind: slot<1>, speed: 3Gbps, fis_switching: true}}
  multipliers: {pm<0-7>: {behind: sil<1:0/0/1/1/2/2/3/3>, speed: 3Gbps, switching: fis}}
  disks: {d<0-7><0-4>: {behind: pm<1>, serial: S<1><2>, size: 3TB, rate: 150MB/s}}
"""
FEW = """version: 1
host: few
hardware:
  controllers: {c<0-2>: {}}
  disks: {d<0-2><0-3>: {behind: c<1>, serial: S<1><2>, size: 3TB}}
"""
EVERY = "every choice from its pool has at least one such controller"


def pool(devices: str, count: int, spread: str) -> str:
    return f"members: {{from: [{devices}], count: {count}, spread: {spread}}}"


def loaded(text: str, folder: Path) -> pipeline.Loaded:
    file = folder / "layout.yaml"
    file.write_text(text)
    return pipeline.load(str(file))


def members(text: str, folder: Path) -> dict[str, tuple[str, ...]]:
    found = loaded(text, folder)
    assert found.topology is not None, found.findings
    return {name: array.named_members for name, array in found.topology.layout.arrays.items()}


def why(text: str, folder: Path) -> dict[str, tuple[str, ...]]:
    return {each.array: each.why for each in loaded(text, folder).placements}


def test_eight_multipliers_of_five_disks_for_five_arrays_of_eight(tmp_path: Path) -> None:
    chosen = members(
        f"{JBOD}arrays: {{s<0-4>: {{level: raid6, {pool('d<0-7><0-4>', 8, 'multiplier')}}}}}", tmp_path
    )
    for each in chosen.values():
        assert sorted(disk[1] for disk in each) == list("01234567")
    assert len({disk for each in chosen.values() for disk in each}) == 40


def test_the_last_array_is_not_left_with_the_dregs(tmp_path: Path) -> None:
    # Five of nine disks hang on c0: if the first two arrays took one of it each, three would be left for the last.
    text = FEW.replace("d<0-2><0-3>: {behind: c<1>", "d<0-8>: {behind: c<1:0/0/0/0/0/1/1/2/2>").replace(
        "S<1><2>", "S<1>"
    )
    chosen = members(
        f"{text}arrays: {{s<0-2>: {{level: raid1, {pool('d<0-8>', 3, 'controller')}}}}}", tmp_path
    )
    for each in chosen.values():
        assert Counter(int(disk[1]) > 4 for disk in each)[False] <= 2


def test_mirror_partners_are_kept_apart(tmp_path: Path) -> None:
    for layout in ("n2", "f2", "o2"):
        text = f"{FEW}arrays: {{s: {{level: raid10, layout: {layout}, {pool('d<0-2><0-3>', 12, 'controller')}}}}}"
        found = loaded(text, tmp_path)
        assert found.topology is not None
        survival = survive(found.topology)
        assert [c.name for c in survival.killers(("arrays", "s")) if c.kind != "disk"] == []
        assert (
            "no two copies of a chunk share a component that others do not hang on" in found.placements[0].why
        )


def test_a_thousand_disks_in_a_hundred_arrays(tmp_path: Path) -> None:
    text = "version: 1\nhost: big\nhardware:\n  controllers: {c<0-24>: {}}\n"
    text += "  multipliers: {pm<0-24>x<0-4>: {behind: c<1>}}\n"
    text += "  disks: {d<0-24>x<0-4>x<0-7>: {behind: pm<1>x<2>, size: 3TB}}\n"
    from_ = "d<0-24>x<0-4>x<0-7>"
    chosen = members(
        f"{text}arrays: {{s<0-99>: {{level: raid6, {pool(from_, 10, 'multiplier')}}}}}", tmp_path
    )
    for each in chosen.values():
        assert len({disk.rpartition("x")[0] for disk in each}) == 10
    assert len({disk for each in chosen.values() for disk in each}) == 1000


def test_the_faster_disks_make_one_fast_array(tmp_path: Path) -> None:
    text = FEW.replace("size: 3TB", "size: 3TB, rate: <2:90/150/90/150>MB/s")
    chosen = members(
        f"{text}arrays: {{s<0-1>: {{level: raid6, {pool('d<0-2><0-3>', 6, 'controller')}}}}}", tmp_path
    )
    assert [{disk[2] for disk in each} for each in chosen.values()] == [{"1", "3"}, {"0", "2"}]


def steps(text: str, folder: Path) -> Plan:
    file = folder / "layout.yaml"
    file.write_text(text)
    made, found = pipeline.plan(pipeline.check(str(file)))
    assert made is not None, found.findings
    return made


def test_members_written_out_give_the_same_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{JBOD}arrays: {{s<0-4>: {{level: raid6, {pool('d<0-7><0-4>', 8, 'multiplier')}}}}}\n"
    of_pools = steps(text, tmp_path)
    assert run(["show", str(tmp_path / "layout.yaml")]) == 0
    shown = capsys.readouterr().out
    assert "s2: {level: raid6, members: [d02, d12, d22, d32, d42, d52, d62, d72]}" in shown
    written_out = steps(shown, tmp_path)
    assert [(s.id, s.action, s.needs) for s in written_out.steps] == [
        (s.id, s.action, s.needs) for s in of_pools.steps
    ]
    assert run(["show", str(tmp_path / "layout.yaml")]) == 0
    assert capsys.readouterr().out == "".join(
        line for line in shown.splitlines(keepends=True) if not line.startswith("#")
    )


def test_show_and_plan_say_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(f"{JBOD}arrays: {{s: {{level: raid6, {pool('d<0-7><0-4>', 8, 'multiplier')}}}}}\n")
    said = (
        "s: 1 of its 8 members behind each of 8 multipliers; it survives the loss of any one bus, controller or\n"
        "  multiplier; with this array alone at work, its slowest member, d00, has 150 MB/s."
    )
    assert run(["show", str(file)]) == 0
    assert capsys.readouterr().out.startswith("# " + said.replace("\n", "\n# "))
    assert run(["plan", "--offline", "--format", "json", str(file)]) == 0
    shown = capsys.readouterr()
    assert said in shown.err and said not in shown.out


def test_it_says_what_hardware_would_save_an_array(tmp_path: Path) -> None:
    text = f"{FEW}arrays: {{s: {{level: raid5, {pool('d<0-2><0-3>', 6, 'controller')}}}}}"
    assert why(text, tmp_path)["s"] == (
        "1 to 4 of its 6 members on each of 3 controllers",
        "it does not survive the loss of c0, which holds more members than the 1 it can lose",
        f"{EVERY}; with 3 more controllers for 3 of the pool's devices it would survive any",
        "with this array alone at work, its slowest member, d00, has 210 MB/s, assumed",
    )


def test_the_hardware_that_is_said_to_save_an_array_does(tmp_path: Path) -> None:
    text = FEW.replace("c<0-2>", "c<0-5>").replace("d<0-2><0-3>", "d<0-5><0-1>")
    text = f"{text}arrays: {{s: {{level: raid5, {pool('d<0-5><0-1>', 6, 'controller')}}}}}"
    assert "it survives the loss of any one controller" in why(text, tmp_path)["s"]


@pytest.mark.parametrize(
    ("array", "count", "said"),
    [
        ("level: raid0", 6, "raid0 survives no loss, wherever its members hang"),
        ("level: raid6", 7, "it does not survive the loss of c0, which holds more members than the 2 it can lose"),
        ("level: raid6", 7, f"{EVERY}; with one more controller for 1 of the pool's devices it would survive any"),
        ("level: raid6", 12, f"{EVERY}; with 3 more controllers for 6 of the pool's devices, 2 on each at most, it would survive any"),
    ],
)  # fmt: skip
def test_what_is_said(array: str, count: int, said: str, tmp_path: Path) -> None:
    text = f"{FEW}arrays: {{s: {{{array}, {pool('d<0-2><0-3>', count, 'controller')}}}}}"
    assert said in why(text, tmp_path)["s"]


def test_copies_that_must_meet_are_counted(tmp_path: Path) -> None:
    text = FEW.replace("behind: c<1>", "behind: c<1:0/0/1>")
    found = why(f"{text}arrays: {{s: {{level: raid10, {pool('d<0-2><0-3>', 10, 'controller')}}}}}", tmp_path)[
        "s"
    ]
    assert "one pair of copies cannot be kept on different components" in found


def test_an_array_that_would_survive_alone(tmp_path: Path) -> None:
    # Half of the disks hang on c0: one array of four finds four controllers, a second one does not.
    text = "version: 1\nhost: h\nhardware:\n  controllers: {c<0-4>: {}}\n"
    text += "  disks: {d<0-7>: {behind: c<1:0/0/0/0/1/2/3/4>, serial: S<1>, size: 3TB}}\n"
    found = why(f"{text}arrays: {{s<0-1>: {{level: raid5, {pool('d<0-7>', 4, 'controller')}}}}}", tmp_path)
    assert sum("alone it would" in said for each in found.values() for said in each) == 1


def dies_with(text: str, folder: Path, kind: str, array: str = "s") -> list[str]:
    """The components of a kind that an array does not survive, which must be said."""
    found = loaded(text, folder)
    assert found.topology is not None
    killers = [c.name for c in survive(found.topology).killers(("arrays", array)) if c.kind == kind]
    said = why(text, folder)[array]
    survived = next((each for each in said if each.startswith("it survives the loss of any one ")), "")
    assert (kind in survived) == (not killers)
    assert not killers or any(
        said_of.startswith(f"it does not survive the loss of {killers[0]}") for said_of in said
    )
    return killers


def test_a_bus_behind_the_buses_is_not_forgotten(tmp_path: Path) -> None:
    text = FEW.replace("{c<0-2>: {}}", "{c<0-2>: {behind: p<1>}}")
    buses = "buses: {dmi: {type: dmi, generation: 2}, p<0-2>: {type: pcie, behind: dmi}}\n  controllers:"
    wanted = f"arrays: {{s: {{level: raid5, {pool('d<0-2><0-3>', 3, 'bus')}}}}}"
    assert dies_with(text.replace("controllers:", buses) + wanted, tmp_path, "bus") == ["dmi"]
    assert not dies_with(
        text.replace("controllers:", buses.replace(", behind: dmi", "")) + wanted, tmp_path, "bus"
    )


def test_an_enclosure_around_the_enclosures_is_not_forgotten(tmp_path: Path) -> None:
    text = f"{FEW}  enclosures: {{e<0-2>: {{disks: [d<1>0]}}, room: {{disks: [d<0-2>0]}}}}\n"
    wanted = f"arrays: {{s: {{level: raid5, {pool('d<0-2>0', 3, 'enclosure')}}}}}"
    assert dies_with(text + wanted, tmp_path, "enclosure") == ["room"]


def test_three_copies_survive_where_two_of_them_are_lost(tmp_path: Path) -> None:
    text = FEW.replace("behind: c<1>", "behind: c<1:0/0/1>")
    wanted = f"arrays: {{s: {{level: raid10, layout: n3, {pool('d00, d01, d02, d20', 4, 'controller')}}}}}"
    assert dies_with(text + wanted, tmp_path, "controller") == ["c0"]
    wanted = f"arrays: {{s: {{level: raid10, layout: n3, {pool('d00, d01, d20, d21', 4, 'controller')}}}}}"
    assert dies_with(text + wanted, tmp_path, "controller") == []


@pytest.mark.parametrize(
    ("legs", "chosen", "killers"),
    [
        ("a<0-1>: {level: raid0, members: [d0<1:0/2>, d0<1:1/3>]}, b: {level: raid0, members: [d1<0-1>]}", ("a0", "b"), []),
        ("a0: {level: raid0, members: [d0<0-1>]}, b: {level: raid0, members: [d0<2-3>]}", ("a0", "b"), ["c0"]),
        ("a0: {level: raid0, members: [d<0-1>0]}, b: {level: raid0, members: [d<0-1>1]}", ("a0", "b"), ["c0", "c1"]),
        ("a0: {level: raid1, members: [d<0-1>0]}, b: {level: raid1, members: [d<0-1>1]}", ("a0", "b"), []),
    ],
)  # fmt: skip
def test_arrays_hang_where_their_disks_do(
    legs: str, chosen: tuple[str, ...], killers: list[str], tmp_path: Path
) -> None:
    devices = "a<0-1>, b" if "a<0-1>" in legs else "a0, b"
    text = f"{FEW}arrays: {{{legs}, s: {{level: raid1, {pool(devices, 2, 'controller')}}}}}"
    assert members(text, tmp_path)["s"] == chosen
    assert dies_with(text, tmp_path, "controller") == killers


def test_what_hangs_on_none_is_said(tmp_path: Path) -> None:
    text = "version: 1\nhost: h\nhardware: {controllers: {c: {}}, multipliers: {p: {behind: c}}, disks: {"
    text += "a<0-1>: {behind: p, serial: A<1>, size: 3TB}, b<0-2>: {behind: c, serial: B<1>, size: 3TB}}}\n"
    one = f"{text}arrays: {{s: {{level: raid6, {pool('a<0-1>, b<0-2>', 4, 'multiplier')}}}}}"
    assert why(one, tmp_path)["s"][0] == "1 of its 4 members behind one multiplier, 3 behind none"
    none = f"{text}arrays: {{s: {{level: raid1, {pool('b<0-2>', 2, 'multiplier')}}}}}"
    assert why(none, tmp_path)["s"][0] == "its members hang behind no multiplier"


def test_a_share_of_a_link_is_named(tmp_path: Path) -> None:
    text = JBOD.replace("d<0-7><0-4>: {behind: pm<1>", "d<0-7><0-4>: {behind: pm0")
    said = why(f"{text}arrays: {{s: {{level: raid6, {pool('d0<0-4>', 5, 'multiplier')}}}}}", tmp_path)["s"]
    assert said[-1].endswith("member has 50 MB/s, its share of pm0")


def test_without_pools_nothing_is_said(tmp_path: Path) -> None:
    assert loaded(f"{FEW}arrays: {{s: {{level: raid1, members: [d00, d10]}}}}", tmp_path).placements == ()
