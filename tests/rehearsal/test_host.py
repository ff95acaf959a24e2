"""Bad circumstances of a rehearsal: what the host lacks is said at once; whatever ends it, nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.cli import INTERRUPTED, UNABLE, run
from raidplan.cli.stopping import stop_on_signals
from raidplan.review.pipeline import load
from raidplan.twin.rehearsal import host
from raidplan.twin.rehearsal.host import EMULATION, Lacking, accelerator, check_host, image_in
from raidplan.twin.rehearsal.subject import Subject, subject_of
from raidplan.twin.server.digests import DIGESTS, keep_digests
from raidplan.twin.server.image import FILES

pytestmark = pytest.mark.in_turn(20)

PAIR = "examples/raid1-pair.yaml"


@pytest.fixture
def subject() -> Subject:
    topology = load(PAIR).topology
    assert topology is not None
    return subject_of(topology)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program, **_: program)


def test_without_qemu_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = {"qemu-system-x86_64", "mmdebstrap"}
    monkeypatch.setattr(shutil, "which", lambda program, **_: None if program in missing else program)
    assert run(["rehearse", PAIR]) == UNABLE
    assert "apt-get install qemu-system-x86 mmdebstrap" in capsys.readouterr().err


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("user", [0, 1000])
def test_who_is_not_root_needs_a_range_of_users_to_make_an_image(
    user: int, subject: Subject, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda program, **_: None if program == "newuidmap" else program)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    check_host(subject, image, None)
    with pytest.raises(Lacking, match="apt-get install uidmap") if user else contextlib.nullcontext():
        check_host(subject, None, None)


@pytest.mark.usefixtures("installed")
def test_without_the_firmware_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = load("examples/root-raid1-uefi.yaml").topology
    assert topology is not None
    monkeypatch.setattr(host, "OVMF", {"uefi": (Path("/no/code.fd"), Path("/no/variables.fd"))})
    with pytest.raises(Lacking, match="apt-get install ovmf"):
        check_host(subject_of(topology), None, None)


@pytest.mark.usefixtures("installed")
def test_without_memory_or_room_nothing_is_started(
    subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_host(subject, None, tmp_path / "not" / "yet")
    with pytest.raises(Lacking, match="smaller stripe_cache_size"):
        check_host(replace(subject, memory_mib=1 << 40), None, None)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
    with pytest.raises(Lacking, match="1 MiB are free there"):
        check_host(subject, None, None)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["root.img", "known_hosts", "initrd.img", "apply-2.jsonl", "console.log"])
@pytest.mark.parametrize("option", ["--keep", "--logs"])
def test_nothing_that_lies_in_a_folder_is_written_over(
    option: str, name: str, subject: Subject, tmp_path: Path
) -> None:
    """ssh's `known_hosts` in ~/.ssh, and what /initrd.img is a link to, would be gone."""
    named = (tmp_path, None) if option == "--keep" else (None, tmp_path)
    check_host(subject, None, *named)
    (tmp_path / name).touch()
    with pytest.raises(Lacking, match=f"{option} {tmp_path}: "):
        check_host(subject, None, *named)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("place", ["/proc/x", "x" * 300, "/" + "x/" * 3000], ids=["proc", "name", "path"])
@pytest.mark.parametrize("option", ["--keep", "--logs"])
def test_a_place_for_no_folder_is_said_and_is_no_traceback(option: str, place: str, subject: Subject) -> None:
    named = (Path(place), None) if option == "--keep" else (None, Path(place))
    with pytest.raises(Lacking, match=f"{option} {place[:50]}"):
        check_host(subject, None, *named)


