"""Rules about encryption: what lies open beside it, and what is needed to open it."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path, Severity
from raidplan.layout.kinds.encryption import Encryption
from raidplan.rules.lib.areas import swap_areas
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.locks import encryptions_below, locks_of
from raidplan.rules.lib.subjects import filesystem_of, place
from raidplan.topology import Topology
from raidplan.topology.boot_devices import esps, read_by_loader
from raidplan.topology.mounts import mounted

FLEETING = ("/dev", "/proc", "/run", "/sys", "/tmp", "/var/run")
"""Folders that are empty after a boot, or made by the kernel."""
STATE = "/var/lib/raidplan"
"""The folder in which apply keeps a copy of each header that it makes."""


def _entries(topology: Topology) -> Iterator[tuple[str, Path, Encryption]]:
    for name, entry in topology.layout.encryption.items():
        yield name, ("encryption", name), entry


def _below_mount(topology: Topology, mount: str) -> list[str]:
    name = topology.once(mounted).get(mount)
    return encryptions_below(topology, topology.layout.filesystems[name].device) if name is not None else []


@rule(Severity.WARNING)
def plain_swap_beside_encryption(topology: Topology) -> Iterator[Hit]:
    """A file system is encrypted, and swap is not.

    Why: whatever is in memory can be swapped out: passphrases, keys, the text of open files. It stays on
    the disk after the machine is switched off, and whoever takes the disk reads it without any key. A
    random key for each boot costs nothing and asks nobody; only a machine that hibernates needs a key
    that it finds again.

    Bad:
        hardware:
          disks: {d0: {size: 500GB, partitions: {boot: {size: 1GiB}, swap: {size: 4GiB}, os: {size: rest}}}}
        encryption:
          crypt: {device: d0.os, key: ask}
        filesystems:
          boot: {device: d0.boot, type: ext4, mount: /boot}
          root: {device: crypt, type: ext4, mount: /}
        swap:
          swap0: {device: d0.swap}    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 500GB, partitions: {boot: {size: 1GiB}, swap: {size: 4GiB}, os: {size: rest}}}}
        encryption:
          crypt: {device: d0.os, key: ask}
          cryptswap: {device: d0.swap, key: random}
        filesystems:
          boot: {device: d0.boot, type: ext4, mount: /boot}
          root: {device: crypt, type: ext4, mount: /}
        swap:
          swap0: {device: cryptswap}

    Source: crypttab(5), option `swap`; https://wiki.archlinux.org/title/Dm-crypt/Swap_encryption.
    """
    by, filesystems = _encrypted_by(topology), topology.layout.filesystems
    secret = [name for name in filesystems if ("filesystems", name) in by]
    if not secret:
        return
    first = min(secret, key=lambda name: filesystems[name].mount != "/")
    what, nearest = "/" if filesystems[first].mount == "/" else first, by["filesystems", first]
    for area in topology.once(swap_areas):
        if area.device in topology.provider and topology.provider[area.device].path not in by:
            yield Hit(
                area.path,
                f"{what} is encrypted by {nearest}, and swap {area.name} on {area.device} is not: what is swapped out can be read without a key",
                f"add an encryption of {area.device} with key: random, and let {area.name} be on it",
                related=(place("encryption", ("encryption", nearest)),),
            )


def _encrypted_by(topology: Topology) -> dict[Path, str]:
    """The nearest encryption that each thing stands on or is."""
    found: dict[Path, str] = {}
    for item in topology.order if topology.layout.encryption else ():
        below = (topology.provider.get(use.device) for use in item.kind.uses(item.name, item.path))
        nearest = next((found[each.path] for each in below if each is not None and each.path in found), None)
        if item.path[0] == "encryption" or nearest:
            found[item.path] = item.name if item.path[0] == "encryption" else str(nearest)
    return found


@rule(Severity.NOTE)
def header_without_copy(topology: Topology) -> Iterator[Hit]:
    """The copy of a LUKS header that apply keeps lies on what that header opens.

    Why: with a damaged header the passphrase opens nothing, and the data are lost, however whole they
    are. Apply copies each header that it makes to /var/lib/raidplan; on an encrypted root that copy can
    be read as long as nobody needs it. A copy elsewhere opens the data as well, with any passphrase that
    the header had then: keep it as you keep a key.

    Bad:
        hardware:
          disks: {d0: {size: 500GB, partitions: {boot: {size: 1GiB}, os: {size: rest}}}}
        encryption:
          crypt:
            device: d0.os    # <-- here
            key: ask
        filesystems:
          boot: {device: d0.boot, type: ext4, mount: /boot}
          root: {device: crypt, type: ext4, mount: /}

    Good:
        hardware:
          disks: {d0: {size: 500GB, partitions: {os: {size: 100GB}, data: {size: rest}}}}
        encryption:
          crypt: {device: d0.data, key: ask}
        filesystems:
          root: {device: d0.os, type: ext4, mount: /}
          data: {device: crypt, type: ext4, mount: /srv}

    Source: cryptsetup FAQ, "6. Backup and Data Recovery"; cryptsetup-luksHeaderBackup(8).
    """
    home = filesystem_of(topology, f"{STATE}/headers")
    locks = locks_of(topology, topology.layout.filesystems[home].device) if home is not None else {}
    for name, path, entry in _entries(topology):
        if name in locks and not entry.is_random:
            why = f"{locks[name]} opens, whose key lies on {name}" if locks[name] else f"only {name} opens"
            yield Hit(
                (*path, "device"),
                f"apply keeps its copy of the header of {name} in {STATE}, which {why}",
                f"choose a place elsewhere, and after apply copy it there: cryptsetup luksHeaderBackup, with the device of {name} and --header-backup-file",
                related=(place("file system", ("filesystems", str(home))),),
            )


@rule(Severity.NOTE)
def discard_on_encryption(topology: Topology) -> Iterator[Hit]:
    """Discards pass through an encryption.

    Why: they tell a solid-state disk which parts are free, and whoever has the disk as well: how full it
    is, often the type of file system. The content stays secret. Without them the disk keeps what was
    deleted, and gets slower as it fills.

    Bad:
        hardware:
          disks: {d0: {size: 500GB, rotational: false}}
        encryption:
          crypt:
            device: d0
            key: ask
            discard: true    # <-- here
        filesystems:
          data: {device: crypt, type: ext4, mount: /srv}

    Good:
        hardware:
          disks: {d0: {size: 500GB, rotational: false}}
        encryption:
          crypt: {device: d0, key: ask}
        filesystems:
          data: {device: crypt, type: ext4, mount: /srv}

    Source: cryptsetup-open(8), `--allow-discards`; cryptsetup FAQ, "5.19 What about SSDs, Flash, Hybrid
    and SMR Drives?".
    """
    for name, path, entry in _entries(topology):
        if entry.discard and not entry.is_random:
            yield Hit(
                (*path, "discard"),
                f"discards pass through {name}: whoever has the disk sees which parts of it are in use",
                "leave it out, or accept that",
            )


@rule(Severity.WARNING)
def key_beside_lock(topology: Topology) -> Iterator[Hit]:
    """A key file lies on a file system that is not encrypted.

    Why: whoever takes the machine, or a disk of it to be replaced, has the key with the lock. Encryption
    then protects from nothing but the loss of some of the disks. On an encrypted root, opened by a
    passphrase, the key of all other devices is safe and asks nobody.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 500GB}}
        encryption:
          crypt: {device: d1, key: {file: /etc/keys/data.key}}    # <-- here
        filesystems:
          root: {device: d0, type: ext4, mount: /}
          data: {device: crypt, type: ext4, mount: /srv}

    Good:
        hardware:
          disks:
            d0: {size: 500GB, partitions: {boot: {size: 1GiB}, os: {size: rest}}}
            d1: {size: 500GB}
        encryption:
          root: {device: d0.os, key: ask}
          crypt: {device: d1, key: {file: /etc/keys/data.key}}
        filesystems:
          boot: {device: d0.boot, type: ext4, mount: /boot}
          root: {device: root, type: ext4, mount: /}
          data: {device: crypt, type: ext4, mount: /srv}

    Source: crypttab(5), "key file"; cryptsetup FAQ, "2.8 How do I use LUKS with a key file?".
    """
    for name, path, entry in _entries(topology):
        home = filesystem_of(topology, entry.key_file) if entry.key_file else None
        if home is not None and not encryptions_below(topology, topology.layout.filesystems[home].device):
            yield Hit(
                (*path, "key"),
                f"the key of {name} is {entry.key_file} on {home}, which is not encrypted: whoever has its disks reads the key",
                f"write key: ask, or encrypt {home} with a passphrase",
                related=(place("file system", ("filesystems", home)),),
            )


@rule(Severity.ERROR)
def key_out_of_reach(topology: Topology) -> Iterator[Hit]:
    """A key file lies behind the encryption that it opens, or the system cannot read it in time.

    Why: what stands on the root file system is read after that is mounted, so no key file opens the root
    itself: Debian's initramfs holds none, and a key in an open /boot would lie beside the lock. What lies in
    /run, /tmp or /dev is gone at the next boot.

    Bad:
        hardware:
          disks: {d0: {size: 500GB, partitions: {boot: {size: 1GiB}, os: {size: rest}}}}
        encryption:
          crypt: {device: d0.os, key: {file: /etc/keys/root.key}}    # <-- here
        filesystems:
          boot: {device: d0.boot, type: ext4, mount: /boot}
          root: {device: crypt, type: ext4, mount: /}

    Good:
        hardware:
          disks: {d0: {size: 500GB, partitions: {boot: {size: 1GiB}, os: {size: rest}}}}
        encryption:
          crypt: {device: d0.os, key: ask}
        filesystems:
          boot: {device: d0.boot, type: ext4, mount: /boot}
          root: {device: crypt, type: ext4, mount: /}

    Source: Debian's /usr/share/doc/cryptsetup-initramfs/README.initramfs.gz; crypttab(5) of Debian.
    """
    first = {name for mount in ("/", "/usr") for name in _below_mount(topology, mount)}
    for name, path, entry in _entries(topology):
        if not entry.key_file:
            continue
        home = filesystem_of(topology, entry.key_file)
        behind = (
            encryptions_below(topology, topology.layout.filesystems[home].device) if home is not None else []
        )
        fleeting = next((each for each in FLEETING if entry.key_file.startswith(f"{each}/")), "")
        if fleeting and home is None:
            yield Hit(
                (*path, "key"),
                f"the key of {name} is {entry.key_file}, and what lies in {fleeting} is gone at the next boot",
                "put the file elsewhere, as in /etc/keys",
            )
        if name in first or name in behind:
            why = "and the system starts from what it opens" if name in first else f"which stands on {name}"
            where = f" on {home}" if home is not None and name in behind else ""
            yield Hit(
                (*path, "key"),
                f"the key of {name} is {entry.key_file}{where}, {why}",
                "write key: ask, or put the file elsewhere",
            )


@rule(Severity.ERROR, acceptable=True)
def loader_cannot_read_encryption(topology: Topology) -> Iterator[Hit]:
    """Kernel and initramfs, or an EFI system partition, lie on an encrypted device.

    Why: firmware reads no encryption at all, and GRUB opens LUKS2 only with keys made by PBKDF2 (2.06 to
    2.12), never with argon2id, by which raidplan has them made because it is far more costly to guess.
    The machine would end at GRUB's prompt.

    Bad:
        hardware:
          disks: {d0: {size: 500GB}}
        encryption:
          crypt: {device: d0, key: ask}
        filesystems:
          root:
            device: crypt    # <-- here
            type: ext4
            mount: /

    Good:
        hardware:
          disks: {d0: {size: 500GB, partitions: {boot: {size: 1GiB}, os: {size: rest}}}}
        encryption:
          crypt: {device: d0.os, key: ask}
        filesystems:
          boot: {device: d0.boot, type: ext4, mount: /boot}
          root: {device: crypt, type: ext4, mount: /}

    Source: GRUB 2.12, `grub-core/disk/luks2.c` ("Argon2 not supported");
    https://cryptsetup-team.pages.debian.net/cryptsetup/encrypted-boot.html.
    """
    loader, name = read_by_loader(topology)
    found: list[tuple[Path, str, str]] = []
    if name is not None:
        device = topology.layout.filesystems[name].device
        found.append((("filesystems", name, "device"), device, f"{loader} has to read {name}"))
    found += [(path, device, f"the firmware has to read {device}") for device, path in esps(topology).items()]
    for path, device, who in found:
        for below in encryptions_below(topology, device):
            yield Hit(
                path,
                f"{who}, which is encrypted by {below}: it opens no key made with argon2id",
                "put /boot on a partition or an array of its own that is not encrypted",
                related=(place("encryption", ("encryption", below)),),
            )
