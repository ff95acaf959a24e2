"""One case inside of the server: an apply, what happens to it, `apply` until done, and what bare tools say then.

Copied there with bare_tools.py: `python3 -I in_guest.py` with the case as JSON on its standard input; the outcome comes as
JSON. It knows nothing of raidplan but its command.
"""

import contextlib
import glob
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

sys.path.insert(0, str(Path(__file__).parent))
from bare_tools import checks, decoys, files, look, names, out, own_arrays, sh

OUT, OVER = "/run/kills.out", "/run/kills.over"
CONSOLE, REACHED, ENDED = "/dev/console", b"\x1c", b"\x1d"
"""A byte on the console tells the host at once what a connection would tell half a second later."""
EVENTS = "/run/kills.events"
FULL = "/var/tmp/kills.full"
MINE = "/dev/md/mine"
HELD = "another raidplan, or a program that one started"
ENDS_BY_ITSELF = ("mdadm starts it half a minute", "is rebuilding, or waits for its rebuild", "it is syncing")
OFFERED = re.compile(r"--destroy (sha256:[0-9a-f]{64})")
WAITS = 150
LISTED = re.compile(r"on this machine will be destroyed:\n((?:  - .*\n)+)")
STARTED = re.compile(r"the array '(.+)' \(/dev/md\), \w+ of (\d+), ")
SMALL = 2**30
"""Of a device up to that size every sector is read before something is made on it."""


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
    """Every process that it has started, also through others, and that still runs."""
    parents = {}
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as file:
                number, _, rest = file.read().partition(" (")
            state, parent = rest.rpartition(") ")[2].split()[:2]
            if state not in "ZX":
                parents.setdefault(int(parent), []).append(int(number))
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


def listed(case, words):
    """The things that it says it will destroy; the kernel's names of devices are others after a boot."""
    called = names(case) if LISTED.search(words) else {}

    def stays(found):
        return "/dev/" + ("md" if found[1].startswith("md") else called.get(found[1], "other"))

    lines = "".join(LISTED.findall(words)).splitlines()
    return {re.sub(r"/dev/([a-z]+[0-9]*)", stays, line.strip(" -")) for line in lines}


def agreed(case, words):
    """All that it wants a yes to was on the first list, as it is or as the members of an array that udev has started since."""
    things = listed(case, words)
    return bool(things) and all(each in case["agreed"] or is_of_members(case, each) for each in things)


def is_of_members(case, thing):
    """An array all of whose members were on the first list."""
    started = STARTED.match(thing)
    start = f"a member of the array '{started[1]}' " if started else None
    return bool(started) and sum(each.startswith(start) for each in case["agreed"]) == int(started[2])


def apply(case):
    """One whole apply, as somebody who says yes to what was on the first list, and to nothing else; its exit code and its words."""
    code, words = applied(case, case["apply"][-2:])
    offered = OFFERED.search(words)
    if code == 4 and offered and agreed(case, words):
        code, words = applied(case, ("--destroy", offered[1]))
    return code, words


def applied(case, answer):
    Path(EVENTS).unlink(missing_ok=True)
    code = wait(start([*case["apply"][:-2], "--events", EVENTS, *answer])[0])
    return code, said()


def refusals(file=None):
    """The events of the refusals of the last apply: each with its code, its words, and what ends it."""
    try:
        with open(file or EVENTS) as events:
            found = [json.loads(line) for line in events]
    except (OSError, ValueError):
        return []
    return [each for each in found if each["event"] == "refused"]


def ways(words):
    """What a person can do, as the refusals say; each of them has to say something."""
    every = refusals()
    return named(words) + [each["remedy"] for each in every if all(more.get("remedy") for more in every)]


def command(case):
    """The command to interrupt: where something is listed for consent, with the consent to it."""
    if not case["agreed"]:
        return case["apply"]
    wait(start(case["apply"])[0])
    offered = OFFERED.search(said())
    return (
        [*case["apply"][:-2], "--destroy", offered[1]] if offered and agreed(case, said()) else case["apply"]
    )


def killed(kind, pid, draw):
    """Kills as the kind says; a process of raidplan is caught before it sees what becomes of its children."""
    if kind == "kill raidplan":
        kill(pid)
    elif kind == "kill one":
        return "" if killed_one(pid, draw) else "no process but raidplan itself"
    else:
        os.kill(pid, signal.SIGSTOP)
        some = below(pid)
        kill(pid, *some)
    return ""


