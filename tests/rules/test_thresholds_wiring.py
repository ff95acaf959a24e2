"""Both sides of every threshold of the rules about multipliers, buses, ports and shared disks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import HEAD, figures, found, said, stated

PM = """\
hardware:
  controllers: {{c0: {{ports: 4}}}}
  multipliers: {{pm<0-1>: {{behind: c0, port: <1>, speed: 3Gbps, ports: {ports}}}}}
  disks: {{d<0-1><0-4>: {{behind: pm<1>, port: <2>, serial: S<1><2>, size: 3TB}}}}
arrays: {{s: {{level: {level}, members: [{members}]}}, o: {{level: raid5, members: [{others}]}}}}
"""
UNEVEN = {
    "two and two": ("raid5", 5, "d0<0-1>, d1<0-1>", []),
    "two and one": ("raid5", 5, "d0<0-1>, d10", []),
    "three and one": ("raid5", 5, "d0<0-2>, d10", ["7:warning"]),
    "three and one of a mirror": ("raid1", 5, "d0<0-2>, d10", []),
    "two and none is another rule's": ("raid0", 5, "d0<0-1>", []),
    "four and two": ("raid0", 5, "d0<0-3>, d1<0-1>", ["7:warning"]),
}


@pytest.mark.parametrize(("level", "ports", "members", "expected"), UNEVEN.values(), ids=UNEVEN)
def test_unbalanced_multipliers(
    level: str, ports: int, members: str, expected: list[str], tmp_path: Path
) -> None:
    text = PM.format(level=level, ports=ports, members=members, others="d04, d13, d14")
    assert found("unbalanced-multipliers", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("level", "members", "advice"),
    [
        ("raid6", "d0<0-3>, d10", "d11 d03 pm0 3"),
        ("raid6", "d0<0-2>, d10", "d11 d02"),
        ("raid5", "d0<0-2>, d10", "1 pm1 pm0 2"),
    ],
)
def test_what_evening_out_does_not_mend_is_said(
    level: str, members: str, advice: str, tmp_path: Path
) -> None:
    """raid6 may lose two members with a multiplier, raid5 one."""
    text = PM.format(level=level, ports=5, members=members, others="d04, d13, d14")
    ((_, hint),) = said("unbalanced-multipliers", text, tmp_path)
    assert figures(hint) == advice


def test_a_multiplier_without_room_is_no_alternative(tmp_path: Path) -> None:
    text = (
        "hardware:\n  controllers: {c0: {ports: 4}}\n  multipliers: {pm0: {behind: c0, ports: 5}, pm1: {behind: c0, ports: %s}}\n"
        "  disks: {d0<0-3>: {behind: pm0, size: 3TB}, d1: {behind: pm1, size: 3TB}}\n"
        "arrays: {s: {level: raid5, members: [d0<0-3>, d1]}}"
    )
    assert found("unbalanced-multipliers", text % 1, tmp_path) == []
    assert found("unbalanced-multipliers", text % 2, tmp_path) == ["7:warning"]


def test_a_disk_on_a_port_of_its_own_is_no_second_multiplier(tmp_path: Path) -> None:
    text = (
        "hardware:\n  controllers: {c0: {ports: 4}}\n  multipliers: {pm0: {behind: c0, port: 0, ports: 5}}\n"
    )
    text += "  disks: {d<0-3>: {behind: pm0, size: 3TB}, e: {behind: c0, port: 1, size: 3TB}}\n"
    text += "arrays: {s: {level: raid5, members: [d<0-3>, e]}}"
    assert found("unbalanced-multipliers", text, tmp_path) == []


@pytest.mark.parametrize(("rate", "expected"), [(82, []), (84, ["7:warning"])])
def test_an_uplink_that_is_wide_enough_may_be_uneven(rate: int, expected: list[str], tmp_path: Path) -> None:
    """A third of 249 MB/s."""
    text = PM.format(level="raid5", ports=5, members="d0<0-2>, d10", others="d04, d13, d14")
    text = text.replace("size: 3TB", f"size: 3TB, rate: {rate}MB/s")
    assert found("unbalanced-multipliers", text, tmp_path) == expected


def test_disks_that_would_lead_into_another_finding_are_not_named(tmp_path: Path) -> None:
    text = PM.format(level="raid5", ports=5, members="d0<0-2>, d10", others="d03, d11, d12")
    ((message, hint),) = said("unbalanced-multipliers", text, tmp_path)
    assert figures(message, "s") == "3 s pm0 83 MB/s 1 pm1"
    assert figures(hint) == "1 pm1 pm0 2"
    text = PM.format(level="raid5", ports=5, members="d0<0-4>", others="d10, d11, d12")
    (message, hint), *_ = said("array-behind-one-multiplier", text, tmp_path)
    assert figures(message, "s") == "5 s pm0 50 MB/s"
    assert "different multipliers" in hint and "members: {from: [...], " in hint


def test_a_multiplier_that_the_array_does_not_use_yet_is_named(tmp_path: Path) -> None:
    text = "hardware:\n  controllers: {c0: {ports: 4}}\n  multipliers: {pm<0-2>: {behind: c0, port: <1>, ports: 5}}\n"
    text += "  disks: {d<0-1><0-1>: {behind: pm<1>, size: 3TB}, e: {behind: pm2, size: 3TB}}\n"
    text += "arrays: {s: {level: raid5, members: [d<0-1><0-1>]}, o: {level: linear, members: [e]}}"
    assert said("unbalanced-multipliers", text, tmp_path) == [
        ("2 members of s hang behind pm0, and 0 behind pm2", "move 1 of them to pm2")
    ]


def test_free_disks_behind_the_crowded_multiplier_are_no_help(tmp_path: Path) -> None:
    text = PM.format(level="raid5", ports=5, members="d0<0-3>", others="d10, d11, d12")
    text = text.replace("d<0-1><0-4>: {behind: pm<1>, port: <2>, serial: S<1><2>, size: 3TB}",
                        "d0<0-4>: {behind: pm0, size: 3TB}, d1<0-2>: {behind: pm1, size: 3TB}")  # fmt: skip
    (_, hint), *_ = said("array-behind-one-multiplier", text, tmp_path)
    assert "different multipliers" in hint


SWITCH = """\
hardware:
  controllers: {{c0: {{ports: 4{controller}}}}}
  multipliers:
    pm0: {{behind: c0, ports: 5{multiplier}}}
  disks: {{d<0-{last}>: {{behind: pm0, port: <1>, size: 3TB, rate: 150MB/s}}}}
