"""Survival: journals, spares, swap, boot, supplies, and what is said beyond three losses."""

from __future__ import annotations

import pytest

from raidplan.base.findings import Path
from raidplan.estimate.survival import BOOT, MACHINE, AnyOf, Outcome, Survival
from tests.survival.layouts import survival

FOUR = "hardware: {controllers: {c<0-1>: {}}, disks: {d<0-3>: {behind: c<1:0/0/1/1>, size: 1TB}}}\n"


def fate(found: Survival, thing: Path, component: str) -> Outcome:
    (one,) = (c for c in found.components if c.name == component)
    return found.outcome(thing, one)


def killers(found: Survival, thing: Path) -> list[str]:
    return [component.name for component in found.killers(thing)]


S: Path = ("arrays", "s")


@pytest.mark.parametrize(
    ("layout", "slots"),
    [
        # Neighbours first: both copies of a chunk behind one controller, or one behind each.
        ("n2", "d0, d1, d2, d3"), ("n2", "d0, d2, d1, d3"), ("f2", "d0, d2, d1, d3"), ("o2", "d0, d2, d1, d3"),
        ("f2", "d0, d1, d2, d3"), ("n3", "d0, d1, d2, d3"),
    ],
)  # fmt: skip
def test_raid10_by_the_place_of_its_copies(layout: str, slots: str) -> None:
    found = survival(FOUR + f"arrays: {{s: {{level: raid10, layout: {layout}, members: [{slots}]}}}}")
    expected = {
        ("n2", "d0, d1, d2, d3"): ["c0", "c1"],
        ("f2", "d0, d1, d2, d3"): ["c0", "c1"],
    }.get((layout, slots), [])
    assert killers(found, S) == expected


def test_a_spare_does_not_count_at_the_instant_of_loss() -> None:
    found = survival(FOUR + "arrays: {s: {level: raid1, members: [d0, d1], spares: [d2, d3]}}")
    assert fate(found, S, "c0") is Outcome.LOST
    assert fate(found, S, "d0") is Outcome.DEGRADED
    assert fate(found, S, "c1") is Outcome.INTACT
    assert found.survives(S) == {"c0": False, "d0": True, "d1": True}


def test_without_its_journal_an_array_takes_no_more_writes() -> None:
    text = FOUR + "arrays: {s: {level: raid5, members: [d0, d1, d2], consistency: journal, journal: d3}}\n"
    found = survival(text + "filesystems: {f: {device: s, type: xfs, mount: /srv}}\nswap: {}")
    assert fate(found, S, "d3") is fate(found, ("filesystems", "f"), "d3") is Outcome.READ_ONLY
    assert fate(found, S, "d0") is Outcome.DEGRADED
    assert fate(found, S, "c1") is Outcome.READ_ONLY
    assert fate(found, S, "c0") is Outcome.LOST
    assert found.smallest(S).choices == ((AnyOf(1, ("d3",)),),)


def test_a_mirror_of_journals_survives_one_of_them() -> None:
    disks = "hardware: {disks: {d<0-2>: {}, n<0-1>: {}}}\n"
    arrays = (
        "arrays: {log: {level: raid1, members: [n0, n1]}, s: {level: raid5, members: [d<0-2>], journal: log}}"
    )
    found = survival(disks + arrays)
    assert killers(found, S) == []
    assert set(found.smallest(S).sets()) == {
        frozenset(pair) for pair in (("d0", "d1"), ("d0", "d2"), ("d1", "d2"), ("n0", "n1"))
    }


def test_the_machine_dies_with_its_plain_swap() -> None:
    disks = "hardware: {disks: {d<0-3>: {partitions: {a: {size: 1GiB}, b: {size: 1GiB}}}}}\n"
    arrays = "arrays: {s: {level: raid10, members: [d<0-3>.a]}}\n"
    found = survival(
        disks + arrays + "swap: {w0: {device: d0.b, priority: 1}, w1: {device: d2.b, priority: 1}}"
    )
    assert killers(found, S) == []
    assert killers(found, MACHINE) == ["d0", "d2"]
    cured = survival(
        disks + arrays[:-2] + ", w: {level: raid1, members: [d0.b, d2.b]}}\nswap: {w: {device: w}}"
    )
    assert killers(cured, MACHINE) == []
    assert cured.smallest(MACHINE).choices == ((AnyOf(2, ("d0", "d2")),),)


