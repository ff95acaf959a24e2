"""The devices, mount points and arrays that lines of fstab(5) and mdadm.conf(5) name, in any spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from posixpath import normpath

Key = tuple[str, str]
"""A tag of fstab (`UUID`, `LABEL`, `PARTUUID`, `PARTLABEL`) and its value; `node`, `mount point`, `array` (its UUID as
32 digits), `name` or `minor` (of an array), and what that is."""
Line = tuple[int, str]
"""A line by its number from 1 on, with its text."""

LINKS = {"by-uuid": "UUID", "by-label": "LABEL", "by-partuuid": "PARTUUID", "by-partlabel": "PARTLABEL"}
"""Folders below /dev/disk whose links say the same as a tag."""
OCTAL, HEX = re.compile(rb"\\([0-7]{3})"), re.compile(rb"\\x([0-9A-Fa-f]{2})")
"""A blank as fstab writes it, and as udev writes it in a link (fstab(5), systemd's encode_devnode_name)."""
KEYWORDS = ("DEVICE", "ARRAY", "CREATE", "MAILADDR", "MAILFROM")
"""Keywords of mdadm.conf, as far as two of them begin alike with an A or an M."""
WORD = re.compile(r"""(?:"[^"]*"?|'[^']*'?|[^\s"'])+""")
QUOTED = re.compile(r""""([^"]*)"?|'([^']*)'?""")


def numbered(text: str) -> Iterator[Line]:
    """The lines of a text as the programs that read these files count them: for Python, a form feed and others end one as well."""
    return enumerate(text.removesuffix("\n").split("\n"), 1)


def device(word: str) -> Key:
    """The meaning of the first field of a line of fstab."""
    tag, equals, value = word.partition("=")
    if equals and tag.upper() in LINKS.values():
        return _tagged(tag.upper(), _decoded(OCTAL, 8, value.strip("\"'")))
    path = normpath(_decoded(OCTAL, 8, word.strip("\"'")))
    parts = path.split("/")
    if parts[:3] == ["", "dev", "disk"] and len(parts) == 5 and parts[3] in LINKS:
        return _tagged(LINKS[parts[3]], _decoded(HEX, 16, parts[4]))
    return "node", path


def fstab(lines: Iterable[Line]) -> Iterator[tuple[int, dict[Key, str]]]:
    """The devices that each line names, with its words: the device first, then the mount point."""
    for number, words in rows(lines):
        keys = {device(words[0]): words[0]}
        if len(words) > 1 and words[1].startswith("/"):
            keys["mount point", normpath("/" + _decoded(OCTAL, 8, words[1]).lstrip("/"))] = words[1]
        yield number, keys


def rows(lines: Iterable[Line]) -> Iterator[tuple[int, list[str]]]:
    """The lines of fstab that say something, and their words as they stand there."""
    for number, line in lines:
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words


def crypttab(lines: Iterable[Line]) -> Iterator[tuple[int, dict[Key, str]]]:
    """The name and the device of the encryption in each line, with its words (crypttab(5))."""
    for number, words in rows(lines):
        keys: dict[Key, str] = {("node", f"/dev/mapper/{words[0]}"): words[0]}
        yield number, keys | ({device(words[1]): words[1]} if len(words) > 1 else {})


def mdadm_conf(lines: Iterable[Line]) -> Iterator[tuple[int, dict[Key, str]]]:
    """The devices that the line of each ARRAY and the lines that continue it name, with their words."""
    for number, (keyword, *words) in statements(lines):
        if keyword == "ARRAY":
            yield number, {key: word for word in words if (key := key_of_array(word) or _minor(word))}


def unit(file: str, what: str) -> dict[Key, str]:
    """The names in a unit of systemd that mounts or swaps on `what`; the unit's own name is the place (systemd.unit(5), string
    escaping for inclusion in unit names)."""
    name, _, kind = file.rpartition("/")[2].rpartition(".")
    path = normpath("/" + _decoded(HEX, 16, name.replace("-", "/")).lstrip("/"))
    keys = {device(path) if kind == "swap" else ("mount point", path): path}
    return keys | ({device(what): what} if what else {})


def statements(lines: Iterable[Line]) -> Iterator[tuple[int, list[str]]]:
    """The statements of mdadm.conf: where each begins, its keyword in full and capitals, its words without quotation marks."""
    begun: tuple[int, list[str]] | None = None
    for number, line in lines:
        words = list(_words(line))
        if begun and line[:1] in (" ", "\t"):
            begun[1].extend(words)
        elif words:
            if begun:
                yield begun
            begun = number, [_keyword(words[0]), *words[1:]]
    if begun:
        yield begun


def assignments(lines: Iterable[Line]) -> Iterator[tuple[int, str, str]]:
    """The assignments in a file that a shell reads: the line, the name, and the value without quotation marks."""
    for number, line in lines:
        for said in (each for word in _words(line) for each in word.split(";")):
            name, equals, value = said.partition("=")
            if equals:
                yield number, name, value


def continuing(lines: Iterable[Line]) -> int | None:
    """The number of the first line that is not a comment, if it is indented and continues a statement above it; else None."""
    first = next(((number, line) for number, line in lines if [*_words(line)]), None)
    return first[0] if first and first[1].startswith((" ", "\t")) else None


def _words(line: str) -> Iterator[str]:
    for match in WORD.finditer(line):
        if match[0].startswith("#"):
            return
        yield QUOTED.sub(lambda quoted: quoted[1] or quoted[2] or "", match[0])


def _keyword(word: str) -> str:
    """A keyword of mdadm.conf in full: three letters in either case are enough, for MAILFROM five."""
    upper = word.upper()
    return next((each for each in KEYWORDS if len(word) >= 3 and each.startswith(upper)), upper)


def key_of_array(word: str) -> Key | None:
    """The meaning of a word after ARRAY; None for a word that is not about an array in particular."""
    tag, equals, value = word.partition("=")
    if not equals:
        # A name without a slash is one below /dev/md.
        return (
            None
            if word.startswith("<")
            else ("node", normpath(word if word.startswith("/") else f"/dev/md/{word}"))
        )
    if tag.lower() == "uuid":
        return "array", re.sub(r"[^0-9a-f]", "", value.lower())
    return ("name", value) if tag.lower() == "name" else None


def _minor(word: str) -> Key | None:
    """The number that superblocks of version 0.90 have: mdadm gives it to no other array."""
    tag, _, value = word.partition("=")
    return ("minor", value) if tag.lower() == "super-minor" else None


def compared(key: Key) -> Key:
    """The name of an array as mdadm compares it (`devname_matches` in config.c): `/dev/md5`, `/dev/md/5`, `md5` and `5` are one.
    Other keys stay as they are."""
    kind, name = key
    if kind not in ("node", "name", "minor"):
        return key
    return "name", as_number(name.removeprefix("/dev/md/").removeprefix("/dev/"))


def as_number(name: str) -> str:
    """The name of an array, behind that of its host if it has one, without `md` before a number."""
    return re.sub(r"(\A|:)md(?=[0-9])", r"\1", name)


def _tagged(tag: str, value: str) -> Key:
    return tag, value.lower() if tag.endswith("UUID") else value


def _decoded(escape: re.Pattern[bytes], base: int, text: str) -> str:
    data = text.encode("utf-8", "surrogateescape")
    return escape.sub(lambda found: bytes([int(found[1], base) & 0xFF]), data).decode(
        "utf-8", "surrogateescape"
    )
