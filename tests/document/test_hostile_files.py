"""Whatever is given as a file: one clear finding, soon, and never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from raidplan.base.findings import Severity
from tests.rules.stages import Stated, stated_in

H = "version: 1\nhost: jbod\n"
CALLS = 10_000_000
"""The largest file here takes 5.1 million; what grows with the square of a file would take thousands of millions."""


def examined(file: object) -> list[Stated]:
    """What is said about a file, in a bounded number of calls: seconds would tell of the machine as well."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        findings = stated_in(str(file))
    finally:
        sys.setprofile(None)
    assert calls < CALLS, calls
    for finding in findings:
        assert finding.message.isprintable() and finding.hint.isprintable()
        assert len(finding.message) < 500
    return findings


def errors(file: object) -> list[Stated]:
    """What is wrong with it; what is only unwise is not what a large file is about."""
    return [finding for finding in examined(file) if finding.severity is Severity.ERROR]


def only(file: object) -> Stated:
    (finding,) = examined(file)
    return finding


def sparse(path: Path) -> None:
    with path.open("wb") as opened:
        opened.truncate(100 * 1024 * 1024)


MADE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder": (lambda path: path.mkdir(), "cannot read {}: it is a directory"),
    "nothing": (lambda path: None, "cannot read {}: No such file or directory"),
    "a FIFO": (lambda path: os.mkfifo(path), "cannot read {}: it is not a regular file"),
    "a link to itself": (lambda path: path.symlink_to(path), "cannot read {}: Too many levels of symbolic links"),
    "a link to /dev/zero": (lambda path: path.symlink_to("/dev/zero"), "cannot read {}: it is not a regular file"),
    "a link to /dev/null": (lambda path: path.symlink_to("/dev/null"), "cannot read {}: it is not a regular file"),
    "100 MB": (sparse, "{} is larger than 4 MiB, the limit for a layout"),
    "latin-1": (lambda path: path.write_bytes(b"# line\nhost: h\xf6st\n"), "{} is not UTF-8 text: byte 0xf6 in line 2"),
    "UTF-16": (lambda path: path.write_text(H, "utf-16"), "{} is not UTF-8 text: byte 0xff in line 1"),
    "binary": (lambda path: path.write_bytes(b"\x7fELF\x02\x01\x80\x00"), "{} is not UTF-8 text: byte 0x80 in line 1"),
    "an overlong encoding": (lambda path: path.write_bytes(b"a: \xc0\x80"), "{} is not UTF-8 text: byte 0xc0 in line 1"),
    "a surrogate": (lambda path: path.write_bytes(b"a: \xed\xa0\x80"), "{} is not UTF-8 text: byte 0xed in line 1"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "said"), MADE.values(), ids=MADE)
def test_unreadable(make: Callable[[Path], object], said: str, tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    make(file)
    finding = only(file)
    assert str(finding) == "1:1:error:unreadable-layout"
    assert finding.message == said.format(file)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(H)
    file.chmod(0)
    assert only(file).message == f"cannot read {file}: Permission denied"


def test_dev_zero() -> None:
    assert only("/dev/zero").message == "cannot read /dev/zero: it is not a regular file"


def test_a_name_too_long() -> None:
    assert "File name too long" in only("x" * 300).message


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + H.encode())
    assert examined(file) == []


def disks(count: int) -> str:
    return "hardware:\n  disks:\n" + "".join(f"    d{n}: {{size: 3TB, serial: S{n}}}\n" for n in range(count))


LIBYAML_ENDS = "1:1003:"
"""libyaml 0.2.6 and later reads no flow list below 1,000 others, and it reads a thousand characters ahead of what it gives."""
LARGE = {
    "2,000 lists in each other": ("a: " + "[" * 2000 + "]" * 2000, "1:35:error:invalid-yaml", 1),
    "2,000 mappings in each other": ("{a: " * 2000, "1:129:error:invalid-yaml", 1),
    "2,000 levels of blocks": ("".join("  " * n + "a:\n" for n in range(2000)), "33:65:error:invalid-yaml", 1),
    "100,000 question marks": ("? " * 100_000, "1:3:error:invalid-yaml", 1),
    "100,000 dashes": ("- " * 100_000, "1:65:error:invalid-yaml", 1),
    "a key of a million letters": ("k" * 1_000_000 + ": 1", "1:1000001:error:invalid-yaml", 1),
    "a quoted key of 1,000 letters": (f"{H}'{'k' * 1000}': 1", "3:1:error:unknown-key", 1),
    "a value of a million letters": (f"version: 1\nhost: {'x' * 1_000_000}", "2:7:error:invalid-value", 1),
    "a version of a million digits": (f"version: {'9' * 1_000_000}", "1:10:error:invalid-layout", 1),
    "5,000 digits of a size": (f"{H}hardware: {{memory: {'9' * 5000}B}}", "3:20:error:invalid-value", 1),
    "5,000 digits of a number": (f"{H}swap: {{s: {{device: d0, priority: {'1' * 5000}}}}}", "3:34:error:invalid-value", 1),
    "5,000 digits of a level": (f"{H}arrays: {{s: {{level: {'1' * 5000}, members: []}}}}", "3:21:error:invalid-value", 1),
    "20,000 unknown keys": (H + "".join(f"k{n}: {{}}\n" for n in range(20_000)), "3:1:error:unknown-key", 20_000),
    "10,000 wrong words": (
        f"{H}filesystems:\n" + "".join(f"  f{n}: {{device: d0, type: ext5}}\n" for n in range(10_000)),
        "4:26:error:invalid-value", 10_000,
    ),
    "1,000 unknown members": (
        H + "hardware: {disks: {d<000-999>: {serial: S<1>}}}\narrays: {s: {level: linear, members: [e<0-999>]}}",
        "4:39:error:unknown-device", 1000,
    ),
    "3,000 arrays on each other": (
        f"{H}hardware: {{disks: {{d0: {{size: 3TB, serial: A}}}}}}\narrays:\n  a0: {{level: linear, members: [d0]}}\n"
        + "".join(f"  a{n + 1}: {{level: raid0, members: [a{n}]}}\n" for n in range(3000)),
        "5:23:error:too-few-members", 3001,
    ),
    "10,000 buses behind each other": (
        f"{H}hardware:\n  buses:\n" + "".join(f"    b{n + 1}: {{type: pci, behind: b{n}}}\n" for n in range(10_000)),
        "5:29:error:unknown-component", 1,
    ),
}  # fmt: skip


