"""The advice that a refusal has for a person: commands that work, or that there is none."""

from __future__ import annotations

import pytest

from raidplan.apply.change.array_by_hand import array_by_hand
from raidplan.apply.change.by_hand import NEW_FILESYSTEM, Advice, Around, by_hand
from raidplan.apply.change.table_by_hand import OnDisk, table_by_hand
from raidplan.base.figures import Figure
from raidplan.base.size import KIB, MIB
from raidplan.plan.changes import Before, Reason
from raidplan.plan.partitions import TYPE_CODES, PartitionRow
from raidplan.plan.step import Value

NODE = "/dev/md/a"


def commands(*listed: str, case: str = "commands", before: tuple[Before, ...] = ()) -> Advice:
    """The advice that names these commands, in this order, and what has to hold before."""
    return Advice(case, {"commands": listed, "conditions": before})


SHRINKS = (Before.UNMOUNTED, Before.FILES_FIT)
RESIZED = {
    ("filesystem", "blocks", "ext4"): (commands(f"resize2fs {NODE}", case="commands-after-device"), commands(f"resize2fs {NODE} 100", before=SHRINKS)),
    ("filesystem", "blocks", "btrfs"): (commands("btrfs filesystem resize max MOUNT", case="commands-after-device"),
                                        commands("btrfs filesystem resize TO MOUNT", before=(Before.FILES_FIT,))),
    ("filesystem", "blocks", "xfs"): (commands("xfs_growfs MOUNT", case="commands-after-device"), Advice("shrinks-not")),
    ("volume", "size", ""): (commands(f"lvextend --size=200b {NODE}", case="commands-before-content"),
                             commands(f"lvreduce --size=100b {NODE}", before=(Before.CONTENTS_SHRUNK,))),
}  # fmt: skip


@pytest.mark.parametrize("what", RESIZED, ids=" ".join)
def test_the_size_is_changed_by_the_commands_of_its_type(what: tuple[str, str, str]) -> None:
    """No command that only makes larger is named for less."""
    kind, name, of = what
    larger, smaller = RESIZED[what]
    assert by_hand(kind, name, NODE, {"type": of, name: 100}, {name: 200}) == larger
    assert by_hand(kind, name, NODE, {"type": of, name: 200}, {name: 100}) == smaller


def test_a_command_for_a_mounted_file_system_has_its_mount_point() -> None:
    found, planned = {"type": "xfs", "blocks": 100}, {"blocks": 200}
    for point, word in (("/srv", "/srv"), ("/srv/my photos", "'/srv/my photos'")):
        advice = by_hand("filesystem", "blocks", NODE, found, planned, Around(point=point))
        assert advice.figures["commands"] == (f"xfs_growfs {word}",)


def test_the_size_is_told_in_the_blocks_that_the_file_system_has() -> None:
    """Below 512 MiB mke2fs takes blocks of 1 KiB, above it of 4 KiB; resize2fs counts those that are there."""
    small = {"type": "ext4", "block": KIB, "blocks": 400 * KIB}
    large = {"type": "ext4", "block": 4 * KIB, "blocks": 200 * KIB}
    grow = commands(f"resize2fs {NODE}", case="commands-after-device")
    assert by_hand("filesystem", "blocks", NODE, small, large) == grow
    shrink = commands(f"resize2fs {NODE} {100 * KIB}", before=SHRINKS)
    assert by_hand("filesystem", "blocks", NODE, large, small) == shrink


@pytest.mark.parametrize(
    ("old", "new", "advice"),
    [("ext2", "ext3", commands(f"tune2fs -j {NODE}")), ("ext3", "ext4", commands(f"tune2fs -O extents {NODE}")), ("ext4", "ext3", NEW_FILESYSTEM),
     ("xfs", "ext4", NEW_FILESYSTEM)],
)  # fmt: skip
def test_a_type_becomes_another_one_where_a_command_does_it(old: str, new: str, advice: Advice) -> None:
    found, expect = {"type": old, "blocks": 100}, {"type": new, "blocks": 200}
    assert by_hand("filesystem", "type", NODE, found, expect) == advice
    assert (by_hand("filesystem", "blocks", NODE, found, expect) == NEW_FILESYSTEM) == (
        advice == NEW_FILESYSTEM
    )


