"""The serial console of a twin: questions for a passphrase, the socket by which they are answered, and the terminal of apply."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from raidplan.twin.rehearsal import typist
from raidplan.twin.server.console import PASSPHRASE, Console

QUESTIONS = (
    "cryptsetup: Waiting for encrypted source device...\r\nPlease unlock disk crypt: ",
    "\U0001f510 Please enter passphrase for disk data (crypt): (press TAB for no echo) ",
)
ASKING = """
import os, sys, termios
terminal = os.open("/dev/tty", os.O_RDWR)
for question in sys.argv[1:]:
    termios.tcflush(terminal, termios.TCIFLUSH)
    os.write(terminal, question.encode())
    print(os.read(terminal, 100).decode(), end="", flush=True)
print("at the end", file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_of_a_boot_is_answered_once(question: str, tmp_path: Path) -> None:
    log = tmp_path / "console.log"
    log.write_text("of the boot before: Please unlock disk crypt: ")
    with socket.socket(socket.AF_UNIX) as terminal:
        with closing(Console(log, tmp_path / "console")) as console, log.open("a") as shown:
            console.answer()
            shown.write(question)
            shown.flush()
            console.answer()  # nobody listens yet
            terminal.bind(str(tmp_path / "console"))
            terminal.listen()
            console.answer()
            line, _ = terminal.accept()
            line.sendall(b"what the guest shows " * 1000)
            console.answer()
            shown.write(f"\r\ncryptsetup failed, bad password or options?\r\n{question}")
            shown.flush()
            console.answer()
            assert console.shown.count(b"Please") == 2
        with line:
            assert line.recv(1000) == f"{PASSPHRASE}\n".encode() * 2


def test_the_typist_answers_at_a_terminal_and_changes_nothing_else(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "passphrase"
    kept.write_text("correct horse")
    program = Path(typist.__file__).read_text().replace('"/root/passphrase"', repr(str(kept)))
    asked = ["New passphrase for crypt (at least 15 characters): ", "The same passphrase for crypt again: "]
    done = subprocess.run([sys.executable, "-I", "-c", program, sys.executable, "-c", ASKING, *asked], capture_output=True, text=True, timeout=60)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (3, "correct horse\n" * 2, "at the end\n")


def test_a_command_that_asks_for_nothing_runs_as_without_the_typist() -> None:
    program = Path(typist.__file__).read_text()
    done = subprocess.run([sys.executable, "-I", "-c", program, "sh", "-c", "echo out; echo err >&2; exit 4"], capture_output=True, text=True, timeout=60)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (4, "out\n", "err\n")
