"""The files that are layouts: a hardware section in a file of its own is none, whatever its name.

In a folder a file counts that has keys of a layout at its top, whether the rest can be read or not; YAML files of
others are no mistake. A hardware file is known by the layout whose `hardware:` key names it, or by the name *.hardware.yaml; and by what is not
in it: a key that only a layout has. A file that is given by its name and is neither counts as a layout, so that its
mistakes are told.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from raidplan.document import Reader, read_text
from raidplan.document.parse import MAX_BYTES, parse

YAML = (".yaml", ".yml")
SUFFIXES = (".hardware.yaml", ".hardware.yml")
_KEY = re.compile(r"^[{]? ?[\"']?(\w+)[\"']?[ ]*:", re.MULTILINE)
_TELLING = frozenset({"host", "hardware", "arrays", "volume_groups", "filesystems"})
FOREIGN = frozenset({"node_modules", "site-packages"})
"""Folders of other people's files."""
_LAYOUT = re.compile(r"^(version|host):", re.MULTILINE)


class Sketch(NamedTuple):
    """A file as far as it must be understood to know what it is."""

    file: str
    keys: frozenset[str] | None
    """The keys at the top of the file; None if there are none to be read."""
    hardware: str = ""
    """The file that it takes its hardware from."""
    host: str = ""
    """The host that it describes, as it is written."""

    @property
    def may_be_hardware(self) -> bool:
        """The file may be a hardware section: nothing in it tells that it is a layout."""
        return self.keys is None or not self.keys & _layout_keys()


def layouts_among(files: Iterable[str], reader: Reader | None = None) -> list[Sketch]:
    """The layouts among the files, in their order; `reader` has the texts of files that are not on the disk."""
    sketches = [_sketch(file, reader) for file in dict.fromkeys(files)]
    named = {each.hardware for each in sketches}
    return [each for each in sketches if not (_is_named(each, named) and each.may_be_hardware)]


def looks_like_layout(file: str) -> bool:
    """Two keys of a layout stand at the beginning of lines, one of which says what others' files hardly do.

    So does a file of hardware: all of its keys are those of a hardware section, and `disks` is one.
    """
    text = read_text(file)[0]
    if text is None:
        return _bytes_look_like_layout(file)  # that it cannot be read is told
    return looks_like_layout_text(text)


def _bytes_look_like_layout(file: str) -> bool:
    """Whether a file that is not UTF-8 looks like a layout: one of somebody else is no mistake; one that cannot be read may be a layout."""
    if not os.path.isfile(file):
        return True
    try:
        with open(file, "rb") as opened:
            return looks_like_layout_text(opened.read(MAX_BYTES).decode("latin-1"))
    except OSError:
        return True


def looks_like_layout_text(text: str) -> bool:
    """Whether the text of a file looks like that of a layout."""
    found = set(_KEY.findall(text))
    keys = found & _layout_keys()
    return (len(keys) > 1 and bool(keys & _TELLING)) or ("disks" in found and found <= _hardware_keys())


def to_check(paths: Sequence[str], within: Callable[[str], Iterable[str]] | None = None) -> list[str]:
    """The files to check for these names: a folder stands for the layouts in it, a file of hardware for those
    that name it, here or in its folder or above it in the working directory.

    `within` gives the files of a folder that may be layouts or their hardware: by default all YAML files that look so.
    """
    found: dict[str, str] = {}
    for path in paths:
        here = layouts_among((within or layout_files)(path)) if path != "-" and os.path.isdir(path) else None
        for file in [path] if here is None else [each.file for each in here]:
            for each in (_naming(file, paths) if _may_be_hardware(file) else []) or [file]:
                found.setdefault(os.path.normpath(each), each)
    return list(found.values())


def layout_files(folder: str, skipped: Callable[[str], bool] = lambda path: False) -> Iterator[str]:
    """The YAML files in a folder and below that look like layouts."""
    return (file for file in yaml_files(folder, skipped) if looks_like_layout(file))


def yaml_files(folder: str, skipped: Callable[[str], bool] = lambda path: False) -> Iterator[str]:
    """The YAML files in a folder and below, by their names; none that is hidden, or that a link leads to.

    Virtual environments, folders of other people's files and those that are `skipped` are not entered.
    """
    for top, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if _entered(top, name, skipped))
        for name in sorted(files):
            if _is_yaml(top, name) and not skipped(os.path.join(top, name)):
                yield os.path.join(top, name)


def _entered(top: str, name: str, skipped: Callable[[str], bool]) -> bool:
    path = os.path.join(top, name)
    environment = os.path.exists(os.path.join(path, "pyvenv.cfg"))
    return not (name.startswith(".") or name in FOREIGN or environment or skipped(path))


def _is_yaml(folder: str, name: str) -> bool:
    file = os.path.join(folder, name)
    return (
        name.endswith(YAML) and not name.startswith(".") and os.path.isfile(file) and not os.path.islink(file)
    )


def _is_named(sketch: Sketch, named: set[str]) -> bool:
    by_its_name = sketch.file.endswith(SUFFIXES) and sketch.keys is not None
    return by_its_name or os.path.normpath(sketch.file) in named


def _may_be_hardware(file: str) -> bool:
    text = None if file == "-" else read_text(file)[0]
    if text is None or _LAYOUT.search(text):
        return False  # nearly every layout: it is not parsed twice
    return _sketch(file, None).may_be_hardware


def _naming(file: str, given: Iterable[str]) -> list[str]:
    """The layouts that take their hardware from a file."""
    target = os.path.normpath(file)
    near = (each for folder in _upwards(target) for each in _in(folder, os.path.basename(target)))
    others = (_sketch(each, None) for each in given if each != "-")
    return [each.file for each in (*near, *others) if each.hardware == target]


def _in(folder: str, word: str) -> Iterator[Sketch]:
    """The files of a folder that may name a file."""
    for name in sorted(os.listdir(folder or os.curdir)):
        file = os.path.join(folder, name)
        if _is_yaml(folder, name) and word in (read_text(file)[0] or ""):
            yield _sketch(file, None)


def _upwards(file: str) -> Iterator[str]:
    """The folders that may have the layout of a hardware file, which never lies above it."""
    folder = os.path.dirname(file)
    yield folder
    while folder and not os.path.isabs(folder) and not folder.startswith(os.pardir):
        folder = os.path.dirname(folder)
        yield folder


def _sketch(file: str, reader: Reader | None) -> Sketch:
    text, _ = read_text(file, reader)
    root = parse(text, file)[0] if text is not None else None
    if root is None or not isinstance(root.content, dict):
        return Sketch(file, None)
    texts = {key: node.content for key, node in root.content.items() if isinstance(node.content, str)}
    name = texts.get("hardware")
    target = os.path.normpath(os.path.join(os.path.dirname(file), name)) if name else ""
    return Sketch(file, frozenset(root.content), target, texts.get("host", ""))


@cache
def _layout_keys() -> frozenset[str]:
    from raidplan.layout.kinds.model import fields
    from raidplan.layout.model import Layout

    return frozenset(field.key for field in fields(Layout).values())


@cache
def _hardware_keys() -> frozenset[str]:
    from raidplan.layout.kinds.model import fields
    from raidplan.layout.model import Hardware

    return frozenset(field.key for field in fields(Hardware).values())