"""
SWITCHING = {
    "by commands": ("", ", switching: command", 1, ["6:warning"]),
    "by commands, one disk": ("", ", switching: command", 0, []),
    "by FIS": (", fis_switching: true", ", switching: fis", 1, []),
    "not said": ("", "", 4, []),
    "a controller that cannot": (", fis_switching: false", ", switching: fis", 4, ["6:warning"]),
    "neither can, said once": (", fis_switching: false", ", switching: command", 4, ["6:warning"]),
}


@pytest.mark.parametrize(("controller", "multiplier", "last", "expected"), SWITCHING.values(), ids=SWITCHING)
def test_command_based_switching(
    controller: str, multiplier: str, last: int, expected: list[str], tmp_path: Path
) -> None:
    text = SWITCH.format(controller=controller, multiplier=multiplier, last=last)
    assert found("command-based-switching", text, tmp_path) == expected


def test_disks_that_take_turns_are_as_fast_as_one(tmp_path: Path) -> None:
    text = SWITCH.format(controller="", multiplier=", switching: command", last=4)
    ((message, _),) = said("command-based-switching", text, tmp_path)
    assert figures(message) == "pm0 5 150 MB/s"


PCI = """\
hardware:
  buses: {{pci0: {{type: {kind}{rate}}}, bridge: {{type: pci, behind: pci0}}}}
  controllers: {{a: {{ports: 4}}, b: {{behind: bridge, ports: 4}}, c: {{behind: pci0, ports: 4}}}}
  disks:
    d<0-3>: {{behind: a, size: 300GB}}
    e<0-3>: {{behind: b, size: 300GB}}
    f<0-3>: {{behind: c, size: 300GB}}
