"""Arrays: what mdadm does in place, what it does not, and what that means for what stands on them."""

from __future__ import annotations

import pytest

from raidplan.diff.statement import Statement, statement
from raidplan.plan.changes import Before
from tests.diff.layouts import DISKS, compared, fates, hint, lost, notes, thing, ways, why

XFS = "filesystems: {f: {device: a, type: xfs, mount: /srv}}\n"
EXT = "filesystems: {f: {device: a, type: ext4, mount: /srv}}\n"
A, F = "arrays.a", "filesystems.f"


def layout(array: str, disks: str = DISKS, on: str = XFS) -> str:
    return f"hardware:\n{disks}arrays:\n  a: {{{array}}}\n{on}"


ADD = "mdadm --add, mdadm --grow --raid-devices"
REBUILD = "mdadm --fail, mdadm --remove, mdadm --add"
REPLACE = "mdadm --add-spare, mdadm --replace --with"
LEVEL = "mdadm --grow --level"
JOURNAL = "mdadm --fail, mdadm --remove, mdadm --readonly, mdadm --add-journal, mdadm --readwrite"
TUNE = "udevadm trigger"
METADATA = "mdadm --stop, mdadm --assemble --update=metadata"
REMOVE = "mdadm --fail, mdadm --remove, mdadm --grow --raid-devices, mdadm --zero-superblock"
TO_RAID6 = "mdadm --add, mdadm --grow --level --raid-devices"
TO_RAID5 = "mdadm --add, mdadm --grow --level, mdadm --grow --raid-devices"
TO_RAID10 = "mdadm --grow --level --raid-devices --add"
JOURNAL_ON = "mdadm --grow --bitmap, mdadm --readonly, mdadm --add-journal, mdadm --readwrite"
SHRINK = "mdadm --grow --array-size, mdadm --grow --raid-devices"

