"""What bare tools say of a server, in lines that are the same after every apply of a layout. Copied there beside in_guest.py."""

import contextlib
import glob
import hashlib
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path


def sh(command):
    done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout + done.stderr


def out(command):
    return subprocess.run(
        ["sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout


DROPPED = re.compile(
    r"(Creation Time|Update Time|Events|Checksum|Lifetime writes|Last (mount|write)|Mount count|Filesystem created|"
    r"Free (blocks|inodes)|Directory Hash Seed|Journal sequence|Journal start|Last checked|First block|Next check|Journal checksum|"
    r"Preferred Minor|Reshape|Resync Status|Rebuild Status|Check Status|State :|Overall|Last mounted on|Number +Major)"
)


def names(case):
    """The kernel's name of each device to one that does not change."""
    rows = json.loads(out("lsblk --json --list -o KNAME,PKNAME,SERIAL,TYPE"))["blockdevices"]
    found = {}
    for row in rows:
        if row["serial"] and row["serial"].startswith(case["prefix"] + "-"):
            found[row["kname"]] = "k" + row["serial"].rpartition("-")[2]
    for row in rows:
        if row["type"] == "part" and row["pkname"] in found:
            number = Path(f"/sys/class/block/{row['kname']}/partition").read_text().strip()
            found[row["kname"]] = f"{found[row['pkname']]}-{number}"
    for link in own_arrays():
        found[os.path.basename(os.path.realpath(link))] = os.path.basename(link)
    for link in glob.glob("/dev/mapper/*"):
        found.setdefault(os.path.basename(os.path.realpath(link)), os.path.basename(link))
    return found


def own_arrays():
    """The links of arrays that are not somebody else's: an event of udev may start that of the decoys."""
    return [link for link in sorted(glob.glob("/dev/md/*")) if "foreign" not in link and "mine" not in link]


def arrays_of_others():
    """The kernel's names of the arrays of decoys: one that was started at a boot is no trace of an apply."""
    links = {*glob.glob("/dev/md/*")}.difference(own_arrays())
    return {os.path.basename(os.path.realpath(link)) for link in links}


def look(case):
    """A section for each tool, in lines that are the same after every apply of a layout."""
    called = names(case)

    def plain(text):
        # btrfs shows the name by which its device was seen last.
        text = re.sub(r"/dev/(?:md|mapper)/(?=\w)", "/dev/", text)
        text = re.sub(r"/dev/(?:block/)?([a-z]+[a-z0-9-]*)", lambda m: "/dev/" + called.get(m[1], m[1]), text)
        return [line.rstrip() for line in text.splitlines() if line.strip() and not DROPPED.search(line)]

    found = {}
    for link in own_arrays():
        lines = [re.sub(r"^ +\d+ +\d+ +\d+ ", "", line) for line in plain(sh(f"mdadm --detail {link}"))]
        found["mdadm " + os.path.basename(link)] = sorted(lines)
    rows = json.loads(
        out("lsblk --json --list -o KNAME,TYPE,SIZE,FSTYPE,LABEL,UUID,PARTUUID,PARTTYPE,MOUNTPOINT,RA")
    )["blockdevices"]
    rows = [{**row, "kname": called[row["kname"]]} for row in rows if row["kname"] in called]
    found["lsblk"] = sorted(
        {" ".join(f"{k}={lvm_uuid(k, v)}" for k, v in row.items() if v is not None) for row in rows}
    )
    probed = [f"/dev/{name}" for name in called if os.path.exists(f"/dev/{name}")]
    found["blkid"] = sorted(
        re.sub(r" UUID_SUB=\S+|(?<=UUID=)\"\w{6}-(\w{4}-){5}\w{6}\"", "", line)
        for line in plain(sh("blkid -p -s TYPE -s UUID -s LABEL -s USAGE -s VERSION " + " ".join(probed)))
    )
    for device, kind in re.findall(r"(\S+) (ext[234]|xfs) ", sh("findmnt -rno SOURCE,FSTYPE,TARGET") + " "):
        if "/dev/vda" not in device:
            tool = f"dumpe2fs -h {device}" if kind.startswith("ext") else f"xfs_info {device}"
            found[f"{tool.split()[0]} {called.get(os.path.basename(os.path.realpath(device)), device)}"] = (
                plain(sh(tool + " 2>/dev/null"))
            )
    disks = sorted((name, kernel) for kernel, name in called.items() if re.fullmatch(r"k\d+", name))
    found["partitions"] = [
        f"{name} {row}" for name, kernel in disks for row in places(out(f"sfdisk --dump /dev/{kernel}"))
    ]
    found["members"] = [
        f"{name} {line}"
        for kernel, name, kind in types(called)
        if kind == "linux_raid_member"
        for line in examined(out(f"mdadm --examine /dev/{kernel}"))
    ]
    found["lvs"] = plain(
        sh(
            "lvs --noheadings -o vg_name,lv_name,lv_size,lv_attr,segtype; vgs --noheadings -o vg_name,vg_extent_size,vg_size,pv_count; pvs --noheadings -o pv_name,vg_name,pv_size"
        )
    )
    for file in configured():
        with open(file) as opened:
            found[file] = opened.read().replace(case["prefix"] + "-", "K-").splitlines()
    image = sorted(glob.glob("/boot/initrd.img-*[0-9a-z]"))
    found["initramfs"] = [
        f"{os.path.basename(each)} {line}"
        for each in image
        if not each.endswith(".dpkg-bak")
        for line in in_initramfs(each, case["prefix"])
    ]
    found["mounts"] = sorted(plain(sh("findmnt -rno TARGET,SOURCE,FSTYPE,OPTIONS | grep /srv")))
    found["swap"] = sorted(plain(sh("swapon --noheadings --raw --show=NAME,SIZE,PRIO")))
    found["units"] = plain(
        sh(
            "systemctl list-unit-files --no-legend 'md*' '*raidplan*' | awk '{print $1, $2}'; ls /etc/systemd/system | grep -c ."
        )
    )
    others = arrays_of_others()
    found["tuning"] = sorted(
        f"{called.get(path.split('/')[3], '?')} {path.split('/', 4)[4]} {Path(path).read_text().strip()}"
        for pattern in ("md/stripe_cache_size", "queue/read_ahead_kb", "md/consistency_policy")
        for path in glob.glob(f"/sys/block/md*/{pattern}")
        if path.split("/")[3] not in others
    )
    return found


def configured():
    """The files that an apply writes, also the rule by which it holds off udev meanwhile."""
    rules = (f"/{place}/udev/rules.d/*raidplan*" for place in ("etc", "run"))
    patterns = ("/etc/fstab", "/etc/mdadm/mdadm.conf", "/etc/default/mdadm", *rules)
    return [file for pattern in patterns for file in sorted(glob.glob(pattern))]


def lvm_uuid(key, value):
    """LVM draws UUIDs itself."""
    return "drawn" if key == "uuid" and re.fullmatch(r"\w{6}-(\w{4}-){5}\w{6}", str(value)) else value


def types(called):
    """The kernel's name, the other name and the content of each device that has any, sorted by the other name."""
    found = re.findall(
        r'^/dev/(\S+): .*?\bTYPE="([^"]*)"',
        out("blkid -p -s TYPE " + " ".join(f"/dev/{kernel}" for kernel in called)),
        re.MULTILINE,
    )
    return sorted(((kernel, called[kernel], kind) for kernel, kind in found), key=lambda each: each[1])


def places(dump):
    """Of `sfdisk --dump`: the sectors that partitions may take, and where each of them begins and ends."""
    head = re.findall(r"^(?:label|first-lba|last-lba|sector-size): .*", dump, re.MULTILINE)
    rows = re.findall(r"^\S*?(\d+) : start= *(\d+), size= *(\d+)", dump, re.MULTILINE)
    return [*head, *(f"{number} from {start} on, {size}" for number, start, size in rows)]


EXAMINED = re.compile(
    r" *((?:Version|Raid Level|Raid Devices|Avail Dev Size|Used Dev Size|Data Offset|Super Offset|Device Role|Chunk Size|Layout) : .*)"
)


def examined(text):
    """Of `mdadm --examine`: where the data of a member lies, and its place in the array."""
    return [found[1].rstrip() for found in map(EXAMINED.fullmatch, text.splitlines()) if found]


MAGIC, TRAILER = b"070701", "TRAILER!!!"


def archived(image):
    """The files of the archives (newc) that an image begins with, and the bytes behind these."""
    files, start = {}, 0
    while image[start : start + 6] == MAGIC:
        size, length = int(image[start + 54 : start + 62], 16), int(image[start + 94 : start + 102], 16)
        name = image[start + 110 : start + 110 + length].rstrip(b"\0").decode(errors="replace")
        body = start + 110 + length + -(110 + length) % 4
        files[name] = image[body : body + size]
        start = body + size + -size % 4
        if name == TRAILER:
            start += len(image[start:]) - len(image[start:].lstrip(b"\0"))
    files.pop(TRAILER, None)
    return files, image[start:]


SHOWN = re.compile(r"(main/)?((usr/)?lib/udev|etc|conf|scripts|hooks|cryptroot)/.*")
DRAWN = re.compile(r"(main/)?(var/cache|etc/lvm/(archive|backup))/.*")
"""ldconfig keeps times there, LVM the history of each group under drawn names."""


CONF = re.compile(r"(main/)?etc/mdadm/mdadm\.conf")


def in_initramfs(image, prefix):
    """Each file of its configuration with a hash, and one for everything else: of the archives in front, and of what follows or,
    where mdadm.conf is not in front, of what its own tool unpacks. One that cannot be unpacked is like no other."""
    data = Path(image).read_bytes()
    files, rest = archived(data)
    if any(map(CONF.fullmatch, files)):
        return listed(files, rest, prefix)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        said = sh(f"unmkinitramfs {image} {folder}")
        files = {
            str(file.relative_to(folder)): content(file)
            for file in Path(folder).rglob("*")
            if file.is_symlink() or file.is_file()
        }
    if any(map(CONF.fullmatch, files)):
        return listed(files, b"", prefix)
    return [f"no mdadm.conf ({said[-200:].strip()})", hashlib.sha256(data).hexdigest()]


def content(file):
    """Of a link, where it leads."""
    return os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()


def listed(files, rest, prefix):
    """A line for each file that is configuration, and one for all others and the rest; serials are those of any server."""
    lines, others = [], hashlib.sha256(rest)
    files = {name: content for name, content in files.items() if not DRAWN.fullmatch(name)}
    for name, content in sorted(files.items()):
        if SHOWN.fullmatch(name):
            content = content.replace(f"{prefix}-".encode(), b"K-")
            lines.append(f"{name} {hashlib.sha256(content).hexdigest()[:16]}")
        else:
            others.update(f"{name}\n".encode() + hashlib.sha256(content).digest())
    return [*lines, f"{len(files)} files, the others {others.hexdigest()[:16]}"]


CHECKS = {
    **dict.fromkeys(("ext2", "ext3", "ext4"), "e2fsck -fn"),
    "xfs": "xfs_repair -n",
    "btrfs": "btrfs check --readonly",
    "vfat": "fsck.vfat -n",
    "f2fs": "fsck.f2fs --dry-run",
}
"""None of them writes."""


def checks(case):
    """What the check of each file system returns while it is not mounted, and the arrays whose copies or parity do not agree."""
    found = []
    sh("swapoff -a; umount /srv/*")
    for kernel, name, kind in types(names(case)):
        if kind in CHECKS and out(f"lsblk -dnro MOUNTPOINT /dev/{kernel}").strip():
            found.append(f"{name} {kind} cannot be unmounted")
        elif kind in CHECKS:
            argv = [*CHECKS[kind].split(), f"/dev/{kernel}"]
            code = subprocess.run(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ).returncode
            found.append(f"{name} {kind} {code}")
    for link in own_arrays():
        found += mismatched(
            os.path.basename(link), f"/sys/block/{os.path.basename(os.path.realpath(link))}/md"
        )
    sh("mount -a; swapon -a")
    return found


FIRST = 16 * 2048
"""Sectors that are compared: a whole check of all arrays would take longer than the case."""


def mismatched(name, folder, seconds=20):
    """Whether the first part of an array that is in sync and idle is so; nothing is said of any other."""

    def read(key):
        with contextlib.suppress(OSError):
            return Path(folder, key).read_text().strip()
        return ""

    def write(key, text):
        with contextlib.suppress(OSError):
            Path(folder, key).write_text(text)

    if (read("sync_action"), read("resync_start"), read("degraded")) != ("idle", "none", "0"):
        return []
    write("sync_min", "0")
    write("sync_max", str(FIRST))
    write("sync_action", "check")
    end = time.monotonic() + seconds
    while time.monotonic() < end and not re.match(rf"{FIRST} /", read("sync_completed")):
        time.sleep(0.1)
    differ = read("mismatch_cnt")
    write("sync_action", "idle")
    write("sync_max", "max")
    return [] if differ == "0" else [f"{name}: {differ} sectors differ"]


def decoys():
    """Sectors written to each disk of somebody else, and the hash of its bytes."""
    found = {}
    for path in sorted(glob.glob("/sys/block/sd*")):
        name = os.path.basename(path)
        serial = sh(f"lsblk -dnro SERIAL /dev/{name}").strip()
        if serial.startswith("DECOY"):
            with open(f"{path}/stat") as file:
                written = file.read().split()[6]
            with open(f"/dev/{name}", "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                found[serial] = f"{written} {hashlib.sha256(file.read()).hexdigest()}"
    return found


def files():
    """The hash of what was put on the file systems."""
    return {
        place: sh(
            f"cd {place}; find . -type f ! -name swap -print0 | sort -z | xargs -0 -r sha256sum"
        ).strip()
        for place in sorted(glob.glob("/srv/*/kept"))
    }
