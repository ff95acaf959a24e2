"""The JSON Schemas of what raidplan prints for programs, and the page about them: one source for both.

`pytest tests/cli/test_json_schemas.py --update-golden` writes schemas/*.schema.json and docs/json.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tests.manuals.schemas.diff import diff
from tests.manuals.schemas.estimate import estimate
from tests.manuals.schemas.events import events
from tests.manuals.schemas.facts import facts
from tests.manuals.schemas.findings import check
from tests.manuals.schemas.plan import plan
from tests.manuals.schemas.rehearsal import rehearsal
from tests.manuals.schemas.shapes import Schema

DRAFT = "http://json-schema.org/draft-07/schema#"
FORMS: Mapping[str, Callable[[], Schema]] = {
    "check": check,
    "plan": plan,
    "diff": diff,
    "estimate": estimate,
    "facts": facts,
    "events": events,
    "rehearse": rehearsal,
}

HEAD = """\
# JSON for programs

Each form has a JSON Schema (draft 7) in `schemas/` (in the Debian package: `/usr/share/raidplan`).

**The promise:** every output has `format_version`. Within one, a key is never removed, never renamed, and never gets another type
or meaning; what a Schema requires is always there. Keys are added, and lists of words get new ones: a reader ignores what it does not
know. Any other change raises the number and is in the changelog. Sizes are bytes, rates bytes a second, times seconds.
`raidplan explain --format json` (the rules) and `discover hardware --format json` keep the same promise. Keys in brackets may be absent.
"""


def schema(name: str) -> Schema:
    """A form's Schema as its file has it."""
    return {"$schema": DRAFT, "$id": f"urn:raidplan:{name}:1", "title": f"raidplan {name}", **FORMS[name]()}


def page() -> str:
    """docs/json.md, as Markdown."""
    return HEAD + "".join(line for name in FORMS for line in _form(name, FORMS[name]()))


def _form(name: str, form: Schema) -> Iterator[str]:
    yield f"\n## {name.capitalize()}\n\n{form['description']} Schema: `schemas/{name}.schema.json`.\n\n"
    yield "| object | keys |\n| --- | --- |\n"
    if "properties" in form:
        yield _row("the whole", form)
    for of, definition in form["definitions"].items():
        if (name, of) == ("check", of) or of not in check()["definitions"]:
            yield _row(f"`{of}`: {definition['description']}", definition)


def _row(title: str, of: Schema) -> str:
    keys = (f"`{key}`" if key in of["required"] else f"[`{key}`]" for key in of["properties"])
    return f"| {title} | {' '.join(keys)} |\n"
