"""The GitHub Action: its steps are run as GitHub would run them, on pull requests made for the test."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from raidplan.cli import UNABLE
from raidplan.render.markdown import LIMIT
from raidplan.twin.server import cache_folder
from tests.ci.action import ACTION, INSTALL, ROOT, SHIM, STEPS, Run
from tests.ci.layouts import BAD, DISKS, GOOD, OF_FILE, git
from tests.render.runner import commands

pytestmark = [pytest.mark.slow, pytest.mark.in_turn(5)]

SCRATCH = "version: 1\nhost: h\nhardware: {disks: {d<0-1>: {serial: S<1>, size: 3000592982016B}}}\narrays: {a: {level: raid0, members: [d<0-1>]}}\n"
"""A warning."""
BLANK, SAFE = "plan for blank disks", "no data would be destroyed"
"""The words for a layout that is new, and for a change that loses nothing."""


class Site:
    """A repository with a base, and what a pull request makes of it."""

    def __init__(self, folder: Path) -> None:
        self.checkout, self.folder = folder / "checkout", folder
        (self.checkout / "layouts").mkdir(parents=True)
        git(self.checkout, "init", "--quiet")
        self.write("layouts/old.yaml", GOOD)
        self.write("README.md", "a site\n")
        self.base = self.commit()

    def write(self, name: str, text: str) -> None:
        file = self.checkout / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self) -> str:
        git(self.checkout, "add", "--all")
        git(self.checkout, "commit", "--quiet", "--allow-empty", "--message", "x")
        return git(self.checkout, "rev-parse", "HEAD")

    def run(self, name: str = "run", **more: object) -> Run:
        self.commit()
        return Run(self.checkout, self.folder / name, self.base, **more).all()  # type: ignore[arg-type]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_a_bad_layout_fails_with_annotations_and_a_comment(site: Site) -> None:
    site.write("layouts/new.yaml", BAD)
    run = site.run()
    assert run.code == 1
    found = commands(run.log)
    assert [(c.name, c.properties["file"], c.properties["title"]) for c in found] == [
        ("error", "layouts/new.yaml", "raidplan: swap-across-members"),
        ("warning", "layouts/new.yaml", "raidplan: equal-swap-priorities"),
    ]
    assert run.body == run.summary and run.body.startswith("<!-- raidplan review -->\n### raidplan: 1 error")
    assert "layouts/new.yaml" in run.body and "old.yaml" not in run.body
    assert run.calls == [
        "api --silent --method POST repos/owner/site/issues/7/comments -F body=@"
        + str(run.folder / "temp/report.md")
    ]


def test_a_good_layout_comes_with_its_plan(site: Site) -> None:
    site.write("layouts/old.yaml", GOOD + "# a word\n")
    run = site.run()
    assert (run.code, commands(run.log)) == (0, [])
    assert "nothing to report" in run.body
    assert "<summary><b>rio</b>, layouts/old.yaml: changes</summary>" in run.body
    assert BLANK not in run.body  # what stands on the machine is not made anew
    site.write("layouts/new.yaml", GOOD.replace("host: rio", "host: rio2"))
    run = site.run("new")
    assert f"<summary><b>rio2</b>, layouts/new.yaml: {BLANK}</summary>" in run.body
    assert "$ mdadm --create" in run.body
    assert "<summary><b>rio2</b>, layouts/new.yaml: picture</summary>\n\n```mermaid\n%%{init: " in run.body


@pytest.mark.long
def test_a_changed_layout_comes_with_the_plan_of_the_change_alone(site: Site) -> None:
    """One comment said of one host that no data would be destroyed, and that everything on 4 disks would."""
    site.write("layouts/old.yaml", GOOD + "# a word\n")
    run = site.run("word")
    assert run.code == 0 and "nothing differs" in run.body
    assert BLANK not in run.body and "everything on" not in run.body
    site.write("layouts/old.yaml", GOOD.replace("root@example.org", "other@example.org"))
    run = site.run("lines")
    assert run.code == 0 and SAFE in run.body
    assert "**plan of the change**" in run.body and "alarms to other@example.org" in run.body.replace(
        "&#64;", "@"
    )
    assert "everything on" not in run.body and "mdadm --create" not in run.body


@pytest.mark.long
def test_room_that_would_be_lost_fails_as_data_does(site: Site) -> None:
    ext = GOOD.replace("type: xfs", "type: ext4")
    site.write("layouts/old.yaml", ext)
    site.base = site.commit()
    site.write("layouts/old.yaml", ext.replace("swap: {size: 2GiB}", "swap: {size: 20GiB}"))
    run = site.run()
    assert run.code == 1 and ": changes that lose data or capacity</summary>" in run.body


def test_a_changed_layout_comes_with_what_the_change_means(site: Site) -> None:
    site.write("layouts/old.yaml", GOOD.replace("priority: 10", "priority: 5"))
    run = site.run("kept")
    assert "<details>\n<summary><b>rio</b>, layouts/old.yaml: changes</summary>" in run.body
    assert "priority: 10 -&#62; 5" in run.body and SAFE in run.body
    site.write("layouts/old.yaml", GOOD.replace("level: raid10, layout: n2", "level: raid6"))
    site.write("layouts/new.yaml", GOOD)
    run = site.run("lost")
    first = run.body.splitlines()[1]
    assert first.startswith("<b>rio</b>, layouts/old.yaml: **1 thing with data would be destroyed, "), (
        "before counts"
    )
    assert run.body.index(first) < run.body.index("### raidplan: ")
    assert "\n<b>rio</b>, layouts/new.yaml\n" in run.body, "findings name their host"
    said = commands(run.log)[-1]
    assert run.code == 1 and (said.name, said.properties["title"]) == ("error", "raidplan")
    assert site.run("meant", inputs={"allow-destroy": "true"}).code == 0
    assert (
        run.body.count(
            "<details open>\n<summary><b>rio</b>, layouts/old.yaml: changes that lose data or capacity</summary>"
        )
        == 1
    )
    assert (
        "/srv/rio-data is destroyed" in run.body
        and run.body.count(": changes that lose data or capacity<") == 1
    )


@pytest.mark.long
def test_a_layout_that_was_invalid_is_not_compared(site: Site) -> None:
    site.write("layouts/old.yaml", "version: 1\n")
    site.base = site.commit()
    site.write("layouts/old.yaml", GOOD)
    run = site.run()
    assert run.code == 0 and ": changes" not in run.body
    assert "<b>rio</b>, layouts/old.yaml: not compared, since it is or was invalid." in run.body


def test_a_deleted_layout_is_said_and_fails_nothing(site: Site) -> None:
    (site.checkout / "layouts" / "old.yaml").unlink()
    run = site.run()
    assert (run.code, commands(run.log)) == (0, []) and run.body == run.summary
    assert (
        "<details>\n<summary><b>rio</b>, layouts/old.yaml: deleted</summary>\n\n### raidplan: the layout of rio is gone"
        in run.body
    )
    assert "nothing is destroyed by that" in run.body and "| no longer described: array " in run.body
    assert "/srv/rio-data" in run.body
    assert "no layout is changed" not in run.body and "nothing to report" not in run.body
    (call,) = run.calls
    assert "--method POST" in call


@pytest.mark.long
def test_a_layout_that_moved_is_compared_with_what_it_was(site: Site) -> None:
    old, new = site.checkout / "layouts" / "old.yaml", site.checkout / "layouts" / "new place" / "new.yaml"
    new.parent.mkdir()
    old.rename(new)
    run = site.run("moved")
    assert run.code == 0 and ": deleted" not in run.body
    assert "<summary><b>rio</b>, layouts/new place/new.yaml: changes</summary>" in run.body
    assert "nothing differs" in run.body
    # Rewritten so far that git calls it another file.
    new.write_text("# long\n" * 500 + GOOD.replace("level: raid10, layout: n2", "level: raid6"))
    run = site.run("rewritten")
    assert run.code == 1 and ": changes that lose data or capacity</summary>" in run.body


@pytest.mark.long
def test_a_layout_of_another_host_is_new(site: Site) -> None:
    (site.checkout / "layouts" / "old.yaml").unlink()
    site.write("layouts/new.yaml", GOOD.replace("host: rio", "host: rio2"))
    run = site.run()
    assert run.code == 0 and run.body.count(": deleted</summary>") == 1
    assert ": changes" not in run.body
    assert run.body.count(": plan for blank disks</summary>") == 1


@pytest.mark.long
def test_two_layouts_of_one_host_moved(site: Site) -> None:
    site.write("layouts/b.yaml", GOOD)
    site.base = site.commit()
    for name in ("old", "b"):
        (site.checkout / "layouts" / f"{name}.yaml").rename(site.checkout / "layouts" / f"{name}2.yaml")
    run = site.run()
    assert run.code == 0 and run.body.count(": changes</summary>") == 2
    assert ": deleted" not in run.body


@pytest.mark.long
def test_deleted_layouts_with_names_like_words_and_without_sense(site: Site) -> None:
    odd = ["--format=json.yaml", "a\n::error::b.yaml", "$(touch BAD)<img>.yaml"]
    for name in odd:
        site.write(f"layouts/{name}", GOOD)
    site.write("layouts/broken.yaml", "version: 1\nhost: rio\narrays: 7\n")
    site.write("layouts/x.hardware.yaml", "disks: {}\n")
    site.base = site.commit()
    shutil.rmtree(site.checkout / "layouts")
    run = site.run()
    assert (run.code, commands(run.log), commands(run.body)) == (0, [], [])
    assert run.body.count("the layout of rio is gone") == 1 + len(odd)
    assert run.body.count("layouts/broken.yaml: deleted, and could not be read.") == 1
    assert "<img" not in run.body and not list(site.folder.rglob("BAD"))


@pytest.mark.long
def test_a_link_in_the_place_of_a_folder_does_not_bring_a_deleted_layout_back(site: Site) -> None:
    shutil.move(site.checkout / "layouts", site.folder / "elsewhere")
    (site.checkout / "layouts").symlink_to(site.folder / "elsewhere")
    run = site.run()
    assert run.code == 0 and ": deleted, and could not be read." in run.summary


@pytest.mark.long
def test_a_link_in_the_place_of_a_layout_is_a_layout_deleted(site: Site) -> None:
    site.write("elsewhere/old.yaml", GOOD.replace("level: raid10, layout: n2", "level: raid6"))
    (site.checkout / "layouts" / "old.yaml").unlink()
    (site.checkout / "layouts" / "old.yaml").symlink_to("../elsewhere/old.yaml")
    run = site.run()
    assert run.code == 0 and "raid6" not in run.body
    assert "### raidplan: the layout of rio is gone" in run.body


@pytest.mark.long
def test_a_hardware_file_is_that_of_the_base(site: Site) -> None:
    site.write("layouts/h.hardware.yaml", "disks: {d<0-1>: {serial: S<1>, size: 3TB}}\n")
    site.write(
        "layouts/old.yaml",
        "version: 1\nhost: h\nhardware: h.hardware.yaml\narrays: {a: {level: raid0, members: [d<0-1>]}}\n",
    )
    site.base = site.commit()
    site.write("layouts/h.hardware.yaml", "disks: {d<0-1>: {serial: T<1>, size: 3TB}}\n")
    body = site.run().body
    assert "array a is destroyed" in body and "exchanged: disk d0" in body


@pytest.mark.long
def test_a_hardware_file_may_have_any_name(site: Site) -> None:
    """A change in it is one of the layout that names it; the file itself is none."""
    site.write("layouts/old.yaml", OF_FILE)
    site.write("layouts/hw/disks.yaml", DISKS)
    site.base = site.commit()
    site.write("layouts/hw/disks.yaml", DISKS.replace("S<1>", "T<1>"))
    run = site.run()
    assert run.code == 1 and "array a is destroyed" in run.body
    assert run.body.count("<b>h</b>, layouts/old.yaml: changes that lose data or capacity</summary>") == 1
    assert "**plan of the change**" in run.body
    assert "hw/disks.yaml" not in "".join(map(str, commands(run.log)))


@pytest.mark.long
def test_a_broken_layout_is_no_hardware_file(site: Site) -> None:
    """Its keys are those of a layout, and neither its name nor another layout can hide it."""
    site.write("layouts/x.hardware.yaml", "verzion: 1\narrays: {a: {level: raid0, members: [d]}}\n")
    site.write("layouts/a.yaml", GOOD)
    run = site.run()
    assert run.code == 2
    assert {c.properties["file"] for c in commands(run.log) if "file" in c.properties} == {
        "layouts/x.hardware.yaml"
    }


@pytest.mark.long
@pytest.mark.parametrize("shallow", [False, True])
def test_what_came_to_the_base_meanwhile_is_not_of_the_pull_request(site: Site, shallow: bool) -> None:
    """As with pull_request_target, where the head of the pull request is checked out."""
    left, main = site.base, site.checkout
    site.write("layouts/a.yaml", OF_FILE.replace("hw/disks.yaml", "{" + DISKS.strip() + "}"))
    site.write("layouts/n.yaml", BAD)
    site.base = site.commit()
    git(main, "checkout", "--quiet", "-b", "pull", left)
    site.write("layouts/old.yaml", GOOD + "# a word\n")
    site.commit()
    if shallow:
        site.checkout = site.folder / "shallow"
        git(
            site.folder,
            "clone",
            "--quiet",
            "--depth=1",
            "--branch=pull",
            f"file://{main}",
            str(site.checkout),
        )
    run = Run(site.checkout, site.folder / "run", site.base).all()
    assert (run.code, run.outputs["changed"]["base"]) == (0, left), run.log
    assert ": deleted" not in run.body and run.body.count("nothing differs") == 1


@pytest.mark.long
def test_a_pull_request_that_is_merged_is_compared_with_what_it_is_merged_with(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with pull_request: the base of the event may be older than the one that the runner merged with."""
    site.write("layouts/n.yaml", GOOD)
    merged_with = site.commit()
    git(site.checkout, "checkout", "--quiet", "-b", "pull", site.base)
    site.write("layouts/old.yaml", GOOD + "# a word\n")
    site.commit()
    git(site.checkout, "checkout", "--quiet", "main")
    git(site.checkout, "merge", "--quiet", "--no-ff", "pull")
    given = {"GITHUB_REF": "refs/pull/7/merge", "GITHUB_SHA": git(site.checkout, "rev-parse", "HEAD")}
    environment = Run.environment
    monkeypatch.setattr(Run, "environment", lambda run: environment(run) | given)
    run = Run(site.checkout, site.folder / "run", site.base).all()
    assert run.outputs["changed"]["base"] == merged_with and run.body.count("nothing differs") == 1


