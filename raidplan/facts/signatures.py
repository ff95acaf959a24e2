"""Every signature that libblkid recognises on a block device, with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raidplan.base.hidden import escaped
from raidplan.facts.run import Result

Ask = Callable[[Sequence[str]], Result]
"""Runs a command that only reads."""

COLUMNS = "DEVICE,OFFSET,TYPE,UUID,LABEL,USAGE"


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature; `offset` as wipefs writes it (`0x438`), `usage` is `filesystem`, `raid`, `other`…"""

    offset: str
    type: str
    uuid: str = ""
    label: str = ""
    usage: str = ""

    def __str__(self) -> str:
        label = f" ({escaped(self.label)})" if self.label else ""
        return f"{escaped(self.type)} at {self.offset}{label}"


def read_signatures(nodes: Sequence[str], ask: Ask) -> tuple[dict[str, list[Signature]], dict[str, str]]:
    """(node to its signatures, node to the reason why it could not be read), with one process if all goes well."""
    if not nodes:
        return {}, {}
    found = ask(["wipefs", "--no-act", "--json", f"--output={COLUMNS}", *nodes])
    if found.ok:
        by_name = parse_wipefs(found.stdout)
        return {node: by_name.get(node.removeprefix("/dev/"), []) for node in nodes}, {}
    if len(nodes) == 1 or found.returncode == 127:
        return {}, {node: escaped(found.stderr.strip()[-200:]) or "wipefs failed" for node in nodes}
    # One device that cannot be read takes the answers about all others with it: look for it by halves.
    half = len(nodes) // 2
    (first, closed), (second, closed_too) = (
        read_signatures(part, ask) for part in (nodes[:half], nodes[half:])
    )
    return first | second, closed | closed_too


def parse_wipefs(text: str) -> dict[str, list[Signature]]:
    """`wipefs --json`: kernel name to signatures; devices without any are not named."""
    found: dict[str, list[Signature]] = {}
    for row in rows_of(text, "signatures"):
        word = {key: str(value or "") for key, value in row.items()}
        if word.get("device") and re.fullmatch(r"0x[0-9a-f]{1,16}", word.get("offset", "")):
            signature = Signature(
                *(word.get(key, "") for key in ("offset", "type", "uuid", "label", "usage"))
            )
            found.setdefault(word["device"], []).append(signature)
    return found


def rows_of(text: str, *path: str) -> list[Mapping[str, Any]]:
    """The list of objects under the keys of a tool's JSON; empty for anything else, as for no output."""
    try:
        # strict: labels with control characters come through unescaped from older tools
        value: Any = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return []
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