@pytest.mark.drawn(4)
@pytest.mark.parametrize(("text", "first", "count"), LARGE.values(), ids=LARGE)
@pytest.mark.slow
def test_large(text: str, first: str, count: int, tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(text)
    findings = errors(file)
    found = str(findings[0]).replace(LIBYAML_ENDS, "1:35:")
    assert (found, len(findings)) == (first, count)


@pytest.mark.drawn(1)
@pytest.mark.parametrize(
    "text",
    [f"{H}allow:\n" + "- {rule: no-spare, at: arrays, reason: so}\n" * 20_000, H + disks(10_000)],
    ids=["20,000 small maps in a list", "10,000 disks"],
)
@pytest.mark.slow
def test_large_and_right(text: str, tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(text)
    assert errors(file) == []


def test_too_many_values(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text("a: [" + "x," * 300_000 + "]")
    assert only(file).message == "more than 250000 values"


GOOD = """\
version: 1
host: jbod
hardware:
  disks: {d<0-3>: {size: 3TB, serial: S<1>, partitions: {a: {size: 1GiB}}}}
arrays:
  s0: {level: raid1, members: [d<0-1>.a], bitmap: internal}   # two of them
swap:
  w0: {device: 's0', priority: 10}
"""


def test_the_layout_that_is_cut_is_good(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(GOOD)
    assert [f for f in examined(file) if f.severity == "error"] == []


@pytest.mark.parametrize("start", range(0, len(GOOD), 60))
def test_cut_at_every_byte(start: int, tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    for end in range(start, min(start + 60, len(GOOD))):
        file.write_text(GOOD[:end])
        examined(file)


def test_hardware_in_a_file_of_its_own(tmp_path: Path) -> None:
    file, hardware = tmp_path / "layout.yaml", tmp_path / "hw.yaml"
    file.write_text(H + "hardware: hw.yaml\narrays: {s0: {level: raid1, members: [d0, d9]}}\n")
    hardware.write_text("disks:\n  d<0-1>: {size: 3TB, seriel: x}\n")
    finding = examined(file)[0]
    assert (finding.file, str(finding)) == (str(hardware), "2:23:error:unknown-key")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("/etc/passwd", "/etc/passwd is outside the layout's folder"),
        ("../hw.yaml", "../hw.yaml is outside the layout's folder"),
        ("a/../../hw.yaml", "a/../../hw.yaml is outside the layout's folder"),
        ("none.yaml", "cannot read"),
        (".", "it is a directory"),
    ],
)
def test_hardware_elsewhere(reference: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(f"{H}hardware: {reference}\n")
    finding = only(file)
    assert (finding.line, finding.column) == (3, 11)
    assert said in finding.message


def test_hardware_that_is_no_yaml(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(f"{H}hardware: hw.yaml\n")
    (tmp_path / "hw.yaml").write_text("disks: {d0: [")
    assert only(file).file == str(tmp_path / "hw.yaml")


def test_a_hardware_file_is_not_read_through_a_link_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("token: abc\n")
    site = tmp_path / "site"
    (site / "sub").mkdir(parents=True)
    (site / "h.yaml").symlink_to("../secret")
    (site / "folder").symlink_to("..")
    for name in ("h.yaml", "folder/secret"):
        (site / "layout.yaml").write_text(f"{H}hardware: {name}\n")
        finding = only(site / "layout.yaml")
        assert str(finding) == "3:11:error:invalid-layout" and "leads out" in finding.message
    (site / "sub" / "real.yaml").write_text("disks: {}\n")
    (site / "inside.yaml").symlink_to("sub/real.yaml")
    (site / "layout.yaml").write_text(f"{H}hardware: inside.yaml\n")
    assert examined(site / "layout.yaml") == []
    (tmp_path / "link").symlink_to(site)
    assert examined(tmp_path / "link" / "layout.yaml") == []
