"""The read-ahead of a volume on arrays: LVM finds the kernel's default when an initramfs activates it, so a number is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.plan.step import Run
from tests.compiler.small_layouts import planned
from tests.diff.layouts import compared, fates, ways

DISKS = "version: 1\nhost: example\nhardware: {disks: {d<0-5>: {serial: S<1>, size: 1TB}}}\n"
FIRST, SECOND = (
    "level: raid0, chunk: 512KiB, members: [d<0-1>]",
    "level: raid5, chunk: 1MiB, members: [d<2-5>]",
)
VOLUME = "volume_groups.v.volumes.x"


def layout(first: str, second: str | None, volume: str) -> str:
    """A volume on one array or on two: what is written of each beside its geometry, and of the volume."""
    arrays = {"a": f"{FIRST}{first}"} | ({} if second is None else {"b": f"{SECOND}{second}"})
    listed = "".join(f"  {name}: {{{words}}}\n" for name, words in arrays.items())
    group = (
        f"volume_groups: {{v: {{devices: [{', '.join(arrays)}], volumes: {{x: {{size: 1GiB{volume}}}}}}}}}\n"
    )
    return f"{DISKS}arrays:\n{listed}{group}"


@pytest.mark.parametrize(
    ("first", "second", "volume", "sectors"),
    [
        ("", None, "", "auto"),
        ("", None, ", read_ahead: auto", "auto"),
        ("", None, ", read_ahead: 1MiB", "2048s"),
        (", read_ahead: 4MiB", None, "", "8192s"),
        (", read_ahead: 4MiB", None, ", read_ahead: auto", "8192s"),
        (", read_ahead: 4MiB", None, ", read_ahead: 1MiB", "2048s"),
        (", read_ahead: 0B", None, "", "0s"),
        ("", "", "", "auto"),
        # LVM takes that of the array on which the volume begins, and that is LVM's to choose.
        (", read_ahead: 8MiB", "", "", "auto"),
        (", read_ahead: 4MiB", ", read_ahead: 2MiB", "", "auto"),
        (", read_ahead: 4MiB", ", read_ahead: 4MiB", "", "8192s"),
        (", read_ahead: 4MiB", "", ", read_ahead: 1MiB", "2048s"),
    ],
)
def test_the_number_is_that_of_the_volume_or_of_all_arrays_below(
    first: str, second: str | None, volume: str, sectors: str, tmp_path: Path
) -> None:
    made = planned(layout(first, second, volume), tmp_path)
    (step,) = (step for step in made.steps if step.id == "volume.v.x.create")
    assert isinstance(step.action, Run) and step.proof
    assert f"--readahead={sectors}" in step.action.argv
    assert step.proof.expect["read_ahead"] == ("auto" if sectors == "auto" else int(sectors[:-1]) * 512)


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ((", read_ahead: 4MiB", ""), (", read_ahead: 8MiB", ""), True),
        (("", ""), (", read_ahead: 8MiB", ""), True),
        ((", read_ahead: 4MiB", ""), (", read_ahead: 4MiB", ", read_ahead: 4MiB"), False),
        ((", read_ahead: 4MiB", ", read_ahead: 1MiB"), (", read_ahead: 8MiB", ", read_ahead: 1MiB"), False),
    ],
)
def test_another_number_of_the_array_is_one_of_the_volume(
    old: tuple[str, str], new: tuple[str, str], changed: bool
) -> None:
    made = compared(*(layout(array, None, volume).partition("example\n")[2] for array, volume in (old, new)))
    assert (VOLUME in fates(made)) is changed
    if changed:
        assert ways(made, VOLUME) == {"read_ahead": "lvchange --readahead"}


ENCRYPTED = f"""{DISKS}arrays: {{a: {{{FIRST}, read_ahead: 4MiB}}}}
encryption: {{c: {{device: a, key: ask}}}}
volume_groups: {{v: {{devices: [c], volumes: {{x: {{size: 1GiB}}}}}}}}
"""


def test_an_encryption_reads_as_far_ahead_as_the_array_below(tmp_path: Path) -> None:
    (step,) = (step for step in planned(ENCRYPTED, tmp_path).steps if step.id == "volume.v.x.create")
    assert isinstance(step.action, Run) and "--readahead=8192s" in step.action.argv


def unsized(volume: str) -> str:
    """The layout without sizes of disks, so that no device of it is known."""
    return layout(", read_ahead: 4MiB", None, volume).replace(", size: 1TB", "").partition("example\n")[2]


def test_a_number_that_is_written_is_compared_without_sizes_too() -> None:
    made = compared(unsized(", read_ahead: 1MiB"), unsized(", read_ahead: 2MiB"))
    assert ways(made, VOLUME) == {"read_ahead": "lvchange --readahead"}


def test_a_size_that_is_added_is_no_other_read_ahead() -> None:
    sized = layout(", read_ahead: 4MiB", None, "").partition("example\n")[2]
    made = compared(unsized(""), sized)
    assert "read_ahead" not in (ways(made, VOLUME) if VOLUME in fates(made) else {})
