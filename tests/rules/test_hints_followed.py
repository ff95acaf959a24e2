"""Hints that once led into another finding or did not see what was there, and findings that once were missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from raidplan.base.findings import Edit, Finding
from raidplan.layout.not_done import NOT_DONE
from raidplan.review.pipeline import check
from tests.rules.hints import checked, edited, failed_hints, findings
from tests.rules.stages import HEAD, figures, found, said, stated

FORTY = """\
hardware:
  controllers: {sil<0-3>: {ports: 4, speed: 3Gbps, fis_switching: true}}
  multipliers: {pm<0-7>: {behind: sil<1:0/0/1/1/2/2/3/3>, port: <1:0/1/0/1/0/1/0/1>, ports: 5, speed: 3Gbps}}
  disks: {d<0-7><0-4>: {behind: pm<1>, port: <2>, serial: P-<1><2>, size: 3TB, rate: 150MB/s}}
arrays: {a: {level: raid5, members: [d0<0-4>]}}
"""
CARDS = """\
hardware:
  controllers: {a: {ports: 4, speed: 3Gbps, fis_switching: true}, b: {ports: 20, speed: 3Gbps, fis_switching: true}}
  multipliers: {pm<0-3>: {behind: a, port: <1>, ports: 5, speed: 3Gbps}, pn<0-3>: {behind: b, port: <1>, ports: 5, speed: 3Gbps}}
  disks:
    x<0-3>: {behind: pm<1>, port: 0, serial: X<1>, size: 3TB, rate: 150MB/s}
    y<0-3>: {behind: pn<1>, port: 0, serial: Y<1>, size: 3TB, rate: 150MB/s}
arrays: {s: {level: raid6, members: [x<0-3>]}}
"""
TOGETHER = """\
hardware:
  controllers: {hba: {ports: 16}}
  disks: {x<0-3>: {behind: hba, port: <1>, serial: X<1>, size: 3TB}, y<0-3>: {behind: hba, port: <1:4-7>, serial: Y<1>, size: 3TB}}
  %s
arrays: {s: {level: raid6, members: [x<0-3>]}}
"""
PARTS = {
    "an enclosure": "enclosures: {e0: {disks: [x<0-3>]}, e1: {disks: [y<0-3>]}}",
    "a cable": "enclosures: {cable0: {disks: [x<0-3>]}, cable1: {disks: [y<0-3>]}}",
    "a supply": "power: {p0: {feeds: [x<0-3>]}, p1: {feeds: [y<0-3>]}}",
}


def layout_of(text: str, folder: Path) -> dict[str, Any]:
    """The plain values of a layout without its head, ranges written out."""
    file = folder / "text.yaml"
    file.write_text(HEAD + text)
    document = check(str(file)).document
    plain = document.root.plain() if document else None
    assert isinstance(plain, dict)
    return plain


def first(rule: str, layout: dict[str, Any], folder: Path) -> Finding:
    return next(each for each in findings(checked(layout, folder)) if each.rule == rule)


def test_members_behind_one_multiplier_are_exchanged_for_disks_behind_as_many_as_it_takes(
    tmp_path: Path,
) -> None:
    """Four free disks behind one other multiplier were advised, which then took four of the five members."""
    layout = layout_of(FORTY, tmp_path)
    hint = first("array-behind-one-multiplier", layout, tmp_path)
    (edit,) = hint.edits
    assert isinstance(edit.new, tuple) and len({disk[1] for disk in edit.new}) == 5
    after = {each.rule for each in findings(checked(edited(layout, hint.edits), tmp_path))}
    assert not after & {"array-behind-one-multiplier", "unbalanced-multipliers"}
    # Five members on four cards: one of these takes two, and no multiplier more than one.
    left = first("component-loss-kills-array", edited(layout, hint.edits), tmp_path)
    assert "the controller sil0 takes 2 of its 5" in left.message


def test_free_disks_on_another_controller_come_before_its_free_ports(tmp_path: Path) -> None:
    """`b has 16 free ports behind it` was advised, where four free disks hang there already."""
    layout = layout_of(CARDS, tmp_path)
    hint = first("array-behind-one-controller", layout, tmp_path)
    assert hint.edits and set(hint.edits[0].new or ()) & {"y0", "y1", "y2", "y3"}  # type: ignore[arg-type]
    after = findings(checked(edited(layout, hint.edits), tmp_path))
    assert not [each for each in after if each.path == ("arrays", "s", "members")]


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_all_members_on_one_part_while_others_have_free_disks(parts: str, tmp_path: Path) -> None:
    layout = layout_of(TOGETHER % parts, tmp_path)
    hint = first("component-loss-kills-array", layout, tmp_path)
    assert hint.edits == (Edit(("arrays", "s", "members"), ("x0", "x1", "y1", "y0")),)
    assert failed_hints(layout, tmp_path) == []


FLAKY = """\
hardware:
  controllers: {sil: {ports: 4, drops_disks: true}}
  multipliers: {pm: {behind: sil, ports: 5}}
  disks: {d<0-3>: {behind: pm, port: <1>, serial: S<1>, size: 3TB}}
