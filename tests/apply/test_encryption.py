"""Encryption: killed at any effect, with keys that are wrong, too short, readable by others, or nowhere to be found."""

from __future__ import annotations

import errno
import os
import pty
import random
import signal
import subprocess
from argparse import Namespace
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from raidplan.apply.adopt import look
from raidplan.apply.configuration.initramfs import reasons_not_to_renew, unproven
from raidplan.apply.decide.cut_clearing import without_own_rest
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.past import Past, sectors_as
from raidplan.apply.journal.sectors import digest_of, is_compared, sectors_now
from raidplan.apply.preflight.configuration import keys_are_secret
from raidplan.apply.preflight.doubles import copied
from raidplan.apply.preflight.keys import OPENER, unfit, without_opener
from raidplan.apply.preflight.names import nodes_free
from raidplan.apply.preflight.preflight import preflight
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.refusal import Code, Refusal, refusal
from raidplan.base.figures import Figures
from raidplan.base.size import GIB, MIB
from raidplan.cli import OK, REFUSED, passphrase
from raidplan.cli import apply as apply_command
from raidplan.cli.adopt import _record
from raidplan.cli.passphrase import NoPassphrase, passphrases
from raidplan.facts import Machine
from raidplan.facts.block import Block, Names, read_at
from raidplan.facts.failure import failure
from raidplan.facts.initramfs import encryptions_opened
from raidplan.facts.luks import header_on, mapping_objects, parse_tables
from raidplan.facts.machine import BlockFact
from raidplan.facts.prove import Deviation
from raidplan.facts.run import Result, run
from raidplan.facts.written import reader_of
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.initramfs import INITRAMFS_TOOLS
from raidplan.plan.step import Plan, RenewInitramfs, Run, Step, Value, Zero
from raidplan.render.plan_markdown import plan_markdown
from raidplan.render.plan_shell import plan_shell
from raidplan.render.plan_text import render_plan
from raidplan.render.refusals import refusal_text
from raidplan.review import pipeline
from tests.absent import needs_root
from tests.apply.begun import foreign_on
from tests.apply.runs import apply, end, impatient, machine
from tests.apply.simulated import SECRET, Killed, Simulated
from tests.apply.stacks import Box, plan_of, redone
from tests.images import put
from tests.initramfs import boot, cpio
from tests.luks_images import UUID, formatted

pytestmark = pytest.mark.in_turn(20)

__all__ = ["impatient"]

LAYOUT = """\
version: 1
host: safe
hardware:
  disks: {{d<0-1>: {{serial: S-<1>, size: 100GB, partitions: {{swap: {{size: 4GiB}}, data: {{size: rest}}}}}}}}
arrays:
  data: {{level: raid1, members: [d<0-1>.data], initial_sync: assume-clean}}
encryption:
  crypt: {{device: data, key: {key}}}
  cryptswap: {{device: d0.swap, key: random}}
volume_groups:
  vg0: {{devices: [crypt], volumes: {{home: {{size: 100%free}}}}}}
filesystems:
  home: {{device: vg0.home, type: ext4, mount: /home}}
swap:
  swap0: {{device: cryptswap}}
"""
LONG = b"correct horse battery staple"
PASSPHRASE = b"long enough a passphrase"
"""The one of the images that `formatted` makes."""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(LAYOUT.format(key="ask"), tmp_path)


def step(plan: Plan, id: str) -> Step:
    return next(each for each in plan.steps if each.id == id)


def killed_and_resumed(plan: Plan, folder: Path, every: bool) -> int:
    """The number of kills after which a second apply ended as one that nobody disturbed."""
    whole = Simulated(plan, folder / "whole", machine(folder / "whole"))
    assert apply(plan, whole) == "done"
    assert apply(plan, Simulated(plan, folder / "whole", whole.state)) == "nothing to do"
    kills = 0
    for at, (_, what) in enumerate(whole.effects, 1):
        near = "cryptsetup" in what or "/headers/" in what or "mke2fs -q -F" in what or "mkswap" in what
        for how in ("before", "during", "after") if every or near else ():
            root = folder / f"{at}-{how}"
            state = machine(root)
            with pytest.raises(Killed):
                apply(plan, Simulated(plan, root, state, (at, how)))
            resumed = Simulated(plan, root, state)
            assert apply(plan, resumed) in ("done", "nothing to do"), (what, how)
            assert end(resumed) == end(whole), (what, how)
            kills += 1
    return kills


