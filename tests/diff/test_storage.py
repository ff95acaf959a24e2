"""File systems, swap, volumes, disks and names, old against new."""

from __future__ import annotations

import pytest

from raidplan.diff.changes import Way
from raidplan.diff.statement import Statement, statement
from raidplan.plan.changes import Before
from raidplan.render.diff_names import lost_name, name_of
from raidplan.render.statements import values
from tests.diff.layouts import compared, fates, hint, lost, thing, ways, why

A, F = "arrays.a", "filesystems.f"


def on_disk(filesystem: str, disks: str = "  disks: {d0: {serial: S0, size: 3TB}}\n") -> str:
    return f"hardware:\n{disks}filesystems:\n  f: {{device: d0, {filesystem}}}\n"


IN_PLACE = {
    "mount": ("type: xfs, mount: /a", "type: xfs, mount: /b", {"mount": "umount, mount"}),
    "options": ("type: xfs, mount: /a", "type: xfs, mount: /a, options: [noatime]", {"options": "mount --options remount"}),
    "label of xfs": ("type: xfs", "type: xfs, label: x", {"label": "xfs_admin -L"}),
    "label of ext4": ("type: ext4, label: y1", "type: ext4", {"label": "e2label"}),
    "reserved": ("type: ext4", "type: ext4, reserved: 1%", {"reserved": "tune2fs -r"}),
    "ext3 to ext4": ("type: ext3", "type: ext4", {"type": "tune2fs -O extents"}),
    "what is expected": ("type: xfs", "type: xfs, files: 1000", {"files": "none"}),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_file_system_in_place(name: str) -> None:
    old, new, expected = IN_PLACE[name]
    made = compared(on_disk(old), on_disk(new))
    assert ways(made, F) == expected and fates(made) == {F: "changed"} and lost(made) == []


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [("type: ext4", "type: xfs", "type"), ("type: ext4", "type: ext3", "type"), ("type: ext4", "type: ext4, inodes: 9000000", "inodes"),
     ("type: ext4", "type: ext4, inode_ratio: 4KiB", "inodes")],
)  # fmt: skip
def test_a_file_system_made_anew(old: str, new: str, key: str) -> None:
    made = compared(on_disk(old), on_disk(new))
    assert ways(made, F)[key] is None and lost(made) == ["file system f"]
    assert fates(made) == {F: "re-created"}


SYSTEM = """\
hardware:
  disks:
    s<0-1>: {serial: S<1>, size: 4GiB, partitions: {bios: {size: 1MiB, type: bios-boot}, root: {size: rest}}}
    d0: {serial: D, size: 4GiB}
arrays: {root: {level: raid1, members: [s<0-1>.root]}}
volume_groups: {g: {devices: [root], volumes: {v: {size: 1GiB}}}}
filesystems: {root: {device: g.v, type: ext4, mount: /}, data: {device: d0, type: ext4, mount: /srv}}
"""


def test_nothing_is_done_to_what_is_described_only() -> None:
    """Its partition of the rest ends elsewhere by our reckoning: no command follows from that, but its lines leave our blocks."""
    kept = SYSTEM.replace("s<0-1>: {", "s<0-1>: {keep: true, ")
    made = compared(SYSTEM, kept)
    assert (
        fates(made) == {"hardware.disks.s0": "changed", "hardware.disks.s1": "changed"} and lost(made) == []
    )
    (change,) = thing(made, "hardware.disks.s0").changes
    assert change.key == "keep" and change.how == Way("none", (statement("keep"),))


def test_what_is_said_otherwise_of_what_is_described_only_has_no_command() -> None:
    kept = SYSTEM.replace("s<0-1>: {", "s<0-1>: {keep: true, ")
    other = kept.replace("mount: /}", "mount: /, label: new, options: [noatime]}").replace(
        "size: 1GiB", "size: 2GiB"
    )
    made = compared(kept, other)
    assert fates(made) == {"filesystems.root": "changed", "volume_groups.g.volumes.v": "changed"}
    assert ways(made, "filesystems.root") == {"label": "none", "options": "none"}
    assert ways(made, "volume_groups.g.volumes.v") == {"size": "none"}
    assert lost(compared(kept, kept.replace("type: ext4, mount: /}", "type: xfs, mount: /}"))) == ["/"], (
        "who knows"
    )