def test_no_command_is_named_for_a_device_that_the_file_system_is_not_on() -> None:
    found, expect = (
        {"type": "ext4", "device": "partition:a", "blocks": 200},
        {"device": "partition:b", "blocks": 100},
    )
    for name in ("device", "blocks"):
        assert by_hand("filesystem", name, NODE, found, expect) == NEW_FILESYSTEM


def test_a_file_system_gets_another_stripe_where_it_takes_one() -> None:
    """Of XFS a mount stores another number of data disks, and no unit for which its root inode would move."""
    found, wider = {"type": "xfs", "su": 512 * KIB, "sw": 4}, {"type": "xfs", "su": 512 * KIB, "sw": 6}
    mounted = by_hand("filesystem", "sw", NODE, found, wider)
    assert mounted.figures["commands"] == ("umount MOUNT", f"mount -o sunit=1024,swidth=6144 {NODE} MOUNT")
    moved = by_hand("filesystem", "su", NODE, found, {"type": "xfs", "su": 64 * KIB, "sw": 4})
    assert moved == Advice("stripe-stays")
    stride = by_hand("filesystem", "stride", NODE, {"type": "ext4", "stride": 128}, {"stride": 16})
    assert stride == commands(f"tune2fs -E stride=16 {NODE}", before=(Before.UNMOUNTED,))


def array(level: str, members: int = 4, **others: Value) -> dict[str, Value]:
    """An array as it is read."""
    made = {"level": level, "metadata": "1.2", "members": [f"{{d{n}}}" for n in range(members)]}
    return made | others


def told(name: str, found: dict[str, Value], planned: dict[str, Value]) -> Advice:
    return array_by_hand(name, NODE, found, planned, lambda identity: f"/dev/{identity[1:-1]}")


def listed(name: str, found: dict[str, Value], planned: dict[str, Value]) -> Figure:
    """The commands, where the advice has some."""
    return told(name, found, planned).figures.get("commands", ())


def is_new(advice: Advice) -> bool:
    """The advice is to make another array, because of a reason of the table."""
    return advice.case == "new-array" and advice.figures["cause"] in list(Reason)


@pytest.mark.parametrize("name", ["size", "component"])
def test_an_array_takes_more_or_less_of_its_members(name: str) -> None:
    small = array("raid1", size=100 * KIB, component=100 * KIB)
    large = array("raid1", size=200 * KIB, component=200 * KIB)
    grow = commands(f"mdadm --grow --size=max {NODE}", before=(Before.LARGER, Before.IDLE))
    shrink = commands(
        f"mdadm --grow --array-size=100K {NODE}", f"mdadm --grow --size=100K {NODE}", before=(Before.SMALLER, Before.IDLE)
    )  # fmt: skip
    assert told("size", small, large) == grow
    assert told("size", large, small) == shrink
    assert told(name, small, {**small, name: 200 * KIB}) == grow
    assert is_new(told("size", array("raid0", size=100), array("raid0", size=200)))


LEVELS = {
    ("raid1", 2, "raid5", 2): (f"mdadm --grow --level=raid5 {NODE}",),
    ("raid5", 3, "raid6", 4): (f"mdadm {NODE} --add /dev/d3", f"mdadm --grow --level=raid6 --raid-devices=4 {NODE}"),
    ("raid5", 3, "raid6", 5): (f"mdadm {NODE} --add /dev/d3 /dev/d4", f"mdadm --grow --level=raid6 --raid-devices=4 {NODE}",
                               f"mdadm --grow --raid-devices=5 {NODE}"),
    ("raid0", 3, "raid5", 4): (f"mdadm --grow --level=raid5 --raid-devices=4 {NODE} --add /dev/d3",),
    ("raid4", 3, "raid5", 3): (f"mdadm --grow --level=raid5 {NODE}",),
    ("raid0", 2, "raid10", 4): (f"mdadm --grow --level=raid10 --raid-devices=4 {NODE} --add /dev/d2 /dev/d3",),
    ("raid10", 4, "raid0", 2): (f"mdadm --grow --level=raid0 {NODE}",),
}  # fmt: skip


TO_PAIRS = {"members": ["{d0}", "{d2}", "{d1}", "{d3}"]}
TO_HALVES = {"members": ["{d0}", "{d2}"]}


@pytest.mark.parametrize("change", LEVELS, ids=str)
def test_levels_that_mdadm_changes(change: tuple[str, int, str, int]) -> None:
    old, before, new, after = change
    other = {"raid0 raid10": TO_PAIRS, "raid10 raid0": TO_HALVES}.get(f"{old} {new}", {})
    advice = told("level", array(old, before), array(new, after) | other)
    assert (advice.case, advice.figures["commands"]) == ("commands", LEVELS[change])
    assert advice.figures["conditions"], "it is never done without a word of warning"