def test_killed_wherever_keys_and_headers_are_written_and_resumed(plan: Plan, tmp_path: Path) -> None:
    assert killed_and_resumed(plan, tmp_path, every=False) >= 20


@pytest.mark.long
def test_killed_at_every_effect_and_resumed(plan: Plan, tmp_path: Path) -> None:
    assert killed_and_resumed(plan, tmp_path, every=True) > 500


def test_a_passphrase_stands_nowhere(plan: Plan, tmp_path: Path) -> None:
    """Not in the journal or any other file, not in a plan of any form, not among arguments."""
    world = Simulated(plan, tmp_path / "root", machine(tmp_path / "root"))
    assert apply(plan, world) == "done" and world.passphrases["crypt"] == SECRET
    files = [file.read_bytes() for file in (tmp_path / "root").rglob("*") if file.is_file()]
    assert len(files) > 5 and not [data for data in files if SECRET in data]
    texts = (
        plan_to_json(plan),
        plan_shell(plan),
        render_plan(plan, {}, every=True),
        plan_markdown(plan, every=True),
    )
    assert not [text for text in (*texts, *world.executed) if SECRET.decode() in text]
    assert plan_from_json(plan_to_json(plan)) == plan


def test_a_key_reaches_a_program_by_its_standard_input_alone(tmp_path: Path) -> None:
    told = tmp_path / "told"
    program = tmp_path / "cryptsetup"
    program.write_text(
        f"#!/bin/sh\ntr '\\0' '\\n' </proc/$$/cmdline >{told}.argv\ntr '\\0' '\\n' </proc/$$/environ >{told}.env\ncat >{told}.stdin\n"
    )
    program.chmod(0o755)
    binary = bytes(range(256))
    assert run((str(program), "open", "--key-file=-"), LONG + binary).ok
    assert Path(f"{told}.stdin").read_bytes() == LONG + binary
    assert LONG not in Path(f"{told}.argv").read_bytes() + Path(f"{told}.env").read_bytes()


def test_the_shell_form_lets_cryptsetup_ask(plan: Plan) -> None:
    lines = plan_shell(plan).replace("\\\n\t", "").splitlines()
    asking = [line for line in lines if line.endswith("</dev/tty")]
    assert [line.split()[:2] for line in asking] == [["cryptsetup", "luksFormat"], ["cryptsetup", "open"]]
    assert "--verify-passphrase" in asking[0] and not any("--key-file" in line for line in asking)


def answering(*answers: bytes) -> passphrase.Ask:
    left = list(answers)
    return lambda question: left.pop(0)


def test_a_passphrase_is_typed_twice(plan: Plan) -> None:
    assert passphrases(plan, {}, answering(LONG, LONG)) == {"crypt": LONG}
    assert passphrases(plan, {}, answering(b"short", LONG, b"another one that is long", LONG, LONG)) == {
        "crypt": LONG
    }


def no_terminal(question: str) -> bytes:
    raise OSError(6, "No such device or address")


@pytest.mark.parametrize(
    "ask, code, case, figures",
    [
        (answering(*[b"fourteen chars"] * 3), "passphrase-unfit", "short", {"least": 15, "count": 14}),
        (answering(*[b"x" * 513] * 3), "passphrase-unfit", "long", {"most": 512, "count": 513}),
        (answering(*[LONG, LONG + b"!"] * 3), "passphrase-differs", "", {"times": 3}),
        (no_terminal, "terminal-missing", "", {}),
    ],
    ids=["too short", "too long", "typed otherwise", "no terminal"],
)
def test_without_a_fit_passphrase_nothing_begins(
    plan: Plan, ask: passphrase.Ask, code: Code, case: str, figures: Figures
) -> None:
    with pytest.raises(NoPassphrase) as refused:
        passphrases(plan, {}, ask)
    assert refused.value.refusal == Refusal(code, case, "encryption.crypt", 8, figures)


def opening(plan: Plan, image: Path, *words: str) -> Plan:
    """A plan that opens the header in an image."""
    made = step(plan, "encryption.crypt.open")
    assert isinstance(made.action, Run)
    argv = ("cryptsetup", "open", "--type", "luks2", *words, str(image), "crypt")
    return replace(plan, steps=(replace(made, action=made.action._replace(argv=argv)),))


