"""The cached image of a recipe: a raw root file system, its kernel and its initramfs.

    <cache>/keys/id_ed25519            the key that opens every twin, made once
    <cache>/<digest of the recipe>/    root.img, vmlinuz, initrd.img, host_key.pub, digests.json

A folder with a digest's name is complete: it is built under another name, and renamed when finished and on the disk. What is
in it is held against its digests each time that it is used; an image that is not whole is built again. A lock file keeps a second
builder waiting, which then finds the work done.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from raidplan.base.size import MIB
from raidplan.twin.server.digests import DIGESTS, altered, keep_digests
from raidplan.twin.server.failure import BuildError
from raidplan.twin.server.recipe import Recipe
from raidplan.twin.server.sources import apt_options, debian_sources
from raidplan.twin.server.tools import tool, tool_as_root, without_interruption

Say = Callable[[str], None]
"""Called with one line for each thing that is begun."""

FILES = ("root.img", "vmlinuz", "initrd.img", "host_key.pub")
KEY = "id_ed25519"
SIZES = "sizes.json"
"""The sizes of these files, of an image that was made before digests were kept."""


@dataclass(frozen=True, slots=True)
class Image:
    """A finished image; its files are never written to, a twin starts from a copy."""

    directory: Path
    identity: Path

    @property
    def root(self) -> Path:
        """The root file system, ext4 without a partition table."""
        return self.directory / "root.img"

    @property
    def kernel(self) -> Path:
        """The kernel that was in the image's /boot."""
        return self.directory / "vmlinuz"

    @property
    def initrd(self) -> Path:
        """The initramfs that was in the image's /boot."""
        return self.directory / "initrd.img"

    @property
    def host_key(self) -> str:
        """The guest's public SSH host key: type and base64."""
        return " ".join((self.directory / "host_key.pub").read_text().split()[:2])


