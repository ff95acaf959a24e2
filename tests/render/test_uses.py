"""The words for users of a device, and for other reasons not to write to it."""

from __future__ import annotations

from string import Formatter
from typing import get_args

import pytest

from raidplan.apply.refusal import Refusal
from raidplan.facts.uses import Use, UseKind, as_text, of_text, use
from raidplan.render.refusals import refusal_text, refusal_to_data
from raidplan.render.uses import USES, use_texts

WRITTEN = use("written", "/dev/sdb", process=7, program="qemu")
SENTENCE = "/dev/sdb is open for writing by process 7 (qemu)"
BUSY = (
    "/proc/7: process 7 (db) has an io_uring so busy that its files cannot be read, and may be writing to these devices: end "
    "it first"
)


def test_every_kind_has_words_that_name_the_place() -> None:
    assert USES.keys() == {*get_args(UseKind)}
    assert all("place" in [name for _, name, _, _ in Formatter().parse(words)] for words in USES.values())


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (WRITTEN, SENTENCE),
        (use("loop", "/dev/sdb1", below="/dev/md0", loop="/dev/loop1"), "/dev/sdb1 (below /dev/md0) is what the loop device /dev/loop1 stands on"),
        (use("mounted", "/dev/sdb", point="/srv"), "/dev/sdb is mounted at /srv"),
        (use("mounted", "/dev/sdb", point="/a\x1b", process=9, program="sh"), "/dev/sdb is mounted at /a\\x1b for process 9 (sh)"),
        (use("busy-ring", "/proc/7", process=7, program="db"), BUSY),
        (use("used", "d0", uses=("swap", "mounted at /a")), "d0 is in use, swap, mounted at /a"),
    ],
)  # fmt: skip
def test_words(found: Use, words: str) -> None:
    assert use_texts([found, found]) == (words,)


def test_a_use_is_kept_as_a_property() -> None:
    assert of_text(as_text(WRITTEN)) == WRITTEN


@pytest.mark.parametrize("code", ["in-use-elsewhere", "open-for-writing"])
def test_a_refusal_tells_programs_who_it_is(code: str) -> None:
    refused = Refusal(code, place="/dev/sdb", uses=(WRITTEN,))  # type: ignore[arg-type]
    data = refusal_to_data(refused)
    assert data["message"] == refusal_text(refused) == data["figures"]["use"] == SENTENCE
    assert data["uses"] == [
        {"kind": "written", "place": "/dev/sdb", "figures": {"process": 7, "program": "qemu"}}
    ]