def test_as_many_inodes_by_another_key_are_no_change() -> None:
    """3 TB get one inode for each 16 KiB in any case."""
    assert compared(on_disk("type: ext4"), on_disk("type: ext4, inode_ratio: 16KiB")).empty


def test_another_device_and_another_disk() -> None:
    two = "  disks: {{d0: {{serial: {}, size: 3TB}}, d1: {{serial: S1, size: 3TB}}}}\n"
    old = on_disk("type: xfs, mount: /a", two.format("S0"))
    moved = old.replace("device: d0", "device: d1")
    assert lost(compared(old, moved)) == ["/a"]
    made = compared(old, on_disk("type: xfs, mount: /a", two.format("S9")))
    assert lost(made) == ["/a"] and fates(made)["hardware.disks.d0"] == "exchanged"
    assert ways(made, F) == {"device": None}


def test_files_that_find_no_inodes_any_more() -> None:
    """The groups that resize2fs takes away take their inodes with them: 8,192 of each 128 MiB here."""
    text = "hardware:\n  disks: {{d0: {{serial: S, size: 6TB}}}}\nvolume_groups: {{g: {{devices: [d0], volumes: {{v: {{size: {}}}}}}}}}\n"
    text += "filesystems: {{f: {{device: g.v, type: ext4, mount: /srv{}}}}}\n"
    old = text.format("2TiB", ", files: 100000000")
    for size, destroyed in (("8MiB", ["/srv"]), ("1525GiB", ["/srv"]), ("1526GiB", []), ("3TiB", [])):
        assert lost(compared(old, text.format(size, ", files: 100000000"))) == destroyed
        assert lost(compared(old, text.format(size, ""))) == destroyed, "the old layout knows it"
        assert lost(compared(text.format("2TiB", ""), text.format(size, ""))) == []
    (loss,) = compared(old, text.format("8MiB", "")).losses
    assert "100,000,000 files -> at most 8,192 inodes" in why(loss)


def test_vfat_does_not_grow_and_loses_nothing() -> None:
    text = "hardware:\n  disks: {{d0: {{serial: S0, size: 3TB, partitions: {{v: {{size: {}}}}}}}}}\nfilesystems: {{f: {{device: d0.v, type: vfat}}}}\n"
    made = compared(text.format("1GiB"), text.format("2GiB"))
    (change,) = thing(made, F).changes
    assert lost(made) == [] and change.how is not None and Statement(Before.STAYS_SMALL) in change.how.notes
    assert lost(compared(text.format("2GiB"), text.format("1GiB"))) == ["file system f"]


def test_a_disk_by_another_name_keeps_what_is_on_it() -> None:
    old = on_disk("type: xfs, mount: /a")
    new = old.replace("d0", "bay3")
    made = compared(old, new)
    assert lost(made) == [] and fates(made) == {"hardware.disks.bay3": "renamed"}
    renamed = thing(made, "hardware.disks.bay3")
    assert renamed.was == "d0" and renamed.note == statement(
        "disk-name", command="sfdisk --disk-id, sfdisk --part-uuid"
    )


def test_two_disks_that_exchange_their_names() -> None:
    text = "hardware:\n  disks: {{d0: {{serial: {}, size: 3TB}}, d1: {{serial: {}, size: 3TB}}}}\narrays: {{a: {{level: raid0, members: [{}]}}}}\n"
    old = text.format("S0", "S1", "d0, d1")
    made = compared(old, text.format("S1", "S0", "d1, d0"))
    assert lost(made) == [] and set(fates(made).values()) == {"renamed"}
    (loss,) = compared(old, text.format("S1", "S0", "d0, d1")).losses
    assert lost_name(loss) == "array a", "the stripes are in another order"
    assert hint(loss).endswith("members: [d1, d0]")


def test_a_disk_is_known_by_its_path_where_nothing_else_is_said() -> None:
    by_path = on_disk("type: xfs, mount: /a").replace("serial: S0", "path: pci-1")
    assert lost(compared(by_path, by_path.replace("pci-1", "pci-2"))) == ["/a"]
    assert lost(compared(by_path, by_path.replace("path: pci-1", "serial: S0"))) == [], (
        "nothing speaks against it"
    )
    serial = on_disk("type: xfs, mount: /a").replace("serial: S0", "serial: S0, path: pci-1")
    assert lost(compared(serial, serial.replace("pci-1", "pci-2"))) == [], "it was plugged in elsewhere"