def test_no_changed_layout_is_no_comment(site: Site) -> None:
    site.write("README.md", "another word\n")
    run = site.run()
    assert (run.code, run.calls) == (0, [])
    assert "no layout is changed" in run.summary


@pytest.mark.long
def test_a_second_run_brings_the_one_comment_up_to_date(site: Site) -> None:
    site.write("layouts/new.yaml", BAD)
    comments = [
        {"id": 1, "user": {"type": "User"}, "body": "<!-- raidplan review -->\nI am somebody else"},
        {"id": 2, "user": {"type": "Bot"}, "body": "about something else <!-- raidplan review -->"},
        {"id": 3, "user": {"type": "Bot"}, "body": "<!-- raidplan review -->\n### raidplan"},
        {"id": 4, "user": {"type": "Bot"}, "body": "<!-- raidplan review -->\n### raidplan"},
    ]
    (site.folder / "run" / "gh").mkdir(parents=True)
    (site.folder / "run" / "gh" / "comments").write_text(json.dumps(comments))
    run = site.run()
    assert [call.split(" -F")[0] for call in run.calls] == [
        "api --silent --method PATCH repos/owner/site/issues/comments/3"
    ]
    (site.checkout / "layouts" / "new.yaml").unlink()
    run = site.run()
    assert run.calls[-1].startswith("api --silent --method PATCH") and "no layout is changed" in run.body


