"""The one door to processes."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from raidplan.facts.run import NOT_FOUND, TIMED_OUT, CommandFailed, Result, find_tool, run

pytestmark = pytest.mark.slow


def test_result():
    assert run(["sh", "-c", "echo out; echo err >&2; exit 3"]) == Result(
        ("sh", "-c", "echo out; echo err >&2; exit 3"), 3, "out\n", "err\n"
    )


def test_no_shell_and_no_options_made_of_arguments():
    words = ["a*b", "$HOME", "c; exit 1", "", "-n", "é"]
    assert run(["printf", "%s\n", *words]).stdout == "".join(f"{word}\n" for word in words)


def test_environment_is_fixed(monkeypatch):
    monkeypatch.setenv("MDADM_NO_SYSTEMCTL", "1")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    names = {line.partition("=")[0] for line in run(["env"]).stdout.splitlines()}
    assert names == {"LC_ALL", "PATH", "HOME", "LVM_SUPPRESS_FD_WARNINGS", "SYSTEMD_BUS_TIMEOUT"}


def test_input_and_none():
    assert run(["cat"], "one\ntwo").stdout == "one\ntwo"
    assert run(["cat"]).stdout == ""
    assert run(["wc", "-c"], "x" * 3_000_000).stdout.strip() == "3000000"


def test_no_terminal_and_a_session_of_its_own():
    assert run(["sh", "-c", "test -t 0 || test -t 1 || test -t 2"]).returncode == 1
    assert run(["sh", "-c", "cut -d' ' -f6 /proc/self/stat"]).stdout.strip() != str(os.getsid(0))


def test_bytes_that_are_not_text():
    assert run(["printf", "a\\377b"]).stdout == "a\ufffdb"


def test_missing_program():
    found = run(["no-such-program", "--help"])
    assert (found.returncode, found.stderr) == (NOT_FOUND, "no-such-program is not installed")
    assert find_tool("no-such-program") == ""
    assert find_tool("/no/such/program") == ""
    assert find_tool("sh") in ("/bin/sh", "/usr/bin/sh")


def test_check():
    assert run(["true"], check=True).ok
    with pytest.raises(CommandFailed) as failed:
        run(["sh", "-c", "echo 'device busy' >&2; exit 4"], check=True)
    assert (failed.value.returncode, failed.value.stderr) == (4, "device busy")
    assert str(failed.value).endswith("returned 4: device busy")


def test_signal_is_negative():
    assert run(["sh", "-c", "kill -9 $$"]).returncode == -9
    assert run(["sh", "-c", "kill -9 $$"], timeout=5).returncode == -9


def test_timeout_ends_it_with_its_children():
    began = time.monotonic()
    found = run(["sh", "-c", "echo begun; sleep 30; true"], timeout=0.3)
    assert time.monotonic() - began < 5
    assert (found.returncode, found.stdout) == (TIMED_OUT, "begun\n")


def test_timeout_costs_nothing():
    """A program that ends is not waited for by steps: beside one without a limit it takes no longer, but for the noise of a machine."""

    def seconds(timeout: float | None) -> float:
        began = time.monotonic()
        assert run(["true"], timeout=timeout).ok
        return time.monotonic() - began

    pairs = [(seconds(5), seconds(None)) for _ in range(20)]
    assert min(limited for limited, _ in pairs) < 2 * min(free for _, free in pairs) + 0.05


def test_from_several_threads_at_once():
    def ask(number: int) -> bool:
        return (
            run(["sh", "-c", f"cat; echo {number}"], f"in {number}\n" * 100).stdout
            == f"in {number}\n" * 100 + f"{number}\n"
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(60)))


def test_no_open_files_are_left():
    run(["true"])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        run(["cat"], "x", timeout=5)
    assert len(os.listdir("/proc/self/fd")) == before
