"""A program that makes the initramfs, registered as one record: it is read, refused, planned, run and told as the record says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.configuration.initramfs import reasons_not_to_renew, renew
from raidplan.apply.refusal import refusal
from raidplan.facts.host import read_initramfs, versions
from raidplan.facts.run import Result
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.initramfs import GENERATORS, INITRAMFS_TOOLS, image_makers
from raidplan.plan.places import INITRAMFS_ASIDE
from raidplan.plan.step import Plan, RenewInitramfs, Run
from raidplan.plan.validity import faults
from raidplan.render.plan_shell import plan_shell
from raidplan.render.plan_text import action_lines
from tests.apply.runs import plan_of
from tests.apply.scratch import Scratch
from tests.initramfs import UUID, boot, cpio

IMAGINE = INITRAMFS_TOOLS._replace(
    name="imagine",
    program="imagine",
    make_words=("--kernel={kernel}", "{image}"),
    image="initramfs-{}.img",
    hooks="/etc/imagine/hooks",
    conf="etc/mdadm.conf",
    updater="/usr/bin/imagine-all",
    settings="/etc/imagine.conf",
    switched_off="renew=never",
    create="imagine --first {kernel}",
    renew="imagine-all",
    tools=("imagine-unpack",),
)
OURS = f"# >>> raidplan h\nARRAY /dev/md/s0 UUID={UUID}\n# <<< raidplan h\n".encode()
RENEWAL = RenewInitramfs((UUID,), "imagine")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GENERATORS, "imagine", IMAGINE)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for image in boot(tmp_path, "6.1", holds=b""):
        image.rename(tmp_path / "boot/initramfs-6.1.img")
    for file, text in {"etc/mdadm/mdadm.conf": OURS, "usr/bin/imagine-all": b"exec imagine\n"}.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(text)
    (tmp_path / "etc/imagine/hooks").mkdir(parents=True)
    return tmp_path


class Imagining(Scratch):
    """A machine on which imagine is installed."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.told: list[str] = []

    def run(self, argv: Sequence[str], stdin: str = "") -> Result:
        self.told.append(" ".join(argv))
        if argv[0] == "imagine":
            self.path(argv[2]).write_bytes(cpio({IMAGINE.conf: OURS}))
        return Result(tuple(argv), 0, "", "")


def test_its_image_is_read_and_made_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.uname", lambda: type("uname", (), {"release": "6.1"}))
    assert read_initramfs(root, "6.1") == {"current": {"fresh": False}}
    world = Imagining(root)
    assert renew(RENEWAL, world) == []
    assert world.told == [
        f"imagine --kernel=6.1 {INITRAMFS_ASIDE}/initramfs-6.1.img",
        "run-parts --arg=6.1 --arg=/boot/initramfs-6.1.img /etc/imagine/hooks",
    ]
    assert (root / "boot/initramfs-6.1.img").read_bytes() == cpio({IMAGINE.conf: OURS})
    assert read_initramfs(root, "6.1") == {"current": {"fresh": True}}


def test_what_stands_in_its_way_is_said_in_its_words(root: Path) -> None:
    assert [*reasons_not_to_renew(root, "6.1", RENEWAL)] == []
    (root / "etc/imagine.conf").write_text("renew=never\n")
    (root / "usr/bin/imagine-all").write_text("exec dream\n")
    another, off = reasons_not_to_renew(root, "6.1", RENEWAL)
    assert (another.case, another.place) == ("other-generator", "/usr/bin/imagine-all")
    assert another.figures["name"] == "imagine"
    assert off == refusal("initramfs", "switched-off", place="/etc/imagine.conf", setting="renew=never")
    (root / "boot/initramfs-6.1.img").unlink()
    (none,) = reasons_not_to_renew(root, "6.2", RENEWAL)
    assert (none.case, none.figures["command"]) == ("none", "imagine --first 6.2")


def _with(action: RenewInitramfs | Run) -> Plan:
    """A plan whose initramfs is made by that."""
    plan = plan_of("raid1-pair")
    steps = (replace(each, action=action) if each.id == "config.initramfs" else each for each in plan.steps)
    return replace(plan, steps=tuple(steps))


def test_a_plan_names_it_in_every_form() -> None:
    plan = _with(RENEWAL)
    assert plan_from_json(plan_to_json(plan)) == plan
    assert "imagine" in plan.tools and "mkinitramfs" not in plan.tools and "imagine" in versions()[()]
    lines = "\n".join(
        line for step in plan.steps for line in action_lines(step) if step.id == "config.initramfs"
    )
    assert "$ imagine --kernel=KERNEL" in lines and "/etc/imagine/hooks, for each KERNEL" in lines
    script = plan_shell(plan)
    assert "imagine-unpack" in script and "/etc/imagine/hooks" in script
    assert {"imagine", "imagine-all"} <= image_makers()
    assert any(each.case == "image-unseen" for each in faults(_with(Run(("imagine", "x")))))


def test_one_that_is_not_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = plan_to_json(_with(RENEWAL))
    monkeypatch.delitem(GENERATORS, "imagine")
    with pytest.raises(ValueError, match="makes no initramfs that is known here"):
        plan_from_json(text)
