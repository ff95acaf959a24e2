"""File systems that get smaller: the headline, the exit code, and the plan of a change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidplan.cli import run
from raidplan.render.diff_names import name_of
from raidplan.render.diff_words import summary
from tests.diff.layouts import compared, lost

GROUP = """version: 1
host: h
hardware: {disks: {d<0-5>: {serial: S<1>, size: 3TB, rate: 150MB/s}}}
arrays: {a: {level: LEVEL, members: [d<0-5>]}}
volume_groups: {g: {devices: [a], volumes: {v: {size: SIZE}, w: {size: 1TiB}MORE}}}
filesystems: {f: {device: g.v, type: ext4, mount: /srv}, k: {device: g.w, type: ext4, mount: /home}FILES}
"""


def group(level: str = "raid6", size: str = "2TiB", more: str = "", files: str = "") -> str:
    words = {"LEVEL": level, "SIZE": size, "MORE": more, "FILES": files}
    text = GROUP
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def diffed(old: str, new: str, folder: Path, *options: str) -> int:
    (folder / "old.yaml").write_text(old)
    (folder / "new.yaml").write_text(new)
    return run(["diff", str(folder / "old.yaml"), str(folder / "new.yaml"), *options])


def headline(old: str, new: str, *, allowed: bool = False) -> str:
    """The last line about the two."""
    return summary(compared(*(text.split("\n", 2)[2] for text in (old, new))), allowed=allowed)


def test_a_shrink_is_a_loss_of_room(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The headline said that no data would be destroyed, with 0, of a file system cut to half its size."""
    old, new = group(), group(size="1TiB")
    assert diffed(old, new, tmp_path) == 1
    text = capsys.readouterr().out
    assert text.endswith(f"{headline(old, new)}\n") and " 2.2 TB (2 TiB) -> 1.1 TB (1 TiB) on g.v\n" in text
    assert diffed(old, new, tmp_path, "--allow-destroy") == 0
    assert capsys.readouterr().out.endswith(f"{headline(old, new, allowed=True)}\n")
    assert diffed(old, new, tmp_path, "--format", "markdown") == 1
    assert f"**{headline(old, new).partition('/srv')[0]}" in capsys.readouterr().out
    assert diffed(old, new, tmp_path, "--format", "json") == 1
    made = json.loads(capsys.readouterr().out)
    assert (made["destroys"], made["shrinks"], made["destroyed_data"]) == (False, True, [])
    assert made["lost_room"] == [
        {
            "path": "filesystems.f",
            "name": "/srv",
            "device": "g.v",
            "before_bytes": 2 << 40,
            "after_bytes": 1 << 40,
        }
    ]
    assert diffed(new, old, tmp_path) == 0 and capsys.readouterr().out.endswith(f"{headline(new, old)}\n")
    assert "/srv" not in headline(new, old)


def test_both_are_said_of_one_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = group(more=", z: {size: 10GiB}", files=", z: {device: g.z, type: xfs, mount: /z}")
    assert diffed(old, group(size="1TiB"), tmp_path, "--format", "json") == 1
    made = json.loads(capsys.readouterr().out)
    assert (made["destroys"], made["shrinks"]) == (True, True)
    diffed(old, group(size="1TiB"), tmp_path)
    end = capsys.readouterr().out.splitlines()[-1]
    assert end == headline(old, group(size="1TiB")) and "; " in end


def test_what_does_not_keep_its_data_is_destroyed_and_not_smaller() -> None:
    xfs = group().replace("ext4", "xfs").partition("hardware")[2]
    made = compared(f"hardware{xfs}", f"hardware{xfs.replace('2TiB', '1TiB')}")
    assert lost(made) == ["/srv"] and made.shrinks == ()


def test_an_array_of_fewer_members_takes_room_from_what_is_on_it() -> None:
    text = "hardware: {disks: {d<0-5>: {serial: S<1>, size: 3TB}}}\narrays: {a: {level: raid6, members: [d<0-%d>]}}\n"
    text += "filesystems: {f: {device: a, type: ext4, mount: /srv}}\n"
    made = compared(text % 5, text % 4)
    assert [name_of(each) for each in made.shrinks] == ["/srv"] and lost(made) == []
    # Where no size is stated, what it is made of tells.
    unsized = [each.replace(", size: 3TB", "") for each in (text % 5, text % 4)]
    (shrink,) = compared(*unsized).shrinks
    assert (shrink.before, shrink.after) == (None, None)
    assert compared(text % 4, text % 5).shrinks == ()