def test_a_token_that_may_only_read_does_not_fail_the_job(site: Site) -> None:
    site.write("layouts/old.yaml", GOOD + "# a word\n")
    (site.folder / "run" / "gh").mkdir(parents=True)
    (site.folder / "run" / "gh" / "readonly").touch()
    run = site.run()
    assert (
        run.code == 0
        and [c.name for c in commands(run.log)] == ["notice"]
        and "nothing to report" in run.summary
    )


@pytest.mark.long
def test_fail_on_and_an_invalid_layout(site: Site) -> None:
    site.write("layouts/scratch.yaml", SCRATCH)
    assert site.run("one").code == 0
    assert site.run("two", inputs={"fail-on": "warning"}).code == 1
    site.write("layouts/scratch.yaml", "version: 1\n")
    run = site.run("three")
    assert run.code == 2 and "missing-key" in run.body and "<details>" not in run.body


@pytest.mark.long
def test_settings_concern_every_layout_and_a_hardware_file_those_that_name_it(site: Site) -> None:
    site.write("layouts/h.hardware.yaml", "disks: {}\n")
    assert "no layout is changed" in site.run("hardware").summary
    site.write(".raidplan.toml", 'fail-on = "warning"\n')
    assert "layouts/old.yaml" in site.run("settings").body


