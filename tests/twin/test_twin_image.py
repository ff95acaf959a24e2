"""The cache of images: what names an entry, what goes in, and whose mirrors are asked."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.base.size import MIB
from raidplan.twin.server import image as images
from raidplan.twin.server import tools
from raidplan.twin.server.digests import DIGESTS, digest
from raidplan.twin.server.failure import BuildError
from raidplan.twin.server.image import cache_folder, find_or_build, hold_lock
from raidplan.twin.server.recipe import Recipe
from raidplan.twin.server.sources import debian_sources

DEBIAN = """\
Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""
THIRD = """\
Types: deb
URIs: https://packages.example/apt
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/example.gpg
"""


OWN = ("unshare", "--map-auto", "--map-root-user", "true")
builds = pytest.mark.skipif(
    os.geteuid() != 0 and subprocess.run(OWN, capture_output=True).returncode != 0,
    reason="needs root, or users of the own one (subuid(5))",
)


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d/debian.sources").write_text(DEBIAN)
    (tmp_path / "sources.list.d/third.sources").write_text(THIRD)
    return tmp_path


def test_the_digest_follows_everything_that_goes_in() -> None:
    recipe = Recipe()
    others = [
        Recipe("trixie"),
        Recipe(packages=("mdadm",)),
        Recipe(size_mib=3072),
        Recipe(authorized_key="k"),
        Recipe(masked=()),
    ]
    assert len({recipe.digest, *(other.digest for other in others)}) == 6
    assert replace(recipe, packages=recipe.packages[::-1]).digest == recipe.digest
    assert Recipe().overlay() == recipe.overlay()


def test_units_of_md_and_lvm_are_never_masked() -> None:
    assert not [unit for unit in Recipe().masked if unit.startswith(("md", "lvm", "dm-", "blk-"))]


def test_the_overlay_belongs_to_root() -> None:
    with tarfile.open(fileobj=io.BytesIO(Recipe(authorized_key="key\n").overlay())) as archive:
        members = archive.getmembers()
    assert {member.uid for member in members} == {0}
    keys = next(member for member in members if member.name == "root/.ssh/authorized_keys")
    assert (keys.mode, keys.size) == (0o600, 4)


def test_only_the_release_from_debians_own_mirrors(apt: Path) -> None:
    found = debian_sources("bookworm", apt)
    assert "packages.example" not in found
    assert "Suites: bookworm bookworm-updates\n" in found
    assert "backports" not in found
    assert "contrib" not in found
    assert "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg" in found


def test_the_same_mirrors_are_asked_for_another_release(apt: Path) -> None:
    found = debian_sources("trixie", apt)
    assert "Suites: trixie trixie-updates\n" in found
    assert "Suites: trixie-security\n" in found
    assert "bookworm" not in found


def test_the_one_line_form(tmp_path: Path) -> None:
    text = (
        "# deb http://mirror.example/debian bookworm main\n"
        "deb [arch=amd64 trusted=yes] http://mirror.example/debian bookworm main non-free # comment\n"
        "deb-src http://mirror.example/debian bookworm main\n"
        "deb http://packages.example/apt bookworm main\n"
    )
    (tmp_path / "sources.list").write_text(text)
    found = debian_sources("bookworm", tmp_path)
    assert found.count("URIs:") == 1
    assert "Trusted: yes" in found


def test_no_debian_mirror_means_the_tools_own_default(tmp_path: Path) -> None:
    assert debian_sources("bookworm", tmp_path) == ""


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/tmp/x")
    assert cache_folder() == Path("/var/tmp/x/raidplan/twin")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache/raidplan/twin"


@builds
def test_an_image_is_built_once_and_never_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def fail(recipe: Recipe, work: Path, say: object) -> None:
        (work / "finished").mkdir()
        raise BuildError("no packages")

    def fill(recipe: Recipe, work: Path, say: object) -> None:
        built.append(recipe.release)
        (work / "finished").mkdir()
        for name in images.FILES:
            (work / "finished" / name).write_text(str(len(built)))

    monkeypatch.setattr(images, "_identity", lambda folder: _key(tmp_path))
    monkeypatch.setattr(images, "_fill", fail)
    with pytest.raises(BuildError, match="no packages"):
        find_or_build(cache=tmp_path / "c")
    assert [path.suffix for path in (tmp_path / "c").iterdir()] == [".lock"]

    monkeypatch.setattr(images, "_fill", fill)
    first = find_or_build(cache=tmp_path / "c")
    assert find_or_build(cache=tmp_path / "c") == first
    assert built == ["bookworm"]
    find_or_build(cache=tmp_path / "c", again=True)
    assert first.root.read_text() == "2"