def test_another_host_is_another_name_for_everything() -> None:
    text = on_disk("type: xfs, mount: /a")
    made = compared(text, text, ("one", "two"))
    assert (
        made.hosts == ("one", "two") and fates(made) == {F: "re-created"} and ways(made, F) == {"host": None}
    )
    (loss,) = made.losses
    assert why(loss) == "the host one is called two" and "every UUID" in hint(loss)


def test_swap_holds_nothing_that_lasts() -> None:
    text = "hardware:\n  disks: {d0: {serial: S0, size: 3TB}, d1: {serial: S1, size: 3TB}}\nswap:\n  w: {device: d0, priority: 5}\n"
    made = compared(text, text.replace("priority: 5", "priority: 6, label: x"))
    assert ways(made, "swap.w") == {"priority": "swapoff, swapon --priority", "label": "swaplabel --label"}
    moved = compared(text, text.replace("device: d0", "device: d1"))
    assert fates(moved) == {"swap.w": "re-created"} and lost(moved) == []
    gone = compared(text, text.partition("swap:")[0])
    assert fates(gone) == {"swap.w": "destroyed"} and lost(gone) == []


GROUP = "hardware:\n  disks: {{d<0-3>: {{serial: S<1>, size: 3TB}}}}\nvolume_groups:\n  g: {{devices: [{}], {}volumes: {{home: {{size: {}}}}}}}\n"
GROUP += "filesystems: {{f: {{device: g.home, type: {}, mount: /home}}}}\n"
G, H = "volume_groups.g", "volume_groups.g.volumes.home"


def test_volumes() -> None:
    old = GROUP.format("d0, d1", "", "2TiB", "xfs")
    larger = compared(old, GROUP.format("d0, d1", "", "3TiB", "xfs"))
    assert (
        ways(larger, H) == {"size": "lvextend --size"}
        and ways(larger, F) == {"size": "xfs_growfs"}
        and lost(larger) == []
    )
    assert lost(compared(old, GROUP.format("d0, d1", "", "1TiB", "xfs"))) == ["/home"]
    ext = [GROUP.format("d0, d1", "", size, "ext4") for size in ("2TiB", "1TiB")]
    smaller = compared(*ext)
    assert (
        ways(smaller, H) == {"size": "lvreduce --size"}
        and ways(smaller, F) == {"size": "resize2fs"}
        and lost(smaller) == []
    )
    gone = compared(
        old,
        old.replace("home: {size: 2TiB}", "").replace(
            "filesystems: {f: {device: g.home, type: xfs, mount: /home}}", ""
        ),
    )
    assert fates(gone) == {H: "destroyed", F: "destroyed"} and lost(gone) == ["/home"]
    raw = old.partition("filesystems:")[0]
    assert lost(compared(raw, raw.replace("home:", "work:"))) == ["volume g.home"]


def test_devices_of_a_group() -> None:
    old = GROUP.format("d0, d1", "", "2TiB", "xfs")
    assert ways(compared(old, GROUP.format("d0, d1, d2", "", "2TiB", "xfs")), G) == {
        "devices": "pvcreate, vgextend"
    }
    fits = compared(old, GROUP.format("d0", "", "2TiB", "xfs"))
    assert ways(fits, G) == {"devices": "pvmove, vgreduce"} and lost(fits) == []
    full = GROUP.format("d0, d1", "", "4TiB", "xfs")
    assert lost(compared(full, GROUP.format("d0, d2", "", "4TiB", "xfs"))) == [], "d2 takes what is on d1"
    assert lost(compared(old, GROUP.format("d0, d1", "extent: 8MiB, ", "2TiB", "xfs"))) == ["/home"]


ARRAYS = "arrays: {{a: {{level: raid6, members: [d0, d1, d2, d3]}}, b: {{level: {}, members: [d4, d5, d6, d7]}}}}\n"
EIGHT = "hardware:\n  disks: {d<0-7>: {serial: S<1>, size: 3TB}}\n"
ON_ARRAYS = "volume_groups: {{g: {{devices: [{}], volumes: {{home: {{size: 2TiB}}}}}}}}\nfilesystems: {{f: {{device: g.home, type: xfs, mount: /home}}}}\n"