def test_a_passphrase_of_a_header_that_is_there_is_tried_on_it(plan: Plan, tmp_path: Path) -> None:
    left = opening(plan, formatted(tmp_path / "image", 32 * MIB), "--key-file=-")
    assert passphrases(left, {}, answering(b"wrong", PASSPHRASE)) == {"crypt": PASSPHRASE}
    with pytest.raises(NoPassphrase) as refused:
        passphrases(left, {}, answering(*[b"wrong"] * 3))
    found = refused.value.refusal
    assert (found.code, found.place, found.figures["times"]) == ("passphrase-wrong", "encryption.crypt", 3)


def test_it_is_not_shown_on_the_terminal() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        signal.alarm(60)
        os._exit(0 if passphrase.ask("Passphrase: ") == LONG else 1)
    shown = os.read(terminal, 100)
    os.write(terminal, LONG + b"\n")
    while True:
        try:
            more = os.read(terminal, 100)
        except OSError:
            break  # its other end is closed
        if not more:
            break
        shown += more
    assert os.waitpid(pid, 0)[1] == 0
    assert shown.strip() == b"Passphrase:"


@pytest.mark.parametrize(
    "mode, size, why",
    [
        (0o400, 64, ()),
        (0o600, 64, ()),
        (0o440, 64, ("mode", "0440")),
        (0o604, 64, ("mode", "0604")),
        (0o400, 0, ("size", 0)),
        (0o400, 2**23 + 1, ("size", 8388609)),
    ],
)
@needs_root
def test_a_key_file_is_roots_alone(tmp_path: Path, mode: int, size: int, why: tuple[object, ...]) -> None:
    file = tmp_path / "key"
    with file.open("wb") as made:
        made.truncate(size)
    file.chmod(mode)
    found = [(each.code, each.place, each.case, *each.figures.values()) for each in unfit(str(file))]
    assert [each[:4] for each in found] == ([("key-file", str(file), *why)] if why else [])


@needs_root
def test_a_key_file_that_is_missing_or_a_link_or_not_roots_is_refused(tmp_path: Path) -> None:
    (missing,) = unfit(str(tmp_path / "none"))
    assert (missing.case, missing.figures["error"]) == ("unreadable", os.strerror(errno.ENOENT))
    assert str(missing.figures["command"]).startswith("(umask 077; ")
    (tmp_path / "link").symlink_to("/dev/zero")
    assert [*unfit(str(tmp_path / "link"))] == [refusal("key-file", "no-file", place=str(tmp_path / "link"))]
    (tmp_path / "theirs").write_bytes(b"key")
    (tmp_path / "theirs").chmod(0o400)
    os.chown(tmp_path / "theirs", 1000, 0)
    theirs = refusal("key-file", "owner", place=str(tmp_path / "theirs"), user=1000)
    assert [*unfit(str(tmp_path / "theirs"))] == [theirs]


def test_key_files_are_looked_at_wherever_crypttab_names_them(tmp_path: Path) -> None:
    """The encryption stands, and another key is written for it: no step that is left opens it."""
    text = "hardware: {disks: {d0: {serial: S, size: 4GiB}}}\nencryption: {c: {device: d0, key: {file: /etc/no-such-folder/none}}}\n"
    (tmp_path / "layout.yaml").write_text(
        f"version: 1\nhost: h\n{text}filesystems: {{f: {{device: c, type: ext4}}}}\n"
    )
    whole, _ = pipeline.plan(pipeline.check(str(tmp_path / "layout.yaml")))
    assert whole is not None
    lines = replace(whole, steps=tuple(step for step in whole.steps if step.id == "config.crypttab"))
    assert lines.steps
    (missing,) = keys_are_secret(Situation(lines, Machine(), {}, whole))
    assert (missing.code, missing.case, missing.place) == (
        "key-file",
        "unreadable",
        "/etc/no-such-folder/none",
    )
    assert not [*keys_are_secret(Situation(replace(whole, steps=()), Machine(), {}, whole))], (
        "no line is written"
    )


@needs_root
def test_a_key_file_that_does_not_open_its_header_is_refused(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"another key")
    (tmp_path / "key").chmod(0o400)
    image = formatted(tmp_path / "image", 32 * MIB)
    left = opening(plan, image, "--key-file", str(tmp_path / "key"))
    (refused,) = keys_are_secret(Situation(left, Machine(), {}))
    assert (refused.code, refused.figures["file"]) == ("key-wrong", f"{tmp_path}/key")
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "key").write_bytes(PASSPHRASE)
    assert not [*keys_are_secret(Situation(left, Machine(), {}))]


