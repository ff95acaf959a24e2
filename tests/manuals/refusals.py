"""The page of exit codes and codes of refusals, made of their table."""

from __future__ import annotations

from raidplan.render.refusal_codes import CODES

HEAD = """\
# Exit codes and refusals

| exit code | meaning |
| --- | --- |
| <a id="exit-0"></a>0 | fine; nothing to report at the failing level; apply finished |
| <a id="exit-1"></a>1 | findings at or above `--fail-on` (by default `error`); a diff that would destroy data |
| <a id="exit-2"></a>2 | could not run: usage, unreadable or invalid layout, internal error |
| <a id="exit-3"></a>3 | apply stopped part-way; `apply` again goes on |
| <a id="exit-4"></a>4 | refused: the machine is not what the plan needs; nothing was written |
| <a id="exit-5"></a>5 | `rehearse`: void, for its control did not fail |
| <a id="exit-130"></a>130 | interrupted |

`plan --detailed-exitcode`: 0 nothing to do, 1 error, 2 changes.

A refusal has a stable code. `plan --format json` prints
`refusals` in place of a plan, and `apply --events FILE` writes an event `refused` for each: `code`, `message`, `remedy` and,
where they are known, `place` (disk, device, object or file), `line` (of the layout), `case` (which message of the code) and its
`figures` (sizes in bytes).
"""


def refusals_manual() -> str:
    """The page, as Markdown."""
    return HEAD + "".join(f"\n## `{code}`\n\n{says} {remedy}\n" for code, (says, remedy) in CODES.items())
