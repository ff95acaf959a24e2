"""The tables of versions: what they refuse and note, and what the programs that are installed here really do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.note import Note, note
from raidplan.apply.preflight.versions import (
    NEEDS,
    behaviours,
    known_packages,
    notes,
    numbers,
    too_old,
    written,
)
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.figures import Figures
from raidplan.facts import Machine
from raidplan.facts.host import parse_version, versions
from raidplan.plan.step import Plan
from tests.apply.stacks import plan_of

PATH = f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin"
LAYOUT = """\
version: 1
host: v
hardware:
  disks: {{d<0-5>: {{size: 1TB, serial: V-<1>}}}}
arrays:
  os: {{level: raid1, members: [d<0-1>]}}
  data: {{level: {level}, members: [d<2-5>], initial_sync: {sync}}}
volume_groups: {{vg0: {{devices: [data], volumes: {{a: {{size: 1TB}}, b: {{size: 1TB}}, s: {{size: 1GiB}}}}}}}}
filesystems:
  os: {{device: os, type: xfs, mount: {mount}}}
  a: {{device: vg0.a, type: ext4, mount: /srv/a}}
  b: {{device: vg0.b, type: btrfs, mount: /srv/b}}
swap: {{s: {{device: vg0.s}}}}
"""


def plan(tmp_path: Path, level: str = "raid5", sync: str = "run", mount: str = "/srv/os") -> Plan:
    return plan_of(LAYOUT.format(level=level, sync=sync, mount=mount), tmp_path)


def machine(kernel: str = "6.1.0-38-amd64", installed: tuple[str, ...] = (), **versions: str) -> Machine:
    tools = {name.replace("_", "."): {"version": version} for name, version in versions.items()}
    return Machine(objects={"tool": tools, "kernel": {each: {} for each in installed}}, kernel=kernel)


FINE = {
    "mdadm": "4.3",
    "sfdisk": "2.38.1",
    "mkswap": "2.38.1",
    "mke2fs": "1.47.0",
    "mkfs_xfs": "6.1.0",
    "mkfs_btrfs": "6.2",
    "vgcreate": "2.03.16",
}


def old(program: str, version: str, oldest: str) -> Refusal:
    return refusal("version", "old", place=program, version=version, oldest=oldest)


def option(place: str, line: int, program: str, since: str, word: str, version: str) -> Refusal:
    """The refusal of a program that does not know an option which the plan uses."""
    needs: Figures = {"program": program, "since": since, "options": (word,), "version": version}
    return Refusal("version", "option", place, line, needs)


OLD = {
    "mdadm": ({"mdadm": "4.1"}, old("mdadm", "4.1", "4.2")),
    "sfdisk": ({"sfdisk": "2.35.2"}, old("sfdisk", "2.35.2", "2.36")),
    "mkfs.btrfs": ({"mkfs_btrfs": "4.2.3"}, old("mkfs.btrfs", "4.2.3", "4.3")),
    "mkswap": ({"mkswap": "2.37.2"}, option("swap.s", 13, "mkswap", "2.38", "--quiet", "2.37.2")),
    "vgcreate": (
        {"vgcreate": "2.03.11"},
        option("volume_groups.vg0", 8, "vgcreate", "2.03.12", "--setautoactivation", "2.03.11"),
    ),
}


def told(plan: Plan, machine: Machine) -> list[Note]:
    return [*notes(plan, machine)]


def reader(code: str, place: str, line: int, what: str, program: str, since: str, version: str = "") -> Note:
    """The note on something that only later kernels or boot loaders read."""
    figures = {"what": what, "program": program, "since": since, "version": version}
    return Note(code, place, line, figures)


def test_versions_that_fit_get_no_word(tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert ([*too_old(made, machine(**FINE))], told(made, machine(**FINE))) == ([], [])
    assert list(too_old(made, Machine())) == [], "what nobody knows is left to the program"


@pytest.mark.parametrize("name", OLD)
def test_what_is_too_old_is_refused_with_both_versions(name: str, tmp_path: Path) -> None:
    found, reason = OLD[name]
    assert reason in list(too_old(plan(tmp_path), machine(**{**FINE, **found})))


@pytest.mark.parametrize("found", ["4.2", "4.3", "4.6"])
def test_zeroing_needs_an_mdadm_that_zeroes(found: str, tmp_path: Path) -> None:
    zeroes = option("arrays.data", 7, "mdadm", "4.3", "--write-zeroes", "4.2")
    refused = list(too_old(plan(tmp_path, sync="zero"), machine(**{**FINE, "mdadm": found})))
    assert refused == [zeroes] * (found == "4.2")
    assert not list(too_old(plan(tmp_path), machine(**{**FINE, "mdadm": found})))


def test_programs_that_the_plan_does_not_run_may_be_old(tmp_path: Path) -> None:
    made = plan(tmp_path)
    without = replace(made, steps=tuple(step for step in made.steps if not step.because.startswith("swap")))
    assert not list(too_old(without, machine(**{**FINE, "mkswap": "2.20"})))


NEW = {
    "mdadm": ("4.6.1", "4.7"),
    "mke2fs": ("1.47.4", "1.48"),
    "mkfs_xfs": ("6.12.9", "7.0"),
    "mkfs_btrfs": ("6.19.1", "6.20"),
    "sfdisk": ("2.42.4", "2.43"),
}


@pytest.mark.parametrize("tool", NEW)
def test_what_is_newer_than_the_tables_is_noted_and_not_refused(tool: str, tmp_path: Path) -> None:
    known, new = NEW[tool]
    made, name = plan(tmp_path), tool.replace("_", ".")
    newer = note("program-newer", program=name, version=new, newest=known.rpartition(".")[0])
    found = told(made, machine(**{**FINE, tool: new}))
    assert [each for each in found if each.code == newer.code] == [newer]
    assert not list(too_old(made, machine(**{**FINE, tool: new})))
    assert newer.code not in {each.code for each in told(made, machine(**{**FINE, tool: known}))}


def test_superblocks_that_older_kernels_refuse(tmp_path: Path) -> None:
    made = plan(tmp_path)
    (unknown,) = told(made, machine("6.19.6+deb14-amd64", **FINE))
    assert (unknown.code, unknown.place, unknown.line) == ("kernel-unknown", "arrays.os", 6)
    assert (unknown.figures["program"], unknown.figures["since"]) == ("mdadm", "6.19")
    old = {**unknown.figures, "version": "6.1.0-38-amd64"}
    both = ("6.19.6+deb14-amd64", "6.1.0-38-amd64")
    assert told(made, machine(both[0], both, **FINE)) == [Note("kernel-cannot-read", "arrays.os", 6, old)]
    assert not told(made, machine(both[0], both[:1], **FINE))
    assert not told(made, machine("6.18.15", ("6.18.15", "5.10.0"), **FINE))


def test_file_systems_that_older_kernels_and_boot_loaders_refuse(tmp_path: Path) -> None:
    later = {**FINE, "mkfs_xfs": "6.6.0", "mkfs_btrfs": "6.19"}
    xfs = ("filesystems.os", 10, "nrext64", "mkfs.xfs")
    btrfs = ("filesystems.b", 12, "block-group-tree", "mkfs.btrfs")
    kernel = "5.10.0-30"
    assert told(plan(tmp_path), machine(kernel, (kernel,), **later)) == [
        reader("kernel-cannot-read", *xfs, "5.19", kernel),
        reader("kernel-cannot-read", *btrfs, "6.1", kernel),
    ]
    assert told(plan(tmp_path), machine("6.12.0", **later)) == [
        reader("kernel-unknown", *xfs, "5.19"),
        reader("kernel-unknown", *btrfs, "6.1"),
    ], "in a rescue system; but not what 5.10 can read"
    installed = machine(installed=("6.1.0-38-amd64",), **later)
    assert not told(plan(tmp_path), installed)
    boots = plan(tmp_path, mount="/boot")
    grub = [each for each in told(boots, machine(**later)) if each.code == "loader-cannot-read"]
    assert reader("loader-cannot-read", *xfs, "2.12") in grub and len(grub) == 2
    older = installed
    older = replace(
        older,
        objects={**older.objects, "tool": {**older.objects["tool"], "grub-install": {"version": "2.06"}}},
    )
    assert told(boots, older) == [reader("loader-cannot-read", *xfs, "2.12", "2.06")]
    newer = replace(
        older,
        objects={**older.objects, "tool": {**older.objects["tool"], "grub-install": {"version": "2.12"}}},
    )
    assert told(boots, newer) == []


# What the installed programs do, held against the tables whatever their versions are.


def run(*argv: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": PATH, "LC_ALL": "C", "LVM_SUPPRESS_FD_WARNINGS": "1"}
    return subprocess.run(
        [*map(str, argv)], capture_output=True, text=True, input=stdin, env=env, check=False
    )


ASK = {program: argv for argv, programs in versions().items() for program in programs} | {
    "sgdisk": ("sgdisk", "--version")
}


def version(program: str) -> tuple[int, ...]:
    """Of the installed program; skips where it is not installed."""
    if not shutil.which(program, path=PATH):
        pytest.skip(f"{program} is not installed")
    done = run(*ASK[program])
    found = numbers(parse_version(f"{done.stdout}\n{done.stderr}"))
    assert found
    return found


def image(folder: Path, mib: int = 64) -> Path:
    file = folder / f"image{mib}"
    with file.open("wb") as made:
        made.truncate(mib * 2**20)
    return file


OPTIONS: dict[tuple[str, str], Callable[[Path], tuple[Any, ...]]] = {
    ("mdadm", "--write-zeroes"): lambda folder: ("mdadm", "--create", "/dev/md/probe", "--write-zeroes", "--help"),
    ("mdadm", "--layout="): lambda folder: ("mdadm", "--create", "/dev/md/probe", "--level=raid0", "--layout=original", "--help"),
    ("mkswap", "--quiet"): lambda folder: ("mkswap", "--quiet", image(folder)),
    ("sfdisk", "--lock"): lambda folder: ("sfdisk", "--lock=yes", "--version"),
    ("vgcreate", "--setautoactivation"): lambda folder: ("vgcreate", "--setautoactivation=y", "--help"),
}  # fmt: skip


@pytest.mark.parametrize("need", NEEDS, ids=lambda need: f"{need.program} {need.words[-1]}")
def test_an_option_is_there_exactly_from_its_version_on(need: Any, tmp_path: Path) -> None:
    knows = version(need.program) >= numbers(need.since)
    done = run(*OPTIONS[need.program, need.words[-1]](tmp_path))
    assert (done.returncode == 0) == knows, done.stderr
    if not knows:
        assert str(done.returncode) == need.before.rpartition(" ")[2]


def create(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """What mdadm says of files that cannot be members, before it writes anything."""
    return run(
        "mdadm",
        "--create",
        "/dev/md/probe",
        "--run",
        "--raid-devices=2",
        *options,
        image(folder, 32),
        image(folder, 33),
    )


def label(file: Path) -> str:
    return run("blkid", "--probe", "--output", "value", "--match-tag", "LABEL", file).stdout.strip()


def chunk_of_raid1(folder: Path) -> bool:
    return (
        "chunk size is forbidden"
        in create(folder, "--metadata=1.2", "--level=raid1", "--chunk=64K", "--bitmap=none").stderr
    )


def old_raid0(folder: Path) -> bool:
    return (
        "does not support layouts for RAID0"
        in create(folder, "--metadata=0.90", "--level=raid0", "--chunk=64K").stderr
    )


def bitmap_file(folder: Path) -> bool:
    return (
        run(
            "mdadm", "--create", "/dev/md/probe", "--level=raid1", f"--bitmap={folder}/bitmap", "--help"
        ).returncode
        != 0
    )


def strange_name(folder: Path) -> bool:
    return run("mdadm", "--create", "/dev/md/probe", "--level=raid1", "--name=a+b", "--help").returncode != 0


def logical_block(folder: Path) -> bool:
    done = run("mdadm", "--create", "/dev/md/probe", "--level=raid1", "--logical-block-size=4096", "--help")
    return "unrecognized option" not in done.stderr


def swap_label(folder: Path) -> bool:
    return (
        run("mkswap", "--label", "x" * 20, image(folder)).returncode == 0
        and label(image_of(folder)) == "x" * 15
    )


def image_of(folder: Path) -> Path:
    return folder / "image64"


def name_of(folder: Path) -> str:
    found = re.search(r'name="([^"]*)"', run("sfdisk", "--dump", image_of(folder)).stdout)
    return found[1] if found else ""


def partitioned(folder: Path, name: str = "one") -> int:
    script = f'label: gpt\nsize=1MiB, name="{name}"\n'
    return run("sfdisk", "--quiet", image(folder), stdin=script).returncode


def sfdisk_name(folder: Path) -> bool:
    return partitioned(folder, "n" * 40) == 0 and name_of(folder) == "n" * 36


def sgdisk_name(folder: Path) -> bool:
    partitioned(folder)
    return run("sgdisk", "-c", "1:a:b", image_of(folder)).returncode == 0 and name_of(folder) == "a"


def sgdisk_guid(folder: Path) -> bool:
    partitioned(folder)
    return run("sgdisk", "-u", "1:nonsense", image_of(folder)).returncode == 0


def last_extended(folder: Path) -> bool:
    told = run(
        "mke2fs", "-n", "-v", "-F", "-t", "ext4", "-E", "stride=16", "-E", "stripe_width=32", image(folder)
    ).stdout
    assert "Stripe width=32" in told
    return "Stride=16" not in told


def ext_label(folder: Path) -> bool:
    return (
        run("mke2fs", "-q", "-F", "-L", "x" * 20, image(folder)).returncode == 0
        and label(image_of(folder)) == "x" * 16
    )


def small_xfs(folder: Path) -> bool:
    return "300MB" in run("mkfs.xfs", "-N", image(folder)).stderr


def xfs_label(folder: Path) -> bool:
    return run("mkfs.xfs", "-N", "-L", "x" * 13, image(folder, 512)).returncode != 0


def btrfs_label(folder: Path) -> bool:
    return run("mkfs.btrfs", "--quiet", "--label", "x" * 256, image(folder, 512)).returncode != 0


def no_device_mapper(folder: Path) -> bool:
    """Told before any group is looked for."""
    if (
        Path("/sys/module/dm_mod").exists()
        or run("modprobe", "--dry-run", "--quiet", "dm_mod").returncode == 0
    ):
        pytest.skip("this kernel has dm_mod")
    done = run("lvcreate", "--yes", "--size=8M", "--name=probe", "no-such-group")
    return done.returncode == 3 and "device-mapper target(s) not detected" in done.stderr


def fat_label(folder: Path) -> bool:
    return run("mkfs.vfat", "-F", "32", "-n", "X" * 12, image(folder)).returncode != 0


def f2fs_label(folder: Path) -> bool:
    refused = run("mkfs.f2fs", "-l", "x" * 513, image(folder)).returncode != 0
    assert run("mkfs.f2fs", "-q", "-t", "0", image(folder)).returncode == 0
    return (
        refused
        and run("f2fslabel", image_of(folder), "x" * 513).returncode == 0
        and not label(image_of(folder))
    )


def f2fs_discards(folder: Path) -> bool:
    assert "Trim is disabled" in run("mkfs.f2fs", "-t", "0", image(folder)).stdout
    return "Trim is enabled" in run("mkfs.f2fs", "-f", image_of(folder)).stdout


PROBES: dict[str, tuple[str, Callable[[Path], bool]]] = {
    "a chunk size for raid1 is refused": ("mdadm", chunk_of_raid1),
    "raid0 with metadata 0.90": ("mdadm", old_raid0),
    "a bitmap in a file": ("mdadm", bitmap_file),
    "names with other letters": ("mdadm", strange_name),
    "--logical-block-size": ("mdadm", logical_block),
    "mkswap cuts": ("mkswap", swap_label),
    "sfdisk cuts": ("sfdisk", sfdisk_name),
    "sgdisk ends a name": ("sgdisk", sgdisk_name),
    "sgdisk makes some GUID": ("sgdisk", sgdisk_guid),
    "of several -E": ("mke2fs", last_extended),
    "a label is cut to 16": ("mke2fs", ext_label),
    "file systems below 300 MB": ("mkfs.xfs", small_xfs),
    "a label of more than 12": ("mkfs.xfs", xfs_label),
    "a label of more than 255": ("mkfs.btrfs", btrfs_label),
    "a label of more than 512": ("mkfs.f2fs", f2fs_label),
    "mkfs.f2fs discards": ("mkfs.f2fs", f2fs_discards),
    "without dm_mod": ("lvcreate", no_device_mapper),
    "a label of more than 11": ("mkfs.vfat", fat_label),
}  # fmt: skip
NOT_PROBED = {
    "redundant arrays on members above 100 GiB": "needs a kernel with md; the bitmap is always given",
    "without --bitmap it asks": "needs a kernel with md; the bitmap is always given",
    "before md_mod": "needs a kernel with md as a module",
    "metadata is kept twice on every": "needs a disk that is not rotational; the profiles are always given",
    "metadata_csum_seed and orphan_file": "mke2fs.conf decides; what a plan asks for is tested below",
}


@pytest.mark.parametrize("probe", PROBES)
def test_programs_behave_as_the_table_says(probe: str, tmp_path: Path) -> None:
    program, does = PROBES[probe]
    if program == "mdadm" and os.geteuid():
        pytest.skip("needs root: for anybody else mdadm looks at nothing")
    (row,) = (row for row in behaviours() if row.what.startswith(probe))
    here = version(program)
    expected = here >= numbers(row.since) and not (row.until and here >= numbers(row.until))
    assert does(tmp_path) == expected


def test_every_behaviour_is_probed_or_it_is_said_why_not() -> None:
    begins = [*PROBES, *NOT_PROBED]
    for row in behaviours():
        assert sum(row.what.startswith(begin) for begin in begins) == 1, row.what


def test_ext4_of_a_plan_has_no_feature_that_grub_2_06_lacks(tmp_path: Path) -> None:
    version("mke2fs")
    made = plan(tmp_path)
    argv = next(step.action.argv for step in made.steps if getattr(step.action, "argv", ("",))[0] == "mke2fs")
    features = argv[argv.index("-O") + 1]
    assert run("mke2fs", "-q", "-F", "-t", "ext4", "-O", features, image(tmp_path)).returncode == 0
    made_with = run("dumpe2fs", "-h", image_of(tmp_path)).stdout
    assert "metadata_csum" in made_with
    assert "metadata_csum_seed" not in made_with and "orphan_file" not in made_with


@pytest.mark.parametrize(
    "row", [row for row in written() if row.program == "mkfs.xfs"], ids=lambda row: row.what
)
def test_mkfs_xfs_writes_it_exactly_from_its_version_on(row: Any, tmp_path: Path) -> None:
    here = version("mkfs.xfs")
    told = run("mkfs.xfs", "-N", image(tmp_path, 512)).stdout
    for feature in row.what.split(" and "):
        assert (f"{feature}=1" in told or f"{feature.replace('inobtcount', 'inobtcount')}=1" in told) == (
            here >= numbers(row.since)
        )


@pytest.mark.parametrize(
    "row", [row for row in written() if row.program == "mkfs.btrfs"], ids=lambda row: row.what
)
def test_mkfs_btrfs_writes_it_exactly_from_its_version_on(row: Any, tmp_path: Path) -> None:
    here = version("mkfs.btrfs")
    file = image(tmp_path, 512)
    assert run("mkfs.btrfs", "--quiet", file).returncode == 0
    told = run("btrfs", "inspect-internal", "dump-super", file).stdout
    for feature in row.what.split(" and "):
        assert (feature.replace("-", "_").upper() in told) == (here >= numbers(row.since))


def test_versions_are_compared_as_numbers() -> None:
    assert numbers("2.03.16") > numbers("2.03.9") and numbers("1.47.0") > numbers("1.9")
    assert numbers("6.19.6+deb14-amd64") == (6, 19, 6) and numbers("") == numbers("v1") == ()
    for package in known_packages():
        assert numbers(package.oldest) <= numbers(package.newest)