IN_PLACE = {
    "more members": ("level: raid6, members: [d<0-5>]", "level: raid6, members: [d<0-7>]", {"raid-devices": ADD}),
    "a spare becomes a member": ("level: raid6, members: [d<0-5>], spares: [d6]",
        "level: raid6, members: [d<0-6>]", {"raid-devices": ADD, "spares": "none"}),
    "another mirror": ("level: raid1, members: [d<0-1>]", "level: raid1, members: [d<0-2>]", {"raid-devices": ADD}),
    "a mirror less": ("level: raid1, members: [d<0-2>]", "level: raid1, members: [d<0-1>]", {"raid-devices": REMOVE}),
    "more near copies": ("level: raid10, members: [d<0-3>]", "level: raid10, members: [d<0-5>]", {"raid-devices": ADD}),
    "linear grows": ("level: linear, members: [d<0-1>]", "level: linear, members: [d<0-2>]", {"raid-devices": "mdadm --grow --add"}),
    "raid5 to raid6": ("level: raid5, members: [d<0-3>]", "level: raid6, members: [d<0-4>]", {"level": TO_RAID6, "raid-devices": TO_RAID6}),
    "raid1 to raid5": ("level: raid1, members: [d<0-1>]", "level: raid5, members: [d<0-2>]", {"level": TO_RAID5, "raid-devices": TO_RAID5}),
    "raid0 to raid10": ("level: raid0, members: [d<0-1>]", "level: raid10, members: [d0, d2, d1, d3]", {"level": TO_RAID10, "raid-devices": TO_RAID10}),
    "raid10 to raid0": ("level: raid10, members: [d<0-3>]", "level: raid0, members: [d0, d2]", {"level": LEVEL, "raid-devices": LEVEL}),
    "raid4 to raid5": ("level: raid4, members: [d<0-3>]", "level: raid5, members: [d<0-3>]", {"level": LEVEL}),
    "another stripe member": ("level: raid0, members: [d<0-1>]", "level: raid0, members: [d<0-2>]", {"raid-devices": "mdadm --grow --raid-devices --add"}),
    "chunk": ("level: raid6, members: [d<0-5>], chunk: 512KiB", "level: raid6, members: [d<0-5>], chunk: 64KiB", {"chunk": "mdadm --grow --chunk"}),
    "layout": ("level: raid5, members: [d<0-5>]", "level: raid5, members: [d<0-5>], layout: right-symmetric", {"layout": "mdadm --grow --layout"}),
    "near to offset": ("level: raid10, members: [d<0-3>], layout: n2", "level: raid10, members: [d<0-3>], layout: o2", {"layout": "mdadm --grow --layout"}),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_mdadm_grows_is_reshaped(name: str) -> None:
    old, new, expected = IN_PLACE[name]
    made = compared(layout(old), layout(new))
    assert fates(made)[A] == "reshaped" and ways(made, A) == expected
    assert lost(made) == [] and fates(made).get(F, "changed") == "changed"


CHANGED = {
    "tunables": ("level: raid6, members: [d<0-5>]", "level: raid6, members: [d<0-5>], stripe_cache_size: 8192, read_ahead: 4MiB",
        {"stripe_cache_size": TUNE, "read_ahead": TUNE}),
    "bitmap off": ("level: raid6, members: [d<0-5>]", "level: raid6, members: [d<0-5>], bitmap: none", {"consistency": "mdadm --grow --bitmap"}),
    "ppl on": ("level: raid5, members: [d<0-5>], bitmap: none", "level: raid5, members: [d<0-5>], consistency: ppl", {"consistency": "mdadm --grow --consistency-policy"}),
    "journal on": ("level: raid5, members: [d<0-5>]", "level: raid5, members: [d<0-5>], consistency: journal, journal: d9", {"consistency": JOURNAL_ON}),
    "another journal": ("level: raid5, members: [d<0-5>], consistency: journal, journal: d8",
        "level: raid5, members: [d<0-5>], consistency: journal, journal: d9", {"journal": JOURNAL}),
    "a spare": ("level: raid6, members: [d<0-5>]", "level: raid6, members: [d<0-5>], spares: [d6]", {"spares": "mdadm --manage --add-spare"}),
    "a free disk for a member": ("level: raid6, members: [d<0-5>]", "level: raid6, members: [d<0-4>, d9]", {"members.5": REPLACE}),
    "free disks for all members": ("level: raid1, members: [d<0-1>]", "level: raid1, members: [d<2-3>]", {"members.0": REPLACE, "members.1": REPLACE}),
    "a mirror's members reordered": ("level: raid1, members: [d0, d1]", "level: raid1, members: [d1, d0]", {"members.0": "none", "members.1": "none"}),
    "the sync at creation": ("level: raid5, members: [d<0-5>]", "level: raid5, members: [d<0-5>], initial_sync: zero", {"initial_sync": "none"}),
    "old metadata": (
        "level: raid5, members: [d<0-5>], metadata: \"0.90\", bitmap: none", "level: raid5, members: [d<0-5>], metadata: \"1.0\", bitmap: none", {"metadata": METADATA}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_what_leaves_the_shape_alone(name: str) -> None:
    old, new, expected = CHANGED[name]
    made = compared(layout(old, on=""), layout(new, on=""))
    assert ways(made, A) == expected
    assert fates(made)[A] in ("changed", "reshaped") and lost(made) == []


RECREATED = {
    "raid5 to raid10": ("level: raid5, members: [d<0-3>]", "level: raid10, members: [d<0-3>]", "level"),
    "raid6 to raid0": ("level: raid6, members: [d<0-3>]", "level: raid0, members: [d<0-3>]", "level"),
    "both copies of one half": ("level: raid10, members: [d<0-3>]", "level: raid0, members: [d0, d1]", "members.1"),
    "stripes side by side": ("level: raid0, members: [d<0-1>]", "level: raid10, members: [d<0-3>]", "members.2"),
    "three copies to raid0": ("level: raid10, members: [d<0-5>], layout: n3", "level: raid0, members: [d0, d3]", "level"),
    "three copies to half as many": ("level: raid10, members: [d<0-5>], layout: n3", "level: raid0, members: [d0, d2, d4]", "level"),
    "far copies to raid0": ("level: raid10, members: [d<0-3>], layout: f2", "level: raid0, members: [d0, d2]", "level"),
    "raid0 to offset copies": ("level: raid0, members: [d<0-1>]", "level: raid10, members: [d0, d2, d1, d3], layout: o2", "level"),
    "the parity of raid5 stays": ("level: raid5, members: [d<0-3>]", "level: raid0, members: [d0, d1, d3]", "members.2"),
    "raid5 to raid0": ("level: raid5, members: [d<0-3>]", "level: raid0, members: [d<0-2>]", "level"),
    "raid5 to raid1": ("level: raid5, members: [d<0-1>]", "level: raid1, members: [d<0-1>]", "level"),
    "raid6 to raid5": ("level: raid6, members: [d<0-4>]", "level: raid5, members: [d<0-3>]", "level"),
    "raid5 to raid6 of as many": ("level: raid5, members: [d<0-3>]", "level: raid6, members: [d<0-3>]", "level"),
    "raid0 to raid5 of as many": ("level: raid0, members: [d<0-2>]", "level: raid5, members: [d<0-2>]", "level"),
    "fewer stripes": ("level: raid0, members: [d<0-3>]", "level: raid0, members: [d<0-2>]", "raid-devices"),
    "0.90 has no room": ("level: raid5, members: [d<0-3>], metadata: \"0.90\"", "level: raid5, members: [d<0-4>], metadata: \"0.90\"", "raid-devices"),
    "three mirrors to raid5": ("level: raid1, members: [d<0-2>]", "level: raid5, members: [d<0-2>]", "level"),
    "far copies": ("level: raid10, members: [d<0-3>], layout: f2", "level: raid10, members: [d<0-3>], layout: n2", "layout"),
    "more copies": ("level: raid10, members: [d<0-3>], layout: n2", "level: raid10, members: [d<0-3>], layout: n4", "layout"),
    "fewer near copies": ("level: raid10, members: [d<0-5>]", "level: raid10, members: [d<0-3>]", "raid-devices"),
    "metadata": ("level: raid1, members: [d<0-1>], metadata: \"1.2\"", "level: raid1, members: [d<0-1>], metadata: \"1.0\"", "metadata"),
    "whole disks": ("level: raid1, members: [d<0-1>]", "level: raid1, members: [d<0-1>], whole_disks: true", "members.0"),
    "another stripe": ("level: raid0, members: [d<0-1>]", "level: raid0, members: [d0, d2]", "members.1"),
    "members reordered": ("level: raid6, members: [d<0-3>]", "level: raid6, members: [d1, d0, d2, d3]", "members.0"),
    "a member left out in the middle": ("level: raid6, members: [d<0-4>]", "level: raid6, members: [d0, d2, d3, d4]", "members.1"),
}  # fmt: skip


@pytest.mark.parametrize("name", RECREATED)
def test_what_nothing_does_in_place(name: str) -> None:
    old, new, key = RECREATED[name]
    made = compared(layout(old), layout(new))
    assert fates(made)[A] == "re-created" and ways(made, A)[key] is None
    assert lost(made) == ["/srv"] and fates(made)[F] == "re-created"
    assert "a is replaced" in why(made.losses[0])


def test_disks_behind_one_name() -> None:
    """As many members may be other disks at once as the array survives losing."""
    array = "level: raid6, members: [d<0-5>]"
    for count, destroyed in ((1, []), (2, []), (3, ["/srv"])):
        serials = ", ".join(f"{'N' if n < count else 'S'}{n}" for n in range(10))
        other = f"  disks: {{d<0-9>: {{serial: {{each: [{serials}]}}, size: 3TB, rate: 150MB/s}}}}\n"
        made = compared(layout(array), layout(array, other))
        assert lost(made) == destroyed
        assert [f for p, f in fates(made).items() if "disks" in p] == ["exchanged"] * count
        assert set(ways(made, A)) == {f"members.{n}" for n in range(count)}


EXCHANGED = {
    "all of a mirror, and one less": ("raid1", "d<0-2>", "AA1, BB2, CC3", "NN1, NN2", "d<0-1>", ["/srv"]),
    "one of a mirror, and one less": ("raid1", "d<0-2>", "AA1, BB2, CC3", "AA1, NN2", "d<0-1>", []),
    "one of raid5, and the last has left": ("raid5", "d<0-4>", "A0, A1, A2, A3, A4", "N0, A1, A2, A3", "d<0-3>", ["/srv"]),
    "the last of raid5 has left": ("raid5", "d<0-4>", "A0, A1, A2, A3, A4", "A0, A1, A2, A3", "d<0-3>", []),
    "one of raid5, and the last is unplugged later": ("raid5", "d<0-4>", "A0, A1, A2, A3, A4", "N0, A1, A2, A3, A4", "d<0-3>", []),
    "two of raid6, and one more": ("raid6", "d<0-3>", "A0, A1, A2, A3", "N0, N1, A2, A3, A4", "d<0-4>", []),
    "a mirror is not what its name says": ("raid1", "d<0-1>", "A0, A1", "N0, N1, N2", "d<0-2>", ["/srv"]),
}  # fmt: skip


@pytest.mark.parametrize("name", EXCHANGED)
def test_members_that_leave_count_where_others_are_exchanged(name: str) -> None:
    level, before, old, new, after, destroyed = EXCHANGED[name]

    def of(members: str, serials: str) -> str:
        last = serials.count(",")
        disks = f"  disks: {{d<0-{last}>: {{serial: {{each: [{serials}]}}, size: 4TB}}}}\n"
        return layout(f"level: {level}, members: [{members}]", disks, EXT)

    assert lost(compared(of(before, old), of(after, new))) == destroyed


def test_disks_that_are_needed_are_named() -> None:
    """An array that shrinks needs what is on the disks that leave; where they stay in the layout, all is well."""
    old, shape = "level: raid5, members: [d<0-5>]", "level: raid5, members: [d<0-3>]"
    (loss,) = compared(layout(old, on=EXT), layout(shape, DISKS.replace("d<0-9>", "d<0-3>"), EXT)).losses
    assert "d4, d5" in hint(loss)
    renamed = DISKS.replace(
        "d<0-9>: {serial: S<1>", "d0: {serial: N0, size: 3TB, rate: 150MB/s}, d<1-5>: {serial: S<1>"
    )
    one = compared(layout(old, on=EXT), layout(old.replace("raid5", "raid5, chunk: 64KiB"), renamed, EXT))
    assert lost(one) == []
    kept = renamed.replace("d0: ", "old0: {serial: S0, size: 3TB, rate: 150MB/s}, d0: ")
    assert lost(compared(layout(old, on=EXT), layout(shape, kept, EXT))) == []
    (loss,) = compared(
        layout(old),
        layout(
            old.replace("raid5", "raid10"),
            DISKS.replace("d<0-9>", "d<1-9>").replace("{d", "{d0: {serial: N0, size: 3TB}, d", 1),
        ),
    ).losses
    assert hint(loss) == "", "the level is in the way"


MIRRORS = {
    "the middle leaves": ("d0, d1, d2", "d0, d2", {"raid-devices": REMOVE}, ""),
    "the first leaves": ("d0, d1, d2", "d1, d2", {"raid-devices": REMOVE}, ""),
    "one joins before all others": ("d0, d1, d2", "d3, d0, d1, d2", {"raid-devices": ADD}, "d0, d1, d2, d3"),
    "the first is exchanged, and written last": ("d0, d1", "d1, d2", {"members.1": REPLACE}, "d2, d1"),
    "the first is exchanged": ("d0, d1", "d2, d1", {"members.0": REPLACE}, ""),
    "one leaves, one is exchanged": ("d0, d1, d2", "d2, d3", {"raid-devices": REMOVE, "members.1": REPLACE}, "d3, d2"),
    "one leaves, and the others change places": ("d0, d1, d2", "d2, d0", {"raid-devices": REMOVE}, "d0, d2"),
}  # fmt: skip


@pytest.mark.parametrize("name", MIRRORS)
def test_slots_mean_nothing_to_a_mirror(name: str) -> None:
    """But apply compares them, so it is told how they will be."""
    old, new, expected, order = MIRRORS[name]
    made = compared(*(layout(f"level: raid1, members: [{each}]") for each in (old, new)))
    assert lost(made) == [] and ways(made, A) == expected
    said = notes(thing(made, A).changes)
    assert any("its slots" in each for each in said) is bool(order)
    assert not order or f" {order}:" in said[-1]


def test_only_the_layout_changes_the_order_of_a_mirror() -> None:
    """A member that is taken out and added again gets the only empty slot, which is its own."""
    made = compared(*(layout(f"level: raid1, members: [{each}]") for each in ("d0, d1, d2", "d1, d2, d0")))
    assert ways(made, A) == {f"members.{slot}": "none" for slot in range(3)} and lost(made) == []
    for change in thing(made, A).changes:
        assert change.how and change.how.notes == (statement("order", members=("d0", "d1", "d2")),)


def test_a_member_in_another_slot_of_its_disk_is_not_written_over() -> None:
    """Both partitions of a disk are members: neither is free for the place of the other."""
    disks = "  disks: {d<0-2>: {serial: S<1>, size: 3TB, partitions: {p: {size: 1TB}, q: {size: 1TB}}}}\n"
    old, new = (
        layout(f"level: raid6, members: [{each}, d1.p, d1.q, d2.p]", disks)
        for each in ("d0.p, d0.q", "d0.q, d0.p")
    )
    made = compared(old, new)
    assert ways(made, A) == {"members.0": None, "members.1": None} and fates(made)[A] == "re-created"


def test_disks_of_a_mirror_that_are_renamed_keep_their_slots() -> None:
    other = DISKS.replace("d<0-9>", "e<0-9>")
    made = compared(
        layout("level: raid1, members: [d0, d1]"), layout("level: raid1, members: [e2, e1]", other)
    )
    (change,) = thing(made, A).changes
    assert lost(made) == [] and "slots" not in notes([change])[0]


def test_a_mirror_whose_first_disk_failed() -> None:
    disks = DISKS.replace("d<0-9>", "d<1-9>")
    made = compared(
        layout("level: raid1, members: [d0, d1]"), layout("level: raid1, members: [d1, d2]", disks)
    )
    assert lost(made) == [] and ways(made, A) == {"members.1": REBUILD}


def test_stripes_of_unequal_members_stay_stripes() -> None:
    """The kernel takes over one zone only; mdadm makes a RAID4 of it for a while to reshape it."""
    disks = "  disks: {d<0-1>: {serial: S<1>, size: 3TB}, d<2-9>: {serial: S<1>, size: 4TB}}\n"
    for after in (
        "level: raid5, members: [d1, d2, d3]",
        "level: raid5, members: [d1, d2]",
        "level: raid0, members: [d1, d2, d3]",
        "level: raid10, members: [d1, d3, d2, d4]",
    ):
        made = compared(layout("level: raid0, members: [d1, d2]", disks, EXT), layout(after, disks, EXT))
        assert lost(made) == ["/srv"] and fates(made)[A] == "re-created"


def test_mirrored_pairs_lose_one_of_each() -> None:
    array = "level: raid10, members: [d<0-3>]"
    for serials, destroyed in (("N0, S1, N2, S3", []), ("N0, N1, S2, S3", ["/srv"])):
        disks = "  disks: {{d<0-3>: {{serial: {{each: [{}]}}, size: 3TB}}}}\n"
        made = compared(layout(array, disks.format("S0, S1, S2, S3")), layout(array, disks.format(serials)))
        assert lost(made) == destroyed


def test_apply_takes_a_new_disk_in_the_place_of_a_lost_one() -> None:
    disks = "  disks: {{d<0-3>: {{serial: {{each: [{}]}}, size: 3TB}}}}\n"
    for array, by_apply in (
        ("level: raid10, members: [d<0-3>]", [True, True]),
        ("level: raid1, members: [d<0-2>]", [True, True]),
        ("level: raid1, members: [d0, d1]", [True]),
    ):
        old, new = (layout(array, disks.format(serials)) for serials in ("S0, S1, S2, S3", "N0, S1, N2, S3"))
        changes = thing(compared(old, new), A).changes
        assert ["`apply`" in note for note in notes(changes)] == by_apply
    free = compared(layout("level: raid1, members: [d0, d1]"), layout("level: raid1, members: [d0, d2]"))
    (change,) = thing(free, A).changes
    assert "apply" not in notes([change])[0], "the old member is there"


def test_a_member_of_another_array_is_not_free() -> None:
    two = "hardware:\n{}arrays:\n  a: {{level: raid1, members: [{}]}}\n  b: {{level: raid1, members: [{}]}}\n"
    old = two.format(DISKS, "d0, d1", "d2, d3")
    assert lost(compared(old, two.format(DISKS, "d0, d2", "d1, d3"))) == ["array a", "array b"]
    gone = f"hardware:\n{DISKS}arrays:\n  a: {{level: raid1, members: [d0, d2]}}\n"
    assert lost(compared(old, gone)) == ["array b"]


def test_larger_members_grow_the_array_and_what_is_on_it() -> None:
    small = "  disks: {d<0-9>: {serial: S<1>, size: 3TB}}\n"
    large = "  disks: {d<0-9>: {serial: S<1>, size: 4TB}}\n"
    made = compared(
        layout("level: raid5, members: [d<0-3>]", small), layout("level: raid5, members: [d<0-3>]", large)
    )
    assert ways(made, A) == {"size": "mdadm --grow --size"} and ways(made, F) == {"size": "xfs_growfs"}
    assert lost(made) == []
    striped = [layout("level: raid0, members: [d<0-3>]", disks) for disks in (small, large)]
    assert lost(compared(striped[0], striped[1])) == ["/srv"]


@pytest.mark.parametrize(("on", "destroyed"), [(XFS, ["/srv"]), (EXT, [])])
def test_an_array_that_shrinks(on: str, destroyed: list[str]) -> None:
    """XFS cannot be made smaller, ext4 can."""
    old, new = "level: raid6, members: [d<0-5>]", "level: raid6, members: [d<0-4>]"
    made = compared(layout(old, on=on), layout(new, on=on))
    assert ways(made, A) == {"raid-devices": SHRINK}
    assert lost(made) == destroyed


def test_a_log_is_taken_off_before_a_reshape() -> None:
    made = compared(
        layout("level: raid5, members: [d<0-3>], consistency: ppl"),
        layout("level: raid5, members: [d<0-4>], consistency: ppl"),
    )
    (change,) = next(each for each in made.things if each.path == ("arrays", "a")).changes
    assert change.how is not None and Statement(Before.WITHOUT_PPL) in change.how.notes


def test_arrays_of_arrays() -> None:
    nested = "hardware:\n{}arrays:\n  a: {{level: raid1, members: [u, w]}}\n  u: {{level: raid0, members: [d0, d1]}}\n  w: {{level: {}, members: [d2, d3]}}\n{}"
    old = nested.format(DISKS, "raid0", XFS)
    made = compared(old, nested.format(DISKS, "linear", XFS))
    assert fates(made)["arrays.w"] == "re-created" and lost(made) == []
    assert ways(made, A)["members.1"] == REBUILD
    both = nested.replace("u: {{level: raid0", "u: {{level: linear").format(DISKS, "linear", XFS)
    assert lost(compared(old, both)) == ["/srv"]


def test_created_and_destroyed() -> None:
    old, new = layout("level: raid6, members: [d<0-5>]"), f"hardware:\n{DISKS}"
    made, back = compared(old, new), compared(new, old)
    assert fates(made) == {A: "destroyed", F: "destroyed"} and fates(back) == {A: "created", F: "created"}
    (loss,) = made.losses
    assert (loss.mount, loss.device, loss.disks) == ("/srv", "a", ("d0", "d1", "d2", "d3", "d4", "d5"))
    assert loss.capacity is not None and 11.9e12 < loss.capacity < 12e12
    assert "d[0-5]" in why(loss)
