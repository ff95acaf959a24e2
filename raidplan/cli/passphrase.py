"""Passphrases, asked for on the terminal: they go to cryptsetup's standard input, and nowhere else."""

from __future__ import annotations

import os
import termios
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from raidplan.apply.refusal import Refusal, Refused, refusal
from raidplan.base.groups import by_key
from raidplan.base.identity import Identity
from raidplan.cli.output import talk
from raidplan.facts.run import run
from raidplan.plan.step import Plan, Run, Step
from raidplan.plan.validity import makes
from raidplan.render.refusals import refusal_text

LEAST = 15
"""Characters (NIST SP 800-63B-4, 3.1.1.2: of a password that is not one factor of several)."""
MOST = 512
"""Bytes that cryptsetup reads from a terminal, as it does at boot (cryptsetup(8))."""
TRIES = 3
TERMINAL = "/dev/tty"

Ask = Callable[[str], bytes]
"""Asks a question on the terminal without showing the answer. Raises OSError where there is no terminal."""


class NoPassphrase(Refused):
    """A passphrase was not given. Nothing was written."""


def ask(question: str) -> bytes:
    """An answer typed on the terminal, not shown. Raises OSError where there is no terminal."""
    terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        with _not_shown(terminal):
            os.write(terminal, question.encode())
            answer = bytearray()
            while not answer.endswith(b"\n") and (more := os.read(terminal, 1)):
                answer += more
        os.write(terminal, b"\n")
    finally:
        os.close(terminal)
    return bytes(answer).removesuffix(b"\n")


@contextmanager
def _not_shown(terminal: int) -> Iterator[None]:
    before = termios.tcgetattr(terminal)
    silent = termios.tcgetattr(terminal)
    silent[3] &= ~termios.ECHO
    try:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, silent)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)


def passphrases(plan: Plan, nodes: Mapping[str, str], ask: Ask = ask) -> dict[str, bytes]:
    """The passphrase of each encryption that the plan makes or opens. Raises NoPassphrase.

    `nodes` are the disks' by layout name. That of a header which is there already is tried on it.
    """
    runs = ((step.action, step) for step in plan.steps if isinstance(step.action, Run))
    steps = by_key((action.key, step) for action, step in runs if action.key)
    found = {}
    for name, of_it in steps.items():
        made = next((step for step in of_it if makes(step)), None)
        try:
            found[name] = _new(name, made, ask) if made else _passphrase_of_header(name, of_it[0], nodes, ask)
        except OSError:
            at = of_it[0]
            raise NoPassphrase(refusal("terminal-missing", place=at.because, line=at.line)) from None
    return found


def _new(name: str, step: Step, ask: Ask) -> bytes:
    """A passphrase typed twice."""
    problem = None
    for _ in range(TRIES):
        first = ask(f"New passphrase for {name} (at least {LEAST} characters): ")
        problem = unfit(first, step)
        if problem is None and ask(f"The same passphrase for {name} again: ") == first:
            return first
        talk(refusal_text(problem) if problem else "the two passphrases differ")
    differs = refusal("passphrase-differs", place=step.because, line=step.line, times=TRIES)
    raise NoPassphrase(problem or differs)


def unfit(passphrase: bytes, step: Step) -> Refusal | None:
    """The rule that a new passphrase breaks; None if none."""
    length = len(passphrase.decode(errors="replace"))
    if length < LEAST:
        return refusal(
            "passphrase-unfit", "short", place=step.because, line=step.line, least=LEAST, count=length
        )
    if len(passphrase) > MOST:
        return refusal(
            "passphrase-unfit", "long", place=step.because, line=step.line, most=MOST, count=len(passphrase)
        )
    return None


def ask_once(name: str) -> bytes:
    """The passphrase of an encryption, not tried. Raises NoPassphrase without a terminal."""
    try:
        return ask(f"Passphrase for {name}: ")
    except OSError:
        raise NoPassphrase(refusal("terminal-missing", place=name)) from None


def _passphrase_of_header(name: str, step: Step, nodes: Mapping[str, str], ask: Ask) -> bytes:
    """The passphrase of a header that is there."""
    for _ in range(TRIES):
        answer = ask(f"Passphrase for {name}: ")
        if opens(step, nodes, answer):
            return answer
        talk(f"that passphrase opens no key slot of {name}")
    raise NoPassphrase(refusal("passphrase-wrong", place=step.because, line=step.line, times=TRIES))


def opens(step: Step, nodes: Mapping[str, str], key: bytes = b"") -> bool:
    """Whether the key of a step that opens an encryption fits one of the header's key slots."""
    assert isinstance(step.action, Run)
    program, verb, *words, device, _ = step.action.argv
    node = nodes.get(Identity.read(device).disk, device)
    return run((program, verb, "--test-passphrase", *words, node), key).ok
