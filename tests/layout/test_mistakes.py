"""Every mistake in a layout is told once, at its line and column, with what to do."""

from __future__ import annotations

import pytest

from raidplan.document.read import parse_document
from raidplan.layout.load import load_layout

H = "version: 1\nhost: jbod\n"


def mistakes(text: str) -> list[tuple[str, str, str]]:
    """Place and rule, message, hint; in the order of the file."""
    document, problems = parse_document(text, "x.yaml")
    assert document is not None and not problems
    layout, findings = load_layout(document)
    assert (layout is None) == bool(findings)
    said = []
    for finding in findings:
        span = document.locate(finding.path, on_key=finding.on_key)
        said.append(((span.line, span.column), finding))
    return [
        (f"{line}:{column} {f.rule}", f.message, f.hint)
        for (line, column), f in sorted(said, key=lambda each: each[0])
    ]


def array(more: str) -> str:
    return f"{H}arrays:\n  s0: {{level: raid5, {more}}}\n"


def disk(more: str) -> str:
    return f"{H}hardware:\n  disks:\n    d0: {{{more}}}\n"


ONE = {
    "unknown section": (H + "array: {}", "3:1 unknown-key", "unknown key 'array'", "did you mean 'arrays'?"),
    "unknown key of an array": (
        array("members: [d0], chunck: 64KiB"), "4:37 unknown-key", "unknown key 'chunck'", "did you mean 'chunk'?",
    ),
    "unknown key, nothing near": (
        array("members: [d0], colour: red"), "4:37 unknown-key", "unknown key 'colour'", "known here: level, members,",
    ),
    "unknown key of a pool": (
        array("members: {from: [d0], count: 1, spread: bus, by: x}"),
        "4:67 unknown-key", "unknown key 'by'", "known here: from, count, spread",
    ),
    "unknown key deep down": (
        disk("partitions: {a: {size: 1GiB, typ: raid}}"), "5:39 unknown-key", "unknown key 'typ'", "did you mean 'type'?",
    ),
    "unknown key of a volume": (
        H + "volume_groups:\n  vg0: {devices: [d0], volumes: {a: {size: 1GiB, readahead: auto}}}",
        "4:50 unknown-key", "unknown key 'readahead'", "did you mean 'read_ahead'?",
    ),
    "misspelt and missing": (
        H + "filesystems:\n  data: {device: d0, typ: xfs}",
        "4:22 unknown-key", "unknown key 'typ'", "did you mean 'type'?",
    ),
    "missing version": ("host: jbod", "1:1 missing-key", "'version' is missing", "add version: 1"),
    "missing host": ("version: 1", "1:1 missing-key", "'host' is missing", "add host: …"),
    "missing members": (f"{H}arrays:\n  s0: {{level: raid5}}", "4:3 missing-key", "'members' is missing", "add members: …"),
    "missing in a list": (H + "allow:\n  - {rule: a, at: b}", "4:5 missing-key", "'reason' is missing", "add reason: …"),
    "missing in a pool": (
        array("members: {from: [d0], spread: bus}"), "4:22 missing-key", "'count' is missing", "add count: …",
    ),
    "another version": ("version: 2\nhosts: jbod", "1:10 invalid-layout", "version 2 is not known", "write version: 1"),
    "a version that is a list": ("version: [1]\nhost: j", "1:1 invalid-layout", "this version is not known", "write version: 1"),
    "text for a list": (array("members: d0"), "4:31 invalid-value", "a list is expected here", "write [a, b]"),
    "nothing for a list": (array("members: "), "4:31 invalid-value", "nothing is written here, and a list", "write [a, b]"),
    "a list for a mapping": (f"{H}arrays: [s0]", "3:1 invalid-value", "a mapping of names to entries is expected", "write name:"),
    "nothing for a mapping": (f"{H}arrays:\n", "3:8 invalid-value", "nothing is written here, and a mapping", "or remove the key"),
    "nothing for an entry": (f"{H}arrays: {{s0: }}", "3:14 invalid-value", "a mapping of keys to values", "write {key: value}"),
    "text for an entry": (f"{H}boot: fast", "3:7 invalid-value", "a mapping of keys to values is expected here", "write {key"),
    "a list for a value": ("version: 1\nhost: [a]", "2:1 invalid-value", "a list is written here, and a single value", ""),
    "a mapping for a value": ("version: 1\nhost: {a: b}", "2:1 invalid-value", "a mapping is written here", ""),
    "nothing for a value": ("version: 1\nhost:", "2:6 invalid-value", "nothing is written here", ""),
    "a list for a word": (array("members: [d0], bitmap: [none]"), "4:37 invalid-value", "a single word is expected", "write one of"),
    "a list in a list": (array("members: [[d0]]"), "4:32 invalid-value", "a list is written here", ""),
    "a wrong item": (array("members: [d0, d 1]"), "4:36 invalid-value", "'d 1' is not the name of a device", "write one such as"),
    "a kernel name": (
        array("members: [/dev/sda1]"), "4:32 unstable-device-name", "'/dev/sda1' may be another disk after the next boot",
        "describe the disk under hardware.disks",
    ),
    "a node": (array("members: [/dev/vg0/x]"), "4:32 invalid-value", "'/dev/vg0/x' is not the name of a device", "write one"),
    "a level": (f"{H}arrays: {{s0: {{level: raid7, members: [a]}}}}", "3:22 invalid-value", "'raid7' is not a RAID level", "write one of"),
    "a word, nearly right": (
        H + "filesystems: {a: {device: d0, type: ext5}}", "3:37 invalid-value", "'ext5' is none of ext2, ext3", "did you mean 'ext4'?",
    ),
    "a word, far off": (H + "boot: {degraded: perhaps}", "3:18 invalid-value", "'perhaps' is none of start, wait", "choose one"),
    "a bare letter": (
        disk("size: 3T"), "5:16 invalid-value",
        "'3T' can be read in two ways: 3TiB = 3,298,534,883,328 bytes, or 3TB = 3,000,000,000,000 bytes", "write the one you mean",
    ),
    "no unit": (disk("size: 3000"), "5:16 invalid-value", "'3000' has no unit", "write 3000B for bytes"),
    "a unit in wrong case": (disk("size: 3tb"), "5:16 invalid-value", "unknown unit 'tb'", "did you mean 'TB'?"),
    "half a byte": (disk("size: 0.0001kB"), "5:16 invalid-value", "'0.0001kB' is not a whole number of bytes", ""),
    "too many bytes": (disk("size: 9999999TiB"), "5:16 invalid-value", "'9999999TiB' is more than 2^63 - 1 bytes", ""),
    "a negative size": (disk("size: -3TB"), "5:16 invalid-value", "'-3TB' is not a size", "write one such as"),
    "infinity": (disk("size: .inf"), "5:16 invalid-value", "'.inf' is not a size", "write one such as"),
    "1e999": (disk("size: 1e999"), "5:16 invalid-value", "'1e999' is not a size", "write one such as"),
    "arabic digits": (disk("size: ٣TB"), "5:16 invalid-value", "'٣TB' is not a size", "write one such as"),
    "a size or a word": (
        disk("partitions: {a: {size: all}}"), "5:33 invalid-value", "'all' is neither a size nor 'rest'", "write a size such as 500GiB, or rest for all that is left",
    ),
    "a bare letter or a word": (disk("partitions: {a: {size: 3T}}"), "5:33 invalid-value", "'3T' can be read in two", "write the one"),
    "half of what is free": (
        H + "volume_groups: {v: {devices: [d0], volumes: {a: {size: 50%free}}}}",
        "3:56 invalid-value", "'50%free' is neither a size nor '100%free'", "or 100%free",
    ),
    "read-ahead": (
        H + "volume_groups: {v: {devices: [d0], volumes: {a: {size: 1GiB, read_ahead: none}}}}",
        "3:74 invalid-value", "'none' is neither a size nor 'auto'", "or auto",
    ),
    "a rate of nothing": (disk("rate: 0MB/s"), "5:16 invalid-value", "'0MB/s' is not more than 0", "write what it really is"),
    "a link of nothing": (disk("link: 0.0Gbps"), "5:16 invalid-value", "'0.0Gbps' is not more than 0", "or leave the key out"),
    "less than a bit": (disk("link: 0.0000001Mbps"), "5:16 invalid-value", "'0.0000001Mbps' is not more than 0", ""),
    "no clock": (H + "hardware: {buses: {b: {type: pci, clock: 0MHz}}}", "3:42 invalid-value", "'0MHz' is not more than 0", ""),
    "no lanes": (H + "hardware: {buses: {b: {type: pcie, lanes: 0}}}", "3:43 invalid-value", "'0' is not more than 0", ""),
    "less than nothing": (H + "hardware: {power: {p: {watts: -5}}}", "3:31 invalid-value", "'-5' is not more than 0", ""),
    "a load below 0": (H + "hardware: {power: {p: {base_watts: -5}}}", "3:36 invalid-value", "'-5' is less than 0", "write 0 or"),
    "no time": (disk("error_recovery: 0s"), "5:26 invalid-value", "'0s' is not more than 0", ""),
    "no memory": (H + "hardware: {memory: 0GiB}", "3:20 invalid-value", "'0GiB' is not more than 0", ""),
    "no chunk": (array("members: [d0], chunk: 0KiB"), "4:44 invalid-value", "'0KiB' is not more than 0", ""),
    "a rate": (disk("rate: 150MB"), "5:16 invalid-value", "'150MB' is not a rate", "write it as 150MB/s"),
    "a link speed": (disk("link: 6Gbit"), "5:16 invalid-value", "'6Gbit' is not a link speed", "write it as 3Gbps"),
    "a duration": (disk("error_recovery: 7"), "5:26 invalid-value", "'7' is not a duration", "write it as 7s"),
    "a duration or a word": (
        disk("error_recovery: never"), "5:26 invalid-value", "'never' is neither a duration nor 'none'", "write 7s or none",
    ),
    "a boolean": (disk("rotational: yes"), "5:22 invalid-value", "'yes' is neither true nor false", "write one of the two"),
    "a number": (disk("port: four"), "5:16 invalid-value", "'four' is not a whole number", "write digits alone"),
    "a hexadecimal number": (disk("port: 0x1"), "5:16 invalid-value", "'0x1' is not a whole number", "write digits alone"),
    "a block size": (disk("logical_block: 520"), "5:25 invalid-value", "'520' is not a size of blocks", "write 512, 4096"),
    "a percentage": (
        H + "filesystems: {a: {device: d0, type: ext4, reserved: 500%}}", "3:53 invalid-value", "'500%' is not a percentage", "write 0%",
    ),
    "a mount point": (
        H + "filesystems: {a: {device: d0, type: xfs, mount: srv/../x}}", "3:49 invalid-value",
        "'srv/../x' is not a mount point", "write an absolute path",
    ),
    "a mount option": (
        H + "filesystems: {a: {device: d0, type: xfs, options: ['a b']}}", "3:52 invalid-value",
        "'a b' is not a mount option", "write one word",
    ),
    "a name as key": (H + "arrays: {-s0: {level: raid0, members: [a]}}", "3:10 invalid-value", "'-s0' is not a name", "use A-Z"),
    "a name with a dot": (H + "arrays: {s.0: {level: raid0, members: [a]}}", "3:10 invalid-value", "'s.0' is not a name", "use A-Z"),
    "a name in letters beyond ASCII": ("version: 1\nhost: größe", "2:7 invalid-value", "'größe' is not a name", "use A-Z"),
    "a long name": ("version: 1\nhost: " + "x" * 65, "2:7 invalid-value", "x...' is not a name", "at most 64"),
    "a comma in a number": (disk("size: 4,0TB"), "5:16 invalid-value", "the comma ends this value: size is 4, and '0TB' a key", "write 4.0TB"),
    "a comma between thousands": (disk("size: 4,000GB"), "5:16 invalid-value", "and '000GB' a key", "write 4.000GB or 4000GB, whichever you mean"),
    "a comma in a line of its own": (
        H + "hardware:\n  disks:\n    d0:\n      size: 4,0TB", "6:13 invalid-value", "'4,0TB' is not a size", "write 4.0TB",
    ),
    "a range with a hyphen": (array("members: [d0..d3]"), "4:32 invalid-value", "'d0..d3' is not the name of a device", "write d<0-3>"),
    "the name of an array": (array("members: [/dev/md0]"), "4:32 unstable-device-name", "'/dev/md0' is an array", "write the name that it has"),
    "the name of a file": (array("members: [/dev/md/data]"), "4:32 unstable-device-name", "'/dev/md/data' is a node", "write data, its name under arrays"),
    "a whole host name": ("version: 1\nhost: nas1.example.org", "2:7 invalid-value", "has a domain", "write nas1"),
    "two lines": (disk("serial: \"a\\nb\""), "5:18 invalid-value", "the text is empty or holds line breaks", "write one line"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "place", "said", "advice"), ONE.values(), ids=ONE)
