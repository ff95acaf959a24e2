"""Copies of headers that nobody can read when they are needed, and what is said of encryptions on kept disks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import said

LAYOUT = """\
hardware:
  disks: {{d0: {{size: 500GB, partitions: {{boot: {{size: 1GiB}}, os: {{size: 100GiB}}, var: {{size: rest}}}}}}, d1: {{size: 500GB}}}}
encryption:
  root: {{device: d0.os, key: ask}}
  state: {{device: d0.var, key: {key}}}
  data: {{device: d1, key: {{file: /etc/keys/data.key}}}}
filesystems:
  boot: {{device: d0.boot, type: ext4, mount: /boot}}
  root: {{device: root, type: ext4, mount: /}}
  state: {{device: state, type: ext4, mount: {mount}}}
  data: {{device: data, type: ext4, mount: /srv}}
"""
KEY = "{file: /etc/keys/state.key}"
DIRECT = "apply keeps its copy of the header of {0} in /var/lib/raidplan, which only {0} opens"
AROUND = "apply keeps its copy of the header of root in /var/lib/raidplan, which state opens, whose key lies on root"


@pytest.mark.parametrize(
    ("key", "mount", "messages"),
    [
        (KEY, "/var", [AROUND, DIRECT.format("state")]),
        ("ask", "/var", [DIRECT.format("state")]),
        (KEY, "/home", [DIRECT.format("root")]),
    ],
    ids=["a circle", "two passphrases", "the root alone"],
)
def test_a_copy_that_nobody_can_read_is_noted(
    key: str, mount: str, messages: list[str], tmp_path: Path
) -> None:
    text = LAYOUT.format(key=key, mount=mount)
    assert [message for message, _ in said("header-without-copy", text, tmp_path)] == messages


KEPT = """\
hardware:
  disks: {s: {keep: true, size: 1TB, partitions: {boot: {size: 1GiB}, root: {size: 500GB}, swap: {size: 4GiB}, home: {size: rest}}}}
encryption: {crypt: {device: s.root, key: ask}}
filesystems:
  boot: {device: s.boot, type: ext4, mount: /boot}
  root: {device: crypt, type: ext4, mount: /}
  home: {device: s.home, type: ext4, mount: /home}
swap: {w: {%s}}
"""


def test_of_a_kept_header_apply_makes_no_copy(tmp_path: Path) -> None:
    text = KEPT % "device: s.swap"
    assert said("header-without-copy", text, tmp_path) == []
    assert said("header-without-copy", text.replace("keep: true, ", ""), tmp_path)


@pytest.mark.parametrize(
    ("swap", "advised"),
    [
        ("device: s.swap", "s.swap is kept as it is: swap to a file on root, or encrypt it by hand"),
        ("file: /home/swap, size: 1GiB", "put the file on a file system that is encrypted, such as root"),
    ],
)
def test_the_advice_on_open_swap_can_be_followed(swap: str, advised: str, tmp_path: Path) -> None:
    """An encryption of the device was advised, which is never made there, or would take all files of the file system."""
    ((_, hint),) = said("plain-swap-beside-encryption", KEPT % swap, tmp_path)
    assert hint.startswith(advised)