@needs_root
def test_a_key_file_in_a_folder_of_others_can_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"key")
    (tmp_path / "key").chmod(0o400)
    tmp_path.chmod(0o777)
    theirs = refusal("key-file", "folder", place=str(tmp_path / "key"), folder=str(tmp_path))
    assert [*unfit(str(tmp_path / "key"))] == [theirs]


def test_a_name_in_dev_mapper_that_is_taken_is_refused(plan: Plan, tmp_path: Path) -> None:
    opened = replace(step(plan, "encryption.crypt.open"), awaits=(str(tmp_path),))
    (refused,) = nodes_free(Situation(replace(plan, steps=(opened,)), Machine(), {}))
    assert refused == refusal("name-taken", "mapping", place=str(tmp_path), line=8)


def test_an_initramfs_that_cannot_open_the_root_is_refused_or_not_taken(tmp_path: Path) -> None:
    boot(tmp_path, "6.1")
    (lacking,) = (
        each
        for each in reasons_not_to_renew(tmp_path, "6.1", RenewInitramfs(encrypted=(UUID,)))
        if each.case == "opens-nothing"
    )
    assert lacking.figures["package"] == "cryptsetup-initramfs"
    hook = tmp_path / INITRAMFS_TOOLS.encryption.file.lstrip("/")
    hook.parent.mkdir(parents=True)
    hook.touch()
    cases = [each.case for each in reasons_not_to_renew(tmp_path, "6.1", RenewInitramfs(encrypted=(UUID,)))]
    assert "opens-nothing" not in cases
    image = tmp_path / "image"
    image.write_bytes(cpio({"cryptroot/crypttab": f"crypt UUID={UUID} none luks\n".encode()}))
    assert encryptions_opened(image) == {UUID}
    assert [*unproven([image], RenewInitramfs(encrypted=(UUID,)), tmp_path)] == []
    (closed,) = unproven([image], RenewInitramfs(encrypted=(UUID, "another")), tmp_path)
    assert closed == failure("image-encryption", image, uuids=("another",))


def test_an_initramfs_that_finds_no_volume_of_the_root_is_refused_or_not_taken(tmp_path: Path) -> None:
    boot(tmp_path, "6.1")
    renewal = RenewInitramfs(volumes=True)
    hook = tmp_path / INITRAMFS_TOOLS.volumes.file.lstrip("/")
    for there in (False, True):
        if there:
            hook.parent.mkdir(parents=True)
            hook.touch()
        lacking = [
            each for each in reasons_not_to_renew(tmp_path, "6.1", renewal) if each.case == "no-volumes"
        ]
        assert len(lacking) == (not there)
        assert all(each.figures["package"] == "lvm2" for each in lacking)
    image, whole = tmp_path / "image", tmp_path / "whole"
    image.write_bytes(cpio({"etc/lvm/lvm.conf": b""}))
    whole.write_bytes(cpio({"usr/sbin/lvm": b"program"}))
    assert [*unproven([whole], renewal, tmp_path)] == []
    (found,) = unproven([image], renewal, tmp_path)
    assert found == failure("image-volumes", image)


def test_a_header_whose_key_nobody_has_shown_is_not_adopted(plan: Plan, tmp_path: Path) -> None:
    world = stood(plan, tmp_path)
    key = step(plan, "encryption.crypt.open").proof
    assert key
    del world.state.objects["mapping"][key.key]
    seen = Simulated(plan, world.root, world.state).read(plan)
    looks = {
        each.step.id: each for each in look(plan, seen, Past(), lambda argv: pytest.fail("nothing to ask"))
    }
    (reason,) = looks["encryption.crypt.make"].reasons
    assert (reason.code, reason.case) == ("not-looked-at", "closed")
    assert looks["encryption.cryptswap.make"].reasons == ()


def test_the_preflight_asks_for_key_files(plan: Plan, tmp_path: Path) -> None:
    left = opening(plan, tmp_path, "--key-file", str(tmp_path / "none"))
    situation = Situation(left, Machine(), {})
    codes = [each.code for each in preflight(situation)]
    assert "key-file" in codes and "key-wrong" not in codes


