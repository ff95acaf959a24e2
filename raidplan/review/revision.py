"""Files as they are in a revision of a git repository, read without running anything that the repository names.

Only plumbing is asked (`rev-parse`, `ls-tree`, `cat-file`): no filter, no pager, no hook, no external diff. Objects
that are not here are not fetched, since a configuration may say by which program.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from raidplan.base.findings import shortened
from raidplan.document.parse import MAX_BYTES
from raidplan.facts.run import Result, find_tool
from raidplan.facts.run import run as run_program

REGULAR = ("100644", "100755")
LINK, TREE, MODULE = "120000", "040000", "160000"
WORDS = {LINK: "a link", TREE: "a directory", MODULE: "a submodule"}


class NoRevision(Exception):
    """Git cannot say what is asked; the message says why."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A tree of a repository, and where its files stand in the working tree."""

    name: str
    """The name that was asked for: `main`."""
    top: str
    """The folder of the working tree."""
    tree: str
    """The object's name."""

    def read(self, file: str) -> tuple[str | None, str]:
        """The text of a file, named as it stands in the working tree, also `main:FILE`; None and what is wrong with it."""
        path = self._inside(file.removeprefix(f"{self.name}:"))
        listed = _git(self.top, "ls-tree", "-z", "-l", "--full-tree", self.tree, "--", path).stdout
        mode, _, rest = listed.partition(" ")
        if not listed:
            return None, f"{path} is not in {self.name}"
        if mode not in REGULAR:
            return None, f"{path} is {WORDS.get(mode, 'no regular file')} in {self.name}"
        _, blob, size = rest.partition("\t")[0].split()
        if int(size) > MAX_BYTES:
            return (
                None,
                f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB in {self.name}, the limit for a layout",
            )
        text = _git(self.top, "cat-file", "blob", blob).stdout
        if "\ufffd" in text:
            return None, f"{path} is not UTF-8 text in {self.name}"
        return text.removeprefix("\ufeff"), ""

    def has(self, file: str) -> bool:
        """Whether the revision has a file or a folder of that name."""
        return bool(
            _git(self.top, "ls-tree", "-z", "--full-tree", self.tree, "--", self._inside(file)).stdout
        )

    def _inside(self, file: str) -> str:
        """The path from the top. Raises NoRevision for a file outside of the working tree."""
        folder, name = os.path.split(os.path.abspath(file))
        path = os.path.relpath(os.path.join(os.path.realpath(folder), name), self.top)
        if path == os.pardir or path.startswith(os.path.join(os.pardir, "")):
            raise NoRevision(f"{file} is not in the repository {self.top}")
        return str(PurePosixPath(path))


def revisions(names: Sequence[str], file: str) -> list[Revision]:
    """The revisions of the repository that a file stands in. Raises NoRevision."""
    if not find_tool("git"):
        raise NoRevision("git is not installed")
    folder = _folder(file)
    asked = _ask(folder, "rev-parse", "--show-toplevel")
    if not asked.ok or not asked.stdout.strip():
        said = asked.stderr.strip().splitlines()
        why = said[0].removeprefix("fatal: ") if said else "it has no working tree"
        raise NoRevision(f"{folder}: {why}")
    top = os.path.realpath(asked.stdout.removesuffix("\n"))
    return [Revision(name, top, _tree(top, name)) for name in names]


def ignored(folder: str) -> list[str]:
    """The files and folders below a folder that git ignores, from there. Raises NoRevision."""
    if not find_tool("git"):
        raise NoRevision("git is not installed")
    words = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    return [name for name in _git(folder, "ls-files", *words).stdout.split("\0") if name]


def _folder(file: str) -> str:
    """The nearest folder of the file that is there: the file's own may be gone since."""
    folder = os.path.dirname(os.path.abspath(file))
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _tree(top: str, name: str) -> str:
    found = _ask(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{tree}}")
    if not found.ok:
        raise NoRevision(
            f"there is no revision '{shortened(name)}' in {top}; `git log --all` lists those that are"
        )
    return found.stdout.strip()


def _git(folder: str, *words: str) -> Result:
    """The answer of git. Raises NoRevision."""
    answer = _ask(folder, *words)
    if not answer.ok:
        said = answer.stderr.strip().splitlines()
        raise NoRevision(f"git {words[0]}: {said[-1] if said else answer.returncode}")
    return answer


def _ask(folder: str, *words: str) -> Result:
    """Git with the user's own settings, and nothing that would start another program or the network."""
    environment = {
        "HOME": os.environ.get("HOME", "/"),
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }
    settings = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
    variables = [f"{key}={value}" for key, value in environment.items()]
    return run_program(["env", *variables, "git", "--no-pager", *settings, "-C", folder, *words])
