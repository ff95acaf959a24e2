"""What the tests of the rules read from a message in place of its words."""

from __future__ import annotations

from tests.rules.stages import figures


def test_numbers_with_units_and_names_are_read_and_no_other_word() -> None:
    message = "4 of 8 members of s (f0, f1) share pm0, 83.5 MB/s for each: 122,070,528 inodes, 6.2% of pool."
    assert figures(message, "s", "pool") == "4 8 s f0 f1 pm0 83.5 MB/s 122,070,528 6.2% pool"
    assert figures("nothing in a message is a figure") == ""
    assert figures("5 disks at 3TB") == "5 3TB"