arrays: {{s: {{level: raid5, members: [{members}]}}}}
"""
ON_PCI = {
    "half of the members": ("d<0-3>, e<0-3>", ["10:warning"]),
    "two of four": ("d<0-1>, e<0-1>", ["10:warning"]),
    "one alone": ("d<0-3>, e0", []),
    "one behind each of two cards on one bus": ("d<0-1>, e0, f0", ["10:warning"]),
    "none": ("d<0-3>", []),
}


@pytest.mark.parametrize(("members", "expected"), ON_PCI.values(), ids=ON_PCI)
def test_members_on_pci(members: str, expected: list[str], tmp_path: Path) -> None:
    text = PCI.format(members=members, kind="pci", rate="")
    assert found("members-on-pci", text, tmp_path) == expected


def test_the_rate_of_a_pci_bus_is_told(tmp_path: Path) -> None:
    """Half of the members on 33 MHz PCI."""
    text = PCI.format(members="d<0-3>, f<0-3>", kind="pci", rate=", width: 32, clock: 33MHz")
    ((message, _),) = said("members-on-pci", text, tmp_path)
    assert figures(message, "s") == "4 8 s f0 f1 f2 f3 pci0 100 MB/s 25 MB/s"
    text = PCI.format(members="d<0-3>, f<0-3>", kind="pci", rate=", rate: 95MB/s")
    ((message, _),) = said("members-on-pci", text, tmp_path)
    assert figures(message, "s") == "4 8 s f0 f1 f2 f3 pci0 95 MB/s 24 MB/s"


def test_pcie_is_not_pci(tmp_path: Path) -> None:
    text = PCI.format(members="d<0-3>, f<0-3>", kind="pcie", rate="")
    assert found("members-on-pci", text, tmp_path) == []


USB = """\
hardware:
  buses: {{u: {{type: usb, speed: 5Gbps}}, v: {{type: pcie}}}}
  controllers: {{bridge: {{behind: u, ports: 4}}, a: {{behind: v, ports: 4}}}}
  disks: {{d<0-1>: {{behind: a}}, e: {{behind: u}}, f: {{behind: bridge}}}}
arrays: {{s: {{level: {level}, members: [{members}]}}}}
"""


@pytest.mark.parametrize(
    ("level", "members", "expected"),
    [
        ("raid1", "d0, d1", []),
        ("raid1", "d0, e", ["7:warning"]),
        ("raid1", "e, f", ["7:warning"]),
        ("raid0", "d0, e", []),
    ],
)
def test_usb_member(level: str, members: str, expected: list[str], tmp_path: Path) -> None:
    assert found("usb-member", USB.format(level=level, members=members), tmp_path) == expected


@pytest.mark.parametrize(("members", "marked"), [("d0, e", "e"), ("e, d0", "e"), ("f, e", "members")])
def test_one_member_on_usb_is_marked_itself(members: str, marked: str, tmp_path: Path) -> None:
    text = HEAD + USB.format(level="raid1", members=members)
    ((line, column),) = [(f.line, f.column) for f in stated(text, tmp_path) if f.rule == "usb-member"]
    assert text.splitlines()[line - 1][column - 1 :].startswith(marked)


LINK = "hardware:\n  controllers: {{c: {{ports: 4, speed: {speed}}}}}\n  disks: {{d: {{behind: c, size: 1TB, rate: {rate}, rotational: {turning}{link}}}}}"
LINKS = {
    "SATA II under a hard disk": ("3Gbps", "280MB/s", "true", "", []),
    "a hard disk that hardly loses": ("3Gbps", "333MB/s", "true", "", []),
    "a hard disk that loses": ("3Gbps", "334MB/s", "true", "", ["5:note"]),
    "SATA I under a hard disk": ("1.5Gbps", "180MB/s", "true", "", ["5:note"]),
    "an SSD that hardly loses": ("6Gbps", "666MB/s", "false", "", []),
    "an SSD that loses": ("6Gbps", "667MB/s", "false", "", ["5:warning"]),
    "a disk that is SATA I itself": ("6Gbps", "180MB/s", "true", ", link: 1.5Gbps", ["5:note"]),
    "a fast interface on a slow port": ("3Gbps", "150MB/s", "true", ", link: 6Gbps", []),
}


@pytest.mark.parametrize(("speed", "rate", "turning", "link", "expected"), LINKS.values(), ids=LINKS)
def test_link_slower_than_disk(
    speed: str, rate: str, turning: str, link: str, expected: list[str], tmp_path: Path
) -> None:
    text = LINK.format(speed=speed, rate=rate, turning=turning, link=link)
    assert found("link-slower-than-disk", text, tmp_path) == expected


SHARED = """\
hardware: {{disks: {{d<0-2>: {{serial: S<1>, size: 6TB{rate}, partitions: {{a: {{size: {size}}}, b: {{size: rest}}}}}}}}}}
arrays: {{s: {{level: {level}, members: [d<0-2>.a]}}, t: {{level: raid5, members: [d<0-2>.b]}}}}
"""


@pytest.mark.parametrize(
    ("rate", "size", "level", "expected"),
    [
        (", rate: 100MiB/s", "360000MiB", "raid5", ["4:note"]),  # an hour
        (", rate: 100MiB/s", "359999MiB", "raid5", []),
        (", rate: 100MB/s", "3TB", "raid0", []),
        ("", "3TB", "raid5", []),
    ],
)
def test_arrays_share_disks(rate: str, size: str, level: str, expected: list[str], tmp_path: Path) -> None:
    text = SHARED.format(rate=rate, size=size, level=level)
    assert found("arrays-share-disks", text, tmp_path) == expected


JOURNAL = """\
hardware: {{disks: {{d<0-5>: {{size: 1TB}}, n<0-1>: {{size: 100GB, partitions: {{a: {{size: 10GB}}, b: {{size: 10GB}}}}}}}}}}
arrays:
  l<0-1>: {{level: raid1, members: [n<0-1>.{parts}]}}
  s: {{level: raid5, members: [d<0-2>], consistency: journal, journal: {one}}}
  t: {{level: raid5, members: [d<3-5>], consistency: journal, journal: {two}}}
