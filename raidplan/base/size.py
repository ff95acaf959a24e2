"""Sizes, rates, link speeds and durations: text with an explicit unit to a whole number, and back.

Storage tools disagree about `10G`: powers of 1024 for sgdisk, lvcreate and mdadm, powers of 1000 for
parted and every drive label. So a bare letter is refused and shown in both readings.
"""

from __future__ import annotations

import re
from fractions import Fraction

from raidplan.base.mistake import Mistake

KIB, MIB, GIB, TIB = 1024, 1024**2, 1024**3, 1024**4
SECTOR = 512
"""The unit of length of the kernel, of sysfs and of mdadm in bytes, whatever the disk's own sector size is."""
SECTORS = (SECTOR, KIB, 2 * KIB, 4 * KIB)
"""The sizes of a sector, in bytes, that a block device can have on every architecture; dm-crypt encrypts them as one."""
PAGE = 4 * KIB
"""A page of memory in bytes: reads past the page cache, read-ahead and stripe caches count in it."""

BINARY = {"KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB}
DECIMAL = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS = {"B": 1, **BINARY, **DECIMAL}
BARE = {"k": "K", "K": "K", "M": "M", "G": "G", "T": "T"}

MAX_BYTES = 2**63 - 1

_NUMBER_UNIT = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z/%]*)")


def parse_size(text: str) -> int:
    """Bytes, exactly: `512KiB`, `3TB`, `1.5TiB`, `3000592982016B`.

    Raises Mistake: no unit, a bare K/M/G/T, not a whole number of bytes.
    """
    number, unit = _split(text, "a size", "512KiB or 3TB")
    if unit in BARE:
        raise Mistake(_both_readings(number, BARE[unit]), "write the one you mean")
    if unit == "":
        raise Mistake(f"'{text}' has no unit", f"write {text}B for bytes, or KiB MiB GiB TiB, kB MB GB TB")
    if unit not in UNITS:
        close = next((known for known in UNITS if known.lower() == unit.lower()), None)
        hint = f"did you mean '{close}'?" if close else "write KiB MiB GiB TiB, kB MB GB TB or B"
        raise Mistake(f"unknown unit '{unit}'", hint)
    size = number * UNITS[unit]
    if size.denominator != 1:
        raise Mistake(f"'{text}' is not a whole number of bytes")
    if size > MAX_BYTES:
        raise Mistake(f"'{text}' is more than 2^63 - 1 bytes")
    return int(size)


def _split(text: str, what: str, example: str) -> tuple[Fraction, str]:
    match = _NUMBER_UNIT.fullmatch(text.strip())
    if not match or len(match[1]) > 25:
        raise Mistake(f"'{text}' is not {what}", f"write one such as {example}")
    return Fraction(match[1]), match[2]


def _both_readings(number: Fraction, letter: str) -> str:
    binary, decimal = f"{letter}iB", f"{'k' if letter == 'K' else letter}B"
    shown = f"{float(number):g}"
    return (
        f"'{shown}{letter}' can be read in two ways: {shown}{binary} = {int(number * UNITS[binary]):,} bytes, "
        f"or {shown}{decimal} = {int(number * UNITS[decimal]):,} bytes"
    )


def parse_rate(text: str) -> int:
    """Bytes per second: `150MB/s`, `50MiB/s`. Raises Mistake."""
    if not text.endswith("/s"):
        raise Mistake(f"'{text}' is not a rate", "write it as 150MB/s")
    return parse_size(text[:-2])


def parse_speed(text: str) -> int:
    """A link's line rate in bits per second: `1.5Gbps`, `6Gbps`. Raises Mistake."""
    if text.lower() in ("nvme", "pcie", "sas", "sata", "usb"):
        raise Mistake(
            f"'{text}' is a kind of link, and no speed", "write its rate, such as 6Gbps, or leave it out"
        )
    number, unit = _split(text, "a link speed", "6Gbps")
    scale = {"Gbps": 10**9, "Mbps": 10**6}.get(unit)
    if scale is None:
        raise Mistake(f"'{text}' is not a link speed", "write it as 3Gbps")
    return int(number * scale)


def parse_clock(text: str) -> int:
    """A bus clock in Hz: `33MHz`. Raises Mistake."""
    number, unit = _split(text, "a clock", "33MHz")
    if unit != "MHz":
        raise Mistake(f"'{text}' is not a clock", "write it as 33MHz")
    return int(number * 10**6)


def parse_seconds(text: str) -> Fraction:
    """A duration in seconds: `7s`, `120s`, `500ms`. Raises Mistake."""
    number, unit = _split(text, "a duration", "7s")
    scale = {"s": Fraction(1), "ms": Fraction(1, 1000), "min": Fraction(60)}.get(unit)
    if scale is None:
        raise Mistake(f"'{text}' is not a duration", "write it as 7s")
    return number * scale


def exact(size: int) -> str:
    """The shortest text that parses back to exactly `size` bytes: `3TB`, `512KiB`, `300B`."""
    units = [(name, scale) for name, scale in UNITS.items() if size % scale == 0 and size >= scale]
    name, scale = max(units, key=lambda unit: unit[1], default=("B", 1))
    return f"{size // scale}{name}"


def human(size: int) -> str:
    """A size for reading: one decimal in powers of 1024, `2.7 TiB`."""
    for name, scale in reversed(BINARY.items()):
        if size >= scale:
            value = size / scale
            return f"{value:.0f} {name}" if size % scale == 0 else f"{value:.1f} {name}"
    return f"{size} B"


def drive_size(size: int) -> str:
    """A size as on a drive's label, and as tools count: `18 TB (16.4 TiB)`."""
    units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    value, unit = float(size), 0
    while value >= 999.5 and unit < len(units) - 1:
        value, unit = value / 1000, unit + 1
    label = f"{value:.3g} {units[unit]}"
    return label if human(size) == label else f"{label} ({human(size)})"


def human_beside(size: int, other: int) -> str:
    """A size for reading beside another; if both would read the same, with the difference: `2.7 TiB, 10 MiB more`."""
    said = human(size)
    if size == other or said.replace(".0 ", " ") != human(other).replace(".0 ", " "):
        return said
    return f"{said}, {human(abs(size - other))} {'more' if size > other else 'less'}"


def align_up(size: int, step: int) -> int:
    """The next multiple of `step` at or above `size`."""
    return -(-size // step) * step


def align_down(size: int, step: int) -> int:
    """The next multiple of `step` at or below `size`."""
    return size // step * step


def ceil_div(value: int, by: int) -> int:
    """``value / by``, rounded up."""
    return -(-value // by)


def is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def readable(sentence: str) -> str:
    """A sentence with its long counts of bytes as `2.7 TiB`; as it was if two would then read the same."""
    counts = {match[1] for match in _LONG_COUNT.finditer(sentence)}
    if len({human(int(count)) for count in counts}) < len(counts):
        return sentence
    return _LONG_COUNT.sub(lambda match: human(int(match[1])), sentence)


_LONG_COUNT = re.compile(r"\b([0-9]{5,}) (?:B|bytes)\b")
