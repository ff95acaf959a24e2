"""The one door to processes: no shell, a fixed environment, no terminal.

Output goes to anonymous memory files instead of pipes, input comes from one: a program that writes to a
disk then lives on unharmed when this process is killed or its connection is lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from threading import Event, Timer
from typing import TYPE_CHECKING, Any, BinaryIO

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.facts.failure import Failure, failure

if TYPE_CHECKING:
    import sh

SEARCH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
ENVIRONMENT = {
    "LC_ALL": "C", "PATH": ":".join(SEARCH), "HOME": "/root", "LVM_SUPPRESS_FD_WARNINGS": "1", "SYSTEMD_BUS_TIMEOUT": "600",
}  # fmt: skip
"""All that a program gets to see; MDADM_*, LVM_* or a language of ours would change what it does.

systemctl waits ten minutes for systemd, not 25 seconds (sd_bus_set_method_call_timeout(3)): that is busy while many arrays appear.
"""

NOT_FOUND = 127
TIMED_OUT = 124
"""The exit code of timeout(1) and the shell for it."""

TAIL = 2000
"""Characters of standard error kept in an exception."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a program; bytes that are not UTF-8 stand as U+FFFD.

    `returncode` is negative for the signal that ended it, 127 without the program, 124 at the time limit.
    """

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        """The program returned 0."""
        return self.returncode == 0

    @property
    def said(self) -> str:
        """The end of its output."""
        return (self.stderr.strip() or self.stdout.strip())[-TAIL:]

    @property
    def failure(self) -> Failure:
        """Why it failed."""
        return failure("program", self.argv[0], code=self.returncode, said=self.said)


class CommandFailed(Exception):
    """A program failed that had to succeed; `stderr` is the end of its complaint."""

    def __init__(self, argv: Sequence[str], returncode: int, stderr: str) -> None:
        self.argv, self.returncode, self.stderr = tuple(argv), returncode, stderr.strip()[-TAIL:]
        words = f": {self.stderr}" if self.stderr else ""
        super().__init__(f"{' '.join(self.argv)} returned {returncode}{words}")


def run(
    argv: Sequence[str],
    stdin: str | bytes = "",
    *,
    timeout: float | None = None,
    check: bool = False,
    keep: Sequence[int] = (),
    clock: int = 0,
) -> Result:
    """Run a program to its end, in a session of its own, where neither ^C nor a hang-up reaches it.

    `keep` are open files that it holds as well: a lock then lasts as long as the program, whatever becomes of us.
    `clock` (seconds since 1970) is the time of day for the makers that `clock_variable` knows, so that another run writes the same.
    `timeout` (seconds) kills it: for commands that only read, never for one that writes to a disk.
    Raises CommandFailed with `check` for any return code but 0. Safe from several threads at once.
    """
    result = _run(find_tool(argv[0]), argv, stdin, timeout, keep, clock)
    if check and not result.ok:
        raise CommandFailed(result.argv, result.returncode, result.stderr)
    return result


@contextmanager
def filtered(argv: Sequence[str], source: BinaryIO) -> Iterator[BufferedReader]:
    """The output of a program that only reads, from the present place of a file on, while the program runs.

    Raises CommandFailed at the end if it did not return 0, whatever the reader thought of the part that came.
    """
    program = find_tool(argv[0])
    if not program:
        raise CommandFailed(argv, NOT_FOUND, f"{argv[0]} is not installed")
    import sh

    outgoing, incoming = os.pipe2(os.O_CLOEXEC)
    with os.fdopen(outgoing, "rb") as made, _memory("stderr") as err:
        command = _command(
            program, _in=source, _out=incoming, _err=err, _env=ENVIRONMENT, _new_session=True, _truncate_exc=False,
            _bg=True, _bg_exc=False,
        )  # fmt: skip
        running = command(*argv[1:])
        os.close(incoming)
        failed = 0
        try:
            yield made
        finally:
            made.close()  # a reader that gave up early ends the program as well
            try:
                running.wait()
            except sh.ErrorReturnCode as error:
                failed = error.exit_code
        if failed:
            raise CommandFailed(argv, failed, _text(err))


def clock_variable(program: str, clock: int) -> dict[str, str]:
    """The variable by which mkfs is given the time of day; nothing where none is given, or it takes none."""
    makers = {each.package.programs[0]: each.clock for each in FILESYSTEMS.values() if each.clock}
    return {makers[program]: str(clock)} if clock and program in makers else {}


def find_tool(name: str) -> str:
    """The path of a program, or an empty text; a name with a slash is taken as it is."""
    if "/" in name:
        return name if _executable(Path(name)) else ""
    return next((str(Path(folder, name)) for folder in SEARCH if _executable(Path(folder, name))), "")


def no_program(name: str) -> str:
    """The path that has the name of a program and is none: a folder, a file that is not executable; or an empty text."""
    paths = (Path(folder, name) for folder in SEARCH)
    return next((str(path) for path in paths if path.exists() and not _executable(path)), "")


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _run(
    program: str,
    argv: Sequence[str],
    stdin: str | bytes,
    timeout: float | None,
    keep: Sequence[int],
    clock: int,
) -> Result:
    if not program:
        return Result(tuple(argv), NOT_FOUND, "", f"{argv[0]} is not installed")
    import sh

    with _memory("stdin", stdin) as given, _memory("stdout") as out, _memory("stderr") as err:
        command = _command(
            program,
            _in=given,
            _out=out,
            _err=err,
            _env=ENVIRONMENT | clock_variable(argv[0], clock),
            _pass_fds=set(keep),
            _new_session=True,
            _tty_out=False,
            _truncate_exc=False,
        )
        try:
            code = 0
            if timeout is None:
                command(*argv[1:])
            elif _wait(command(*argv[1:], _bg=True, _bg_exc=False), timeout):
                code = TIMED_OUT
        except sh.ErrorReturnCode as error:
            code = error.exit_code
        return Result(tuple(argv), code, _text(out), _text(err))


def _command(program: str, **options: Any) -> sh.Command[sh.RunningCommand]:
    """A program whose call returns the finished command: sh from 2.0 on has to be asked for that, 1.14 returns nothing else."""
    import sh  # takes 70 ms, so only where something runs

    if not str(sh.__version__).startswith(
        "1."
    ):  # from 2.0 on the version is unknown where pip has not installed it
        options["_return_cmd"] = True
    command: Any = sh.Command(program)
    return command.bake(**options)  # type: ignore[no-any-return]


def _wait(running: sh.RunningCommand, timeout: float) -> bool:
    """Wait; at the time limit kill it with everything it started. sh's own limit makes each call last 0.1 s."""
    import sh

    late = Event()

    def kill() -> None:
        late.set()
        with suppress(ProcessLookupError):
            running.kill_group()

    timer = Timer(timeout, kill)
    timer.start()
    try:
        running.wait()
    except sh.SignalException:
        if not late.is_set():
            raise
    finally:
        timer.cancel()
    return late.is_set()


def _memory(name: str, content: str | bytes = "") -> BinaryIO:
    """A file without a place on any disk, read from its start."""
    file = os.fdopen(os.memfd_create(name), "w+b", buffering=0)
    # The kernel may take large texts in parts; nothing is written to a disk, so a loop is all it needs.
    rest = content.encode() if isinstance(content, str) else content
    while rest:
        rest = rest[file.write(rest) or 0 :]
    file.seek(0)
    return file


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