arrays: {s: {level: raid5, members: [d<0-3>]}}
filesystems: {data: {device: s, type: xfs, mount: %s}}
boot: {degraded: wait}
"""
WAITS = {
    "as raidplan writes it": ("/srv/data", ["8:note"]),
    "long enough": ("/srv/data, options: [x-systemd.device-timeout=180s]", []),
    "a second less": ("/srv/data, options: [x-systemd.device-timeout=179s]", ["8:note"]),
    "for ever": ("/srv/data, options: [x-systemd.device-timeout=infinity]", []),
    "the root, for which the initramfs waits": ("/", []),
    "one that blocks the boot, which has a rule of its own": ("/srv/data, options: [auto]", []),
}


@pytest.mark.parametrize(("mount", "expected"), WAITS.values(), ids=WAITS)
def test_wait_ends_before_disks(mount: str, expected: list[str], tmp_path: Path) -> None:
    """A wait of 120 s was written for a machine that takes three minutes to boot, and nothing was said."""
    assert found("wait-ends-before-disks", FLAKY % mount, tmp_path) == expected


def test_a_disk_that_is_lost_on_a_port_of_its_own_is_not_late(tmp_path: Path) -> None:
    text = (FLAKY % "/srv").replace("behind: pm", "behind: sil")
    assert found("wait-ends-before-disks", text, tmp_path) == []


@pytest.mark.parametrize(("disks", "expected"), [(10, []), (11, ["6:note"])])
def test_a_wait_ends_before_disks_that_start_one_after_another(
    disks: int, expected: list[str], tmp_path: Path
) -> None:
    text = (
        f"hardware:\n  disks: {{d<00-{disks - 1}>: {{serial: S<1>, size: 3TB}}}}\n"
        f"  power: {{psu: {{staggered_spinup: true, feeds: [d<00-{disks - 1}>]}}}}\n"
        f"filesystems: {{data: {{device: s, type: xfs, mount: /srv}}}}\narrays: {{s: {{level: raid6, members: [d<00-{disks - 1}>]}}}}\n"
    )
    assert found("wait-ends-before-disks", text, tmp_path) == expected


ZERO = "hardware: {disks: {s<0-3>: {serial: S<1>, size: 1TB, rotational: false}}}\narrays: {a: {level: %s, members: [s<0-3>], initial_sync: %s}}"


@pytest.mark.parametrize(
    ("level", "sync", "expected"),
    [
        ("raid5", "zero", ["4:note"]),
        ("raid5", "run", []),
        ("raid5", "assume-clean", []),
        ("raid0", "zero", []),
    ],
)
def test_initial_sync_needs_mdadm(level: str, sync: str, expected: list[str], tmp_path: Path) -> None:
    """Nothing was said of `initial_sync: zero`, and mdadm 4.2 stopped at it after the partition tables were written."""
    assert found("initial-sync-needs-mdadm", ZERO % (level, sync), tmp_path) == expected


TYPED = """\
hardware:
  firmware: %s
  disks: {d<0-1>: {serial: S<1>, size: 1TB, partitions: {first: {size: %s%s}, os: {size: rest}}}}