def test_one_mistake(text: str, place: str, said: str, advice: str) -> None:
    ((where, message, hint),) = mistakes(text)
    assert where == place
    assert said in message
    assert advice in hint
    assert len(message) < 200


def test_every_mistake_is_told() -> None:
    text = f"{H}workload: web\narrays:\n  s0: {{level: raid9, members: [1 2], chunk: 64K}}\nfoo: bar\n"
    assert [place for place, _, _ in mistakes(text)] == [
        "3:11 invalid-value",
        "5:15 invalid-value",
        "5:32 invalid-value",
        "5:45 invalid-value",
        "6:1 unknown-key",
    ]


def test_a_key_of_digits_is_no_comma_unless_it_follows_a_number_and_has_no_value() -> None:
    assert [place for place, _, _ in mistakes(disk("size: 4TB, 0TB, 1: x"))] == [
        "5:21 unknown-key",
        "5:26 unknown-key",
    ]
    assert [rule for _, rule, _ in mistakes(disk("size: 4, 0TB: 1"))] == [
        "'4' has no unit",
        "unknown key '0TB'",
    ]


def test_two_mistakes_in_a_pool() -> None:
    said = mistakes(array("members: {from: d0, cuont: 4, spread: cage}"))
    assert [place for place, _, _ in said] == [
        "4:38 invalid-value",
        "4:42 unknown-key",
        "4:60 invalid-value",
    ]


@pytest.mark.parametrize("level", ["raid6", "6", "RAID6", '"6"'])
def test_levels_by_any_name(level: str) -> None:
    document, _ = parse_document(f"{H}arrays: {{s0: {{level: {level}, members: [a]}}}}", "x")
    assert document is not None
    layout, findings = load_layout(document)
    assert layout is not None and not findings
    assert layout.arrays["s0"].level == "raid6"


def test_a_size_or_a_word_is_either() -> None:
    document, _ = parse_document(disk("size: 3TB, partitions: {a: {size: 1GiB}, b: {size: rest}}"), "x")
    assert document is not None
    layout, findings = load_layout(document)
    assert layout is not None and not findings
    assert [part.size for part in layout.hardware.disks["d0"].partitions.values()] == [2**30, "rest"]
