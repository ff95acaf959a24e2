"""Key files that no boot finds: gone by then, or behind each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import said

LAYOUT = """\
hardware:
  disks:
    k: {{keep: true, size: 1TB, partitions: {{root: {{size: 500GB}}, own: {{size: rest}}}}}}
    d<0-2>: {{size: 1TB}}
encryption:
  a: {{device: d0, key: {{file: {a}}}}}
  b: {{device: d1, key: {{file: {b}}}}}
  c: {{device: d2, key: {{file: {c}}}}}
volume_groups:
  vg: {{devices: [b], volumes: {{x: {{size: 1GiB}}}}}}
filesystems:
  root: {{device: k.root, type: ext4, mount: /}}
  own: {{device: k.own, type: ext4, mount: {own}}}
  a: {{device: a, type: ext4, mount: /a}}
  b: {{device: vg.x, type: ext4, mount: /b}}
  c: {{device: c, type: ext4, mount: /c}}
"""
GONE = "the key of a is {}, and what lies in {} is gone at the next boot"


def messages(
    rule: str, folder: Path, a: str, b: str = "/etc/b", c: str = "/etc/c", own: str = "/own"
) -> list[str]:
    return [message for message, _ in said(rule, LAYOUT.format(a=a, b=b, c=c, own=own), folder)]


@pytest.mark.parametrize(
    ("file", "own", "folder"),
    [
        ("/run/k", "/own", "/run"),
        ("/run/keys/k", "/own", "/run"),
        ("/tmp/k", "/own", "/tmp"),
        ("/tmp/k", "/tmp", "/tmp"),
        ("/tmp/k", "/tmp/own", "/tmp"),
        ("/var/run/k", "/var", "/var/run"),
        ("/var/lock/k", "/var", "/var/lock"),
        ("/tmp/own/k", "/tmp/own", ""),
        ("/run/own/k", "/run/own", ""),
        ("/var/tmp/k", "/own", ""),
        ("/runner/k", "/own", ""),
    ],
)
def test_a_key_that_a_boot_empties_away_is_an_error_whatever_is_mounted_above(
    file: str, own: str, folder: str, tmp_path: Path
) -> None:
    """With a file system at / the folder counted as a part of it, and the key as one on an open disk."""
    wanted = [GONE.format(file, folder)] if folder else []
    assert messages("key-out-of-reach", tmp_path, file, own=own) == wanted
    beside = [each for each in messages("key-beside-lock", tmp_path, file, own=own) if "key of a" in each]
    assert len(beside) == (not folder)


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        (("/b/k", "/a/k"), "the key of a is /b/k on b, which stands on b, whose key lies behind a"),
        (
            ("/b/k", "/c/k", "/a/k"),
            "the key of a is /b/k on b, which stands on b, whose key lies behind c, whose key lies behind a",
        ),
        (("/etc/k", "/c/k", "/b/k"), "the key of b is /c/k on c, which stands on c, whose key lies behind b"),
        (("/a/own/k",), "the key of a is /a/own/k below the mount point of a, which stands on a"),
        (
            ("/b/k", "/a/own/k"),
            "the key of a is /b/k on b, which stands on b, whose key lies behind a",
        ),
        (("/a/k",), "the key of a is /a/k on a, which stands on a"),
        (("/b/k", "/c/k"), ""),
    ],
    ids=[
        "two",
        "three",
        "behind another one",
        "itself by a mount point",
        "two by a mount point",
        "itself",
        "a chain",
    ],
)
def test_keys_behind_each_other_are_an_error(keys: tuple[str, ...], wanted: str, tmp_path: Path) -> None:
    """Each was looked at alone, and after the first boot nothing opened either."""
    assert messages("key-out-of-reach", tmp_path, *keys, own="/a/own") == [wanted] * bool(wanted)


def test_of_a_long_way_around_the_first_are_named(tmp_path: Path) -> None:
    text = (
        "hardware: {disks: {d<0-7>: {size: 1TB}}}\nencryption: {e<0-7>: {device: d<1>, key: {file: /f<1:1/2/3/4/5/6/7/0>/k}}}\n"
        "filesystems: {f<0-7>: {device: e<1>, type: ext4, mount: /f<1>}}\n"
    )
    ((message, _),) = said("key-out-of-reach", text, tmp_path)
    behind = "".join(f", whose key lies behind e{number}" for number in range(2, 6))
    assert message == f"the key of e0 is /f1/k on f1, which stands on e1{behind}, and so on back to e0"
