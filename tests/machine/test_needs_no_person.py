"""The tests in virtual servers fail where `apply` asks a person for what it should have told by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from raidplan.cli import OK, REFUSED
from raidplan.twin.server.ssh import Result
from tests.machine.consent import applied_over, giving_up_own, with_digest
from tests.machine.kills import KILLED, killed_to_the_end
from tests.machine.power import applied_after_the_boot

COMMAND = ["apply", "/root/a.yaml", "--confirm", "a"]
DIGEST = "sha256:" + "5" * 64
OWN = f"""raidplan: ext4, 160 MiB, on the array data, made by this layout
this plan destroys what this layout created itself: confirm with --destroy {DIGEST}
"""
OLD = f"this plan destroys what is listed above: --confirm is not enough; give --destroy {DIGEST}\n"
STARTS = "refused: data is there, but md has not started it: run it (mdadm --run /dev/md/data)\n"
USED = "refused: the array a is in use, mounted at /srv/one, and raidplan never clears a device in use: end that use first\n"


class Server:
    """A server in which `apply` is killed once, and refuses with these words until it is given the digest."""

    def __init__(self, *said: str) -> None:
        self.said, self.killed, self.commands = [*said], 0, list[Any]()

    def run(self, command: Any, **_: object) -> Result:
        if "apply" not in command:
            self.commands.append(command)
            return Result(OK, "mdadm\n" * self.killed, "")
        if "/root/killer.py" in " ".join(command) and not self.killed:
            self.killed = 1
            return Result(KILLED, "", "")
        if self.said and DIGEST not in command:
            return Result(REFUSED, "", self.said.pop(0))
        self.commands.append(command)
        return Result(OK, "", "")


RUNS: dict[str, Callable[[Any], object]] = {
    "kills": lambda twin: killed_to_the_end(twin, "a", COMMAND),
    "kills in a teardown": lambda twin: killed_to_the_end(twin, "a", COMMAND, wipes=True),
    "power": lambda twin: check(applied_after_the_boot(twin, ["raidplan", *COMMAND])),
    "GRUB": lambda twin: check(applied_over(twin, ["raidplan", *COMMAND])),
}


def check(done: Result) -> None:
    assert done.returncode == OK, done.stderr


@pytest.mark.parametrize("name", RUNS)
def test_what_the_layout_made_is_never_given_up(name: str) -> None:
    with pytest.raises(AssertionError, match=r"made by this layout|160 MiB"):
        RUNS[name](Server(OWN, OWN, OWN, OWN))


@pytest.mark.parametrize("name", ["kills", "power"])
def test_old_content_is_given_up_nowhere_but_on_disks_to_wipe(name: str) -> None:
    with pytest.raises(AssertionError, match="listed above"):
        RUNS[name](Server(OLD))


@pytest.mark.parametrize(
    ("name", "said"),
    [("kills in a teardown", [OLD]), ("power", [STARTS]), ("GRUB", [USED, OLD])],
    ids=["old content", "an array to start", "mounted, old content"],
)
def test_what_is_asked_rightly_is_done(name: str, said: list[str]) -> None:
    twin = Server(*said)
    RUNS[name](twin)
    done = " ".join(map(str, twin.commands))
    assert ("mdadm --run /dev/md/data" in done) == (said == [STARTS])
    assert (DIGEST in done) == (OLD in said)


class Listing(Server):
    """It lists one thing after the other before its question, and is killed once it has been answered."""

    def run(self, command: Any, **_: object) -> Result:
        if "apply" not in command or (DIGEST in command and self.killed == 1):
            return super().run(command)
        if DIGEST in command:
            self.killed = 1
            return Result(KILLED, "", "")
        things = "".join(f"  - {each}\n" for each in self.said.pop(0).split())
        return Result(REFUSED, f"2 things on this machine will be destroyed:\n{things}", OLD)


def test_nothing_is_given_up_in_a_teardown_but_what_was_on_the_first_list() -> None:
    killed_to_the_end(Listing("disk volume", "volume"), "a", COMMAND, wipes=True)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="bytes"):
        killed_to_the_end(Listing("disk volume", "volume bytes"), "a", COMMAND, wipes=True)  # type: ignore[arg-type]


def test_each_question_has_its_own_yes() -> None:
    assert giving_up_own(COMMAND, OWN)[-1] == with_digest(COMMAND, OLD)[-1] == DIGEST
    assert giving_up_own(COMMAND, OLD) == with_digest(COMMAND, OWN) == COMMAND