@pytest.mark.parametrize(
    "levels",
    ["raid1 raid10", "raid10 raid1", "raid1 raid6", "raid6 raid0", "raid0 raid6", "raid0 raid1", "raid10 raid5", "linear raid5", "faulty raid1",
     "raid5 raid1", "raid6 raid5"],
)  # fmt: skip
def test_levels_that_nobody_is_told_to_change(levels: str) -> None:
    """`analyse_change` in its Grow.c ends with a sentence for each, the kernel refuses the takeover, or it is known to fail."""
    old, new = levels.split()
    assert is_new(told("level", array(old), array(new)))
    assert is_new(told("level", array(old), of(new, 4, 5, 6, 7))), "whichever members it is to have"


def test_layouts_that_mdadm_makes_of_each_other() -> None:
    for level, now, planned in (
        ("raid10", "n2", "o2"), ("raid10", "o3", "n3"), ("raid5", "left-symmetric", "parity-last"),
    ):  # fmt: skip
        advice = told("layout", array(level, layout=now), array(level, layout=planned))
        assert advice.figures["commands"] == (f"mdadm --grow --layout={planned} {NODE}",)
        assert advice.figures["since"] == "4.4"
    for now, planned in (("n2", "f2"), ("f2", "o2"), ("n2", "n3")):
        assert is_new(told("layout", array("raid10", layout=now), array("raid10", layout=planned)))


def test_what_only_the_new_level_has_needs_no_command() -> None:
    found, planned = array("raid1", 2), array("raid5", 2, layout="left-symmetric", chunk=65536)
    for name in ("layout", "chunk"):
        assert told(name, found, planned) == Advice("follows", {"differing": ("level",)})
    (chunk,) = listed("chunk", array("raid5", chunk=4096), array("raid5", chunk=65536))  # type: ignore[misc]
    assert "--chunk=64K" in str(chunk)


def table(*rows: tuple[str, int, int, str]) -> tuple[PartitionRow, ...]:
    """Partitions by their UUIDs, with where they begin and their sizes in MiB, and their types."""
    return tuple(
        PartitionRow(uuid, start * MIB, size * MIB, TYPE_CODES.get(type, type).lower())
        for uuid, start, size, type in rows
    )


def told_of_table(
    now: tuple[PartitionRow, ...], planned: tuple[PartitionRow, ...], numbers: tuple[int, ...] = (1, 2, 3)
) -> Advice:
    disk = OnDisk("/dev/sda", "t", {row.identity: n for row, n in zip(now, numbers, strict=False)}, {})
    lines = (
        f'start={row.start // 512}, size={row.size // 512}, type=T, uuid={row.uuid.upper()}, name="n{row.uuid}"'
        for row in planned
    )
    return table_by_hand(now, planned, "\n".join(("label-id: T", *lines)), disk)


A, B, C = "aa", "bb", "cc"


def test_the_type_to_write_is_the_one_that_is_there() -> None:
    raid, linux = (TYPE_CODES[word].lower() for word in ("raid", "linux"))
    other = "ebd0a0a2-b9e5-4433-87c0-68b6b72699c7"

    def typed(now: list[str], planned: list[str], *numbers: int) -> Advice:
        one, other = (
            table(*((f"{at}a", 1 + at, 1, type) for at, type in enumerate(types))) for types in (now, planned)
        )
        return told_of_table(one, other, numbers)

    def sets(type: str, number: int) -> tuple[str, ...]:
        return (f"sfdisk --part-type /dev/sda {number} {type}",)

    kept = typed(["raid", "swap"], ["raid", "linux"], 1, 4)
    assert kept == Advice("types", {"kept": ("`type: swap`",), "commands": sets(linux, 4)}), (
        "as the table counts"
    )
    no_word = typed([other], ["raid"], 1)
    assert no_word == Advice("types", {"kept": (), "commands": sets(raid, 1)}), "no layout has a word for it"
    assert typed(["raid"], ["linux"]).figures["commands"] == (f"sfdisk --part-type /dev/sda NUMBER {linux}",)


