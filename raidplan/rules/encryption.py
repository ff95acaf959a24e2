"""Rules about encryption: what lies open beside it, and what nobody can read through it."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path, Severity
from raidplan.layout.kinds.encryption import Encryption
from raidplan.plan.places import STATE
from raidplan.rules.lib.areas import Area, swap_areas
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.locks import locks_of
from raidplan.rules.lib.subjects import place
from raidplan.topology import Topology
from raidplan.topology.boot_devices import esps, read_by_loader
from raidplan.topology.kept import kept, kept_devices
from raidplan.topology.keys import encryptions_below
from raidplan.topology.mounts import filesystem_of


def _entries(topology: Topology) -> Iterator[tuple[str, Path, Encryption]]:
    for name, entry in topology.layout.encryption.items():
        yield name, ("encryption", name), entry


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
                _random_key(topology, area, first),
                related=(place("encryption", ("encryption", nearest)),),
            )


def _random_key(topology: Topology, area: Area, secret: str) -> str:
    """Advice on swap that can be read; `secret` is a file system that cannot."""
    if area.path[-1] == "file":
        return f"put the file on a file system that is encrypted, such as {secret}"
    if area.device in kept_devices(topology):
        return f"{area.device} is kept as it is: swap to a file on {secret}, or encrypt it by hand with a random key (crypttab(5)) and describe that"
    return f"add an encryption of {area.device} with key: random, and let {area.name} be on it"


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
        if name in locks and not entry.is_random and path not in kept(topology):
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
