"""`raidplan diff --git`: one file in two revisions, and repositories that are anything but friendly."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from raidplan.cli import run
from raidplan.facts import run as processes

pytestmark = [pytest.mark.slow, pytest.mark.in_turn(6)]

HARDWARE = "disks: {d<0-3>: {serial: S<1>, size: 3TB}}\n"
LAYOUT = "version: 1\nhost: h\nhardware: h.hardware.yaml\narrays: {a: {level: raid1, members: [d<0-1>]}}\nfilesystems: {f: {device: a, type: xfs, mount: /srv}}\n"
OTHER = LAYOUT.replace("d<0-1>", "d<2-3>").replace("raid1", "raid0")


def git(folder: Path, *words: str) -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Site:
    """A repository with one commit."""

    def __init__(self, top: Path) -> None:
        self.top = top
        (top / "layouts").mkdir(parents=True)
        git(top, "init", "--quiet")
        self.write("h.hardware.yaml", HARDWARE)
        self.write("a.yaml", LAYOUT)
        self.commit()

    @property
    def file(self) -> str:
        return str(self.top / "layouts" / "a.yaml")

    def write(self, name: str, text: str) -> None:
        (self.top / "layouts" / name).write_text(text)

    def commit(self) -> str:
        git(self.top, "add", "--all")
        git(self.top, "commit", "--quiet", "--allow-empty", "--message", "x")
        return git(self.top, "rev-parse", "HEAD")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")


@pytest.fixture
def compare(site: Site, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict[str, str]]]:
    def call(revision: str, code: int = 0) -> tuple[int, dict[str, str]]:
        assert run(["diff", "--git", revision, site.file, "--format", "json"]) == code
        out, err = capsys.readouterr()
        assert err == ""
        made = json.loads(out)
        return len(made["destroyed_data"]), {each["path"]: each["fate"] for each in made["things"]}

    return call


def test_a_revision_against_the_working_tree(site: Site, compare: Callable[..., object]) -> None:
    assert compare("main") == (0, {})
    site.write("a.yaml", OTHER)
    lost = (1, {"arrays.a": "re-created", "filesystems.f": "re-created"})
    assert compare("main", 1) == lost
    site.commit()
    assert compare("HEAD~1..HEAD", 1) == compare("HEAD~1..", 1) == compare("HEAD~1", 1) == lost
    assert compare("HEAD") == compare("..HEAD") == (0, {})


def test_the_hardware_is_that_of_the_revision(site: Site, compare: Callable[..., object]) -> None:
    site.write("h.hardware.yaml", HARDWARE.replace("S<1>", "T<1>"))
    exchanged = {f"hardware.disks.d{n}": "exchanged" for n in range(4)}
    assert compare("main", 1) == (1, {"arrays.a": "re-created", "filesystems.f": "re-created", **exchanged})
    (site.top / "layouts" / "h.hardware.yaml").unlink()
    site.write("a.yaml", LAYOUT.replace("h.hardware.yaml", "{" + HARDWARE.strip() + "}"))
    assert compare("main") == (0, {})


def test_a_file_that_is_new_or_gone(site: Site, compare: Callable[..., tuple[int, dict[str, str]]]) -> None:
    empty = git(site.top, "hash-object", "-t", "tree", "/dev/null")
    lost, made = compare(empty)
    assert lost == 0 and set(made.values()) == {"created"} and "arrays.a" in made
    Path(site.file).unlink()
    assert compare("main") == (0, dict.fromkeys(made, "no longer described"))
    shutil.rmtree(Path(site.file).parent)
    assert compare("main") == (0, dict.fromkeys(made, "no longer described"))


def test_a_file_that_has_another_name_now(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.move(site.file, site.top / "moved.yaml")
    (site.top / "moved.yaml").write_text(OTHER.replace("h.hardware.yaml", "layouts/h.hardware.yaml"))
    moved = str(site.top / "moved.yaml")
    assert run(["diff", "--git", "main", site.file, moved]) == 1
    assert "re-created" in capsys.readouterr().out
    site.commit()
    assert run(["diff", "--git", "HEAD~1..HEAD", site.file, moved]) == 1
    assert run(["diff", "--git", "HEAD~1..HEAD", site.file, moved, moved]) == 2
    assert "its old name and" in capsys.readouterr().err


def test_from_within_the_repository(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(site.top / "layouts")
    site.write("-odd :(name)*.yaml", LAYOUT)
    site.commit()
    site.write("-odd :(name)*.yaml", OTHER)
    assert run(["diff", "--git", "main", "--", "-odd :(name)*.yaml"]) == 1
    assert "/srv is destroyed: 3 TB (2.7 TiB) on a (2 disks: d0, d1)" in capsys.readouterr().out


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["diff", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("raidplan: ") and "Traceback" not in err
    return err


def test_what_git_cannot_say(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "revision 'nowhere'" in refused(["--git", "nowhere", site.file], capsys)
    assert "revision '--output=x'" in refused(["--git=--output=x", site.file], capsys)
    assert "with two dots" in refused(["--git", "main...HEAD", site.file], capsys)
    assert "takes one layout" in refused(["--git", "main", *[site.file] * 3], capsys)
    assert "takes one layout" in refused(["--git", "main", "-"], capsys)
    assert "takes two layouts" in refused([site.file], capsys)
    missing = site.file.replace("a.yaml", "b.yaml")
    assert "neither in main nor in the working tree" in refused(["--git", "main", missing], capsys)
    assert "neither in main nor in HEAD" in refused(["--git", "main..HEAD", missing], capsys)
    (tmp_path / "outside.yaml").write_text(LAYOUT)
    assert "not a git repository" in refused(["--git", "main", str(tmp_path / "outside.yaml")], capsys)
    monkeypatch.setattr(processes, "SEARCH", ("/nonexistent",))
    assert "not installed" in refused(["--git", "main", site.file], capsys)


@pytest.mark.parametrize("what", ["link", "folder", "bytes", "large", "hardware link"])
def test_what_is_no_layout_in_a_revision(
    what: str, site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(site.file)
    (tmp_path / "secret").write_text("token: hunter2\n")
    if what == "hardware link":
        (file.parent / "h.hardware.yaml").unlink()
        (file.parent / "h.hardware.yaml").symlink_to(tmp_path / "secret")
    else:
        file.unlink()
        match what:
            case "link":
                file.symlink_to(tmp_path / "secret")
            case "folder":
                file.mkdir()
                (file / "x").touch()
            case "bytes":
                file.write_bytes(b"host: \xff\n")
            case "large":
                file.write_bytes(b"#" * (5 * 1024 * 1024))
    site.commit()
    assert run(["diff", "--git", "HEAD~1..HEAD", site.file]) == 2
    out, err = capsys.readouterr()
    assert "hunter2" not in out + err and "error[unreadable-layout]" in out


def test_a_repository_runs_nothing(site: Site, tmp_path: Path) -> None:
    """Its configuration, attributes and hooks name programs wherever git would take one."""
    site.write("a.yaml", OTHER)
    site.commit()
    bad = tmp_path / "bad"
    bad.write_text(f"#!/bin/sh\ntouch {tmp_path}/BAD\ncat\n")
    bad.chmod(0o755)
    for key in (
        "core.fsmonitor", "core.pager", "pager.cat-file", "pager.rev-parse", "diff.external", "diff.x.textconv", "diff.x.command",
        "filter.x.smudge", "filter.x.clean", "filter.x.process", "core.sshCommand", "core.editor", "credential.helper",
        "core.alternateRefsCommand", "gpg.program", "core.askPass", "alias.cat-file", "alias.rev-parse", "uploadpack.packObjectsHook",
    ):  # fmt: skip
        value = f"!{bad}" if key.startswith("alias") else str(bad)
        git(site.top, "config", key, value)
    git(site.top, "config", "log.showSignature", "true")
    hooks = site.top / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        (hooks / name).symlink_to(bad)
    git(site.top, "config", "core.hooksPath", str(hooks))
    (site.top / ".gitattributes").write_text("* filter=x diff=x\n")
    # Objects that are missing would be fetched by a program of the configuration's choice.
    for key, value in {
        "extensions.partialClone": "evil", "core.repositoryFormatVersion": "1", "remote.evil.promisor": "true",
        "remote.evil.url": f"ext::{bad}", "protocol.ext.allow": "always", "remote.evil.uploadpack": str(bad),
    }.items():  # fmt: skip
        git(site.top, "config", key, value)
    assert run(["diff", "--git", "HEAD~1..HEAD", site.file]) == 1
    blob = git(site.top, "rev-parse", "HEAD~1:layouts/a.yaml")
    os.unlink(site.top / ".git" / "objects" / blob[:2] / blob[2:])
    assert run(["diff", "--git", "HEAD~1..HEAD", site.file]) == 2
    assert not (tmp_path / "BAD").exists()


def test_a_finding_says_in_which_revision(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.write("a.yaml", LAYOUT.replace("raid1", "raid11"))
    site.commit()
    site.write("a.yaml", LAYOUT.replace("raid1", "raid12"))
    assert run(["diff", "--git", "main", site.file]) == 2
    said = capsys.readouterr().out
    assert f"--> main:{site.file}:4:" in said and f"--> {site.file}:4:" in said
    assert "{level: raid11," in said and "{level: raid12," in said
