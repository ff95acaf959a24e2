"""The host around the disks: memory, kernel modules, programs, units, configuration files."""

from __future__ import annotations

import filecmp
import hashlib
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.levels import LEVELS
from raidplan.base.size import MIB
from raidplan.facts import initramfs
from raidplan.facts.block import text_of
from raidplan.facts.machine import Properties
from raidplan.facts.mounts import is_below
from raidplan.facts.run import find_tool
from raidplan.facts.signatures import Ask
from raidplan.facts.unit_files import read_unit_files
from raidplan.plan.boot_loaders import (
    AFTER_INITRAMFS,
    DPKG,
    EFI_IMAGES,
    HOOK,
    MODULES,
    PACKAGES,
    PLATFORMS,
    SYSTEMD_BOOT,
)
from raidplan.plan.initramfs import BOOT, GENERATORS, OF_OTHERS
from raidplan.plan.places import (
    CMDLINE,
    CRYPTTAB,
    FSTAB,
    INITRAMFS_ASIDE,
    MDADM_CONF,
    MDADM_CONF_PARTS,
    RESUME_CONF,
)
from raidplan.plan.step import Value


def modules() -> tuple[str, ...]:
    """The kernel modules that a plan may need."""
    levels = (each.module for each in LEVELS.values())
    filesystems = (each.module for each in FILESYSTEMS.values() if each.module)
    return tuple(dict.fromkeys(("md_mod", "dm_mod", "dm_crypt", *levels, *filesystems)))


def versions() -> dict[tuple[str, ...], tuple[str, ...]]:
    """The commands to ask for versions, and the programs that each answer holds for: one process for each package."""
    return {
        ("mdadm", "--version"): ("mdadm",),
        ("sfdisk", "--version"): ("sfdisk", "mkswap", "wipefs", "blkid", "lsblk", "mount", "swapon"),
        **{each.version: each.package.programs for each in FILESYSTEMS.values()},
        ("cryptsetup", "--version"): ("cryptsetup",),
        ("pvcreate", "--version"): ("pvcreate", "vgcreate", "lvcreate"),
        ("udevadm", "--version"): ("udevadm", "systemctl"),
        ("dracut", "--version"): ("dracut",),
        ("grub-install", "--version"): ("grub-install",),
        (): tuple(each.program for each in GENERATORS.values()),
    }


CONFIGURATION = (FSTAB, MDADM_CONF, "/etc/mdadm.conf", HOOK, DPKG, AFTER_INITRAMFS, CMDLINE, RESUME_CONF[0])
HOLD = "/run/udev/rules.d/63-raidplan-hold.rules"
"""After 63-md-raid-arrays.rules, which reads ID_FS_TYPE and MD_UUID of an array; before those that assemble."""
NAMES = "/run/udev/rules.d/63-raidplan-names.rules"
"""The names of arrays that a boot did not know: as late, for the same reason."""
RULES = "etc/udev/rules.d/*raidplan*.rules"
PARTS = tuple(f"{folder.lstrip('/')}/[!.]*.conf" for folder in MDADM_CONF_PARTS)
"""The files that mdadm reads after its main one, in the order of their names (`conf_file_or_dir` in its config.c)."""
READ_WHOLE = MIB
"""Bytes; a larger file is no configuration, and only its size counts."""

Objects = dict[str, Properties]


def machine_id(root: Path) -> str:
    """The installation's own number, hashed; empty where there is none."""
    text = text_of(root / "etc/machine-id")
    return hashlib.sha256(f"raidplan {text}".encode()).hexdigest()[:16] if text else ""


def read_modules(root: Path, kernel: str, ask: Ask) -> Objects:
    """`loaded` (or built in) and `loadable`; modprobe is asked about what is there and not yet loaded."""
    known = modules()
    loaded = {module for module in known if (root / "sys/module" / module).is_dir()}
    others = set(known) - loaded
    folder = root / "lib/modules" / kernel
    if others:
        loaded |= others & _module_names(folder / "modules.builtin")
        others &= _module_names(folder / "modules.dep") - loaded
    loadable = loaded | _loadable(sorted(others), ask)
    return {module: {"loaded": module in loaded, "loadable": module in loadable} for module in known}


