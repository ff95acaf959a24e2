"""What the examples are to show: by hand in docs/examples.md, and by the catalogue of pitfalls for the systems behind them.

tests/golden pins what is said of them word for word; these tables say which of it must never get lost.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.examples import EXAMPLES

ROOT = Path(__file__).parents[2]
GRAVITY = {"e": "error", "w": "warning", "n": "note"}
LEFT_OUT = {"note:write-hole", "note:no-spare", "note:physical-block-not-stated"}
"""Left out in docs/examples.md, as it says."""
COVERED = dict(
    re.findall(
        r"^\| ([A-Z]+\d{3}) .+? \| (.+) \|$", (ROOT / "docs/internals/catalogue.md").read_text(), re.MULTILINE
    )
)

SHOWN = {
    "tel-aviv-jbod": {
        "TUN002": "stripe-cache-memory",
        "TOPO015": "arrays-share-links",
        "TOPO016": "network-slower-than-array",
    },
    "tel-aviv-as-built": {
        "TUN002": "stripe-cache-memory",
        "TOPO003": "oversubscribed-link",
        "FDOM001": "component-loss-kills-array",
        "TOPO016": "network-slower-than-array",
    },
    "tel-aviv-rows-mistake": {
        "TOPO001": "array-behind-one-multiplier",
        "FDOM001": "component-loss-kills-array",
    },
    "rio-swap-mistake": {"SWAP001": "swap-across-members"},
    "rio-raid5-mistake": {"LVL006": "parity-for-random-writes"},
    "norco-rpc4020": {
        "TOPO006": "crowded-slot",
        "PWR002": "spinup-surge",
        "TOPO016": "network-slower-than-array",
    },
    "file-server-2013": {"FDOM008": "root-without-redundancy"},
    "sas-expander": {"TOPO007": "oversubscribed-link"},
    "forecast-vm-mistake": {"FS001": "not-enough-inodes"},
    "micronet-nas": {"TOPO003": "oversubscribed-link"},
    "lvm-test-host-mistake": {
        "LVM001": "volume-read-ahead-low",
        "LVM002": "idle-volume-group",
        "GEO010": "slow-member",
        "DISK004": "head-parking",
    },
    "raid5-2005-lvm": {
        "TOPO003": "oversubscribed-link",
        "TOPO004": "slow-path-in-stripe",
        "TOPO005": "members-on-pci",
        "MDM006": "no-bitmap",
        "MDM019": "write-hole",
        "MDM029": "degraded-autostart",
        "TOPO016": "network-slower-than-array",
    },
    "raid5-2005": {"TOPO004": "slow-path-in-stripe", "TOPO005": "members-on-pci", "MDM019": "write-hole"},
}
"""By example and pitfall the rule that must be there. Source: the catalogue's list of systems (section 4), which says
of each account what raidplan should print for what it describes."""

NOT_SHOWN = {
    ("tel-aviv-jbod", "MDM004"): "the layout knows the disks by serial number, as it has to",
    ("tel-aviv-jbod", "TUN001"): "32786 stands in the text only; the command says 32768",
    ("tel-aviv-jbod", "TOPO012"): "a hard disk loses nothing behind 3 Gb/s",
    ("tel-aviv-jbod", "FS018"): "raidplan writes nofail by itself",
    ("norco-rpc4020", "PWR001"): "16 disks of 12 W and 100 W beside them are within 550 W",
    ("norco-rpc4020", "TOPO005"): "the cards in it are PCIe",
    ("file-server-2013", "FDOM007"): "the hardware RAID card was given up",
    ("file-server-2013", "PWR003"): "the account: fine for 8 disks",
    ("dell-r710", "LVL017"): "there is an array for each kind of work already",
    ("pegasus2-r4", "LVL005"): "8.3 h are below 12",
    ("lvm-test-host-cure", "LVM001"): "that is what was cured",
    ("cluster-case-2009", "FDOM005"): "joining the boxes was rejected",
    (
        "raid5-2005-lvm",
        "PWR001",
    ): "420 W carry 8 disks of 12 W and 120 W beside them; which supply failed is not told",
    ("rio-swap-cure", "SWAP001"): "that is what was cured",
}
"""Pitfalls that the same list names, and why the layout does not have them."""


def said_of(example: str) -> set[str]:
    """`severity:rule` of each finding."""
    text = (ROOT / "tests/golden" / example / "findings.txt").read_text()
    return {
        f"{severity}:{rule}"
        for severity, rule in re.findall(r"^(error|warning|note)\[([a-z0-9-]+)", text, re.MULTILINE)
    }


def rules_of(example: str) -> set[str]:
    return {each.partition(":")[2] for each in said_of(example)}


def expected_by_hand() -> dict[str, set[str]]:
    """The last column of the tables in docs/examples.md, without what the layouts accept."""
    rows = re.findall(
        r"^\| \[([a-z0-9-]+)\]\(\.\./examples/.+\| ([^|]+) \|$",
        (ROOT / "docs/examples.md").read_text(),
        re.MULTILINE,
    )
    each = re.compile(r"`([a-z0-9-]+)`[^,(]*\(([ewn])([^)]*)\)")
    return {
        name: {
            f"{GRAVITY[letter]}:{rule}"
            for rule, letter, more in each.findall(last)
            if "*accepted*" not in more
        }
        for name, last in rows
    }


def test_every_example_has_its_row() -> None:
    assert set(expected_by_hand()) == {file.stem for file in EXAMPLES}


@pytest.mark.parametrize(("example", "expected"), expected_by_hand().items())
def test_what_is_expected_by_hand_is_said_and_nothing_else(example: str, expected: set[str]) -> None:
    assert said_of(example) - LEFT_OUT == expected


@pytest.mark.parametrize("example", SHOWN)
def test_an_example_shows_the_pitfalls_of_its_account(example: str) -> None:
    for pitfall, rule in SHOWN[example].items():
        assert f"`{rule}`" in COVERED[pitfall], f"docs/internals/catalogue.md does not say so of {pitfall}"
        assert rule in rules_of(example)


@pytest.mark.parametrize(("example", "pitfall"), NOT_SHOWN)
def test_what_an_example_need_not_show_it_does_not(example: str, pitfall: str) -> None:
    """Otherwise the reason beside it is wrong, and it belongs to what is shown."""
    covering = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", COVERED[pitfall]))
    assert covering
    assert not covering & rules_of(example)