def killed_one(pid, draw):
    """Kills one of those that it has started; most live for a moment only, so that it takes more than one try."""
    while ended(pid) is None:
        some = below(pid)
        with contextlib.suppress(ProcessLookupError):
            if some:
                os.kill(draw.choice(some), signal.SIGKILL)
                return True
        time.sleep(0.01)
    return False


def node(case, disk):
    """The node of a disk, by its serial number; "" where there is none."""
    serials = [line.split() for line in sh("lsblk -dnro SERIAL,NAME").splitlines()]
    return next(
        ("/dev/" + each[1] for each in serials if each[0] == f"{case['prefix']}-{disk}" and each[1:]), ""
    )


def journal_of(case):
    return f"/var/lib/raidplan/{case['host']}/journal"


def progress(case):
    """The number of records in the journal: a busy host makes times useless."""
    try:
        with open(journal_of(case), "rb") as file:
            return file.read().count(b"\n")
    except OSError:
        return 0


def until(case, pid, share, draw, master=None, moment=0.4):
    """Waits until an apply has written that share of the records of a whole one, and a part of a moment; its exit code, or None."""
    first, wanted = progress(case), round(share * case["records"], 6)
    while progress(case) - first < wanted:
        code = ended(pid)
        if code is not None:
            return code
        if master is not None:
            drain(master)
        time.sleep(0.01)
    time.sleep(draw.random() * moment)
    return ended(pid)


def interrupt(case):
    """Runs an apply and does to it what the case says; a record of it."""
    what, draw = case["adversity"], random.Random(case["adversity"]["draw"])
    kind, share = what["kind"], what["share"]
    note = {"kind": kind}
    argv = command(case)
    disk = node(case, what["disk"])
    storm, first = threading.Event(), progress(case)
    if kind == "foreign sector":
        note["plant"] = planted(disk, draw, 2 * 2**20, 300 * 2**20)
        share = 0
    pid, master = start(argv, tty=kind == "terminal lost")
    if kind == "udev storm":
        threading.Thread(target=storming, args=(storm,), daemon=True).start()
    moment = 0 if kind == "disk pulled" else 0.4  # its prediction hangs on the record
    code = until(case, pid, share, draw, master, moment)
    note["interrupted"] = code is None or "plant" in note
    if code is None:
        note["open"] = open_steps(case)
        note |= act(case, kind, pid, master, draw, disk)
        note["at"] = progress(case) - first
        note["interrupted"] = "missed" not in note
        code = wait(pid)
    if kind == "foreign sector midway":
        note["interrupted"] = note["interrupted"] and plants_midway(case, note, draw)
    storm.set()
    note["code"] = code
    note["said"] = said()[-1500:] if master is None else ""
    time.sleep(what["pause"])
    restored(case, kind, note)
    return note | again(case, draw)


def again(case, draw):
    """Kills the apply that goes on, as often as it is drawn."""
    what, times = case["adversity"], 0
    for share in what["again"]:
        pid, _ = start(command(case))
        if until(case, pid, share, draw) is None:
            killed(what["kind"], pid, draw)
            wait(pid)
            times += 1
    return {"again": times}


def act(case, kind, pid, master, draw, disk):
    """Does to the apply what the case says; what is to be noted of it."""
    if kind.startswith("kill") or kind == "foreign sector midway":
        missed = killed(kind, pid, draw)
        return {"missed": missed} if missed else {}
    if kind.startswith("SIG"):
        os.kill(pid, getattr(signal, kind))
    elif kind == "terminal lost":
        os.close(master)
    elif kind == "disk pulled":
        with open(f"/sys/block/{os.path.basename(disk)}/device/delete", "w") as file:
            file.write("1")
    elif kind == "root full":
        sh(
            f"fallocate -l $(df --output=avail -B1 / | tail -1) {FULL}; dd if=/dev/zero of={FULL}.more bs=64k 2>/dev/null; true"
        )
    elif kind == "person's create":
        return created(disk + "1", pid, draw)
    elif kind == "second raidplan":
        return second(case, pid)
    return {}


