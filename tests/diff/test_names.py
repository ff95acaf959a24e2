"""Another name is another thing; where nothing else differs, that is said, and what changes the name of what stands."""

from __future__ import annotations

import pytest

from raidplan.render.statements import values
from tests.diff.layouts import DISKS, compared, hint, lost

HARDWARE = f"hardware:\n{DISKS}"
TEXT = """\
arrays: {{{a}: {{level: raid6, members: [d<0-5>]}}}}
volume_groups: {{{g}: {{devices: [{a}], volumes: {{{v}: {{size: 1TiB}}}}}}}}
filesystems: {{{f}: {{device: {g}.{v}, type: xfs, mount: /srv}}}}
"""
OLD = {"a": "a", "g": "vg", "v": "home", "f": "data"}
COMMANDS = {"a": "mdadm --assemble --update=uuid", "g": "vgrename", "v": "lvrename", "f": "xfs_admin -U"}
WAS = HARDWARE + TEXT.format(**OLD)


@pytest.mark.parametrize("which", ["a", "g", "v", "f", "ag", "gf", "agf", "vf", "av"])
def test_only_names_differ(which: str) -> None:
    names = {**OLD, **{key: f"{OLD[key]}2" for key in which}}
    made = compared(WAS, HARDWARE + TEXT.format(**names))
    assert lost(made) == ["/srv"]
    advice = hint(made.losses[0])
    assert "name differs" in advice
    for key, command in COMMANDS.items():
        assert (f"{OLD[key]} -> {OLD[key]}2" in advice) is (key in which)
        assert (command in advice) is (key in which)


@pytest.mark.parametrize(
    ("name", "was", "now"),
    [("a", "raid6", "raid5"), ("g", "devices:", "extent: 8MiB, devices:"), ("v", "1TiB", "2TiB"), ("f", "xfs", "ext4"), ("v", "xfs", "ext4"),
     ("a", "d<0-5>", "d1, d0, d<2-5>"), ("f", "raid6", "raid10")],
)  # fmt: skip
def test_more_than_a_name_differs(name: str, was: str, now: str) -> None:
    new = HARDWARE + TEXT.replace(was, now).format(**{**OLD, name: f"{OLD[name]}2"})
    made = compared(WAS, new)
    assert lost(made) == ["/srv"] and made.losses[0].hint is None


def test_two_volumes_of_one_size_are_two_volumes() -> None:
    text = (
        "volume_groups: {{g: {{devices: [d0, d1], volumes: {{{}: {{size: 1TiB}}, {}: {{size: 1TiB}}}}}}}}\n"
    )
    made = compared(HARDWARE + text.format("v1", "v2"), HARDWARE + text.format("w1", "w2"))
    assert lost(made) == ["volume g.v1", "volume g.v2"]
    assert all("lvrename" in hint(loss) for loss in made.losses)
    assert made.losses[0].hint != made.losses[1].hint


@pytest.mark.parametrize(
    ("members", "more", "words"),
    [
        ("d0, d1", ", whole_disks: true", ("a partition of d0 from 1 MiB on", "all of d0")),
        ("d0, d2", "", ("d1", "d2")),
    ],
)
def test_a_member_is_called_what_it_is(members: str, more: str, words: tuple[str, str]) -> None:
    text = "arrays: {{a: {{level: raid1, members: [{}]{}}}}}\n"
    assert told(HARDWARE + text.format("d0, d1", ""), HARDWARE + text.format(members, more))[0] == words


NESTED = """\
arrays:
  a: {{level: raid1, members: [l0, l1]}}
  l0: {{level: {}, members: [d0, d1]}}
  l1: {{level: raid0, members: [d2, d3]}}
"""


def told(old: str, new: str) -> list[tuple[str, str]]:
    """What is said of the members of a."""
    (changes,) = (thing.changes for thing in compared(old, new).things if thing.path == ("arrays", "a"))
    return [values(each) for each in changes if each.key.startswith("members")]


def test_a_member_that_is_an_array_or_smaller() -> None:
    made = told(HARDWARE + NESTED.format("raid0"), HARDWARE + NESTED.format("linear"))
    assert made == [("l0 as it is", "l0 as it will be")]
    mirror = 'arrays: {a: {level: raid1, members: [d0, d1], metadata: "1.0"}}\n'
    made = told(HARDWARE + mirror, HARDWARE.replace("3TB", "2TB") + mirror)
    assert made == [("d0, 2.7 TiB", "d0, 1.8 TiB"), ("d1, 2.7 TiB", "d1, 1.8 TiB")]
