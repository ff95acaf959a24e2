"""Plain values to YAML as a person would write it, read alike by every YAML reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from raidplan.base.plain import Plain, flow, scalar

WIDTH = 110
STEP = "  "


def yaml_text(data: Mapping[str, Plain]) -> str:
    """The mapping as a document: an empty line before each section, what fits on one line."""
    return "\n".join(_top(data)).lstrip("\n") + "\n"


def _top(data: Mapping[str, Plain]) -> Iterator[str]:
    after_section = False
    for key, value in data.items():
        is_section = isinstance(value, dict) and any(isinstance(entry, dict) for entry in value.values())
        if is_section or after_section:
            yield ""
        if is_section:
            assert isinstance(value, dict)
            yield f"{scalar(key)}:"
            yield from _section(value, STEP)
        else:
            yield from _entry(key, value, "")
        after_section = is_section


def _section(data: Mapping[str, Plain], indent: str) -> Iterator[str]:
    """Entries one below the other; a section in a section, such as the disks, too."""
    for key, value in data.items():
        if indent == STEP and isinstance(value, dict) and _holds_mappings_only(value):
            yield f"{indent}{scalar(key)}:"
            yield from _section(value, indent + STEP)
        else:
            yield from _entry(key, value, indent)


def _holds_mappings_only(value: Mapping[str, Plain]) -> bool:
    return bool(value) and all(isinstance(entry, dict) for entry in value.values())


def _entry(key: str, value: Plain, indent: str) -> Iterator[str]:
    """A key with its value: on one line if it fits, in lines of its own if it has parts, else wrapped."""
    head = f"{indent}{scalar(key)}:"
    line = f"{head} {flow(value)}"
    if len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        yield line
    elif isinstance(value, dict):
        if any(isinstance(entry, dict | list) for entry in value.values()):
            yield head
            for name, entry in value.items():
                yield from _entry(name, entry, indent + STEP)
        else:
            parts = [f"{scalar(name)}: {flow(entry)}" for name, entry in value.items()]
            yield from _wrapped(f"{head} {{", parts, "}")
    elif any(isinstance(item, dict | list) for item in value):
        yield head
        yield from (line for item in value for line in _item(item, indent + STEP))
    else:
        yield from _wrapped(f"{head} [", [flow(item) for item in value], "]")


def _item(item: Plain, indent: str) -> Iterator[str]:
    line = f"{indent}- {flow(item)}"
    if len(line) <= WIDTH or not isinstance(item, dict) or not item:
        yield line
        return
    lines = [line for key, value in item.items() for line in _entry(key, value, indent + STEP)]
    yield f"{indent}- {lines[0].lstrip()}"
    yield from lines[1:]


def _wrapped(line: str, parts: Sequence[str], end: str) -> Iterator[str]:
    """A flow collection over several lines; `line` ends in the opening bracket, under which they begin."""
    indent = " " * len(line)
    for number, part in enumerate(parts):
        text = part + (end if number == len(parts) - 1 else ",")
        gap = "" if number == 0 or line == indent else " "
        if number and len(line) + len(gap) + len(text) > WIDTH:
            yield line
            line, gap = indent, ""
        line += gap + text
    yield line
