"""One case inside of the server: an apply, what happens to it, `apply` until done, and what bare tools say then.

Copied there: `python3 -I in_guest.py` with the case as JSON on its standard input; the outcome comes as JSON. It knows nothing
of raidplan but its command.
"""

import contextlib
import glob
import hashlib
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

OUT = "/run/kills.out"
FULL = "/var/tmp/kills.full"
HELD = "another raidplan, or a program that one started"
OFFERED = re.compile(r"--destroy (sha256:[0-9a-f]{64})")
WAITS = 150
BROKEN = re.compile(r"\[U*_[U_]*\]|\(F\)|inactive|broken")
"""What /proc/mdstat and array_state show of arrays that have lost a member."""


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


def said():
    with open(OUT, errors="replace") as file:
        return file.read()


def start(argv, tty=False):
    """The process, and the master of its terminal."""
    if tty:
        pid, master = pty.fork()
        if pid == 0:
            os.execvp(argv[0], argv)
        return pid, master
    with open(OUT, "wb") as out:
        child = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
    return child.pid, None


def ended(pid):
    """The exit code, or None while it runs."""
    try:
        done, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return 0
    return os.waitstatus_to_exitcode(status) if done else None


def wait(pid, seconds=900):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        code = ended(pid)
        if code is not None:
            return code
        time.sleep(0.02)
    kill(pid)
    return "no end"


def below(pid):
    """Every process that it has started, also through others."""
    parents = {}
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as file:
                number, _, rest = file.read().partition(" (")
            parents.setdefault(int(rest.rpartition(") ")[2].split()[1]), []).append(int(number))
        except OSError:
            pass
    found, waiting = [], [pid]
    while waiting:
        more = parents.get(waiting.pop(), [])
        found += more
        waiting += more
    return found


