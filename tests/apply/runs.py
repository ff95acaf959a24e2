"""A plan applied in memory as the command does it: the machine before, what it says, what stands in the end."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest

from raidplan.apply import execute, work
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.session import carry_out, close_what_stands
from raidplan.facts.host import NAMES
from raidplan.plan.boot_loaders import EFI_IMAGES, MODULES, PACKAGES, PLATFORMS
from raidplan.plan.initramfs import INITRAMFS_TOOLS
from raidplan.plan.step import Plan
from raidplan.plan.validity import faults
from raidplan.render.losses import loss_texts
from raidplan.review import pipeline
from tests.apply.sentences import failures, sentences
from tests.apply.simulated import AtOnce, Simulated, State
from tests.initramfs import boot

EXAMPLES = Path(__file__).parents[2] / "examples"
LAYOUTS = ("raid1-pair", "raid50", "linear", "raid5-ppl", "raid6-journal", "raid10-far", "rio-2007", "rio-swap-cure",
           "raid5-2005", "raid5-2005-lvm", "forecast-vm-cure", "loops", "pegasus2-r4", "lvm-test-host-cure")  # fmt: skip
FSTAB = "# by hand\nUUID=1 / ext4 defaults 0 1\n"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that does not appear at once never does here, and one worker needs no thread."""
    monkeypatch.setattr(work, "APPEAR_SECONDS", 0)
    monkeypatch.setattr(work, "LOOK_AGAIN_SECONDS", 0)
    pool = execute.ThreadPoolExecutor
    monkeypatch.setattr(execute, "ThreadPoolExecutor", lambda n: AtOnce() if n == 1 else pool(n))


@cache
def plan_of(layout: str) -> Plan:
    made, loaded = pipeline.plan(pipeline.check(str(EXAMPLES / f"{layout}.yaml")))
    assert made is not None, loaded.findings
    return made


def machine(root: Path) -> State:
    """A blank machine with a line of somebody else's in fstab."""
    (root / "etc").mkdir(parents=True)
    (root / "etc/fstab").write_text(FSTAB)
    boot(root, "6.1")
    (root / INITRAMFS_TOOLS.hooks.lstrip("/")).mkdir(parents=True)
    (root / "efi").mkdir()
    return State()


def install(root: Path) -> None:
    """What an installer leaves below the target."""
    (root / "mnt/etc/default").mkdir(parents=True)
    (root / "mnt/etc/os-release").write_text("ID=debian\n")
    boot(root / "mnt", "6.1")
    (root / "mnt/usr/sbin").mkdir(parents=True, exist_ok=True)
    for name in PACKAGES:
        (root / "mnt/usr/sbin" / name).touch()
    for platform in PLATFORMS.values():
        (root / f"mnt{MODULES}" / platform.name).mkdir(parents=True, exist_ok=True)
    copied = root / f"mnt{EFI_IMAGES['systemd-boot'].plain}"
    copied.parent.mkdir(parents=True, exist_ok=True)
    copied.touch()


def apply(plan: Plan, world: Simulated) -> str:
    """As the command does it: "done", "nothing to do", or why not."""
    folder = world.root / "var/lib/raidplan"
    decision = decide(plan, world.read(plan), read_past(folder), here=False)
    if decision.refusals:
        return "; ".join(sentences(decision.refusals))
    assert [*faults(decision.left)] == [], "it could be given to apply as a file as well"
    if decision.left.lost:
        return "asks: " + "; ".join(loss_texts(decision.left.lost))
    journal = open_journal(folder, world)
    if not decision.left.steps:
        if journal.past.is_open:
            assert close_what_stands(decision, journal) == []
        return "nothing to do"
    outcome = carry_out(decision, journal, lambda event: None, workers=1)
    if not outcome.complete:
        return "stopped: " + "; ".join(failures(outcome).values())
    return "done" if not outcome.unproven else "; ".join(sentences(outcome.unproven))


def end(world: Simulated) -> object:
    """What stands in the end: objects, what devices carry, the disks of others, and every file but the journal, those of before,
    and a rule that the next boot forgets."""
    files = {
        str(file.relative_to(world.root)): file.read_text()
        for file in sorted(world.root.rglob("*"))
        if file.is_file()
        and "var/lib/raidplan" not in str(file)
        and file != world.path(NAMES)
        and not file.name.endswith("-old")
        and file.parent.name != "raidplan.old"
    }
    state = world.state
    return deepcopy((state.objects, state.content, files, state.unfinished, state.others.hashes()))


def gone_on(plan: Plan, left: Simulated, point: str) -> Simulated:
    """The machine after an `apply` that went on to its end, and another one that found nothing to do."""
    world = Simulated(plan, left.root, left.state)
    went_on = read_past(left.root / "var/lib/raidplan").is_open
    said = apply(plan, world)
    assert said in ("done", "nothing to do"), f"{point}: {said}"
    written = {word for step in plan.steps for word in (*step.guard, *step.awaits)}
    looked = written & world.state.nodes if went_on else set[str]()
    assert looked <= world.looked_at[0], f"{point}: udev was not asked to look again"
    assert not read_past(left.root / "var/lib/raidplan").is_open
    assert apply(plan, Simulated(plan, left.root, left.state)) == "nothing to do"
    return world


def in_order(effects: Sequence[tuple[str, str]]) -> int:
    """How many effects came when everything before them was synced; fails at one that did not wait."""
    waiting: set[str] = set()
    announced = 0
    for kind, what in effects:
        match kind:
            case "write":
                waiting.add(what)
            case "rename":
                assert not waiting, f"{what} is renamed before {waiting}"
                waiting.add(str(Path(what).parent))
            case "sync":
                waiting.discard(what)
            case _:
                assert not waiting, f"{kind} {what} comes before {waiting}"
                announced += 1
    assert not waiting
    return announced