@pytest.mark.parametrize(
    ("old", "new", "destroyed"),
    [
        ("a", "b", []),
        ("a, b", "b", ["/home"]),
        ("b", "b", ["/home"]),
        ("b, a", "a, b", ["/home"]),
        ("b, a", "a", ["/home"]),
    ],
)
def test_arrays_below_a_group(old: str, new: str, destroyed: list[str]) -> None:
    """pvmove reads the old array; one that is made anew has nothing to read, whatever room it has."""
    made = compared(
        EIGHT + ARRAYS.format("raid6") + ON_ARRAYS.format(old),
        EIGHT + ARRAYS.format("raid10") + ON_ARRAYS.format(new),
    )
    assert [each for each in lost(made) if each != "array b"] == destroyed


def test_an_array_of_the_same_disks_takes_nothing_over() -> None:
    for before, after, destroyed in (
        ("d0, d1, d2, d3", "d0, d1, d2, d3", ["/home"]),
        ("d0, d1, d2, d3", "d4, d5, d6, d7", []),
    ):
        text = "arrays: {{{}: {{level: raid6, members: [{}]}}}}\n"
        old = EIGHT + text.format("a", before) + ON_ARRAYS.format("a")
        assert lost(compared(old, EIGHT + text.format("b", after) + ON_ARRAYS.format("b"))) == destroyed


def test_partitions() -> None:
    text = "hardware:\n  disks: {{d0: {{serial: S0, size: 3TB, partitions: {{{}}}}}}}\n"
    old = text.format("root: {size: 20GiB}, data: {size: 1TiB}")
    disk = "hardware.disks.d0"
    longer = compared(old, text.format("root: {size: 20GiB}, data: {size: 2TiB}"))
    assert ways(longer, disk) == {"partitions.data.size": "sfdisk, partx --update"} and lost(longer) == []
    assert lost(compared(old, text.format("root: {size: 20GiB}, data: {size: 1GiB}"))) == [
        "partition d0.data"
    ]
    assert lost(compared(old, text.format("root: {size: 30GiB}, data: {size: 1TiB}"))) == [
        "partition d0.data"
    ], "it begins later"
    named = compared(old, text.format("system: {size: 20GiB}, data: {size: 1TiB}"))
    assert (
        ways(named, disk) == {"partitions.root": "sfdisk --part-uuid, sfdisk --part-label"}
        and lost(named) == []
    )
    added = compared(old, text.format("root: {size: 20GiB}, data: {size: 1TiB}, more: {size: rest}"))
    assert ways(added, disk) == {"partitions.more": "sfdisk --append, partx --update"} and lost(added) == []
    assert lost(compared(text.format("b: {size: 1MiB, type: bios-boot}"), text.format(""))) == [], (
        "a boot loader is put there again"
    )


def test_layouts_without_sizes() -> None:
    text = "hardware:\n  disks: {d<0-3>: {serial: S<1>}}\narrays: {a: {level: raid6, members: [d<0-3>]}}\nfilesystems: {f: {device: a, type: xfs, mount: /srv}}\n"
    assert compared(text, text).empty
    made = compared(text, text.replace("raid6", "raid10"))
    assert lost(made) == ["/srv"] and made.losses[0].capacity is None


MACHINE = """\
hardware:
  controllers: {{c0: {{ports: 8, speed: 3Gbps}}}}
  multipliers: {{pm<0-3>: {{behind: c0, port: <1>, ports: 5, speed: 3Gbps}}}}
  disks: {{d<0-3>: {{behind: {}, serial: S<1>, size: 3TB, rate: 150MB/s}}}}
arrays: {{a: {{level: {}, members: [d<0-3>]{}}}}}
filesystems: {{f: {{device: a, type: ext4, mount: /srv}}}}
{}"""