@pytest.mark.long
def test_without_a_base_every_layout_is_new(site: Site) -> None:
    site.base = "0" * 40
    assert "layouts/old.yaml" in site.run("one", number="").summary
    site.base = ""
    assert "layouts/old.yaml" in site.run("two", number="").summary


@pytest.mark.long
def test_a_base_that_is_not_here_is_fetched(site: Site) -> None:
    site.write("layouts/new.yaml", BAD)
    site.commit()
    shallow = site.folder / "shallow"
    git(site.folder, "clone", "--quiet", "--depth=1", f"file://{site.checkout}", str(shallow))
    git(site.checkout, "config", "uploadpack.allowAnySHA1InWant", "true")
    run = Run(shallow, site.folder / "run", site.base).all()
    assert run.code == 1 and "new.yaml" in run.body and "old.yaml" not in run.body


HOSTILE = [
    "::error::x", "##[error]x", "$(touch BAD)", "`touch BAD`", "; touch BAD", "a\nb", "a\n::error::b", "<img src=x>", "</details>",
    "@everyone", "[a](b)", "-rf", "--format=json", "a|b", "'", '"', "\x1b[31m", "\\", "trailing\n", "ünïcode", "%0A::error::x", "x,y:z",
]  # fmt: skip


@pytest.mark.long
def test_names_of_files_are_names(site: Site) -> None:
    for word in HOSTILE:
        site.write(f"layouts/{word.replace('/', '_')}.yaml", BAD)
        site.write(f"layouts/{word.replace('/', '_')}/x.layout.yaml", GOOD)
    with os.fdopen(
        os.open(os.fsencode(site.checkout / "layouts") + b"/\xff.yaml", os.O_CREAT | os.O_WRONLY), "w"
    ) as odd:
        odd.write(BAD)
    run = site.run()
    found = commands(run.log)
    bad, good = len(HOSTILE) + 1, len(HOSTILE)
    assert run.code == 1 and len(found) == 2 * bad + (bad + good), "and each is for the host of another"
    assert {c.name for c in found} == {"error", "warning"}
    assert all(
        c.properties["title"].startswith("raidplan: ") and c.properties["line"].isdigit() for c in found
    )
    assert not list(site.checkout.rglob("BAD")) and not (site.folder / "BAD").exists()
    for page in (run.body, run.summary):
        assert commands(page) == [] and len(page) < LIMIT
        assert all(line.isprintable() for line in page.split("\n"))
        assert "<img" not in page and page.count("</details>") == page.count("<details>")
        assert not re.search(r"@everyone|\]\(b\)", page)
    assert all(line.isprintable() for line in run.log.split("\n"))


