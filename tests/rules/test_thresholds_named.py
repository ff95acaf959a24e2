"""Every number that a rule compares with has a test on both sides of it; a new one has to name its test here.

A constant that is not in the table fails here. That the test named beside it notices another value is what mutation
testing shows (`tests/mutation`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import raidplan.rules

RULES = Path(raidplan.rules.__file__).parent
TESTS = Path(__file__).parent

SHOWN_BY = {
    "buses.ENOUGH": "wiring::test_link_slower_than_disk",
    "chunk.LEAST": "geometry::test_invalid_chunk",
    "chunk.MOST": "names::test_what_the_kernel_counts_in_31_bits_and_where_a_log_ends",
    "chunk.RANDOM_MOST": "geometry::test_chunk_for_workload",
    "chunk.STREAMS_LEAST": "geometry::test_chunk_for_workload",
    "consistency.LARGE": "consistency::test_no_bitmap_from_100_gib_on",
    "crowded_links.MULTIPLIERS_ON_CARD": "links::test_multipliers_crowd_card",
    "disk_care.SOON": "disks::test_head_parking",
    "disk_care.WARM": "disks::test_hot_disks",
    "error_recovery.KERNEL_TIMEOUT": "disks::test_error_recovery",
    "esp.ROOM_FOR_KERNELS": "boot::test_small_esp_for_kernels",
    "error_recovery.PATIENT": "disks::test_error_recovery",
    "filesystems.BULK": "filesystems::test_reserved_on_bulk_data",
    "inode_tables.MUCH": "inodes::test_inode_table_overhead",
    "inode_tables.SOME": "inodes::test_inode_table_overhead",
    "inode_tables.DENSE": "inodes::test_inode_density_drops",
    "inodes.FULL": "inodes::test_not_enough_inodes",
    "inodes.MEANT": "inodes::test_not_enough_inodes",
    "sectors.LARGE": "sectors::test_physical_block_not_stated",
    "shares.UNEQUAL": "links::test_slow_path_in_stripe",
    "machine.BATCH_CHARACTERS": "wiring::test_same_batch_members",
    "member_kinds.SLOW": "members::test_slow_member",
    "member_kinds.SLOWER": "members::test_slow_member",
    "member_sizes.SPREAD": "members::test_one_percent",
    "metadata.MOST_CHARACTERS": "triggers::test_length_of_a_name",
    "metadata.MOST_JOURNAL": "triggers::test_most_members_of_a_log",
    "metadata.MOST_NUMBER": "names::test_numbers_as_names_of_arrays",
    "autostart.SHORTEST": "filesystems::test_mount_blocks_boot",
    "multipliers.UNEVEN": "wiring::test_unbalanced_multipliers",
    "outside.PAYLOAD": "disks::test_network_slower_than_array",
    "power.FULL": "power::test_power_budget",
    "power.LAST_RESORT": "power::test_late_disks_at_boot",
    "power.START_GAP": "power::test_late_disks_at_boot",
    "read_ahead.LARGE": "tuning::test_large_read_ahead",
    "rebuild.DAY": "links::test_rebuild_window",
    "rebuild.LIKELY": "levels::test_read_error_in_rebuild",
    "rebuild.LONG_HOURS": "links::test_rebuild_window",
    "redundancy.SPARE_FROM": "levels::test_members",
    "redundancy.WIDE": "levels::test_members",
    "shared_disks.SYNC_HOURS": "wiring::test_arrays_share_disks",
    "shares.ENOUGH": "links::test_oversubscribed_link",
    "stripe_cache.MUCH": "tuning::test_stripe_cache_memory",
    "stripe_cache.TOO_MUCH": "tuning::test_stripe_cache_memory",
    "stripe_cache.USEFUL_ENTRIES": "tuning::test_large_stripe_cache",
    "swap_files.PRIORITIES": "swap::test_swap_priority_range",
    "sync_speed.LONG_SYNC_HOURS": "tuning::test_only_what_takes_an_hour_is_worth_a_line",
    "sync_speed.STARVING": "tuning::test_sync_starves_users",
    "tuning.GROUP_THREADS": "tuning::test_thread_count_range",
    "tuning.STRIPE_CACHE": "tuning::test_the_range_of_the_stripe_cache",
    "tuning.SYNC_KIB": "tuning::test_sync_speed_range",
    "volume_names.MAPPED": "names::test_names_of_groups_and_volumes",
    "workloads.ENOUGH": "workloads::test_workloads_share_array",
}
"""`test_x` of `tests/rules/test_thresholds_y.py`, or of `test_y.py`, by the number it is about."""

NO_THRESHOLD = {
    "advice.ENTRY": "parts of a path",
    "autostart.LATE": "a measured boot, counted with",
    "autostart.PATIENCE": "added to a wait in a hint",
    "loader_places.BIOS": "which partition a hint names",
    "loader_places.EFI": "which partition a hint names",
    "copies.MOST_ORDER": "so many members are written out in a hint",
    "disk_care.GREEN_PARKS": "what a family of disks does by itself, counted with",
    "candidates.ALIKE": "bounds the work of a hint",
    "harmless.BOUNDS": "the limits of the rules about links, which have tests of their own",
    "candidates.TRIED": "bounds the work of a hint",
    "free_devices.MOST_VISITED": "bounds the work of a hint",
    "mount_options.WRITTEN": "the wait that raidplan writes, said in a hint",
    "volumes.STEP": "the kernel's step of a read-ahead, counted in",
}
"""Numbers that decide nothing about whether something is found, and what they do."""


def numbers() -> Iterator[str]:
    """`module.NAME` of each constant of the rules that is a number, or has numbers in it."""
    for file in RULES.rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.Assign) and any(map(_number, ast.walk(node.value))):
                names = (each.id for t in node.targets for each in ast.walk(t) if isinstance(each, ast.Name))
                yield from (f"{file.stem}.{name}" for name in names if name.isupper())


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def test_of_all_numbers_is_known_what_shows_them() -> None:
    assert set(numbers()) == SHOWN_BY.keys() | NO_THRESHOLD.keys()
    assert not SHOWN_BY.keys() & NO_THRESHOLD.keys()


def test_what_shows_a_number_is_there() -> None:
    there = set()
    for file in TESTS.glob("test_*.py"):
        topic = file.stem.removeprefix("test_").removeprefix("thresholds_")
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                there.add(f"{topic}::{node.name}")
    assert set(SHOWN_BY.values()) <= there