def test_tolerance_and_figures() -> None:
    spread = MACHINE.format("pm<1>", "raid5", ", stripe_cache_size: 4096", "")
    one = MACHINE.format("pm<1:0/1/2/2>", "raid5", "", "")
    made = compared(spread, one)
    told = {name_of(each): (each.lost, each.gained) for each in made.tolerance}
    assert told == dict.fromkeys(("/srv", "array a"), ((("multiplier", "pm2"),), ()))
    figures = {(name_of(each), each.what): (each.before, each.after) for each in made.figures}
    assert figures["array a", "stripe-cache"] == (4096 * 4 * 4096, 256 * 4 * 4096)
    assert figures["the machine", "stripe-caches"] == figures["array a", "stripe-cache"]
    back = compared(one, spread)
    assert {name_of(each): each.gained for each in back.tolerance} == dict.fromkeys(
        ("/srv", "array a"), (("multiplier", "pm2"),)
    )
    safer = compared(spread, MACHINE.format("pm<1>", "raid6", "", ""))
    assert {name_of(each): each.always for each in safer.tolerance} == {"/srv": (1, 2), "array a": (1, 2)}


def test_the_machine_and_its_settings() -> None:
    old = MACHINE.format("pm<1>", "raid6", "", "monitoring: {mail: root}\n")
    new = (
        old.replace("ports: 8", "ports: 4")
        .replace("mail: root", "mail: ops@example.org")
        .replace("pm<0-3>", "pm<0-4>")
        .replace("150MB/s", "160MB/s")
    )
    made = compared(old, new)
    assert fates(made) == {
        "hardware.controllers.c0": "changed", "hardware.multipliers.pm4": "created", "monitoring": "changed",
        **{f"hardware.disks.d{n}": "changed" for n in range(4)},
    }  # fmt: skip
    assert lost(made) == []


DISKS_OF_FOUR = "hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}\n"


def test_what_is_above_names_what_is_below_as_the_reason() -> None:
    text = DISKS_OF_FOUR + "arrays: {a: {level: raid6, members: [d<0-3>]}}\n"
    text += "volume_groups: {g: {devices: [a], volumes: {home: {size: 1TiB}}}}\n"
    text += "filesystems: {f: {device: g.home, type: xfs, mount: /home}}\n"
    made = compared(text, text.replace("raid6", "raid10"))
    (loss,) = made.losses
    assert why(loss).startswith("a ") and "level raid6 -> raid10" in why(loss)
    (group,) = thing(made, G).changes
    assert (group.key, *values(group)) == ("device", "a as it is", "a replaced")
    (renamed,) = compared(text, text, ("one", "two")).losses
    assert why(renamed) == "the host one is called two"


@pytest.mark.parametrize(
    ("extent", "destroyed"), [("2MiB", []), ("4MiB", []), ("8MiB", ["/home"]), ("3MiB", ["/home"])]
)
def test_extents_can_be_divided(extent: str, destroyed: list[str]) -> None:
    old = GROUP.format("d0, d1", "", "12GiB", "xfs")
    made = compared(old, old.replace("volumes:", f"extent: {extent}, volumes:"))
    assert lost(made) == destroyed
    if extent == "2MiB":
        assert ways(made, G) == {"extent": "vgchange --physicalextentsize"}


PARTS = "hardware: {{disks: {{d<0-1>: {{serial: S<1>, size: 3TB{}}}}}}}\narrays: {{a: {{level: raid1, members: [{}]}}}}\n"


def test_the_partition_without_a_name_gets_one() -> None:
    unnamed, named = PARTS.format("", "d<0-1>"), PARTS.format(", partitions: {p: {size: rest}}", "d<0-1>.p")
    for old, new, change in (
        (unnamed, named, ("without a name", "p")),
        (named, unnamed, ("p", "without a name")),
    ):
        made = compared(old, new)
        (found,) = thing(made, "hardware.disks.d0").changes
        assert lost(made) == [] and (found.key, *values(found)) == ("partitions.p", *change)
        assert found.how is not None and found.how.command == "sfdisk --part-uuid, sfdisk --part-label"


def test_a_partition_gets_smaller_after_what_is_on_it() -> None:
    text = "hardware: {{disks: {{d0: {{serial: S, size: 3TB, partitions: {{p: {{size: {}}}}}}}}}}}\nfilesystems: {{f: {{device: d0.p, type: {}}}}}\n"
    for kind in ("ext4", "xfs"):
        made = compared(text.format("2GiB", kind), text.format("1GiB", kind))
        (size,) = thing(made, "hardware.disks.d0").changes
        assert (size.key, size.how) == (
            "partitions.p.size",
            Way("sfdisk, partx --update", (Statement(Before.SHRUNK_OR_LOST),)),
        )