def kill(*pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def apply(case):
    """One whole apply, as somebody who consents to what it lists; its exit code and its words."""
    code = wait(start(case["apply"])[0])
    words = said()
    offered = OFFERED.search(words)
    if code == 4 and offered and case["consents"] and "made by this layout" not in words:
        code = wait(start([*case["apply"][:-2], "--destroy", offered[1]])[0])
        words = said()
    return code, words


def command(case):
    """The command to interrupt: where something is listed for consent, with the consent to it."""
    if not case["consents"]:
        return case["apply"]
    wait(start(case["apply"])[0])
    offered = OFFERED.search(said())
    return [*case["apply"][:-2], "--destroy", offered[1]] if offered else case["apply"]


def killed(kind, pid, draw):
    """Kills as the kind says; a process of raidplan is caught before it sees what becomes of its children."""
    if kind == "kill raidplan":
        kill(pid)
    elif kind == "kill one":
        some = below(pid)
        if not some:
            return "no process but raidplan itself"
        kill(draw.choice(some))
    else:
        os.kill(pid, signal.SIGSTOP)
        some = below(pid)
        kill(pid, *some)
    return ""


def node(case, disk):
    for path in glob.glob("/sys/block/sd*"):
        serial = sh(f"lsblk -dnro SERIAL /dev/{os.path.basename(path)}").strip()
        if serial == f"{case['prefix']}-{disk}":
            return "/dev/" + os.path.basename(path)
    return ""


def progress(case):
    """The number of records in the journal: a busy host makes times useless."""
    try:
        with open(f"/var/lib/raidplan/{case['host']}/journal", "rb") as file:
            return file.read().count(b"\n")
    except OSError:
        return 0


def until(case, pid, share, draw, master=None):
    """Waits until an apply has written that share of the records of a whole one, and a moment; its exit code, or None."""
    first, wanted = progress(case), share * case["records"]
    while progress(case) - first < wanted:
        code = ended(pid)
        if code is not None:
            return code
        if master is not None:
            drain(master)
        time.sleep(0.01)
    time.sleep(draw.random() * 0.4)
    return ended(pid)


def interrupt(case):
    """Runs an apply and does to it what the case says; a record of it."""
    what, draw = case["adversity"], random.Random(case["adversity"]["draw"])
    kind, share = what["kind"], what["share"]
    note = {"kind": kind}
    argv = command(case)
    storm = threading.Event()
    if kind == "foreign sector":
        place = draw.randrange(2 * 2048, 300 * 2048) * 512
        device = node(case, what["disk"])
        with open(device, "r+b") as file:
            file.seek(place)
            file.write(draw.randbytes(512))
            file.flush()
            os.fsync(file.fileno())
        note["sector"] = place // 512
        share = 0
    pid, master = start(argv, tty=kind == "terminal lost")
    if kind == "udev storm":
        threading.Thread(target=storming, args=(storm,), daemon=True).start()
    code = until(case, pid, share, draw, master)
    note["interrupted"] = code is None
    if code is None:
        note["open"] = open_steps(case)
        note |= act(case, kind, pid, master, draw) or {}
        code = wait(pid)
    storm.set()
    note["code"] = code
    note["said"] = said()[-1500:] if master is None else ""
    time.sleep(what["pause"])
    for share in what["again"]:
        pid, _ = start(argv)
        if until(case, pid, share, draw) is None:
            killed(kind, pid, draw)
            wait(pid)
            note["again"] = note.get("again", 0) + 1
    restored(case, kind, note)
    return note


def act(case, kind, pid, master, draw):
    if kind.startswith("kill"):
        missed = killed(kind, pid, draw)
        return {"missed": missed} if missed else {}
    if kind.startswith("SIG"):
        os.kill(pid, getattr(signal, kind))
    elif kind == "terminal lost":
        os.close(master)
    elif kind == "disk pulled":
        device = node(case, case["adversity"]["disk"])
        with open(f"/sys/block/{os.path.basename(device)}/device/delete", "w") as file:
            file.write("1")
    elif kind == "root full":
        sh(
            f"fallocate -l $(df --output=avail -B1 / | tail -1) {FULL}; dd if=/dev/zero of={FULL}.more bs=64k 2>/dev/null; true"
        )
    elif kind == "person's create":
        part = node(case, case["adversity"]["disk"]) + "1"
        done = subprocess.run(
            ["mdadm", "--create", "/dev/md/mine", "--run", "--level=1", "--bitmap=none", "--raid-devices=2", part, "missing"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip
        return {"won": done.returncode == 0, "create": (done.stdout + done.stderr)[-300:]}
    elif kind == "second raidplan":
        other = [*case["apply"][:-2], "--state", "/var/tmp/other-state", *case["apply"][-2:]]
        done = subprocess.run(other, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        still = ended(pid) is None
        return {"second": done.returncode, "second said": done.stderr[-400:], "ran beside": still}
    return {}


def restored(case, kind, note):
    """The disk is plugged in again, the root has room again."""
    if kind == "root full":
        for file in (FULL, FULL + ".more"):
            if os.path.exists(file):
                os.unlink(file)
    if kind == "disk pulled" and note.get("interrupted"):
        for host in glob.glob("/sys/class/scsi_host/host*/scan"):
            with open(host, "w") as file:
                file.write("- - -")
        sh("udevadm settle; sleep 2")
        note["won"] = bool(BROKEN.search(out("cat /proc/mdstat; cat /sys/block/md*/md/array_state")))


def storming(stop):
    while not stop.is_set():
        sh(
            "udevadm trigger --subsystem-match=block --action=change; udevadm trigger --subsystem-match=block --action=add"
        )
        time.sleep(0.2)


def drain(master):
    os.set_blocking(master, False)
    with contextlib.suppress(OSError):
        os.read(master, 65536)


def open_steps(case):
    begun = {}
    try:
        with open(f"/var/lib/raidplan/{case['host']}/journal") as file:
            for line in file:
                record = json.loads(line)
                if record["kind"] == "intent":
                    begun[record["step"]] = None
                elif "step" in record:
                    begun.pop(record["step"], None)
    except (OSError, ValueError):
        pass
    return sorted(begun)[:6]


def closed(case):
    """The last run came to its end."""
    try:
        with open(f"/var/lib/raidplan/{case['host']}/journal") as file:
            return json.loads(file.read().splitlines()[-1])["kind"] == "close"
    except (OSError, ValueError, IndexError):
        return False


def by_a_person(case, kind, note, words):
    """The person whose thing it is takes it away, or follows what the refusal says of a member that was away."""
    if kind == "disk pulled":
        commands = re.findall(
            r"(mdadm (?:/dev/md/\S+ --(?:remove|re-add|add|add-spare|replace)|--run|--assemble) [^,`(;]+)",
            words,
        )
        sh(
            "; ".join(commands)
            or "umount /srv/*; swapoff -a; vgchange -qq -an; mdadm --stop --scan; mdadm --assemble --scan"
        )
        sh("udevadm settle; sleep 1; mdadm --wait /dev/md/*; systemctl daemon-reload; true")
    if kind == "foreign sector":
        device = node(case, case["adversity"]["disk"])
        sh(f"dd if=/dev/zero of={device} bs=512 seek={note['sector']} count=1 conv=fsync")
    if kind == "person's create":
        part = node(case, case["adversity"]["disk"]) + "1"
        sh(f"mdadm --stop /dev/md/mine; mdadm --zero-superblock {part}; udevadm settle")


def converge(case, note):
    """Applies until it is done; how, and what it said on the way."""
    kind, told, applies = case["adversity"]["kind"], [], 0
    person, waited, rounds, end = "", False, 3 if kind == "disk pulled" else 1, time.monotonic() + WAITS
    while True:
        code, words = apply(case)
        applies += 1
        if code == 0:
            again, more = apply(case)
            if again == 0 and "nothing to do" in more:
                return {
                    "result": "needed a person" if person else "converged",
                    "why": person,
                    "applies": applies,
                    "waited": waited,
                }
            told.append(f"the apply after the last one: {again} {more[-600:]}")
            return {"result": "stuck", "why": told[-1], "applies": applies}
        told.append(f"{code}: {words[-900:]}")
        if code == 4 and time.monotonic() < end and not person and (HELD in words or waits(words)):
            waited = True
            time.sleep(3)
            continue
        if code == 3 and applies < 4:
            continue
        if code == 4 and rounds:
            person, rounds = person or words[-1500:], rounds - 1
            by_a_person(case, kind, note, words)
            offered = OFFERED.search(words)
            if offered and not case["consents"]:
                case["apply"] = [*case["apply"][:-2], "--destroy", offered[1]]
            continue
        return {"result": "stuck", "why": told[-1], "applies": applies}


def waits(words):
    """What ends by itself: a rebuild, an array that mdadm starts half a minute after a boot."""
    return (
        "mdadm starts it half a minute" in words
        or "is being rebuilt, or waits for that" in words
        or "it is syncing" in words
    )


# what bare tools say

DROPPED = re.compile(
    r"(Creation Time|Update Time|Events|Checksum|Lifetime writes|Last (mount|write)|Mount count|Filesystem created|"
    r"Free (blocks|inodes)|Directory Hash Seed|Journal sequence|Journal start|Last checked|First block|Next check|Journal checksum|"
    r"Reshape|Resync Status|Rebuild Status|Check Status|State :|Overall|Last mounted on|Number +Major)"
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
    found["lvs"] = plain(
        sh(
            "lvs --noheadings -o vg_name,lv_name,lv_size,lv_attr,segtype; vgs --noheadings -o vg_name,vg_extent_size,vg_size,pv_count; pvs --noheadings -o pv_name,vg_name,pv_size"
        )
    )
    for file in ("/etc/fstab", "/etc/mdadm/mdadm.conf", *sorted(glob.glob("/etc/udev/rules.d/*raidplan*"))):
        with open(file) as opened:
            found[file] = opened.read().replace(case["prefix"] + "-", "K-").splitlines()
    image = sorted(glob.glob("/boot/initrd.img-*[0-9a-z]"))
    found["initramfs"] = [
        os.path.basename(each) + " " + hashlib.sha256(in_initramfs(each).encode()).hexdigest()
        for each in image
        if not each.endswith(".dpkg-bak")
    ]
    found["mounts"] = sorted(plain(sh("findmnt -rno TARGET,SOURCE,FSTYPE,OPTIONS | grep /srv")))
    found["swap"] = sorted(plain(sh("swapon --noheadings --raw --show=NAME,SIZE,PRIO")))
    found["units"] = plain(
        sh(
            "systemctl list-unit-files --no-legend 'md*' '*raidplan*' | awk '{print $1, $2}'; ls /etc/systemd/system | grep -c ."
        )
    )
    found["tuning"] = sorted(
        f"{called.get(path.split('/')[3], '?')} {path.split('/', 4)[4]} {Path(path).read_text().strip()}"
        for pattern in ("md/stripe_cache_size", "queue/read_ahead_kb", "md/consistency_policy")
        for path in glob.glob(f"/sys/block/md*/{pattern}")
    )
    return found


def lvm_uuid(key, value):
    """LVM draws UUIDs itself."""
    return "drawn" if key == "uuid" and re.fullmatch(r"\w{6}-(\w{4}-){5}\w{6}", str(value)) else value


def in_initramfs(image):
    """mdadm.conf in it: of the last archive, uncompressed, that holds it, or as its own tool shows it."""
    conf = sh(f"cpio --quiet -i --to-stdout etc/mdadm/mdadm.conf < {image} 2>/dev/null")
    if conf:
        return conf
    return sh(
        f"d=$(mktemp -d); unmkinitramfs {image} $d; cat $d/etc/mdadm/mdadm.conf $d/main/etc/mdadm/mdadm.conf 2>/dev/null; rm -rf $d"
    )


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


def main():
    case = json.load(sys.stdin)
    outcome, began = {}, time.monotonic()
    match case["do"]:
        case "prepare":
            outcome["said"] = sh(case["script"])
            outcome["decoys"] = decoys()
        case "reference":
            before = progress(case)
            code, words = apply(case)
            outcome |= {"code": code, "said": words[-1500:], "records": progress(case) - before}
            outcome["again"] = apply(case)[0]
            outcome["look"], outcome["decoys"], outcome["files"] = look(case), decoys(), files()
        case "seen":
            outcome |= {"look": look(case), "decoys": decoys(), "files": files()}
        case "look":
            outcome |= {"decoys": decoys(), "files": files(), "records": progress(case)}
        case "reached":
            while progress(case) < case["wanted"] and not (progress(case) and closed(case)):
                time.sleep(0.02)
            outcome |= {"open": open_steps(case), "closed": closed(case)}
        case "begin":  # the power goes meanwhile
            wait(start(command(case))[0])
            time.sleep(600)
        case _:
            note = interrupt(case) if case["do"] == "case" else {}
            outcome |= {"note": note, **converge(case, note)}
            if case["adversity"]["kind"] == "disk pulled":  # apply does not wait for a rebuild
                sh("; ".join(f"timeout 300 mdadm --wait {link}" for link in own_arrays()))
            outcome["look"], outcome["decoys"], outcome["files"] = look(case), decoys(), files()
    outcome["took"] = time.monotonic() - began
    json.dump(outcome, sys.stdout)


if __name__ == "__main__":
    main()