def test_raid_and_wiring_are_told_by_what_they_mean_for_each_file_system() -> None:
    text = (
        "hardware: {buses: {b: {type: pci, rate: 90MB/s}}, controllers: {c: {behind: b}, e: {}}, "
        "disks: {d<0-3>: {behind: %s, serial: S<1>, size: 3TB, rate: 150MB/s}}}\n"
        "arrays: {a: {level: %s, members: [d<0-3>]}}\nfilesystems: {f: {device: a, type: ext4, mount: /srv}}\n"
    )
    rewired = compared(text % ("{each: [c, c, e, e]}", "raid6"), text % ("c", "raid6"))
    (srv,) = (each for each in rewired.tolerance if name_of(each) == "/srv")
    assert ("controller", "c") in srv.lost and ("bus", "b") in srv.lost
    read = {each.what: (each.before, each.after) for each in rewired.figures if name_of(each) == "/srv"}
    assert read["read"] == (180e6, 90e6)
    level = compared(text % ("e", "raid6"), text % ("e", "raid5"))
    assert ("/srv", (2, 1)) in [(name_of(each), each.always) for each in level.tolerance]


def test_the_plan_of_a_change_has_what_is_new_and_nothing_that_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = group(size="1TiB", more=", z: {size: 10GiB}", files=", z: {device: g.z, type: xfs, mount: /z}")
    assert diffed(group(), new, tmp_path, "--plan", "--format", "json") == 1
    steps = [each["say"] for each in json.loads(capsys.readouterr().out)["plan"]]
    assert steps[0] == "create volume g.z of 10 GiB" and steps[1].startswith("format g.z as xfs z")
    assert not any(word in step for step in steps for word in ("partition", "raid6", "g.v", "g.w", "ext4"))
    assert diffed(group(), new, tmp_path, "--plan") == 1
    text = capsys.readouterr().out
    assert f"  + {steps[0]}\n    | $ lvcreate" in text and "everything on" not in text
    assert (
        diffed(group(), group(), tmp_path, "--plan") == 0 and capsys.readouterr().out == "nothing differs\n"
    )