def runs(pid):
    """It runs, which is asked without taking away its exit code."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(") ")[2].split()[0] not in "ZX"
    except OSError:
        return False


def created(part, pid, draw):
    """A person makes an array of a partition, as soon as it is there, and writes to it; what is to be noted of it."""
    while not os.path.exists(part) and runs(pid):
        time.sleep(0.02)
    if not os.path.exists(part):
        return {"missed": f"no {part}"}
    done = subprocess.run(
        ["mdadm", "--create", MINE, "--run", "--level=1", "--bitmap=none", "--raid-devices=2", part, "missing"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip
    words = done.stdout + done.stderr
    note = {"won": done.returncode == 0, "create": words[-300:]}
    if not note["won"]:
        return {**note, "missed": f"no {part}"} if "No such file" in words else note
    return {**note, "mine": {"part": part, "uuid": uuid_of(part), **planted(array_on(part), draw, 0, 2**20)}}


def array_on(part):
    """The node of the array that holds a member; "" where none does."""
    holders = Path(f"/sys/class/block/{os.path.basename(part)}/holders")
    return next((f"/dev/{each.name}" for each in holders.glob("md*")), "")


def uuid_of(part):
    """The UUID in the superblock of a member."""
    found = re.search(r"^MD_UUID=(\S+)", out(f"mdadm --examine --export {part}"), re.MULTILINE)
    return found[1] if found else ""


def intact(mine):
    """What a person made is there: its superblock, the array, and what was written to it."""
    try:
        there = sector_of(array_on(mine["part"]), mine["place"]).hex()
    except OSError:
        return False
    return bool(mine["uuid"]) and (uuid_of(mine["part"]), there) == (mine["uuid"], mine["sector"])


def second(case, pid):
    """Another raidplan, which keeps its journal elsewhere; what is to be noted of it."""
    events = EVENTS + ".second"
    Path(events).unlink(missing_ok=True)
    *argv, confirm, host = case["apply"]
    other = [*argv, "--state", "/var/tmp/other-state", "--events", events, confirm, host]
    done = subprocess.run(other, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if not runs(pid):
        return {"missed": "the first one had ended"}
    codes = [each["code"] for each in refusals(events)]
    return {"second": done.returncode, "second codes": codes, "second said": done.stderr[-400:]}


def restored(case, kind, note):
    """The disk is plugged in again, the root has room again."""
    if kind == "root full":
        for file in (FULL, FULL + ".more"):
            if os.path.exists(file):
                os.unlink(file)
    if kind == "disk pulled" and note.get("interrupted"):
        for host in glob.glob("/sys/class/scsi_host/host*/scan"):
            with open(host, "w") as scan:
                scan.write("- - -")
        sh("udevadm settle; sleep 2")


def planted(device, draw, begin, end):
    """Writes a sector of somebody else at a drawn place; where it is, and what was there before."""
    place, sector = draw.randrange(begin, end, 512), draw.randbytes(512)
    before = sector_of(device, place)
    write_sector(device, place, sector)
    return {"device": device, "place": place, "sector": sector.hex(), "before": before.hex()}


def take_back(plant, device):
    """Writes the sector that was there before; the device may have another name by now."""
    write_sector(device, plant["place"], bytes.fromhex(plant["before"]))


def sector_of(device, place):
    """From the device itself, not from the kernel's cache."""
    with open(device, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return os.pread(file.fileno(), 512, place)


def write_sector(device, place, sector):
    with open(device, "r+b", buffering=0) as file:
        os.pwrite(file.fileno(), sector, place)
        os.fsync(file.fileno())


def plants_midway(case, note, draw):
    """Plants a sector on a device on which something is to be made, and no record says that it was: of those whose maker was killed
    in its work, else of all; between the ends of a disk that was wiped nobody could tell it from old bytes. Whether there is such a device.
    """
    begun, done = steps(case)
    there = [
        (step, target, device)
        for step, target in case["targets"]
        if step not in done
        and (device := target_node(case, target, done))
        and 0 < size_of(device) <= SMALL
        and not read_only(device)
    ]
    cut = [each for each in there if each[0] in begun]
    if there := cut or [
        each for each in there if not (case["consents"] and was_cleared(each[1], {*begun, *done}))
    ]:
        step, _, device = draw.choice(sorted(there))
        note["plant"] = {"step": step, **planted(device, draw, 0, size_of(device))}
    return bool(there)


def was_cleared(target, seen):
    """The run has cleared the disk of a partition; of what stands on several it may have cleared any."""
    disk = target.partition(".")[0]
    return not re.fullmatch(r"k\d", disk) or f"teardown.{disk}.zero" in seen


def target_node(case, target, done):
    """The node of a device as the layout names it, `k1.b`, `main` or `kv.one`; "" where there is none of ours yet."""
    first, _, second = target.partition(".")
    device = f"/dev/{first}/{second}" if second else f"/dev/md/{first}"
    if re.fullmatch(r"k\d", first):
        device = f"{node(case, int(first[1:]))}{'ab'.index(second) + 1}"
        if f"disk.{first}.partition" not in done:
            return ""
    return device if os.path.exists(device) else ""


def size_of(device):
    with open(device, "rb") as file:
        return file.seek(0, os.SEEK_END)


def read_only(device):
    """As an array is until the apply that made it goes on."""
    return (
        Path(f"/sys/class/block/{os.path.basename(os.path.realpath(device))}/ro").read_text().strip() != "0"
    )


def storming(stop):
    """Round after round, each in half of the time until the next. On an emulated processor faster ones lengthen udev's queue
    without end, and systemd does not come to its jobs (mounts) before it has taken in the last event.
    """
    while not stop.is_set():
        began = time.monotonic()
        for action in ("change", "add"):
            sh(f"udevadm trigger --settle --subsystem-match=block --action={action}")
        stop.wait(time.monotonic() - began)


def drain(master):
    os.set_blocking(master, False)
    with contextlib.suppress(OSError):
        os.read(master, 65536)


def journal(case):
    """The kind and the step of each record."""
    found = []
    try:
        with open(journal_of(case)) as file:
            for line in file:
                record = json.loads(line)
                found.append((record["kind"], record.get("step", "")))
    except (OSError, ValueError):
        pass
    return found


def steps(case):
    """Those that are begun and not ended, and those that ended."""
    begun, done = {}, set()
    for kind, step in journal(case):
        if kind == "intent":
            begun[step] = None
            done.discard(step)
        elif step:
            begun.pop(step, None)
            if kind == "ended":
                done.add(step)
    return begun, done


def open_steps(case):
    return sorted(steps(case)[0])[:6]


def closed(case):
    """The last run came to its end."""
    try:
        with open(journal_of(case)) as file:
            return json.loads(file.read().splitlines()[-1])["kind"] == "close"
    except (OSError, ValueError, IndexError):
        return False


def over(case):
    """The run that began after `first` records came to its end, with or without success; an earlier one closed the journal too."""
    return os.path.exists(OVER) or (progress(case) > case["first"] and closed(case))


def reached(case):
    """The intent of the step is written, or so many records are."""
    if case["step"]:
        return ("intent", case["step"]) in journal(case)[case["first"] :]
    return progress(case) >= case["wanted"]


def tell(byte):
    with open(CONSOLE, "wb", buffering=0) as console:
        console.write(byte)


def announces(case):
    """Tells the host when it is reached; the journal is read only as it grows."""
    size = -1
    while not os.path.exists(OVER):
        with contextlib.suppress(OSError):
            now = os.stat(journal_of(case)).st_size
            if now != size and reached(case):
                tell(REACHED)
                return
            size = now
        time.sleep(0.005)


PROGRAMS = "mdadm|lvchange|vgchange|cryptsetup|mount|umount|swapoff|echo"


def named(words):
    """The commands that refusals name, in their order: all that stand in parentheses, one after the other; of several ways, which
    stand in backticks, the first.
    """
    found = []
    for refusal in re.findall(r"refused: (.*)", words):
        by_hand = re.search(
            r"by hand, after a backup: (.*?)(?: \(before: |, and wait for|, once its device|, then grow its|; |$)",
            refusal,
        )
        if by_hand:
            found += by_hand[1].split(", then ")
        elif quoted := re.findall(rf"\(((?:{PROGRAMS}) [^`)]*)\)", refusal):
            found += quoted
        elif way := re.search(rf"`((?:{PROGRAMS}) [^`)]*)`", refusal):
            found.append(way[1])
        elif unquoted := re.search(r": ((?:umount|swapoff) /[^\s,;:]+)", refusal):
            found.append(unquoted[1])
    return [command for command in dict.fromkeys(found) if re.match(rf"(?:{PROGRAMS}) ", command)]


def by_a_person(case, kind, note, words):
    """The person whose thing it is takes it away, or does what the refusal says of a member that was away: the commands, if any."""
    if kind == "disk pulled":
        commands = named(words)
        for command in commands:  # each waits until what the one before began has ended
            sh(f"{command}; udevadm settle; sleep 1; timeout 60 mdadm --wait /dev/md/*")
        return commands
    if plant := note.get("plant"):
        take_back(plant, plant["device"])
        return ["the sector that was there"]
    if mine := note.get("mine"):
        take_back(mine, array_on(mine["part"]))
        sh(f"mdadm --stop {MINE}; mdadm --zero-superblock {mine['part']}; udevadm settle")
        return [f"mdadm --stop {MINE}"]
    return []


def overwritten(note):
    """What was planted, or made by a person, is there no more, though nobody has taken it away: in words."""
    plant, mine = note.get("plant"), note.get("mine")
    if plant and sector_of(plant["device"], plant["place"]).hex() != plant["sector"]:
        return "the planted sector was written over"
    return "the array of the person is not whole" if mine and not intact(mine) else ""


def brought_up():
    """As a boot does, for which a person can always decide: where a refusal named no command."""
    sh(
        "swapoff -a; umount /srv/*; vgchange -qq -an; mdadm --stop --scan; mdadm --assemble --scan; vgchange -qq -ay; udevadm settle"
    )
    sh("systemctl daemon-reload; fsck -A -M -R -a; mount -a")


def converge(case, note):
    """Applies until it is done; how, and what it said on the way."""
    kind, told, applies = case["adversity"]["kind"], [], 0
    person, waited, rounds, end = "", False, 3 if kind == "disk pulled" else 1, time.monotonic() + WAITS

    def ends(result, why):
        return {"result": result, "why": why, "applies": applies, "waited": waited}

    while True:
        code, words = apply(case)
        applies += 1
        if not person and (harm := overwritten(note)):
            return ends("lost", f"{harm}: {code}: {words[-900:]}")
        if code == 0:
            again, more = apply(case)
            if again == 0 and "nothing to do" in more:
                return ends("needed a person" if person else "converged", person)
            return ends("stuck", f"the apply after the last one: {again} {more[-600:]}")
        told.append(f"{code}: {words[-900:]}")
        if code == 4 and time.monotonic() < end and not person and (HELD in words or waits(words)):
            waited = True
            time.sleep(3)
            continue
        if code == 3 and applies < 4:
            continue
        if code == 4 and rounds:
            person, rounds = person or words[-1500:], rounds - 1
            offered = OFFERED.search(words)
            if not offered and not ways(words):
                return ends("stuck", f"refused without a way: {told[-1]}")
            done = by_a_person(case, kind, note, words)
            if not done and offered:
                return ends("stuck", f"offered to destroy what nobody has agreed to: {told[-1]}")
            if not done and kind == "disk pulled":
                brought_up()
            continue
        return ends("stuck", told[-1])


def waits(words):
    """What ends by itself: a rebuild, an array that mdadm starts half a minute after a boot."""
    return any(each in words for each in ENDS_BY_ITSELF)


def seen(case):
    """All that is compared; the checks come last, for they take everything out of use."""
    found = {"look": look(case), "decoys": decoys(), "files": files()}
    found["look"]["checks"] = checks(case)
    return found


def main():
    case = json.load(sys.stdin)
    outcome, began = {}, time.monotonic()
    match case["do"]:
        case "prepare":
            outcome["said"] = sh(case["script"])
            outcome |= {"decoys": decoys(), "files": files()}
            sh(case["then"])
        case "reference":
            case["agreed"] = []
            if case["consents"]:  # the list of a run that nobody disturbed yet
                wait(start(case["apply"])[0])
                case["agreed"] = sorted(listed(case, said()))
            before = len(journal(case))
            code, words = apply(case)
            outcome |= {
                "code": code,
                "said": words[-1500:],
                "journal": journal(case)[before:],
                "agreed": case["agreed"],
            }
            outcome["again"] = apply(case)[0]
            outcome |= seen(case)
        case "seen":
            outcome |= seen(case)
        case "look":
            outcome |= {"decoys": decoys(), "files": files(), "records": progress(case)}
        case "stands":
            outcome |= {"open": open_steps(case), "closed": over(case)}
        case "begin":  # the power goes meanwhile
            argv = command(case)
            threading.Thread(target=announces, args=(case,), daemon=True).start()
            outcome["code"] = wait(start(argv)[0])
            Path(OVER).touch()
            tell(ENDED)
            time.sleep(600)
        case _:
            note = interrupt(case) if case["do"] == "case" else {}
            if case["do"] == "goes on":
                note = again(case, random.Random(case["adversity"]["draw"]))
            outcome |= {"note": note, **converge(case, note)}
            if case["adversity"]["kind"] == "disk pulled":  # apply does not wait for a rebuild
                sh("; ".join(f"timeout 120 mdadm --wait {link}" for link in own_arrays()))
            outcome |= seen(case)
    outcome["took"] = time.monotonic() - began
    json.dump(outcome, sys.stdout)


if __name__ == "__main__":
    main()
