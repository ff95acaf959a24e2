"""The facts of a machine."""

from __future__ import annotations

from typing import get_args

from raidplan.facts.problem import Unread
from tests.manuals.schemas.shapes import (
    VALUE,
    Schema,
    by_name,
    constant,
    flag,
    listed,
    record,
    ref,
    text,
    texts,
    whole,
)

DEFINITIONS = {
    "disk": record("A whole disk.", {
        "node": text("for commands"), "kernel_name": text(""), "size": whole("bytes"), "kind": text("", "disk", "loop"), "serial": text(""),
        "wwn": text(""), "path": text("udev's ID_PATH"), "model": text(""), "transport": text(""), "logical_block": whole("bytes"),
        "physical_block": whole("bytes"), "rotational": flag(""), "read_only": flag(""), "signatures": texts("in words"),
        "partitions": listed("of any table", ref("partition")), "users": texts("of it and of all on it"),
        "links": texts("other names below /dev/disk"), "traces": listed("everything on it; empty if it is proven blank", ref("trace")),
        "instance": text("its appearance in the kernel"),
    }),
    "partition": record("A partition.", {
        "node": text("for commands"), "uuid": text(""), "type": text("GUID or code"), "start": whole("bytes"), "size": whole("bytes"),
        "name": text(""), "signatures": texts("in words"), "holds": texts("the types of the signatures"),
    }),
    "problem": record("Something that could not be read.", {
        "case": text("the kind; empty for the sentence of an earlier version", *get_args(Unread)), "place": text("the array or the program"),
        "said": text("last words of the program"),
    }),
    "trace": record("Something that was written to a disk.", {
        "offset": whole("bytes of the disk"), "type": text("libblkid's word, `data` or `unreadable`"), "start": whole("of the range that holds it"),
        "room": whole("the size of that range"), "place": text("the range in words"), "uuid": text(""), "label": text(""), "detail": text(""),
        "members": whole("of an array, when complete"),
        "where": text("the kind of the range", "disk", "partition", "future", "inside"),
    }),
    "block": record("A block device.", {
        "name": text("the kernel's"), "identity": text("in proofs"), "node": text("for commands; empty if none may name it"),
        "kind": text("", "disk", "partition", "array", "volume"), "size": whole("bytes"), "start": whole("of a partition, bytes"),
        "below": texts("what it stands on"), "uses": texts("direct users that are no block devices"), "found": texts("signatures"),
        "content": texts("in words"), "state": text("of an array"), "group": text("of a volume: the UUID of its group"),
        "unknown_from": whole("the first byte that nothing recognises, or -1"),
    }),
}  # fmt: skip


def facts() -> Schema:
    """Of `raidplan discover facts`."""
    keys = {
        "format_version": constant(1, "the form"), "memory_bytes": whole(""), "firmware": text("", "bios", "uefi"), "host": text(""),
        "machine_id": text("of the installation, hashed"), "is_root": flag("the facts were read by root"), "kernel": text("its release"),
        "disks": listed("whole disks", ref("disk")), "blocks": listed("all block devices", ref("block")),
        "objects": by_name("by kind and key, the properties of everything else", {"type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": VALUE}}),
        "problems": texts("what could not be read"), "unread?": listed("the same as codes", ref("problem")),
    }  # fmt: skip
    return {
        **record("A machine, as `plan --machine` reads it: `raidplan discover facts`.", keys),
        "definitions": DEFINITIONS,
    }
