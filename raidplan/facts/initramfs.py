"""The files in an initramfs: cpio archives (newc) one after another, plain or compressed.

The format: Documentation/driver-api/early-userspace/buffer-format.rst of the kernel. Where a file stands in several
archives, the last one counts, so an image is read to its end; one that ends early or cannot be unpacked shows there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatch
from io import BufferedReader
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple

from raidplan.base.size import MIB
from raidplan.facts.block import text_of
from raidplan.facts.failure import Failed, Failure, failure
from raidplan.facts.run import CommandFailed, filtered, find_tool
from raidplan.plan.initramfs import BOOT, GENERATORS, LVM, Generator
from raidplan.plan.places import BLOCK, MDADM_CONF, UDEV_RULES

OUR_RULES = PurePath(UDEV_RULES.format(host="*"))
LONGEST_NAME, LARGEST_FILE = 4096, MIB
"""Bytes: PATH_MAX, and more than a configuration file needs."""

FILTERS = {
    b"\x1f\x8b": ("gzip", "-dc"),
    b"\x28\xb5\x2f\xfd": ("zstd", "-dcq"),
    b"\x02\x21\x4c\x18": ("lz4", "-dcq"),  # the legacy frame, which is the one that the kernel reads
    b"\x04\x22\x4d\x18": ("lz4", "-dcq"),
    b"\xfd7zXZ\0": ("xz", "-dc"),
    b"\x5d\0\0": ("xz", "-dc", "--format=lzma"),
    b"BZh": ("bzip2", "-dc"),
    b"\x89LZO": ("lzop", "-dc"),
}
"""The first bytes of a compressed archive, and the program that unpacks it."""


class Unreadable(Failed):
    """An image cannot be read to its end."""


def images(root: Path, kernel: str, by: Generator) -> dict[Path, str]:
    """The images that `by` made of the kernels that are in /boot, and of the running one, with these.

    A kernel that is not installed any more, or that has no modules, is left out: its image would not boot.
    """
    boot = root / BOOT.lstrip("/")
    kernels = {file.name.partition("-")[2] for file in boot.glob("vmlinu[xz]-*")} | {kernel}
    named = {
        boot / by.image.format(each): each
        for each in sorted(kernels)
        if (root / "lib/modules" / each).is_dir()
    }
    return {image: each for image, each in named.items() if image.is_file()}


class Held(NamedTuple):
    """The configuration in an image: mdadm.conf, the lines of crypttab, our rules of udev by file name; and whether it has LVM."""

    conf: str
    crypttab: str
    rules: Mapping[str, str]
    lvm: bool


def read_configuration(image: Path) -> Held:
    """The configuration that a kernel would find. Raises Unreadable."""
    try:
        found = image.stat()
    except OSError as error:
        raise Unreadable(failure("image-closed", image, error=error.strerror or "")) from None
    which = found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
    if which not in _known:
        _known[which] = _read_configuration(image)
    return _known[which]


_known: dict[tuple[int, ...], Held] = {}
"""Images read so far: unpacking one takes seconds, and each is asked for several times, under two names."""


def _read_configuration(image: Path) -> Held:
    conf, crypttab, rules, lvm, empty = "", "", {}, False, True
    confs = {each.conf for each in GENERATORS.values()}
    crypttabs = {each.crypttab for each in GENERATORS.values()}
    for name, data in _files(image):
        empty, lvm = False, lvm or f"/{name}".endswith(LVM)
        if name in confs:
            conf = data.decode(errors="replace")
        elif name in crypttabs:
            crypttab = data.decode(errors="replace")
        elif fnmatch(PurePath(name).name, OUR_RULES.name):
            rules[PurePath(name).name] = data.decode(errors="replace")
    if empty:
        raise Unreadable(failure("image-empty", image))
    return Held(conf, crypttab, rules, lvm)


def outdated(image: Path, root: Path) -> Failure | None:
    """The configuration that an image lacks, if it lacks any; compared by content, not by time. Raises Unreadable.

    Only our own lines are compared: the hook of mdadm changes others. Where an image holds no rules, those of the system
    are heard when it has been mounted.
    """
    found = read_configuration(image)
    if _blocks(found.conf) != _blocks(text_of(root / MDADM_CONF.lstrip("/"))):
        return failure("image-lines", image, file=MDADM_CONF)
    for name, text in found.rules.items():
        rules = OUR_RULES.with_name(name)
        if text.strip() != text_of(root / rules.relative_to("/")):
            return failure("image-rules", image, file=str(rules))
    return None


def _blocks(conf: str) -> list[str]:
    """Our blocks that name arrays; without any, the hook of mdadm makes a mdadm.conf of its own."""
    return [found[0].strip() for found in re.finditer(BLOCK, conf) if "\nARRAY " in found[0]]


def array_lines(image: Path) -> list[str]:
    """The ARRAY lines outside our blocks: of mdadm.conf, or of its hook where that file has none. Raises Unreadable."""
    words = (line.split() for line in re.sub(BLOCK, "", read_configuration(image).conf).splitlines())
    return [" ".join(each) for each in words if each and each[0].upper() == "ARRAY"]


def arrays_named(image: Path) -> frozenset[str]:
    """The UUIDs in the ARRAY lines of the configuration that a kernel would find. Raises Unreadable."""
    lines = (line.split() for line in read_configuration(image).conf.splitlines())
    return frozenset(
        word.partition("=")[2].lower()
        for words in lines
        if words and words[0].upper() == "ARRAY"
        for word in words[1:]
        if word.upper().startswith("UUID=")
    )


def encryptions_opened(image: Path) -> frozenset[str]:
    """The UUIDs of the encryptions that a kernel would open with this image. Raises Unreadable."""
    lines = (line.split() for line in read_configuration(image).crypttab.splitlines())
    return frozenset(
        words[1].partition("=")[2].lower()
        for words in lines
        if len(words) > 1 and words[1].startswith("UUID=")
    )


def unpacker(image: Path) -> str:
    """The program that unpacks the image and is not installed; empty if nothing is missing. Raises Unreadable."""
    with _open_image(image) as source:
        for _ in _archives(source, image):
            pass
        argv = _packed_with(source, image)
    return argv[0] if argv and not find_tool(argv[0]) else ""


def _files(image: Path) -> Iterator[tuple[str, bytes]]:
    """The name and content of each small file, in order."""
    with _open_image(image) as source:
        yield from _archives(source, image)
        argv = _packed_with(source, image)
        if not argv:
            return
        with image.open("rb", buffering=0) as packed:
            os.lseek(packed.fileno(), source.tell(), os.SEEK_SET)
            try:
                with filtered(argv, packed) as unpacked:
                    yield from _archives(unpacked, image)
                    if unpacked.peek(1):
                        raise Unreadable(failure("image-more", image))
            except CommandFailed as error:
                raise Unreadable(
                    failure(
                        "image-packed", image, command=error.argv, code=error.returncode, said=error.stderr
                    )
                ) from None


@contextmanager
def _open_image(image: Path) -> Iterator[BufferedReader]:
    try:
        with image.open("rb") as source:
            yield source
    except OSError as error:
        raise Unreadable(failure("image-closed", image, error=error.strerror or "")) from None


def _packed_with(source: BufferedReader, image: Path) -> tuple[str, ...]:
    """The command that unpacks the rest of the image; nothing at its end."""
    start = source.peek(8)
    argv = next((argv for magic, argv in FILTERS.items() if start.startswith(magic)), ())
    if not argv and (start or not source.tell()):
        raise Unreadable(failure("image-no-archive", image, byte=source.tell()))
    return argv


def _archives(source: BufferedReader, image: Path) -> Iterator[tuple[str, bytes]]:
    """The small files of the plain archives from here on; the source then stands behind the last of them."""
    while _skip_zeroes(source):
        if source.peek(6)[:6] not in (b"070701", b"070702"):
            return
        while True:
            name, size = _header(source, image)
            if name == "TRAILER!!!":
                break
            data = _exactly(source, size, image) if size <= LARGEST_FILE else b""
            _skip(source, 0 if data else size, image)
            _skip(source, -size % 4, image)
            yield name.removeprefix("./"), data


def _skip_zeroes(source: BufferedReader) -> bool:
    """Skips padding; True if anything else follows."""
    while start := source.peek(4096):
        zeroes = len(start) - len(start.lstrip(b"\0"))
        source.read(zeroes)
        if zeroes < len(start):
            return True
    return False


def _header(source: BinaryIO, image: Path) -> tuple[str, int]:
    """Name and size in bytes of the next file: 13 fields of 8 hexadecimal digits behind the magic number."""
    header = _exactly(source, 110, image)
    try:
        size, length = int(header[54:62], 16), int(header[94:102], 16)
    except ValueError:
        length = 0
    if header[:6] not in (b"070701", b"070702") or not 0 < length <= LONGEST_NAME:
        raise Unreadable(failure("image-damaged", image))
    name = _exactly(source, length, image).rstrip(b"\0").decode(errors="replace")
    _skip(source, -(110 + length) % 4, image)
    return name, size


def _exactly(source: BinaryIO, size: int, image: Path) -> bytes:
    data = source.read(size)
    if len(data) < size:
        raise Unreadable(failure("image-short", image))
    return data


def _skip(source: BinaryIO, size: int, image: Path) -> None:
    while size:
        size -= len(_exactly(source, min(size, LARGEST_FILE), image))
