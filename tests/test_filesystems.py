"""The table of file system types: each has one owner, and whoever asks hears the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.apply.preflight.versions import known_packages
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.filesystems.type import FilesystemType
from raidplan.facts.host import modules, versions
from raidplan.facts.magic import OTHERS
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.layout.kinds.model import OneOf, fields
from raidplan.plan.changes import Before, short
from raidplan.twin.server.recipe import Recipe

NODE = "/dev/md/a"
RELABELLED = {
    "ext2": "e2label /dev/md/a new",
    "ext3": "e2label /dev/md/a new",
    "ext4": "e2label /dev/md/a new",
    "xfs": "xfs_admin -L new /dev/md/a",
    "btrfs": "btrfs filesystem label /dev/md/a new",
    "f2fs": "f2fslabel /dev/md/a new",
    "vfat": "fatlabel /dev/md/a new",
}
WITHOUT = {
    "ext2": "e2label /dev/md/a ",
    "ext3": "e2label /dev/md/a ",
    "ext4": "e2label /dev/md/a ",
    "xfs": "xfs_admin -L -- /dev/md/a",
    "btrfs": "btrfs filesystem label /dev/md/a ",
    "f2fs": "f2fslabel /dev/md/a ",
    "vfat": "fatlabel --reset /dev/md/a",
}
ALL = pytest.mark.parametrize("kind", FILESYSTEMS.values(), ids=FILESYSTEMS)


def test_a_layout_can_name_every_type_and_no_other() -> None:
    written = fields(Filesystem)["type"].hint.__metadata__[0]
    assert isinstance(written, OneOf)
    assert [*written.words] == [*FILESYSTEMS]


@ALL
def test_diff_names_the_command_that_apply_runs(kind: FilesystemType) -> None:
    argv = kind.relabel(NODE, "new", "")
    assert " ".join(argv) == RELABELLED[kind.name]
    assert " ".join(argv).startswith(short(kind.labelled) + " ")
    assert " ".join(kind.relabel(NODE, "", "")) == WITHOUT[kind.name]


@ALL
def test_what_has_to_be_unmounted_is_told_by_both(kind: FilesystemType) -> None:
    assert kind.labelled.before == (() if kind.labelled_mounted else (Before.UNMOUNTED,))


@ALL
def test_its_program_is_asked_for_its_version_and_is_on_the_virtual_server(kind: FilesystemType) -> None:
    assert versions()[kind.version] == kind.package.programs
    assert (kind.package in known_packages()) == bool(kind.package.oldest)
    assert kind.package.name in Recipe().packages
    assert not kind.module or kind.module in modules()


def test_its_magic_numbers_stand_with_it_alone() -> None:
    assert all(each.magics for each in FILESYSTEMS.values())
    assert not {magic.type for magic in OTHERS} & {*FILESYSTEMS}


LISTS = ("Makefile", "release/debian.py", "vagrant/provision.sh", "ansible/roles/server/vars/main.yml")


@ALL
def test_its_package_is_wherever_packages_are_listed(kind: FilesystemType) -> None:
    """Those lists are no Python that could ask the record; without its package a type cannot be made there."""
    root = Path(__file__).parents[1]
    assert [file for file in LISTS if kind.package.name not in (root / file).read_text()] == []
    roles = (root / LISTS[-1]).read_text()
    assert f"  {kind.package.programs[0]}: {kind.package.name}\n" in roles
