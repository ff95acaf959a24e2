"""The cached image of a recipe: a raw root file system, its kernel and its initramfs.

    <cache>/keys/id_ed25519            the key that opens every twin, made once
    <cache>/<digest of the recipe>/    root.img, vmlinuz, initrd.img, host_key.pub

A folder with a digest's name is complete: it is built under another name and renamed when finished. A lock
file keeps a second builder waiting, which then finds the work done.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from raidplan.twin.server.failure import BuildError
from raidplan.twin.server.recipe import Recipe
from raidplan.twin.server.sources import apt_options, debian_sources
from raidplan.twin.server.tools import tool

Say = Callable[[str], None]
"""Called with one line for each thing that is begun."""

MIB = 1 << 20


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
    if again or not final.is_dir():
        with locked(cache / f"{recipe.digest}.lock"):
            if again or not final.is_dir():
                _build(recipe, final, say)
    return Image(final, identity)


def _build(recipe: Recipe, final: Path, say: Say) -> None:
    for stale in final.parent.glob(f"{recipe.digest}.making-*"):
        tool(_as_root("rm", "-rf", str(stale)), BuildError)  # we hold the lock: nobody is working in it
    work = Path(tempfile.mkdtemp(prefix=f"{recipe.digest}.making-", dir=final.parent))
    try:
        _fill(recipe, work, say)
        if final.is_dir():
            final.rename(work / "replaced")
        finished = work / "finished"
        finished.rename(final)
    finally:
        tool(_as_root("rm", "-rf", str(work)), BuildError)


def _fill(recipe: Recipe, work: Path, say: Say) -> None:
    folder, finished = work / "root", work / "finished"
    finished.mkdir()
    say(f"unpacking and configuring {recipe.release} ({len(recipe.included)} packages and what they need)")
    tool(_as_root(*_mmdebstrap(recipe, work, folder)), BuildError)
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
    tool(_as_root("mke2fs", "-q", "-F", *options, str(finished / "root.img")), BuildError)
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


def _as_root(*argv: str) -> list[str]:
    """The command as root, or as root of a namespace of the user's own, in which the image's files get their owners."""
    own = [] if os.geteuid() == 0 else ["unshare", "--map-auto", "--map-root-user", "--mount", "--"]
    return [*own, *argv]


def _identity(folder: Path) -> Path:
    key = folder / "id_ed25519"
    if key.with_suffix(".pub").exists():
        return key
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock"):
        if not key.with_suffix(".pub").exists():
            key.unlink(missing_ok=True)
            tool(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "raidplan-twin", "-f", str(key)],
                BuildError,
            )
    return key


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock file; who else asks for it waits."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