def cache_folder() -> Path:
    """The folder of images: `$XDG_CACHE_HOME/raidplan/twin`, by default below ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "raidplan" / "twin"


def find_or_build(
    recipe: Recipe | None = None, *, cache: Path | None = None, say: Say = lambda _: None, again: bool = False
) -> Image:
    """The image of `recipe`, built first where the cache has none or `again` asks for a new one.

    Raises `BuildError`. Safe against another process that builds the same image.
    """
    cache = cache or cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        identity = _identity(cache / "keys")
    except OSError as error:
        raise BuildError(
            f"images are kept in {cache}, and that cannot be written ({error.strerror}): set XDG_CACHE_HOME, or name an image"
        ) from None
    public = identity.with_suffix(".pub").read_text()
    recipe = replace(recipe or Recipe(), authorized_key=public)
    final = cache / recipe.digest
    if again or not is_whole(final):
        with hold_lock(cache / f"{recipe.digest}.lock", say):
            if not again and _is_older(final):
                keep_digests(final, FILES)  # others may have started from it: it is not made anew below them
            if again or not is_whole(final):
                _build(recipe, final, say)
    return Image(final, identity)


def is_whole(folder: Path) -> bool:
    """Whether all files of an image are there, as they were made."""
    try:
        return not altered(folder, FILES)
    except (OSError, ValueError):
        return False


def _is_older(folder: Path) -> bool:
    """Whether an image is from before digests were kept, and all its files have their sizes: more is not known of it."""
    try:
        found = {name: (folder / name).stat().st_size for name in FILES}
        return not (folder / DIGESTS).exists() and bool(found == json.loads((folder / SIZES).read_text()))
    except (OSError, ValueError):
        return False


def _build(recipe: Recipe, final: Path, say: Say) -> None:
    for stale in final.parent.glob(f"{recipe.digest}.making-*"):
        _remove(stale)  # we hold the lock: nobody is working in it
    work = Path(tempfile.mkdtemp(prefix=f"{recipe.digest}.making-", dir=final.parent))
    try:
        _fill(recipe, work, say)
        finished = work / "finished"
        _keep(finished)
        if final.exists():
            final.rename(work / "replaced")
        finished.rename(final)
    finally:
        # What ended the work is what counts; the next builder removes what is left.
        with without_interruption(), contextlib.suppress(BuildError):
            _remove(work)


def _remove(folder: Path) -> None:
    """Removes a folder whose files have owners of their own; nothing of another file system. Raises BuildError."""
    tool_as_root(["rm", "--recursive", "--force", "--one-file-system", str(folder)], BuildError)


def _keep(finished: Path) -> None:
    """Writes the files of an image to the disk, and their digests."""
    for each in (*(finished / name for name in FILES), keep_digests(finished, FILES), finished):
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _fill(recipe: Recipe, work: Path, say: Say) -> None:
    folder, finished = work / "root", work / "finished"
    finished.mkdir()
    say(f"unpacking and configuring {recipe.release} ({len(recipe.included)} packages and what they need)")
    tool_as_root(_mmdebstrap(recipe, work, folder), BuildError)
    say(f"making the root file system ({recipe.size_mib} MiB)")
    # uninitialised, systemd would enable units by preset at the first boot, which no installed Debian does
    (folder / "etc/machine-id").write_text(f"{recipe.digest}{recipe.digest}\n")
    for name in ("vmlinuz", "initrd.img"):
        shutil.copyfile(_inside(folder, name), finished / name)
    shutil.copyfile(folder / "etc/ssh/ssh_host_ed25519_key.pub", finished / "host_key.pub")
    with (finished / "root.img").open("wb") as image:
        image.truncate(recipe.size_mib * MIB)
    made = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"  # the host writes zeros faster than the guest
    options = ["-t", "ext4", "-m", "0", "-L", "twin-root", "-E", made, "-d", str(folder)]
    tool_as_root(["mke2fs", "-q", "-F", *options, str(finished / "root.img")], BuildError)
    tool(["fallocate", "--dig-holes", str(finished / "root.img")], BuildError)


def _inside(folder: Path, name: str) -> Path:
    """The file that a link in the root folder of an unpacked system means."""
    link = folder / name
    return folder / str(link.readlink()).lstrip("/") if link.is_symlink() else link


def _mmdebstrap(recipe: Recipe, work: Path, folder: Path) -> list[str]:
    overlay, sources = work / "overlay.tar", work / "debian.sources"
    overlay.write_bytes(recipe.overlay())
    sources.write_text(debian_sources(recipe.release))
    options = ["--mode=root", "--variant=minbase", f"--include={','.join(recipe.included)}"]
    options += [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("doc", "man", "locale", "info")]
    options += [f"--aptopt={line}" for line in apt_options()]
    options += [f"--essential-hook=tar-in {overlay} /"]  # before the initramfs is made
    # this machine's proxy is not the guest's
    options += ['--customize-hook=rm -f "$1/etc/apt/apt.conf.d/99mmdebstrap"']
    if recipe.archives:
        fetch = f'APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get download {" ".join(recipe.archives)}'
        options += [f'--customize-hook=mkdir -p "$1/root/packages" && cd "$1/root/packages" && {fetch}']
    mirror = [str(sources)] if sources.stat().st_size else []
    return ["mmdebstrap", *options, recipe.release, str(folder), *mirror]


def _identity(folder: Path) -> Path:
    key = folder / KEY
    if key.with_suffix(".pub").exists():
        return key
    folder.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder / "lock"):
        if not key.with_suffix(".pub").exists():
            key.unlink(missing_ok=True)
            tool(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "raidplan-twin", "-f", str(key)],
                BuildError,
            )
    return key


@contextmanager
def hold_lock(path: Path, say: Say = lambda _: None) -> Iterator[None]:
    """Holds a lock file; who else asks for it says so and waits."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another process is at it: waiting for {path}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
