"""Document to layout: what pydantic has to say, in our words and at the user's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from raidplan.document import Document, Node
from raidplan.findings import Finding, Path, did_you_mean, error, shortened
from raidplan.layout.model import Layout

WRONG_SHAPE = {
    "tuple_type": ("a list", "write [a, b]"),
    "model_type": ("a mapping of keys to values", "write {key: value}"),
    "dict_type": ("a mapping of names to entries", "write name: {...}, or remove the key"),
}
"""What pydantic calls a list or a mapping that is none, and what we say."""

MANY = 100
"""For so many mistakes the words are looked for that were meant."""


def load_layout(document: Document) -> tuple[Layout | None, list[Finding]]:
    """The layout a document means, or None and every mistake in it."""
    other = _other_version(document)
    if other is not None:
        return None, [other]
    try:
        return Layout.model_validate(document.root.plain()), []
    except ValidationError as problems:
        return None, list(_findings(problems.errors(include_url=False), document))


def _other_version(document: Document) -> Finding | None:
    """Of a layout in another format every second key would be unknown; one finding says it all."""
    entries = document.root.content
    assert isinstance(entries, dict)
    version = entries["version"].content if "version" in entries else "1"
    if version == "1":
        return None
    word = f"version {shortened(version)}" if isinstance(version, str) else "this version"
    return error("invalid-layout", ("version",), f"{word} is not known to this raidplan", "write version: 1")


def _findings(problems: list[ErrorDetails], document: Document) -> Iterator[Finding]:
    """One finding for each mistake.

    Where a field takes two shapes, pydantic complains about both: the complaint about the shape counts only
    if nothing else is said there. A key that is missing and the misspelt one beside it are one mistake too.
    """
    located = [(_path(details, document), details) for details in problems]
    inside = {
        path[:end] for path, d in located if d["type"] not in WRONG_SHAPE for end in range(len(path) + 1)
    }
    unknown = [path for path, details in located if details["type"] == "extra_forbidden"]
    # Looking for near misses takes longer than all the rest; nobody reads that many.
    meant = {path: _near(path) for path in unknown[:MANY]}
    said = set[Path]()
    for number, (path, details) in enumerate(located):
        match details["type"]:
            case shape if shape in WRONG_SHAPE:
                if path not in inside and path not in said:
                    yield _wrong_shape(path, details)
                said.add(path)
            case "missing":
                beside = (near for other, near in meant.items() if other[:-1] == path[:-1])
                if f"did you mean '{path[-1]}'?" not in beside:
                    yield _missing(path)
            case "extra_forbidden":
                yield _unknown_key(path, meant.get(path, ""))
            case "literal_error":
                yield _no_such_word(path, details, near=number < MANY)
            case _:
                yield _invalid(path, details)


def _wrong_shape(path: Path, details: ErrorDetails) -> Finding:
    what, hint = WRONG_SHAPE[details["type"]]
    message = f"{what} is expected here"
    if details["input"] is None:
        message = f"nothing is written here, and {what} is expected"
    return error("invalid-value", path, message, hint)


def _missing(path: Path) -> Finding:
    value = "1" if path == ("version",) else "…"
    return error("missing-key", path, f"'{path[-1]}' is missing", f"add {path[-1]}: {value}")


def _unknown_key(path: Path, near: str) -> Finding:
    hint = near or f"known here: {', '.join(_known_keys(path[:-1]))}"
    return error("unknown-key", path, f"unknown key '{shortened(str(path[-1]))}'", hint, on_key=True)


def _near(path: Path) -> str:
    return did_you_mean(str(path[-1]), _known_keys(path[:-1]))


def _no_such_word(path: Path, details: ErrorDetails, *, near: bool) -> Finding:
    given, words = details["input"], details["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
    if not isinstance(given, str):
        return error("invalid-value", path, "a single word is expected here", f"write one of {words}")
    hint = did_you_mean(given, words.split(", ")) if near else ""
    message = f"'{shortened(given)}' is none of {words}"
    return error("invalid-value", path, message, hint or "choose one of them")


def _invalid(path: Path, details: ErrorDetails) -> Finding:
    """What our own types say; their advice stands after a semicolon."""
    context: Mapping[str, Any] = details.get("ctx", {})
    on_key = details["loc"][-1:] == ("[key]",)
    if details["type"] == "refused":
        rule, message, hint = context["rule"], context["message"], context["hint"]
    else:
        rule = "invalid-value"
        message, _, hint = str(context.get("error", details["msg"])).partition("; ")
    return error(rule, path, _without_length(message, details), hint, on_key=on_key)


def _without_length(message: str, details: ErrorDetails) -> str:
    """The message with the user's own text cut to what can be read."""
    given = details["input"]
    return message.replace(given, shortened(given)) if isinstance(given, str) and given else message


def _path(details: ErrorDetails, document: Document) -> Path:
    """Where it is, without pydantic's own marks: the branch of a union and `[key]` stand in no file."""
    path: list[int | str] = []
    node: Node | None = document.root
    parts = list(details["loc"])
    for position, part in enumerate(parts):
        entries = node.content if node else None
        if isinstance(entries, dict) and part in entries:
            node = entries[str(part)]
        elif isinstance(entries, list) and isinstance(part, int) and part < len(entries):
            node = entries[part]
        elif position < len(parts) - 1 or details["type"] != "missing":
            continue
        path.append(part)
    return tuple(path)


def _known_keys(path: Path) -> list[str]:
    """The keys of the model that stands at a path."""
    model: Any = Layout
    for part in path:
        if isinstance(model, type) and issubclass(model, BaseModel):
            field = next((f for name, f in model.model_fields.items() if part in (name, f.alias)), None)
            if field is None:
                return []
            model = field.annotation
        else:
            model = _item(model)
    model = model if isinstance(model, type) else _item(model)
    if isinstance(model, type) and issubclass(model, BaseModel):
        return [field.alias or name for name, field in model.model_fields.items()]
    return []


def _item(annotation: Any) -> Any:
    """What the entries of a mapping or a list are: the model among the type's arguments."""
    arguments = getattr(annotation, "__args__", ())
    models = [a for a in arguments if isinstance(a, type) and issubclass(a, BaseModel)]
    nested = [_item(a) for a in arguments if hasattr(a, "__args__")]
    return next((m for m in [*models, *nested] if m is not None), None)