arrays: {os: {level: raid1, members: [d<0-1>.os]}}
filesystems: {root: {device: os, type: ext4, mount: /}}
"""


@pytest.mark.parametrize(
    ("firmware", "size", "hint"),
    [
        ("bios", "1MiB", "write type: bios-boot for d0.first and d1.first"),
        ("uefi", "1GiB", "write type: esp for d0.first and d1.first"),
        ("bios", "1GiB", "give each of them a partition bios: {size: 1MiB, type: bios-boot}"),
        ("uefi", "1MiB", "give each of them a partition esp: {size: 1GiB, type: esp}"),
    ],
)
def test_a_partition_that_was_made_for_a_boot_loader_is_seen(
    firmware: str, size: str, hint: str, tmp_path: Path
) -> None:
    """Another partition was advised beside one that only lacks its type."""
    text = TYPED % (firmware, size, "")
    assert [advice for _, advice in said("no-boot-partition", text, tmp_path)] == [hint]
    assert failed_hints(layout_of(text, tmp_path), tmp_path) == []


def test_a_second_boot_partition_that_lacks_its_type_is_seen(tmp_path: Path) -> None:
    text = TYPED.replace(
        "d<0-1>: {serial: S<1>",
        "d0: {serial: S0, size: 1TB, partitions: {first: {size: 1MiB, type: bios-boot}, os: {size: rest}}}, d1: {serial: S1",
    )
    ((_, hint),) = said("too-few-boot-loaders", text % ("bios", "1MiB", ""), tmp_path)
    assert figures(hint, "bios-boot") == "bios-boot d1.first"


SWAP = """\
hardware: {disks: {d<0-2>: {serial: S<1>, size: 1TB, partitions: {sw: {size: 4GiB}, data: {size: rest}}}}}
arrays: {a: {level: raid5, members: [d<0-2>.data]}}
swap: {one: {device: d0.sw}}
"""


def test_swap_on_a_member_of_an_array_is_said_without_a_root_and_its_other_half_is_seen(
    tmp_path: Path,
) -> None:
    """Swap on one disk of a raid5 was silent where the layout has no root file system; the free partition beside it was not named."""
    ((message, hint),) = said("unmirrored-swap", SWAP, tmp_path)
    assert (figures(message, "array", "swap"), figures(hint)) == ("array swap d0", "raid1 d0.sw d1.sw")


def test_a_free_partition_is_seen_for_a_spare_and_for_a_member(tmp_path: Path) -> None:
    disks = "hardware: {disks: {d<0-8>: {serial: S<1>, size: 1TB, partitions: {a: {size: 1GiB}, b: {size: rest}}}}}\n"
    ((_, hint),) = said("no-spare", disks + "arrays: {s: {level: raid6, members: [d<0-7>.b]}}", tmp_path)
    assert hint == "write spares: [d8.b], which is free"
    twice = disks + "arrays: {s: {level: raid6, members: [d<0-7>.a, d7.b]}}"
    assert said("two-members-one-disk", twice, tmp_path)[0][1] == "take d8.a in place of d7.b"
    assert failed_hints(layout_of(twice, tmp_path), tmp_path) == []


SLOW = """\
hardware:
  controllers: {c<0-1>: {ports: 4, speed: 6Gbps}}
  disks:
    a<0-1>: {behind: c0, port: <1>, serial: A<1>, size: 1TB, rate: 200MB/s}
    b0: {behind: c1, port: 0, serial: B0, size: 1TB, rate: 200MB/s}
    e0: {behind: c1, port: 1, serial: E0, size: 1TB, rate: 50MB/s}
arrays: {t: {level: raid5, members: [a0, b0, e0]}}
"""
SMALL = """\
hardware:
  controllers: {c<0-1>: {ports: 4}}
  disks:
    a<0-1>: {behind: c0, port: <1>, serial: A<1>, size: 1TB}
    b<0-1>: {behind: c1, port: <1>, serial: B<1>, size: 2TB}
    c: {behind: c1, port: 2, serial: C, size: 2TB}