def test_a_swap_file_shares_the_fate_of_its_file_system() -> None:
    text = "hardware: {disks: {d<0-2>: {}}}\nfilesystems:\n"
    text += "  r: {device: d0, type: ext4, mount: /}\n  v: {device: d1, type: ext4, mount: /srv}\n"
    found = survival(text + "swap: {w: {file: /srv/swap, size: 1GiB}, x: {file: /swap, size: 1GiB}}")
    assert killers(found, ("swap", "w")) == ["d1"]
    assert killers(found, ("swap", "x")) == ["d0"]
    assert killers(found, MACHINE) == ["d0", "d1"]


ROOT = """hardware:
  firmware: FIRMWARE
  disks: {d<0-2>: {size: 1TB, partitions: {e: {size: 1GiB, type: TYPE}, r: {size: 9GiB}, z: {size: rest}}}}
arrays:
  root: {level: raid1, members: [d0.r, d1.r]}
filesystems:
  root: {device: root, type: ext4, mount: /}
  data: {device: d2.z, type: xfs, mount: /srv OPTIONS}
boot: {BOOT}
"""


def root(firmware: str, kind: str, boot: str, options: str = "") -> Survival:
    pairs = {"FIRMWARE": firmware, "TYPE": kind, "BOOT": boot, "OPTIONS": options}
    text = ROOT
    for word, value in pairs.items():
        text = text.replace(word, value)
    return survival(text)


def test_one_esp_is_enough_to_boot() -> None:
    assert killers(root("uefi", "esp", "esp: [d0.e, d1.e]"), BOOT) == []
    assert killers(root("uefi", "esp", "esp: [d0.e]"), BOOT) == ["d0"]
    assert root("uefi", "esp", "esp: [d0.e, d1.e]").smallest(BOOT).choices == ((AnyOf(2, ("d0", "d1")),),)


@pytest.mark.parametrize(
    ("made", "expected"), [(["d0.e"], ["d0"]), (["d1.e"], ["d1"]), (["d0.e", "d1.e"], [])]
)
def test_an_esp_without_a_file_system_starts_nothing(made: list[str], expected: list[str]) -> None:
    """Defect D5 of the trial: without d0 the machine was said to start from a partition that nothing formats."""
    extra = ", ".join(f"{d.replace('.', '-')}: {{device: {d}, type: vfat, options: [nofail]}}" for d in made)
    text = (
        "hardware: {firmware: uefi, disks: {d<0-1>: {serial: S<1>, size: 1TB, partitions: {e: {size: 1GiB, type: esp}}}}}\n"
        f"filesystems: {{{extra}}}\nboot: {{esp: [d0.e, d1.e]}}\n"
    )
    assert killers(survival(text), BOOT) == expected


@pytest.mark.parametrize(
    ("loader", "mount", "expected"),
    [
        ("grub", ", mount: /boot/efi2", []),
        ("grub", "", ["d0"]),
        ("systemd-boot", "", ["d0"]),
        ("lilo", "", []),
    ],
)
def test_an_esp_that_gets_no_loader_starts_nothing(loader: str, mount: str, expected: list[str]) -> None:
    """raidplan installs a loader where an EFI system partition is mounted; of those that it does not install it knows nothing."""
    text = ROOT.replace("FIRMWARE", "uefi").replace("TYPE", "esp").replace(" OPTIONS", "")
    made = f"\n  e0: {{device: d0.e, type: vfat, mount: /boot/efi}}\n  e1: {{device: d1.e, type: vfat{mount}}}\nboot:"
    text = text.replace("\nboot:", made).replace("BOOT", f"loader: {loader}, esp: [d0.e, d1.e]")
    assert killers(survival(text), BOOT) == expected


def test_one_boot_loader_is_enough_on_a_bios() -> None:
    assert killers(root("bios", "bios-boot", "esp: []"), BOOT) == []


def test_the_boot_waits_for_what_is_not_nofail() -> None:
    found = root("uefi", "esp", "esp: [d0.e, d1.e]", ", options: [auto]")
    assert killers(found, BOOT) == ["d2"]
    assert killers(found, MACHINE) == []


