"""Every value and key knows where it was written, and a path finds the deepest thing that is there."""

from __future__ import annotations

from raidplan.base.findings import Path
from raidplan.document import Document, Span
from raidplan.document.read import parse_document

LAYOUT = """\
version: 1
hardware:
  disks:
    d<0-1>: {size: 3TB, serial: {each: [A1, B2]}}
arrays:
  s0:
    level: raid1
    members:
      - d0
      - d1
  "s 1": {level: raid0, members: [d<0-1>]}
"""


def document() -> Document:
    made, problems = parse_document(LAYOUT, "jbod.yaml")
    assert made is not None and not problems
    return made


def place(path: Path, *, on_key: bool = False) -> str:
    span = document().locate(path, on_key=on_key)
    return f"{span.line}:{span.column}-{span.end_line}:{span.end_column}"


def test_a_value() -> None:
    assert place(("version",)) == "1:10-1:11"
    assert place(("arrays", "s0", "level")) == "7:12-7:17"


def test_a_key() -> None:
    assert place(("version",), on_key=True) == "1:1-1:8"
    assert place(("arrays", "s0"), on_key=True) == "6:3-6:5"


def test_a_mapping_is_found_at_its_key() -> None:
    assert place(("arrays", "s0")) == "6:3-6:5"
    assert place(("arrays",)) == "5:1-5:7"


def test_an_item_of_a_list() -> None:
    assert place(("arrays", "s0", "members", 1)) == "10:9-10:11"


def test_what_is_missing_is_found_at_what_should_hold_it() -> None:
    assert place(("arrays", "s0", "chunk")) == "6:3-6:5"
    assert place(("arrays", "s9", "chunk")) == "5:1-5:7"
    assert place(("arrays", "s0", "members", 7)) == "8:5-8:12"
    assert place(("nothing", "at", "all")) == "1:1-1:1"
    assert place(()) == "1:1-1:1"
    assert place(("arrays", "s0", "chunk"), on_key=True) == "6:3-6:5"


def test_what_a_range_makes_is_found_at_the_range() -> None:
    assert place(("hardware", "disks", "d0")) == place(("hardware", "disks", "d1")) == "4:5-4:11"
    assert place(("hardware", "disks", "d1", "size")) == "4:20-4:23"
    assert place(("arrays", "s 1", "members", 1)) == "11:35-11:41"


def test_each_value_keeps_its_own_place() -> None:
    assert place(("hardware", "disks", "d0", "serial")) == "4:41-4:43"
    assert place(("hardware", "disks", "d1", "serial")) == "4:45-4:47"


def test_columns_count_characters() -> None:
    made, _ = parse_document("größe: {naïve: 3TB}\n", "x.yaml")
    assert made is not None
    assert made.locate(("größe", "naïve")) == Span("x.yaml", 1, 16, 1, 19)


def test_windows_and_old_mac_line_ends() -> None:
    for end in ("\r\n", "\r"):
        made, _ = parse_document(f"version: 1{end}host: jbod{end}", "x.yaml")
        assert made is not None
        assert made.locate(("host",)).line == 2