def test_a_link_leads_nowhere(site: Site) -> None:
    secret = site.folder / "secret"
    secret.write_text("token: hunter2\n")
    (site.folder / "folder").mkdir()
    (site.folder / "folder" / "x.layout.yaml").write_text("token: hunter2\n")
    (site.checkout / "layouts" / "link.yaml").symlink_to(secret)
    (site.checkout / "layouts" / "inside.yaml").symlink_to("old.yaml")
    (site.checkout / "layouts" / "folder").symlink_to(site.folder / "folder")
    (site.checkout / "layouts" / "broken.yaml").symlink_to("nowhere")
    (site.checkout / "layouts" / "h.yaml").symlink_to(secret)
    site.write("layouts/real.yaml", "version: 1\nhost: h\nhardware: h.yaml\n")
    run = site.run()
    assert run.code == 2 and "hunter2" not in run.log + run.summary + run.body
    assert "leads out of the layout" in run.summary and "link.yaml" not in run.log


@pytest.mark.long
def test_many_layouts_fit_one_comment(site: Site) -> None:
    big = (ROOT / "examples" / "tel-aviv-rows-mistake.yaml").read_text()
    for number in range(12):
        site.write(f"layouts/big{number}.yaml", big)
    run = site.run()
    assert 10_000 < len(run.body) < LIMIT
    assert run.body.count(": plan for blank disks</summary>") == 12