def _module_names(index: Path) -> set[str]:
    """The modules in an index of depmod(8): `kernel/drivers/md/md-mod.ko.xz: …`."""
    files = (line.partition(":")[0].rpartition("/")[2] for line in text_of(index).splitlines())
    return {file.partition(".")[0].replace("-", "_") for file in files}


def _loadable(modules: list[str], ask: Ask) -> set[str]:
    dry_run = ["modprobe", "--dry-run", "--quiet"]
    if not modules or ask([*dry_run, "--all", *modules]).ok:
        return set(modules)
    # All at once fails if a single one does.
    return {module for module in modules if ask([*dry_run, module]).ok}


def read_tools(ask: Ask) -> Objects:
    """The paths and versions of the programs; missing ones are left out."""
    found: Objects = {}
    for command, tools in versions().items():
        paths = {tool: path for tool in tools if (path := find_tool(tool))}
        # Debian has sfdisk in a package of its own: of those that are one package, whichever is there is asked.
        version = _version(ask, (next(iter(paths)), *command[1:])) if command and paths else ""
        found |= {tool: {"path": path, "version": version} for tool, path in paths.items()}
    return found


def _version(ask: Ask, command: tuple[str, ...]) -> str:
    answer = ask(command)
    return parse_version(f"{answer.stdout}\n{answer.stderr}")


def parse_version(text: str) -> str:
    """The first number of a program's answer: `mdadm - v4.2 - 2021-12-30`, `sfdisk from util-linux 2.38.1`."""
    found = re.search(r"(?:^|[\sv])v?(\d+(?:\.\d+)*)", text, re.MULTILINE)
    return found[1] if found else ""


def read_units(units: Iterable[str], ask: Ask, target: str = "") -> Objects:
    """The state of systemd units in systemd's word, such as `enabled`; `not-found` for those that do not exist."""
    of = [f"--root={target}"] if target else []
    return {
        unit: {"enabled": ask(["systemctl", *of, "is-enabled", unit]).stdout.strip() or "not-found"}
        for unit in units
    }


def read_system(root: Path) -> Objects:
    """Whether a system is `installed` below a folder, and whether that has an `initramfs`, `programs` of its boot loader, and
    the `platforms` and the version of `grub` that this is for (os-release(5))."""
    installed = any((root / place).exists() for place in ("etc/os-release", "usr/lib/os-release"))
    images = any(any((root / BOOT.lstrip("/")).glob(each.image.format("*"))) for each in GENERATORS.values())
    programs = [
        name for name in PACKAGES if any((root / place / name).exists() for place in ("usr/sbin", "usr/bin"))
    ]
    platforms = [
        each.name for each in PLATFORMS.values() if (root / MODULES.lstrip("/") / each.name).is_dir()
    ]
    platforms += [SYSTEMD_BOOT] * (root / EFI_IMAGES[SYSTEMD_BOOT].plain.lstrip("/")).exists()
    return {
        "target": {
            "installed": installed,
            "initramfs": images,
            "other_initramfs": not images and any((root / BOOT.lstrip("/")).glob(OF_OTHERS)),
            "programs": programs,
            "platforms": platforms,
            "grub": _grub(root),
        }
    }


def _grub(root: Path) -> str:
    """The version of GRUB in dpkg's database; empty where it has none."""
    status = text_of(root / "var/lib/dpkg/status")
    found = re.search(
        r"^Package: grub2-common\n(?:\S.*\n|[ \t].*\n)*?Version: (?:\d+:)?([\d.]+)", status, re.MULTILINE
    )
    return found[1] if found else ""


def read_paths(root: Path, paths: Iterable[str]) -> dict[str, Objects]:
    """The configuration files of interest, and the files and folders named: `file`, `directory`, `unit_file`."""
    resume = f"{RESUME_CONF[1].lstrip('/')}/*"
    found = (
        f"/{file.relative_to(root)}" for each in (RULES, *PARTS, resume) for file in sorted(root.glob(each))
    )
    names = dict.fromkeys([*CONFIGURATION, CRYPTTAB, HOLD, NAMES, *found, *paths])
    folders: Objects = {path: {"exists": True} for path in names if (root / path.lstrip("/")).is_dir()}
    return {"file": read_files(root, names), "directory": folders, "unit_file": read_unit_files(root)}