UPDATE = "partx --update /dev/sda"
TABLES: dict[str, tuple[tuple[PartitionRow, ...], tuple[PartitionRow, ...], Advice]] = {
    "larger": (table((A, 1, 4, "linux")), table((A, 1, 8, "linux")),
        commands("echo size=16384 | sfdisk --no-reread -N 1 /dev/sda", UPDATE)),
    "smaller, then one behind it": (table((A, 1, 8, "linux")), table((A, 1, 4, "linux"), (B, 5, 4, "linux")),
        commands("echo size=8192 | sfdisk --no-reread -N 1 /dev/sda",
                 "echo 'start=10240, size=8192, type=T, uuid=BB, name=\"nbb\"' | sfdisk --no-reread --append /dev/sda", UPDATE,
                 before=(Before.SHRUNK_OR_LOST,))),
    "one less makes room": (table((A, 1, 4, "linux"), (B, 5, 4, "linux")), table((A, 1, 8, "linux")),
        commands("sfdisk --delete /dev/sda 2", "echo size=16384 | sfdisk --no-reread -N 1 /dev/sda", UPDATE, before=(Before.CONTENT_LOST,))),
    "renamed before another one has its name": (table((A, 1, 8, "linux")), table((C, 1, 8, "linux"), (A, 9, 4, "linux")),
        commands("sfdisk --part-uuid /dev/sda 1 cc", "sfdisk --part-label /dev/sda 1 ncc",
                 "echo 'start=18432, size=8192, type=T, uuid=AA, name=\"naa\"' | sfdisk --no-reread --append /dev/sda", UPDATE,
                 before=(Before.NAMED_ELSEWHERE,))),
    "names exchanged": (table((A, 1, 4, "linux"), (B, 5, 4, "linux")), table((B, 1, 4, "linux"), (A, 5, 4, "linux")),
        commands("sfdisk --part-uuid /dev/sda 1 $(cat /proc/sys/kernel/random/uuid)",
                 "sfdisk --part-uuid /dev/sda 2 $(cat /proc/sys/kernel/random/uuid)", "sfdisk --part-uuid /dev/sda 1 bb",
                 "sfdisk --part-label /dev/sda 1 nbb", "sfdisk --part-uuid /dev/sda 2 aa", "sfdisk --part-label /dev/sda 2 naa",
                 before=(Before.NAMED_ELSEWHERE,))),
    "moved": (table((A, 1, 4, "linux"), (B, 5, 4, "linux")), table((A, 1, 8, "linux"), (B, 9, 4, "linux")),
        commands("sfdisk --delete /dev/sda 2", "echo size=16384 | sfdisk --no-reread -N 1 /dev/sda",
                 "echo 'start=18432, size=8192, type=T, uuid=BB, name=\"nbb\"' | sfdisk --no-reread --append /dev/sda", UPDATE,
                 before=(Before.CONTENT_LOST,))),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_partitions_are_changed_in_an_order_in_which_each_has_room(name: str) -> None:
    now, planned, advice = TABLES[name]
    assert told_of_table(now, planned) == advice


def test_a_group_that_lacks_a_device_is_neither_extended_nor_reduced() -> None:
    found: dict[str, Value] = {"devices": ["{d0}"], "missing": 1, "extent": 4 << 20}
    planned: dict[str, Value] = {"devices": ["{d0}", "{d1}"], "extent": 4 << 20}
    assert by_hand("volume_group", "devices", "v", found, planned) == Advice("group-incomplete", {"count": 1})
    whole = {**found, "missing": 0}
    assert by_hand("volume_group", "devices", "v", whole, planned) == commands("vgextend v {d1}")


def test_devices_join_a_group_before_others_leave_it_one_by_one() -> None:
    found: dict[str, Value] = {"devices": ["/dev/a", "/dev/b", "/dev/c"], "missing": 0}
    planned: dict[str, Value] = {"devices": ["/dev/b", "/dev/x", "/dev/y"]}
    assert by_hand("volume_group", "devices", "v", found, planned) == commands(
        "vgextend v /dev/x /dev/y",
        "pvmove /dev/a",
        "vgreduce v /dev/a",
        "pvmove /dev/c",
        "vgreduce v /dev/c",
        before=(Before.DEVICE_LATER,),
    )


def test_extents_become_smaller_by_a_whole_factor() -> None:
    smaller = by_hand("volume_group", "extent", "vg", {"extent": 4 * KIB}, {"extent": KIB})
    assert smaller == commands(f"vgchange --physicalextentsize={KIB}b vg")
    for now, planned in ((4 * KIB, 3 * KIB), (KIB, 4 * KIB)):
        assert by_hand("volume_group", "extent", "vg", {"extent": now}, {"extent": planned}).case == "other"


def test_another_mount_is_ended_by_a_command_that_a_shell_takes() -> None:
    for point, word in (("/srv", "/srv"), ("/srv/my photos", "'/srv/my photos'")):
        advice = by_hand("mount", "source", point, {"source": "dead"}, {"source": "new"})
        assert advice == Advice("other-mount", {"commands": (f"umount {word}",)})


def test_an_encryption_is_refreshed_by_the_command_of_the_row() -> None:
    for discard, command in (
        (True, "cryptsetup refresh --allow-discards c"),
        (False, "cryptsetup refresh c"),
    ):
        found, planned = {"name": "c", "discard": not discard}, {"name": "c", "discard": discard}
        advice = by_hand("mapping", "discard", "/dev/mapper/c", found, planned)
        assert advice == Advice("discards", {"commands": (command,)})
    found, planned = {"name": "old"}, {"name": "c"}
    closed = by_hand("mapping", "name", "/dev/mapper/c", found, planned)
    assert closed == Advice("opened-otherwise", {"commands": ("cryptsetup close old",)})


def test_a_member_that_is_back_as_a_spare_is_not_added_again() -> None:
    """md takes it by itself once it may sync; mdadm --add would say that it is busy."""
    planned = array("raid1", 2)
    back = {**planned, "members": ["missing", "{d1}"], "spares": ["{d0}"], "device": "md127"}
    assert told("members", back, planned) == Advice("rebuilt", {"node": NODE})
    held = told("members", {**back, "sync_action": "frozen"}, planned)
    assert held == Advice("held", {"node": NODE, "device": "md127"})
    removed = told("members", {**back, "faulty": ["{d2}"]}, planned)
    assert removed == commands(f"mdadm {NODE} --remove failed", case="member-missing")
    three = array("raid6", 4)
    one = {**three, "members": ["missing", "missing", "{d2}", "{d3}"], "spares": ["{d0}"]}
    assert told("members", one, three) == commands(f"mdadm {NODE} --add /dev/d1", case="member-missing")


def test_a_failed_member_is_removed_before_anything_takes_its_place() -> None:
    """Until then mdadm --add says that the device is busy."""
    planned = array("raid1", 2)
    failed = {**planned, "members": ["missing", "{d1}"], "faulty": ["{d0}"]}
    remove, add = f"mdadm {NODE} --remove failed", f"mdadm {NODE} --add /dev/d0"
    assert listed("members", failed, planned) == (remove, add)
    assert listed("members", {**failed, "faulty": []}, planned) == (add,)
    taken = {**planned, "members": ["{d2}", "{d1}"], "faulty": ["{d0}"]}
    back = (remove, f"mdadm {NODE} --add-spare /dev/d0", f"mdadm {NODE} --replace /dev/d2 --with /dev/d0")
    assert listed("members", taken, planned) == back
    again = (f"mdadm {NODE} --remove /dev/d2", f"mdadm {NODE} --add-spare /dev/d2")
    spare = commands(*back, *again, case="member-exchanged", before=(Before.ONE_BY_ONE,))
    assert told("members", taken, {**planned, "spares": ["{d2}"]}) == spare


@pytest.mark.parametrize(
    ("key", "now", "planned"), [("name", "other:a", "box:a"), ("metadata", "0.90", "1.0")]
)
def test_whatever_writes_all_superblocks_anew_gets_every_device(key: str, now: str, planned: str) -> None:
    """Without its write journal mdadm starts no array unless it is forced; a spare that is left out keeps the old superblock."""
    whole = array("raid5", 3, consistency="journal", spares=["{d3}"], journal="{d4}")
    _, assemble = listed(key, {**whole, key: now}, {**whole, key: planned})  # type: ignore[misc]
    assert str(assemble).endswith(f"{NODE} /dev/d0 /dev/d1 /dev/d2 /dev/d3 /dev/d4")


def of(level: str, *numbers: int) -> dict[str, Value]:
    """An array of these members, in this order."""
    return array(level) | {"members": [f"{{d{number}}}" for number in numbers]}


REPLACE = "mdadm /dev/md/a --add-spare {0}", "mdadm /dev/md/a --replace {1} --with {0}"


@pytest.mark.parametrize(
    ("wanted", "added", "replaced"),
    [((0, 3), "/dev/d3", "/dev/d1"), ((3, 4), "/dev/d3 /dev/d4", "/dev/d0 /dev/d1")],
    ids=str,
)
def test_a_mirror_is_full_again_before_it_gets_smaller(
    wanted: tuple[int, ...], added: str, replaced: str
) -> None:
    """Members that are exchanged are copied first; only then one more leaves, and at least two are in sync always."""
    exchange = tuple(each.format(added, replaced) for each in REPLACE)
    assert told("members", of("raid1", 0, 1, 2), of("raid1", *wanted)) == commands(
        *exchange, case="member-exchanged"
    )
    now = tuple(
        {0: 0, 1: wanted[-1], 2: 2}[slot] if wanted[0] == 0 else (*wanted, 2)[slot] for slot in range(3)
    )
    assert listed("members", of("raid1", *now), of("raid1", *wanted)) == (
        f"mdadm {NODE} --fail /dev/d2", f"mdadm {NODE} --remove /dev/d2", f"mdadm --grow --raid-devices=2 {NODE}",
        "mdadm --zero-superblock /dev/d2",
    )  # fmt: skip


OTHER_SLOTS = {
    "another stripe, and one more": (of("raid0", 0, 1), of("raid0", 0, 3, 4), Reason.NOTHING_TWICE),
    "a new one before all others": (of("linear", 0, 1), of("linear", 2, 0, 1), Reason.OTHER_SLOTS),
    "one in the middle leaves": (of("raid6", 0, 1, 2, 3, 4), of("raid6", 0, 1, 3, 4), Reason.OTHER_SLOTS),
    "the first leaves": (of("raid5", 0, 1, 2, 3), of("raid5", 1, 2, 3), Reason.OTHER_SLOTS),
    "both copies of one half": (of("raid10", 0, 1, 2, 3), of("raid0", 0, 1), Reason.OTHER_SLOTS),
    "stripes side by side": (of("raid0", 0, 1), of("raid10", 0, 1, 2, 3), Reason.OTHER_SLOTS),
    "another mirror": (of("raid1", 0, 1), of("raid5", 1, 0, 2), Reason.OTHER_SLOTS),
}


@pytest.mark.parametrize("case", OTHER_SLOTS)
def test_members_that_do_not_keep_their_slots(case: str) -> None:
    """No command moves a member to another slot, or exchanges one without redundancy."""
    found, planned, reason = OTHER_SLOTS[case]
    for name in ("members", "level", "size"):
        assert told(name, found, planned) == Advice("new-array", {"cause": reason})


def test_an_order_is_the_layouts_to_change() -> None:
    for level, name in (("raid1", "members"), ("raid5", "members"), ("raid5", "chunk")):
        now = of(level, 0, 1, 2) | ({"chunk": 4096} if level == "raid5" else {})
        wanted = of(level, 1, 0, 2) | ({"chunk": 65536} if level == "raid5" else {})
        assert told(name, now, wanted) == Advice("order", {"members": ("{d0}", "{d1}", "{d2}")})


def test_the_other_journal_is_not_taken_for_a_member() -> None:
    logs: list[dict[str, Value]] = [
        {"consistency": "journal", "journal": f"{{d{number}}}"} for number in (8, 9)
    ]
    found, planned = of("raid5", 0, 1, 2) | logs[0], of("raid5", 0, 1, 3) | logs[1]
    assert listed("members", found, planned) == tuple(each.format("/dev/d3", "/dev/d2") for each in REPLACE)


@pytest.mark.parametrize(
    "planned",
    [array("raid0", 4), array("raid0", 3, chunk=4096), array("raid5", 4)],
    ids=["more", "chunk", "level"],
)
def test_stripes_of_unequal_members_stay_stripes(planned: dict[str, Value]) -> None:
    found, sizes = array("raid0", 3, chunk=65536), {f"{{d{number}}}": 100 * 65536 for number in range(4)}
    planned = {"chunk": 65536} | planned
    name = next(each for each in ("level", "chunk", "members") if found[each] != planned[each])

    def advice(**of: int) -> Advice:
        return array_by_hand(
            name, NODE, found, planned, str, sizes=sizes | {f"{{{key}}}": size for key, size in of.items()}
        )

    assert is_new(advice(d1=200 * 65536)) and not is_new(advice(d1=100 * 65536 + 512))
    assert is_new(advice(d3=200 * 65536)) is (name == "members"), "the new one would begin another zone"