REHEARSED = """#!/bin/sh
# Stands in for raidplan where it rehearses: nobody starts a virtual machine here.
[ "$1" = rehearse ] || exec {raidplan} "$@"
printf '%s\\n' "$*" >>{folder}/rehearsed
while [ "$1" != -o ]; do shift; done
[ -z '{said}' ] || printf '{said}\\n\\nmore\\n' >"$2"
exit {code}
"""
REPORT, UNSUITED = (
    "**nas: 3 of 4 predictions were observed**",
    "**nas: not rehearsed**: d0: a disk without a size",
)


PROBE = """#!/bin/sh
# Stands in for the probe of KVM, and for nothing else that Python runs.
case "$2" in */vagrant/accelerator.py) ;; *) exec {python} "$@" ;; esac
[ "$1" = -I ] && [ -f "$2" ] && echo "$3" >{folder}/probed && echo {found}
"""


def with_stand_ins(run: Run, found: str, code: int, said: str) -> None:
    """Runs all steps: the probe of KVM finds what is given, each rehearsal says so and ends with the code."""
    real = run.folder / "bin" / "real"
    run.tool("real", SHIM)
    run.tool("raidplan", REHEARSED.format(raidplan=real, folder=run.folder, code=code, said=said))
    run.tool("python3", PROBE.format(python=sys.executable, folder=run.folder, found=found))
    for name, step in STEPS.items():
        if name != INSTALL and not run.code and ("if" not in step or run.holds(step["if"])):
            run.step(step)


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("kvm", "code", "said"),
    [("kvm", 0, REPORT), ("kvm", 1, REPORT), ("kvm", UNABLE, ""), ("kvm", UNABLE, UNSUITED), ("qemu", 0, REPORT), ("", 0, REPORT)],
)  # fmt: skip
def test_a_changed_layout_is_rehearsed_where_kvm_works(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kvm: str, code: int, said: str
) -> None:
    """A device that is there and does not work is none. What cannot be rehearsed fails nothing."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    suite = "trixie" if code else ""
    site.write("layouts/new.yaml", GOOD.replace("host: ", "host: new-"))
    site.commit()
    run = Run(site.checkout, tmp_path / "run", site.base, inputs={"rehearse": "disks", "suite": suite})
    run.tool("qemu-system-x86_64", "#!/bin/sh\n")
    if kvm:
        (run.folder / "kvm").touch()
    monkeypatch.setattr(Run, "environment", lambda self, old=Run.environment: old(self) | {"KVM": str(self.folder / "kvm")})  # fmt: skip
    with_stand_ins(run, kvm, code, said)
    report = (run.folder / "temp" / "report.md").read_text()
    if kvm:
        kept = (run.folder / "probed").read_text().strip()
        assert kept == str(cache_folder() / "accelerator"), "where raidplan keeps its answer"
    if kvm == "kvm":
        words = (run.folder / "rehearsed").read_text()
        options = (
            "rehearse --faults disks --suite trixie --format" if suite else "rehearse --faults disks --format"
        )
        assert words.count(options) == 1 and "layouts/new.yaml" in words, "the changed one"
        assert (said or "Not rehearsed: the log of this check") in report
        assert run.code == (0 if said == UNSUITED else code)
    else:
        assert "no KVM" in run.log and "predictions" not in report and run.code == 0
        assert not (run.folder / "rehearsed").exists()


def test_a_job_without_qemu_that_asks_for_a_rehearsal_fails(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KVM cannot be asked without it; the rehearsal itself says what to install."""
    site.write("layouts/new.yaml", GOOD.replace("host: ", "host: new-"))
    site.commit()
    run = Run(site.checkout, tmp_path / "run", site.base, inputs={"rehearse": "disks"})
    others = tmp_path / "others"
    others.mkdir()
    for file in (file for folder in ("/usr/bin", "/bin") for file in Path(folder).iterdir()):
        if not file.name.startswith("qemu") and not (others / file.name).is_symlink():
            (others / file.name).symlink_to(file)
    (tmp_path / "kvm").touch()
    given = {"PATH": f"{run.folder / 'bin'}:{others}", "KVM": str(tmp_path / "kvm")}
    monkeypatch.setattr(Run, "environment", lambda self, old=Run.environment: old(self) | given)
    with_stand_ins(run, "qemu", UNABLE, "")
    assert run.code == UNABLE and "::error" in run.log and not (run.folder / "probed").exists()
    assert "Not rehearsed: the log of this check" in (run.folder / "temp" / "report.md").read_text()