def test_degraded_arrays_that_wait_for_a_person_stop_the_boot() -> None:
    """But the initramfs starts what / stands on in any case, and all others then too (its script local-block/mdadm)."""
    found = root("uefi", "esp", "esp: [d0.e, d1.e], degraded: wait")
    assert killers(found, BOOT) == killers(found, MACHINE) == []
    text = (
        ROOT.replace("FIRMWARE", "uefi")
        .replace("TYPE", "esp")
        .replace("BOOT", "esp: [d0.e, d1.e], degraded: wait")
    )
    for members, expected in (("d2.z, d3.z", ["d2", "d3"]), ("d0.z, d1.z", []), ("d1.z, d2.z", ["d1", "d2"])):
        mirrored = text.replace("d<0-2>", "d<0-3>").replace(
            "\nfilesystems", f"\n  z: {{level: raid1, members: [{members}]}}\nfilesystems"
        )
        waited = survival(
            mirrored.replace("device: d2.z", "device: z").replace(" OPTIONS", ", options: [auto]")
        )
        assert killers(waited, BOOT) == expected and killers(waited, MACHINE) == []
        assert not expected or waited.smallest(BOOT).choices == ((AnyOf(1, tuple(expected)),),)


def test_nothing_is_said_of_a_boot_that_is_not_described() -> None:
    assert BOOT not in survival(FOUR).structure.stands


def test_what_two_supplies_feed_runs_on_either() -> None:
    power = "  power: {a: {feeds: [d0, shelf, x]}, b: {feeds: [d0, d3]}}\n"
    text = "hardware:\n  controllers: {c: {}}\n  expanders: {x: {behind: c}}\n"
    text += "  disks: {d<0-3>: {}, e0: {behind: x}}\n  enclosures: {shelf: {disks: [d1, d3]}}\n" + power
    found = survival(text)
    assert {c.name: c.disks for c in found.components if c.kind == "power"} == {"a": ("d1", "e0"), "b": ()}


def test_the_machine_dies_with_the_only_supply_of_its_board() -> None:
    alone = survival("hardware: {disks: {d: {}}, power: {p: {base_watts: 90, feeds: [d]}, q: {}}}")
    assert killers(alone, MACHINE) == ["p"]
    both = survival("hardware: {disks: {d: {}}, power: {p: {base_watts: 90}, q: {base_watts: 90}}}")
    assert killers(both, MACHINE) == []


def test_beyond_three_losses_it_says_so() -> None:
    found = survival("hardware: {disks: {d<0-4>: {}}}\narrays: {s: {level: raid1, members: [d<0-4>]}}")
    assert found.smallest(S).losses is None
    assert found.smallest(S).always_survived == 3
    assert list(found.smallest(S).sets()) == []


def test_many_choices_are_not_all_described() -> None:
    text = "hardware: {disks: {d<0-119>: {}}}\narrays:\n  z<0-59>: {level: raid0, members: [d<1>, d<1:60-119>]}\n"
    found = survival(text + "  s: {level: raid6, members: [z<0-59>]}").smallest(S)
    assert found.losses == 3
    assert not found.complete and len(found.choices) == 1000


def test_a_broken_layout_is_looked_at_as_far_as_it_goes() -> None:
    text = (
        FOUR
        + "arrays:\n  s: {level: raid5, members: [d0, nosuch, d1, d2]}\n  o: {level: raid0, members: [p]}\n"
    )
    found = survival(
        text + "  p: {level: raid0, members: [o, d3]}\n  q: {level: raid10, layout: x9, members: [d3]}"
    )
    assert killers(found, S) == ["c0"]
    assert fate(found, ("arrays", "p"), "d3") is fate(found, ("arrays", "q"), "d3") is Outcome.LOST


def test_a_raid50_is_described_by_its_legs() -> None:
    text = "hardware: {disks: {d<0-5>: {}}}\narrays:\n  l<0-1>: {level: raid5, members: [d<1:0/3>, d<1:1/4>, d<1:2/5>]}\n"
    found = survival(text + "  s: {level: raid0, members: [l0, l1]}").smallest(S)
    assert found.choices == ((AnyOf(2, ("d0", "d1", "d2")),), (AnyOf(2, ("d3", "d4", "d5")),))
    mirror = survival(text.replace("raid5", "raid0") + "  s: {level: raid1, members: [l0, l1]}").smallest(S)
    assert mirror.choices == ((AnyOf(1, ("d0", "d1", "d2")), AnyOf(1, ("d3", "d4", "d5"))),)