def test_an_image_made_elsewhere_is_whole_and_its_key_private(
    subject: Subject, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert image_in(image).root == image / "root.img"
    (image / "id_ed25519").chmod(0o644)
    with pytest.raises(Lacking, match="chmod 600"):
        image_in(image)
    (image / "vmlinuz").unlink()
    with pytest.raises(Lacking, match="missing: vmlinuz"):
        image_in(image)
    monkeypatch.setattr(shutil, "which", lambda program, **_: None if program == "mmdebstrap" else program)
    check_host(subject, image, None)


@pytest.mark.parametrize("name", FILES)
def test_an_image_made_elsewhere_that_was_cut_off_or_changed_is_refused(image: Path, name: str) -> None:
    keep_digests(image, FILES)
    assert image_in(image).directory == image
    whole = (image / name).read_bytes()
    for content in (whole[:-1], b"X" + whole[1:], b""):
        (image / name).write_bytes(content)
        with pytest.raises(Lacking, match=f"--image {image}: .*: {name};"):
            image_in(image)
    (image / DIGESTS).unlink()
    with pytest.raises(Lacking, match=f": {name};"):
        image_in(image)
    (image / name).write_bytes(b"X")
    assert image_in(image).directory == image, "with nothing to compare it with"
    (image / DIGESTS).write_text("{")
    with pytest.raises(Lacking, match=DIGESTS):
        image_in(image)


@pytest.mark.parametrize(
    ("script", "found"),
    [("print('kvm')", "kvm"), ("print('qemu')", EMULATION), ("import time; time.sleep(60)", EMULATION), (None, EMULATION)],
    ids=["kvm", "none", "hangs", "no probe"],
)  # fmt: skip
def test_kvm_is_used_where_the_probe_says_so_within_its_limit(
    script: str | None, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script is not None:
        (tmp_path / "vagrant").mkdir()
        (tmp_path / "vagrant" / "accelerator.py").write_text(script)
    monkeypatch.setattr(host, "files", lambda _: tmp_path)
    monkeypatch.setattr(host, "PROBE_SECONDS", 1 if found == EMULATION else 30)
    assert accelerator() == found


BUILDER = """\
#!/bin/sh
# Stands in for mmdebstrap: mounts below the folder that it makes, and leaves children that close their outputs and hear nothing.
for word; do case $word in */root) folder=$word ;; esac; done
mkdir -p "$folder/proc"
mount -t tmpfs FAKE-MOUNT "$folder/proc" && touch "$folder/proc/mounted"
(trap '' INT TERM HUP; exec setsid tail --follow=name --retry FOLDER/never >/dev/null 2>&1) &
(trap '' INT TERM HUP; exec tail --follow=name --retry FOLDER/never) &
touch FOLDER/begun
wait
"""


def _below(folder: Path) -> list[str]:
    """The command lines of all processes that name the folder."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"{folder}/never".encode() in file.read_bytes():
                found.append(file.read_bytes().decode())
    return found


@pytest.mark.root
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_build_that_is_interrupted_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    if not shutil.which("qemu-system-x86_64") or not shutil.which("qemu-img"):
        pytest.skip("QEMU is not installed")
    programs, cache = tmp_path / "bin", tmp_path / "cache" / "raidplan" / "twin"
    programs.mkdir()
    cache.mkdir(parents=True)
    builder = programs / "mmdebstrap"
    builder.write_text(BUILDER.replace("FOLDER", str(tmp_path)))
    builder.chmod(0o755)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    (cache / "accelerator").write_text(f"{boot} qemu\n")
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "XDG_CACHE_HOME": f"{tmp_path}/cache", "TMPDIR": str(tmp_path)}  # fmt: skip
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "raidplan", "rehearse", PAIR], env=environment, stderr=log, stdout=log,
            start_new_session=True, preexec_fn=_hear_interrupts,
        )  # fmt: skip
    _until(lambda: len(_below(tmp_path)) == 2 or process.poll() is not None)
    assert process.poll() is None, (tmp_path / "log").read_text()
    os.killpg(process.pid, number)  # as a terminal does, to all that is in the foreground
    code = process.wait(60)
    _until(lambda: not _below(tmp_path))
    assert str(tmp_path) not in Path("/proc/mounts").read_text()
    if number != signal.SIGKILL:
        assert code == INTERRUPTED and "interrupted" in (tmp_path / "log").read_text()
        assert not list(cache.glob("*.making-*"))


class Begun:
    """A rehearsal in a process of its own, with a program in the place of QEMU that never answers."""

    def __init__(self, folder: Path, image: Path) -> None:
        for name in ("bin", "tmp", "cache/raidplan/twin"):
            (folder / name).mkdir(parents=True)
        qemu = folder / "bin" / "qemu-system-x86_64"
        qemu.write_text(f"#!/bin/sh\n[ $1 != --version ] || exit 0\necho $$ >{folder}/pid\nexec sleep 600\n")
        qemu.chmod(0o755)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        (folder / "cache/raidplan/twin/accelerator").write_text(f"{boot} qemu\n")
        self.temporary, self.log = folder / "tmp", folder / "log"
        environment = {
            **os.environ,
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "TMPDIR": str(self.temporary),
            "XDG_CACHE_HOME": f"{folder}/cache",
        }
        argv = [sys.executable, "-m", "raidplan", "rehearse", PAIR, "--image", str(image)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(  # as from a terminal: what a shell starts with & ignores ^C
                argv, env=environment, stderr=log, stdout=log, preexec_fn=_hear_interrupts
            )
        pid = folder / "pid"
        _until(lambda: (pid.exists() and pid.read_text().endswith("\n")) or self.process.poll() is not None)
        assert self.process.poll() is None, self.log.read_text()
        self.qemu = int(pid.read_text())

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@pytest.fixture
def begin(tmp_path: Path, image: Path) -> Callable[[str], Begun]:
    if not shutil.which("qemu-system-x86_64") or not shutil.which("qemu-img"):
        pytest.skip("QEMU is not installed")
    return lambda name: Begun(tmp_path / name, image)


def test_a_probe_that_is_asked_to_end_ends_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ended by us, it would leave the QEMU that it has started."""
    (tmp_path / "vagrant").mkdir()
    script = f"import os, signal, time\nos.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(1)\nopen('{tmp_path}/ended', 'w')"
    (tmp_path / "vagrant" / "accelerator.py").write_text(script)
    monkeypatch.setattr(host, "files", lambda _: tmp_path)
    with pytest.raises(KeyboardInterrupt), stop_on_signals():
        accelerator()
    assert (tmp_path / "ended").exists()


LEFT = """\
import os, signal, sys, tempfile
from pathlib import Path
from raidplan.cli.stopping import stop_on_signals
from raidplan.twin.server import Disk, Image, Twin, machine
made = tempfile.mkdtemp
def interrupted(*words, **options):
    folder = made(*words, **options)
    if sys.argv[1] == "right after a folder was made":
        os.kill(os.getpid(), signal.SIGTERM)
    return folder
tempfile.mkdtemp = interrupted
machine.lay_out = lambda *_: None
Twin._boot = lambda *_: None
with stop_on_signals():
    twin = Twin.start([Disk("a", 4096)], image=Image(Path("/"), Path("/key")))
    os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.parametrize("moment", ["right after a folder was made", "right after the start"])
def test_between_two_lines_of_a_start_no_folder_is_left_either(moment: str, tmp_path: Path) -> None:
    words = [sys.executable, "-c", LEFT, moment]
    done = subprocess.run(words, env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True)
    assert "KeyboardInterrupt" in done.stderr and not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_qemu_that_is_just_being_started_does_not_stay(number: signal.Signals, tmp_path: Path) -> None:
    """The signal comes while Python waits for the program to begin, and knows no process yet."""
    script = STARTED.replace("NUMBER", str(int(number)))
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True)
    assert "KeyboardInterrupt" in done.stderr, done.stderr
    _until(lambda: not _below(tmp_path))


STARTED = """\
import os, signal, subprocess, sys
from pathlib import Path
from raidplan.cli.stopping import stop_on_signals
from raidplan.twin.server import boot
from raidplan.twin.server.hardware import VirtualMachine
from raidplan.twin.server.image import Image
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job of a shell's background ignores it
folder = Path(sys.argv[1])
begin = subprocess.Popen._execute_child
def interrupted(self, *words):
    begin(self, *words)
    os.kill(os.getpid(), NUMBER)
subprocess.Popen._execute_child = interrupted
boot.qemu_arguments = lambda *_: ["tail", "--follow=name", "--retry", f"{folder}/never"]
image = Image(folder, folder / "key")
(folder / "host_key.pub").write_text("ssh-ed25519 AAAA")
shell = boot.Shell(folder / "ssh_config", 0, folder / "ssh")
with stop_on_signals():
    boot.power_on(VirtualMachine(()), None, image, shell, folder / "log", 0.0)
"""


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in "ZX"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_it_no_process_stays_and_no_file(
    begin: Callable[[str], Begun], number: signal.Signals
) -> None:
    one, other = begin("one"), begin("other")  # side by side
    assert _runs(one.qemu) and list(one.temporary.iterdir())
    code = one.end(number)
    _until(lambda: not _runs(one.qemu))
    assert _runs(other.qemu), "each has its own"
    if number != signal.SIGKILL:  # which leaves nobody to remove files
        assert code == INTERRUPTED and not list(one.temporary.iterdir())
    assert other.end(signal.SIGINT) == INTERRUPTED and not list(other.temporary.iterdir())
    _until(lambda: not _runs(other.qemu))