@pytest.mark.parametrize("made", ["type: xfs", "type: ext4"])
def test_a_file_system_that_stays_is_not_made_in_the_plan_of_the_change(
    made: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With other chunks below it mkfs would have had other arguments: the plan of the change had that command, for a file system with data."""
    old = group().replace("type: ext4", made)
    for new in (
        old.replace("raid6", "raid6, chunk: 64KiB"),
        old.replace("size: 3TB", "size: 3TB, physical_block: 4096"),
    ):
        assert diffed(old, new, tmp_path, "--plan", "--format", "json") == 0
        told = json.loads(capsys.readouterr().out)
        assert not told["destroys"] and not told["shrinks"]
        assert not [step["say"] for step in told["plan"] if "format" in step["say"]]


def test_a_disk_that_goes_to_another_array_is_partitioned_in_the_plan_of_the_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = group()
    assert diffed(old, old.replace("{a: {level", "{b: {level").replace("[a]", "[b]"), tmp_path, "--plan") == 1
    text = capsys.readouterr().out.partition("plan of the change")[2]
    assert "partition d[0-5]" in text and "create raid6 b" in text


def test_what_is_made_anew_is_in_the_plan_of_the_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diffed(group(), group("raid10"), tmp_path, "--plan", "--format", "json") == 1
    made = json.loads(capsys.readouterr().out)
    steps = [each["say"] for each in made["plan"]]
    assert made["destroys"] and any("create raid10 a of 6" in step for step in steps)
    assert any("create volume g.v" in step for step in steps) and any("as ext4 f" in step for step in steps)


SWAPS = """\
version: 1
host: h
hardware:
  disks: {d<0-3>: {serial: S<1>, size: 1TB, partitions: {swap: {size: 2GiB}, data: {size: rest}}}}
arrays:
  data: {level: raid5, members: [d<0-3>.data]}
%s
filesystems: {data: {device: data, type: xfs, mount: /srv}}
swap: {%s}
"""


def test_a_mistake_that_is_mended_comes_with_its_plan_and_partitions_no_disk_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a layout with an error there was no plan of the change; and a partition that becomes a member had its disk partitioned."""
    plain = SWAPS % ("", "s<0-3>: {device: d<1>.swap, priority: 10}")
    mirror = SWAPS % ("  swap: {level: raid1, members: [d<0-1>.swap]}", "swap: {device: swap}")
    assert diffed(plain, mirror, tmp_path, "--plan", "--format", "json") == 0
    made = json.loads(capsys.readouterr().out)
    steps = [step["say"] for step in made["plan"]]
    assert any(step.startswith("create raid1 swap of 2 members") for step in steps)
    assert not made["destroys"] and not [step for step in steps if "partition" in step]
    types = {
        each["path"].rpartition(".")[2]: change["new"]
        for each in made["things"]
        for change in each["changes"]
        if change["key"] == "partitions.swap.type"
    }
    assert types == {"d0": "raid", "d1": "raid", "d2": "linux", "d3": "linux"}


def test_a_group_that_gets_smaller_is_room_lost_though_its_volumes_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An array lost a third of its room, and the headline said nothing, with 0."""
    old = group(level="raid5")
    new = old.replace("members: [d<0-5>]", "members: [d<0-4>]")
    assert diffed(old, new, tmp_path) == 1
    text = capsys.readouterr().out
    assert text.endswith(f"{headline(old, new)}\n") and " 15 TB (13.6 TiB) -> 12 TB (10.9 TiB) on a\n" in text
    assert diffed(new, old, tmp_path) == 0


def test_a_plan_of_a_change_without_a_step_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was said at all of the plan of a shrink."""
    assert diffed(group(), group(size="1TiB"), tmp_path, "--plan") == 1
    assert "  = no step: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [("[a, b]", "[a]", ["g"]), ("[a]", "[b]", []), ("[a]", "[a, b]", []), ("[a, b]", "[a, c]", ["g"])],
)
def test_devices_of_a_group(old: str, new: str, names: list[str]) -> None:
    """One that another takes the place of is none that is lost, if it is as large."""
    text = (
        "hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}, e<0-1>: {serial: E<1>, size: 1TB}}}\n"
        "arrays: {a: {level: raid1, members: [d<0-1>]}, b: {level: raid1, members: [d<2-3>]}, c: {level: raid1, members: [e<0-1>]}}\n"
        "volume_groups: {g: {devices: %s, volumes: {v: {size: 10GiB}}}}\n"
    )
    assert [name_of(each) for each in compared(text % old, text % new).shrinks] == names


def test_spares_are_named_beside_those_that_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`spares: not set -> a2` was said of an array whose spare b2 got another beside it."""
    text = group(level="raid5").replace("[d<0-5>]}", "[d<0-3>], spares: [%s]}")
    diffed(text % "d4", text % "d4, d5", tmp_path)
    assert "spares: d4 -> d4, d5 (by mdadm" in capsys.readouterr().out
    diffed(text % "d4, d5", text % "d5", tmp_path)
    assert "spares: d4, d5 -> d5 (by mdadm" in capsys.readouterr().out


def test_what_leaves_the_layout_is_no_loss_of_tolerance() -> None:
    """`survives any 1 disk -> not known` was said of a running system whose swap was taken out."""
    text = "hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}\narrays: {a: {level: raid1, members: [d<0-1>]}, w: {level: raid1, members: [d<2-3>]}}\n"
    made = compared(f"{text}swap: {{w: {{device: w}}}}\n", text)
    assert made.tolerance == ()


def test_an_enclosure_has_its_article(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "version: 1\nhost: h\nhardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}, enclosures: {e0: {disks: [d<0-1>]}, e1: {disks: [d<2-3>]}}}\n"
        "arrays: {a: {level: raid10, members: [d0, d2, d1, d3]}}\n"
    )
    run(["estimate", str(file)])
    text = capsys.readouterr().out
    assert "an enclosure and a disk" in text and "a enclosure" not in text
