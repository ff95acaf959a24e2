"""Survival against a second, naive model, for random wirings and random nested layouts."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidplan.base.levels import copy_sets
from raidplan.estimate.survival import MACHINE, Outcome, Survival, survive
from raidplan.layout.load import layout_of
from raidplan.topology import resolve
from tests.survival import naive
from tests.survival.layouts import expanded

MOUNTS = ("/", "/usr", "/srv", "/srv/a", "/srv/ab", "/data")


def text(value: Any) -> Any:
    """As a document gives it: every scalar is text."""
    if isinstance(value, dict):
        return {key: text(entry) for key, entry in value.items()}
    return [text(entry) for entry in value] if isinstance(value, list) else str(value)


def survival_of(machine: naive.Machine) -> Survival:
    layout = layout_of(text({"version": 1, "host": "h", **machine}))
    return survive(resolve(layout)[0])


@st.composite
def hardwares(draw: st.DrawFn) -> dict[str, Any]:
    """A tree of components over three to eight disks, with shelves and supplies across it."""

    def some(kind: str, most: int, carriers: list[str], **more: Any) -> dict[str, Any]:
        names = [f"{kind}{n}" for n in range(draw(st.integers(0, most)))]
        made: dict[str, Any] = {name: dict(more) for name in names}
        for name in names:
            above = draw(st.sampled_from(["", *carriers]))
            if above or kind == "pm":
                made[name]["behind"] = above or draw(st.sampled_from(["c9", *carriers]))
            carriers.append(name)
        return made

    carriers: list[str] = []
    hardware: dict[str, Any] = {
        "buses": some("bus", 2, carriers, type="pcie"),
        "controllers": {"c9": {}} | some("c", 2, carriers),
        "multipliers": some("pm", 2, carriers),
        "expanders": {},
        "disks": {},
    }
    for n in range(draw(st.integers(4, 9))):
        disk: dict[str, Any] = {"behind": draw(st.sampled_from(["c9", *carriers]))}
        if draw(st.booleans()):
            disk["partitions"] = {part: {"size": "1GiB"} for part in "ab"}
        hardware["disks"][f"d{n}"] = disk
    disks = list(hardware["disks"])
    lists = st.lists(st.sampled_from(disks), max_size=5, unique=True)
    hardware["enclosures"] = {f"cage{n}": {"disks": draw(lists)} for n in range(draw(st.integers(0, 2)))}
    fed = st.lists(st.sampled_from([*disks, *carriers, *hardware["enclosures"]]), max_size=5, unique=True)
    hardware["power"] = {f"psu{n}": {"feeds": draw(fed)} for n in range(draw(st.integers(0, 3)))}
    return hardware


@st.composite
def machines(draw: st.DrawFn) -> naive.Machine:
    """Arrays on disks, partitions and arrays; volume groups, file systems and swap on what is left."""
    hardware = draw(hardwares())
    free = [
        device
        for name, disk in hardware["disks"].items()
        for device in ([f"{name}.a", f"{name}.b"] if "partitions" in disk else [name])
    ]

    def take(least: int, most: int) -> list[str]:
        taken = draw(
            st.lists(st.sampled_from(free), min_size=min(least, len(free)), max_size=most, unique=True)
        )
        for device in taken:
            free.remove(device)
        return taken

    machine: naive.Machine = {
        "hardware": hardware, "arrays": {}, "volume_groups": {}, "filesystems": {}, "swap": {},
    }  # fmt: skip
    for n in range(draw(st.integers(1, 5))):
        if len(free) < 3:
            break
        level = draw(
            st.sampled_from(["linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10", "raid10"])
        )
        least = draw(st.sampled_from([2, 2, 3, 4]))
        array: dict[str, Any] = {"level": level, "members": take(4 if level == "raid6" else least, 7)}
        if level == "raid6" and len(array["members"]) < 4:
            array["level"] = "raid1"
        if level == "raid10":
            copies = draw(st.integers(1, min(4, len(array["members"]))))
            array["layout"] = f"{draw(st.sampled_from('nfo'))}{copies}"
        if level == "raid5" and free and draw(st.booleans()):
            array["journal"] = take(1, 1)[0]
        if level == "raid1" and free and draw(st.booleans()):
            array["spares"] = take(1, 1)
        machine["arrays"][f"m{n}"] = array
        free.insert(0, f"m{n}")
    if free and draw(st.booleans()):
        machine["volume_groups"]["vg"] = {
            "devices": take(1, 3), "volumes": {"x": {"size": "1MiB"}, "z": {"size": "1MiB"}},
        }  # fmt: skip
        free += ["vg.x", "vg.z"]
    for n, mount in enumerate(draw(st.lists(st.sampled_from(MOUNTS), max_size=3, unique=True))):
        if free:
            machine["filesystems"][f"f{n}"] = {"device": take(1, 1)[0], "type": "xfs", "mount": mount}
    for n in range(draw(st.integers(0, 2))):
        if free:
            machine["swap"][f"w{n}"] = {"device": take(1, 1)[0]}
    if draw(st.booleans()):
        machine["swap"]["wf"] = {"file": draw(st.sampled_from(["/swap", "/srv/a/swap", "/srv/abc/swap"]))}
    return machine


@pytest.mark.parametrize("members", range(1, 10))
@pytest.mark.parametrize("layout", [f"{kind}{copies}" for kind in "nfo" for copies in range(1, 6)])
def test_copies_lie_where_the_naive_model_lays_them(layout: str, members: int) -> None:
    if int(layout[1:]) <= members:
        assert set(map(frozenset, copy_sets(layout, members))) == set(
            map(frozenset, naive.raid10_rows(layout, members))
        )


@given(machines())
def test_every_component_against_everything(machine: naive.Machine) -> None:
    survival = survival_of(machine)
    assert len(survival.components) == sum(len(section) for section in machine["hardware"].values())
    for component in survival.components:
        lost = naive.lost_with(machine, component.kind, component.name)
        assert set(component.disks) == lost, component
        for thing in naive.things(machine):
            expected = naive.goes_on(machine, thing, lost)
            assert survival.outcome(thing, component).survives == expected, (component, thing)
        assert survival.outcome(MACHINE, component).survives == naive.machine_goes_on(machine, lost)


@given(machines())
def test_every_set_of_three_disks(machine: naive.Machine) -> None:
    survival = survival_of(machine)
    disks = list(machine["hardware"]["disks"])
    for count in range(min(4, len(disks) + 1)):
        for lost in combinations(disks, count):
            after = survival.after(lost)
            for thing in naive.things(machine):
                expected = naive.goes_on(machine, thing, lost)
                assert after.get(thing, Outcome.INTACT).survives == expected, (lost, thing)


@settings(max_examples=60, deadline=None)
@given(machines())
def test_the_smallest_sets_of_components_are_all_there_are(machine: naive.Machine) -> None:
    survival = survival_of(machine)
    for thing in naive.things(machine):
        found, expected = survival.sets(thing), naive.smallest_component_sets(machine, thing)
        names = expanded(found)
        assert found.complete and found.losses == (len(min(expected, key=len)) if expected else None), thing
        # Components that take the same disks along fail as one; the one nearest to the disks stands for all.
        lost = {part: frozenset(naive.lost_with(machine, *part)) for part in naive.parts(machine)}
        by_name = {name: disks for (_, name), disks in lost.items()}
        assert {frozenset(by_name[name] for name in each) for each in names} == {
            frozenset(lost[part] for part in each) for each in expected
        }, thing


@given(machines())
def test_the_smallest_sets_are_all_there_are(machine: naive.Machine) -> None:
    survival = survival_of(machine)
    for thing in naive.things(machine):
        expected = naive.smallest_sets(machine, thing)
        found = survival.smallest(thing)
        assert found.complete
        sets = list(found.sets())
        assert set(sets) == expected and len(sets) == len(expected), thing
        assert found.losses == (len(min(expected)) if expected else None)
        assert found.always_survived == (found.losses - 1 if found.losses else 3)