def test_a_system_that_would_not_read_its_crypttab_is_refused(plan: Plan, tmp_path: Path) -> None:
    """Debian 13 has the program in a package that nothing asks for."""
    system = replace(plan, target=str(tmp_path))
    (missing,) = [each for each in preflight(Situation(system, Machine(), {})) if each.case == "opener"]
    assert (missing.code, missing.figures["package"]) == ("program-missing", "systemd-cryptsetup")
    opener = tmp_path / OPENER.lstrip("/")
    opener.parent.mkdir(parents=True)
    opener.touch()
    assert not [*without_opener(Situation(system, Machine(), {}))]
    opener.unlink()
    without = tuple(each for each in plan.steps if each.id != "config.crypttab")
    assert len(without) == len(plan.steps) - 1
    assert not [*without_opener(Situation(replace(system, steps=without), Machine(), {}))]


def test_without_a_passphrase_the_command_ends_with_4(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refusing(*_: object) -> int:
        passphrases(plan, {}, no_terminal)
        return 0

    monkeypatch.setattr(apply_command, "plan_of", lambda arguments: plan)
    monkeypatch.setattr(apply_command, "only_one", nullcontext)
    monkeypatch.setattr(apply_command, "_apply", refusing)
    assert apply_command.run(Namespace(events=None)) == REFUSED
    why = refusal("terminal-missing", place="encryption.crypt", line=8)
    assert f"refused: {refusal_text(why)}" in capsys.readouterr().err


# headers


def test_one_damaged_header_is_told_by_the_other(tmp_path: Path) -> None:
    image = formatted(tmp_path / "image", 32 * MIB)
    read = partial(read_at, image)
    before = header_on(read)
    assert before and before.headers == 2
    put(image, 5000, b"\xff")
    assert header_on(read) == replace(before, headers=1)
    put(image, 0x4000 + 5000, b"\xff")
    assert header_on(read) is None


def test_a_header_without_a_key_slot_is_no_finished_one(tmp_path: Path) -> None:
    image = formatted(tmp_path / "image", 32 * MIB)
    subprocess.run(["cryptsetup", "erase", "--batch-mode", image], check=True)
    found = header_on(partial(read_at, image))
    assert found and found.uuid == UUID and not found.keyed


def test_what_luks_format_left_is_told_from_what_came_later(plan: Plan, tmp_path: Path) -> None:
    make = step(plan, "encryption.crypt.make")
    assert make.proof
    make = replace(make, proof=make.proof._replace(key=UUID))
    image = formatted(tmp_path / "image", 64 * MIB)
    read = partial(read_at, image)
    assert [*foreign_on(make, 64 * MIB, 0, read, carried=True)] == [], (
        "header, key slots, and nothing behind them"
    )
    put(image, 16 * MIB, b"\xff" * (48 * MIB))
    assert [*foreign_on(make, 64 * MIB, 0, read, carried=True)], "ones where it wrote nothing"
    assert [*foreign_on(make, 64 * MIB, 0, read, carried=True, erased=True)] == [], "but not on erased flash"
    put(image, 17 * MIB, b"of somebody")
    assert [*foreign_on(make, 64 * MIB, 0, read, carried=True, erased=True)], "data behind the header"
    put(image, 16 * MIB, bytes(48 * MIB))
    put(image, 17 * MIB, b"of somebody")
    assert [*foreign_on(make, 64 * MIB, 0, read, carried=True)], "data behind the header"
    image = formatted(tmp_path / "other", 64 * MIB)
    assert make.proof
    other = replace(make, proof=make.proof._replace(key="11111111-2222-4333-8444-555555555555"))
    assert [*foreign_on(other, 64 * MIB, 0, partial(read_at, image))], "the header of somebody else"


def test_key_slots_without_a_header_could_be_anybodys(plan: Plan, tmp_path: Path) -> None:
    """luksFormat fills them with random bytes before it writes a header: a person has to say that they may go."""
    image = tmp_path / "image"
    with image.open("wb") as made:
        made.truncate(64 * MIB)
    put(image, 0x8000, random.Random(1).randbytes(MIB))
    assert [*foreign_on(step(plan, "encryption.crypt.make"), 64 * MIB, 0, partial(read_at, image))]


def test_the_clearing_of_a_header_cut_at_any_sector_is_known_by_its_sectors(
    plan: Plan, tmp_path: Path
) -> None:
    """The key slots stay random bytes when the header in front of them has gone, and behind the ends that are cleared of all else."""
    make = step(plan, "encryption.crypt.make")
    assert make.proof
    make = replace(make, proof=make.proof._replace(key=UUID))
    image = formatted(tmp_path / "image", 64 * MIB)
    box = Box().disk("sdb", "S-0").array("md0", "sdb", uuid="0d0e0a0d-1111-4222-8333-123456789abc")
    box.blocks["md0"] = replace(box.blocks["md0"], identity=identity_of(make.guard[0], made_nodes(plan)), size=64 * MIB)  # fmt: skip
    box.put("content", box.blocks["md0"].identity, carries=[f"crypto_LUKS {UUID}"])
    (clear, again) = redone(
        replace(plan, steps=(*(s for s in plan.steps if s.id != make.id), make)), make.id, box
    )
    assert isinstance(clear.action, Zero) and again.id == make.id and is_compared(clear)
    read = partial(read_at, image)
    data = sectors_now(clear, str, lambda node, at, size: read(at, size))
    (tmp_path / sectors_as(digest_of(data))).write_bytes(data)
    past = Past(
        begun=frozenset({make.id, clear.id}),
        ours={clear.id: frozenset(make.guard)},
        origins={clear.id: clear.origin},
        sectors={clear.id: digest_of(data)},
        folder=str(tmp_path),
    )
    known = without_own_rest(read, past, make, make.guard[0])
    draw, unknown = random.Random(7), 0
    for cut in sorted({1, *(draw.randrange(16 * MIB // 512) for _ in range(6)), 16 * MIB // 512}):
        put(image, 0, bytes(512 * cut))
        unknown += bool([*foreign_on(make, 64 * MIB, 0, read)])
        assert not [*foreign_on(make, 64 * MIB, 0, known)], f"cut behind {cut} sectors"
        place = draw.randrange(16 * MIB // 512) * 512
        before = read(place, 512)
        put(image, place, b"of somebody")
        assert [*foreign_on(make, 64 * MIB, 0, known)], (
            f"cut behind {cut} sectors, and one of somebody at {place}"
        )
        put(image, place, before)
    assert unknown >= 4, "without them a person would have to say that they may go"
    assert not any(image.read_bytes()), "all in front of the data was cleared"


def test_what_was_never_written_to_an_encryption_reads_as_zeroes(tmp_path: Path) -> None:
    """The opened device here is a file of random bytes, as decrypted zeroes are."""
    (tmp_path / "dev").mkdir()
    formatted(tmp_path / "dev/md0", 32 * MIB, "--sector-size", "4096")
    (tmp_path / "dev/dm-0").write_bytes(random.Random(2).randbytes(16 * MIB))
    blocks = {
        "md0": Block("md0", "9:0", 32 * MIB),
        "dm-0": Block("dm-0", "253:0", 16 * MIB, slaves=("md0",), dm_name="crypt", dm_uuid=f"CRYPT-LUKS2-{UUID.replace('-', '')}-crypt"),
    }  # fmt: skip
    read = reader_of(tmp_path, "dm-0", blocks)
    assert read(0, MIB) == bytes(MIB) and read(5, 7) == bytes(7)
    put(tmp_path / "dev/md0", 16 * MIB + 8192, b"\x01")
    plain = read_at(tmp_path / "dev/dm-0", 0, 16384)
    assert read(0, 16384) == bytes(8192) + plain[8192:12288] + bytes(4096)
    assert read(9000, 10) == plain[9000:9010]
    assert reader_of(tmp_path, "md0", blocks)(0, 6) == b"LUKS\xba\xbe"


def test_of_the_kernels_table_no_key_is_looked_at() -> None:
    key = "0" * 128
    text = f"crypt: 0 4096 crypt aes-xts-plain64 {key} 0 9:0 32768 2 allow_discards sector_size:4096\nvg0-home: 0 8 linear 253:0 2048\n"
    assert parse_tables(text) == {"crypt": ["allow_discards", "sector_size:4096"]}


# what stands


def stood(plan: Plan, tmp_path: Path) -> Simulated:
    world = Simulated(plan, tmp_path / "root", machine(tmp_path / "root"))
    assert apply(plan, world) == "done"
    return world


def refusals(plan: Plan, world: Simulated) -> dict[str, Refusal]:
    again = Simulated(plan, world.root, world.state)
    found = decide(plan, again.read(plan), Past(made=frozenset()), here=False).refusals
    return {each.code: each for each in found}


def test_what_is_not_open_is_not_made_again(plan: Plan, tmp_path: Path) -> None:
    world = stood(plan, tmp_path)
    key = step(plan, "encryption.crypt.open").proof
    assert key
    del world.state.objects["mapping"][key.key]
    found = refusals(plan, world)["not-started"]
    assert found.case == "encryption"
    assert found.figures == {"node": "/dev/md/data", "name": "crypt", "target": ""}


@pytest.mark.parametrize(
    "name, value, case",
    [("headers", 1, "header-damaged"), ("keyed", False, "no-key"), ("cipher", "null", "other")],
)
def test_a_header_that_is_not_as_planned_is_refused(
    plan: Plan, tmp_path: Path, name: str, value: Value, case: str
) -> None:
    world = stood(plan, tmp_path)
    proof = step(plan, "encryption.crypt.make").proof
    assert proof
    world.state.objects["encryption"][proof.key][name] = value
    found = refusals(plan, world)["differs"]
    assert (found.case, found.figures["node"]) == (case, "/dev/md/data")
    assert found.deviations == (Deviation(name, value, proof.expect[name]),)


@pytest.mark.parametrize(
    "found, case", [({"keyed": False}, "no-key"), ({"type": "luks", "headers": 0}, "header-lost")]
)
def test_a_header_that_apply_kept_is_told_before_anybody_wipes(
    plan: Plan, tmp_path: Path, found: dict[str, Value], case: str
) -> None:
    """First the test that writes nothing, then what writes it back."""
    world = stood(plan, tmp_path)
    proof = step(plan, "encryption.crypt.make").proof
    assert proof
    folder = world.root / "var/lib/raidplan"
    (folder / "headers").mkdir(exist_ok=True)
    kept = folder / "headers" / f"{proof.key}.luks"
    kept.write_bytes(b"x")
    header = world.state.objects["encryption"][proof.key]
    if "headers" in found:
        header.clear()
        header["device"] = proof.expect["device"]
    header |= found
    for past, more in ((read_past(folder), "-kept"), (Past(), "")):
        again = Simulated(plan, world.root, world.state)
        refused = decide(plan, again.read(plan), past, here=False).refusals
        (reason,) = (each for each in refused if each.code == "differs")
        assert reason.case == case + more and reason.figures["opened"] == "crypt"
        text = refusal_text(reason)
        if more:
            test = f"`cryptsetup open --readonly --header {kept} /dev/md/data kept`"
            back = f"`cryptsetup luksHeaderRestore /dev/md/data --header-backup-file {kept}`"
            assert text.index(test) < text.index(back) and "wipe" not in text


@pytest.mark.parametrize(
    "left, code", [(("data that nothing here recognises",), "target-not-blank"), ((), "")]
)
def test_what_no_key_opens_is_made_anew_once_all_of_it_is_zero(
    plan: Plan, tmp_path: Path, left: tuple[str, ...], code: str
) -> None:
    """The advice is what helps: wipefs leaves data behind, and the journal has to forget what was there."""
    world = stood(plan, tmp_path)
    proof = step(plan, "encryption.crypt.make").proof
    assert proof
    folder = world.root / "var/lib/raidplan"
    (folder / "headers" / f"{proof.key}.luks").unlink(missing_ok=True)
    world.state.objects["encryption"][proof.key]["keyed"] = False
    read = Simulated(plan, world.root, world.state).read(plan)
    (reason,) = (
        each for each in decide(plan, read, read_past(folder), here=False).refusals if each.case == "no-key"
    )
    assert "`blkdiscard --zeroout /dev/md/data`" in refusal_text(reason)
    assert "`raidplan adopt LAYOUT --forget encryption.crypt`" in refusal_text(reason)
    above = ("encryption", "mapping", "physical_volume", "volume_group", "volume", "filesystem", "mount")
    for kind in above:
        world.state.objects[kind].clear()
    device = str(proof.expect["device"])
    world.state.content[device] = []
    read = Simulated(plan, world.root, world.state).read(plan)
    block = BlockFact("md127", device, "", "array", 64 * MIB, content=left)
    emptied = replace(read, blocks=(block,))
    missed = [
        each.place
        for each in decide(plan, emptied, read_past(folder), here=False).refusals
        if each.code == "gone"
    ]
    assert missed[0] == "encryption.crypt"
    named = emptied.named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    assert _record(plan, named, open_journal(folder, world), ["encryption.crypt"]) == OK
    decision = decide(plan, emptied, read_past(folder), here=False)
    assert [each.code for each in decision.refusals] == [code] * bool(code)
    assert "encryption.crypt.make" in {each.id for each in decision.left.steps}


@pytest.mark.parametrize("opened", ["crypt", ""])
@pytest.mark.parametrize("case", ["header-kept", "no copy", "theirs"])
def test_a_header_of_which_nothing_is_left_comes_back_from_the_copy(
    plan: Plan, tmp_path: Path, case: str, opened: str
) -> None:
    """Its device is refused as one that is not blank, and the copy is named before anybody wipes that."""
    world = stood(plan, tmp_path)
    proof = step(plan, "encryption.crypt.make").proof
    assert proof
    device = str(proof.expect["device"])
    del world.state.objects["encryption"][proof.key]
    if not opened:
        del world.state.objects["mapping"][proof.key]
    world.state.content[device] = ["ext4"] if case == "theirs" else []
    folder = world.root / "var/lib/raidplan"
    file = folder / "headers" / f"{proof.key}.luks"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"x") if case != "no copy" else file.unlink(missing_ok=True)
    read = Simulated(plan, world.root, world.state).read(plan)
    block = BlockFact("md127", device, "", "array", 64 * MIB, content=("data that nothing here recognises",))
    decision = decide(plan, replace(read, blocks=(block,)), read_past(folder), here=False)
    (reason,) = (each for each in decision.refusals if each.code == "target-not-blank")
    assert reason.case == (case if case == "header-kept" else "")
    if reason.case:
        assert (reason.figures["node"], reason.figures["opened"]) == ("/dev/md127", opened)
        text = refusal_text(reason)
        without_writing = f"`cryptsetup open --readonly --header {file} /dev/md127 kept`"
        back = f"`cryptsetup luksHeaderRestore /dev/md127 --header-backup-file {file}`"
        assert text.index(without_writing) < text.index(back) and "wipe" not in text


def test_an_opened_encryption_that_passes_discards_is_changed_by_hand(plan: Plan, tmp_path: Path) -> None:
    world = stood(plan, tmp_path)
    proof = step(plan, "encryption.crypt.open").proof
    assert proof
    world.state.objects["mapping"][proof.key]["discard"] = True
    assert refusals(plan, world)["differs"].case == "discards"


@pytest.mark.parametrize("kind, where", [("encryption", "device"), ("mapping", "node")])
def test_a_copy_of_an_encryption_cannot_be_told_from_it(plan: Plan, kind: str, where: str) -> None:
    """By its UUID the copy would be opened, or looked at, in place of what is meant."""
    proof = step(plan, "encryption.crypt.make").proof
    assert proof
    key = proof.key

    def told(box: Box, uuid: str = key) -> list[tuple[str, object]]:
        box = box.disk("sdb", "S-0").disk("sdc", "S-1")
        box.put(kind, uuid, **{where: "/dev/mapper/one", "also": ["/dev/mapper/two"]})
        return [(each.case, each.figures["devices"]) for each in copied(plan, box.machine())]

    assert told(Box()) == [("copy", ("/dev/mapper/one", "/dev/mapper/two"))]
    assert told(Box(), UUID) == [], "it is somebody else's"
    layers = Box()
    layers.blocks["dm-0"] = BlockFact("dm-0", "/dev/dm-0", "/dev/mapper/one", "mapping", GIB)
    layers.blocks["dm-1"] = BlockFact("dm-1", "/dev/dm-1", "/dev/mapper/two", "mapping", GIB, below=("dm-0",))
    assert told(layers) == [], "a layer that shows what is below it is no copy"


def test_two_opened_encryptions_with_one_uuid_are_both_told() -> None:
    uuid = "04019b08-f09a-57e7-bf05-62b7b41dbfc1"
    blocks = {
        f"dm-{number}": Block(
            f"dm-{number}",
            f"253:{number}",
            GIB,
            dm_name=name,
            dm_uuid=f"CRYPT-LUKS2-{uuid.replace('-', '')}-{name}",
        )
        for number, name in enumerate(("copy", "c0", "third"))
    }
    found = mapping_objects(blocks, Names({}), lambda argv: Result(tuple(argv), 0, "", ""))
    assert (found[uuid]["node"], found[uuid]["also"]) == (
        "/dev/mapper/copy",
        ["/dev/mapper/c0", "/dev/mapper/third"],
    )