def test_the_code_of_a_layout_that_cannot_be_rehearsed_is_that_of_raidplan() -> None:
    assert f"\nUNABLE={UNABLE} " in (ROOT / "ci" / "review").read_text()


def test_no_expression_stands_in_a_script() -> None:
    """What it stood for would be read as code; the steps get it as variables."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]


def test_the_scripts_are_clean() -> None:
    checked = subprocess.run(
        ["shellcheck", ROOT / "ci" / "review"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


def test_the_installation_runs_nothing_of_the_pull_request(site: Site) -> None:
    for name in ("venv.py", "ensurepip.py", "runpy.py"):
        site.write(name, "open('BAD', 'w')\n")
    run = Run(site.checkout, site.folder / "run", site.base)
    run.tool("python3", f'#!/bin/sh\nexec {sys.executable} "$@" --without-pip\n')
    run.step(STEPS[INSTALL])
    assert (run.folder / "temp" / "raidplan" / "pyvenv.cfg").exists()
    assert not list(site.folder.rglob("BAD"))


@pytest.mark.long
@pytest.mark.network
def test_all_steps_with_the_installation(site: Site) -> None:
    """As it is: a virtual environment, the package with what it needs from the registry, then the rest."""
    site.write("layouts/new.yaml", BAD)
    site.commit()
    run = Run(site.checkout, site.folder / "run", site.base)
    run.all(install=True)
    assert shutil.which("raidplan", path=run.path[-1]) is not None
    assert run.code == 1 and "swap-across-members" in run.body, run.log
