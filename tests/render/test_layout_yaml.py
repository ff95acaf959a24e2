"""The plain form: what it prints loads to the same layout, and prints the same again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.hidden import is_seen
from raidplan.base.plain import scalar
from raidplan.document.read import parse_document
from raidplan.layout.kinds.host import ADDRESS
from raidplan.layout.load import layout_of, load_layout
from raidplan.layout.model import Layout
from raidplan.render.layout_data import layout_to_data
from raidplan.render.yaml_text import WIDTH, yaml_text
from raidplan.review import pipeline
from tests.examples import EXAMPLES

FORBIDDEN = {"on", "off", "yes", "no", "y", "n", "true", "false", "null"}


def loaded(text: str) -> Layout:
    document, problems = parse_document(text, "f.yaml")
    assert document is not None and not problems, problems
    layout, findings = load_layout(document)
    assert layout is not None, findings
    return layout


def shown(layout: Layout) -> str:
    return yaml_text(layout_to_data(layout))


names = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,12}", fullmatch=True).filter(
    lambda n: n.lower() not in FORBIDDEN
)
ambiguous = st.sampled_from(
    ["1", "1.0", "0x5000c500a0000000", "1e3", "0o17", "017", "1_000", "12:30:45", "2027-06-30", "yes", "NO", "~", "null",
     "Null", "true", "", ".5", ".inf", "-1", "+1", "<<", "=", "d<0-3>", "a: b", "a #b", "- a", "? a", "&a", "*a", "!a", "|",
     ">", "%a", "@a", "`a", '"', "'", "a'b", 'a"b', "\\", "\\n", "{a}", "[a]", "a,b", "é ぁ", " a", "a ", "a  b", "---",
     "...", "0b1", "1.", "1.e5", "0.90", "n", "é", "123abc", "1,000", "5G", "a:", ":a", "#"]
)  # fmt: skip
words = st.one_of(ambiguous, st.text(st.characters(codec="utf-8"), max_size=20)).filter(
    lambda w: bool(w.strip()) and is_seen(w)
)
labels = words.filter(lambda text: text == text.strip() and not (text.startswith("{") and text.endswith("}")))
addresses = st.from_regex(ADDRESS["pattern"], fullmatch=True).filter(str.isascii)
units = st.sampled_from(["B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB"])
sizes = st.builds(lambda n, unit: f"{n}{unit}", st.integers(1, 8000), units)
rates = st.builds(lambda size: f"{size}/s", sizes)
speeds = st.builds(
    lambda n, unit: f"{n}{unit}",
    st.decimals("0.001", 900, places=3).map(lambda d: f"{d:f}"),
    st.sampled_from(["Gbps", "Mbps"]),
)
durations = st.builds(
    lambda n, unit: f"{n}{unit}",
    st.sampled_from(["7", "0.5", "1.001", "120", "2.5"]),
    st.sampled_from(["s", "ms", "min"]),
)
integers = st.integers(-(10**17), 10**17).map(str)
counts = st.integers(1, 10**17).map(str)
booleans = st.sampled_from(["true", "false"])
lists = st.lists(names, max_size=30)


def entry(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


disk = entry(
    behind=names, port=integers, serial=words, wwn=words, path=words, model=words, size=sizes, rate=rates, link=speeds,
    rotational=booleans, iops=counts, error_recovery=st.one_of(durations, st.just("none")), command_timeout=durations,
    head_parking=st.one_of(durations, st.just("none")), power_loss_protection=booleans, temperature=integers, recording=st.sampled_from(["cmr", "dm-smr"]),
    partitions=st.dictionaries(names, st.fixed_dictionaries({"size": st.one_of(sizes, st.just("rest"))}), max_size=3),
)  # fmt: skip
array = st.fixed_dictionaries(
    {"level": st.sampled_from(["0", "raid6", "RAID10"]), "members": lists},
    optional={"chunk": sizes, "metadata": st.sampled_from(["0.90", "1.2"]), "layout": words, "whole_disks": booleans,
              "sync_speed_min": rates, "read_ahead": sizes, "spares": lists, "stripe_cache_size": integers},
)  # fmt: skip
pool = st.fixed_dictionaries(
    {
        "level": st.just("raid1"),
        "members": st.fixed_dictionaries({"from": lists, "count": integers, "spread": st.just("bus")}),
    }
)
hardware = entry(
    controllers=st.dictionaries(names, entry(bootable=booleans, mode=st.sampled_from(["hba", "raid"])), max_size=2),
    memory=sizes, network=speeds, disks=st.dictionaries(names, disk, max_size=4),
    buses=st.dictionaries(names, st.fixed_dictionaries({"type": st.just("pci"), "clock": st.sampled_from(["33MHz", "66.6MHz"])}), max_size=2),
    enclosures=st.dictionaries(names, st.fixed_dictionaries({"disks": lists}), max_size=2),
)  # fmt: skip
volume = st.fixed_dictionaries(
    {"size": st.one_of(sizes, st.just("100%free")), "read_ahead": st.one_of(sizes, st.just("auto"))}
)
group = st.fixed_dictionaries({"devices": lists, "volumes": st.dictionaries(names, volume, max_size=2)})
percents = st.sampled_from(["1%", "0.5%", "33.333%"])
filesystem = st.fixed_dictionaries(
    {"device": names, "type": st.just("ext4"), "label": labels, "reserved": percents},
    optional={"workload": st.sampled_from(["database", "mixed"])},
)
layouts = st.fixed_dictionaries(
    {"version": st.just("1"), "host": names},
    optional={
        "hardware": hardware,
        "arrays": st.dictionaries(names, st.one_of(array, pool), max_size=3),
        "volume_groups": st.dictionaries(names, group, max_size=2),
        "filesystems": st.dictionaries(names, filesystem, max_size=2),
        "boot": entry(loader=st.sampled_from(["grub", "systemd-boot"])),
        "monitoring": entry(mail=addresses, smart=booleans),
        "allow": st.lists(st.fixed_dictionaries({"rule": words, "at": words, "reason": words}), max_size=3),
    },
)


@given(layouts)
def test_what_is_shown_means_the_same_and_is_shown_the_same(data: dict[str, Any]) -> None:
    layout = layout_of(data)
    text = shown(layout)
    again = loaded(text)
    assert again == layout
    assert shown(again) == text


@given(words)
def test_every_reader_takes_a_text_for_this_text(word: str) -> None:
    assert yaml.safe_load(f"[{scalar(word)}]") == [word]
    assert yaml.safe_load(f"a: {scalar(word)}\n") == {"a": word}
    assert yaml.safe_load(f"{{{scalar(word)}: 1}}") == {word: 1}


def yaml_1_2(word: str) -> bool:
    """Whether the core schema of YAML 1.2 takes a plain scalar for a text."""
    import re

    other = r"null|~|true|false|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-f]+|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)(e[-+]?[0-9]+)?|[-+]?\.inf|\.nan"
    return not re.fullmatch(other, word, re.IGNORECASE)


@given(words)
def test_yaml_1_2_too(word: str) -> None:
    assert scalar(word).startswith('"') or yaml_1_2(word)


@pytest.mark.parametrize(
    "word",
    [
        "512KiB",
        "3TB",
        "raid6",
        "/data/0",
        "root@example.org",
        "100%free",
        "a cold spare",
        "ST3000DM001",
        "5%",
    ],
)
def test_plain_words_stay_plain(word: str) -> None:
    assert scalar(word) == word


@pytest.mark.parametrize(
    "word", ["123", "1.2", "yes", "2027-06-30", "d<0-3>", "0x5000c500a0000000", "pci-0000:03:00.0"]
)
def test_what_could_be_misread_is_quoted(word: str) -> None:
    assert scalar(word) == f'"{word}"'


def test_it_looks_as_a_person_would_write_it() -> None:
    text = """\
version: 1
host: jbod
hardware:
  disks:
    d<0-1>: {serial: {each: ["123", B]}, size: 3000GB, partitions: {a: {size: 512.5 MiB}}}
arrays:
  s0: {level: 1, members: [d<0-1>.a], spares: []}
allow: [{rule: no-spare, at: arrays.s0, reason: "on: the shelf"}]
"""
    assert shown(loaded(text)) == """\
version: 1
host: jbod

hardware:
  disks:
    d0: {serial: "123", size: 3TB, partitions: {a: {size: 524800KiB}}}
    d1: {serial: B, size: 3TB, partitions: {a: {size: 524800KiB}}}

arrays:
  s0: {level: raid1, members: [d0.a, d1.a], spares: []}

allow: [{rule: no-spare, at: arrays.s0, reason: "on: the shelf"}]
"""  # fmt: skip


def test_long_values_are_wrapped() -> None:
    members = [f"disk{n}" for n in range(60)]
    layout = layout_of({"version": "1", "host": "h", "arrays": {"a": {"level": "6", "members": members}}})
    text = shown(layout)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert loaded(text) == layout


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples(file: Path) -> None:
    layout = pipeline.read(str(file)).layout
    assert layout is not None
    assert loaded(shown(layout)) == layout
