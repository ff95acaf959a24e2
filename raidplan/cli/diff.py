"""`raidplan diff OLD NEW`: what a change of a layout means, and what it would destroy."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from raidplan.cli import FINDINGS, OK, UNABLE
from raidplan.cli.output import Unable, emit, wants_colour
from raidplan.cli.settings import settings_for
from raidplan.diff import Side, diff, forget_layout, nothing, plan_of_change
from raidplan.render.diff_json import diff_json
from raidplan.render.diff_markdown import diff_markdown
from raidplan.render.diff_text import diff_text
from raidplan.render.forms import Look, render
from raidplan.review.pipeline import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raidplan.diff import Diff, Side
    from raidplan.render.forms import Look
    from raidplan.review.pipeline import Loaded
    from raidplan.review.revision import Revision


def run(arguments: argparse.Namespace) -> int:
    """Compares, prints, and fails if data would be destroyed or capacity lost."""
    old, new = _sides(arguments)
    look = Look(wants_colour(arguments, sys.stdout), arguments.limit)
    invalid = [each for each in (old, new) if each and not each.valid]
    if invalid:
        emit(_without_diff(invalid, arguments.format, look), arguments.output)
        return UNABLE
    made = _compare(old, new)
    if arguments.plan and old and new:
        made = _with_plan(made, old, new)
    emit(_render(made, arguments.format, look, allowed=arguments.allow_destroy), arguments.output)
    return FINDINGS if made.loses and not arguments.allow_destroy else OK


def _sides(arguments: argparse.Namespace) -> tuple[Loaded | None, Loaded | None]:
    """The old layout and the new one; None where there is none. Raises Unable."""
    files: list[str] = arguments.layouts
    if arguments.git is not None:
        if len(files) > 2 or "-" in files:
            raise Unable(
                "diff --git takes one layout, a file of the repository, or its old name and its new one"
            )
        return _of_git(arguments.git, files[0], files[-1])
    if len(files) != 2:
        raise Unable("diff takes two layouts, the old one first; or --git REV and one")
    if files == ["-", "-"]:
        raise Unable("only one of the two layouts can come from standard input")
    return _check(files[0]), _check(files[1])


def _of_git(asked: str, was: str, file: str) -> tuple[Loaded | None, Loaded | None]:
    """`was` in one revision and `file` in the working tree, or in another revision. Raises Unable."""
    # Only here a process is started.
    from raidplan.review.revision import NoRevision, revisions

    first, two, second = asked.partition("..")
    if second.startswith("."):
        raise Unable("--git takes REV or REV1..REV2, with two dots")
    names = [first or "HEAD", *([second or "HEAD"] if two else [])]
    try:
        old, *others = revisions(names, was)
        there = [old.has(was), others[0].has(file) if others else os.path.lexists(file)]
        if not any(there):
            raise Unable(
                f"{' or '.join(dict.fromkeys((was, file)))} is neither in {old.name} nor in {others[0].name if others else 'the working tree'}"
            )
        sides = [
            _check(name, revision) if has else None
            for name, revision, has in zip(
                (was, file), (old, others[0] if others else None), there, strict=True
            )
        ]
    except NoRevision as error:
        raise Unable(str(error)) from None
    return sides[0], sides[1]


def _check(file: str, revision: Revision | None = None) -> Loaded:
    settings = settings_for(file)
    return (
        check(f"{revision.name}:{file}", settings, reader=revision.read)
        if revision
        else check(file, settings)
    )


def _compare(old: Loaded | None, new: Loaded | None) -> Diff:
    """The differences; one of the two files may not exist."""
    if new is None:
        assert old is not None
        return forget_layout(_side(old))
    side = _side(new)
    return diff(_side(old) if old else nothing(side.topology.host), side)


def _with_plan(made: Diff, old: Loaded, new: Loaded) -> Diff:
    """The difference with the steps of the change, where both layouts state all that a plan needs; the old one may have been a mistake."""
    from raidplan.compiler import compile_plan
    from raidplan.review.pipeline import plan

    assert old.topology is not None and old.document is not None
    before, after = compile_plan(old.topology, old.document)[0], plan(new)[0]
    return replace(made, plan=plan_of_change(made, before, after)) if before and after else made


def _side(loaded: Loaded) -> Side:
    assert loaded.topology is not None
    return Side(loaded.topology, loaded.findings, loaded.accepted)


def _render(made: Diff, form: str, look: Look, *, allowed: bool) -> str:
    match form:
        case "json":
            return diff_json(made)
        case "markdown":
            return diff_markdown(made, look.limit, allowed=allowed)
        case _:
            return diff_text(made, colour=look.colour, allowed=allowed)


def _without_diff(invalid: Sequence[Loaded], form: str, look: Look) -> str:
    """The findings of the layouts that cannot be compared, in the form that was asked for."""
    return render(form, invalid, look)