"""


def test_journals_share_disk(tmp_path: Path) -> None:
    text = JOURNAL.replace("  l<0-1>: {{level: raid1, members: [n<0-1>.{parts}]}}\n", "")
    assert found("journals-share-disk", text.format(one="n0.a", two="n0.b"), tmp_path) == ["6:warning"]
    assert found("journals-share-disk", text.format(one="n0.a", two="n1.b"), tmp_path) == []
    text = JOURNAL.format(parts="<1:a/b>", one="l0", two="l1")
    assert found("journals-share-disk", text, tmp_path) == []


ROOT = "hardware: {disks: {d<0-3>: {size: 1TB}, r<0-1>: {size: 128GB}}}\n"


@pytest.mark.parametrize(
    ("arrays", "device", "data", "expected"),
    [
        ("s: {level: raid5, members: [d<0-3>]}", "r0", "s", ["5:note"]),
        ("s: {level: raid0, members: [d<0-3>]}", "r0", "s", []),
        ("s: {level: raid5, members: [d<0-3>]}, o: {level: raid1, members: [r<0-1>]}", "o", "s", []),
        ("", "r0", "d0", []),
    ],
)
def test_root_without_redundancy(
    arrays: str, device: str, data: str, expected: list[str], tmp_path: Path
) -> None:
    text = ROOT + f"arrays: {{{arrays}}}\n"
    text += f"filesystems: {{root: {{device: {device}, type: ext4, mount: /}}, data: {{device: {data}, type: ext4, mount: /srv}}}}"
    assert found("root-without-redundancy", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("first", "second", "model", "expected"),
    [
        ("WD-WCAV5123001", "WD-WCAV5123999", "A", ["6:note"]),
        ("WD-WCAV5123001", "WD-WCAV5124001", "A", []),
        ("WD-WCAV5123001", "WD-WCAV5123002", "B", []),
        ("WD-WCAV5123001", "WD-WCAV51230011", "A", []),
        ("001", "002", "A", []),
    ],
)
def test_same_batch_members(first: str, second: str, model: str, expected: list[str], tmp_path: Path) -> None:
    text = f"hardware:\n  disks: {{d0: {{model: A, serial: {first}}}, d1: {{model: {model}, serial: {second}}}}}\n"
    text += "arrays:\n  s: {level: raid1, members: [d<0-1>]}"
    assert found("same-batch-members", text, tmp_path) == expected


def test_disks_without_a_model_say_nothing_about_their_batch(tmp_path: Path) -> None:
    text = "hardware: {disks: {d<0-1>: {serial: WD-WCAV512300<1>}}}\narrays: {s: {level: raid1, members: [d<0-1>]}}"
    assert found("same-batch-members", text, tmp_path) == []


PORTS = """\
hardware:
  buses: {{pci0: {{type: pci}}, usb0: {{type: usb}}}}
  controllers:
    old: {{behind: pci0, ports: 9, speed: 1.5Gbps, fis_switching: false}}
    new: {{ports: 6, speed: 6Gbps, fis_switching: true}}
    stick: {{behind: usb0, ports: 9}}
  multipliers: {{pm: {{behind: old, ports: 5}}}}
  disks:
    d<0-1>: {{behind: {behind}, serial: S<1>, size: 1TB, rate: 500MB/s, rotational: false}}
    e<0-1>: {{behind: new, serial: E<1>, size: 1TB}}
