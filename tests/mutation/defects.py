"""`python -m tests.mutation.defects [D2 ...]`: takes the mend of each defect back in a copy, and asks its tests, which must fail.

The defects are those that an independent trial found in the model, the placement and the examples (2026-11-23).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
NEEDED = ("raidplan", "tests", "examples", "schemas", "docs", "vagrant", "pyproject.toml", "README.md")
"""The parts of the project that the tests need beside them."""


@dataclass(frozen=True, slots=True)
class Mend:
    """A text of a file, and the text in its place with which the defect is there again."""

    file: str
    text: str
    without: str


@dataclass(frozen=True, slots=True)
class Defect:
    """A defect, the tests that name it, and its mends; each of these is taken back alone."""

    name: str
    what: str
    tests: tuple[str, ...]
    mends: tuple[Mend, ...]


RULES, ESTIMATE = "tests/rules", "tests/estimate"
DEFECTS = (
    Defect(
        "D2", "placement forgot every kind of component but the one that spread names",
        ("tests/placement/test_defects.py::test_no_kind_of_component_is_forgotten_for_the_one_that_is_named",),
        (Mend(
            "raidplan/placement/objective.py",
            "held = loads(problem, picked.members)\n    full",
            "held = Counter({p: n for p, n in loads(problem, picked.members).items() if problem.parts[p].kind == demand.kind})\n    full",
        ),),
    ),
    Defect(
        "D3", "placement was blind to size, medium and sector",
        (
            "tests/placement/test_defects.py::test_large_disks_make_one_large_array",
            "tests/placement/test_defects.py::test_the_odd_one_is_left_out",
        ),
        (Mend("raidplan/placement/objective.py", "        -data,\n        *own,\n", "        0,\n        *(0, 0, 0),\n"),),
    ),
    Defect(
        "D4", "a root file system could be written and never made, and swap beside it was silent",
        (
            "tests/apply/test_target.py::test_without_a_target_another_root_is_refused_and_the_option_named",
            f"{RULES}/test_hints_followed.py::test_swap_on_a_member_of_an_array_is_said_without_a_root_and_its_other_half_is_seen",
        ),
        (Mend("raidplan/apply/change/by_hand.py", 'if (kind, node) == ("mount", "/"):', "if False:"),),
    ),
    Defect(
        "D5", "an EFI system partition that nothing formats was a way to boot",
        (
            f"{RULES}/test_boot.py::test_unformatted_esp",
            "tests/survival/test_survival.py::test_an_esp_without_a_file_system_starts_nothing",
        ),
        (
            Mend("raidplan/rules/esp.py", "in mounted_fat(topology, lacking(topology, found)).items():", "in ():"),
            Mend("raidplan/topology/boot_devices.py", "(tuple(each for each in group if each in made) or group for group in groups)", "iter(groups)"),
        ),
    ),
    Defect(
        "D6", "the flagship's cards had four lanes, which its source contradicts",
        (f"{ESTIMATE}/test_systems.py::test_the_cards_of_the_account_explain_its_rates",),
        (Mend("examples/tel-aviv-as-built.yaml", "lanes: 1}", "lanes: 4}"),),
    ),
    Defect(
        "D7", "example 11 used a disk that its source says is unused",
        (f"{ESTIMATE}/test_systems.py::test_a_disk_that_the_source_calls_unused_holds_nothing",),
        (
            Mend("examples/lvm-test-host-cure.yaml", "members: [t<0-5>, t7]", "members: [t<0-7>]"),
            Mend("examples/lvm-test-host-mistake.yaml", "members: [t<0-5>, t7]", "members: [t<0-7>]"),
        ),
    ),
    Defect(
        "D8", "the smallest sets that stop a thing were computed and never shown",
        ("tests/cli/test_estimate_command.py::test_the_json_is_the_contracts",),
        (Mend("raidplan/render/estimate_json.py", '"smallest_sets": _sets(fate.sets),', ""),),
    ),
    Defect(
        "D9", "hints led into the next finding",
        (
            f"{RULES}/test_hints_followed.py::test_members_behind_one_multiplier_are_exchanged_for_disks_behind_as_many_as_it_takes",
            f"{RULES}/test_hints_followed.py::test_free_disks_on_another_controller_come_before_its_free_ports",
            f"{RULES}/test_failure_domains.py::test_the_spare_that_is_advised_does_not_fail_with_the_members",
            f"{RULES}/test_thresholds_inodes.py::test_the_cure_is_one_that_fits",
        ),
        (
            Mend("raidplan/rules/lib/exchange.py", 'uneven += counts[part] + 1 if part[1] == "multipliers" else 0', "uneven += 0"),
            Mend("raidplan/rules/domains.py", "edits = exchange(topology, name) if not others else ()", "edits = ()"),
            Mend("raidplan/rules/lib/exchange.py", "if not any(disk in part for part in fatal))", ")"),
            Mend("raidplan/rules/inodes.py", "if wanted * INODE > MUCH * geometry.size_bytes or files > MEANT * wanted:", "if False:"),
        ),
    ),
    Defect(
        "D10", "swap on a mirror halved the rate of the array beside it",
        (f"{ESTIMATE}/test_estimates.py::test_swap_on_a_mirror_takes_nothing_from_the_other_arrays",),
        (Mend("raidplan/estimate/sharing.py", "idle = set(_below_swap_alone(structure, outermost))", "idle = set[Path]()"),),
    ),
    Defect(
        "D11", "a group of two equal arrays lost their stripe",
        (f"{RULES}/test_thresholds_volumes.py::test_a_group_of_two_arrays_has_their_stripe_if_it_is_one",),
        (Mend(
            "raidplan/layout/kinds/lvm.py",
            "if len({(part.chunk, part.data_disks) for part in parts}) == 1 else None",
            "if len(parts) == 1 else None",
        ),),
    ),
    Defect(
        "D12", "initial_sync: zero stopped half-way with mdadm 4.2",
        (
            f"{RULES}/test_hints_followed.py::test_initial_sync_needs_mdadm",
            "tests/render/test_versions_sh.py::test_only_a_script_that_needs_it_asks_and_before_anything_is_found",
        ),
        (
            Mend("raidplan/rules/initial_sync.py", "for name in zeroed[:1]:", "for name in ():"),
            Mend("raidplan/apply/preflight/versions.py", 'Need("mdadm", ("--write-zeroes",), "4.3"', 'Need("mdadm", ("--write-zeroes",), "4.2"'),
        ),
    ),
    Defect(
        "D13", "inodes that are exactly used up were nothing to report",
        (f"{RULES}/test_thresholds_inodes.py::test_not_enough_inodes",),
        (Mend("raidplan/rules/inodes.py", "MEANT = 0.99", "MEANT = 1"),),
    ),
    Defect(
        "D14", "disks of unknown rate were as fast as their links",
        (f"{ESTIMATE}/test_estimates.py::test_hard_disks_of_unknown_rate_are_no_faster_than_hard_disks",),
        (Mend("raidplan/estimate/machine.py", "if disk.rate else self._class(name).rate", "if disk.rate else 1e12"),),
    ),
    Defect(
        "D15", "supplies that feed twice were missing from what is survived",
        ("tests/survival/test_by_hand.py::test_a_supply_that_is_not_needed_stands_among_what_is_survived",),
        (Mend("raidplan/estimate/survival/components.py", "others = tuple(disk for disk in fed if disk not in needed)", "others = ()"),),
    ),
    Defect(
        "D16", "a mount waited 120 s for disks that take three minutes",
        (f"{RULES}/test_hints_followed.py::test_wait_ends_before_disks",),
        (Mend("raidplan/rules/autostart.py", "        if wait < seconds:", "        if False:"),),
    ),
    Defect(
        "D17", "40 disks were put on one controller of VirtualBox, which has 30 ports",
        ("tests/vagrant/test_virtualbox.py::test_forty_disks_hang_on_two_controllers_beside_the_boxes_own",),
        (Mend("vagrant/virtualbox.py", "PORTS = 30", "PORTS = 41"),),
    ),
    Defect(
        "D18", "a mirror of a solid-state disk and a hard disk was nothing to report",
        (f"{RULES}/test_thresholds_members.py::test_mirror_without_write_mostly",),
        (Mend("raidplan/rules/member_kinds.py", '_turning(topology, array.named_members) if array.level == "raid1" else {}', "{}"),),
    ),
    Defect(
        "D20", "of what raidplan does not do, it said a list of keys",
        (f"{RULES}/test_hints_followed.py::test_of_what_raidplan_does_not_do_it_says_what_to_do",),
        (Mend("raidplan/layout/load.py", "hint = NOT_DONE.get(key) or f", "hint = f"),),
    ),
    Defect(
        "D21", "a raid0 of unequal members left its layout to mdadm",
        ("tests/compiler/test_unequal_stripes.py::test_the_layout_is_named_where_it_matters",),
        (Mend(
            "raidplan/layout/kinds/array_create.py",
            "if array.effective_layout and (not level.zoned or geometry.zones > 1):",
            "if array.effective_layout and not level.zoned:",
        ),),
    ),
)  # fmt: skip
OPEN = {
    "D19": "error_recovery and command_timeout are what the layout says of a disk, and no step makes them so: a stated limit",
}
"""Defects without a mend."""


def main(names: Sequence[str]) -> int:
    """Print each defect with its result; 1 if the tests of one pass without its mend."""
    missed = 0
    for defect in DEFECTS:
        for number, failed in enumerate(tried(defect) if not names or defect.name in names else ()):
            missed += not failed
            outcome = "fail without it" if failed else "PASS WITHOUT IT"
            sys.stdout.write(f"{defect.name} {defect.mends[number].file}: its tests {outcome}\n")
    return int(missed > 0)


def tried(defect: Defect) -> Iterator[bool]:
    """For each mend of a defect, whether a test of it fails without."""
    for mend in defect.mends:
        yield not passed(defect.tests, mend)


def passed(tests: Sequence[str], mend: Mend | None = None) -> bool:
    """Whether the tests pass in a copy of the project, with a mend taken back. Raises RuntimeError where they cannot run."""
    with TemporaryDirectory() as folder:
        for each in NEEDED:
            copy = shutil.copytree if (ROOT / each).is_dir() else shutil.copy
            copy(ROOT / each, Path(folder, each))
        if mend:
            file = Path(folder, mend.file)
            file.write_text(file.read_text().replace(mend.text, mend.without))
        argv = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0", *tests]
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
