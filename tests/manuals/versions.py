"""The page of versions, made from the tables that the preflight reads."""

from __future__ import annotations

from collections.abc import Sequence

from raidplan.apply.preflight.versions import NEEDS, OLDEST_KERNEL, behaviours, known_packages, written
from raidplan.base.packages import Written

HEAD = """\
# Versions

What the programs of a plan do differs between their versions. This page is made from the tables in
`raidplan/apply/preflight/versions.py` and `raidplan/base/filesystems/`, which `apply` and `plan` ask before the first write; the tests hold the rows against the
programs that are installed.
"""
PACKAGES_ARE = (
    "A program that is older than the first version here is refused, with both versions. A newer one than the last is "
    "noted, and not refused: nobody has read yet what it does otherwise."
)
NEEDS_ARE = "A plan that uses one of these options is refused where the program does not have it yet."
BEHAVIOURS_ARE = "What changed between versions, and why it does not matter to a plan:"
WRITTEN_IS = (
    "What is written in a form that older kernels or boot loaders cannot read. It is noted where a kernel of this machine "
    f"is older; where none is installed, as in a rescue system, for what Linux {OLDEST_KERNEL} cannot read; and for file "
    "systems at / and /boot, where GRUB is older or is not there."
)


def versions_markdown() -> str:
    """The whole page."""
    packages = [
        (each.name, ", ".join(each.programs), each.oldest, each.newest, each.source)
        for each in known_packages()
    ]
    needs = [
        (each.program, f"`{' '.join(each.words)}`", each.since, each.before, each.source) for each in NEEDS
    ]
    differing = [
        (each.package, each.since, each.until and f"before {each.until}", each.what, each.answer, each.source)
        for each in behaviours()
    ]
    readers = [(_by(each), each.what, each.kernel, each.grub or "any", each.source) for each in written()]
    return "\n".join([
        HEAD,
        *_part("Programs", PACKAGES_ARE, "package | programs | first | last | source", packages),
        *_part("Options", NEEDS_ARE, "program | option | from | before | source", needs),
        *_part("Behaviour", BEHAVIOURS_ARE, "package | from | to | what | what a plan does | source", differing),
        *_part("What others can read", WRITTEN_IS, "written by | what | read by Linux | read by GRUB | source", readers),
    ])  # fmt: skip


def _by(written: Written) -> str:
    under = f" under Linux {written.under}" if written.under else ""
    return f"{written.program} {written.since}".rstrip() + under


def _part(title: str, text: str, head: str, rows: Sequence[tuple[str, ...]]) -> list[str]:
    rule = " | ".join(["---"] * (head.count("|") + 1))
    return [
        f"## {title}\n\n{text}\n",
        f"| {head} |",
        f"| {rule} |",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]
