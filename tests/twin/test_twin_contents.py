"""How the tests of the virtual server see that a disk of others kept every byte."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.machine.look import BLOCK, hash_of

SIZE = 5 * BLOCK + 512


def made(file: Path, *pieces: tuple[int, bytes]) -> str:
    with file.open("wb") as opened:
        opened.truncate(SIZE)
        for at, data in pieces:
            opened.seek(at)
            opened.write(data)
    return hash_of(file)


@given(st.integers(0, SIZE - 1), st.integers(1, 255))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_byte_anywhere_shows(tmp_path: Path, at: int, byte: int) -> None:
    before = (3 * BLOCK, b"precious")
    assert made(tmp_path / "disk", before, (at, bytes([byte]))) != made(tmp_path / "disk", before) or (
        before[0] <= at < before[0] + 8 and before[1][at - before[0]] == byte
    )


def test_a_hole_is_as_good_as_zeroes_and_a_place_counts(tmp_path: Path) -> None:
    blank = made(tmp_path / "disk")
    assert made(tmp_path / "disk", (0, bytes(SIZE))) == made(tmp_path / "disk", (BLOCK, bytes(4096))) == blank
    first, second = made(tmp_path / "disk", (0, b"x")), made(tmp_path / "disk", (BLOCK, b"x"))
    assert len({blank, first, second}) == 3