arrays: {{s: {{level: raid1, members: [d<0-1>]}}}}
"""
ELSEWHERE = {
    "members-on-pci": ("old", "move them: new has 4 free ports"),
    "usb-member": ("stick", "move them: new has 4 free ports"),
    "link-slower-than-disk": ("old", "plug it into a faster port: new has 4 free ports"),
    "command-based-switching": ("pm", "use a controller and a multiplier with FIS-based switching: new has 4 free ports"),
    "array-behind-one-controller": ("old", "put 1 of them elsewhere: new has 4 free ports"),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "behind", "hint"), [(rule, *rest) for rule, rest in ELSEWHERE.items()])
def test_free_ports_elsewhere_are_named(rule: str, behind: str, hint: str, tmp_path: Path) -> None:
    assert {advice for _, advice in said(rule, PORTS.format(behind=behind), tmp_path)} == {hint}


@pytest.mark.parametrize(("count", "middle"), [(8, "x7"), (9, "...")])
def test_a_long_circle_is_told_in_short(count: int, middle: str, tmp_path: Path) -> None:
    cards = ", ".join(f"x{n}: {{type: pcie, behind: x{(n + 1) % count}}}" for n in range(count))
    ((message, _),) = said("component-cycle", f"hardware: {{buses: {{{cards}}}}}", tmp_path)
    assert message == f"x0 -> x1 -> x2 -> x3 -> x4 -> x5 -> x6 -> x7 -> {middle} -> x0 is a circle".replace(
        "x7 -> x7", "x7"
    )


@pytest.mark.parametrize("rule", ["unknown-component", "unlisted-disk"])
def test_near_misses_are_looked_for_twenty_times(rule: str, tmp_path: Path) -> None:
    text = "hardware:\n  controllers: {sil0: {ports: 4}}\n  disks: {d<00-20>: {%ssize: 1TB}}\n"
    if rule == "unknown-component":
        text %= "behind: sil1, "
    else:
        text = text % "" + "  enclosures: {shelf: {disks: [dd<00-20>]}}"
    hints = [hint.startswith("did you mean") for _, hint in said(rule, text, tmp_path)]
    assert hints == [True] * 20 + [False]


@pytest.mark.parametrize(("port", "expected"), [(-1, 1), (0, 0), (3, 0), (4, 1)])
def test_ports_count_from_zero(port: int, expected: int, tmp_path: Path) -> None:
    text = f"hardware: {{controllers: {{c: {{ports: 4}}}}, disks: {{d: {{behind: c, port: {port}, size: 1TB}}}}}}"
    assert found("ports-exceeded", text, tmp_path) == ["3:error"] * expected


KEPT = (
    "hardware: {disks: {d<0-3>: {size: 1TB}, r<0-1>: {size: 128GB, keep: true, partitions: {os: {size: rest}}}}}\n"
    "arrays: {s: {level: raid5, members: [d<0-3>]}%s}\nfilesystems: {%sdata: {device: s, type: ext4, mount: /srv}}"
)
ROOTS = {
    "on one kept disk": ("", "root: {device: r0.os, type: ext4, mount: /}, ", ["root-without-redundancy 5:note"]),
    "on a mirror of kept disks": (", o: {level: raid1, members: [r<0-1>.os]}", "root: {device: o, type: ext4, mount: /}, ", []),
    "kept disks of which nothing is said": ("", "", ["kept-without-content 3:note"]),
    "a mirror on them of which nothing is said": (", o: {level: raid1, members: [r<0-1>.os]}", "", []),
}  # fmt: skip


@pytest.mark.parametrize(("array", "root", "expected"), ROOTS.values(), ids=ROOTS)
def test_a_kept_system_disk_is_a_single_point_of_failure(
    array: str, root: str, expected: list[str], tmp_path: Path
) -> None:
    """`discover hardware` writes the disks of the running system with keep: true, and nothing was said of their loss."""
    rules = ("root-without-redundancy", "kept-without-content")
    assert [
        f"{rule} {at}" for rule in rules for at in found(rule, KEPT % (array, root), tmp_path)
    ] == expected


def test_without_redundant_data_a_kept_disk_is_no_weaker_than_the_rest(tmp_path: Path) -> None:
    text = (KEPT % ("", "")).replace("raid5", "raid0")
    assert found("kept-without-content", text, tmp_path) == []