arrays: {t: {level: raid10, members: [a0, b0, a1, b1]}}
"""
UNCLEAN = {
    "a faster disk would leave two members to one controller": ("slow-member", SLOW, ("a1",)),
    "another small member is left, and copies would meet": ("mixed-member-sizes", SMALL, ("take",)),
}


@pytest.mark.parametrize(("rule", "text", "unnamed"), UNCLEAN.values(), ids=UNCLEAN)
def test_an_exchange_that_leads_into_another_finding_is_not_named(
    rule: str, text: str, unnamed: tuple[str, ...], tmp_path: Path
) -> None:
    """`take a1 in place of e0: a1 is free and fast enough`, and then `component-loss-kills-array`."""
    layout = layout_of(text, tmp_path)
    finding = first(rule, layout, tmp_path)
    assert finding.edits == () and not {*unnamed} & {*finding.hint.replace(":", "").split()}
    assert failed_hints(layout, tmp_path) == []


def test_one_mount_option_gets_one_answer(tmp_path: Path) -> None:
    """To remove a wait of 30 s left one of 120, and another rule asked for 240."""
    layout = layout_of(FLAKY % "/srv, options: [x-systemd.device-timeout=30s]", tmp_path)
    waits = [each for each in findings(checked(layout, tmp_path)) if each.path[0] == "filesystems"]
    assert [(each.rule, each.edits) for each in waits] == [
        ("mount-blocks-boot", (Edit(("filesystems", "data", "options"), ("x-systemd.device-timeout=240s",)),))
    ]
    after = findings(checked(edited(layout, waits[0].edits), tmp_path))
    assert not [each for each in after if each.path[0] == "filesystems"]


HIDDEN = """\
hardware:
  controllers: {ahci: {ports: 4}, sil: {ports: 4}}
  multipliers: {pm: {behind: sil, port: 0, ports: 5}, pn: {behind: sil, port: 1, ports: 5}}
  disks:
    p<0-1>: {behind: pm, port: <1>, serial: P<1>, size: 1TB}
    q0: {behind: pn, port: 0, serial: Q, size: 1TB, partitions: {esp: {size: 1GiB, type: esp}}}
arrays: {os: {level: raid1, members: [p<0-1>]}}
filesystems:
  root: {device: os, type: ext4, mount: /}
  efi: {device: q0.esp, type: vfat, mount: /boot/efi}
"""


def test_an_esp_that_firmware_does_not_show_is_said_beside_a_root_that_it_does_not_show(
    tmp_path: Path,
) -> None:
    """To move the root alone uncovered an error that was there before."""
    assert found("boot-behind-multiplier", HIDDEN, tmp_path) == ["11:error", "12:error"]


@pytest.mark.parametrize("word", [word for word in NOT_DONE if word != "zfs"])
def test_of_what_raidplan_does_not_do_it_says_what_to_do(word: str, tmp_path: Path) -> None:
    """The answer was a list of sixteen keys, or another key that is spelled alike: bitmap for bitmap_chunk."""
    text = f"arrays: {{s: {{level: raid1, members: [a, b], {word}: 1}}}}"
    (hint,) = (each.hint for each in stated(HEAD + text, tmp_path) if each.rule == "unknown-key")
    assert hint == NOT_DONE[word]


def test_zfs_is_not_taken_for_xfs(tmp_path: Path) -> None:
    text = "hardware: {disks: {d: {size: 1TB}}}\nfilesystems: {f: {device: d, type: zfs}}"
    (hint,) = (each.hint for each in stated(HEAD + text, tmp_path) if each.rule == "invalid-value")
    assert "raidplan makes no ZFS" in hint


def test_the_edits_of_a_hint_can_be_read_by_any_program(tmp_path: Path) -> None:
    """The paths are those of `raidplan show`, and what stands there is what the edit says."""
    layout = layout_of(FORTY, tmp_path)
    loaded = checked(layout, tmp_path)
    document = yaml.safe_load((tmp_path / "layout.yaml").read_text())
    for item in loaded.findings:
        for change in item.changes:
            here: Any = document
            for part in change.edit.path:
                here = (here or {}).get(part) if isinstance(part, str) else here[part]
            assert change.old == here and change.action == ("insert" if here is None else "replace")
    assert any(item.changes for item in loaded.findings)
