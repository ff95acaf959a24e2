"""Rules about key files: who finds them beside the lock, and whether the boot finds them at all."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import SHOWN
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import place, places
from raidplan.topology import Topology
from raidplan.topology.keys import circles, encryptions_below, fleeting, key_homes, opened_before
from raidplan.topology.mounts import mounted


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
    for name, homes in topology.once(key_homes).items():
        if homes and not encryptions_below(topology, topology.layout.filesystems[homes[0]].device):
            file = topology.layout.encryption[name].key_file
            yield Hit(
                ("encryption", name, "key"),
                f"the key of {name} is {file} on {homes[0]}, which is not encrypted: whoever has its disks reads the key",
                f"write key: ask, or encrypt {homes[0]} with a passphrase",
                related=(place("file system", ("filesystems", homes[0])),),
            )


@rule(Severity.ERROR)
def key_out_of_reach(topology: Topology) -> Iterator[Hit]:
    """A key file lies behind the encryption that it opens, or the system cannot read it in time.

    Why: what stands on the root file system is read after that is mounted, so no key file opens the root
    itself: Debian's initramfs holds none, and a key in an open /boot would lie beside the lock. Encryptions
    whose keys lie behind each other are never opened. What lies in /run or /tmp is gone at the next boot.

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
    mounts, filesystems = topology.once(mounted), topology.layout.filesystems
    system = [filesystems[mounts[mount]].device for mount in ("/", "/usr") if mount in mounts]
    first = {name for device in system for name in encryptions_below(topology, device)}
    for name, homes in topology.once(key_homes).items():
        file, path = topology.layout.encryption[name].key_file, ("encryption", name, "key")
        if name in first:
            on = f" on {homes[0]}" if homes else ""
            message = f"the key of {name} is {file}{on}, and the system starts from what it opens"
            yield Hit(path, message, "write key: ask, or put the file elsewhere")
        elif folder := fleeting(topology, file):
            message = f"the key of {name} is {file}, and what lies in {folder} is gone at the next boot"
            yield Hit(path, message, "put the file elsewhere, as in /etc/keys")
    for name, way in topology.once(circles).items():
        if first.isdisjoint(way):
            first.update(way)
            yield _behind_itself(topology, name, way)


def _behind_itself(topology: Topology, name: str, way: tuple[str, ...]) -> Hit:
    """Encryptions of which each has its key behind the next one, and the last behind the first."""
    file, [nearest, *_] = topology.layout.encryption[name].key_file, topology.once(key_homes)[name]
    behind, *back = (*way[1:], name)
    on = topology.once(opened_before)[name][behind]
    where = f"on {on}" if on == nearest else f"below the mount point of {on}"
    around = "".join(f", whose key lies behind {each}" for each in back[:SHOWN])
    around += f", and so on back to {name}" if len(back) > SHOWN else ""
    return Hit(
        ("encryption", name, "key"),
        f"the key of {name} is {file} {where}, which stands on {behind}{around}",
        "write key: ask, or put the file elsewhere",
        related=places("encryption", ("encryption",), way[1:]),
    )