def read_files(root: Path, paths: Iterable[str]) -> Objects:
    """The regular files among those that are named."""
    found = ((path, _file(root / path.lstrip("/"))) for path in paths)
    return {path: content for path, content in found if content is not None}


def _file(file: Path) -> Properties | None:
    """Size, and content of a small file; None if it is no regular file."""
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            return None
        if found.st_size > READ_WHOLE:
            return {"size": found.st_size}
        return {"size": found.st_size, "content": file.read_bytes().decode(errors="replace")}
    except OSError:
        return None


def read_key_files(root: Path, paths: Iterable[str], own: Path | None = None) -> Objects:
    """`secret`: a key file is there, and nobody but root can read it. `other`: it holds another key than that of the system
    that runs, which has its files below `own`; what they hold is compared and goes nowhere. What a link leads to out of
    `root` is no file of the system there."""
    found: Objects = {}
    for path in paths:
        file = root / path.lstrip("/")
        if file.exists() and is_below(file, str(root)):
            copied = not own or is_copy(own / path.lstrip("/"), file)
            found[path] = {"secret": _is_secret(file)} if copied else {"secret": False, "other": True}
    return found


def is_copy(file: Path, copy: Path) -> bool:
    """Whether two files hold the same; True where one of them is not there or cannot be read."""
    try:
        return filecmp.cmp(file, copy, shallow=False)
    except OSError:
        return True


def _is_secret(file: Path) -> bool:
    found = file.lstat()
    return (
        stat.S_ISREG(found.st_mode) and found.st_uid == 0 and not found.st_mode & 0o077 and found.st_size > 0
    )


def read_initramfs(root: Path, kernel: str) -> Objects:
    """`fresh`: every initramfs holds our configuration as it is, and none is being made; `array_lines`: those in any that are
    not ours; nothing without an image."""
    images = [image for by in GENERATORS.values() for image in initramfs.images(root, kernel, by)]
    unfinished = (root / INITRAMFS_ASIDE.lstrip("/")).exists()
    fresh = not unfinished and not any(_outdated(image, root) for image in images)
    opened = [_opened(image) for image in images]
    common = sorted(frozenset.intersection(*opened)) if opened else []
    opens = {f"opens {uuid}": True for uuid in common}
    lines: dict[str, Value] = {"array_lines": found} if (found := [*_array_lines(images)]) else {}
    return {"current": {"fresh": fresh, **opens, **_volumes(images), **lines}} if images else {}


def _array_lines(images: Sequence[Path]) -> Iterator[str]:
    """Each once; none of an image that cannot be read, which is never renewed."""
    with suppress(initramfs.Unreadable):
        yield from dict.fromkeys(line for image in images for line in initramfs.array_lines(image))


def _volumes(images: Sequence[Path]) -> dict[str, bool]:
    """`volumes`: every image activates LVM volumes; left out where one does not."""
    try:
        return {"volumes": True} if all(initramfs.read_configuration(image).lvm for image in images) else {}
    except initramfs.Unreadable:
        return {}


def _opened(image: Path) -> frozenset[str]:
    try:
        return initramfs.encryptions_opened(image)
    except initramfs.Unreadable:
        return frozenset()


def _outdated(image: Path, root: Path) -> bool:
    try:
        return initramfs.outdated(image, root) is not None
    except initramfs.Unreadable:
        return True


def read_kernels(root: Path) -> Objects:
    """The releases of the kernels that are installed; none on a system that runs from somewhere else."""
    return {
        file.name.removeprefix("vmlinuz-"): {"file": f"/boot/{file.name}"}
        for file in sorted(root.glob("boot/vmlinuz-*"))
    }


def memory_bytes(root: Path) -> int:
    """The memory of the machine; 0 if it cannot be read."""
    return _memory(root, "MemTotal")


def memory_free(root: Path) -> int:
    """The memory that programs could still have without swapping; 0 if it cannot be read."""
    return _memory(root, "MemAvailable")


def _memory(root: Path, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", text_of(root / "proc/meminfo"), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def firmware(root: Path) -> str:
    """The firmware that booted the machine: `uefi` or `bios`."""
    return "uefi" if (root / "sys/firmware/efi").is_dir() else "bios"
