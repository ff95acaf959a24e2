"""Identities, signatures and partitions: values inside, and outside the same texts as ever."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from raidplan.base.identity import Identity, disk_word
from raidplan.base.magic import Content, SignatureAt
from raidplan.facts.machine import BlockFact, Machine
from raidplan.plan.identities import PARTITION, identity_of, node_of
from raidplan.plan.partitions import PartitionRow
from raidplan.plan.step import Proof


@given(st.text(alphabet="{}:/ad-0diskno", max_size=20) | st.text())
@example("{")
@example("disk:d00")
@example("node:/dev/sda")
def test_an_identity_that_was_read_gives_the_same_text_again(text: str) -> None:
    assert str(Identity.read(text)) == text


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("{d00}", ("disk", "d00")),
        ("partition:1-2", ("partition", "1-2")),
        ("volume:vg0/home", ("volume", "vg0/home")),
        ("file:/swap:file", ("file", "/swap:file")),
        ("swap:file:/swapfile", ("swap", "file:/swapfile")),
        ("/dev/sda", ("node", "/dev/sda")),
        ("/dev/disk/by-path/pci-0000:00:1f.2-ata-1", ("node", "/dev/disk/by-path/pci-0000:00:1f.2-ata-1")),
        ("1A2B-3C4D", ("node", "1A2B-3C4D")),
        ("missing", ("node", "missing")),
    ],
)
def test_what_an_identity_is(text: str, read: tuple[str, str]) -> None:
    assert Identity.read(text) == read


def test_only_a_disk_of_the_layout_has_a_name_there() -> None:
    assert Identity.read(disk_word("d00")).disk == "d00"
    assert not Identity.read("/dev/sda").disk and not Identity.read("array:1").disk


@pytest.mark.parametrize(
    ("identity", "key"),
    [("{d00}", ""), ("/dev/dm-3", ""), ("volume:vg0/home", "vg0/home"), ("mapping:1-2", "1-2")],
)
def test_the_key_of_a_block_device(identity: str, key: str) -> None:
    assert BlockFact("x", identity, "", "volume", 1).key == key


def test_a_partition_has_a_link_in_steps_and_an_identity_in_proofs() -> None:
    assert node_of("partition:1-2") == f"{PARTITION}1-2" and node_of("{d0}") == "{d0}"
    assert identity_of(node_of("partition:1-2"), {}) == "partition:1-2"


def test_the_file_of_a_swap_area() -> None:
    assert Proof("swap", "file:/mnt/swap", {}).file == "/mnt/swap"
    assert not Proof("swap", "mapping:swap0", {}).file and not Proof("file", "/etc/fstab", {}).file


def test_a_partition_in_a_table() -> None:
    row = PartitionRow.read("1-2 1048576 4096 0fc6")
    assert row == ("1-2", 1 << 20, 4096, "0fc6") and str(row) == "1-2 1048576 4096 0fc6"
    assert row.identity == "partition:1-2"
    for text in ("", "1-2", "1-2 x 4096 0fc6"):
        with pytest.raises(ValueError):
            PartitionRow.read(text)


@pytest.mark.parametrize(
    "line", ["0 0x1fe PMBR", "12 0x438 ext4 1-2", "0 0x0 vfat 1A2B 3C", "0 0x1  u", "0 0x1"]
)
def test_a_signature_that_was_read_gives_the_same_line_again(line: str) -> None:
    assert str(SignatureAt.read(line)) == line


@pytest.mark.parametrize(
    "line", ["", "0", "x 0x1 ext4", "0 512 ext4", "0 0x01 ext4", "00 0x1 ext4", "0 0x1 ext4 "]
)
def test_a_line_that_no_signature_has(line: str) -> None:
    with pytest.raises(ValueError, match="is no signature"):
        SignatureAt.read(line)


def test_signatures_are_lines_in_a_snapshot() -> None:
    found = (SignatureAt(1, 0x438, Content("ext4", "1-2")),)
    machine = Machine(blocks=(BlockFact("sda", "/dev/sda", "/dev/sda", "disk", 1, found=found),))
    data = machine.to_data()
    assert data["blocks"][0]["found"] == ["1 0x438 ext4 1-2"] and Machine.from_data(data) == machine
    data["blocks"][0]["found"] = ["ext4"]
    with pytest.raises(ValueError, match="'ext4' is no signature"):
        Machine.from_data(data)


def test_the_content_of_a_device() -> None:
    objects = {"content": {"{d0}": {"carries": ["ext4 1-2", "gpt", "?"]}}}
    assert Machine(objects=objects).carried("{d0}") == [("ext4", "1-2"), ("gpt", ""), ("?", "")]
    assert [*map(str, Machine(objects=objects).carried("{d0}"))] == ["ext4 1-2", "gpt", "?"]