def test_a_table_that_is_only_described_is_changed_by_nobody() -> None:
    """`apply` refuses the disk until it is so; no command of a layout makes it so."""
    text = "hardware: {{disks: {{d0: {{serial: S, size: 3TB, partitions: {{p: {{size: {}, keep: true}}{}}}}}}}}}\n"
    old = text.format("2GiB", ", q: {size: 1GiB, uuid: 5b1f2d3c-0b7e-4d7a-9c54-3f6f0a1b2c3d}")
    for new in (
        text.format("2GiB", ", q: {size: 1GiB, uuid: 5b1f2d3c-0b7e-4d7a-9c54-3f6f0a1b2c3e}"),
        text.format("2GiB", ", q: {size: 2GiB, uuid: 5b1f2d3c-0b7e-4d7a-9c54-3f6f0a1b2c3d}"),
        text.format("2GiB", ""),
    ):
        assert set(ways(compared(old, new), "hardware.disks.d0").values()) == {"none"}
    assert set(ways(compared(text.format("2GiB", ""), old), "hardware.disks.d0").values()) == {"none"}


def test_a_partition_that_moves_says_from_where_to_where() -> None:
    text = "hardware: {disks: {d<0-1>: {serial: S<1>, size: 3TB, partitions: {r: {size: 2GiB}, p: {size: rest}}}}}\n"
    text += "arrays: {a: {level: raid1, members: [d<0-1>.p]}}\n"
    made = compared(text, text.replace("2GiB", "1GiB"))
    first = next(each for each in thing(made, "arrays.a").changes if each.key == "members.0")
    places = "a partition of d0 from 2.0 GiB on", "a partition of d0 from 1.0 GiB on"
    assert values(first) == places


def test_sizes_that_read_alike_say_by_how_much_they_differ() -> None:
    text = "hardware: {{disks: {{d0: {{serial: S, size: 8TB, partitions: {{p: {{size: {}}}}}}}}}}}\nfilesystems: {{f: {{device: d0.p, type: ext4}}}}\n"
    for old, new, said in (
        ("3000GiB", "3001GiB", ("2.9 TiB", "2.9 TiB, 1 GiB more")),
        ("3TiB", "3145727MiB", ("3 TiB", "3.0 TiB, 1 MiB less")),
        ("3TiB", "2900GiB", ("3 TiB", "2.8 TiB")),
    ):
        (change,) = thing(compared(text.format(old), text.format(new)), F).changes
        assert values(change) == said


def test_a_group_gets_smaller_if_its_volumes_fit() -> None:
    text = EIGHT + "arrays: {a: {level: raid6, members: [d<0-MOST>]}}\n" + ON_ARRAYS.format("a")
    large, small = text.replace("MOST", "5"), text.replace("MOST", "3")
    made = compared(large, small)
    assert lost(made) == [] and ways(made, G) == {
        "devices": "pvmove, pvresize --setphysicalvolumesize",
        "data_start": "none",
    }
    assert ways(made, "arrays.a") == {
        "raid-devices": "mdadm --grow --array-size, mdadm --grow --raid-devices"
    }
    assert (
        lost(compared(*(each.replace("2TiB", "6TiB") for each in (large, large.replace("0-5", "0-4"))))) == []
    )


def test_inodes_of_a_file_system_that_grows_are_those_of_its_groups() -> None:
    """Made anew above 4 TiB it would have fewer for its size (`big` in mke2fs.conf); resize2fs adds groups as they were."""
    text = "hardware: {disks: {d0: {serial: S, size: 12TB, partitions: {p: {size: SIZE}}}}}\nfilesystems: {f: {device: d0.p, type: ext4}}\n"
    made = compared(text.replace("SIZE", "3TiB"), text.replace("SIZE", "6TiB"))
    (figure,) = (each for each in made.figures if each.what == "inodes")
    assert figure.before is not None and figure.after == 2 * figure.before
    anew = compared(text.replace("SIZE", "3TiB"), text.replace("SIZE", "6TiB").replace("S,", "T,"))
    assert not any(each.what == "inodes" for each in anew.figures), "half as many for its size"