@builds
def test_a_build_that_hangs_ends_within_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mmdebstrap").write_text("#!/bin/sh\nsleep 300 & wait\n")
    (programs / "mmdebstrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(images, "_identity", lambda folder: _key(tmp_path))
    monkeypatch.setattr(tools, "LIMIT_SECONDS", 1.0)
    with pytest.raises(BuildError, match=r"mmdebstrap .*did not end in 1 s"):
        find_or_build(Recipe(size_mib=1), cache=tmp_path / "c")
    assert [path.suffix for path in (tmp_path / "c").iterdir()] == [".lock"]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """A cache with one image, and how often it was built; each file of a new one begins with its number."""
    built: list[str] = []

    def fill(recipe: Recipe, work: Path, say: object) -> None:
        built.append(recipe.release)
        (work / "finished").mkdir()
        for name in images.FILES:
            (work / "finished" / name).write_text(f"{len(built)} {name}")

    monkeypatch.setattr(images, "_identity", lambda folder: _key(tmp_path))
    monkeypatch.setattr(images, "_fill", fill)
    return lambda: find_or_build(Recipe(size_mib=1), cache=tmp_path / "cache").directory


def _flipped(content: bytes) -> bytes:
    """Of the same size, with another last letter."""
    return content[:-1] + b"~"


WRONG: dict[str, Callable[[bytes], bytes | None]] = {
    "gone": lambda _: None,
    "empty": lambda _: b"",
    "cut off": lambda content: content[:-1],
    "longer": lambda content: content + b"1",
    "changed": _flipped,
}


@pytest.mark.parametrize("name", [*images.FILES, DIGESTS])
@pytest.mark.parametrize("wrong", WRONG)
@builds
def test_an_image_that_is_not_as_it_was_made_is_built_again(
    kept: Callable[[], Path], name: str, wrong: str
) -> None:
    folder = kept()
    assert kept() == folder and folder.joinpath("vmlinuz").read_text()[0] == "1", "a whole one is used"
    file = folder / name
    if (content := WRONG[wrong](file.read_bytes().rstrip())) is None:
        file.unlink()
    else:
        file.write_bytes(content)
    assert kept() == folder and folder.joinpath("vmlinuz").read_text()[0] == "2"
    assert kept().joinpath("vmlinuz").read_text()[0] == "2"


@builds
def test_an_empty_folder_is_no_image(kept: Callable[[], Path]) -> None:
    folder = kept()
    for file in folder.iterdir():
        file.unlink()
    assert kept().joinpath("root.img").exists()


def _made_older(folder: Path) -> Path:
    """The file of an image that is older than digests, by which it is known; here with the sizes that it has."""
    folder.joinpath(DIGESTS).unlink()
    sizes = folder / images.SIZES
    sizes.write_text(json.dumps({name: (folder / name).stat().st_size for name in images.FILES}))
    return sizes


@builds
def test_an_image_from_before_digests_were_kept_is_used_and_known_from_then_on(
    kept: Callable[[], Path],
) -> None:
    folder = kept()
    _made_older(folder)
    assert kept().joinpath("vmlinuz").read_text()[0] == "1"
    folder.joinpath("initrd.img").write_bytes(_flipped(folder.joinpath("initrd.img").read_bytes()))
    assert kept().joinpath("vmlinuz").read_text()[0] == "2"


@builds
@pytest.mark.parametrize("sizes", ["{}", "", None])
def test_an_older_image_of_other_sizes_is_built_again(kept: Callable[[], Path], sizes: str | None) -> None:
    file = _made_older(kept())
    file.unlink() if sizes is None else file.write_text(sizes)
    assert kept().joinpath("vmlinuz").read_text()[0] == "2"


def test_a_digest_is_of_the_content_and_not_of_the_holes(tmp_path: Path) -> None:
    def made(name: str, parts: dict[int, bytes], size: int) -> str:
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
            for place, content in parts.items():
                file.seek(place)
                file.write(content)
        return digest(tmp_path / name)

    size = 5 * MIB + 7
    sparse = made("sparse", {MIB + 5: b"x", 5 * MIB + 6: b"y"}, size)
    whole = bytes(MIB + 5) + b"x" + bytes(4 * MIB) + b"y"
    assert made("whole", {0: whole}, size) == sparse and len(whole) == size
    others = [
        made("moved", {5: b"x", 5 * MIB + 6: b"y"}, size),
        made("cut off", {MIB + 5: b"x"}, 5 * MIB + 6),
        made("longer", {MIB + 5: b"x", 5 * MIB + 6: b"y"}, size + 1),
        made("zeroed", {MIB + 5: b"x"}, size),
        made("empty", {}, 0),
    ]
    assert len({sparse, *others}) == 6


def _key(folder: Path) -> Path:
    folder.joinpath("key.pub").write_text("ssh-ed25519 AAAA\n")
    return folder / "key"


def test_from_debian_13_on_systemd_opens_encryptions_by_a_package_of_its_own() -> None:
    assert "systemd-cryptsetup" not in Recipe("bookworm").included
    assert "systemd-cryptsetup" in Recipe("trixie").included
    assert "systemd-cryptsetup" not in Recipe("trixie", packages=("mdadm",)).included


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no folder")
    with pytest.raises(BuildError, match="set XDG_CACHE_HOME, or name an image"):
        find_or_build(cache=tmp_path / "home" / "cache")


def test_who_waits_for_the_image_of_another_process_says_so(tmp_path: Path) -> None:
    path, said = tmp_path / "x.lock", list[str]()
    with ThreadPoolExecutor(1) as pool:

        def wait() -> None:
            with hold_lock(path, said.append):
                said.append("mine")

        with hold_lock(path, said.append):
            waiting = pool.submit(wait)
            end = time.monotonic() + 20
            while not said and time.monotonic() < end:
                time.sleep(0.01)
            assert said == [f"another process is at it: waiting for {path}"]
        waiting.result(20)
    assert said[1:] == ["mine"]
